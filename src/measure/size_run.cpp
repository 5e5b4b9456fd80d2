#include "size_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "sgprobe/measure/transfer_limit.h"
#include "sgprobe/transport/escape.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::measure {
namespace {

constexpr std::size_t least_rounds = 4;
constexpr double sweep_share = 0.45;      // of the budget; the rest is for the search, where there is something to search for
constexpr Bytes kib = 1024, mib = 1024 * 1024;

double seconds(Nanoseconds t) { return static_cast<double>(t.count()) / 1e9; }

// 512 for blocks of 512 to 528 bytes, 4096 for 4096 to 4224: what "4 KiB" means in such blocks.
Bytes nominal(Bytes block_bytes) {
    Bytes n = 1;
    while (n * 2 <= block_bytes) n *= 2;
    return n;
}

}

SizeRun::SizeRun(Host& host, Drive& drive, const SizeOptions& options, const Progress& progress)
    : host_(host), drive_(drive), options_(options), progress_(progress), random_(options.seed) {}

void SizeRun::choose_sizes() {
    const Bytes block = subject_.identity.block_bytes;
    const scsi::RwOpcode opcode = options_.opcode.value_or(scsi::RwOpcode::read16);
    greatest_ = scsi::greatest_transfer(opcode);
    std::string whose = options_.opcode ? std::string(scsi::name(opcode)) : "the address field";
    const auto limit = [&](Blocks blocks, const std::string& who) {
        if (blocks < greatest_) { greatest_ = blocks; whose = who; }
    };
    if (drive_.limits().max_transfer_bytes > 0) limit(drive_.limits().max_transfer_bytes / block, "the host");
    if (subject_.limits.max_transfer) limit(*subject_.limits.max_transfer, "the drive (VPD B0h)");
    limit(subject_.identity.blocks, "the capacity");

    std::vector<Blocks> sizes;
    if (options_.sizes_bytes.empty()) {
        const Bytes unit = nominal(block);
        std::vector<Bytes> plan{4 * kib, 8 * kib, 16 * kib, 32 * kib};
        for (Bytes b = 64 * kib; b <= mib; b += 64 * kib) plan.push_back(b);
        for (const Bytes b : plan) {
            const Blocks n = std::max<Blocks>(b / unit, 1);
            if (n <= greatest_) sizes.push_back(n);
        }
        if (greatest_ > 0 && greatest_ * unit < mib) sizes.push_back(greatest_);
    } else {
        for (const Bytes b : options_.sizes_bytes) {
            if (b == 0 || b % block != 0)
                throw Failure(ExitStatus::syntax, fmt::format("{}: a transfer of {} bytes is no multiple of the block of {} bytes: give sizes in whole blocks", escaped(drive_.name()), b, block));
            if (b / block > greatest_)
                throw Failure(ExitStatus::syntax, fmt::format("{}: a transfer of {} bytes is past the limit of {} bytes that {} sets", escaped(drive_.name()), b, greatest_ * block, whose));
            sizes.push_back(b / block);
        }
    }
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    if (sizes.empty()) throw Failure(ExitStatus::illegal_request, fmt::format("{}: no transfer can be measured: {} allows {} blocks", escaped(drive_.name()), whose, greatest_));
    for (const Blocks n : sizes) {
        Cell cell;
        cell.blocks = n;
        cells_.push_back(cell);
    }
}

// What a real system says that it carries is not what it carries: asked before the sweep, with the longest transfer of it.
void SizeRun::heed_host() {
    if (host_.is_virtual() || cells_.empty()) return;
    const Bytes block = subject_.identity.block_bytes;
    const TransferLimit limit = find_transfer_limit(host_, drive_, options_.start.value_or(0), cells_.back().blocks, block);
    buffer_ = limit.buffer;
    if (!limit.note.empty()) notes_.push_back(limit.note);
    if (limit.blocks == 0 || limit.blocks >= cells_.back().blocks) return;
    std::erase_if(cells_, [&](const Cell& cell) { return cell.blocks > limit.blocks; });
    if (cells_.empty() || cells_.back().blocks < limit.blocks) {
        Cell cell;
        cell.blocks = limit.blocks;
        cells_.push_back(cell);
    }
    greatest_ = limit.blocks;
}

