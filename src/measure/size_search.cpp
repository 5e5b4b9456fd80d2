// From a step on the grid to the block where it happens, and the proof that it happens there.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "size_run.h"

namespace sgprobe::measure {
namespace {

constexpr double confirm_sure = 2.2;      // standard errors between the loss and the threshold
constexpr double nothing = -1e9;

}

Panel SizeRun::panel(const std::vector<Blocks>& sizes, double gap) const {
    Panel p;
    // All are sampled alike: whatever is odd about a sample's first commands must not look like a difference between sizes.
    std::size_t counted = counted_for(*std::max_element(sizes.begin(), sizes.end()));
    if (gap > 0) {
        const double enough = static_cast<double>(counted) * std::pow(12 * sample_sigma_ / gap, 2);   // a gap that noise cannot fill needs no long samples
        // Never so short that where it falls on a track decides.
        const std::size_t least = std::max<std::size_t>({2, (256u << 10) / bytes(sizes.front()), worthwhile_count(sizes.front()) / 4});
        counted = std::min(counted, std::max(least, static_cast<std::size_t>(std::clamp(enough, 2.0, 1000.0))));
    }
    for (const Blocks n : sizes) {
        Cell cell;
        cell.blocks = n;
        cell.counted = counted;
        p.cells.push_back(cell);
    }
    p.logs.resize(sizes.size());
    return p;
}

// What a sample of it is expected to scatter by: the sweep's samples were longer, perhaps.
double SizeRun::sigma_of(const Panel& p) const {
    const Cell& c = p.cells.front();
    return sample_sigma_ * std::sqrt(std::max(1.0, static_cast<double>(counted_for(c.blocks)) / static_cast<double>(c.counted)));
}

bool SizeRun::measure(Panel& p) {
    // Two rounds did not tell: longer samples, and only those, as short and long ones need not agree where commands are of two kinds.
    if (const std::size_t longer = worthwhile_count(p.cells.front().blocks); p.rounds == 3 && longer > p.cells.front().counted) {
        const bool much = longer > 2 * p.cells.front().counted;
        for (Cell& c : p.cells) {
            c.counted = longer;
            if (much) c.samples.clear();
        }
        if (much) p.rounds = 0;
    }
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
    // All anew, as rare slow commands show better the more there are; and for all sizes alike, or the filter would make a difference.
    std::vector<std::vector<double>> times(p.cells.size());
    std::size_t slow = 0, all = 0;
    for (std::size_t i = 0; i < p.cells.size(); ++i) {
        for (const TimedSample& s : p.cells[i].samples)
            for (std::size_t k = warm_up_; k < s.gap_us.size(); ++k) if (!s.held[k]) times[i].push_back(s.gap_us[k]);
        slow += slow_count(times[i], media_us());
        all += times[i].size();
    }
    const bool own = binomial_tail(slow, all, 0.02) < 1e-4;
    for (std::size_t i = 0; i < p.cells.size(); ++i) {
        const SlowFilter filter(times[i], own, media_us());
        p.logs[i].clear();
        for (const TimedSample& s : p.cells[i].samples) {
            double sum = 0, n = 0;
            for (std::size_t k = warm_up_; k < s.gap_us.size(); ++k) {
                if (s.held[k]) continue;
                sum += filter(s.gap_us[k]);
                n += filter(s.gap_us[k]) > 0;
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
    return biweight(differences, 0.2, sigma_of(p) * std::sqrt(2.0), 4);
}

// Which side of the step a size lies on: is its time nearer to what the low size and the slope before predict, or the high
// size and the slope after? All three are measured anew, beside each other. Neither, where it lies between the two: then there
// is more than one step, or a slope.
SizeRun::Placed SizeRun::side_of(Blocks at, Blocks low, Blocks high, const Step& step, const Care& care) {
    const double first_gap = std::log1p(step.jump / std::max(step_time_us_, 1.0));
    Panel p = panel({low, at, high}, first_gap);
    while (true) {
        if (!measure(p)) return {};
        if (p.rounds < care.least_rounds) continue;
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
        const Location score = biweight(scores, 0.2, sigma_of(p) * std::sqrt(1.5), 4);
        const double distance = score.value - ((good + bad) / 2 - up.value / 2), gap = bad - good;
        Placed placed{distance > 0 ? Side::bad : Side::good, here.value - good, bad - here.value};
        // A burst that fell on one of the three shows: the step is not as high as it was, or the size lies on neither side.
        const bool plausible = std::min(std::abs(placed.before), std::abs(placed.after)) < 0.35 * first_gap && gap > 0.6 * first_gap && gap < 1.6 * first_gap;
        if (!plausible && p.rounds < 5) continue;
        if (std::abs(distance) > care.sureness * score.error && std::abs(distance) > 0.2 * gap) return placed;
        const double least = -std::log1p(-options_.threshold);
        if (p.rounds < std::max<std::size_t>(6, care.least_rounds)) continue;
        if (gap + up.error < 0.75 * least) {       // nothing that matters lies between
            placed.side = Side::neither;
            return placed;
        }
        const double doubt = p.rounds < 10 ? 2.5 : 1;
        if (std::abs(distance) + doubt * score.error < 0.33 * gap || p.rounds >= most_rounds) {
            placed.side = Side::neither;
            return placed;
        }
    }
}

std::optional<SizeRun::Bracket> SizeRun::bisect(Blocks low, Blocks high, const Step& step, const Care& care, Suspicion* progress) {
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
        const Placed placed = side_of(at, below, above, step, care);
        if (placed.side == Side::unknown) return {};
        if (placed.side == Side::neither) return Bracket{low, high, false, placed, at};
        (placed.side == Side::bad ? high : low) = at;
        if (progress) { progress->low = low; progress->high = high; }
        report_progress(0.8, fmt::format("between {} and {}", size_text(low), size_text(high)));
    }
    return Bracket{low, high, true, {}, 0};
}

// Is the rate at `high` materially below that at `low`? Where misalignment could explain it, a size aligned as `high` is, below
// the step, must be faster too.
SizeRun::Drop SizeRun::confirm(Blocks low, Blocks high, const Step& step, FoundCliff& found) {
    const Blocks aligned = subject_.alignment();
    std::vector<Blocks> sizes{low, high};
    const bool control = low % aligned == 0 && high % aligned != 0 && high > aligned;
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
        const bool plain = sample_sigma_ < 0.03 && loss.value > 10 * loss.error && loss.value > 2 * least;
        if (p.rounds < (plain ? 4 : 6)) continue;
        if (loss.value - confirm_sure * loss.error > least) return Drop::material;
        if (loss.value + confirm_sure * loss.error < least) return Drop::immaterial;
        if (p.rounds >= 4 * most_rounds) return Drop::unsure;
    }
}

// Taken up again where time ran out before. False: no cliff, dip or band explains it.
bool SizeRun::search(Suspicion& suspicion) {
    Step& step = suspicion.step;
    const Blocks left = cells_[place_[step.left]].blocks, right = cells_[place_[step.right]].blocks;
    if (!suspicion.verified) {
        if (!verify(step) || stop_ != Stop::none) return false;
        if (!step.lasts && (verify_band(step) || stop_ != Stop::none)) return true;
        if (step.right + 1 == place_.size() && !slow_beyond(step)) {
            cells_[place_[step.right]].note = "dip";
            return true;
        }
        if (stop_ != Stop::none) return false;
        suspicion.verified = true;
        suspicion.low = left;
        suspicion.high = right;
    }
    if (search_between(suspicion.low, suspicion.high, step, 0, &suspicion)) return true;
    const bool whole = suspicion.low == left && suspicion.high == right;
    if (stop_ == Stop::none && !whole && search_between(left, right, step, 0, nullptr)) return true;
    if (stop_ == Stop::none) notes_.push_back(fmt::format("time grows faster than transfer length between {} and {}, without a sharp step", size_text(left), size_text(right)));
    return false;
}

// Time is up, but that there is a cliff between the two was sure before: it is reported as wide as it stands.
bool SizeRun::report_unplaced(const Suspicion& suspicion) {
    const Step& step = suspicion.step;
    const double before_us = times_.time_us[place_[step.left]], least = options_.threshold / (1 - options_.threshold) * before_us;
    if (!step.lasts || !step.both_sides || suspicion.doubted || (!suspicion.verified && step.jump < 15 * step.error) || step.jump - 6 * step.error < least || step.jump < 2 * least) return false;   // a bend among small sizes looks like a small step
    FoundCliff found;
    found.last_good = suspicion.verified ? suspicion.low : cells_[place_[step.left]].blocks;
    found.first_bad = suspicion.verified ? suspicion.high : cells_[place_[step.right]].blocks;
    found.exact = found.first_bad == found.last_good + 1;
    found.before_us = before_us + step.left_slope * static_cast<double>(found.last_good - cells_[place_[step.left]].blocks);
    found.after_us = found.before_us + step.left_slope * static_cast<double>(found.first_bad - found.last_good) + step.jump;
    found.z = step.jump / step.error;
    found.extra_us = step.jump;
    add(found);
    return true;
}

// Two neighbouring pairs of the grid may lead to the same cliff.
void SizeRun::add(const FoundCliff& found) {
    for (FoundCliff& known : cliffs_) {
        if (known.first_bad <= found.last_good || found.first_bad <= known.last_good) continue;
        if (found.exact && !known.exact) known = found;
        return;
    }
    cliffs_.push_back(found);
}

// True where it found what explains the step. progress: how far the first bisection came, for when time runs out.
bool SizeRun::search_between(Blocks low, Blocks high, const Step& step, int level, Suspicion* progress) {
    const double least = -std::log1p(-options_.threshold);
    // Among the small sizes lie the bends; what a quiet drive shows there is not gone over twice.
    const bool quiet = (bytes(high) <= (64u << 10) || level > 0) && sample_sigma_ < 0.03 && !unquiet();
    // What a bisection finds is confirmed, so that the first may be quick; a burst that misled it will not mislead a slower one.
    for (const Care& care : {Care{2.7, 2}, Care{4.0, 4}, Care{4.5, 8}}) {
        const auto place = bisect(low, high, step, care, progress);
        if (!place) return false;
        FoundCliff found;
        // Two steps in one interval show as a middle between them.
        const bool before = place->middle.before > least, after = place->middle.after > least;
        const bool narrow = place->high - place->low <= 2 * subject_.alignment();
        if (!place->sharp && (before || after) && !narrow && level < 3) {
            bool any = before && search_between(place->low, place->at, step, level + 1, nullptr);
            any |= after && stop_ == Stop::none && search_between(place->at, place->high, step, level + 1, nullptr);
            return any;
        }
        if (place->sharp || 8 * (place->high - place->low) <= place->low) {   // one block, or a smear over few
            Drop drop = confirm(place->low, place->high, step, found);
            // What noise could have made once it will not make twice.
            const double loss = -std::log1p(-found.drop);
            const bool plain = loss > 2 * least && (sample_sigma_ < 0.03 || (loss - least) * found.z > 5 * loss);
            if (drop == Drop::material && !plain) {
                FoundCliff again;
                drop = confirm(place->low, place->high, step, again);
            }
            if (stop_ != Stop::none) return false;
            if (progress) *progress = {step, true, low, high, drop != Drop::material};   // the bisection went astray, as it can where there is noise
            if (drop == Drop::material) {
                add(found);
                return true;
            }
            if (drop == Drop::unsure || quiet) return false;
            continue;
        }
        if (progress) *progress = {step, true, low, high, true};
        if (step.jump < 8 * step.error || level > 0 || quiet) return false;
    }
    return false;
}


// Drive time for one question, a share of what is left: no doubt about one place may keep another from being looked at.
// False where it did not suffice (and the run as a whole may go on), or where the run must end.
bool SizeRun::within(double share, const std::function<void()>& work) {
    const double spent = static_cast<double>((host_.now() - began_ - excused_).count()), budget = static_cast<double>(options_.budget.count());
    allowed_ = std::min(1.0, (spent + share * std::max(budget - spent, 0.0)) / budget);
    work();
    const bool enough = stop_ == Stop::none;
    allowed_ = 1;
    if (stop_ == Stop::budget && !time_is_up(1)) stop_ = Stop::none;
    return enough;
}

// What the sweep suspects, the plainest first; then what it took for dips and bends; then again what the first look left open.
void SizeRun::look_closer() {
    std::vector<Suspicion> open, left;
    std::vector<Step> bends;
    for (const Step& step : curve_.steps) {
        if (step.state == StepState::suspect || (step.state == StepState::unsure && step.jump > 2 * step.error && step.jump > 0)) open.push_back({step, false, 0, 0, false});
        else if (step.state == StepState::unsure) doubtful_.push_back(step);
        else bends.push_back(step);
    }
    std::stable_sort(open.begin(), open.end(), [](const Suspicion& a, const Suspicion& b) { return a.step.jump * b.step.error > b.step.jump * a.step.error; });
    std::size_t ahead = open.size();
    for (Suspicion& s : open) {
        bool explained = false;
        if (stop_ != Stop::none || !within(1.0 / static_cast<double>(ahead--), [&] { explained = search(s); })) left.push_back(s);
        else if (!explained) bends.push_back(s.step);
    }
    for (const std::size_t dip : std::vector<std::size_t>(curve_.dips))
        if (stop_ == Stop::none) within(0.2, [&] { verify_dip(dip); });
    for (const Step& step : bends)
        if (stop_ == Stop::none) within(0.2, [&] { look_into_bend(step); });
    ahead = left.size();
    for (Suspicion& s : left) {
        if (stop_ == Stop::none && within(1.0 / static_cast<double>(ahead--), [&] { search(s); })) continue;
        if (!report_unplaced(s)) doubtful_.push_back(s.step);
    }
    std::sort(cliffs_.begin(), cliffs_.end(), [](const FoundCliff& a, const FoundCliff& b) { return a.last_good < b.last_good; });
}

}
