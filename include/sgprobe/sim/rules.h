// Firmware rules: which of a drive's [[rule]] lines apply to a command, and what they do to it.
#pragma once
#include "sgprobe/sim/logical_unit.h"
#include "sgprobe/sim/model.h"
#include "sgprobe/sim/random.h"

namespace sgprobe::sim {

struct Effect {
    double extra_ns = 0;
    unsigned extra_turns = 0;
    bool no_prefetch = false, stop_prefetch = false, never = false, reset = false, gone = false;
    std::optional<std::uint32_t> attention;
};

class Rules {
public:
    explicit Rules(const Model&);
    void obey(const ModePages&);                  // settings have changed: which rules are in force now
    bool empty() const { return states_.empty(); }
    // Changes the reply (and the data) that the logical unit made of the command.
    Effect apply(const TargetCommand&, LogicalUnit::Reply&, unsigned depth, Random&);

private:
    struct State { const Rule* rule; bool in_force = true; std::uint64_t matched = 0; };
    bool matches(const Rule&, std::uint8_t opcode, const LogicalUnit::Reply&, unsigned depth, double time_s, bool sequential) const;
    void spoil(const Rule&, const TargetCommand&, const LogicalUnit::Reply&, Random&) const;

    const Model& model_;
    std::vector<State> states_;
    Lba last_lba_ = 0, last_end_ = ~Lba{0};
};

}
