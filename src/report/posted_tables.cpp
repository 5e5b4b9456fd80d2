#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>

#include "sgprobe/report/posted_record.h"

namespace sgprobe::report {

namespace {

using Group = std::vector<const PostedRecord*>;

// kB as a request's size. Block devices move whole blocks, and dd, fio and the kernel's max_sectors_kb all count 1024:
// ten's powers are taken only where every size is round in them and none is round in powers of two.
struct SizeRule {
    bool decimal = false, any_open = false, bare = false;
    explicit SizeRule(const Group& group) {
        bool all_round = true;
        std::set<double> sizes;
        for (const PostedRecord* record : group) {
            if (!record->size) continue;
            bare = bare || record->size->unit.kind == UnitKind::none;
            any_open = any_open || record->size->unit.open;
            sizes.insert(whole(*record->size));
            all_round = all_round && std::fmod(whole(*record->size), 25) == 0;
        }
        decimal = any_open && !bare && all_round && sizes.size() >= 2;
    }
    // A size is a whole number, so three digits behind one mark are thousands.
    static double whole(const PostedNumber& number) { return number.grouped ? std::round(number.value * 1000) : number.value; }
    double bytes(const PostedNumber& number) const {
        double factor = number.unit.kind == UnitKind::size ? number.unit.factor : 1024;
        if (decimal && number.unit.open) factor = number.unit.factor >= 1024.0 * 1024 ? 1e6 : 1e3;
        return whole(number) * factor;
    }
};

// "1,563 MiB/s": where every rate of the table has just three digits behind a comma, the comma parts thousands.
bool rates_grouped(const Group& group, bool& ambiguous) {
    bool all = true, any = false, plain_below_1000 = false;
    for (const PostedRecord* record : group) {
        all = all && record->rate.grouped;
        any = any || record->rate.grouped;
        plain_below_1000 = plain_below_1000 || (record->rate.resolution == 1 && record->rate.value < 1000);
    }
    ambiguous = all;
    return any && !all && plain_below_1000;
}

PostedTable make_table(const Group& group, PostedAxis axis, const std::string& name) {
    const PostedRecord& first = *group.front();
    PostedTable table;
    std::size_t line = first.line;
    for (const PostedRecord* record : group) line = std::min(line, record->line);
    table.source = line > 0 ? fmt::format("{}:{}", name, line) : name;
    table.layout = first.layout;
    table.vendor = first.identity.vendor;
    table.product = first.identity.product;
    table.revision = first.identity.revision;
    table.serial = first.identity.serial;
    table.pattern = first.pattern;
    table.setting = first.setting;
    table.axis = axis;
    table.page_cache = first.page_cache;
    const SizeRule sizes(group);
    bool ambiguous = false, rate_open = false, rate_bare = false, guessed = false;
    const bool grouped = rates_grouped(group, ambiguous);
    for (const PostedRecord* record : group) {
        PostedPoint point;
        if (axis == PostedAxis::transfer_bytes) point.x = sizes.bytes(*record->size);
        if (axis == PostedAxis::depth) point.x = *record->depth;
        const Unit& unit = record->rate.unit;
        const double factor = (unit.kind == UnitKind::rate ? unit.factor : 1e6) / 1e6;
        const double scale = grouped && record->rate.grouped ? 1000 : 1;
        rate_open = rate_open || (unit.kind == UnitKind::rate && unit.open);
        rate_bare = rate_bare || unit.kind == UnitKind::none;
        guessed = guessed || record->guessed_axis;
        point.rate_mb_s = record->rate.value * scale * factor;
        point.resolution_mb_s = record->rate.resolution * scale * factor;
        table.points.push_back(point);
    }
    if (axis != PostedAxis::transfer_bytes && first.size) table.transfer_bytes = static_cast<Bytes>(sizes.bytes(*first.size));
    if (axis != PostedAxis::depth && first.depth) table.depth = *first.depth;
    std::stable_sort(table.points.begin(), table.points.end(), [](const PostedPoint& a, const PostedPoint& b) { return a.x < b.x; });

    if (first.size && sizes.bare) table.notes.push_back("sizes have no unit: taken as KiB");
    else if (sizes.any_open)
        table.notes.push_back(sizes.decimal ? "kB of a request taken as 1000 bytes: every size is round in powers of ten"
                                            : "kB of a request taken as 1024 bytes, as dd, fio and max_sectors_kb count");
    if (rate_bare) table.notes.push_back("rates have no unit: taken as MB/s of 10^6 bytes");
    else if (rate_open)
        table.notes.push_back(first.layout == "hdparm" ? "hdparm's MB/sec taken as 2^20 bytes a second, as it counts"
                                                       : "MB/s taken as 10^6 bytes a second, as dd counts");
    if (guessed)
        table.notes.push_back(axis == PostedAxis::depth ? "no heading: the first column taken as queue depth"
                                                        : "no heading: the first column taken as request size");
    if (ambiguous) table.notes.push_back("three digits behind one mark in every rate: taken as decimals");
    return table;
}

}

std::vector<PostedTable> group_records(const std::vector<PostedRecord>& records, const std::string& name) {
    using Key = std::tuple<unsigned, std::string, std::string, std::string, std::string, std::string, std::string>;
    std::vector<Key> order;
    std::map<Key, Group> groups;
    for (const PostedRecord& r : records) {
        if (!(r.rate.value > 0)) continue;
        Key key{r.section, r.layout, r.identity.vendor, r.identity.product, r.identity.revision, r.setting, r.pattern};
        Group& group = groups[key];
        if (group.empty()) order.push_back(key);
        group.push_back(&r);
    }
    std::vector<PostedTable> tables;
    for (const Key& key : order) {
        const Group& group = groups[key];
        std::map<double, Group> by_size;
        std::map<unsigned, Group> by_depth;
        Group bare;
        for (const PostedRecord* record : group) {
            if (!record->size && !record->depth) bare.push_back(record);
            by_size[record->size ? SizeRule(Group{record}).bytes(*record->size) : 0].push_back(record);
            by_depth[record->depth.value_or(0)].push_back(record);
        }
        if (bare.size() == group.size()) {
            tables.push_back(make_table(group, PostedAxis::none, name));
            continue;
        }
        // The sizes at each pattern's least depth; then the depths at each size.
        if (const Group& least = by_depth.begin()->second; by_size.size() > 1 || by_depth.size() == 1)
            if (std::all_of(least.begin(), least.end(), [](const PostedRecord* r) { return r->size.has_value(); }))
                tables.push_back(make_table(least, PostedAxis::transfer_bytes, name));
        if (by_depth.size() > 1)
            for (const auto& [size, cells] : by_size)
                if (std::all_of(cells.begin(), cells.end(), [](const PostedRecord* r) { return r->depth.has_value(); }) && cells.size() > 1)
                    tables.push_back(make_table(cells, PostedAxis::depth, name));
        if (by_depth.size() == 1 && by_size.size() == 1 && !group.front()->size)
            tables.push_back(make_table(group, PostedAxis::depth, name));
    }
    return tables;
}

}
