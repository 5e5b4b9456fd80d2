#include "hex_line.h"

#include <algorithm>
#include <cctype>

namespace sgprobe::scsi {
namespace {
bool hex_digit(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }
bool digit(char c) { return c >= '0' && c <= '9'; }
bool all_hex(std::string_view text) { return !text.empty() && std::ranges::all_of(text, hex_digit); }
unsigned nibble(char c) { return static_cast<unsigned>(digit(c) ? c - '0' : (c | 0x20) - 'a' + 10); }

void replace_all(std::string& text, std::string_view what, std::string_view with) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) text.replace(at, what.size(), with);
}

// Quoting, entities, tabs, comments, carriage returns: what mail programs and web pages do to a line. Columns stay.
std::string plain(std::string_view raw) {
    std::string line(raw);
    replace_all(line, "\r", "");
    replace_all(line, "\xc2\xa0", " ");
    replace_all(line, "&gt;", ">");
    replace_all(line, "&lt;", "<");
    replace_all(line, "&amp;", "&");
    replace_all(line, "\t", "    ");
    std::size_t at = 0;
    while (at < line.size() && (line[at] == ' ' || line[at] == '>')) ++at;   // "> > 00 3a"
    for (std::size_t i = 0; i < at; ++i) line[i] = ' ';
    for (std::size_t hash = line.find('#'); hash != std::string::npos; hash = line.find('#', hash + 1)) {
        // A comment of sg3_utils' --inhex files; not the # of a gutter, nor of "tag#0".
        if (hash == 0 || (line[hash - 1] == ' ' && (hash + 1 == line.size() || line[hash + 1] == ' ')) || line.find_first_not_of(' ') == hash) {
            line.resize(hash);
            break;
        }
    }
    for (std::size_t open; (open = line.find("/*")) != std::string::npos;) {
        const std::size_t close = line.find("*/", open);
        const std::size_t end = close == std::string::npos ? line.size() : close + 2;
        std::fill(line.begin() + static_cast<std::ptrdiff_t>(open), line.begin() + static_cast<std::ptrdiff_t>(end), ' ');
    }
    if (const std::size_t comment = line.find(" //"); comment != std::string::npos) line.resize(comment);
    // "[   12.345678] " of the kernel's log
    if (const std::size_t open = line.find_first_not_of(' '); open != std::string::npos && line[open] == '[')
        if (const std::size_t close = line.find(']', open); close != std::string::npos && close > open + 1) {
            const std::string_view inside = std::string_view(line).substr(open + 1, close - open - 1);
            if (inside.find('.') != std::string_view::npos && std::ranges::all_of(inside, [](char c) { return digit(c) || c == '.' || c == ' '; }))
                std::fill(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(close) + 1, ' ');
        }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    return line;
}

// One word as hex: 3a, 0x3a, 3Ah, \x3a, 003a, a run of bytes; "00:3a:00:12" and "20-57" split into several. False: no hex.
bool take_word(std::string_view word, std::size_t column, std::vector<HexToken>& out) {
    const std::size_t end = column + word.size();
    if (word.size() > 3 && word.starts_with("\\x")) {   // a C string
        std::vector<HexToken> parts;
        for (std::size_t at = 0; at < word.size(); at += 4) {
            const std::string_view part = word.substr(at, 4);
            if (part.size() != 4 || !part.starts_with("\\x") || !all_hex(part.substr(2))) return false;
            parts.push_back({std::string(part.substr(2)), column + at, column + at + 4, false});
        }
        out.insert(out.end(), parts.begin(), parts.end());
        return true;
    }
    for (const char separator : {':', '-'}) {
        if (word.find(separator) == std::string_view::npos) continue;
        std::vector<HexToken> parts;
        std::size_t at = 0;
        for (;;) {
            const std::size_t next = std::min(word.find(separator, at), word.size());
            if (next - at != 2 || !all_hex(word.substr(at, 2))) return false;
            parts.push_back({std::string(word.substr(at, 2)), column + at, column + next, false});
            if (next == word.size()) break;
            at = next + 1;
        }
        if (separator == ':' && parts.size() < 4) return false;   // a time of day
        out.insert(out.end(), parts.begin(), parts.end());
        return true;
    }
    HexToken token{.digits = {}, .column = column, .end = end};
    if (word.starts_with("\\x") || word.starts_with("0x") || word.starts_with("0X")) {
        token.prefixed = true;
        word.remove_prefix(2);
    } else if (word.size() >= 2 && (word.back() == 'h' || word.back() == 'H')) {
        word.remove_suffix(1);
    }
    if (!all_hex(word)) return false;
    const bool offset = word.size() == 3 || word.size() == 5 || word.size() == 7;   // only at a line's start
    const bool fits = offset ? out.empty() : word.size() <= 2 || word.size() % 2 == 0;
    if (!fits) return false;
    token.digits = word;
    out.push_back(std::move(token));
    return true;
}

