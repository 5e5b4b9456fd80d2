#include "sgprobe/measure/matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "sgprobe/measure/cells.h"
#include "sgprobe/measure/subject.h"
#include "sgprobe/transport/escape.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::measure {
namespace {

struct MatrixCell {
    std::string pattern;
    Blocks block = 0, command = 0;           // a block is sent as commands of that length
    unsigned depth = 1;                      // in blocks
    Cell cell;
    double reached = 0;
    std::size_t split() const { return static_cast<std::size_t>(block / command); }
};

class MatrixRun {
public:
    MatrixRun(Host& host, Drive& drive, const MatrixOptions& options, const Progress& progress)
        : host_(host), drive_(drive), options_(options), progress_(progress), random_(options.seed) {}
    Result run();

private:
    void choose_cells();
    bool sample(MatrixCell&, std::size_t round);
    Result result() const;
    Bytes block_bytes() const { return subject_.identity.block_bytes; }

    Host& host_;
    Drive& drive_;
    const MatrixOptions& options_;
    const Progress& progress_;
    std::mt19937_64 random_;
    Subject subject_;
    std::optional<Addresses> addresses_;
    std::vector<Extent> media_;
    std::vector<MatrixCell> cells_;
    Nanoseconds began_{0};
    std::size_t rounds_ = 0, order_ = 0;
    std::uint64_t commands_ = 0;
    Bytes bytes_ = 0;
    std::string stop_;
    bool interrupted_ = false;
    int exit_status_ = 0;
};

void MatrixRun::choose_cells() {
    Blocks greatest = scsi::greatest_transfer(scsi::RwOpcode::read10);
    if (drive_.limits().max_transfer_bytes > 0) greatest = std::min<Blocks>(greatest, drive_.limits().max_transfer_bytes / block_bytes());
    if (subject_.limits.max_transfer) greatest = std::min(greatest, *subject_.limits.max_transfer);
    if (options_.max_command_bytes > 0) greatest = std::min<Blocks>(greatest, options_.max_command_bytes / block_bytes());
    if (greatest == 0) throw Failure(ExitStatus::syntax, escaped(drive_.name()) + ": a command must hold one block at least");
    std::vector<Bytes> sizes = options_.blocks_bytes;
    if (sizes.empty()) sizes = {4096, 8192, 16384, 32768, 131072, 1048576};
    std::vector<unsigned> depths = options_.depths;
    if (depths.empty()) depths = {1, 4, 32};
    for (unsigned& d : depths) d = std::clamp(d, 1u, std::max(drive_.limits().depth, 1u));
    std::sort(depths.begin(), depths.end());
    depths.erase(std::unique(depths.begin(), depths.end()), depths.end());
    for (const Bytes size : sizes) {
        if (size == 0 || size % block_bytes() != 0)
            throw Failure(ExitStatus::syntax, fmt::format("{}: {} bytes are no multiple of the drive's block of {} bytes", escaped(drive_.name()), size, block_bytes()));
        for (const unsigned depth : depths) {
            for (const std::string& pattern : options_.patterns) {
                MatrixCell c;
                c.pattern = pattern;
                c.block = size / block_bytes();
                c.depth = depth;
                // Commands of one length: the largest that divides the block and is allowed.
                for (Blocks parts = (c.block + greatest - 1) / greatest; c.command == 0; ++parts)
                    if (c.block % parts == 0) c.command = c.block / parts;
                c.cell.blocks = c.command;
                // A random read costs the same whatever its size; sequential ones of small blocks cost next to nothing.
                c.cell.counted = (pattern == "rand-read" ? std::max<std::size_t>(16, 2 * std::size_t{depth})
                                                         : std::max<std::size_t>({8, (1u << 20) / size, 4 * std::size_t{depth}})) * c.split();
                cells_.push_back(std::move(c));
            }
        }
    }
}

bool MatrixRun::sample(MatrixCell& c, std::size_t round) {
    const bool random = c.pattern == "rand-read";
    const std::size_t warm_up = std::max<std::size_t>(2, c.depth) * c.split();
    for (int attempt = 0; attempt < 4; ++attempt) {
        if (host_.now() - began_ >= options_.budget) { stop_ = "the budget of drive time was spent"; return false; }
        StreamPlan plan;
        plan.commands = warm_up + c.cell.counted;
        plan.depth = static_cast<unsigned>(std::min<std::size_t>(c.depth * c.split(), std::max(drive_.limits().depth, 1u)));
        plan.block_bytes = block_bytes();
        RandomAddresses scattered(media_, c.block, subject_.alignment(), random_());
        std::optional<Lba> start = addresses_->take(random ? 0 : c.command * plan.commands);
        bool exhausted = !start;
        Lba at = start.value_or(0);
        plan.place = [&](std::size_t i) {
            if (random && i % c.split() == 0) {
                const auto next = scattered.take();
                exhausted = exhausted || !next;
                at = next.value_or(at);
            }
            const Place place{at, c.command, at + c.command <= scsi::greatest_lba(scsi::RwOpcode::read10) ? scsi::RwOpcode::read10 : scsi::RwOpcode::read16};
            at += c.command;
            return place;
        };
        if (exhausted) { stop_ = "no media is left that has not been read in this run"; return false; }
        StreamRun run = run_stream(host_, drive_, plan);
        commands_ += run.commands;
        bytes_ += run.bytes;
        c.cell.incidents += run.incidents;
        if (run.end == StreamRun::End::complete && !exhausted) {
            c.cell.samples.push_back({round, order_++, std::move(run.gap_us), std::move(run.latency_us), std::move(run.held)});
            c.reached = std::max(c.reached, run.depth_reached);
            return true;
        }
        if (run.end == StreamRun::End::interrupted) { stop_ = "interrupted"; interrupted_ = true; return false; }
        if (run.end == StreamRun::End::gone || run.end == StreamRun::End::timed_out) { stop_ = run.why; exit_status_ = run.exit_status; return false; }
        ++c.cell.redone;
        c.cell.note = exhausted ? "the media is too small" : run.why;
        if (run.end == StreamRun::End::refused || exhausted) break;
    }
    c.cell.usable = false;
    return true;
}

Result MatrixRun::run() {
    subject_ = identify(host_, drive_);
    began_ = host_.now();
    const Lba start = options_.start.value_or(0);
    if (start >= subject_.identity.blocks)
        throw Failure(ExitStatus::syntax, fmt::format("{}: --start {} is past the end of the drive, which has {} blocks", escaped(drive_.name()), start, subject_.identity.blocks));
    for (const Extent& e : subject_.media)
        if (const Lba first = std::max(e.first, start), end = e.first + e.count; first < end) media_.push_back({first, end - first});
    if (media_.empty()) throw Failure(ExitStatus::illegal_request, fmt::format("{}: no block to read at or past {}", escaped(drive_.name()), start));
    addresses_.emplace(media_, block_bytes(), subject_.alignment());
    choose_cells();
    const std::size_t rounds = options_.rounds > 0 ? options_.rounds : 4;
    std::vector<std::size_t> order(cells_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    while (rounds_ < rounds && stop_.empty()) {
        std::shuffle(order.begin(), order.end(), random_);
        Blocks planned = 0;
        for (const MatrixCell& c : cells_)
            if (c.pattern == "seq-read") planned += c.command * (c.cell.counted + std::max<std::size_t>(2, c.depth) * c.split()) + addresses_->sample_gap();
        addresses_->begin_round(planned);
        for (const std::size_t i : order)
            if (cells_[i].cell.usable && !sample(cells_[i], rounds_)) break;
        if (!stop_.empty()) break;
        ++rounds_;
        const double done = static_cast<double>(rounds_) / static_cast<double>(rounds);
        if (progress_) progress_(done, Nanoseconds(static_cast<std::int64_t>(static_cast<double>((host_.now() - began_).count()) * (1 - done) / done)), fmt::format("round {}", rounds_ + 1));
    }
    return result();
}

Result MatrixRun::result() const {
    Result r;
    r.probe = "matrix";
    r.device = subject_.identity;
    r.parameters = {{"rounds", static_cast<std::int64_t>(rounds_)}, {"max_command_bytes", static_cast<std::int64_t>(options_.max_command_bytes)},
                    {"start", static_cast<std::int64_t>(options_.start.value_or(0))}, {"budget_s", static_cast<double>(options_.budget.count()) / 1e9}};
    const bool time_alone = !interrupted_ && exit_status_ == 0 && rounds_ >= 2;    // then there were fewer rounds, and no less
    bool complete = stop_.empty() || time_alone;
    for (const MatrixCell& c : cells_) {
        const std::size_t warm_up = std::max<std::size_t>(2, c.depth) * c.split();
        // The mean of a sample is what a user sees: at depth, commands end in bunches, and single gaps mean nothing.
        std::vector<double> logs;
        for (const TimedSample& s : c.cell.samples) {
            double sum = 0, n = 0;
            for (std::size_t i = warm_up; i < s.gap_us.size(); ++i) {
                if (s.held[i]) continue;
                sum += s.gap_us[i];
                n += 1;
            }
            if (n > 0 && sum > 0) logs.push_back(std::log(sum / n));
        }
        const Location l = biweight(logs, 0.25);
        SampleResult s = summarise(c.cell, warm_up, block_bytes(), l.count > 0 ? std::exp(l.value) : 0, l.count > 1 ? l.error : 0.5, c.pattern);
        s.transfer_blocks = c.block;
        s.transfer_bytes = c.block * block_bytes();
        s.depth = c.depth;
        s.depth_reached = c.reached / static_cast<double>(c.split());
        complete = complete && l.count > 0;
        r.samples.push_back(std::move(s));
    }
    r.verdict = complete ? Verdict::clean : Verdict::inconclusive;
    r.reason = complete ? "every cell was measured; a matrix looks for no cliff" : stop_.empty() ? "some cells could not be measured" : stop_;
    r.interrupted = interrupted_;
    r.exit_status = exit_status_;
    r.commands = commands_;
    r.bytes_transferred = bytes_;
    r.elapsed_s = static_cast<double>((host_.now() - began_).count()) / 1e9;
    if (host_.is_virtual()) r.virtual_time_s = r.elapsed_s;

    // BlkSz Trd linRd rndRd: a row a block size and depth, as it has been posted for decades.
    ResultTable table{"rates in MB/s", {"BlkSz", "Trd"}, {}};
    for (const std::string& p : options_.patterns) table.columns.push_back(p == "seq-read" ? "linRd" : "rndRd");
    for (std::size_t i = 0; i < r.samples.size(); i += options_.patterns.size()) {
        std::vector<std::string> row{fmt::format("{}k", static_cast<double>(r.samples[i].transfer_bytes) / 1024), std::to_string(r.samples[i].depth)};
        for (std::size_t k = 0; k < options_.patterns.size(); ++k)
            row.push_back(r.samples[i + k].rate_mb_s.median > 0 ? fmt::format("{:.1f}", r.samples[i + k].rate_mb_s.median) : "-");
        table.rows.push_back(std::move(row));
    }
    r.tables.push_back(std::move(table));
    return r;
}

}

Result measure_matrix(Host& host, Drive& drive, const MatrixOptions& options, const Progress& progress) {
    if (options.patterns.empty()) throw Failure(ExitStatus::syntax, "no pattern is given");
    for (const std::string& p : options.patterns)
        if (p != "seq-read" && p != "rand-read") throw Failure(ExitStatus::syntax, escaped(p) + ": no pattern that can be measured: seq-read, rand-read");
    return MatrixRun(host, drive, options, progress).run();
}

}
