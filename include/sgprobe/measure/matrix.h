// `sgprobe matrix`: rate by block size, depth and pattern, in the layout people know. It judges nothing: the figures are the answer.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sgprobe/measure/progress.h"
#include "sgprobe/measure/result.h"
#include "sgprobe/transport/drive.h"

namespace sgprobe::measure {

struct MatrixOptions {
    std::vector<Bytes> blocks_bytes;         // empty: 4, 8, 16, 32, 128 KiB, 1 MiB
    std::vector<unsigned> depths;            // empty: 1, 4, 32, or to the drive's depth
    std::vector<std::string> patterns{"seq-read", "rand-read"};
    Bytes max_command_bytes = 0;             // longer blocks are split into several commands, as a host would; 0: the limit in force
    std::optional<Lba> start;
    Nanoseconds budget = std::chrono::seconds(60);   // of drive time
    unsigned rounds = 0;                     // 0: four, or as many as the budget allows
    std::uint64_t seed = 1;
};

// Throws Failure as measure_size() does. Reads only.
Result measure_matrix(Host&, Drive&, const MatrixOptions&, const Progress&);

}
