#include "sgprobe/report/compare.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <simdjson.h>
#include <tuple>

#include "sgprobe/measure/statistics.h"
#include "sgprobe/report/escape.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::report {

namespace {

using simdjson::dom::element;
using CellKey = std::tuple<std::string, double, unsigned>;

struct Rate { double median = 0, error = 0; };   // error of its logarithm

struct Run {
    std::string schema, probe, started, verdict, kernel, driver;
    std::string vendor, product, revision, serial, transport;
    double block_bytes = 0;
    std::map<CellKey, Rate> cells;
    std::map<std::string, std::int64_t> settings;
    std::vector<std::string> cliffs;
};

std::string text_of(element object, std::string_view key) {
    std::string_view value;
    return object[key].get_string().get(value) == simdjson::SUCCESS ? std::string(value.substr(0, 256)) : std::string{};
}
double number_of(element object, std::string_view key) {
    double value = 0;
    return object[key].get_double().get(value) == simdjson::SUCCESS && std::isfinite(value) ? value : 0;
}

Run read_run(std::string_view json, const std::string& name) {
    const auto malformed = [&](std::string_view why) { return Failure(ExitStatus::malformed, fmt::format("{}: {}", name, why)); };
    simdjson::dom::parser parser(16 * 1024 * 1024);
    element root, device, host, settings;
    simdjson::dom::array samples, cliffs;
    if (const auto error = parser.parse(simdjson::padded_string(json)).get(root); error != simdjson::SUCCESS)
        throw malformed(fmt::format("no single JSON object: {}", simdjson::error_message(error)));
    Run run;
    run.schema = text_of(root, "schema");
    if (run.schema != "sgprobe/1") throw malformed("not a result of sgprobe (schema sgprobe/1)");
    if (root["device"].get(device) != simdjson::SUCCESS || root["samples"].get_array().get(samples) != simdjson::SUCCESS)
        throw malformed("device or samples is missing");
    run.probe = text_of(root, "probe");
    run.started = text_of(root, "started");
    run.verdict = text_of(root, "verdict");
    run.vendor = text_of(device, "vendor");
    run.product = text_of(device, "product");
    run.revision = text_of(device, "revision");
    run.serial = text_of(device, "serial");
    run.transport = text_of(device, "transport");
    run.block_bytes = number_of(device, "block_bytes");
    if (root["host"].get(host) == simdjson::SUCCESS) run.kernel = text_of(host, "kernel"), run.driver = text_of(host, "driver");
    simdjson::dom::object fields;
    if (root["settings_before"].get(settings) == simdjson::SUCCESS && settings.get_object().get(fields) == simdjson::SUCCESS)
        for (const auto& [key, value] : fields) {
            std::int64_t v = 0;
            if (value.get_int64().get(v) == simdjson::SUCCESS && run.settings.size() < 1000) run.settings[std::string(key)] = v;
        }
    for (const element sample : samples) {
        element rate;
        if (sample["rate_mb_s"].get(rate) != simdjson::SUCCESS || run.cells.size() >= 100000) continue;
        Rate r{number_of(rate, "median"), 0};
        const double low = number_of(rate, "low"), high = number_of(rate, "high");
        if (!(r.median > 0)) continue;
        // low to high is 95 %: 2 x 1.96 standard errors. No two runs of one drive agree to better than a third of a percent.
        r.error = std::hypot(low > 0 && high >= low ? std::log(high / low) / 3.92 : 0.05, 0.003);
        const double depth = std::clamp(number_of(sample, "depth"), 1.0, 65536.0);
        run.cells[{text_of(sample, "pattern"), number_of(sample, "transfer_bytes"), static_cast<unsigned>(depth)}] = r;
    }
    if (root["cliffs"].get_array().get(cliffs) == simdjson::SUCCESS)
        for (const element cliff : cliffs)
            run.cliffs.push_back(fmt::format("past {} {:.0f} ({})", text_of(cliff, "axis") == "depth" ? "depth" : "block", number_of(cliff, "last_good"), text_of(cliff, "pattern")));
    return run;
}

void refuse_unlike(const Run& a, const std::string& a_name, const Run& b, const std::string& b_name) {
    struct Row { const char* what; std::string a, b; };
    for (const Row& row : {Row{"probe", a.probe, b.probe}, Row{"vendor", a.vendor, b.vendor}, Row{"product", a.product, b.product},
                           Row{"block size", fmt::format("{:.0f}", a.block_bytes), fmt::format("{:.0f}", b.block_bytes)},
                           Row{"serial number", a.serial.empty() || b.serial.empty() ? "" : a.serial, a.serial.empty() || b.serial.empty() ? "" : b.serial},
                           Row{"transport", a.transport, b.transport}})
        if (row.a != row.b)
            throw Failure(ExitStatus::contradiction, fmt::format("{} and {} cannot be compared: their {} differs (\"{}\" and \"{}\")", a_name, b_name, row.what, row.a, row.b));
}

std::string verdict_text(const Run& run) {
    std::string out = run.verdict;
    for (const std::string& cliff : run.cliffs) out += " " + cliff;
    return out;
}

std::string cell_text(const ComparedCell& cell) {
    return fmt::format("{} of {}{}", cell.pattern, std::fmod(cell.transfer_bytes, 1024) == 0 ? fmt::format("{:.0f} KiB", cell.transfer_bytes / 1024) : fmt::format("{:.0f} bytes", cell.transfer_bytes),
                       cell.depth > 1 ? fmt::format(" at depth {}", cell.depth) : "");
}

std::string summarise(const Comparison& c) {
    std::vector<const ComparedCell*> faster, slower;
    for (const ComparedCell& cell : c.cells)
        if (cell.significant) (cell.change > 0 ? faster : slower).push_back(&cell);
    std::string out;
    const auto add = [&](std::vector<const ComparedCell*>& cells, std::string_view word) {
        if (cells.empty()) return;
        const ComparedCell& most = **std::max_element(cells.begin(), cells.end(), [](auto* x, auto* y) { return std::abs(x->change) < std::abs(y->change); });
        out += fmt::format("{}{} of {} cells {}, most of all {} ({:+.0f} %)", out.empty() ? "" : "; ", cells.size(), c.cells.size(), word, cell_text(most), 100 * most.change);
    };
    add(faster, "faster");
    add(slower, "slower");
    if (out.empty()) out = fmt::format("nothing changed significantly in {} cells", c.cells.size());
    if (c.a_verdict != c.b_verdict) out += fmt::format("; the verdict was {} and is {}", c.a_verdict, c.b_verdict);
    return out;
}

}

