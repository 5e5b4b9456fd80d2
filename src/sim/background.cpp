#include "sgprobe/sim/background.h"

#include <cmath>

namespace sgprobe::sim {

BackgroundWork::BackgroundWork(const Model& model) : blocks_(model.media.blocks) {
    for (const Background& work : model.background) states_.push_back({work, work.every_s * 1e9});
}

void BackgroundWork::meet(double now_ns, double idle_since_ns, Medium& medium, Random& random) {
    for (State& s : states_) {
        const Background& w = s.work;
        bool due = false;
        if (w.idle_s > 0) {
            due = now_ns - idle_since_ns >= w.idle_s * 1e9;
        } else if (w.for_s > 0) {                    // bursts: from every_s on, each for for_s
            due = now_ns >= s.next_ns && std::fmod(now_ns, w.every_s * 1e9) < w.for_s * 1e9;
        } else if (now_ns >= s.next_ns) {            // once each time
            due = true;
            s.next_ns = (std::floor(now_ns / (w.every_s * 1e9)) + 1) * w.every_s * 1e9;
        }
        if (!due || !random.chance(w.probability)) continue;
        const double busy_ns = w.busy_us * 1e3 * (w.idle_s > 0 ? random.uniform() : 1);
        if (w.moves_arms) medium.disturb(now_ns, busy_ns, random.below(blocks_));
        else medium.stall(busy_ns);
    }
}

}
