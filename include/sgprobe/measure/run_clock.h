// When a run started and how long it took, on the wall and on the drives' clock.
#pragma once
#include "sgprobe/measure/result.h"
#include "sgprobe/transport/drive.h"

namespace sgprobe::measure {

class RunClock {
public:
    explicit RunClock(const Host&);
    void stamp(Result&) const;
private:
    const Host& host_;
    std::chrono::system_clock::time_point started_;
    std::chrono::steady_clock::time_point wall_;
    Nanoseconds drive_time_;
};

}
