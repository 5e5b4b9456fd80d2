// What the sweep suspects, measured afresh: is the step there, does it last, is a dip one, does a bend hide a step?
#include <algorithm>
#include <cmath>

#include "size_run.h"

namespace sgprobe::measure {

// Where only the last size of the grid is slow: is the next one past it slow too, or was it a dip?
bool SizeRun::slow_beyond(const Step& step) {
    const Blocks low = cells_[place_[step.left]].blocks, high = cells_[place_[step.right]].blocks;
    const Blocks aligned = subject_.alignment();
    for (const Blocks past : {(high - low) / 2, (high - low) / 4, aligned}) {
        const Blocks at = high + std::max(past / aligned * aligned, aligned);
        if (at > greatest_) continue;
        Panel p = panel({low, at});
        while (true) {
            if (!measure(p)) return true;
            if (p.rounds < (sample_sigma_ < 0.03 ? 3u : 6u)) continue;
            Location here = of(p, 1, 0);
            const double low_us = std::exp(biweight(p.logs[0], 0.2).value);
            here.value -= std::log1p(step.left_slope * static_cast<double>(at - low) / low_us);
            const double least = 0.4 * std::log1p(step.jump / low_us);
            if (std::abs(here.value - least) > 3 * here.error || p.rounds >= most_rounds) return here.value > least;
        }
    }
    return true;    // nothing larger can be sent: all that can be is slow
}

// The points around a pair, not across another suspected step.
std::vector<Blocks> SizeRun::sizes_around(std::size_t left, std::size_t right, std::size_t each_side) const {
    const auto walled = [&](std::size_t before, std::size_t after) {
        return std::any_of(curve_.steps.begin(), curve_.steps.end(), [&](const Step& s) {
            return s.state == StepState::suspect && s.left >= before && s.right <= after;
        });
    };
    const auto dip = [&](std::size_t i) { return std::find(curve_.dips.begin(), curve_.dips.end(), i) != curve_.dips.end(); };
    std::vector<Blocks> sizes;
    for (std::size_t i = left + 1; i-- > 0 && sizes.size() < each_side;) {
        if (i != left && walled(i, i + 1)) break;
        if (i == left || !dip(i)) sizes.insert(sizes.begin(), cells_[place_[i]].blocks);
    }
    for (std::size_t i = right, count = 0; i < place_.size() && count < each_side; ++i) {
        if (i != right && walled(i - 1, i)) break;
        if (i != right && dip(i)) continue;
        sizes.push_back(cells_[place_[i]].blocks);
        ++count;
    }
    return sizes;
}

bool SizeRun::more_of(Fresh& fresh) {
    do { if (!measure(fresh.panel)) return false; } while (fresh.panel.rounds < fresh.least_rounds);
    const CellTimes times = time_cells(fresh.panel.cells, warm_up_, media_us(), 0.7 * sample_sigma_);
    fresh.points.clear();
    for (std::size_t i = 0; i < fresh.panel.cells.size(); ++i)
        fresh.points.push_back({static_cast<double>(fresh.panel.cells[i].blocks), times.time_us[i], std::max(times.error_us[i], 0.001 * times.time_us[i])});
    return true;
}

// The sweep's data chose this step out of many, which flatters it: only fresh data, of it and the sizes around, is believed.
bool SizeRun::verify(Step& step) {
    step_time_us_ = times_.time_us[place_[step.left]];
    if (step.both_sides && step.jump > 15 * step.error && step.jump > 15 * sample_sigma_ * step_time_us_) return true;    // no flattery explains that
    const std::vector<Blocks> sizes = sizes_around(step.left, step.right, 3);
    const std::size_t left = static_cast<std::size_t>(std::find(sizes.begin(), sizes.end(), cells_[place_[step.left]].blocks) - sizes.begin());
    const double gap = std::log1p(step.jump / times_.time_us[place_[step.left]]);
    Fresh fresh{panel(sizes, gap), {}, 3};
    if (gap > 12 * sample_sigma_) fresh.least_rounds = 2;
    while (more_of(fresh)) {
        const Step again = step_between(fresh.points, left, options_.threshold);
        const bool contradicts = step.jump > 5 * step.error && fresh.panel.rounds < 4;
        const double least = options_.threshold / (1 - options_.threshold) * fresh.points[left].y;
        step.bend = again.bend;
        step.bend_error = again.bend_error;
        if (again.jump + 2 * again.error < least && !contradicts) return false;
        if (again.jump + again.error < 0.8 * least && fresh.panel.rounds >= 8) return false;
        if ((again.state == StepState::suspect && again.jump > 0.8 * least) || fresh.panel.rounds >= most_rounds) {
            step.jump = again.jump;
            step.error = again.error;
            step.both_sides = again.both_sides;
            step.left_slope = again.left_slope;
            step.right_slope = again.right_slope;
            step_time_us_ = fresh.points[left].y;
            return again.jump > 0;
        }
    }
    return false;
}

// A band ends in a step down that takes back most of the step up.
bool SizeRun::verify_band(const Step& up) {
    const auto band = std::find_if(curve_.bands.begin(), curve_.bands.end(), [&](const auto& b) { return b.first == up.right; });
    if (band == curve_.bands.end() || band->second + 1 >= place_.size()) return false;
    const std::vector<Blocks> sizes = sizes_around(band->second, band->second + 1, 3);
    const std::size_t left = static_cast<std::size_t>(std::find(sizes.begin(), sizes.end(), cells_[place_[band->second]].blocks) - sizes.begin());
    Fresh fresh{panel(sizes), {}, 3};
    while (more_of(fresh)) {
        const Step down = step_down_between(fresh.points, left, options_.threshold);
        const double enough = 0.5 * up.jump;
        if (std::abs(down.jump - enough) < 2.5 * down.error && fresh.panel.rounds < most_rounds) continue;
        if (down.jump > enough) return true;
        curve_.bands.erase(band);
        return false;
    }
    return true;
}

void SizeRun::verify_dip(std::size_t point) {
    const std::vector<Blocks> sizes = sizes_around(point, point + 1, 3);
    const std::size_t at = static_cast<std::size_t>(std::find(sizes.begin(), sizes.end(), cells_[place_[point]].blocks) - sizes.begin());
    Fresh fresh{panel(sizes), {}, 3};
    while (more_of(fresh)) {
        if (fresh.panel.rounds < 3) continue;
        if (at > 0 && is_dip(fresh.points, at, options_.threshold)) return;
        Step step = at > 0 ? step_between(fresh.points, at - 1, options_.threshold) : Step{};
        if (step.state == StepState::unsure && fresh.panel.rounds < most_rounds) continue;
        std::erase(curve_.dips, point);
        if (step.state != StepState::suspect) return;
        step.left = point - 1;
        step.right = point;
        Suspicion suspicion{step, false, 0, 0, false};
        search(suspicion);
        return;
    }
}

// Where the slope grows within an interval, a step in it may hide behind the bend: the steeper side's line, drawn back, passes
// below the size before. Sizes between the two show it.
void SizeRun::look_into_bend(const Step& step) {
    const double before_us = times_.time_us[place_[step.left]];
    const double least = options_.threshold / (1 - options_.threshold) * before_us;
    if (step.bend < 0.8 * least || step.bend < 3 * step.bend_error) return;
    const Blocks low = cells_[place_[step.left]].blocks, high = cells_[place_[step.right]].blocks;
    if (high - low < 8) return;
    std::vector<Blocks> sizes = sizes_around(step.left, step.right, 2);
    const auto second = std::find(sizes.begin(), sizes.end(), high);
    const Blocks quarter = (high - low) / 4;
    sizes.insert(second, {low + quarter, low + 2 * quarter, low + 3 * quarter});
    const std::size_t first = static_cast<std::size_t>(std::find(sizes.begin(), sizes.end(), low) - sizes.begin());
    Fresh fresh{panel(sizes, 0.1), {}, 3};
    while (more_of(fresh)) {
        const Curve finer = analyse_curve(fresh.points, options_.threshold);
        const auto within = [&](const Step& s) { return s.left >= first && s.right <= first + 4; };
        if (fresh.panel.rounds < 6 && std::any_of(finer.steps.begin(), finer.steps.end(), [&](const Step& s) { return within(s) && s.state == StepState::unsure; })) continue;
        for (Step s : finer.steps) {
            if (!within(s) || s.state != StepState::suspect || s.jump < 4 * s.error || s.jump < options_.threshold * fresh.points[s.left].y || stop_ != Stop::none) continue;
            step_time_us_ = fresh.points[s.left].y;
            const Blocks from = sizes[s.left], to = sizes[s.right];
            search_between(from, to, s, 1, nullptr);
        }
        return;
    }
}

}
