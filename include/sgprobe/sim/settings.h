// The fields of the mode pages that a simulated drive obeys.
#pragma once
#include "sgprobe/scsi/types.h"

namespace sgprobe::sim {

struct Settings {
    bool read_cache = true, write_cache = false;       // RCD is 0, WCE is 1
    bool read_ahead = true, discontinuity = true;      // DRA is 0, DISC is 1
    bool abort_prefetch = false, multiply = false;     // ABPF, MF
    Blocks disable_length = 65535;                     // DPTL
    Blocks minimum = 0, maximum = 65535, ceiling = 65535;   // MIPF, MAPF, MAPFC
    unsigned segments = 0;                             // NCS; 0: the drive's own number
    bool operator==(const Settings&) const = default;
};

}
