#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "sgprobe/report/collate.h"
#include "sgprobe/report/escape.h"
#include "sgprobe/report/names.h"

namespace sgprobe::report {

namespace {

std::string place(const CollatedRow& row, double x) {
    if (x <= 0) return "-";
    if (row.axis == "depth") return fmt::format("depth {:.0f}", x);
    return std::fmod(x, 1024) == 0 ? fmt::format("{:.0f} KiB", x / 1024) : fmt::format("{:.1f} KiB", x / 1024);
}
std::string drive_name(const CollatedRow& row) {
    std::string out;
    for (const std::string* part : {&row.vendor, &row.product, &row.revision})
        if (!part->empty()) out += (out.empty() ? "" : " ") + *part;
    return out.empty() ? "(no identity)" : out;
}
std::string said(const CollatedRow& row) {
    const std::size_t conclusive = row.cliff + row.clean;
    if (row.verdict == measure::Verdict::cliff) return fmt::format("{}/{}", row.at_limit, conclusive);
    if (row.verdict == measure::Verdict::clean) return fmt::format("{}/{}", row.clean, conclusive);
    return fmt::format("0/{}", conclusive);
}

}

std::string text(const Collated& c, unsigned width) {
    std::size_t name_width = 5, pattern_width = 7;
    for (const CollatedRow& row : c.rows) {
        name_width = std::max(name_width, for_terminal(drive_name(row)).size());
        pattern_width = std::max(pattern_width, for_terminal(row.pattern).size());
    }
    name_width = std::min<std::size_t>(name_width, std::max(24u, width > 80 ? width - 62 : 36u));
    pattern_width = std::min<std::size_t>(pattern_width, 12);
    std::string out = fmt::format("{:<{}} {:<{}} {:<5} {:>5} {:>6} {:<12} {:>10} {:>7} {:>7} {:>5}  {}\n", "DRIVE", name_width, "PATTERN", pattern_width, "BY", "N",
                                  "DRIVES", "VERDICT", "GOOD UP TO", "BEFORE", "AFTER", "DROP", "AGREE");
    for (const CollatedRow& row : c.rows) {
        const bool cliff = row.verdict == measure::Verdict::cliff;
        out += fmt::format("{:<{}} {:<{}} {:<5} {:>5} {:>6} {:<12} {:>10} {:>7.1f} {:>7} {:>5}  {}\n", for_terminal(drive_name(row)), name_width,
                           for_terminal(row.pattern), pattern_width, row.axis == "depth" ? "depth" : "size", row.reports, row.drives, name(row.verdict), place(row, row.last_good), row.before_mb_s,
                           cliff ? fmt::format("{:.1f}", row.after_mb_s) : "-",
                           cliff && row.before_mb_s > 0 ? fmt::format("{:.0f}%", 100 * (1 - row.after_mb_s / row.before_mb_s)) : "-", said(row));
    }
    if (c.rows.empty()) out = "no result with a verdict\n";
    else out += "Rates in MB/s (10^6 bytes a second), medians over the reports that agree.\n";
    for (const CollatedRow& row : c.rows) {
        if (row.axis == "depth" && row.verdict != measure::Verdict::inconclusive)
            out += row.gain > 1.1 ? fmt::format("{}, {}: queueing gains {:.2g}x\n", for_terminal(drive_name(row)), for_terminal(row.pattern), row.gain)
                                  : fmt::format("{}, {}: queueing gains nothing\n", for_terminal(drive_name(row)), for_terminal(row.pattern));
        if (!row.reason.empty() && row.verdict == measure::Verdict::inconclusive)
            out += fmt::format("{}, {}: inconclusive: {}\n", for_terminal(drive_name(row)), for_terminal(row.pattern), for_terminal(row.reason));
        for (const std::string& outlier : row.outliers)
            out += fmt::format("{}, {}: stands out: {}\n", for_terminal(drive_name(row)), for_terminal(row.pattern), for_terminal(outlier));
        if (row.more_outliers) out += fmt::format("  and {} more\n", row.more_outliers);
    }
    for (const std::string& reason : c.not_compared) out += fmt::format("{}\n", for_terminal(reason));
    for (const std::string& note : c.notes) out += fmt::format("note: {}\n", for_terminal(note));
    if (c.duplicates) out += fmt::format("{} reports were there twice and count once\n", c.duplicates);
    if (c.without_verdict) out += fmt::format("{} results are of other probes than size and depth, or hold no sample\n", c.without_verdict);
    if (c.malformed_count) out += fmt::format("{} could not be read; standard error names them\n", c.malformed_count);
    return out;
}

std::string csv(const Collated& c) {
    std::string out = "vendor,product,revision,transport,settings,axis,pattern,reports,drives,verdict,cliff,clean,inconclusive,last_good,first_bad,"
                      "before_mb_s,after_mb_s,agreement,gain,reason\n";
    for (const CollatedRow& r : c.rows)
        out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{:.0f},{:.0f},{:.2f},{:.2f},{:.4f},{:.3f},{}\n", for_csv(r.vendor), for_csv(r.product),
                           for_csv(r.revision), for_csv(r.transport), for_csv(r.settings), for_csv(r.axis), for_csv(r.pattern), r.reports, r.drives,
                           name(r.verdict), r.cliff, r.clean, r.inconclusive, r.last_good, r.first_bad, r.before_mb_s, r.after_mb_s, r.agreement,
                           r.gain, for_csv(r.reason));
    return out;
}

