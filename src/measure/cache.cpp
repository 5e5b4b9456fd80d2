#include "sgprobe/measure/cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sgprobe/measure/cache_drive.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::measure {
namespace {
constexpr std::string_view groups[] = {"overhead", "rotation", "segments", "prefetch", "zones", "tracks"};
}

std::vector<std::string_view> cache_groups() { return {std::begin(groups), std::end(groups)}; }

const CacheItem* CacheFinding::find(std::string_view name) const {
    const auto found = std::find_if(items.begin(), items.end(), [&](const CacheItem& item) { return item.name == name; });
    return found == items.end() ? nullptr : &*found;
}

void add_item(CacheFinding& finding, std::string name, std::string unit, double value, double low, double high) {
    CacheItem item;
    item.name = std::move(name);
    item.unit = std::move(unit);
    item.value = value;
    item.low = low;
    item.high = high;
    finding.items.push_back(std::move(item));
}

void cannot_tell(CacheFinding& finding, std::string name, std::string unit, std::string why) {
    CacheItem item;
    item.name = std::move(name);
    item.unit = std::move(unit);
    item.why = std::move(why);
    finding.items.push_back(std::move(item));
}

CacheFinding measure_cache(Host& host, Drive& drive, const Subject& subject, const SettingValues& page, const CacheOptions& options) {
    CacheFinding finding;
    if (subject.identity.blocks < 65536) throw Failure(ExitStatus::contradiction, drive.name() + ": too small a disk to tell its cache by timing");
    CacheDrive timed(host, drive, subject, options, finding);
    const auto wanted = [&](std::string_view group) {
        return options.only.empty() || std::find(options.only.begin(), options.only.end(), group) != options.only.end();
    };
    const auto step = [&](double done, const char* what) {
        if (options.progress) options.progress(done, std::chrono::duration_cast<Nanoseconds>(std::chrono::duration<double>((1 - done) * 60)), what);
    };
    try {
        step(0, "hits and misses");
        split_hits_and_misses(timed, finding);
        step(0.02, "overhead and bus");
        measure_overhead(timed, finding);             // it also says how fast a hit is
        // Segments say how to push a block out of the cache; without FUA the rotation needs that.
        if (wanted("segments")) { step(0.1, "segments"); measure_segments(timed, page, finding); }
        if (wanted("rotation") || wanted("tracks")) { step(0.2, "rotation"); measure_rotation(timed, subject, finding); }
        if (wanted("prefetch")) { step(0.3, "prefetch"); measure_prefetch(timed, page, finding); }
        if (wanted("zones")) { step(0.7, "media rate"); measure_zones(timed, finding); }
        if (wanted("tracks")) { step(0.8, "tracks"); measure_tracks(timed, finding); }
    } catch (const CacheOver& over) {
        finding.notes.push_back(fmt::format("ended early: {}", over.what()));
    }
    return finding;
}

Result cache_result(const CacheFinding& finding, const Subject& subject) {
    const auto optional = [](const std::optional<double>& v) { return v ? Value(*v) : Value(); };
    const auto number = [](double v) { return v == std::floor(v) && std::abs(v) < 1e9 ? fmt::format("{:.0f}", v) : fmt::format("{:.6g}", v); };
    Result result;
    result.probe = "cache";
    result.device = subject.identity;
    result.commands = finding.commands;
    result.bytes_transferred = finding.bytes_transferred;
    result.notes = finding.notes;
    result.interrupted = finding.interrupted;
    Value cache = Value::object();
    ResultTable table{"", {"what", "value", "95 % interval", "the drive claims", "by, or why it cannot be told"}, {}};
    unsigned told = 0;
    for (const CacheItem& item : finding.items) {
        Value value(ValueMap{{"value", item.word.empty() ? optional(item.value) : Value(item.word)}, {"low", optional(item.low)}, {"high", optional(item.high)},
                             {"claimed", optional(item.claimed)}});
        if (!item.claimed_by.empty()) value.set("claimed_by", item.claimed_by);
        if (!item.why.empty()) value.set(item.value || !item.word.empty() ? "note" : "cannot_tell", item.why);
        cache.set(item.name, std::move(value));
        const bool known = item.value || !item.word.empty();
        told += known;
        const std::string interval = item.low && item.high ? *item.low == *item.high ? "exact" : fmt::format("{} - {}", number(*item.low), number(*item.high)) : "";
        table.rows.push_back({item.name, item.value ? number(*item.value) : item.word.empty() ? "cannot tell" : item.word, interval,
                              item.claimed ? number(*item.claimed) : "", !item.why.empty() ? item.why : item.claimed_by});
    }
    ValueList zones;
    ResultTable rates{"media rate by place", {"block", "MB/s", "lowest", "highest"}, {}};
    for (const ZoneRate& zone : finding.zones) {
        zones.push_back(ValueMap{{"lba", zone.lba}, {"rate_mb_s", zone.rate_mb_s}, {"low", zone.low}, {"high", zone.high}});
        rates.rows.push_back({fmt::format("{}", zone.lba), fmt::format("{:.2f}", zone.rate_mb_s), fmt::format("{:.2f}", zone.low), fmt::format("{:.2f}", zone.high)});
    }
    ValueList tracks;
    ResultTable track_table{"zones", {"first block", "last block", "blocks a track"}, {}};
    for (const TrackZone& zone : finding.track_zones) {
        tracks.push_back(ValueMap{{"first", zone.first}, {"last", zone.end - 1}, {"track_blocks", zone.track_blocks}});
        track_table.rows.push_back({fmt::format("{}", zone.first), fmt::format("{}", zone.end - 1), fmt::format("{}", zone.track_blocks)});
    }
    if (!tracks.empty()) cache.set("zone_list", std::move(tracks));
    if (!zones.empty()) cache.set("rate_by_place", std::move(zones));
    cache.set("latencies_us", ValueMap{{"first_reads", finding.misses_us}, {"re_reads", finding.hits_us}});
    result.sections.emplace_back("cache", std::move(cache));
    result.tables.push_back(std::move(table));
    if (!track_table.rows.empty()) result.tables.push_back(std::move(track_table));
    if (!rates.rows.empty()) result.tables.push_back(std::move(rates));
    result.verdict = finding.notes.empty() && !finding.interrupted ? Verdict::clean : Verdict::inconclusive;
    result.reason = fmt::format("{} of {} items could be told by timing", told, finding.items.size());
    return result;
}

}
