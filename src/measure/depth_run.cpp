#include "depth_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sgprobe/measure/run_clock.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::measure {

namespace {

constexpr std::size_t least_rounds = 4, most_rounds = 24, pieces = 3, most_redone = 40;
constexpr double sure = 3.5, sure_of_none = 3;   // standard errors

std::size_t warm_up_of(unsigned depth) { return depth + 2; }   // the queue fills, and the first prefetch is cold
// A prefetched stream completes in bunches of the queue's depth; random reads vary one by one, and their number is what counts.
std::size_t piece_of(const DepthSeries& s, unsigned depth) { return s.pattern == "rand-read" ? std::max(12u, depth / 2 + 4) : std::max(8u, 2 * depth); }

}

DepthRun::DepthRun(Host& host, Drive& drive, const DepthOptions& options, const Progress& progress)
    : host_(host), drive_(drive), options_(options), progress_(progress), random_(options.seed) {}

double DepthRun::material() const { return -std::log(1 - options_.threshold); }

void DepthRun::choose_depths() {
    unsigned greatest = drive_.limits().depth ? drive_.limits().depth : 1;
    depths_ = options_.depths;
    if (depths_.empty()) depths_ = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
    std::sort(depths_.begin(), depths_.end());
    depths_.erase(std::unique(depths_.begin(), depths_.end()), depths_.end());
    if (depths_.front() == 0 || depths_.back() > 256) throw Failure(ExitStatus::syntax, fmt::format("{}: a queue depth is from 1 to 256", drive_.name()));
    if (options_.depths.empty()) greatest = std::min(greatest, 32u);
    if (depths_.back() > greatest) {
        std::erase_if(depths_, [&](unsigned d) { return d > greatest; });
        if (depths_.empty() || depths_.back() != greatest) depths_.push_back(greatest);
        if (!options_.depths.empty()) notes_.push_back(fmt::format("the host carries no more than {} commands at once: deeper queues were left out", greatest));
    }
    for (const std::string& pattern : options_.patterns) {
        DepthSeries s;
        s.pattern = pattern;
        s.bytes = pattern == "rand-read" ? options_.random_bytes : options_.sequential_bytes;
        const Bytes block = subject_.identity.block_bytes;
        if (s.bytes % block != 0) {
            // 4 KiB and 64 KiB in blocks of 520 bytes are as many blocks as in those of 512.
            Bytes nominal = 1;
            while (nominal * 2 <= block) nominal *= 2;
            if (s.bytes % nominal != 0) throw Failure(ExitStatus::syntax, fmt::format("{}: a request of {} bytes is no multiple of the block of {}", drive_.name(), s.bytes, block));
            s.bytes = s.bytes / nominal * block;
        }
        s.blocks = std::max<Blocks>(1, s.bytes / block);
        s.bytes = s.blocks * block;
        for (const unsigned depth : depths_) {
            // Random reads cost a seek each: by default at powers of two alone. A loss between two of them is bisected all the same.
            if (pattern == "rand-read" && options_.depths.empty() && (depth & (depth - 1)) != 0 && depth != depths_.back()) continue;
            DepthCell cell;
            cell.depth = depth;
            cell.cell.blocks = s.blocks;
            if (depth == 1 && options_.kernel_queue_depth) {
                DepthCell off = cell;
                off.unqueued = true;
                off.cell.note = "NCQ off";
                s.cells.push_back(std::move(off));
            }
            s.cells.push_back(std::move(cell));
        }
        series_.push_back(std::move(s));
    }
}

