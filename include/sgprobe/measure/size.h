// `sgprobe size`: rate against transfer length, and the cliff. DESIGN: measuring so that the answer is true.
#pragma once
#include "sgprobe/measure/progress.h"
#include "sgprobe/measure/result.h"
#include "sgprobe/scsi/cdb.h"
#include "sgprobe/transport/drive.h"

namespace sgprobe::measure {

struct SizeOptions {
    std::vector<Bytes> sizes_bytes;         // empty: 4, 8, 16, 32 KiB, then 64 KiB steps to 1 MiB or to the limit in force
    std::optional<scsi::RwOpcode> opcode;   // empty: READ(10), READ(16) where the address needs it
    std::optional<Lba> start;               // empty: the start of the disk
    Nanoseconds budget = std::chrono::seconds(60);   // of drive time
    Bytes most_bytes = 0;                   // to be read; 0: no bound
    double threshold = 0.10;                // a loss of less is no cliff
    unsigned rounds = 0;                    // 0: adaptive
    std::uint64_t seed = 1;
};

// Throws Failure where no measurement can begin (no medium, not a disk, a size that is no multiple of the block...).
// Errors met on the way are counted in the result; an interruption ends it early, with what was measured.
Result measure_size(Host&, Drive&, const SizeOptions&, const Progress&);

}
