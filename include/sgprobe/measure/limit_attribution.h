// Which layer says no, and the sentence that says so. Pure.
#pragma once
#include <string>

#include "sgprobe/measure/limit_drive.h"

namespace sgprobe::measure {

// A length that the system refused, and the greatest that it took.
struct HostEdge {
    Bytes max_ok_bytes = 0, first_failing_bytes = 0;
    int os_errno = 0;
    BufferKind buffer = BufferKind::indirect;
};
struct HostCause {
    std::string limit;                     // "max_hw_sectors_kb"; empty: none that the system states stands there
    std::string arithmetic;                // "128 segments x 4,096 bytes a page = 524,288 bytes"
    std::string further;                   // how to go past it, where there is a way
};
HostCause host_cause(const HostEdge&, const HostFacts&);

// What the search found, with what is needed to name the layer.
struct LimitCase {
    std::string opcode;
    SearchFinding found;
    Blocks cdb_greatest = 0;               // that the CDB can ask for
    Blocks room = 0;                       // blocks from the start address to the end of the disk
    Blocks tried_up_to = 0;
    bool range_given = false;              // `room` is what the user gave to write on, not what the disk holds
    bool out_of_range = false;             // the drive said LOGICAL BLOCK ADDRESS OUT OF RANGE
    int os_errno = 0;
    std::string what;
    std::string why_stopped;               // with found.stopped
    BufferKind buffer = BufferKind::indirect;
};
struct LimitVerdict { LimitLayer layer; std::string host_limit, detail; };
LimitVerdict attribute(const LimitCase&, const LimitFacts&, const HostFacts&);

std::string grouped_number(std::uint64_t);             // "65,535"
std::string binary_bytes(Bytes);                       // "512 KiB"; "524,800 bytes" where it is no whole number of KiB

}
