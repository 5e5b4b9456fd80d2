// What a drive does besides serving this host: [[background]] of its file.
#pragma once
#include "sgprobe/sim/medium.h"
#include "sgprobe/sim/model.h"
#include "sgprobe/sim/random.h"

namespace sgprobe::sim {

class BackgroundWork {
public:
    explicit BackgroundWork(const Model&);
    bool none() const { return states_.empty(); }
    // Called before a command is served: whatever is due by then happens first.
    void meet(double now_ns, double idle_since_ns, Medium&, Random&);
private:
    struct State { Background work; double next_ns; };
    std::vector<State> states_;
    Blocks blocks_;
};

}