StreamRun SizeRun::stream(Blocks blocks, std::size_t commands) {
    const auto start = addresses_->take(blocks * commands);
    if (!start) {
        stop_ = Stop::media;
        stop_why_ = "no media is left that has not been read in this run";
        StreamRun none;
        none.end = StreamRun::End::interrupted;
        return none;
    }
    const scsi::RwOpcode opcode = options_.opcode ? *options_.opcode
        : *start + blocks * commands <= scsi::greatest_lba(scsi::RwOpcode::read10) && blocks <= scsi::greatest_transfer(scsi::RwOpcode::read10)
        ? scsi::RwOpcode::read10 : scsi::RwOpcode::read16;
    StreamPlan plan;
    plan.commands = commands;
    plan.block_bytes = subject_.identity.block_bytes;
    plan.buffer = buffer_;
    plan.place = [&](std::size_t i) { return Place{*start + i * blocks, blocks, opcode}; };
    StreamRun run = run_stream(host_, drive_, plan);
    incidents_ += run.incidents;
    commands_ += run.commands;
    bytes_moved_ += run.bytes;
    if (run.end == StreamRun::End::interrupted) { stop_ = Stop::interrupted; stop_why_ = "interrupted"; }
    if (run.end == StreamRun::End::gone) { stop_ = Stop::gone; stop_why_ = run.why; stop_status_ = run.exit_status; }
    return run;
}

bool SizeRun::take_sample(Cell& cell, std::size_t round, std::size_t warm_up) {
    constexpr int attempts = 5;
    std::string why;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        if (time_is_up(allowed_)) { stop_ = Stop::budget; return false; }
        StreamRun run = stream(cell.blocks, warm_up + cell.counted);
        if (stop_ != Stop::none) return false;
        cell.incidents += run.incidents;
        if (run.end == StreamRun::End::complete) {
            TimedSample sample;
            sample.round = round;
            sample.order = order_++;
            sample.gap_us = std::move(run.gap_us);
            sample.latency_us = std::move(run.latency_us);
            sample.held = std::move(run.held);
            cell.samples.push_back(std::move(sample));
            return true;
        }
        why = run.why;
        stop_status_ = run.exit_status;
        ++cell.redone;
        if (run.end == StreamRun::End::refused) break;
        // Waiting for a command that never came is no measuring. Four such end the run, so this has a bound.
        if (run.end == StreamRun::End::timed_out) excused_ += run.ended - run.started;
        if (run.end == StreamRun::End::timed_out && (++cell.timeouts >= 2 || ++timeouts_ >= 4)) break;
    }
    cell.usable = false;
    cell.note = why;
    if (timeouts_ >= 4) {
        stop_ = Stop::trouble;
        stop_why_ = "commands kept timing out: " + why;
        return false;
    }
    return true;
}

std::size_t SizeRun::counted_for(Blocks blocks) const {
    const Bytes wanted = (counted_bytes_ + bytes(blocks) - 1) / std::max<Bytes>(bytes(blocks), 1);
    return std::clamp<std::size_t>(wanted, least_counted_, 192);
}

// A sample that is not sure yet is better long enough to be worth its seek.
std::size_t SizeRun::worthwhile_count(Blocks blocks) const {
    if (about_mb_s_ <= 0) return 1;
    const double command_us = std::max(static_cast<double>(bytes(blocks)) / about_mb_s_, 20.0);
    const std::size_t most = sample_sigma_ < 0.03 ? std::max<std::size_t>(mib / bytes(blocks), 3) : 48;
    return std::clamp<std::size_t>(static_cast<std::size_t>(2 * jump_us_ / command_us), 1, std::min<std::size_t>(most, 48));
}

// Times a few longer runs: how fast is it about, and how many commands after a jump are not yet at full speed?
void SizeRun::pilot() {
    const double budget_s = seconds(options_.budget);
    std::vector<std::vector<float>> runs;
    std::vector<double> jumps;
    double rate_mb_s = 0;
    for (const Bytes wanted : {16 * kib, 64 * kib, 64 * kib, 64 * kib, 16 * kib, 512 * kib, 512 * kib}) {
        const Cell* nearest = &cells_.front();
        for (const Cell& c : cells_) if (bytes(c.blocks) <= wanted) nearest = &c;
        std::size_t commands = wanted >= 512 * kib ? 6 : wanted == 64 * kib ? 24 : 16;
        if (rate_mb_s > 0) {
            const double affordable = rate_mb_s * 1e6 * budget_s * 0.01 / static_cast<double>(bytes(nearest->blocks));
            commands = std::min(commands, static_cast<std::size_t>(std::max(affordable, 0.0)));
        }
        const Blocks affordable = addresses_->left() / 64 / nearest->blocks;
        commands = std::min<std::size_t>(commands, affordable);
        if (commands < 4) continue;
        addresses_->begin_round(nearest->blocks * commands);
        const StreamRun run = stream(nearest->blocks, commands);
        if (stop_ != Stop::none) return;
        if (run.end == StreamRun::End::complete) {
            runs.push_back(run.gap_us);
            const std::size_t half = run.gap_us.size() / 2;
            const double late = median({run.gap_us.begin() + static_cast<std::ptrdiff_t>(half), run.gap_us.end()});
            double jump = 0;
            for (std::size_t i = 0; i < half; ++i) jump += std::max(run.gap_us[i] - late, 0.0);
            jumps.push_back(jump);
            rate_mb_s = std::max(rate_mb_s, static_cast<double>(bytes(nearest->blocks)) / late);
        } else if (run.end == StreamRun::End::timed_out) {
            ++timeouts_;
        }
    }
    warm_up_ = find_warm_up(runs);
    jump_us_ = median(jumps);
    about_mb_s_ = rate_mb_s;
    plan_counts(rate_mb_s);
}

