#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sgprobe/report/escape.h"
#include "sgprobe/report/format.h"
#include "sgprobe/report/names.h"

namespace sgprobe::report {
namespace {

// A column is its heading and how its cell is made.
struct Column {
    std::string_view heading;
    std::string (*cell)(const measure::Result&, const measure::SampleResult&);
};

std::string number(double value) { return fmt::format("{:.6g}", value); }

#define CELL(expression) [](const measure::Result& r, const measure::SampleResult& s) -> std::string { (void)r, (void)s; return expression; }
constexpr Column columns[] = {
    {"probe", CELL(for_csv(r.probe))},
    {"path", CELL(for_csv(r.device.path))},
    {"vendor", CELL(for_csv(r.device.vendor))},
    {"product", CELL(for_csv(r.device.product))},
    {"revision", CELL(for_csv(r.device.revision))},
    {"pattern", CELL(for_csv(s.pattern))},
    {"transfer_blocks", CELL(fmt::format("{}", s.transfer_blocks))},
    {"transfer_bytes", CELL(fmt::format("{}", s.transfer_bytes))},
    {"depth", CELL(fmt::format("{}", s.depth))},
    {"depth_reached", CELL(number(s.depth_reached))},
    {"commands", CELL(fmt::format("{}", s.commands))},
    {"bytes", CELL(fmt::format("{}", s.bytes))},
    {"rate_median_mb_s", CELL(number(s.rate_mb_s.median))},
    {"rate_low_mb_s", CELL(number(s.rate_mb_s.low))},
    {"rate_high_mb_s", CELL(number(s.rate_mb_s.high))},
    {"rate_best_mb_s", CELL(number(s.rate_mb_s.best))},
    {"latency_p50_us", CELL(number(s.latency_us.p50))},
    {"latency_p99_us", CELL(number(s.latency_us.p99))},
    {"latency_p999_us", CELL(number(s.latency_us.p999))},
    {"latency_max_us", CELL(number(s.latency_us.max))},
    {"hidden_retries", CELL(fmt::format("{}", s.hidden_retries))},
    {"task_set_full", CELL(fmt::format("{}", s.task_set_full))},
    {"errors", CELL(fmt::format("{}", s.errors))},
    {"note", CELL(for_csv(s.note))},
    {"verdict", CELL(std::string(name(r.verdict)))},
};
#undef CELL

}

std::string csv(const measure::Result& r, const Style&) {
    std::string out;
    if (r.samples.empty() && !r.tables.empty()) {
        const auto line = [&](const std::vector<std::string>& cells) {
            for (std::size_t i = 0; i < cells.size(); i++) out += (i ? "," : "") + for_csv(cells[i]);
            out += '\n';
        };
        line(r.tables.front().columns);
        for (const auto& row : r.tables.front().rows) line(row);
        return out;
    }
    for (const Column& column : columns) out += fmt::format("{}{}", out.empty() ? "" : ",", column.heading);
    out += '\n';
    for (const auto& sample : r.samples) {
        std::string line;
        for (const Column& column : columns) line += fmt::format("{}{}", &column == columns ? "" : ",", column.cell(r, sample));
        out += line + '\n';
    }
    return out;
}

}
