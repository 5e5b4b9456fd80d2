#include "sgprobe/scsi/hex_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "hex_line.h"

namespace sgprobe::scsi {
namespace {
std::optional<std::uint64_t> number(std::string_view digits, int base) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (error != std::errc() || end != digits.data() + digits.size()) return {};
    return value;
}

HexSection::Role role_of(std::string_view label) {
    std::string lower(label);
    std::ranges::transform(lower, lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
    const auto has = [&](std::string_view word) { return lower.find(word) != std::string::npos; };
    if (has("cdb") || has("pass-through") || has("pass through") || lower.find('[') < lower.find_first_not_of(" [")) return HexSection::Role::cdb;
    if ((has("sense") || has("sb[]")) && !has("mode sense") && !has("log sense") && !has("modesense") && !has("logsense")) return HexSection::Role::sense;
    return HexSection::Role::data;
}

// Rows whose first words count the bytes before them have offsets, though nothing sets these off.
bool first_words_count(const std::vector<HexLine>& rows) {
    for (const int base : {16, 10}) {
        std::uint64_t expected = 0;
        bool counts = rows.size() >= 2;
        for (const HexLine& row : rows) {
            if (row.offset || row.tokens.size() < 2 || number(row.tokens.front().digits, base) != expected) {
                counts = false;
                break;
            }
            expected += token_bytes(row.tokens, 1).size();
        }
        if (counts) return true;
    }
    return false;
}

// In what base the offsets count: the one in which most of them agree with the bytes before them.
int offset_base(const std::vector<HexLine>& rows) {
    int best = 16;
    std::size_t most = 0;
    for (const int base : {16, 10, 8}) {
        std::optional<std::uint64_t> expected;
        std::size_t agree = 0;
        for (const HexLine& row : rows) {
            if (!row.offset) continue;
            const auto here = number(*row.offset, base);
            if (here && (!expected || here == expected)) ++agree;
            if (here) expected = *here + token_bytes(row.tokens, 0).size();
        }
        if (agree > most) {
            most = agree;
            best = base;
        }
    }
    return best;
}

class Assembler {
public:
    std::vector<HexSection> take(std::string_view text) {
        while (!text.empty()) {
            const std::size_t end = std::min(text.find('\n'), text.size());
            line(read_hex_line(text.substr(0, end)));
            text.remove_prefix(std::min(end + 1, text.size()));
        }
        close_rows();
        return std::move(sections_);
    }

private:
    void line(HexLine row) {
        if (row.blank) return;
        if (row.repeat) {
            if (!rows_.empty()) rows_.push_back(std::move(row));
            return;
        }
        if (row.hex() && row.label.empty()) {
            const bool offsets = !rows_.empty() && rows_.front().offset.has_value();
            if (offsets && !row.offset && row.tokens.size() == 1 && row.tokens.front().digits.size() >= 6) {
                row.offset = row.tokens.front().digits;   // the closing line of hexdump and od: the length alone
                row.tokens.clear();
            }
            if (row.offset && offsets && !rows_.empty() && number(*row.offset, 16) == std::uint64_t{0} && !row.tokens.empty()) close_rows();   // a new dump
            else if (!rows_.empty() && row.offset.has_value() != offsets) close_rows();
            if (text_between_ && !row.offset) close_rows();
            text_between_ = false;
            rows_.push_back(std::move(row));
            return;
        }
        if (row.hex()) {   // words and bytes on one line: a dump of its own, which may go on in the next lines
            close_rows();
            label_ = row.label;
            rows_.push_back(std::move(row));
            inline_label_ = true;
            return;
        }
        if (rows_.empty() || !rows_.front().offset || inline_label_) {
            close_rows();
            label_ = row.label;
        } else {
            text_between_ = true;   // a gutter that was wrapped by mail, perhaps: the next offset tells
            next_label_ = row.label;
        }
    }
    void close_rows() {
        if (rows_.empty()) return;
        HexSection section;
        section.label = label_;
        section.role = role_of(label_);
        if (!rows_.front().offset && first_words_count(rows_))
            for (HexLine& row : rows_) {
                row.offset = row.tokens.front().digits;
                row.tokens.erase(row.tokens.begin());
            }
        join(section);
        rows_.clear();
        inline_label_ = text_between_ = false;
        label_ = std::exchange(next_label_, {});
        if (section.bytes.empty()) return;
        if (section.role == HexSection::Role::cdb) cdb_ = section.bytes;
        else section.cdb = cdb_;
        sections_.push_back(std::move(section));
    }

    void join(HexSection& section) {
        ByteVector& bytes = section.bytes;
        std::optional<std::uint64_t> start;
        const int base = offset_base(rows_);
        std::size_t words = 0, tokens = 0, per_row = 0;
        ByteVector last;
        bool repeat = false;
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            const HexLine& row = rows_[i];
            if (row.repeat) { repeat = true; continue; }
            if (row.offset) {
                const auto here = number(*row.offset, base);
                if (!start) start = here;
                const std::uint64_t expected = bytes.size() + start.value_or(0);
                if (repeat && !last.empty() && here && *here > expected && *here - expected <= largest)
                    while (bytes.size() + start.value_or(0) < *here) bytes.push_back(last[(bytes.size() + start.value_or(0) - expected) % last.size()]);
                else if (here != expected && !row.tokens.empty()) {
                    section.problems.push_back(fmt::format("the dump goes from byte {:X}h to offset {}: what lies between is missing", expected, *row.offset));
                    break;
                }
                repeat = false;
            }
            ByteVector here = token_bytes(row.tokens, 0);
            // What follows the bytes may look like bytes: a row has as many as the offsets say.
            if (i + 1 < rows_.size() && row.offset && rows_[i + 1].offset) {
                const auto from = number(*row.offset, base), to = number(*rows_[i + 1].offset, base);
                if (from && to && *to > *from) per_row = static_cast<std::size_t>(*to - *from);
            }
            if (row.offset && per_row > 0 && here.size() > per_row) here.resize(per_row);
            for (const HexToken& token : row.tokens) { ++tokens; words += word_token(token) ? 1 : 0; }
            bytes.insert(bytes.end(), here.begin(), here.end());
            last = std::move(here);
            if (bytes.size() > largest) break;
        }
        section.words = tokens > 0 && words == tokens;
    }

    static constexpr std::size_t largest = 1u << 20;
    std::vector<HexSection> sections_;
    std::vector<HexLine> rows_;
    std::string label_, next_label_;
    ByteVector cdb_;
    bool inline_label_ = false, text_between_ = false;
};
}

std::vector<HexSection> read_hex_text(std::string_view text) { return Assembler().take(text); }

ByteVector swapped_words(ByteView bytes) {
    ByteVector out(bytes.begin(), bytes.end());
    for (std::size_t i = 0; i + 1 < out.size(); i += 2) std::swap(out[i], out[i + 1]);
    return out;
}

}