void SizeRun::plan_counts(double rate_mb_s) {
    const auto round_bytes = [&] {
        Bytes sum = 0;
        for (const Cell& c : cells_) sum += bytes(c.blocks) * (counted_for(c.blocks) + warm_up_);
        return sum;
    };
    // Where the time or the media would not last for enough rounds, samples are cut short before rounds are.
    const double rounds = options_.rounds > 0 ? options_.rounds : 2.0 * static_cast<double>(least_rounds);
    const auto too_much = [&] {
        const double bytes_all = static_cast<double>(round_bytes()) * rounds;
        return (rate_mb_s > 0 && bytes_all / (rate_mb_s * 1e6) > sweep_share * seconds(options_.budget)) ||
               bytes_all > 0.8 * static_cast<double>(bytes(addresses_->left()));
    };
    if (too_much()) { counted_bytes_ = 256 * kib; least_counted_ = 2; }
    if (too_much()) { counted_bytes_ = 64 * kib; least_counted_ = 1; }
    if (too_much() && options_.sizes_bytes.empty() && options_.rounds == 0) {
        // Then doubled sizes must do.
        std::erase_if(cells_, [&](const Cell& c) { return !std::has_single_bit(c.blocks) && c.blocks != cells_.back().blocks; });
        notes_.push_back("the drive is so slow that only doubled sizes were measured within the budget");
    }
    for (Cell& c : cells_) c.counted = counted_for(c.blocks);
}

bool SizeRun::time_is_up(double share) const {
    return read_all(share) || seconds(host_.now() - began_ - excused_) >= share * seconds(options_.budget);
}

void SizeRun::report_progress(double fraction, const std::string& what) {
    if (!progress_) return;
    const Nanoseconds spent = host_.now() - began_ - excused_;
    const double f = std::clamp(fraction, 0.02, 1.0);
    const Nanoseconds left(static_cast<std::int64_t>(static_cast<double>(spent.count()) * (1 - f) / f));
    progress_(f, std::min(left, std::max(options_.budget - spent, Nanoseconds(0))), what);
}

bool SizeRun::sweep_round(const std::vector<std::size_t>& chosen) {
    std::vector<std::size_t> order = chosen;
    std::shuffle(order.begin(), order.end(), random_);
    Blocks planned = 0;
    for (const std::size_t i : order) planned += cells_[i].blocks * (cells_[i].counted + warm_up_) + addresses_->sample_gap() + subject_.alignment();
    addresses_->begin_round(planned);
    for (const std::size_t i : order)
        if (cells_[i].usable && !take_sample(cells_[i], rounds_, warm_up_)) return false;
    ++rounds_;
    return true;
}

// The pilot was short: now all samples together say whether the first counted commands are slower than the last.
void SizeRun::settle_warm_up() {
    for (; warm_up_ < 24; ++warm_up_) {
        std::vector<double> excess;
        for (const Cell& c : cells_) {
            for (const TimedSample& s : c.samples) {
                if (s.gap_us.size() < warm_up_ + 2) continue;
                const std::vector<double> late(s.gap_us.begin() + static_cast<std::ptrdiff_t>(warm_up_ + (s.gap_us.size() - warm_up_) / 2), s.gap_us.end());
                excess.push_back(std::log(s.gap_us[warm_up_] / median(late)));
            }
        }
        const Location l = biweight(excess, 0.15);
        if (excess.size() < 8 || l.value < 0.02 || l.value < 3.5 * l.error) return;
    }
}

bool SizeRun::unquiet() const {
    std::size_t slow = 0, commands = 0;
    for (const Cell& c : cells_) {
        std::vector<double> times;
        for (const TimedSample& s : c.samples) times.insert(times.end(), s.gap_us.begin() + static_cast<std::ptrdiff_t>(std::min(warm_up_, s.gap_us.size())), s.gap_us.end());
        slow += slow_count(times, media_us());
        commands += times.size();
    }
    return times_.fit.outliers > 0.08 || slow * 100 > commands;
}

