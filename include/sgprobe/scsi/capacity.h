// READ CAPACITY(10) and (16), SBC-4 5.20 and 5.21.
#pragma once
#include <optional>

#include "sgprobe/scsi/parsed.h"
#include "sgprobe/scsi/types.h"

namespace sgprobe::scsi {

struct Capacity {
    std::optional<Blocks> blocks{};                 // last address + 1; empty where READ CAPACITY(16) must be asked
    std::optional<Bytes> block_bytes{};
    bool needs_16 = false;                        // READ CAPACITY(10) answered FFFFFFFFh
    // READ CAPACITY(16) alone:
    bool protection_enabled = false;
    std::uint8_t protection_type = 0;             // 1, 2, 3; 0 where protection is off
    unsigned physical_exponent = 0;               // 2^n logical blocks in a physical one
    std::optional<std::uint16_t> lowest_aligned{};
    bool lbpme = false, lbprz = false;
};
Parsed<Capacity> parse_capacity_10(ByteView);
Parsed<Capacity> parse_capacity_16(ByteView);
ByteVector build_capacity_10(const Capacity&);
ByteVector build_capacity_16(const Capacity&);

}
