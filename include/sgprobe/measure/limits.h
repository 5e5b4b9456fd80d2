// `sgprobe limits`: the largest transfer each opcode takes, what happens past it, and which layer says no.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sgprobe/measure/limit_search.h"
#include "sgprobe/measure/progress.h"
#include "sgprobe/measure/result.h"
#include "sgprobe/transport/drive.h"

namespace sgprobe::measure {

enum class LimitLayer : std::uint8_t { drive, host, transport, declared, cdb, capacity };

// What the system says of itself; empty where it does not say (and for drives in virtual time).
struct HostFacts {
    std::optional<std::uint64_t> max_hw_sectors_kb, max_sectors_kb, max_segments, max_segment_bytes;
    std::optional<std::uint64_t> sg_tablesize, scatter_element_bytes, reserved_bytes;
    Bytes page_bytes = 4096;
    Bytes max_transfer_bytes = 0;          // of the host in virtual time; 0: none
    std::string driver;
};

// How far one kind of buffer went through one node.
struct LimitPath {
    std::string node;                      // "sg", "block node", "bsg"
    BufferKind buffer = BufferKind::indirect;
    Blocks max_blocks_ok = 0;
    std::optional<Blocks> first_failing;
    std::string failure;                   // "EINVAL", ...; empty: all that was tried passed
    std::string limit;                     // the host's limit that stands there, with its arithmetic
};

struct OpcodeLimit {
    std::string opcode;                    // "READ(10)"
    SearchFinding found;
    LimitLayer layer = LimitLayer::drive;
    bool tried = true;
    bool content_checked = false;
    std::string host_limit;                // with LimitLayer::host: which one
    std::string what;                      // what came back past the limit: decoded sense, errno, where the data went wrong
    std::string detail;                    // one sentence
    std::vector<LimitPath> paths;          // where there is more than one way to the drive
};

// What is promised: by the drive in VPD page B0h, by the host.
struct DeclaredLimits {
    std::optional<Blocks> vpd_b0_max_blocks, vpd_b0_optimal_blocks, vpd_b0_granularity_blocks;
    std::optional<std::string> vpd_b0_note;                  // absent, a sentinel, an optimum that cannot be one
    std::optional<Blocks> host_max_blocks;
};

// A read across an address at which command sets change.
struct AddressBorder {
    Lba lba = 0;                           // the last address before the border
    std::string border;                    // "28-bit address", "32-bit address"
    std::string opcode, outcome;           // "READ(10)"; "passes", "fails: ..."
    bool passes = true;
    std::string told;                      // what the failure is: the border, or a medium error
};

struct LimitsFinding {
    DeviceIdentity device;
    std::vector<OpcodeLimit> opcodes;
    DeclaredLimits declared;
    HostFacts host;
    std::vector<AddressBorder> borders;
    std::vector<std::string> notes, advice;
    Lba start = 0;
    Blocks blocks = 0;
    Bytes block_bytes = 0;
    std::uint64_t commands = 0;
    Bytes bytes_transferred = 0;
    unsigned time_outs = 0, unit_attentions = 0;
    bool interrupted = false, budget_spent = false;
    std::optional<std::string> gone;       // why there is no drive any more
};

struct LimitsOptions {
    std::vector<std::string> opcodes;      // names; empty: every READ, and ATA's where the drive is ATA
    std::optional<Lba> start;              // where to read; empty: where the media holds something
    std::optional<unsigned> max_timeouts;  // empty: 12 in virtual time, 3 else
    std::optional<Nanoseconds> budget;     // empty: 30 min in virtual time, 5 min else; a command's timeout may come on top
    bool write = false;                    // WRITE too, within the range; what was there is put back
    Lba write_first = 0;
    Blocks write_blocks = 0;
    bool spare_last_blocks = false;        // known to crash when its last blocks are read in more than one-block commands
    bool borders = true;
    HostFacts host;
    std::string block_node, bsg_node;      // other ways to the same drive, where there are any
    std::uint64_t seed = 1;
    Progress progress;
};

// Throws Failure where nothing can be tried: no drive, no medium, not a disk. Everything else is in the finding.
LimitsFinding measure_limits(Host&, Drive&, const LimitsOptions&);

// The finding as a result: sections "limits" and "declared", tables, the sentence, the advice.
Result limits_result(const LimitsFinding&, const HostIdentity* host = nullptr);

std::string_view name(LimitLayer);         // as the JSON has it
std::string_view name(Failing);
std::string_view name(BufferKind);

}
