// SIGINT, SIGTERM and SIGHUP, blocked and read from a signalfd: a signal in the middle of a pass-through command would orphan it.
#pragma once
#include <chrono>
#include <optional>

namespace sgprobe {

// One for the whole process, made before any thread and any host; blocks the three signals for as long as it lives.
class Signals {
public:
    Signals();
    ~Signals();
    Signals(const Signals&) = delete;
    Signals& operator=(const Signals&) = delete;
    int fd() const { return fd_; }         // readable when one has arrived: for poll()
    bool arrived();                        // looks, and remembers what it finds until take()
    bool arrived_lately();                 // the same, but looks no more often than every 10 ms: for loops that never sleep
    bool arrived_lately(std::chrono::nanoseconds now);   // where the time is known: always of the same clock
    std::optional<int> take();             // the signal, once
private:
    int fd_ = -1;
    std::optional<int> signal_;
    std::chrono::nanoseconds looked_{0};
};

}
