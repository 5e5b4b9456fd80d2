#include "sgprobe/measure/limit_search.h"

#include <algorithm>
#include <cmath>

namespace sgprobe::measure {
namespace {
constexpr unsigned baseline_commands = 24, control_commands = 200;
constexpr unsigned light = 2, medium = 6, strong = 22;    // passes that a length must show
constexpr double limit_rate = 0.35;                       // past a limit at least this share of commands is taken to fail
constexpr double weight_bad = 14.0, weight_good = -8.5;

bool is_costly(Failing failing) { return failing == Failing::time_out || failing == Failing::disconnect; }

// Lengths that can be told apart with `trials` commands of which `failures` may fail (the two-egg puzzle).
double reach(unsigned trials, unsigned failures) {
    double sum = 0, term = 1;
    for (unsigned i = 1; i <= failures && i <= trials; ++i) sum += term *= double(trials - i + 1) / i;
    return sum;
}
}

LimitSearch::LimitSearch(SearchPlan plan, Send send) : plan_(std::move(plan)), send_(std::move(send)), random_(plan_.seed) {}

Attempt LimitSearch::send(Blocks length) {
    const Attempt attempt = send_(length);
    if (attempt.counted) ++commands_;
    if (attempt.over) over_ = true;
    if (attempt.counted && is_costly(attempt.failing)) ++costly_;
    return attempt;
}

bool LimitSearch::stuck() const { return over_ || (is_costly(high_failing_) && costly_ >= plan_.costly); }

double LimitSearch::stray_rate() const {
    double failed = 0, all = 0;
    for (const auto& [length, tally] : tallies_) {
        if (length > low_ || (high_ && length >= *high_)) break;
        failed += tally.failed;
        all += tally.failed + tally.passed;
    }
    return std::clamp((failed + 0.5) / (all + 20), 0.01, 0.4);
}

double LimitSearch::weight(const Tally& tally) const {
    const double stray = stray_rate(), past = std::max(limit_rate, std::min(0.9, 3 * stray));
    return tally.failed * std::log(past / stray) + tally.passed * std::log((1 - past) / (1 - stray));
}

void LimitSearch::control() {
    controlled_ = true;
    Tally& one = tallies_[1];
    const unsigned before = one.failed;
    while (!over_ && one.passed + one.failed < control_commands && one.failed < before + 14) {
        const Attempt attempt = send(1);
        if (!attempt.counted) return;
        if (attempt.failing == Failing::none) { ++one.passed; continue; }
        ++one.failed;
        if (!is_costly(attempt.failing)) continue;
        stray_costly_ = true;
        if (costly_ + 6 >= plan_.costly) return;
        if (one.failed >= before + 2) return;
    }
}

LimitSearch::Tally& LimitSearch::mark_bad(Blocks length, Tally& tally) {
    if (!high_ || length < *high_) { high_ = length; high_failing_ = tally.failing; }
    if (tally.passed > 0) intermittent_ = true;
    return tally;
}

LimitSearch::Judgement LimitSearch::judge(Blocks length, unsigned passes_wanted) {
    Tally& tally = tallies_[length];
    while (!over_) {
        if (tally.failed == 0 ? tally.passed >= passes_wanted : weight(tally) < weight_good) {
            if (!high_ || length < *high_) low_ = std::max(low_, length);
            return Judgement::good;
        }
        const Attempt attempt = send(length);
        if (!attempt.counted) return Judgement::over;
        if (attempt.failing == Failing::none) { ++tally.passed; continue; }
        ++tally.failed;
        tally.failing = attempt.failing;
        // The system's refusal depends on the length alone: asked once more (memory may have been short), it stands.
        if (attempt.failing == Failing::host) {
            if (tally.failed >= 2 || over_) { mark_bad(length, tally); return Judgement::bad; }
            continue;
        }
        if (over_) { mark_bad(length, tally); return Judgement::bad; }
        if (!controlled_) control();
        if (is_costly(attempt.failing) && !stray_costly_) { mark_bad(length, tally); return Judgement::bad; }
        if (is_costly(attempt.failing) && costly_ >= plan_.costly) { over_ = true; return Judgement::over; }
        if (weight(tally) > weight_bad) { mark_bad(length, tally); return Judgement::bad; }
    }
    return Judgement::over;
}

// One block works at all. Nothing can be told about longer commands where it does not.
bool LimitSearch::baseline() {
    Tally& one = tallies_[1];
    while (!over_ && one.passed < baseline_commands) {
        const Attempt attempt = send(1);
        if (!attempt.counted) return false;
        if (attempt.failing == Failing::none) { ++one.passed; continue; }
        ++one.failed;
        one.failing = attempt.failing;
        const bool costly = is_costly(attempt.failing);
        if (costly && one.passed > 0) stray_costly_ = true;
        if (costly && costly_ >= plan_.costly) over_ = true;
        if (one.failed >= (costly ? std::clamp(plan_.costly, 1u, 3u) : 5u) && one.failed * 2 > one.passed + one.failed) {
            high_ = 1;
            high_failing_ = one.failing;
            return false;
        }
    }
    low_ = 1;
    return !over_;
}

std::vector<Blocks> LimitSearch::ladder() const {
    std::vector<Blocks> lengths{plan_.top};
    const auto add = [&](Blocks length) { if (length > 1 && length < plan_.top) lengths.push_back(length); };
    for (Blocks length = 2; length < plan_.top; length *= 2) {
        add(length);
        if (!stray_costly_) add(length + 1);          // limits like round numbers: found at once, without a second time-out
    }
    if (!stray_costly_) for (const Blocks length : plan_.likely) { add(length); add(length + 1); }
    std::sort(lengths.begin(), lengths.end());
    lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
    return lengths;
}

bool LimitSearch::try_hint() {
    if (!plan_.hint || *plan_.hint < 2 || *plan_.hint > plan_.top) return false;
    if (judge(*plan_.hint, medium) != Judgement::good) return true;
    if (*plan_.hint < plan_.top) judge(*plan_.hint + 1, medium);
    return true;
}

void LimitSearch::grow() {
    for (const Blocks length : ladder()) {
        if (length <= low_) continue;
        if (high_ && length >= *high_) return;
        if (judge(length, stray_costly_ ? 1 : light) != Judgement::good) return;
    }
}

Blocks LimitSearch::next_length() const {
    const Blocks gap = *high_ - low_ - 1;             // lengths not known yet
    if (!is_costly(high_failing_)) return low_ + (gap + 1) / 2;
    const unsigned left = plan_.costly - costly_;
    const unsigned failures = left > 5 ? left - 4 : left;   // some are kept for what the verification may find
    unsigned trials = 1;
    while (trials < 400 && reach(trials, failures) < double(gap)) ++trials;
    if (reach(trials, failures) < double(gap)) return low_ + (gap + trials - 1) / trials;
    const auto step = Blocks(reach(trials - 1, failures - 1)) + 1;
    return low_ + std::min(step, gap);
}

void LimitSearch::narrow(unsigned passes_wanted) {
    while (high_ && *high_ > low_ + 1 && !stuck())
        judge(next_length(), std::max(passes_wanted, is_costly(high_failing_) ? strong : light));
}

bool LimitSearch::verify() {
    if (low_ <= 1) return verified_ = true;
    if (stuck()) return true;                         // nothing may be spent on it any more
    if (judge(low_, plan_.hint == low_ ? medium : strong) == Judgement::bad) return false;
    for (int i = 0; i < 5 && low_ > 4 && !stuck(); ++i)
        if (judge(2 + random_() % (low_ - 2), 1) == Judgement::bad) return false;
    verified_ = tallies_[low_].passed >= medium;
    return true;
}

// What passed lightly is not trusted any more: from the longest down, until one holds.
void LimitSearch::fall_back() {
    low_ = 1;
    std::vector<Blocks> passed;
    for (const auto& [length, tally] : tallies_) if (length > 1 && (!high_ || length < *high_) && tally.passed > 0) passed.push_back(length);
    for (; !passed.empty() && !stuck(); passed.pop_back())
        if (passed.back() < *high_ && judge(passed.back(), strong) == Judgement::good) return;
    if (!passed.empty()) low_ = std::max(low_, passed.back());
}

void LimitSearch::settle() {
    unsigned passes = light;
    if (high_ && is_costly(high_failing_) && !stuck()) fall_back();
    for (;;) {
        narrow(passes);
        if (verify()) return;
        intermittent_ = true;
        passes = strong;
        fall_back();
    }
}

SearchFinding LimitSearch::run() {
    if (baseline() && plan_.top > 1) {
        if (!try_hint() || !high_) grow();
        settle();
    }
    SearchFinding finding;
    finding.max_ok = low_;
    finding.first_failing = high_;
    finding.failing = high_failing_;
    finding.exact = high_ ? *high_ == low_ + 1 && (!intermittent_ || verified_) : low_ == plan_.top;
    finding.intermittent = intermittent_;
    finding.stopped = over_;
    finding.costly_spent = !finding.exact && costly_ >= plan_.costly;
    finding.commands = commands_;
    finding.costly = costly_;
    for (const auto& [length, tally] : tallies_) {
        if (length > low_) break;
        finding.strays += tally.failed;
        finding.stray_base += tally.failed + tally.passed;
    }
    if (high_) {
        finding.failed_at_first = tallies_[*high_].failed;
        finding.tried_at_first = tallies_[*high_].failed + tallies_[*high_].passed;
    }
    return finding;
}

}
