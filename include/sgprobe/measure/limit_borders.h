#pragma once
#include <vector>

#include "sgprobe/measure/limit_probe.h"

namespace sgprobe::measure {

// For every border that lies within the disk and every opcode that can address it: does a read across it work? A failure is told
// from a medium error by reading each block on its own.
std::vector<AddressBorder> read_across_borders(LimitDrive&, const std::vector<const LimitOpcode*>&);

}
