#include "sgprobe/cli/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "sgprobe/transport/failure.h"

namespace sgprobe::cli {
namespace {

constexpr std::size_t longest_list = 100'000;

struct Multiplier { std::string_view suffix; std::uint64_t factor; };
// sg3_utils(8), NUMERIC ARGUMENTS.
constexpr Multiplier multipliers[] = {
    {"", 1}, {"c", 1}, {"C", 1}, {"w", 2}, {"W", 2}, {"b", 512}, {"B", 512},
    {"k", 1ull << 10}, {"K", 1ull << 10}, {"KiB", 1ull << 10}, {"kB", 1'000}, {"KB", 1'000},
    {"m", 1ull << 20}, {"M", 1ull << 20}, {"MiB", 1ull << 20}, {"MB", 1'000'000},
    {"g", 1ull << 30}, {"G", 1ull << 30}, {"GiB", 1ull << 30}, {"GB", 1'000'000'000},
    {"t", 1ull << 40}, {"T", 1ull << 40}, {"TiB", 1ull << 40}, {"TB", 1'000'000'000'000},
    {"p", 1ull << 50}, {"P", 1ull << 50}, {"PiB", 1ull << 50}, {"PB", 1'000'000'000'000'000},
};

[[noreturn]] void bad(std::string_view text, std::string_view wanted) {
    throw Failure(ExitStatus::syntax, fmt::format("\"{}\" is no {}", text, wanted));
}

std::optional<std::uint64_t> digits(std::string_view text, int base) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return {};
    return value;
}

std::optional<std::uint64_t> product(std::uint64_t a, std::uint64_t b) {
    std::uint64_t value = 0;
    if (__builtin_mul_overflow(a, b, &value)) return {};
    return value;
}

std::optional<std::uint64_t> number(std::string_view text) {
    if (text.starts_with("0x") || text.starts_with("0X")) return digits(text.substr(2), 16);
    if (text.ends_with('h') || text.ends_with('H')) return digits(text.substr(0, text.size() - 1), 16);
    if (const auto x = text.find('x'); x != text.npos) {
        const auto left = number(text.substr(0, x)), right = number(text.substr(x + 1));
        return left && right ? product(*left, *right) : std::nullopt;
    }
    const auto end = std::min(text.find_first_not_of("0123456789"), text.size());
    const auto value = digits(text.substr(0, end), 10);
    for (const Multiplier& m : multipliers)
        if (value && text.substr(end) == m.suffix) return product(*value, m.factor);
    return {};
}

}

std::uint64_t parse_number(std::string_view text) {
    if (const auto value = number(text)) return *value;
    bad(text, "number (512, 64k, 1M, 0x200 and 200h are)");
}

std::int64_t parse_signed(std::string_view text) {
    const bool negative = text.starts_with('-');
    const std::uint64_t value = parse_number(negative ? text.substr(1) : text);
    if (value > static_cast<std::uint64_t>(INT64_MAX)) bad(text, "number that fits");
    return negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
}

std::vector<std::uint64_t> parse_numbers(std::string_view text) {
    std::vector<std::uint64_t> values;
    const auto add = [&](std::uint64_t value) {
        if (values.size() == longest_list) bad(text, fmt::format("list that can be used: it has more than {} entries", longest_list));
        values.push_back(value);
    };
    const auto range = [&](std::string_view item, std::uint64_t first, std::uint64_t last, std::uint64_t step) {
        if (step == 0 || first > last) bad(item, "range: FIRST:LAST:STEP rises from FIRST to LAST");
        for (std::uint64_t v = first;; v += step) {
            add(v);
            if (last - v < step) break;
        }
    };
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t comma = std::min(text.find(',', from), text.size());
        const std::string_view item = text.substr(from, comma - from);
        from = comma + 1;
        if (const auto colon = item.find(':'); colon != item.npos) {
            const auto second = item.find(':', colon + 1);
            const std::uint64_t first = parse_number(item.substr(0, colon));
            const std::uint64_t last = parse_number(item.substr(colon + 1, second == item.npos ? second : second - colon - 1));
            range(item, first, last, second == item.npos ? 1 : parse_number(item.substr(second + 1)));
        } else if (const auto dash = item.find('-'); dash != item.npos && dash > 0) {
            range(item, parse_number(item.substr(0, dash)), parse_number(item.substr(dash + 1)), 1);
        } else {
            add(parse_number(item));
        }
    }
    std::vector<std::uint64_t> once;
    for (std::uint64_t v : values)
        if (once.empty() || once.back() != v) once.push_back(v);
    std::sort(once.begin(), once.end());
    once.erase(std::unique(once.begin(), once.end()), once.end());
    return once;
}

Nanoseconds parse_time(std::string_view text) {
    constexpr std::string_view wanted = "time (60, 90s, 500ms, 2m and 1h30m are)";
    struct Unit { std::string_view name; double ns; };
    constexpr Unit units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}, {"d", 86400e9}};
    double total = 0;
    std::string_view rest = text;
    if (rest.empty()) bad(text, wanted);
    while (!rest.empty()) {
        double value = 0;
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value, std::chars_format::fixed);
        if (error != std::errc{} || !(value >= 0)) bad(text, wanted);
        rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
        const std::string_view name = rest.substr(0, std::min(rest.find_first_of("0123456789."), rest.size()));
        rest.remove_prefix(name.size());
        if (name.empty() && total == 0) {
            total = value * 1e9;
        } else {
            const auto unit = std::find_if(std::begin(units), std::end(units), [&](const Unit& u) { return u.name == name; });
            if (unit == std::end(units)) bad(text, wanted);
            total += value * unit->ns;
        }
    }
    if (total > 9.2e18) bad(text, "time that fits");
    return Nanoseconds(std::llround(total));
}

double parse_fraction(std::string_view text) {
    const bool percent = text.ends_with('%');
    const std::string_view body = percent ? text.substr(0, text.size() - 1) : text;
    double value = 0;
    const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), value, std::chars_format::fixed);
    if (body.empty() || error != std::errc{} || end != body.data() + body.size()) bad(text, "fraction (0.1 and 10% are)");
    if (percent) value /= 100;
    if (!(value > 0 && value < 1)) bad(text, "fraction between 0 and 1 (0.1 and 10% are)");
    return value;
}

}
