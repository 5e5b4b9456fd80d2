// The text of a journal: sgprobe-journal(5), FORMAT.
#include <fmt/format.h>

#include <charconv>

#include "sgprobe/pages/journal.h"
#include "sgprobe/transport/escape.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::pages {
namespace {

bool plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || std::string_view("._/:=,+-").find(c) != std::string_view::npos;
}

std::string word(std::string_view text) {
    if (text.empty()) return "%";
    std::string out;
    for (const char c : text) out += plain(c) ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
    return out;
}

struct Line {
    std::vector<std::string_view> words;
    std::size_t number;
    const std::string& file;

    [[noreturn]] void refuse(const std::string& why) const {
        throw Failure(ExitStatus::malformed, fmt::format("{}:{}: {}; this is no journal that can be trusted, and nothing of it was applied (sgprobe-journal(5))", file, number, why));
    }
    void want(std::size_t count) const {
        if (words.size() != count) refuse(fmt::format("{} words where {} belong", words.size(), count));
    }
    std::uint64_t number_at(std::size_t i, int base, std::uint64_t greatest) const {
        std::uint64_t value = 0;
        const auto [end, error] = std::from_chars(words[i].data(), words[i].data() + words[i].size(), value, base);
        if (error != std::errc() || end != words[i].data() + words[i].size() || value > greatest) refuse(fmt::format("\"{}\" is no number that can stand here", escaped(words[i])));
        return value;
    }
    std::string text_at(std::size_t i) const {
        if (words[i] == "%") return {};
        std::string out;
        for (std::size_t at = 0; at < words[i].size(); ++at) {
            const char c = words[i][at];
            if (c != '%') {
                if (!plain(c)) refuse("a byte that should have been written as %");
                out += c;
                continue;
            }
            unsigned value = 0;
            const std::string_view digits = words[i].substr(std::min(at + 1, words[i].size()), 2);
            const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
            if (digits.size() != 2 || error != std::errc() || end != digits.data() + 2) refuse("a % without two hexadecimal digits");
            out += static_cast<char>(value);
            at += 2;
        }
        return out;
    }
    ByteVector bytes_at(std::size_t i) const {
        if (words[i] == "%") return {};
        if (words[i].size() % 2 != 0) refuse("an odd number of hexadecimal digits");
        ByteVector out;
        for (std::size_t at = 0; at < words[i].size(); at += 2) {
            unsigned value = 0;
            const auto [end, error] = std::from_chars(words[i].data() + at, words[i].data() + at + 2, value, 16);
            if (error != std::errc() || end != words[i].data() + at + 2) refuse("bytes that are not hexadecimal");
            out.push_back(static_cast<std::uint8_t>(value));
        }
        return out;
    }
    PageId page_id() const { return {static_cast<std::uint8_t>(number_at(1, 16, 0x3f)), static_cast<std::uint8_t>(number_at(2, 16, 0xff))}; }
};

void take_page(Journal& journal, const Line& line) {
    line.want(6);
    JournalPage page{line.page_id(), line.number_at(3, 10, 1) == 1, line.bytes_at(4), line.bytes_at(5)};
    const std::size_t header = page.id.subpage == 0 ? 2 : 4;
    if (page.current.size() < header || (page.current[0] & 0x3f) != page.id.code || (page.id.subpage != 0 && page.current[1] != page.id.subpage))
        line.refuse("the bytes are not those of this page");
    if (!page.saved.empty() && page.saved.size() != page.current.size()) line.refuse("saved and current values differ in length");
    for (const JournalPage& other : journal.pages)
        if (other.id == page.id) line.refuse("a page that is there twice");
    journal.pages.push_back(std::move(page));
}

void take_field(Journal& journal, const Line& line) {
    line.want(10);
    JournalField field;
    field.id = line.page_id();
    field.field.byte = static_cast<unsigned>(line.number_at(3, 10, 0xffff));
    field.field.bit = static_cast<unsigned>(line.number_at(4, 10, 7));
    field.field.width = static_cast<unsigned>(line.number_at(5, 10, 64));
    field.before = line.number_at(6, 10, field.field.all_ones());
    field.wanted = line.number_at(7, 10, field.field.all_ones());
    if (line.words[8] != "%") field.held = line.number_at(8, 10, field.field.all_ones());
    field.field.key = line.text_at(9);
    const JournalPage* page = nullptr;
    for (const JournalPage& other : journal.pages)
        if (other.id == field.id) page = &other;
    if (!page || field.field.width == 0 || field.field.end_byte() > page->current.size()) line.refuse("a field of no page above");
    journal.fields.push_back(std::move(field));
}

