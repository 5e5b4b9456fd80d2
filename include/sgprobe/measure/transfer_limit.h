// The longest read that can be measured on this host, and which kind of buffer carries it: asked of the system, not believed.
#pragma once
#include <string>

#include "sgprobe/transport/drive.h"

namespace sgprobe::measure {

struct TransferLimit {
    Blocks blocks = 0;                               // 0: the drive did not answer as it should; nothing is known
    BufferKind buffer = BufferKind::indirect;
    std::string note;                                // where the host stands in the way, or another buffer was needed; else empty
};

// Looks no further than `wanted` blocks. Only refusals by the system count: what the drive itself does to long reads is for the
// measurement to find.
TransferLimit find_transfer_limit(Host&, Drive&, Lba, Blocks wanted, Bytes block_bytes);

}