bool decoration(char c) { return std::string_view(" ,;{}[]()\"'").find(c) != std::string_view::npos; }

struct Words {
    std::vector<HexToken> tokens;
    std::size_t stopped;      // column of the first word that is no hex; the line's size where there is none
};
Words take_words(std::string_view line, std::size_t from) {
    Words out{{}, line.size()};
    for (std::size_t at = from; at < line.size();) {
        if (decoration(line[at])) { ++at; continue; }
        std::size_t end = at;
        while (end < line.size() && !decoration(line[end])) ++end;
        if (!take_word(line.substr(at, end - at), at, out.tokens)) {
            out.stopped = at;
            return out;
        }
        at = end;
    }
    return out;
}

// "0010:", "0x10:", "000-015:", "00000010h:" at the line's start. Returns where the bytes begin.
std::optional<std::size_t> colon_offset(std::string_view line, std::string& digits) {
    const std::size_t start = line.find_first_not_of(' ');
    if (start == std::string_view::npos) return {};
    const std::size_t colon = line.find(':', start);
    if (colon == std::string_view::npos || colon == start || (colon + 1 < line.size() && line[colon + 1] != ' ')) return {};
    std::string_view text = line.substr(start, colon - start);
    if (const std::size_t dash = text.find('-'); dash != std::string_view::npos) {
        if (!all_hex(text.substr(0, dash)) || !all_hex(text.substr(dash + 1))) return {};
        text = text.substr(0, dash);
    }
    if (text.starts_with("0x")) text.remove_prefix(2);
    if (text.size() > 1 && (text.back() == 'h' || text.back() == 'H')) text.remove_suffix(1);
    if (!all_hex(text) || text.size() > 16) return {};
    digits = text;
    return colon + 1;
}

// Whether text is how the bytes look in ASCII, blanks at either end lost.
bool renders(std::string_view text, const ByteVector& bytes) {
    const auto shows = [](char c, std::uint8_t byte) { return byte > 0x20 && byte < 0x7f ? c == static_cast<char>(byte) || c == '.' : c == '.' || c == ' ' || c == '?' || c == '_' || (c & 0x80) != 0; };
    if (text.size() > bytes.size()) return false;
    for (std::size_t skip = 0; skip + text.size() <= bytes.size(); ++skip) {
        bool fits = true;
        for (std::size_t i = 0; i < bytes.size() && fits; ++i)
            fits = shows(i < skip || i - skip >= text.size() ? ' ' : text[i - skip], bytes[i]);
        if (fits) return true;
    }
    return false;
}

// Takes the ASCII gutter off: between bars at the end, or text after a gap that shows the very bytes before it.
void drop_gutter(std::string& line, std::size_t from) {
    const std::size_t last = line.find_last_not_of(' ');
    if (last == std::string::npos) return;
    for (const auto& [open, close] : {std::pair{'|', '|'}, std::pair{'>', '<'}, std::pair{'*', '*'}}) {
        const std::size_t at = line.find(open, from);
        if (at == std::string::npos || at == 0 || line[at - 1] != ' ') continue;
        if (line[last] == close || open == '|') {
            line.resize(at);
            return;
        }
    }
    constexpr std::size_t longest_row = 400;   // a line longer than this is no row with a gutter
    if (line.size() > longest_row) return;
    for (std::size_t gap = line.find("  ", from); gap != std::string::npos; gap = line.find("  ", gap + 1)) {
        const std::size_t text = line.find_first_not_of(' ', gap);
        if (text == std::string::npos) return;
        const Words words = take_words(std::string_view(line).substr(0, gap), from);
        if (words.stopped != gap || words.tokens.empty()) continue;
        const std::string_view gutter = std::string_view(line).substr(text);
        const ByteVector straight = token_bytes(words.tokens, 0);
        ByteVector swapped = straight;
        for (std::size_t i = 0; i + 1 < swapped.size(); i += 2) std::swap(swapped[i], swapped[i + 1]);
        // A lone offset before it ("00     70 00") is taken for a byte here; then nothing matches, and rightly so.
        const auto match = [&](std::size_t skip) {
            return straight.size() > skip && (renders(gutter, ByteVector(straight.begin() + static_cast<std::ptrdiff_t>(skip), straight.end())) ||
                                              renders(gutter, ByteVector(swapped.begin() + static_cast<std::ptrdiff_t>(skip), swapped.end())));
        };
        const bool telling = gutter.size() >= 3 || !all_hex(gutter);
        if (telling && (match(0) || match(token_bytes({words.tokens.front()}, 0).size()))) {
            line.resize(gap);
            return;
        }
    }
}
}