Curve SizeRun::analyse() {
    times_ = time_cells(cells_, warm_up_, media_us());
    sample_sigma_ = std::max(times_.fit.sigma_all, 0.002);
    std::vector<Point> points;
    place_.clear();
    for (std::size_t i = 0; i < cells_.size(); ++i) {
        if (!cells_[i].usable || times_.time_us[i] <= 0) continue;
        points.push_back({static_cast<double>(cells_[i].blocks), times_.time_us[i], times_.error_us[i]});
        place_.push_back(i);
    }
    return analyse_curve(points, options_.threshold);
}

std::vector<std::size_t> SizeRun::cells_in_doubt(const Curve& curve) const {
    std::vector<bool> wanted(place_.size(), false);
    for (const Step& s : curve.steps) {
        if (s.state != StepState::unsure) continue;
        const std::size_t first = s.left >= 3 ? s.left - 3 : 0, last = std::min(s.right + 3, place_.size() - 1);
        for (std::size_t i = first; i <= last; ++i) wanted[i] = true;
    }
    std::vector<std::size_t> cells;
    for (std::size_t i = 0; i < place_.size(); ++i) if (wanted[i]) cells.push_back(place_[i]);
    return cells;
}

void SizeRun::sweep() {
    const std::size_t rounds = options_.rounds > 0 ? options_.rounds : least_rounds;
    std::vector<std::size_t> all(cells_.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    while (rounds_ < rounds) {
        if (!sweep_round(all)) break;
        report_progress(0.6 * static_cast<double>(rounds_) / static_cast<double>(rounds), fmt::format("round {} of the sweep", rounds_ + 1));
    }
    settle_warm_up();
    curve_ = analyse();
    if ((sample_sigma_ > 0.03 || unquiet()) && counted_bytes_ > 256 * kib) {     // a noisy drive is worth longer samples
        least_counted_ = unquiet() ? 4 : 3;
        for (Cell& c : cells_) c.counted = std::max(c.counted, counted_for(c.blocks));
    }
    // Four rounds are enough of a quiet drive; a burst or a few retries can fool them on another.
    while (stop_ == Stop::none && options_.rounds == 0 && rounds_ < 2 * least_rounds && unquiet() && !time_is_up(sweep_share)) {
        if (!sweep_round(all)) break;
        curve_ = analyse();
    }
    while (stop_ == Stop::none && options_.rounds == 0) {
        const std::vector<std::size_t> doubtful = cells_in_doubt(curve_);
        if (doubtful.empty()) break;
        const bool suspects = std::any_of(curve_.steps.begin(), curve_.steps.end(), [](const Step& s) { return s.state == StepState::suspect; });
        if (time_is_up(suspects ? sweep_share : 0.9)) {
            stop_why_ = read_all() ? fmt::format("{:.0f} MB did not suffice", static_cast<double>(bytes_moved_) / 1e6)
                                   : fmt::format("{:.3g} s of drive time did not suffice", seconds(options_.budget));
            break;
        }
        for (const std::size_t i : doubtful) cells_[i].counted = std::max(cells_[i].counted, worthwhile_count(cells_[i].blocks));
        if (!sweep_round(doubtful)) break;
        report_progress(0.6, fmt::format("{} sizes in doubt", doubtful.size()));
        curve_ = analyse();
    }
    if (stop_ != Stop::none) curve_ = analyse();
}

Result SizeRun::run() {
    Result result;
    result.probe = "size";
    if (options_.opcode && scsi::ReadWrite{.opcode = *options_.opcode}.write())
        throw Failure(ExitStatus::contradiction, fmt::format("{}: this measurement only reads, and {} writes", escaped(drive_.name()), scsi::name(*options_.opcode)));
    subject_ = identify(host_, drive_);
    began_ = host_.now();
    result.settings_before = caching_settings(host_, drive_);
    choose_sizes();
    heed_host();
    std::vector<Extent> media;
    const Lba start = options_.start.value_or(0);
    if (start >= subject_.identity.blocks)
        throw Failure(ExitStatus::syntax, fmt::format("{}: --start {} is past the end of the drive, which has {} blocks", escaped(drive_.name()), start, subject_.identity.blocks));
    for (const Extent& e : subject_.media) {
        const Lba end = e.first + e.count;
        if (end > start) media.push_back({std::max(e.first, start), end - std::max(e.first, start)});
    }
    if (options_.opcode) {
        const Lba greatest = scsi::greatest_lba(*options_.opcode);
        for (Extent& e : media) e.count = e.first > greatest ? 0 : std::min<Blocks>(e.count, greatest - e.first + 1);
    }
    addresses_.emplace(media, subject_.identity.block_bytes, subject_.alignment());
    report_progress(0.02, "first look");
    pilot();
    if (stop_ == Stop::none) sweep();
    if (stop_ == Stop::none) look_closer();
    finish(result);
    return result;
}

Result measure_size(Host& host, Drive& drive, const SizeOptions& options, const Progress& progress) {
    return SizeRun(host, drive, options, progress).run();
}

}
