// What a run says in the end: verdict and reason, mechanism, advice.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "size_run.h"
#include "sgprobe/measure/advice.h"
#include "sgprobe/transport/escape.h"

namespace sgprobe::measure {

std::string SizeRun::size_text(Blocks n) const {
    const double kib = static_cast<double>(bytes(n)) / 1024;
    return fmt::format("{} blocks ({:.4g} KiB)", n, kib);
}

std::string SizeRun::mechanism(const FoundCliff& cliff, SettingValues& matching) {
    std::string text;
    const SettingValues settings = caching_settings(host_, drive_);
    static constexpr std::pair<const char*, const char*> lengths[] = {
        {"DPTL", "the drive disables prefetch for transfers longer than DPTL"},
        {"MAPF", "the maximum prefetch (MAPF)"},
        {"MAPFC", "the ceiling of the maximum prefetch (MAPFC)"},
        {"MIPF", "the minimum prefetch (MIPF)"},
    };
    std::string place;
    for (const auto& [key, meaning] : lengths) {
        const auto it = settings.find(key);
        if (it == settings.end() || it->second <= 0 || static_cast<Blocks>(it->second) != cliff.last_good) continue;
        matching[key] = it->second;
        if (place.empty()) place = meaning;
    }
    // The time that is lost with each request past the cliff, against what a revolution takes.
    std::optional<double> rotation = subject_.rotation_us;
    std::string source = subject_.rotation_source;
    const bool may_rotate = !subject_.identity.rotation_rpm || *subject_.identity.rotation_rpm != 1;
    if (!rotation && may_rotate && cliff.extra_us > 2500) {
        rotation = measure_rotation_us(host_, drive_, subject_, *addresses_);
        source = "measured";
    }
    if (rotation) {
        for (const int turns : {1, 2, 3}) {
            if (std::abs(cliff.extra_us - turns * *rotation) > 0.15 * *rotation) continue;
            text = fmt::format("each request past it costs about {} lost revolution{} ({:.2f} ms; one takes {:.2f} ms, {})",
                               turns == 1 ? "one" : std::to_string(turns), turns == 1 ? "" : "s", cliff.extra_us / 1000, *rotation / 1000, source);
            break;
        }
    }
    if (!matching.empty()) {
        std::string names;
        for (const auto& [key, value] : matching) names += (names.empty() ? "" : ", ") + key + "=" + std::to_string(value);
        text += (text.empty() ? "" : "; ") + fmt::format("it stands at a value of the caching page ({}): {}", names, place);
    }
    return text;
}

void SizeRun::advise(Result& result) {
    if (result.cliffs.empty()) return;
    const Cliff& first = result.cliffs.front();
    double best_past = 0;
    for (const SampleResult& s : result.samples) if (s.transfer_blocks > first.last_good) best_past = std::max(best_past, s.rate_mb_s.median);
    if (best_past > first.before_mb_s * 1.02) {
        notes_.push_back(fmt::format("larger requests reach {:.1f} MB/s in spite of the cliff, more than the {:.1f} MB/s at it: requests should not be cut there", best_past, first.before_mb_s));
        return;
    }
    if (auto a = advise_max_sectors(subject_.identity, bytes(first.last_good))) result.advice.push_back(std::move(*a));
}

void SizeRun::finish(Result& result) {
    result.device = subject_.identity;
    times_ = time_cells(cells_, warm_up_, media_us());
    for (const std::size_t dip : curve_.dips) cells_[place_[dip]].note = "dip";
    for (const auto& [first, last] : curve_.bands)
        for (std::size_t i = first; i <= last; ++i) cells_[place_[i]].note = "dip";
    std::uint64_t refused = 0;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
        const Cell& c = cells_[i];
        if (!c.usable) ++refused;
        result.samples.push_back(summarise(c, warm_up_, subject_.identity.block_bytes, times_.time_us[i], times_.relative_error[i], "seq-read"));
        if (result.samples.back().note == "dip") notes_.push_back(size_text(c.blocks) + " is slow among good sizes: a dip, no cliff");
        if (!c.usable) notes_.push_back(size_text(c.blocks) + " could not be measured: " + c.note);
    }
    const double looked_at = static_cast<double>(std::max<std::size_t>(curve_.steps.size(), 1));
    for (const FoundCliff& f : cliffs_) {
        Cliff cliff;
        cliff.pattern = "seq-read";
        cliff.last_good = f.last_good;
        cliff.first_bad = f.first_bad;
        cliff.exact = f.exact;
        cliff.before_mb_s = static_cast<double>(bytes(f.last_good)) / f.before_us;
        cliff.after_mb_s = static_cast<double>(bytes(f.first_bad)) / f.after_us;
        cliff.drop = 1 - cliff.after_mb_s / cliff.before_mb_s;
        cliff.p_value = std::clamp(normal_tail(f.z) * 2 * looked_at, 1e-15, 1.0);
        if (stop_ != Stop::gone && stop_ != Stop::interrupted) cliff.mechanism = mechanism(f, cliff.settings);
        result.cliffs.push_back(std::move(cliff));
    }
    if (stop_ != Stop::gone) result.settings_after = caching_settings(host_, drive_);
    if (result.settings_after != result.settings_before && stop_ != Stop::gone)
        notes_.push_back("the caching page changed during the run");
    advise(result);