measure::Value to_value(const Collated& c) {
    using measure::Value;
    Value root = Value::object(), rows = Value::list();
    root.set("schema", "sgprobe/1").set("version", SGPROBE_VERSION).set("probe", "collate");
    for (const CollatedRow& r : c.rows) {
        Value row = Value::object(), curve = Value::list();
        for (const auto& [x, rate] : r.curve) curve.add(Value::list().add(x).add(rate));
        row.set("vendor", r.vendor).set("product", r.product).set("revision", r.revision).set("transport", r.transport).set("settings", r.settings);
        row.set("axis", r.axis).set("pattern", r.pattern).set("reports", r.reports).set("drives", r.drives).set("without_serial", r.without_serial);
        row.set("verdict", name(r.verdict)).set("cliff", r.cliff).set("clean", r.clean).set("inconclusive", r.inconclusive);
        if (r.verdict == measure::Verdict::cliff)
            row.set("last_good", static_cast<std::uint64_t>(r.last_good)).set("first_bad", static_cast<std::uint64_t>(r.first_bad)).set("drives_at_limit", r.drives_at_limit);
        row.set("before_mb_s", r.before_mb_s).set("after_mb_s", r.after_mb_s).set("agreement", r.agreement).set("gain", r.gain).set("reason", r.reason);
        row.set("outliers", Value(r.outliers)).set("more_outliers", r.more_outliers).set("curve", curve);
        rows.add(row);
    }
    root.set("rows", rows).set("not_compared", Value(c.not_compared)).set("malformed", Value(c.malformed)).set("malformed_count", c.malformed_count);
    root.set("files", c.files).set("reports", c.reports).set("duplicates", c.duplicates).set("without_verdict", c.without_verdict).set("notes", Value(c.notes));
    return root;
}

std::string openmetrics(const Collated& c) {
    // Names and types first, then one series after another: https://openmetrics.io, text format.
    struct Metric { const char *name, *help; double (*value)(const CollatedRow&); };
    static const Metric metrics[] = {
        {"sgprobe_reports", "reports of this model and firmware", [](const CollatedRow& r) { return static_cast<double>(r.reports); }},
        {"sgprobe_cliff", "1 where the reports agree on a cliff, 0 where they agree that there is none, -1 where they are inconclusive",
         [](const CollatedRow& r) { return r.verdict == measure::Verdict::cliff ? 1.0 : r.verdict == measure::Verdict::clean ? 0.0 : -1.0; }},
        {"sgprobe_last_good", "greatest transfer in bytes, or queue depth, that keeps its speed; 0 without a cliff", [](const CollatedRow& r) { return r.last_good; }},
        {"sgprobe_before_bytes_per_second", "rate up to the limit", [](const CollatedRow& r) { return r.before_mb_s * 1e6; }},
        {"sgprobe_after_bytes_per_second", "rate past the limit", [](const CollatedRow& r) { return r.after_mb_s * 1e6; }},
        {"sgprobe_agreement_ratio", "share of the conclusive reports that agree", [](const CollatedRow& r) { return r.agreement; }},
    };
    std::string out;
    for (const Metric& metric : metrics) {
        out += fmt::format("# TYPE {0} gauge\n# HELP {0} {1}\n", metric.name, metric.help);
        for (const CollatedRow& r : c.rows)
            out += fmt::format("{}{{vendor=\"{}\",product=\"{}\",revision=\"{}\",transport=\"{}\",settings=\"{}\",axis=\"{}\",pattern=\"{}\"}} {}\n", metric.name,
                               for_openmetrics(r.vendor), for_openmetrics(r.product), for_openmetrics(r.revision), for_openmetrics(r.transport),
                               for_openmetrics(r.settings), for_openmetrics(r.axis), for_openmetrics(r.pattern), metric.value(r));
    }
    return out + "# EOF\n";
}

}
