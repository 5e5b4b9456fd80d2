#include "experiment_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sgprobe/measure/run_clock.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::measure {

namespace {

constexpr std::size_t warm_up = 3, least_blocks = 4, most_redone = 50;
constexpr Bytes sample_bytes = 4 * 1024 * 1024;

std::size_t commands_of(const MeasuredResponse& r) {
    if (r.spec.pattern == "rand-read") return warm_up + 16 * r.spec.depth;
    const std::size_t counted = static_cast<std::size_t>(sample_bytes / r.spec.size_bytes);
    return warm_up + std::clamp<std::size_t>(counted, 8, 64) + 4 * (r.spec.depth - 1);
}

scsi::RwOpcode opcode_for(Lba end) { return end > scsi::greatest_lba(scsi::RwOpcode::read10) ? scsi::RwOpcode::read16 : scsi::RwOpcode::read10; }

}

ExperimentRun::ExperimentRun(Host& host, Drive& drive, pages::Transaction& settings, const ExperimentOptions& options, const Progress& progress)
    : host_(host), drive_(drive), settings_(settings), options_(options), progress_(progress), random_(options.seed) {}

// One sample of one response under the treatment that is set. False: the run ends; stop_ says why.
bool ExperimentRun::sample(MeasuredResponse& response, std::size_t treatment) {
    const std::size_t count = commands_of(response);
    for (;;) {
        StreamPlan plan{.commands = count, .depth = response.spec.depth, .block_bytes = subject_.identity.block_bytes, .place = {}};
        Lba first = 0;
        std::vector<Lba> scattered;
        if (response.spec.pattern == "rand-read") {
            const Blocks step = std::max(response.blocks, subject_.alignment());
            for (std::size_t i = 0; i < count; ++i) {
                const Extent& e = subject_.media[std::uniform_int_distribution<std::size_t>(0, subject_.media.size() - 1)(random_)];
                scattered.push_back(e.first + std::uniform_int_distribution<std::uint64_t>(0, std::max<Blocks>(1, e.count / step) - 1)(random_) * step);
                if (scattered.back() + response.blocks > e.first + e.count) scattered.back() = e.first;
            }
            plan.place = [&](std::size_t i) { return Place{scattered[i], response.blocks, opcode_for(scattered[i] + response.blocks)}; };
        } else {
            const auto place = addresses_->take(count * response.blocks);
            if (!place) {
                stop_ = "no media is left that was not read before";
                return false;
            }
            first = *place;
            plan.place = [&](std::size_t i) { return Place{first + i * response.blocks, response.blocks, opcode_for(first + count * response.blocks)}; };
        }
        StreamRun run = run_stream(host_, drive_, plan);
        commands_ += run.commands;
        bytes_ += run.bytes;
        Cell& cell = response.cells[treatment];
        cell.incidents += run.incidents;
        using End = StreamRun::End;
        if (run.end == End::interrupted) {
            interrupted_ = true;
            stop_ = "interrupted";
            return false;
        }
        if (run.end == End::gone || run.end == End::refused || run.end == End::timed_out)
            throw Failure(static_cast<ExitStatus>(run.exit_status), fmt::format("{}: {} while measuring {} with {}", drive_.name(), run.why, response.name, out_.treatments[treatment].text));
        if (run.end == End::complete) {
            cell.samples.push_back({block_, order_++, std::move(run.gap_us), std::move(run.latency_us), std::move(run.held)});
            return true;
        }
        ++cell.redone;
        if (++redone_ > most_redone) {
            stop_ = fmt::format("{} samples were spoiled, the last by: {}", redone_, run.why);
            return false;
        }
        settings_.set(assignments(out_.treatments[treatment].levels));   // a reset may have taken the settings with it
    }
}

bool ExperimentRun::measure_treatment(std::size_t treatment) {
    for (int attempt = 0;; ++attempt) {
        settings_.set(assignments(out_.treatments[treatment].levels));
        std::vector<std::size_t> had;
        for (const MeasuredResponse& r : responses_) had.push_back(r.cells[treatment].samples.size());
        for (MeasuredResponse& r : responses_)
            if (!sample(r, treatment)) return false;
        const std::vector<std::string> drifted = settings_.drifted();
        if (drifted.empty()) return true;
        // Somebody else, or the drive itself, changed what was set: what was measured is of no treatment.
        for (std::size_t i = 0; i < responses_.size(); ++i) {
            responses_[i].cells[treatment].samples.resize(had[i]);
            ++responses_[i].cells[treatment].redone;
        }
        ++redone_;
        if (attempt == 3) {
            stop_ = fmt::format("the settings do not stay as they were set: {}", drifted.front());
            return false;
        }
    }
}

