// Closed loops of commands against one or several simulated drives on one host.
#pragma once
#include <functional>
#include <vector>

#include "harness.h"
#include "sgprobe/sim/random.h"

namespace sgprobe::sim::test {

struct Step { bool write = false; Lba lba = 0; Blocks blocks = 0; };
struct Moved {
    double read_mb_s = 0, write_mb_s = 0;
    std::uint64_t commands = 0, task_set_full = 0, errors = 0;
    double mean_latency_us = 0, worst_latency_us = 0;
};

// `threads` workers, each with one block outstanding, which is moved as `split` commands sent together, for `blocks` blocks in all.
Moved run(Bench&, unsigned threads, unsigned split, unsigned blocks, const std::function<Step(Random&)>& next);
// Two drives on one host, one command outstanding each: the rate of each.
std::vector<double> run_together(std::vector<Model>, bool write, Blocks n, double seconds);

std::function<Step(Random&)> sequential(bool write, Blocks n, Lba start = 0);
std::function<Step(Random&)> random_all_over(double write_share, Blocks n, Blocks capacity);

}
