#include <fmt/format.h>

#include <map>
#include <set>

#include "sgprobe/pages/catalogue.h"

namespace sgprobe::pages {
namespace {

std::string place(std::uint64_t bit) { return fmt::format("byte {} bit {}", bit / 8, 7 - bit % 8); }

// Rows stand in order and cover every bit from `begin` on, up to `end` bytes where that is known.
void check_rows(const std::vector<Field>& fields, unsigned begin, std::optional<unsigned> end, std::vector<std::string>& problems) {
    std::uint64_t next = std::uint64_t{begin} * 8;
    for (const Field& field : fields) {
        const std::string name = field.reserved() ? "a reserved row" : field.key;
        const std::uint64_t at = std::uint64_t{field.byte} * 8 + (7 - field.bit);
        if (at < next) problems.push_back(fmt::format("{} at {} overlaps the row before it, or is out of order", name, place(at)));
        if (at > next) problems.push_back(fmt::format("no row from {} to {}", place(next), place(at)));
        next = std::max(next, at + field.width);
    }
    if (end && next < std::uint64_t{*end} * 8) problems.push_back(fmt::format("no row from {} to the end", place(next)));
    if (end && next > std::uint64_t{*end} * 8) problems.push_back(fmt::format("rows go on past the end, {}", place(std::uint64_t{*end} * 8)));
    if (!end && next % 8 != 0) problems.push_back(fmt::format("no row from {} to the end of the byte", place(next)));
}

void check_keys(const std::vector<Field>& fields, std::set<std::string>& seen, std::vector<std::string>& problems) {
    for (const Field& field : fields)
        if (!field.reserved() && !seen.insert(field.key).second) problems.push_back(fmt::format("{} is there twice", field.key));
}

std::string identity(const PageFormat& page) {
    std::string text = label({page.code, page.subpage});
    if (page.protocol) text += fmt::format(" protocol {}", *page.protocol);
    for (const std::string& vendor : page.vendors) text += " " + vendor;
    return text;
}

}

std::vector<std::string> problems_of(const PageFormat& page) {
    std::vector<std::string> problems;
    std::optional<unsigned> end;
    if (page.length) end = page.header_bytes() + *page.length;
    std::set<std::string> keys;
    check_keys(page.fields, keys, problems);
    if (!page.descriptors) {
        check_rows(page.fields, page.header_bytes(), end, problems);
        return problems;
    }
    const Descriptors& list = *page.descriptors;
    check_rows(page.fields, page.header_bytes(), list.first, problems);
    check_rows(list.fields, 0, list.length, problems);
    check_keys(list.fields, keys, problems);
    if (list.length == 0) problems.push_back("descriptors of 0 bytes");
    if (end && (list.length == 0 || (*end < list.first) || (*end - list.first) % list.length != 0))
        problems.push_back("the page's length holds no whole number of descriptors");
    if (list.count && (list.count->end_byte() > list.first || list.count->width % 8 != 0)) problems.push_back("'count' is no whole bytes before the first descriptor");
    if (list.length_at && *list.length_at + 2 > list.length) problems.push_back("'length_at' is past the descriptor");
    return problems;
}

std::vector<std::string> problems_between(const std::vector<PageFormat>& pages) {
    std::vector<std::string> problems;
    std::set<std::string> seen;
    std::map<std::string, PageId> acronyms;
    for (const PageFormat& page : pages) {
        if (!seen.insert(identity(page)).second) problems.push_back(fmt::format("{}: the page {} is there twice", page.file, identity(page)));
        const PageId id{page.code, page.subpage};
        const auto [at, added] = acronyms.emplace(page.acronym, id);
        if (!added && at->second != id) problems.push_back(fmt::format("{}: the acronym {} is that of {} too", page.file, page.acronym, label(at->second)));
    }
    return problems;
}

}