void ExperimentRun::estimate() {
    for (MeasuredResponse& r : responses_) {
        const CellTimes times = time_cells(r.cells, warm_up, 0);
        r.time_us = times.time_us;
        r.error.assign(r.cells.size(), 0);
        r.value.assign(r.cells.size(), 0);
        r.value_error.assign(r.cells.size(), 0);
        for (std::size_t t = 0; t < r.cells.size(); ++t) {
            if (times.time_us[t] > 0) r.error[t] = std::hypot(times.error_us[t] / times.time_us[t], 0.001);
            std::vector<double> latencies, flow;
            for (const TimedSample& s : r.cells[t].samples)
                for (std::size_t i = std::min(warm_up, s.latency_us.size()); i < s.latency_us.size(); ++i) latencies.push_back(s.latency_us[i]);
            if (r.spec.what == Response::What::rate && times.time_us[t] > 0) {
                r.value[t] = -std::log(times.time_us[t]);
                r.value_error[t] = r.error[t];
            } else if (r.spec.what == Response::What::latency && !latencies.empty()) {
                // The percentile, and its error from the order statistics one binomial deviation to either side.
                const double p = r.spec.percentile / 100, n = static_cast<double>(latencies.size()), d = std::sqrt(p * (1 - p) / n);
                r.value[t] = std::log(std::max(1e-3, quantile(latencies, p)));
                const double high = quantile(latencies, std::min(1.0, p + d)), low = quantile(latencies, std::max(0.0, p - d));
                r.value_error[t] = std::max(0.01, (std::log(std::max(1e-3, high)) - std::log(std::max(1e-3, low))) / 2);
            } else if (r.spec.what == Response::What::retries) {
                std::size_t sent = 0;
                for (const TimedSample& s : r.cells[t].samples) sent += s.latency_us.size();
                const double n = std::max<double>(1, static_cast<double>(sent)), count = static_cast<double>(r.cells[t].incidents.flow_control + r.cells[t].incidents.hidden_retries);
                r.value[t] = count / n;
                r.value_error[t] = std::sqrt(count + 1) / n;
            }
        }
    }
}

// Every treatment's main response is known to an eighth of the threshold.
bool ExperimentRun::sure() const {
    const MeasuredResponse& main = responses_.front();
    if (main.spec.what == Response::What::retries) return block_ >= least_blocks + 2;
    const double wanted = options_.threshold / 8;
    return std::all_of(main.value_error.begin(), main.value_error.end(), [&](double e) { return e > 0 && e < wanted; });
}

