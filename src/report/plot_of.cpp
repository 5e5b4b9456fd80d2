#include <fmt/format.h>

#include <algorithm>

#include "sgprobe/report/plot.h"
#include "sgprobe/report/table.h"

namespace sgprobe::report {

Plot plot_of(const measure::Result& r) {
    Plot plot;
    plot.title = fmt::format("{} {} {}", r.device.vendor, r.device.product, r.device.revision);
    if (plot.title.size() <= 2) plot.title = r.device.path;
    std::vector<unsigned> depths;
    std::vector<Bytes> sizes;
    std::vector<std::string> patterns;
    const auto keep = [](auto& list, const auto& value) {
        if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
    };
    for (const auto& s : r.samples)
        if (s.commands) keep(depths, s.depth), keep(sizes, s.transfer_bytes), keep(patterns, s.pattern);
    const bool by_depth = depths.size() > 1 && sizes.size() <= 1;
    plot.x_in_bytes = !by_depth;
    plot.x_label = by_depth ? "queue depth" : "transfer length";
    plot.subtitle = fmt::format("{}, rate against {}, 95 % intervals", patterns.size() == 1 ? patterns.front() : r.probe, plot.x_label);
    for (const std::string& pattern : patterns)
        for (unsigned depth : by_depth ? std::vector<unsigned>{0} : depths) {
            PlotSeries series;
            series.label = patterns.size() > 1 ? pattern : "";
            if (!by_depth && depths.size() > 1) series.label += fmt::format("{}depth {}", series.label.empty() ? "" : ", ", depth);
            for (const auto& s : r.samples)
                if (s.commands && s.pattern == pattern && (by_depth || s.depth == depth))
                    series.points.push_back({by_depth ? s.depth : static_cast<double>(s.transfer_bytes), s.rate_mb_s.median, s.rate_mb_s.low, s.rate_mb_s.high});
            std::sort(series.points.begin(), series.points.end(), [](const PlotPoint& a, const PlotPoint& b) { return a.x < b.x; });
            if (!series.points.empty()) plot.series.push_back(std::move(series));
        }
    for (const auto& c : r.cliffs) {
        if ((c.axis == "depth") != by_depth) continue;
        const double unit = by_depth ? 1 : static_cast<double>(r.device.block_bytes);
        const std::string place = by_depth ? fmt::format("depth {}", c.last_good)
                                           : fmt::format("{} blocks ({})", grouped(c.last_good), binary_size(c.last_good * r.device.block_bytes));
        plot.marks.push_back({static_cast<double>(c.last_good) * unit, fmt::format("cliff past {}: {:.0f} % less", place, c.drop * 100)});
    }
    return plot;
}

Plot overlaid(const std::vector<Plot>& plots) {
    if (plots.size() == 1) return plots.front();
    Plot all;
    if (plots.empty()) return all;
    all = plots.front();
    all.series.clear();
    all.marks.clear();
    all.title = fmt::format("{} drives", plots.size());
    for (const Plot& plot : plots) {
        if (plot.x_in_bytes != all.x_in_bytes) continue;
        for (PlotSeries series : plot.series) {
            series.label = series.label.empty() ? plot.title : fmt::format("{}, {}", plot.title, series.label);
            all.series.push_back(std::move(series));
        }
    }
    return all;
}

}
