// What is known of mode pages: the files of modepages/, whose format is sgprobe-modepage(5).
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sgprobe/scsi/mode.h"

namespace sgprobe::pages {

struct Field {                                   // one row
    std::string key, name;                       // no key: reserved
    unsigned byte = 0, bit = 7, width = 1;       // bit: the most significant one; width in bits
    std::vector<std::pair<std::uint64_t, std::string>> values;
    bool reserved() const { return key.empty(); }
    unsigned end_byte() const { return byte + (7 - bit + width + 7) / 8; }
    std::uint64_t all_ones() const { return width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1; }
    std::string_view meaning(std::uint64_t value) const;   // empty where the file says none
};

struct Descriptors {                             // equal parts at the end of a page
    unsigned first = 0, length = 0;
    std::optional<Field> count;                  // empty: as many as the page's length holds
    std::optional<unsigned> length_at;
    std::vector<Field> fields;                   // byte 0 is the descriptor's first
};

struct PageFormat {
    std::uint8_t code = 0, subpage = 0;
    std::string name, acronym, standard, clause;
    std::optional<unsigned> length;              // PAGE LENGTH as the standard has it
    std::optional<unsigned> protocol;
    std::vector<std::string> vendors;
    std::vector<Field> fields;
    std::optional<Descriptors> descriptors;
    std::string file;
    unsigned header_bytes() const { return subpage == 0 ? 2 : 4; }
};

struct PageId {
    std::uint8_t code = 0, subpage = 0;
    auto operator<=>(const PageId&) const = default;
};
std::string label(PageId);                       // "08h", "0Ah/01h"

class Catalogue {
public:
    // The built-in files, and over them those of a folder (none where empty). Throws Failure where a file breaks the rules.
    explicit Catalogue(const std::string& folder = {});
    const std::vector<PageFormat>& pages() const { return pages_; }
    // The row set that fits a page as a drive sent it; nothing where the page is unknown.
    const PageFormat* find(PageId, ByteView page, std::string_view vendor) const;
    // What --page takes: "8", "0x8", "8h", "0xa,1", "0a/01", an acronym, a name or the beginning of just one. Empty: no such page.
    std::optional<PageId> page_named(std::string_view) const;
    // The pages that have a field of this key, ascending; variants of one page count once.
    std::vector<PageId> pages_with(std::string_view key) const;
private:
    std::vector<PageFormat> pages_;
};

PageFormat parse_page_format(std::string_view toml, const std::string& file);   // throws Failure with place and reason
std::vector<std::string> problems_of(const PageFormat&);                        // order, overlaps, gaps, widths, duplicates
std::vector<std::string> problems_between(const std::vector<PageFormat>&);      // the same page, acronym or key twice
bool same_text(std::string_view, std::string_view);                             // without regard to ASCII capitals

}