// One sample of one cell; false where the run ends, and stop_ says why.
bool DepthRun::sample(DepthSeries& s, DepthCell& cell) {
    const std::size_t piece = piece_of(s, cell.depth), warm_up = warm_up_of(cell.depth), count = warm_up + pieces * piece;
    if (options_.kernel_queue_depth && !options_.kernel_queue_depth(cell.unqueued ? 1 : depths_.back())) {
        cell.cell.usable = false;
        cell.cell.note += ": the kernel does not change queue_depth";
        return true;
    }
    for (;;) {
        StreamPlan plan{.commands = count, .depth = cell.depth, .block_bytes = subject_.identity.block_bytes, .place = {}};
        std::vector<Lba> places(count);
        if (s.pattern == "rand-read") {
            const Blocks step = std::max(s.blocks, subject_.alignment());
            for (Lba& lba : places) {
                const Extent& e = subject_.media[std::uniform_int_distribution<std::size_t>(0, subject_.media.size() - 1)(random_)];
                lba = e.count < s.blocks ? e.first : e.first + std::uniform_int_distribution<std::uint64_t>(0, (e.count - s.blocks) / step)(random_) * step;
            }
        } else {
            const auto first = addresses_->take(count * s.blocks);
            if (!first) {
                stop_ = "no media is left that was not read before";
                return false;
            }
            for (std::size_t i = 0; i < count; ++i) places[i] = *first + i * s.blocks;
        }
        plan.place = [&](std::size_t i) {
            return Place{places[i], s.blocks, places[i] + s.blocks > scsi::greatest_lba(scsi::RwOpcode::read10) ? scsi::RwOpcode::read16 : scsi::RwOpcode::read10};
        };
        StreamRun run = run_stream(host_, drive_, plan);
        commands_ += run.commands;
        bytes_ += run.bytes;
        cell.commands += run.gap_us.size();
        cell.reordered += run.reordered;
        cell.cell.incidents += run.incidents;
        incidents_ += run.incidents;
        using End = StreamRun::End;
        if (run.end == End::complete) {
            std::vector<double> logs;
            for (std::size_t p = 0; p < pieces; ++p) {
                double sum = 0;
                for (std::size_t i = 0; i < piece; ++i) sum += run.gap_us[warm_up + p * piece + i];
                logs.push_back(std::log(std::max(1e-3, sum / static_cast<double>(piece))));
            }
            cell.logs.resize(s.rounds + 1);
            cell.logs[s.rounds] = std::move(logs);
            cell.reached += run.depth_reached;
            cell.cell.samples.push_back({s.rounds, cell.cell.samples.size(), std::move(run.gap_us), std::move(run.latency_us), std::move(run.held)});
            return true;
        }
        if (run.end == End::interrupted) interrupted_ = true;
        if (run.end == End::gone) gone_ = true;
        if (run.end != End::spoiled) {
            stop_ = run.why;
            exit_status_ = run.exit_status;
            return false;
        }
        ++cell.cell.redone;
        if (++redone_ > most_redone) {
            stop_ = fmt::format("{} samples were spoiled, the last by: {}", redone_, run.why);
            exit_status_ = run.exit_status;
            return false;
        }
    }
}

bool DepthRun::round(DepthSeries& s) {
    std::vector<std::size_t> order;
    Blocks planned = 0;
    for (std::size_t i = 0; i < s.cells.size(); ++i) {
        if (!s.cells[i].cell.usable) continue;
        order.push_back(i);
        planned += (warm_up_of(s.cells[i].depth) + pieces * piece_of(s, s.cells[i].depth)) * s.blocks;
    }
    if (s.pattern != "rand-read") addresses_->begin_round(planned);
    std::shuffle(order.begin(), order.end(), random_);
    for (const std::size_t i : order) {
        report(fmt::format("{} depth {}", s.pattern, s.cells[i].depth));
        if (!sample(s, s.cells[i])) return false;
        if (budget_spent() && s.rounds >= 2) return false;
    }
    ++s.rounds;
    return true;
}

void DepthRun::fit(DepthSeries& s) const {
    std::vector<Observation> all;
    for (std::size_t r = 0; r < s.rounds + 1; ++r)
        for (std::size_t i = 0; i < s.cells.size(); ++i)
            if (r < s.cells[i].logs.size())
                for (const double log : s.cells[i].logs[r]) all.push_back({i, r, log});
    const RoundFit fitted = fit_rounds(all, s.cells.size(), 0.15);
    for (std::size_t i = 0; i < s.cells.size(); ++i) {
        s.cells[i].value = fitted.cells[i].value;
        // Pieces of one sample share what befell it: they are worth fewer than they are.
        s.cells[i].error = fitted.cells[i].count ? std::hypot((s.pattern == "rand-read" ? 1 : 1.3) * fitted.cells[i].error, 0.003) : 0;
    }
}

