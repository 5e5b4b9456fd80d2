// One timed run of commands against one drive, any number of them outstanding.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "sgprobe/transport/drive.h"

namespace sgprobe::measure {

struct Place { Lba lba = 0; Blocks blocks = 0; scsi::RwOpcode opcode = scsi::RwOpcode::read10; };

struct StreamPlan {
    std::size_t commands = 0;
    unsigned depth = 1;
    Bytes block_bytes = 512;
    std::function<Place(std::size_t index)> place;
    BufferKind buffer = BufferKind::indirect;   // another kind where the system carries no longer transfers without
};

// What spoiled samples or slowed commands, counted.
struct Incidents {
    std::uint64_t errors = 0, timeouts = 0, short_transfers = 0, recovered = 0;   // errors: all that failed
    std::uint64_t resets = 0, parameter_changes = 0, attentions = 0;              // unit attentions, by kind
    std::uint64_t flow_control = 0;                                               // visible BUSY and TASK SET FULL
    std::uint64_t hidden_retries = 0, foreign = 0;                                // from the kernel's counters
    Incidents& operator+=(const Incidents&);
};

struct StreamRun {
    // spoiled: by something that may not happen again (unit attention, an error, a reset). refused: such a command never works.
    enum class End : std::uint8_t { complete, spoiled, refused, timed_out, gone, interrupted };
    End end = End::complete;
    std::string why;                        // in words, for all but complete
    int exit_status = 0;                    // that the failure calls for
    std::size_t command = 0;                // which one it was
    Nanoseconds started{0}, ended{0};
    std::vector<float> gap_us;              // from one completion to the next, in their order; of the first from its submission
    std::vector<float> latency_us;          // of the same commands
    std::vector<bool> held;                 // flow control held commands back while this gap ran
    Incidents incidents;
    double depth_reached = 0;               // mean number outstanding
    std::uint64_t reordered = 0;            // commands that completed after one sent later
    std::uint64_t commands = 0;             // sent
    Bytes bytes = 0;                        // moved
};

StreamRun run_stream(Host&, Drive&, const StreamPlan&);

}