Comparison compare_runs(std::string_view a_json, const std::string& a_name, std::string_view b_json, const std::string& b_name, double threshold) {
    const Run a = read_run(a_json, a_name), b = read_run(b_json, b_name);
    refuse_unlike(a, a_name, b, b_name);
    Comparison c;
    c.a_name = a_name;
    c.b_name = b_name;
    c.drive = fmt::format("{} {}", a.vendor, a.product);
    if (a.revision != b.revision) c.differs.push_back(fmt::format("firmware: {} and {}", a.revision, b.revision));
    for (const auto& [key, value] : a.settings)
        if (const auto other = b.settings.find(key); other != b.settings.end() && other->second != value)
            c.differs.push_back(fmt::format("{}: {} and {}", key, value, other->second));
    if (a.kernel != b.kernel) c.differs.push_back(fmt::format("kernel: {} and {}", a.kernel, b.kernel));
    if (a.driver != b.driver) c.differs.push_back(fmt::format("driver: {} and {}", a.driver, b.driver));
    if (a.started.substr(0, 10) != b.started.substr(0, 10)) c.differs.push_back(fmt::format("day: {} and {}", a.started.substr(0, 10), b.started.substr(0, 10)));
    if (a.serial.empty() || b.serial.empty()) c.differs.push_back("a serial number is missing: that it was one drive is taken on trust");
    for (const auto& [key, rate] : a.cells) {
        const auto other = b.cells.find(key);
        if (other == b.cells.end()) {
            ++c.only_a;
            continue;
        }
        ComparedCell cell{std::get<0>(key), std::get<1>(key), std::get<2>(key), rate.median, other->second.median};
        cell.change = cell.b_mb_s / cell.a_mb_s - 1;
        const double z = std::abs(std::log(cell.b_mb_s / cell.a_mb_s)) / std::hypot(rate.error, other->second.error);
        cell.p_value = 2 * measure::normal_tail(z);
        c.cells.push_back(cell);
    }
    c.only_b = b.cells.size() - c.cells.size();
    if (c.cells.empty()) throw Failure(ExitStatus::contradiction, fmt::format("{} and {} cannot be compared: no size, depth and pattern was measured in both", a_name, b_name));
    for (ComparedCell& cell : c.cells) {
        cell.p_value = std::min(1.0, cell.p_value * static_cast<double>(c.cells.size()));
        cell.significant = cell.p_value < 0.01 && std::abs(cell.change) >= threshold / 2;
    }
    c.a_verdict = verdict_text(a);
    c.b_verdict = verdict_text(b);
    c.summary = summarise(c);
    return c;
}

