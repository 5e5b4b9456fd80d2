#include "sgprobe/measure/run_clock.h"

#include <ctime>

namespace sgprobe::measure {

RunClock::RunClock(const Host& host)
    : host_(host), started_(std::chrono::system_clock::now()), wall_(std::chrono::steady_clock::now()), drive_time_(host.now()) {}

void RunClock::stamp(Result& result) const {
    const std::time_t seconds = std::chrono::system_clock::to_time_t(started_);
    std::tm utc{};
    ::gmtime_r(&seconds, &utc);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    result.started = text;
    result.elapsed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_).count();
    if (host_.is_virtual()) result.virtual_time_s = std::chrono::duration<double>(host_.now() - drive_time_).count();
}

}
