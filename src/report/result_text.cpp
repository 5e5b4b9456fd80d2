// A result for people: who the drive is, a table with bars, the verdict in a sentence, what to do.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sgprobe/report/escape.h"
#include "sgprobe/report/format.h"
#include "sgprobe/report/names.h"
#include "sgprobe/report/table.h"

namespace sgprobe::report {
namespace {

using measure::Cliff;
using measure::Result;
using measure::SampleResult;

std::string identity(const Result& r) {
    const auto& d = r.device;
    std::string line = for_terminal(fmt::format("{} {} {}", d.vendor, d.product, d.revision));
    line.erase(0, line.find_first_not_of(' '));
    if (d.blocks && d.block_bytes)
        line += fmt::format(", {}, {}-byte blocks", decimal_size(d.blocks * d.block_bytes), grouped(d.block_bytes));
    if (d.rotation_rpm) line += *d.rotation_rpm <= 1 ? ", not rotating" : fmt::format(", {} rpm", grouped(*d.rotation_rpm));
    if (!d.transport.empty()) line += ", " + for_terminal(d.transport);
    return fmt::format("{}: {}\n", for_terminal(d.path), line);
}

std::string effort(const Result& r) {
    const double time = r.virtual_time_s.value_or(r.elapsed_s);
    return fmt::format("{} commands, {} in {:.1f} s of {}\n", grouped(r.commands), decimal_size(r.bytes_transferred), time,
                       r.virtual_time_s ? "the drive's (virtual) time" : "time");
}

template <class F>
bool varies(const std::vector<SampleResult>& samples, F&& field) {
    return std::any_of(samples.begin(), samples.end(), [&](const SampleResult& s) { return field(s) != field(samples.front()); });
}

std::uint64_t place(const SampleResult& s, std::string_view axis) { return axis == "depth" ? s.depth : s.transfer_blocks; }

std::string amount(const Result& r, std::string_view axis, std::uint64_t at) {
    if (axis == "depth") return fmt::format("depth {}", at);
    const std::string size = r.device.block_bytes ? fmt::format(" ({})", binary_size(at * r.device.block_bytes)) : "";
    return fmt::format("{} blocks{}", grouped(at), size);
}

std::string table_of(const Result& r, const std::vector<SampleResult>& samples, const Style& style) {
    const bool depths = varies(samples, [](const auto& s) { return s.depth; });
    const bool sizes = !depths || varies(samples, [](const auto& s) { return s.transfer_bytes; });
    const bool retries = std::any_of(samples.begin(), samples.end(), [](const auto& s) { return s.hidden_retries || s.task_set_full; });
    const bool errors = std::any_of(samples.begin(), samples.end(), [](const auto& s) { return s.errors; });
    double greatest = 0;
    for (const auto& s : samples) greatest = std::max(greatest, s.rate_mb_s.median);

    Table table;
    if (sizes) table.column("size"), table.column("blocks");
    if (depths) table.column("depth");
    table.column("MB/s"), table.column("95 % interval");
    if (retries) table.column("full"), table.column("hidden");
    if (errors) table.column("errors");
    table.column("", Table::Align::left);
    const unsigned used = (sizes ? 18 : 0) + (depths ? 7 : 0) + 24 + (retries ? 14 : 0) + (errors ? 8 : 0);
    const unsigned room = style.width > used + 12 ? style.width - used - 4 : 12;

    for (std::size_t i = 0; i < samples.size(); i++) {
        const SampleResult& s = samples[i];
        for (const Cliff& c : r.cliffs) {
            if (i == 0 || c.pattern != s.pattern || place(samples[i - 1], c.axis) > c.last_good || place(s, c.axis) < c.first_bad) continue;
            table.rule(fmt::format("{} cliff: {} are good, {} are {:.0f} % slower", style.unicode ? "━━━━" : "----",
                                   amount(r, c.axis, c.last_good), grouped(c.first_bad), c.drop * 100));
        }
        std::vector<std::string> cells;
        if (sizes) cells.push_back(binary_size(s.transfer_bytes)), cells.push_back(grouped(s.transfer_blocks));
        if (depths) cells.push_back(fmt::format("{}", s.depth));
        if (s.commands) {
            cells.push_back(rate(s.rate_mb_s.median));
            cells.push_back(fmt::format("{} - {}", rate(s.rate_mb_s.low), rate(s.rate_mb_s.high)));
        } else {
            cells.push_back("-"), cells.push_back("");
        }
        if (retries) cells.push_back(grouped(s.task_set_full)), cells.push_back(grouped(s.hidden_retries));
        if (errors) cells.push_back(grouped(s.errors));
        std::string tail = s.commands ? bar(s.rate_mb_s.median, greatest, room, style.unicode) : "";
        if (!s.note.empty()) tail += fmt::format("{}{}", tail.empty() ? "" : " ", for_terminal(s.note));
        cells.push_back(tail);
        table.row(std::move(cells));
    }
    return table.str();
}

std::string tables(const Result& r, const Style& style) {
    std::vector<std::string> patterns;
    for (const auto& s : r.samples)
        if (std::find(patterns.begin(), patterns.end(), s.pattern) == patterns.end()) patterns.push_back(s.pattern);
    std::string out;
    for (const std::string& pattern : patterns) {
        std::vector<SampleResult> group;
        std::copy_if(r.samples.begin(), r.samples.end(), std::back_inserter(group), [&](const auto& s) { return s.pattern == pattern; });
        out += fmt::format("\n{}\n", for_terminal(pattern)) + table_of(r, group, style);
    }
    return out;
}

std::string laid_out(const measure::ResultTable& t) {
    Table table;
    for (std::size_t i = 0; i < t.columns.size(); i++) {
        const bool numbers = std::any_of(t.rows.begin(), t.rows.end(), [&](const auto& row) { return i < row.size() && !row[i].empty() && std::isdigit(static_cast<unsigned char>(row[i][0])); });
        table.column(for_terminal(t.columns[i]), numbers ? Table::Align::right : Table::Align::left);
    }
    for (const auto& row : t.rows) {
        std::vector<std::string> cells;
        for (const std::string& cell : row) cells.push_back(for_terminal(cell));
        table.row(std::move(cells));
    }
    return (t.title.empty() ? "\n" : fmt::format("\n{}\n", for_terminal(t.title))) + table.str();
}

std::string wrapped(std::string_view text, std::string_view indent, unsigned width) {
    std::string out(indent);
    std::size_t column = indent.size();
    for (std::size_t from = 0; from < text.size();) {
        const std::size_t end = std::min(text.find(' ', from), text.size());
        const std::string_view word = text.substr(from, end - from);
        if (column > indent.size() && column + 1 + columns_of(word) > width) {
            out += fmt::format("\n{}", indent);
            column = indent.size();
        } else if (column > indent.size()) {
            out += ' ';
            column++;
        }
        out += word;
        column += columns_of(word);
        from = end + 1;
    }
    return out + '\n';
}

}

std::string verdict_sentence(const Result& r) {
    // Where there is no cliff to look for, the reason alone is the answer.
    if (!r.tables.empty() && r.samples.empty() && r.verdict == measure::Verdict::clean && !r.interrupted)
        return fmt::format("{}{}", for_terminal(r.reason), r.reason.ends_with('.') ? "" : ".");
    std::string out(name(r.verdict));
    out[0] = static_cast<char>(std::toupper(out[0]));
    if (r.interrupted) out = "Interrupted, partial: " + std::string(name(r.verdict));
    if (r.verdict == measure::Verdict::cliff && !r.cliffs.empty()) {
        for (std::size_t i = 0; i < r.cliffs.size(); i++) {
            const Cliff& c = r.cliffs[i];
            out += fmt::format("{} {}past {} the rate falls from {} to {} MB/s ({:.0f} % less{})", i ? "; and" : ":",
                               c.pattern.empty() || r.cliffs.size() == 1 ? "" : fmt::format("{}, ", for_terminal(c.pattern)),
                               amount(r, c.axis, c.last_good), rate(c.before_mb_s), rate(c.after_mb_s), c.drop * 100,
                               c.exact ? "" : fmt::format("; somewhere up to {}", amount(r, c.axis, c.first_bad)));
            if (!c.mechanism.empty()) out += fmt::format(": {}", for_terminal(c.mechanism));
        }
        out += '.';
    } else {
        out += r.reason.empty() ? "." : fmt::format(": {}{}", for_terminal(r.reason), r.reason.ends_with('.') ? "" : ".");
    }
    return out;
}

std::string text(const Result& r, const Style& style) {
    std::string out = identity(r) + effort(r);
    out += tables(r, style);
    for (const auto& t : r.tables) out += laid_out(t);
    if (r.tables.empty() && !r.sections.empty()) out += '\n' + text(measure::Value(r.sections));
    // A probe whose verdict is not all of its answer says it in a section of this name.
    const auto sentence = std::find_if(r.sections.begin(), r.sections.end(), [](const auto& section) { return section.first == "sentence"; });
    const std::string* headline = sentence == r.sections.end() ? nullptr : std::get_if<std::string>(&sentence->second.held);
    if (headline && !headline->empty()) {
        std::string capital = for_terminal(*headline);
        capital[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(capital[0])));
        out += '\n' + wrapped(capital + '.', "", style.width);
    }
    if (!headline || !r.cliffs.empty()) out += '\n' + wrapped(verdict_sentence(r), "", style.width);
    for (const auto& a : r.advice)
        out += a.command.empty() ? wrapped(fmt::format("Set {} to {}.", for_terminal(a.what), a.value), "  ", style.width)
                                 : fmt::format("  {}\n", for_terminal(a.command));
    for (const std::string& note : r.notes) out += wrapped(fmt::format("Note: {}", for_terminal(note)), "", style.width);
    return out;
}

}
