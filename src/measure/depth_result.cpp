#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "depth_run.h"
#include "sgprobe/measure/advice.h"

namespace sgprobe::measure {

// Deeper than this the drive turned commands away, at every depth looked at.
void DepthRun::find_acceptance(DepthSeries& s) const {
    std::optional<unsigned> last_without;
    for (const DepthCell& c : s.cells) {
        if (c.commands == 0 || c.unqueued) continue;
        const bool turned_away = c.flow() * 50 > c.commands;   // more than one in fifty: not the accident of a moment
        if (!turned_away) last_without = c.depth, s.accepts.reset();
        else if (!s.accepts && last_without) s.accepts = last_without;
        else if (!s.accepts) s.accepts = 1;
    }
    if (!s.accepts) return;
    // What it really held is nearer than the grid: the mean number outstanding where it was turned away.
    for (const DepthCell& c : s.cells)
        if (c.depth > *s.accepts && !c.cell.samples.empty()) {
            const double held = c.reached / static_cast<double>(c.cell.samples.size());
            if (held > *s.accepts && held < c.depth) s.accepts = std::max(*s.accepts, static_cast<unsigned>(std::lround(held)));
            break;
        }
}

void DepthRun::find_gain(DepthSeries& s) const {
    const DepthCell* first = nullptr;
    const DepthCell* best = nullptr;
    for (const DepthCell& c : s.cells) {
        if (c.unqueued || c.error <= 0) continue;
        if (!first) first = &c;
        if (!best || c.value < best->value) best = &c;
    }
    if (!first || first == &s.cells.back()) return;   // one depth alone tells nothing of queueing
    const double gain = std::exp(first->value - best->value), error = std::hypot(first->error, best->error);
    const char* what = s.pattern == "rand-read" ? "random reads" : "sequential reads";
    if (gain < 1 + options_.threshold * 0.7 || first->value - best->value < 4.5 * error) {
        s.gain = fmt::format("queueing gains nothing on {}", what);
        return;
    }
    // The shallowest queue that has what there is to gain.
    const DepthCell* enough = best;
    for (const DepthCell& c : s.cells)
        if (!c.unqueued && c.error > 0 && c.value - best->value < std::max(options_.threshold / 4, 2 * std::hypot(c.error, best->error))) {
            enough = &c;
            break;
        }
    s.gain = fmt::format("{:.2g}x at depth {} on {}", std::exp(first->value - enough->value), enough->depth, what);
    if (enough->depth != s.cells.back().depth) s.gain += fmt::format("; none past {}", enough->depth);
}

void DepthRun::finish(Result& result) {
    result.device = subject_.identity;
    bool doubt = false;
    std::string doubts, gains;
    for (DepthSeries& s : series_) {
        for (DepthCell& c : s.cells) {
            SampleResult r = summarise(c.cell, c.depth + 2, subject_.identity.block_bytes, c.error > 0 ? std::exp(c.value) : 0, c.error, s.pattern);
            r.depth = c.depth;
            r.depth_reached = c.cell.samples.empty() ? 0 : c.reached / static_cast<double>(c.cell.samples.size());
            if (c.commands > 0 || !c.cell.usable) result.samples.push_back(std::move(r));
            // Past what the kernel lets through, commands wait in it and only seem to be queued.
            if (!c.cell.samples.empty() && r.depth_reached < 0.7 * c.depth && c.depth > 2 && c.flow() == 0)
                notes_.push_back(fmt::format("{} at depth {}: only {:.1f} commands were really outstanding", s.pattern, c.depth, r.depth_reached));
        }
        for (const Cliff& c : s.cliffs) result.cliffs.push_back(c);
        if (s.accepts) notes_.push_back(fmt::format("{}: the drive accepts {}, answers TASK SET FULL beyond", s.pattern, *s.accepts));
        if (!s.gain.empty()) gains += (gains.empty() ? "" : "; ") + s.gain;
        if (!s.in_doubt.empty()) doubt = true, doubts += (doubts.empty() ? "" : "; ") + s.pattern + ": " + s.in_doubt;
        // Does this firmware reorder at all?
        std::uint64_t commands = 0, reordered = 0;
        for (const DepthCell& c : s.cells)
            if (c.depth >= 4) commands += c.commands, reordered += c.reordered;
        if (commands >= 50 && s.pattern == "rand-read")
            notes_.push_back(reordered * 50 > commands ? fmt::format("random reads complete out of order: {:.0f} % of them, from depth 4 on", 100 * static_cast<double>(reordered) / static_cast<double>(commands))
                                                       : std::string("random reads complete in the order in which they were sent: this firmware does not reorder them"));
    }
    result.interrupted = interrupted_;
    result.exit_status = exit_status_;
    if (!result.cliffs.empty()) {
        result.verdict = Verdict::cliff;
        const Cliff& c = result.cliffs.front();
        result.reason = fmt::format("past depth {} the rate of {} falls from {:.1f} to {:.1f} MB/s ({:.0f} %)", c.last_good, c.pattern, c.before_mb_s, c.after_mb_s, 100 * c.drop);
        if (!stop_.empty()) result.reason += "; the run is not complete: " + stop_;
    } else if (!stop_.empty() || doubt) {
        result.verdict = Verdict::inconclusive;
        result.reason = stop_.empty() ? doubts : stop_;
    } else {
        result.verdict = Verdict::clean;
        result.reason = fmt::format("no queue from {} to {} deep is slower than a shallower one: {}", depths_.front(), depths_.back(), gains);
    }
    if (!result.cliffs.empty()) {
        const unsigned depth = static_cast<unsigned>(std::min_element(result.cliffs.begin(), result.cliffs.end(), [](const Cliff& a, const Cliff& b) { return a.last_good < b.last_good; })->last_good);
        result.advice.push_back(advise_queue_depth(subject_.identity, depth));
    }
    if (!gone_) result.settings_after = caching_settings(host_, drive_);
    if (incidents_.resets + incidents_.parameter_changes + incidents_.attentions > 0)
        notes_.push_back(fmt::format("unit attentions spoiled samples, which were redone: {} resets, {} changed parameters, {} others", incidents_.resets, incidents_.parameter_changes, incidents_.attentions));
    if (incidents_.errors > 0) notes_.push_back(fmt::format("{} commands failed ({} time-outs)", incidents_.errors, incidents_.timeouts));
    if (incidents_.flow_control > 0) notes_.push_back(fmt::format("the drive answered BUSY or TASK SET FULL {} times", incidents_.flow_control));
    if (incidents_.hidden_retries > 0) notes_.push_back(fmt::format("the kernel sent {} commands again without a word (BUSY or TASK SET FULL, from its counters)", incidents_.hidden_retries));
    if (incidents_.foreign > 0) notes_.push_back(fmt::format("others sent {} commands to the drive meanwhile", incidents_.foreign));
    for (std::string& n : subject_.notes) result.notes.push_back(std::move(n));
    for (std::string& n : notes_) result.notes.push_back(std::move(n));
    result.commands = commands_;
    result.bytes_transferred = bytes_;
    result.sections.emplace_back("gain", gains);
    std::vector<std::int64_t> depths(depths_.begin(), depths_.end());
    result.parameters = {{"depths", depths}, {"sequential_bytes", static_cast<std::int64_t>(options_.sequential_bytes)}, {"random_bytes", static_cast<std::int64_t>(options_.random_bytes)},
                         {"budget_s", static_cast<double>(options_.budget.count()) / 1e9}, {"threshold", options_.threshold}, {"seed", static_cast<std::int64_t>(options_.seed)}};
    for (const Parameter& p : options_.also) result.parameters.push_back(p);
}

}