// Wherever the depths are parted, those past it are together either no slower than the plateau before it, to what matters, or surely so.
bool DepthRun::decided(const DepthSeries& s) const {
    struct Mean {
        double sum = 0, weight = 0;
        void add(const DepthCell& c) { sum += c.value / (c.error * c.error), weight += 1 / (c.error * c.error); }
        double value() const { return sum / weight; }
        double variance() const { return 1 / weight; }
    };
    std::vector<const DepthCell*> cells;
    for (const DepthCell& c : s.cells)
        if (!c.unqueued && c.error > 0) cells.push_back(&c);
    for (std::size_t split = 1; split < cells.size(); ++split) {
        const DepthCell& best = **std::min_element(cells.begin(), cells.begin() + static_cast<std::ptrdiff_t>(split), [](auto* a, auto* b) { return a->value < b->value; });
        Mean before, after;
        for (std::size_t i = 0; i < cells.size(); ++i)
            if (i >= split) after.add(*cells[i]);
            else if (cells[i]->value <= best.value + 2 * std::hypot(best.error, cells[i]->error)) before.add(*cells[i]);
        const double loss = after.value() - before.value(), error = std::sqrt(before.variance() + after.variance());
        if (loss + sure_of_none * error > material() && loss - sure * error < material() / 2) return false;
    }
    return true;
}

std::size_t DepthRun::insert(DepthSeries& s, unsigned depth) {
    std::size_t at = 0;
    while (at < s.cells.size() && s.cells[at].depth < depth) ++at;
    DepthCell cell;
    cell.depth = depth;
    cell.cell.blocks = s.blocks;
    s.cells.insert(s.cells.begin() + static_cast<std::ptrdiff_t>(at), std::move(cell));
    return at;
}

// All deeper cells stay slower than the one before the loss.
bool DepthRun::lasts(const DepthSeries& s, std::size_t before) const {
    for (std::size_t i = before + 1; i < s.cells.size(); ++i)
        if (s.cells[i].error > 0 && s.cells[i].value - s.cells[before].value < material() / 2) return false;
    return true;
}

// Looks for losses along the depth, and halves each interval until it is one command wide.
void DepthRun::search(DepthSeries& s) {
    for (std::size_t i = 0; i + 1 < s.cells.size(); ++i) {
        if (s.cells[i].unqueued || s.cells[i].error <= 0 || s.cells[i + 1].error <= 0) continue;
        const auto loss = [&](std::size_t a, std::size_t b) { return s.cells[b].value - s.cells[a].value; };
        const auto error = [&](std::size_t a, std::size_t b) { return std::hypot(s.cells[a].error, s.cells[b].error); };
        if (loss(i, i + 1) < material() || loss(i, i + 1) < sure * error(i, i + 1) || !lasts(s, i)) continue;
        std::size_t low = i, high = i + 1;
        while (s.cells[high].depth - s.cells[low].depth > 1 && stop_.empty() && !budget_spent()) {
            const std::size_t middle = insert(s, (s.cells[low].depth + s.cells[high].depth) / 2);
            ++high;
            const double line = (s.cells[low].value + s.cells[high].value) / 2;
            for (std::size_t r = 0; r < 3 * least_rounds && !budget_spent(); ++r) {
                // Beside the ends of its interval, so that drift since the sweep cannot decide.
                for (const std::size_t c : {low, middle, high})
                    if (!sample(s, s.cells[c])) break;
                if (!stop_.empty()) break;
                ++s.rounds;
                fit(s);
                if (r + 1 >= least_rounds / 2 && std::abs(s.cells[middle].value - line) > sure * s.cells[middle].error) break;
            }
            if (s.cells[middle].error <= 0) break;
            (s.cells[middle].value < line ? low : high) = middle;
        }
        Cliff cliff;
        cliff.axis = "depth";
        cliff.pattern = s.pattern;
        cliff.last_good = s.cells[low].depth;
        cliff.first_bad = s.cells[high].depth;
        cliff.exact = cliff.first_bad == cliff.last_good + 1;
        cliff.before_mb_s = static_cast<double>(s.bytes) / std::exp(s.cells[low].value);
        cliff.after_mb_s = static_cast<double>(s.bytes) / std::exp(s.cells[high].value);
        cliff.drop = 1 - cliff.after_mb_s / cliff.before_mb_s;
        cliff.p_value = std::clamp(2 * normal_tail(loss(low, high) / error(low, high)) * static_cast<double>(s.cells.size()), 1e-15, 1.0);
        if (loss(low, high) < material() / 2) notes_.push_back(fmt::format("{}: the rate falls by degrees between depth {} and {}, at no one place", s.pattern, s.cells[i].depth, cliff.first_bad));
        else s.cliffs.push_back(std::move(cliff));
        i = high - 1;
    }
    // Flow control is no slow drive: a loss where the drive begins to turn commands away is what turning away costs.
    std::erase_if(s.cliffs, [&](const Cliff& c) {
        const bool flow = s.accepts && c.first_bad > *s.accepts;
        if (flow) notes_.push_back(fmt::format("{}: past depth {} commands are turned away and sent again, which costs {:.0f} %: flow control, not a slow drive", s.pattern, *s.accepts, 100 * c.drop));
        return flow;
    });
}