bool word_token(const HexToken& token) { return token.digits.size() == 4 || token.digits.size() == 8; }

ByteVector token_bytes(const std::vector<HexToken>& tokens, std::size_t from) {
    ByteVector out;
    for (std::size_t i = from; i < tokens.size(); ++i) {
        const std::string& digits = tokens[i].digits;
        if (digits.size() == 1) out.push_back(static_cast<std::uint8_t>(nibble(digits[0])));
        else
            for (std::size_t at = 0; at + 1 < digits.size(); at += 2) out.push_back(static_cast<std::uint8_t>(nibble(digits[at]) << 4 | nibble(digits[at + 1])));
    }
    return out;
}

HexLine read_hex_line(std::string_view raw) {
    HexLine out;
    std::string line = plain(raw);
    if (line.empty()) {
        out.blank = true;
        return out;
    }
    out.repeat = line.find_first_not_of(' ') == line.find('*') && line.find_first_not_of(" *") == std::string::npos;
    if (out.repeat) return out;
    std::string offset;
    const auto after = colon_offset(line, offset);
    const std::size_t from = after.value_or(0);
    drop_gutter(line, from);
    Words words = take_words(line, from);
    if (after) {
        out.offset = offset;
        out.tokens = std::move(words.tokens);
        if (out.tokens.empty() && words.stopped < line.size()) {   // "5: a list in prose"
            out.offset.reset();
            out.label = line;
        }
        return out;
    }
    if (words.stopped == line.size()) {
        out.tokens = std::move(words.tokens);
    } else if (words.tokens.size() >= 4 && words.stopped >= words.tokens.back().end + 2) {
        out.tokens = std::move(words.tokens);   // a gutter that mail has mangled, after a gap
    } else {
        // Words before the bytes: "[sda] Mode Sense: 00 3a 00 00", "CDB: Read(10) 28 00 ...", "sb[]:  70 00 ..."
        out.label = line;
        int tries = 40;
        for (std::size_t at = line.find_first_of(":="); at != std::string::npos && tries-- > 0; at = line.find_first_of(":=", at + 1)) {
            if (at + 1 < line.size() && line[at + 1] != ' ' && line[at + 1] != '[' && line[at] == ':') continue;
            for (std::size_t start = at + 1; start < line.size() && tries > 0; --tries) {
                Words rest = take_words(line, start);
                if (rest.stopped == line.size()) {
                    if (token_bytes(rest.tokens, 0).size() < 4) break;
                    out.label = line.substr(0, rest.tokens.front().column);
                    out.tokens = std::move(rest.tokens);
                    return out;
                }
                start = line.find_first_of(" )", rest.stopped);   // past a word that is no hex, with its "(10)"
                if (start != std::string::npos && line[start] == ')') ++start;
            }
        }
        return out;
    }
    if (out.tokens.empty()) {   // brackets and commas alone
        out.label = line;
        return out;
    }
    // An offset without a colon: set off by a wide gap, longer than what follows, or the only one with (or without) 0x.
    const bool odd = out.tokens.front().digits.size() % 2 == 1 && out.tokens.front().digits.size() > 1;
    if (out.tokens.size() < 2 && !odd) return out;
    if (odd) {
        out.offset = out.tokens.front().digits;
        out.tokens.erase(out.tokens.begin());
        return out;
    }
    const HexToken &first = out.tokens[0], &second = out.tokens[1];
    const bool gap = second.column >= first.end + 3 && (out.tokens.size() == 2 || out.tokens[2].column < second.end + 3);
    const bool longer = first.digits.size() > 2 && second.digits.size() == 2 && first.digits.size() != second.digits.size();
    const bool eight = first.digits.size() >= 6 && second.digits.size() <= 4;
    if (gap || longer || eight || (first.prefixed && !second.prefixed)) {
        out.offset = first.digits;
        out.tokens.erase(out.tokens.begin());
    }
    return out;
}

}
