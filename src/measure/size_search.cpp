// From a step on the grid to the block where it happens, and the proof that it happens there.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "size_run.h"

namespace sgprobe::measure {
namespace {

constexpr double decide = 2.7;            // standard errors for one decision of a bisection: what it finds is confirmed after
constexpr double decide_again = 4.2;      // and where a first bisection led to nothing
constexpr double confirm_sure = 3.3;      // standard errors between the loss and the threshold
constexpr std::size_t most_rounds = 60;   // of one decision
constexpr double far = 3;                 // see time_cells()
constexpr double nothing = -1e9;

}

Panel SizeRun::panel(const std::vector<Blocks>& sizes) const {
    Panel p;
    // All are sampled alike: whatever is odd about a sample's first commands must not look like a difference between sizes.
    const std::size_t counted = counted_for(*std::max_element(sizes.begin(), sizes.end()));
    for (const Blocks n : sizes) {
        Cell cell;
        cell.blocks = n;
        cell.counted = counted;
        p.cells.push_back(cell);
    }
    p.logs.resize(sizes.size());
    return p;
}

bool SizeRun::measure(Panel& p) {
    if (p.rounds == 2) for (Cell& c : p.cells) c.counted = std::max(c.counted, worthwhile_count(p.cells.front().blocks));
    std::vector<std::size_t> order(p.cells.size());
    Blocks planned = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        order[i] = i;
        planned += p.cells[i].blocks * (p.cells[i].counted + warm_up_) + addresses_->sample_gap() + subject_.alignment();
    }
    std::shuffle(order.begin(), order.end(), random_);
    addresses_->begin_round(planned);
    for (const std::size_t i : order) {
        Cell& cell = p.cells[i];
        const std::size_t had = cell.samples.size();
        if (!take_sample(cell, p.rounds, warm_up_)) return false;
        if (cell.samples.size() == had) {
            stop_ = Stop::trouble;
            stop_why_ = fmt::format("{} cannot be measured: {}", size_text(cell.blocks), cell.note);
            return false;
        }
    }
    ++p.rounds;
    // All anew: what is a rare slow command shows better the more there are.
    for (std::size_t i = 0; i < p.cells.size(); ++i) {
        std::vector<double> together;
        for (const TimedSample& s : p.cells[i].samples)
            for (std::size_t k = warm_up_; k < s.gap_us.size(); ++k) if (!s.held[k]) together.push_back(s.gap_us[k]);
        const double middle = median(together);
        const auto slow = static_cast<std::size_t>(std::count_if(together.begin(), together.end(), [&](double g) { return g > far * middle; }));
        const bool own = binomial_tail(slow, together.size(), 0.02) < 1e-4;
        p.logs[i].clear();
        for (const TimedSample& s : p.cells[i].samples) {
            double sum = 0, n = 0;
            for (std::size_t k = warm_up_; k < s.gap_us.size(); ++k) {
                if (s.held[k] || (!own && s.gap_us[k] > far * middle)) continue;
                sum += s.gap_us[k];
                n += 1;
            }
            p.logs[i].push_back(n > 0 && sum > 0 ? std::log(sum / n) : nothing);
        }
    }
    return true;
}

// By how much a cell's logarithm exceeds a reference cell's, compared round by round.
Location SizeRun::of(const Panel& p, std::size_t cell, std::size_t reference) const {
    std::vector<double> differences;
    for (std::size_t r = 0; r < p.rounds; ++r)
        if (p.logs[cell][r] > nothing && p.logs[reference][r] > nothing) differences.push_back(p.logs[cell][r] - p.logs[reference][r]);
    return biweight(differences, 0.2, sample_sigma_ * std::sqrt(2.0), 4);
}

