// Serves a Target, which lives in virtual time, to the kernel in real time: each command is answered when the target's own
// time, stretched by a factor, has passed.
#pragma once
#include <map>

#include "tcmu_ring.h"

namespace sgprobe::kernel {

class Server {
public:
    Server(Ring& ring, Target& target, double stretch);
    void step();                                   // takes what has arrived, answers what is due, sleeps a little
private:
    struct Outstanding {
        RingCommand command;
        ByteVector data;
        scsi::Direction direction;
    };
    Nanoseconds virtual_now() const;
    void sleep_until(Nanoseconds virtual_time);
    void take(RingCommand&&);
    void answer(const TargetDone&);
    Ring& ring_;
    Target& target_;
    double stretch_;
    Nanoseconds began_;                            // on CLOCK_MONOTONIC
    Nanoseconds target_time_{0};                   // how far the target has been taken
    std::uint64_t last_id_ = 0;
    unsigned alone_ = 0;                           // commands in a row that came when no other was outstanding
    std::map<std::uint64_t, Outstanding> outstanding_;
};

}
