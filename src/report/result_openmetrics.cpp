// Results for node_exporter's textfile collector: https://openmetrics.io, text format. A family's series stand together.
#include <fmt/format.h>

#include "sgprobe/report/escape.h"
#include "sgprobe/report/format.h"

namespace sgprobe::report {
namespace {

std::string labels(const measure::Result& r) {
    const auto& d = r.device;
    return fmt::format("path=\"{}\",vendor=\"{}\",product=\"{}\",revision=\"{}\",probe=\"{}\"", for_openmetrics(d.path), for_openmetrics(d.vendor),
                       for_openmetrics(d.product), for_openmetrics(d.revision), for_openmetrics(r.probe));
}

std::string head(std::string_view name, std::string_view help) { return fmt::format("# TYPE {0} gauge\n# HELP {0} {1}\n", name, help); }

}

std::string openmetrics(const std::vector<measure::Result>& results) {
    std::string out = head("sgprobe_cliff", "1 where a cliff was found, 0 where there is none, -1 where the result is inconclusive");
    for (const auto& r : results)
        out += fmt::format("sgprobe_cliff{{{}}} {}\n", labels(r), r.verdict == measure::Verdict::cliff ? 1 : r.verdict == measure::Verdict::clean ? 0 : -1);
    out += head("sgprobe_last_good", "greatest transfer in blocks, or queue depth, before a cliff");
    for (const auto& r : results)
        for (const auto& c : r.cliffs)
            out += fmt::format("sgprobe_last_good{{{},axis=\"{}\",pattern=\"{}\"}} {}\n", labels(r), for_openmetrics(c.axis), for_openmetrics(c.pattern), c.last_good);
    out += head("sgprobe_rate_bytes_per_second", "median rate of a transfer length, pattern and depth");
    for (const auto& r : results)
        for (const auto& s : r.samples)
            if (s.commands)
                out += fmt::format("sgprobe_rate_bytes_per_second{{{},pattern=\"{}\",transfer_bytes=\"{}\",depth=\"{}\"}} {:.6g}\n", labels(r), for_openmetrics(s.pattern),
                                   s.transfer_bytes, s.depth, s.rate_mb_s.median * 1e6);
    return out + "# EOF\n";
}

}
