#include "sgprobe/measure/single_runs.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <fmt/format.h>

#include "sgprobe/measure/statistics.h"

namespace sgprobe::measure {

namespace {

constexpr double significance = 0.01, least_noise = 0.005;   // no two runs of a disk agree to better than half a percent

struct Cell { double x, rate, hidden; };   // hidden: what the last digit hides, as a share of the rate

std::vector<Cell> cells_of(std::span<const SinglePoint> points) {
    std::vector<SinglePoint> sorted(points.begin(), points.end());
    std::erase_if(sorted, [](const SinglePoint& p) { return !(p.rate > 0) || !(p.x > 0) || !std::isfinite(p.rate); });
    std::sort(sorted.begin(), sorted.end(), [](const SinglePoint& a, const SinglePoint& b) { return a.x < b.x; });
    std::vector<Cell> cells;
    for (std::size_t i = 0, j; i < sorted.size(); i = j) {
        std::vector<double> rates;
        for (j = i; j < sorted.size() && sorted[j].x == sorted[i].x; ++j) rates.push_back(sorted[j].rate);
        const double rate = median(rates);
        cells.push_back({sorted[i].x, rate, sorted[i].resolution / rate / std::sqrt(12.0)});
    }
    return cells;
}

// The loss of each cell against what the first `count` predict: log(predicted rate / rate), positive where it is slower.
std::vector<double> losses(const std::vector<Cell>& cells, std::size_t count, SingleAxis axis) {
    std::vector<double> loss;
    if (axis == SingleAxis::depth) {
        // The plateau: the cells before it that are near their best, past which queueing gains nothing more.
        double best = 0;
        std::vector<double> plateau;
        for (std::size_t i = 0; i < count; ++i) best = std::max(best, cells[i].rate);
        for (std::size_t i = 0; i < count; ++i)
            if (cells[i].rate > 0.9 * best) plateau.push_back(cells[i].rate);
        const double level = median(plateau);
        bool ramp = true;   // the gain of a deeper queue on the way up is no loss of the shallow one
        for (const Cell& cell : cells) {
            ramp = ramp && cell.rate <= 0.9 * best;
            loss.push_back(ramp ? 0 : std::log(level / cell.rate));
        }
        return loss;
    }
    // t = a + b * n. One cell alone tells no overhead: all of its time is taken to grow with the size, which favours no cliff.
    Line line;
    if (count == 1) line.b = 1 / cells[0].rate;
    else {
        std::vector<Point> times;
        for (std::size_t i = 0; i < count; ++i) {
            const double t = cells[i].x / cells[i].rate;
            times.push_back({cells[i].x, t, t * std::hypot(least_noise, cells[i].hidden)});
        }
        line = fit_line(times);
        if (line.a < 0 || line.b <= 0) {
            std::vector<double> rates;
            for (std::size_t i = 0; i < count; ++i) rates.push_back(cells[i].rate);
            line.a = 0;
            line.b = 1 / median(rates);
        }
    }
    for (const Cell& cell : cells) loss.push_back(std::log(cell.x / cell.rate / line.at(cell.x)));
    return loss;
}

struct Split {
    std::size_t count = 0;       // cells before it
    double error = 0, scatter = 0, p = 1;
    bool lasting = false;        // material at once, and no later cell comes back
};

Split judge_split(const std::vector<Cell>& cells, std::size_t count, SingleAxis axis, double threshold) {
    const std::vector<double> loss = losses(cells, count, axis);
    const std::size_t n = cells.size(), after = n - count;
    const double material = -std::log(1 - threshold);
    const std::vector<double> later(loss.begin() + static_cast<std::ptrdiff_t>(count), loss.end());
    const double level = median(later);
    Split split{.count = count};
    double sum = 0, hidden = 0;
    for (std::size_t i = 0; i < n; ++i) {
        sum += std::pow(loss[i] - (i < count ? 0 : level), 2);
        hidden = std::max(hidden, cells[i].hidden);
    }
    split.error = sum;
    const double freedom = static_cast<double>(n) - 2;
    split.scatter = std::sqrt(sum / std::max(1.0, freedom) + hidden * hidden + least_noise * least_noise);
    // A bend, where overhead gives way to media rate, loses against the line but no rate.
    split.lasting = later.front() > material && *std::min_element(later.begin(), later.end()) > material / 2 &&
                    cells[count].rate < (1 - threshold) * cells[count - 1].rate;
    if (freedom >= 1 && level > 0) {
        const double t = level / (split.scatter * std::sqrt(1.0 / static_cast<double>(count) + 1.0 / static_cast<double>(after)));
        split.p = std::min(1.0, boost::math::cdf(boost::math::complement(boost::math::students_t(freedom), t)) * static_cast<double>(n - 1));
    }
    return split;
}

std::string range(const std::vector<Cell>& cells, SingleAxis axis) {
    if (axis == SingleAxis::depth) return fmt::format("depth {:.0f} to {:.0f}", cells.front().x, cells.back().x);
    return fmt::format("{:.4g} to {:.4g} KiB", cells.front().x / 1024, cells.back().x / 1024);
}

// Cells well below both neighbours' prediction, with good ones on either side.
std::vector<std::size_t> find_dips(const std::vector<Cell>& cells, double threshold) {
    std::vector<std::size_t> dips;
    for (std::size_t i = 1; i + 1 < cells.size(); ++i)
        if (cells[i].rate < (1 - threshold) * std::min(cells[i - 1].rate, cells[i + 1].rate)) dips.push_back(i);
    return dips;
}

void conclude_without_cliff(SingleRuns& out, std::vector<Cell> cells, SingleAxis axis, double threshold) {
    const double material = -std::log(1 - threshold);
    const std::vector<std::size_t> dips = find_dips(cells, threshold);
    for (const std::size_t i : dips) out.dips.push_back(cells[i].x);
    if (dips.size() > 1 && 5 * dips.size() > cells.size()) {
        out.reason = fmt::format("rates go up and down between neighbours ({} of {} are slow beside both), which single runs do not explain", dips.size(), cells.size());
        return;
    }
    for (auto i = dips.rbegin(); i != dips.rend(); ++i) cells.erase(cells.begin() + static_cast<std::ptrdiff_t>(*i));
    double hidden = 0, worst = 0;
    for (const Cell& cell : cells) hidden = std::max(hidden, cell.hidden * std::sqrt(12.0));
    if (hidden > threshold) {
        out.reason = fmt::format("the last printed digit is worth {:.0f} % of the smallest rate: too coarse for a loss of {:.0f} %", 100 * hidden, 100 * threshold);
        return;
    }
    // The largest loss of rate that any place could be.
    for (double best = 0; const Cell& cell : cells) {
        best = std::max(best, cell.rate);
        worst = std::max(worst, std::log(best / cell.rate));
    }
    if (worst > material) {
        out.reason = fmt::format("some {} are up to {:.0f} % slower than a smaller one, and single runs cannot tell that from noise",
                                 axis == SingleAxis::depth ? "depths" : "sizes", 100 * (1 - std::exp(-worst)));
        return;
    }
    out.verdict = Verdict::clean;
    if (axis == SingleAxis::depth)
        out.reason = out.gain > 1 + threshold ? fmt::format("no loss from queueing, and {:.2g}x at best", out.gain) : "queueing gains nothing and costs nothing";
    else
        out.reason = fmt::format("no loss from {}", range(cells, axis));
    for (const double x : out.dips) out.reason += axis == SingleAxis::depth ? fmt::format("; a dip at depth {:.0f}", x) : fmt::format("; a dip at {:.4g} KiB", x / 1024);
}

}

SingleRuns judge_single_runs(std::span<const SinglePoint> points, SingleAxis axis, double threshold) {
    const std::vector<Cell> cells = cells_of(points);
    SingleRuns out;
    if (cells.empty()) {
        out.reason = "no rate was measured";
        return out;
    }
    for (const Cell& cell : cells) out.before = out.after = std::max(out.before, cell.rate);
    out.gain = out.before / cells.front().rate;
    const std::string_view what = axis == SingleAxis::depth ? "depth" : "size";
    if (cells.size() < 3) {
        out.reason = fmt::format("{} {}{}: too few to tell a limit from noise", cells.size() == 1 ? "one" : "two", what, cells.size() == 1 ? "" : "s");
        return out;
    }
    Split best;
    for (std::size_t count = 1; count < cells.size(); ++count) {
        const Split split = judge_split(cells, count, axis, threshold);
        if (split.lasting && (best.count == 0 || split.error < best.error)) best = split;
    }
    if (best.count == 0) {
        conclude_without_cliff(out, cells, axis, threshold);
        return out;
    }
    out.p_value = best.p;
    const double before = cells[best.count - 1].rate, after = cells[best.count].rate;
    const std::string loss = axis == SingleAxis::depth
                                 ? fmt::format("{:.3g} to {:.3g} MB/s past depth {:.0f}", before, after, cells[best.count - 1].x)
                                 : fmt::format("{:.3g} to {:.3g} MB/s past {:.4g} KiB", before, after, cells[best.count - 1].x / 1024);
    if (cells.size() == best.count + 1 && points.size() == cells.size())
        out.reason = fmt::format("only the last {} is slow ({}), and it was measured once", what, loss);
    else if (best.p > significance)
        out.reason = fmt::format("{}: a loss, but {} single runs leave p = {:.2g}", loss, cells.size(), best.p);
    else {
        out.verdict = Verdict::cliff;
        out.reason = loss;
        out.last_good = cells[best.count - 1].x;
        out.first_bad = cells[best.count].x;
        out.before = before;
        out.after = after;
    }
    return out;
}

}
