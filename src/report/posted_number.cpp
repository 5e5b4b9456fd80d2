#include "sgprobe/report/posted_number.h"

#include <array>
#include <charconv>
#include <cmath>

namespace sgprobe::report {

namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }
bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Letters, with "/s" or "/sec" behind. No unit is longer than 12 characters.
std::size_t word_length(std::string_view text) {
    std::size_t n = 0;
    while (n < text.size() && n < 12 && letter(text[n])) ++n;
    if (n > 0 && n + 1 < text.size() && text[n] == '/' && letter(text[n + 1]))
        for (++n; n < text.size() && n < 12 && letter(text[n]);) ++n;
    return n;
}

}

Unit unit_of(std::string_view word) {
    struct Row { std::string_view text; UnitKind kind; double factor; bool open; };
    constexpr double k = 1024, m = k * k, g = m * k;
    static constexpr std::array rows{
        Row{"b", UnitKind::size, 1, false},         Row{"bytes", UnitKind::size, 1, false},
        Row{"k", UnitKind::size, k, true},          Row{"kb", UnitKind::size, k, true},
        Row{"kbyte", UnitKind::size, k, true},      Row{"kbytes", UnitKind::size, k, true},
        Row{"kib", UnitKind::size, k, false},       Row{"ki", UnitKind::size, k, false},
        Row{"m", UnitKind::size, m, true},          Row{"mb", UnitKind::size, m, true},
        Row{"mib", UnitKind::size, m, false},       Row{"mi", UnitKind::size, m, false},
        Row{"sectors", UnitKind::size, 512, false}, Row{"blocks", UnitKind::size, 512, false},
        Row{"b/s", UnitKind::rate, 1, false},       Row{"kb/s", UnitKind::rate, 1e3, true},
        Row{"kb/sec", UnitKind::rate, 1e3, true},   Row{"k/s", UnitKind::rate, k, true},
        Row{"k/sec", UnitKind::rate, k, true},      Row{"kib/s", UnitKind::rate, k, false},
        Row{"kib/sec", UnitKind::rate, k, false},   Row{"mb/s", UnitKind::rate, 1e6, true},
        Row{"mb/sec", UnitKind::rate, 1e6, true},   Row{"mbyte/s", UnitKind::rate, 1e6, true},
        Row{"mbytes/s", UnitKind::rate, 1e6, true}, Row{"m/s", UnitKind::rate, 1e6, true},
        Row{"mbps", UnitKind::rate, 1e6, true},     Row{"mib/s", UnitKind::rate, m, false},
        Row{"mib/sec", UnitKind::rate, m, false},   Row{"mibps", UnitKind::rate, m, false},
        Row{"gb/s", UnitKind::rate, 1e9, true},     Row{"gb/sec", UnitKind::rate, 1e9, true},
        Row{"gib/s", UnitKind::rate, g, false},     Row{"iops", UnitKind::other, 1, false},
        Row{"ms", UnitKind::other, 1, false},       Row{"us", UnitKind::other, 1, false},
        Row{"s", UnitKind::other, 1, false},        Row{"sec", UnitKind::other, 1, false},
        Row{"seconds", UnitKind::other, 1, false},
    };
    std::string lower(word);
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    for (const Row& row : rows)
        if (row.text == lower) return {row.kind, row.factor, row.open, lower};
    return {};
}

std::optional<PostedNumber> read_number(std::string_view text) {
    std::size_t n = 0;
    while (n < text.size() && digit(text[n])) ++n;
    if (n == 0 || n > 18) return {};
    std::string digits(text.substr(0, n));
    PostedNumber number;
    if (n + 1 < text.size() && (text[n] == '.' || text[n] == ',') && digit(text[n + 1])) {
        std::size_t places = 0;
        digits += '.';
        for (++n; n < text.size() && digit(text[n]); ++places) digits += text[n++];
        // 1.2.3 is a version and 1,2,3 a list: no number.
        if (places > 18 || (n + 1 < text.size() && (text[n] == '.' || text[n] == ',') && digit(text[n + 1]))) return {};
        number.resolution = std::pow(10.0, -static_cast<double>(places));
        number.grouped = places == 3 && digits[0] != '0';
    }
    if (n + 1 < text.size() && (text[n] == 'e' || text[n] == 'E') && (digit(text[n + 1]) || text[n + 1] == '+')) return {};
    std::from_chars(digits.data(), digits.data() + digits.size(), number.value);
    std::size_t blanks = n;
    while (blanks < text.size() && blanks < n + 2 && text[blanks] == ' ') ++blanks;
    if (const std::size_t length = word_length(text.substr(blanks)); length > 0) {
        number.unit = unit_of(text.substr(blanks, length));
        if (number.unit.kind != UnitKind::none) n = blanks + length;
        else if (blanks == n) return {};   // 15K2, 3AA: part of a name
    }
    number.length = n;
    return number;
}

}