    result.interrupted = stop_ == Stop::interrupted;
    const std::size_t measured = place_.size();
    if (stop_ == Stop::gone || stop_ == Stop::trouble || (stop_ == Stop::none && measured == 0)) result.exit_status = stop_status_;
    std::string why = stop_why_;
    if (stop_ == Stop::budget) why = read_all(1) ? fmt::format("{:.0f} MB were read, all that it may", static_cast<double>(bytes_moved_) / 1e6)
                                        : fmt::format("the budget of {:.3g} s of drive time was spent", static_cast<double>(options_.budget.count()) / 1e9);
    if (!result.cliffs.empty()) {
        result.verdict = Verdict::cliff;
        const Cliff& c = result.cliffs.front();
        result.reason = fmt::format("past {} the rate falls from {:.1f} to {:.1f} MB/s ({:.0f} %)", size_text(c.last_good), c.before_mb_s, c.after_mb_s, 100 * c.drop);
        if (stop_ != Stop::none) result.reason += "; the run is not complete: " + why;
    } else if (stop_ != Stop::none) {
        result.verdict = Verdict::inconclusive;
        result.reason = why;
    } else if (measured < 2) {
        result.verdict = Verdict::inconclusive;
        result.reason = measured == 0 ? "no size could be measured: " + cells_.front().note : "fewer than two sizes could be measured";
    } else if (!doubtful_.empty()) {
        const Step& s = doubtful_.front();
        const double loss = s.jump / (cells_[place_[s.left]].blocks ? times_.time_us[place_[s.left]] + s.jump : 1);
        const double low = (s.jump - 1.96 * s.error) / (times_.time_us[place_[s.left]] + s.jump), high = (s.jump + 1.96 * s.error) / (times_.time_us[place_[s.left]] + s.jump);
        result.verdict = Verdict::inconclusive;
        result.reason = fmt::format("between {} and {} a loss of {:.0f} % ({:.0f} to {:.0f} %) can neither be confirmed nor ruled out", size_text(cells_[place_[s.left]].blocks),
                                    size_text(cells_[place_[s.right]].blocks), 100 * loss, 100 * low, 100 * high);
        if (!why.empty()) result.reason += ": " + why;
    } else {
        result.verdict = Verdict::clean;
        result.reason = fmt::format("no size from {} to {} loses {:.0f} % or more to the one before it", size_text(cells_[place_.front()].blocks), size_text(cells_[place_.back()].blocks), 100 * options_.threshold);
    }
    if (incidents_.resets + incidents_.parameter_changes + incidents_.attentions > 0)
        notes_.push_back(fmt::format("unit attentions spoiled samples, which were redone: {} resets, {} changed parameters, {} others", incidents_.resets, incidents_.parameter_changes, incidents_.attentions));
    if (incidents_.errors > 0)
        notes_.push_back(fmt::format("{} commands failed ({} time-outs, {} cut short, {} recovered by the drive)", incidents_.errors, incidents_.timeouts, incidents_.short_transfers, incidents_.recovered));
    if (incidents_.flow_control > 0) notes_.push_back(fmt::format("the drive answered BUSY or TASK SET FULL {} times", incidents_.flow_control));
    if (incidents_.hidden_retries > 0) notes_.push_back(fmt::format("the kernel sent {} commands again without a word", incidents_.hidden_retries));
    if (incidents_.foreign > 0) notes_.push_back(fmt::format("others sent {} commands to the drive meanwhile", incidents_.foreign));
    for (std::string& n : subject_.notes) result.notes.push_back(std::move(n));
    for (std::string& n : notes_) result.notes.push_back(std::move(n));
    result.elapsed_s = static_cast<double>((host_.now() - began_).count()) / 1e9;
    if (host_.is_virtual()) result.virtual_time_s = result.elapsed_s;
    result.bytes_transferred = bytes_moved_;
    result.commands = commands_;
    std::vector<std::int64_t> sizes;
    for (const Cell& c : cells_) sizes.push_back(static_cast<std::int64_t>(bytes(c.blocks)));
    result.parameters = {
        {"sizes", sizes}, {"start", static_cast<std::int64_t>(options_.start.value_or(0))}, {"budget_s", static_cast<double>(options_.budget.count()) / 1e9},
        {"threshold", options_.threshold}, {"rounds", static_cast<std::int64_t>(rounds_)}, {"warm_up", static_cast<std::int64_t>(warm_up_)},
        {"seed", static_cast<std::int64_t>(options_.seed)},
    };
    if (options_.opcode) result.parameters.push_back({"opcode", std::string(scsi::name(*options_.opcode))});
}

}
