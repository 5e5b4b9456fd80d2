#include "sgprobe/measure/cells.h"

#include <algorithm>
#include <cmath>

namespace sgprobe::measure {
namespace {

constexpr double far = 3;                 // times a cell's middle
constexpr double rare = 0.02;             // of commands: more is the drive's own doing
constexpr double tolerance = 0.15;        // see biweight()

std::vector<double> counted_gaps(const TimedSample& sample, std::size_t warm_up) {
    std::vector<double> gaps;
    for (std::size_t i = std::min(warm_up, sample.gap_us.size() - 1); i < sample.gap_us.size(); ++i)
        if (!sample.held[i]) gaps.push_back(sample.gap_us[i]);
    return gaps;
}

// Of each cell's location: the root mean square of what it and two cells on either side leave, outliers cut to the tolerance.
std::vector<double> errors_by_scatter(const RoundFit& fit, const std::vector<Observation>& observations) {
    const std::size_t count = fit.cells.size();
    std::vector<double> squares(count, 0.0), errors(count, 0.0);
    for (std::size_t k = 0; k < observations.size(); ++k) {
        const std::size_t cell = observations[k].cell;
        squares[cell] += std::pow(std::clamp(fit.cleaned[k] - fit.cells[cell].value, -tolerance, tolerance), 2);
    }
    for (std::size_t i = 0; i < count; ++i) {
        double sum = 0, freedom = 0;
        for (std::size_t j = i > 2 ? i - 2 : 0; j < std::min(i + 3, count); ++j) {
            sum += squares[j];
            freedom += static_cast<double>(std::max<std::size_t>(fit.cells[j].count, 1)) - 1;
        }
        if (fit.cells[i].count > 0 && freedom > 0)
            errors[i] = std::sqrt(sum / freedom / static_cast<double>(fit.cells[i].count)) * (1 + 1.2 / freedom);   // Student's t, about
    }
    return errors;
}

double greatest_ordinary(const std::vector<double>& times, double media_us) {
    const double middle = median(times);
    return std::max(far * middle, middle + media_us);
}

}

std::size_t slow_count(const std::vector<double>& times, double media_us) {
    const double greatest = greatest_ordinary(times, media_us);
    return static_cast<std::size_t>(std::count_if(times.begin(), times.end(), [&](double t) { return t > greatest; }));
}

SlowFilter::SlowFilter(const std::vector<double>& times, bool own, double media_us) {
    greatest_ = greatest_ordinary(times, media_us);
    // The drive's own slow commands may have rare ones of other making among them, slower again.
    while (own) {
        std::vector<double> slow;
        for (const double t : times) if (t > greatest_) slow.push_back(t);
        if (slow.empty() || binomial_tail(slow.size(), times.size(), rare) > 1e-3) return;
        greatest_ = far * median(slow);
    }
}

CellTimes time_cells(const std::vector<Cell>& cells, std::size_t warm_up, double media_us, double prior_sigma) {
    const std::size_t count = cells.size();
    std::vector<std::vector<std::vector<double>>> gaps(count);
    std::vector<std::vector<double>> all_of(count);
    std::vector<std::size_t> slow(count, 0), all(count, 0);
    for (std::size_t i = 0; i < count; ++i) {
        std::vector<double> together;
        for (const TimedSample& s : cells[i].samples) {
            if (s.gap_us.empty()) { gaps[i].emplace_back(); continue; }
            gaps[i].push_back(counted_gaps(s, warm_up));
            together.insert(together.end(), gaps[i].back().begin(), gaps[i].back().end());
        }
        all[i] = together.size();
        slow[i] = slow_count(together, media_us);
        all_of[i] = std::move(together);
    }
    // Past which cell are slow commands no accident?
    std::vector<bool> own(count, false);
    std::size_t before_slow = 0, before_all = 0;
    for (std::size_t i = 0; i < count; ++i) {
        std::size_t after_slow = 0, after_all = 0;
        for (std::size_t j = i; j < count; ++j) { after_slow += slow[j]; after_all += all[j]; }
        const double base = std::max(rare, static_cast<double>(before_slow) / std::max<double>(static_cast<double>(before_all), 1) );
        if (binomial_tail(after_slow, after_all, std::min(base, 0.5)) < 1e-4)
            for (std::size_t j = i; j < count; ++j) own[j] = own[j] || static_cast<double>(slow[j]) > base * static_cast<double>(all[j]);
        if (binomial_tail(slow[i], all[i], rare) < 1e-3 / static_cast<double>(count)) own[i] = true;
        before_slow += slow[i];
        before_all += all[i];
    }

    struct Ordered { std::size_t order; Observation observation; };
    std::vector<Ordered> ordered;
    CellTimes times;
    for (std::size_t i = 0; i < count; ++i) {
        const SlowFilter filter(all_of[i], own[i], media_us);
        for (std::size_t k = 0; k < gaps[i].size(); ++k) {
            double sum = 0;
            std::size_t n = 0;
            for (const double g : gaps[i][k]) {
                sum += filter(g);
                n += filter(g) > 0;
            }
            if (n == 0 || sum <= 0) continue;
            ordered.push_back({cells[i].samples[k].order, {i, cells[i].samples[k].round, std::log(sum / static_cast<double>(n))}});
        }
    }
    std::sort(ordered.begin(), ordered.end(), [](const Ordered& a, const Ordered& b) { return a.order < b.order; });
    std::vector<Observation> observations;
    for (const Ordered& o : ordered) observations.push_back(o.observation);
    times.fit = fit_rounds(observations, count, tolerance, prior_sigma);
    for (const Location& l : times.fit.cells) {
        times.time_us.push_back(l.count > 0 ? std::exp(l.value) : 0);
        times.error_us.push_back(l.count > 0 ? std::exp(l.value) * l.error : 0);
    }
    times.relative_error = errors_by_scatter(times.fit, observations);
    return times;
}

std::size_t find_warm_up(const std::vector<std::vector<float>>& runs_us) {
    std::size_t warm_up = 1, longest = 0;
    for (const auto& run : runs_us) longest = std::max(longest, run.size());
    for (std::size_t at = 1; at < longest && at < warm_up + 2; ++at) {      // two good ones end it
        std::vector<double> ratios;
        for (const auto& run : runs_us) {
            if (run.size() < 4 || at > run.size() / 2) continue;
            const std::vector<double> late(run.begin() + static_cast<std::ptrdiff_t>(run.size() / 2), run.end());
            ratios.push_back(run[at] / median(late));
        }
        if (ratios.size() >= 2 && median(ratios) > 1.15) warm_up = at + 1;
    }
    return warm_up;
}

SampleResult summarise(const Cell& cell, std::size_t warm_up, Bytes block_bytes, double time_us, double relative_error, const std::string& pattern) {
    SampleResult r;
    r.pattern = pattern;
    r.transfer_blocks = cell.blocks;
    r.transfer_bytes = cell.blocks * block_bytes;
    const double bytes = static_cast<double>(r.transfer_bytes);
    std::vector<double> latencies;
    for (const TimedSample& s : cell.samples) {
        double sum = 0;
        std::size_t n = 0;
        for (std::size_t i = warm_up; i < s.gap_us.size(); ++i) {
            latencies.push_back(s.latency_us[i]);
            if (s.held[i]) continue;
            sum += s.gap_us[i];
            ++n;
        }
        if (sum > 0) r.rate_mb_s.best = std::max(r.rate_mb_s.best, bytes * static_cast<double>(n) / sum);
    }
    r.commands = latencies.size();
    r.bytes = r.commands * r.transfer_bytes;
    if (time_us > 0) {
        r.rate_mb_s.median = bytes / time_us;                       // bytes a microsecond are MB/s
        r.rate_mb_s.low = r.rate_mb_s.median * std::exp(-1.96 * relative_error);
        r.rate_mb_s.high = r.rate_mb_s.median * std::exp(1.96 * relative_error);
        r.rate_mb_s.best = std::max(r.rate_mb_s.best, r.rate_mb_s.median);
    }
    r.latency_us = {quantile(latencies, 0.5), quantile(latencies, 0.99), quantile(latencies, 0.999), quantile(latencies, 1.0)};
    r.hidden_retries = cell.incidents.hidden_retries;
    r.task_set_full = cell.incidents.flow_control;
    r.errors = cell.incidents.errors;
    r.redone = cell.redone;
    r.note = cell.note;
    return r;
}

}
