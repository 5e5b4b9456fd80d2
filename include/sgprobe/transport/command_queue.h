// Commands kept outstanding on any number of drives of one host, with flow control: a BUSY or TASK SET FULL is held back, sent
// again when something completes (after a growing pause where nothing is outstanding), and counted; the caller sees only final outcomes.
//
// Allocates nothing per command once it has grown to the depth in use. Every command submitted comes out of wait() exactly once.
#pragma once
#include <deque>
#include <vector>

#include "sgprobe/transport/drive.h"

namespace sgprobe {

struct FlowCounts {
    std::uint64_t task_set_full = 0, busy = 0;
    unsigned most_at_drive = 0;            // greatest number that was outstanding at the drive at once
    double mean_at_drive = 0;              // over the time in which any was: the depth that was really reached
};

class CommandQueue {
public:
    explicit CommandQueue(Host& host) : host_(host) {}
    ~CommandQueue() { drain(); }
    CommandQueue(const CommandQueue&) = delete;
    CommandQueue& operator=(const CommandQueue&) = delete;

    void submit(Drive&, Command&&);        // behind what is held back for that drive
    // As Host::wait(). A completion's `submitted` is the first submission; flow control comes out only past the command's timeout.
    Event wait(Nanoseconds deadline);
    void drain();                          // waits for what is outstanding and forgets it; an interruption stays for the next wait
    unsigned outstanding() const { return outstanding_; }
    unsigned outstanding(const Drive&) const;
    FlowCounts counts(const Drive&) const;
    void reset_counts();

private:
    struct Slot {                          // one command outstanding; its index is the tag that the drive sees
        std::uint64_t tag = 0;
        Nanoseconds first_submitted{0};
        bool sent_before = false;
    };
    struct Lane {
        Drive* drive = nullptr;
        unsigned at_drive = 0;
        unsigned window = no_window;       // as many as the drive took when it last said that it had enough
        unsigned goods = 0;                // completions since then
        std::deque<Command> held;
        Nanoseconds again{0}, pause = first_pause;
        FlowCounts counts;
        Nanoseconds changed{0}, busy_time{0};
        double at_drive_ns = 0;
    };
    static constexpr unsigned no_window = ~0u;
    static constexpr Nanoseconds first_pause = std::chrono::milliseconds(1), longest_pause = std::chrono::milliseconds(100);

    Lane& lane(Drive&);
    const Lane* find(const Drive&) const;
    void send(Lane&, Command&&);
    void send_held(Lane&, Nanoseconds now);
    void count_time(Lane&, Nanoseconds now);
    bool hold(Lane&, Completion&, Nanoseconds now);
    void finish(Completion&);

    Host& host_;
    std::deque<Lane> lanes_;
    std::vector<Slot> slots_;
    std::vector<std::uint64_t> free_slots_;
    unsigned outstanding_ = 0;
};

}