void DepthRun::report(const std::string& what) {
    if (!progress_) return;
    const Nanoseconds spent = host_.now() - began_;
    const double fraction = std::min(0.99, static_cast<double>(spent.count()) / static_cast<double>(std::max<std::int64_t>(1, options_.budget.count())));
    progress_(fraction, std::max(Nanoseconds{0}, options_.budget - spent), what);
}

void DepthRun::measure(DepthSeries& s) {
    const std::size_t most = options_.rounds ? options_.rounds : most_rounds;
    const Nanoseconds started = host_.now() - began_;
    while (s.rounds < most) {
        if (!round(s)) break;
        if (s.rounds < least_rounds) continue;
        fit(s);
        if (!options_.rounds && decided(s)) break;
        if (host_.now() - began_ > started + (share_ - started) * 8 / 10) break;   // the rest is for the search
    }
    fit(s);
    find_acceptance(s);
    if (s.rounds >= 2) search(s);
    find_gain(s);
    if (stop_.empty() && s.rounds < 2) s.in_doubt = "the budget was spent before two rounds were complete";
    else if (stop_.empty() && s.cliffs.empty() && !decided(s) && !s.accepts)
        s.in_doubt = budget_spent() ? "the budget was spent before every step was sure" : "the rates scatter too much for a sure answer";
}

Result DepthRun::run() {
    const RunClock clock(host_);
    Result result;
    result.probe = "depth";
    began_ = host_.now();
    subject_ = identify(host_, drive_);
    addresses_.emplace(subject_.media, subject_.identity.block_bytes, subject_.alignment());
    if (options_.start) {
        std::vector<Extent> media;
        for (const Extent& e : subject_.media)
            if (e.first + e.count > *options_.start) {
                const Lba first = std::max(e.first, *options_.start);
                media.push_back({first, e.first + e.count - first});
            }
        if (media.empty()) throw Failure(ExitStatus::illegal_request, fmt::format("{}: no block to read at or past {}", drive_.name(), *options_.start));
        subject_.media = media;
        addresses_.emplace(std::move(media), subject_.identity.block_bytes, subject_.alignment());
    }
    choose_depths();
    result.settings_before = caching_settings(host_, drive_);
    for (std::size_t i = 0; i < series_.size() && stop_.empty(); ++i) {
        // Each pattern has an equal share of what is left.
        const Nanoseconds left = options_.budget - (host_.now() - began_);
        share_ = (host_.now() - began_) + left / static_cast<std::int64_t>(series_.size() - i);
        measure(series_[i]);
    }
    finish(result);
    clock.stamp(result);
    return result;
}

Result measure_depth(Host& host, Drive& drive, const DepthOptions& options, const Progress& progress) {
    return DepthRun(host, drive, options, progress).run();
}

}
