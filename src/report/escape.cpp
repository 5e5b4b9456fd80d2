#include "sgprobe/report/escape.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>

namespace sgprobe::report {
namespace {

struct CodePoint { std::uint32_t value; std::size_t size; };

// One well-formed UTF-8 sequence (RFC 3629), or nothing.
std::optional<CodePoint> next(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    const std::uint8_t first = byte(0);
    if (first < 0x80) return CodePoint{first, 1};
    const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < size) return {};
    std::uint32_t value = first & (0x7fu >> size);
    for (std::size_t i = 1; i < size; i++) {
        if ((byte(i) & 0xc0) != 0x80) return {};
        value = value << 6 | (byte(i) & 0x3fu);
    }
    constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (value < least[size] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) return {};
    return CodePoint{value, size};
}

// What moves the cursor, hides text or turns its direction.
bool deceptive(std::uint32_t c) {
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff0 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe0fff);
}

}

std::string for_terminal(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const auto c = next(text);
        if (!c) {
            out += fmt::format("\\x{:02x}", static_cast<std::uint8_t>(text[0]));
            text.remove_prefix(1);
            continue;
        }
        if (deceptive(c->value)) out += c->value < 0x80 ? fmt::format("\\x{:02x}", c->value) : fmt::format("\\u{{{:x}}}", c->value);
        else out += text.substr(0, c->size);
        text.remove_prefix(c->size);
    }
    return out;
}

std::string for_csv(std::string_view text) {
    std::string field = for_terminal(text);
    // A spreadsheet takes a field that begins so for a formula.
    if (!field.empty() && std::string_view("=+-@").find(field[0]) != std::string_view::npos) field = fmt::format("'{}", field);
    if (field.find_first_of(",\"") == field.npos) return field;
    std::string out = "\"";
    for (char c : field) {
        if (c == '"') out += '"';
        out += c;
    }
    return out + '"';
}

std::string for_udev(std::string_view text) {
    std::string out;
    for (char c : text) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || std::string_view(" _-+.,:/=()").find(c) != std::string_view::npos;
        out += plain ? c : '?';
    }
    return out;
}

std::string for_gnuplot(std::string_view text) {
    std::string out;
    for (char c : for_terminal(text)) {
        if (c == '\'' || c == '"' || c == '`') out += "\u2019";
        else out += c == '\\' ? '/' : c;
    }
    return out;
}

std::string for_shell(std::string_view text) {
    const std::string clean = for_terminal(text);
    if (!clean.empty() && clean.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.,:/=@%") == clean.npos) return clean;
    std::string out = "'";
    for (char c : clean) {
        if (c == '\'') out += "'\\''";
        else out += c;
    }
    return out + "'";
}

std::string for_openmetrics(std::string_view text) {
    std::string out;
    for (char c : for_terminal(text)) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out;
}

}
