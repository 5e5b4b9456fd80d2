// `sgprobe depth`: rate and latency against queue depth, the cliff along it, and what queueing gains.
//
// Flow control is no slow drive: where the drive answers TASK SET FULL (seen, or hidden by the kernel and found in its counters),
// the result says how many commands it accepts, and a loss that begins there is no cliff.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sgprobe/measure/progress.h"
#include "sgprobe/measure/result.h"
#include "sgprobe/transport/drive.h"

namespace sgprobe::measure {

struct DepthOptions {
    std::vector<unsigned> depths;           // empty: 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, or to the drive's depth
    std::vector<std::string> patterns{"seq-read", "rand-read"};
    Bytes sequential_bytes = 64 * 1024, random_bytes = 4096;
    std::optional<Lba> start;
    Nanoseconds budget = std::chrono::seconds(60);   // of drive time
    double threshold = 0.10;
    unsigned rounds = 0;                    // 0: adaptive
    std::uint64_t seed = 1;
    // Sets the kernel's queue_depth, false where it will not. Given where depth 1 turns queueing off altogether (libata: "NCQ off"),
    // which is then a cell of its own.
    std::function<bool(unsigned)> kernel_queue_depth;
    std::vector<Parameter> also;            // further parameters of the result: "with", ...
};

// Throws Failure as measure_size() does.
Result measure_depth(Host&, Drive&, const DepthOptions&, const Progress&);

}
