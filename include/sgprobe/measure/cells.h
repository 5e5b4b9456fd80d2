// The cells of a sweep and what was timed in them; from raw command times to one robust time a cell.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "sgprobe/measure/result.h"
#include "sgprobe/measure/statistics.h"
#include "sgprobe/measure/stream.h"

namespace sgprobe::measure {

struct TimedSample {
    std::size_t round = 0, order = 0;         // order: how many samples were taken before it, of any cell
    std::vector<float> gap_us, latency_us;    // from the first command on; warm-up is left out by whoever looks
    std::vector<bool> held;                   // gaps that hold flow control: not the drive's speed
};

struct Cell {
    Blocks blocks = 0;
    std::size_t counted = 3;                  // commands of a sample past its warm-up
    std::vector<TimedSample> samples;
    Incidents incidents;
    std::uint64_t redone = 0, timeouts = 0;
    bool usable = true;
    std::string note;                         // why it is not, or what is odd about it
};

struct CellTimes {
    RoundFit fit;                             // of the logarithm of the mean time of a command
    std::vector<double> time_us, error_us;    // by cell; 0 where nothing is known
    // Standard error for an interval to be printed, relative: from the scatter of the cell and its neighbours, as small cells
    // scatter less than large ones. `error_us`, for decisions, pools all of them.
    std::vector<double> relative_error;
};

// Commands three times slower than their cell's middle are noise where they are rare (a retry, another's command), and part of
// what the drive does where a cell, or it and all larger ones, show more of them than the smaller ones. What takes no more than
// `media_us` longer is none of them: the media's own pauses (the switch to the next track or cylinder) come once in so many
// blocks, so that they look rare among small commands and not among large ones.
CellTimes time_cells(const std::vector<Cell>&, std::size_t warm_up, double media_us, double prior_sigma = 0);

// How far a cell's slow commands count: up to three times the middle, so that rare ones weigh the same everywhere, and nothing
// jumps where a size crosses that line; not at all (0) where they are slower still. `own`: the slow ones are the drive's doing, and
// count up to three times their own middle.
class SlowFilter {
public:
    SlowFilter(const std::vector<double>& times_us, bool own, double media_us);
    double operator()(double time_us) const { return time_us > 2.7 * greatest_ ? 0 : std::min(time_us, greatest_); }
private:
    double greatest_;
};
std::size_t slow_count(const std::vector<double>& times_us, double media_us);    // how many are slow

// How many commands after a jump are slower than those that follow, judged over all samples. At least 1.
std::size_t find_warm_up(const std::vector<std::vector<float>>& runs_us);

SampleResult summarise(const Cell&, std::size_t warm_up, Bytes block_bytes, double time_us, double relative_error, const std::string& pattern);

}
