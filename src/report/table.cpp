#include "sgprobe/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sgprobe::report {
namespace {

std::string padded(std::string_view text, std::size_t width, Table::Align align) {
    const std::string fill(width - std::min(width, columns_of(text)), ' ');
    return align == Table::Align::left ? fmt::format("{}{}", text, fill) : fmt::format("{}{}", fill, text);
}

std::string with_unit(double value, std::string_view unit) {
    std::string text = fmt::format("{:.1f}", value);
    if (text.ends_with(".0")) text.resize(text.size() - 2);
    return fmt::format("{} {}", text, unit);
}

}

void Table::column(std::string heading, Align align) { columns_.push_back({std::move(heading), align}); }

void Table::row(std::vector<std::string> cells) {
    cells.resize(columns_.size());
    lines_.push_back({std::move(cells), {}});
}

void Table::rule(std::string text) { lines_.push_back({{}, std::move(text)}); }

std::string Table::str(std::string_view indent) const {
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < columns_.size(); i++) {
        std::size_t width = columns_of(columns_[i].heading);
        for (const Line& line : lines_)
            if (i < line.cells.size()) width = std::max(width, columns_of(line.cells[i]));
        widths.push_back(width);
    }
    std::string out;
    const auto put = [&](const auto& cell) {
        std::string line(indent);
        for (std::size_t i = 0; i < columns_.size(); i++) {
            if (i) line += "  ";
            line += padded(cell(i), widths[i], columns_[i].align);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + '\n';
    };
    put([&](std::size_t i) { return std::string_view(columns_[i].heading); });
    for (const Line& line : lines_) {
        if (line.cells.empty()) out += fmt::format("{}{}\n", indent, line.rule);
        else put([&](std::size_t i) { return std::string_view(line.cells[i]); });
    }
    return out;
}

std::size_t columns_of(std::string_view utf8) {
    return static_cast<std::size_t>(std::count_if(utf8.begin(), utf8.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string bar(double value, double greatest, unsigned columns, bool unicode) {
    if (!(greatest > 0) || !(value > 0)) return {};
    const double length = std::min(1.0, value / greatest) * columns;
    std::string out;
    if (!unicode) return std::string(static_cast<std::size_t>(std::lround(length)), '#');
    const auto eighths = static_cast<unsigned>(std::lround(length * 8));
    for (unsigned i = 0; i < eighths / 8; i++) out += "█";
    constexpr const char* part[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    return out + part[eighths % 8];
}

std::string binary_size(Bytes bytes) {
    constexpr Bytes kib = 1024, mib = kib * kib, gib = kib * mib;
    if (bytes >= gib && bytes % gib == 0) return fmt::format("{} GiB", bytes / gib);
    if (bytes >= mib && bytes % mib == 0) return fmt::format("{} MiB", bytes / mib);
    if (bytes >= kib && (bytes * 10) % kib == 0) return with_unit(static_cast<double>(bytes) / kib, "KiB");
    return fmt::format("{} B", grouped(bytes));
}

std::string decimal_size(Bytes bytes) {
    const auto value = static_cast<double>(bytes);
    struct Unit { double factor; std::string_view name; };
    constexpr Unit units[] = {{1e15, "PB"}, {1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}};
    for (const Unit& unit : units)
        if (value >= unit.factor) {
            const double scaled = value / unit.factor;
            return scaled >= 100 ? fmt::format("{:.0f} {}", scaled, unit.name) : with_unit(scaled, unit.name);
        }
    return fmt::format("{} B", bytes);
}

std::string grouped(std::uint64_t value) {
    std::string text = fmt::format("{}", value);
    for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
    return text;
}

std::string rate(double mb_s) {
    return mb_s >= 1000 ? fmt::format("{:.0f}", mb_s) : mb_s >= 1 ? fmt::format("{:.1f}", mb_s) : fmt::format("{:.2f}", mb_s);
}

}