// Which side of the step a size lies on: is its time nearer to what the low size and the slope before predict, or the high
// size and the slope after? All three are measured anew, beside each other. Neither, where it lies between the two: then there
// is more than one step, or a slope.
SizeRun::Placed SizeRun::side_of(Blocks at, Blocks low, Blocks high, const Step& step, double sureness) {
    Panel p = panel({low, at, high});
    while (true) {
        if (!measure(p)) return {};
        if (p.rounds < 2) continue;
        const Location up = of(p, 2, 0), here = of(p, 1, 0);
        const double low_us = std::exp(biweight(p.logs[0], 0.2).value);
        const double good = std::log1p(step.left_slope * static_cast<double>(at - low) / low_us);
        const double rest = std::exp(up.value) - step.right_slope * static_cast<double>(high - at) / low_us;
        const double bad = std::max(std::log(std::max(rest, 0.1)), good + 0.01);   // a slope that leaves no room is not to be believed here
        std::vector<double> scores;
        for (std::size_t r = 0; r < p.rounds; ++r) {
            if (p.logs[0][r] <= nothing || p.logs[1][r] <= nothing || p.logs[2][r] <= nothing) continue;
            scores.push_back(p.logs[1][r] - (p.logs[0][r] + p.logs[2][r]) / 2);
        }
        const Location score = biweight(scores, 0.2, sample_sigma_ * std::sqrt(1.5), 4);
        const double distance = score.value - ((good + bad) / 2 - up.value / 2), gap = bad - good;
        Placed placed{distance > 0 ? Side::bad : Side::good, here.value - good, bad - here.value};
        if (std::abs(distance) > sureness * score.error && std::abs(distance) > 0.2 * gap) return placed;
        if (p.rounds < 4) continue;
        if (std::abs(distance) + 2.5 * score.error < 0.3 * gap || p.rounds >= most_rounds) {
            placed.side = Side::neither;
            return placed;
        }
    }
}

std::optional<SizeRun::Bracket> SizeRun::bisect(Blocks low, Blocks high, const Step& step, double sureness) {
    const Blocks aligned = subject_.alignment();
    while (high - low > 1) {
        Blocks at = low + (high - low) / 2, below = low, above = high;
        if (high - low > aligned) {
            at = low + std::max<Blocks>((high - low) / 2 / aligned, 1) * aligned;
        } else {
            // Within one aligned step: what it is compared with lies a whole step away, so that all three are misaligned alike.
            if (at > aligned) below = at - aligned;
            if (at + aligned <= greatest_) above = at + aligned;
        }
        const Placed placed = side_of(at, below, above, step, sureness);
        if (placed.side == Side::unknown) return {};
        if (placed.side == Side::neither) return Bracket{low, high, false, placed, at};
        (placed.side == Side::bad ? high : low) = at;
        report_progress(0.8, fmt::format("between {} and {}", size_text(low), size_text(high)));
    }
    return Bracket{low, high, true, {}, 0};
}

// Is the rate at `high` materially below that at `low`? Where misalignment could explain it, a size aligned as `high` is, below
// the step, must be faster too.
SizeRun::Drop SizeRun::confirm(Blocks low, Blocks high, const Step& step, FoundCliff& found) {
    const Blocks aligned = subject_.alignment();
    std::vector<Blocks> sizes{low, high};
    const bool control = aligned > 1 && high > aligned && high - low < aligned;
    if (control) sizes.push_back(high - aligned);
    Panel p = panel(sizes);
    const double growth = std::log(static_cast<double>(high) / static_cast<double>(low));
    while (true) {
        if (!measure(p)) return Drop::unsure;
        if (p.rounds < 3) continue;
        Location loss = of(p, 1, 0);
        loss.value -= growth;
        if (control) {
            Location other = of(p, 1, 2);
            const double low_us = std::exp(biweight(p.logs[0], 0.2).value);
            other.value -= std::log1p(step.left_slope * static_cast<double>(aligned) / low_us);
            if (other.value + confirm_sure * other.error < loss.value && other.value < 0.5 * loss.value) loss = other;   // misalignment, then
        }
        const double least = -std::log1p(-options_.threshold);
        found.last_good = low;
        found.first_bad = high;
        found.exact = high == low + 1;
        const double before = biweight(p.logs[0], 0.2).value;
        found.before_us = std::exp(before);
        found.after_us = std::exp(before + growth + loss.value);
        found.drop = 1 - std::exp(-loss.value);
        found.z = loss.error > 0 ? loss.value / loss.error : 40;
        found.extra_us = found.after_us - found.before_us - step.left_slope * static_cast<double>(high - low);
        if (loss.value - confirm_sure * loss.error > least) return Drop::material;
        if (loss.value + confirm_sure * loss.error < least) return Drop::immaterial;
        if (p.rounds >= 4 * most_rounds) return Drop::unsure;
    }
}

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
            if (p.rounds < 3) continue;
            Location here = of(p, 1, 0);
            const double low_us = std::exp(biweight(p.logs[0], 0.2).value);
            here.value -= std::log1p(step.left_slope * static_cast<double>(at - low) / low_us);
            const double least = 0.4 * std::log1p(step.jump / low_us);
            if (std::abs(here.value - least) > 3 * here.error || p.rounds >= most_rounds) return here.value > least;
        }
    }
    return true;    // nothing larger can be sent: all that can be is slow
}