std::string text(const Comparison& c) {
    std::string out = fmt::format("{}: {} (A) against {} (B)\n", for_terminal(c.drive), for_terminal(c.a_name), for_terminal(c.b_name));
    for (const std::string& what : c.differs) out += fmt::format("  differs: {}\n", for_terminal(what));
    out += fmt::format("{:<12} {:>10} {:>5} {:>9} {:>9} {:>8} {:>9}\n", "PATTERN", "SIZE", "DEPTH", "A MB/s", "B MB/s", "CHANGE", "P");
    for (const ComparedCell& cell : c.cells)
        out += fmt::format("{:<12} {:>10} {:>5} {:>9.1f} {:>9.1f} {:>+7.1f}% {:>9.2g}{}\n", for_terminal(cell.pattern), cell.transfer_bytes, cell.depth, cell.a_mb_s, cell.b_mb_s,
                           100 * cell.change, cell.p_value, cell.significant ? " *" : "");
    if (c.only_a + c.only_b) out += fmt::format("{} cells were measured in A alone and {} in B alone\n", c.only_a, c.only_b);
    return out + for_terminal(c.summary) + "\n";
}

std::string csv(const Comparison& c) {
    std::string out = "pattern,transfer_bytes,depth,a_mb_s,b_mb_s,change,p_value,significant\n";
    for (const ComparedCell& cell : c.cells)
        out += fmt::format("{},{:.0f},{},{:.3f},{:.3f},{:.5f},{:.3g},{}\n", for_csv(cell.pattern), cell.transfer_bytes, cell.depth, cell.a_mb_s, cell.b_mb_s, cell.change, cell.p_value,
                           cell.significant ? 1 : 0);
    return out;
}

measure::Value to_value(const Comparison& c) {
    using measure::Value;
    Value cells = Value::list();
    for (const ComparedCell& cell : c.cells)
        cells.add(Value::object().set("pattern", cell.pattern).set("transfer_bytes", static_cast<std::uint64_t>(cell.transfer_bytes)).set("depth", cell.depth)
                      .set("a_mb_s", cell.a_mb_s).set("b_mb_s", cell.b_mb_s).set("change", cell.change).set("p_value", cell.p_value).set("significant", cell.significant));
    return Value::object().set("schema", "sgprobe/1").set("version", SGPROBE_VERSION).set("probe", "compare").set("a", c.a_name).set("b", c.b_name).set("drive", c.drive)
        .set("differs", Value(c.differs)).set("a_verdict", c.a_verdict).set("b_verdict", c.b_verdict).set("cells", cells).set("only_a", c.only_a).set("only_b", c.only_b)
        .set("summary", c.summary);
}

}