void take(Journal& journal, const Line& line) {
    const std::string_view kind = line.words[0];
    if (kind == "drive") {
        line.want(5);
        journal.drive = {line.text_at(1), line.text_at(2), "", line.text_at(3), line.text_at(4)};
    } else if (kind == "device") {
        line.want(2);
        journal.device = line.text_at(1);
    } else if (kind == "begun") {
        line.want(3);
        journal.begun_s = line.number_at(1, 10, ~std::uint64_t{0});
        journal.pid = line.number_at(2, 10, ~std::uint64_t{0});
    } else if (kind == "page") {
        take_page(journal, line);
    } else if (kind == "field") {
        take_field(journal, line);
    } else if (kind == "feature") {
        line.want(4);
        journal.features.push_back({line.text_at(1), line.number_at(2, 10, 0xff), line.number_at(3, 10, 0xff), false});
    } else if (kind == "kernel") {
        line.want(4);
        journal.kernel.push_back({line.text_at(1), line.text_at(2), line.text_at(3)});
    } else {
        line.refuse(fmt::format("a line that begins with \"{}\"", escaped(kind)));
    }
}

}

std::uint32_t crc32(std::string_view text) {
    std::uint32_t crc = ~0u;
    for (const char c : text) {
        crc ^= static_cast<unsigned char>(c);
        for (int i = 0; i < 8; ++i) crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    return ~crc;
}

std::string format_journal(const Journal& journal) {
    std::string out = "sgprobe-journal 1\n";
    std::size_t lines = 1;
    const auto add = [&](const std::string& line) { out += line + '\n'; ++lines; };
    add(fmt::format("drive {} {} {} {}", word(journal.drive.vendor), word(journal.drive.product), word(journal.drive.serial), word(journal.drive.designator)));
    add(fmt::format("device {}", word(journal.device)));
    add(fmt::format("begun {} {}", journal.begun_s, journal.pid));
    for (const JournalPage& page : journal.pages)
        add(fmt::format("page {:02x} {:02x} {} {} {}", page.id.code, page.id.subpage, page.save ? 1 : 0, hex(page.current), page.saved.empty() ? "%" : hex(page.saved)));
    for (const JournalField& f : journal.fields)
        add(fmt::format("field {:02x} {:02x} {} {} {} {} {} {} {}", f.id.code, f.id.subpage, f.field.byte, f.field.bit, f.field.width, f.before, f.wanted,
                        f.held ? std::to_string(*f.held) : "%", word(f.field.key)));
    for (const JournalFeature& feature : journal.features) add(fmt::format("feature {} {} {}", word(feature.name), feature.before, feature.wanted));
    for (const JournalKernel& kernel : journal.kernel) add(fmt::format("kernel {} {} {}", word(kernel.name), word(kernel.before), word(kernel.wanted)));
    const std::uint32_t crc = crc32(out);
    return out + fmt::format("end {} {:08x}\n", lines, crc);
}

Journal parse_journal(std::string_view text, const std::string& file) {
    Journal journal;
    std::size_t number = 0, at = 0;
    bool ended = false;
    while (at < text.size()) {
        const auto newline = text.find('\n', at);
        Line line{{}, ++number, file};
        if (newline == std::string_view::npos) line.refuse("the last line is cut short");
        if (ended) line.refuse("something follows the end");
        std::string_view rest = text.substr(at, newline - at);
        for (;;) {
            const auto blank = rest.find(' ');
            line.words.push_back(rest.substr(0, blank));
            if (line.words.back().empty()) line.refuse("an empty word");
            if (blank == std::string_view::npos) break;
            rest.remove_prefix(blank + 1);
        }
        if (number == 1) {
            if (line.words.size() != 2 || line.words[0] != "sgprobe-journal") line.refuse("not a journal of sgprobe");
            if (line.words[1] != "1") line.refuse("a journal of another version");
        } else if (line.words[0] == "end") {
            line.want(3);
            if (line.number_at(1, 10, ~std::uint64_t{0}) != number - 1) line.refuse("lines are missing");
            if (line.words[2] != fmt::format("{:08x}", crc32(text.substr(0, at)))) line.refuse("the checksum is wrong");
            ended = true;
        } else {
            take(journal, line);
        }
        at = newline + 1;
    }
    if (!ended) Line{{}, number, file}.refuse("the end is missing");
    return journal;
}

}