// The sweep's data chose this step out of many, which flatters it: only fresh data, of it and the sizes around, is believed.
bool SizeRun::verify(Step& step) {
    const auto walled = [&](std::size_t left) {
        return std::any_of(curve_.steps.begin(), curve_.steps.end(), [&](const Step& s) { return s.left == left && s.state == StepState::suspect; });
    };
    std::vector<Blocks> sizes;
    const auto size = [&](std::size_t i) { return cells_[place_[i]].blocks; };
    for (std::size_t i = step.left, count = 0; count < 3; ++count, --i) {
        sizes.insert(sizes.begin(), size(i));
        if (i == 0 || walled(i - 1)) break;
    }
    const std::size_t left = sizes.size() - 1;
    for (std::size_t i = step.right, count = 0; i < place_.size() && count < 3; ++i, ++count) {
        sizes.push_back(size(i));
        if (walled(i)) break;
    }
    Panel p = panel(sizes);
    while (true) {
        if (!measure(p)) return false;
        if (p.rounds < 2) continue;
        const CellTimes times = time_cells(p.cells, warm_up_);
        std::vector<Point> points;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            if (times.time_us[i] <= 0) return false;
            points.push_back({static_cast<double>(sizes[i]), times.time_us[i], times.error_us[i]});
        }
        const Step fresh = step_between(points, left, options_.threshold);
        if (fresh.state == StepState::none) return false;
        if (fresh.state == StepState::suspect || p.rounds >= most_rounds) {
            step.jump = fresh.jump;
            step.error = fresh.error;
            step.left_slope = fresh.left_slope;
            step.right_slope = fresh.right_slope;
            return fresh.jump > 0;
        }
    }
}

void SizeRun::search(const Step& seen) {
    Step step = seen;
    if (!verify(step)) {
        if (stop_ != Stop::none) doubtful_.push_back(seen);
        return;
    }
    if (step.right + 1 == place_.size() && !slow_beyond(step)) {
        cells_[place_[step.right]].note = "dip";
        return;
    }
    search_between(cells_[place_[step.left]].blocks, cells_[place_[step.right]].blocks, step, 0);
}

void SizeRun::search_between(Blocks low, Blocks high, const Step& step, int level) {
    const double least = -std::log1p(-options_.threshold);
    for (const double sureness : {decide, decide_again}) {
        const auto place = bisect(low, high, step, sureness);
        if (!place) break;
        FoundCliff found;
        if (place->sharp || 8 * (place->high - place->low) <= place->low) {   // one block, or a smear over few
            const Drop drop = confirm(place->low, place->high, step, found);
            if (drop == Drop::material) {
                cliffs_.push_back(found);
                return;
            }
            if (drop == Drop::unsure) {
                doubtful_.push_back(step);
                return;
            }
            continue;    // the bisection went astray
        }
        // Two steps in one interval show as a middle between them.
        const bool before = place->middle.before > least, after = place->middle.after > least;
        if ((before || after) && level < 2) {
            if (before) search_between(place->low, place->at, step, level + 1);
            if (after && stop_ == Stop::none) search_between(place->at, place->high, step, level + 1);
            return;
        }
        break;
    }
    if (stop_ != Stop::none) doubtful_.push_back(step);
    else if (level == 0) notes_.push_back(fmt::format("time grows faster than transfer length between {} and {}, without a sharp step", size_text(low), size_text(high)));
}

}