void ExperimentRun::measure_blocks() {
    const std::size_t most = options_.replicates ? options_.replicates : 64;
    std::vector<std::size_t> order(out_.treatments.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (; block_ < most; ++block_) {
        Blocks planned = 0;
        for (const MeasuredResponse& r : responses_)
            if (r.spec.pattern != "rand-read") planned += commands_of(r) * r.blocks;
        addresses_->begin_round(planned * out_.treatments.size());
        std::shuffle(order.begin(), order.end(), random_);
        const Nanoseconds start = host_.now();
        for (std::size_t i = 0; i < order.size(); ++i) {
            if (progress_) {
                const double done = static_cast<double>(block_ * order.size() + i) / static_cast<double>(order.size() * std::max<std::size_t>(least_blocks, options_.replicates));
                const Nanoseconds left = std::max(Nanoseconds{0}, options_.budget - (host_.now() - began_));
                progress_(std::min(0.99, done), left, out_.treatments[order[i]].text);
            }
            if (!measure_treatment(order[i])) return;
            if (budget_spent() && block_ >= 2) {
                stop_ = fmt::format("the budget of {:.3g} s of drive time was spent", static_cast<double>(options_.budget.count()) / 1e9);
                return;
            }
        }
        if (block_ + 1 < least_blocks && !options_.replicates) continue;
        estimate();
        if (!options_.replicates && sure()) { ++block_; return; }
        if (!options_.replicates && host_.now() - began_ + (host_.now() - start) > options_.budget) {
            stop_ = fmt::format("the budget of {:.3g} s of drive time leaves no room for another block", static_cast<double>(options_.budget.count()) / 1e9);
            ++block_;
            return;
        }
    }
}

// Successive halving: each round looks once more at what is left and keeps the better half, so that most of the time goes to the
// best (Karnin, Koren and Somekh, ICML 2013; Jamieson and Talwalkar, AISTATS 2016). The base stays in as the comparison.
void ExperimentRun::measure_halving() {
    std::vector<std::size_t> left(out_.treatments.size());
    std::iota(left.begin(), left.end(), std::size_t{0});
    const std::size_t last = 4;
    while (true) {
        const std::size_t repeats = left.size() <= last ? least_blocks : 1;
        for (std::size_t repeat = 0; repeat < repeats; ++repeat, ++block_) {
            Blocks planned = 0;
            for (const MeasuredResponse& r : responses_)
                if (r.spec.pattern != "rand-read") planned += commands_of(r) * r.blocks;
            addresses_->begin_round(planned * left.size());
            std::shuffle(left.begin(), left.end(), random_);
            for (const std::size_t t : left) {
                if (progress_) progress_(std::min(0.99, 1 - static_cast<double>(left.size()) / static_cast<double>(out_.treatments.size() + 1)),
                                         std::max(Nanoseconds{0}, options_.budget - (host_.now() - began_)), out_.treatments[t].text);
                if (!measure_treatment(t)) return;
                if (budget_spent()) {
                    stop_ = fmt::format("the budget of {:.3g} s of drive time was spent with {} combinations left", static_cast<double>(options_.budget.count()) / 1e9, left.size());
                    return;
                }
            }
        }
        if (left.size() <= last) return;
        estimate();
        const MeasuredResponse& main = responses_.front();
        const double sign = main.spec.what == Response::What::rate ? 1 : -1;
        std::sort(left.begin(), left.end(), [&](std::size_t a, std::size_t b) { return a == 0 || (b != 0 && sign * main.value[a] > sign * main.value[b]); });
        left.resize(std::max(last, (left.size() + 1) / 2));
    }
}

ExperimentResult ExperimentRun::run() {
    const RunClock clock(host_);
    began_ = host_.now();
    subject_ = identify(host_, drive_);
    addresses_.emplace(subject_.media, subject_.identity.block_bytes, subject_.alignment());
    out_.result.settings_before = caching_settings(host_, drive_);
    if (!options_.hold.empty()) {
        for (const pages::Change& change : settings_.set(options_.hold))
            if (!change.good()) throw Failure(ExitStatus::illegal_request, fmt::format("{}: it cannot be held fixed: {}", drive_.name(), pages::describe(change)));
    }
    resolve_levels();
    if (!factors_.empty()) {
        find_baseline();
        if (!interrupted_) {
            // Random order, and media past what the baseline has read: nothing of it is in a cache.
            choose_responses();
            make_treatments();
            for (MeasuredResponse& r : responses_) {
                r.cells.resize(out_.treatments.size());
                for (Cell& cell : r.cells) cell.blocks = r.blocks;
            }
            const Blocks read = baseline_.bytes_transferred / std::max<Bytes>(1, subject_.identity.block_bytes);
            for (Extent& e : subject_.media)
                if (const Blocks skip = std::min(e.count / 4, 2 * read); e.count > 0) {
                    e.first += skip - skip % subject_.alignment();
                    e.count -= skip - skip % subject_.alignment();
                    break;
                }
            addresses_.emplace(subject_.media, subject_.identity.block_bytes, subject_.alignment());
            halving_ ? measure_halving() : measure_blocks();
            estimate();
            find_effects();
            choose_best();
        }
    }
    say();
    finish();
    clock.stamp(out_.result);
    return std::move(out_);
}

ExperimentResult run_experiment(Host& host, Drive& drive, pages::Transaction& settings, const ExperimentOptions& options, const Progress& progress) {
    return ExperimentRun(host, drive, settings, options, progress).run();
}

}
