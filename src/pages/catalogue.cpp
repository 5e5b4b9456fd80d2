#include "sgprobe/pages/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "sgprobe/scsi/embedded.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::pages {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_identity(const PageFormat& a, const PageFormat& b) {
    return a.code == b.code && a.subpage == b.subpage && a.protocol == b.protocol && a.vendors == b.vendors;
}

bool begins_with(std::string_view text, std::string_view start) {
    return text.size() >= start.size() && same_text(text.substr(0, start.size()), start);
}

// "8", "0x8", "8h", "0a": nothing where it is no number up to `greatest`. Without a sign of hexadecimal it is decimal, as sdparm has it.
std::optional<std::uint8_t> page_number(std::string_view text, unsigned greatest, bool letters_first = false) {
    int base = 10;
    if (begins_with(text, "0x")) { base = 16; text.remove_prefix(2); }
    else if (!text.empty() && lower(text.back()) == 'h') { base = 16; text.remove_suffix(1); }
    else if (!text.empty() && (letters_first || (text[0] >= '0' && text[0] <= '9')) && text.find_first_of("abcdefABCDEF") != std::string_view::npos) base = 16;
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (text.empty() || error != std::errc() || end != text.data() + text.size() || value > greatest) return {};
    return static_cast<std::uint8_t>(value);
}

std::string read_file(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    if (!stream) throw Failure(ExitStatus::file_error, fmt::format("{}: cannot be read; is --modepages right?", path.string()));
    return text.str();
}

}

bool same_text(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view Field::meaning(std::uint64_t value) const {
    for (const auto& [number, words] : values)
        if (number == value) return words;
    return {};
}

std::string label(PageId id) {
    return id.subpage == 0 ? fmt::format("{:02X}h", id.code) : fmt::format("{:02X}h/{:02X}h", id.code, id.subpage);
}

Catalogue::Catalogue(const std::string& folder) {
    for (const EmbeddedFile& file : embedded_files())
        if (file.name.starts_with("modepages/") && file.name.find('/', 10) == std::string_view::npos)
            pages_.push_back(parse_page_format(file.content, std::string(file.name)));
    if (!folder.empty()) {
        std::error_code error;
        std::vector<std::filesystem::path> paths;
        for (const auto& entry : std::filesystem::directory_iterator(folder, error))
            if (entry.path().extension() == ".toml") paths.push_back(entry.path());
        if (error) throw Failure(ExitStatus::file_error, fmt::format("{}: {}; is --modepages right?", folder, error.message()));
        std::sort(paths.begin(), paths.end());
        for (const auto& path : paths) {
            PageFormat page = parse_page_format(read_file(path), path.string());
            std::erase_if(pages_, [&](const PageFormat& other) { return same_identity(page, other) && !other.file.starts_with(folder); });
            pages_.push_back(std::move(page));
        }
    }
    const auto problems = problems_between(pages_);
    if (!problems.empty()) throw Failure(ExitStatus::syntax, problems.front() + " (see sgprobe-modepage(5))");
    std::stable_sort(pages_.begin(), pages_.end(), [](const PageFormat& a, const PageFormat& b) {
        return PageId{a.code, a.subpage} < PageId{b.code, b.subpage};
    });
}

const PageFormat* Catalogue::find(PageId id, ByteView page, std::string_view vendor) const {
    const PageFormat* general = nullptr;
    const PageFormat* special = nullptr;
    for (const PageFormat& format : pages_) {
        if (PageId{format.code, format.subpage} != id) continue;
        if (!format.protocol && format.vendors.empty()) { general = &format; continue; }
        const unsigned at = id.subpage == 0 ? 2 : 5;
        if (format.protocol && (page.size() <= at || (page[at] & 0x0f) != *format.protocol)) continue;
        if (!format.vendors.empty() &&
            std::none_of(format.vendors.begin(), format.vendors.end(), [&](const std::string& v) { return begins_with(vendor, v); })) continue;
        special = &format;
    }
    return special ? special : general;
}

std::optional<PageId> Catalogue::page_named(std::string_view text) const {
    const auto comma = text.find_first_of(",/");
    const auto code = page_number(text.substr(0, comma), 0x3f);
    if (code) {
        if (comma == std::string_view::npos) return PageId{*code, 0};
        const auto subpage = page_number(text.substr(comma + 1), 0xff, true);
        if (!subpage) return {};
        return PageId{*code, *subpage};
    }
    std::optional<PageId> begun;
    bool several = false;
    for (const PageFormat& page : pages_) {
        const PageId id{page.code, page.subpage};
        if (same_text(page.acronym, text) || same_text(page.name, text)) return id;
        if (text.size() < 3 || !begins_with(page.name, text)) continue;
        several = several || (begun && *begun != id);
        begun = id;
    }
    return several ? std::nullopt : begun;
}

std::vector<PageId> Catalogue::pages_with(std::string_view key) const {
    std::vector<PageId> found;
    const auto has = [&](const std::vector<Field>& fields) {
        return std::any_of(fields.begin(), fields.end(), [&](const Field& field) { return same_text(field.key, key); });
    };
    for (const PageFormat& page : pages_) {
        const PageId id{page.code, page.subpage};
        if (!key.empty() && (has(page.fields) || (page.descriptors && has(page.descriptors->fields))) && (found.empty() || found.back() != id))
            found.push_back(id);
    }
    return found;
}

}
