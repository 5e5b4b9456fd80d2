// One Target behind VirtualHost: keeps what is outstanding, and believes nothing that the target says.
#pragma once
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "sgprobe/transport/virtual_host.h"

namespace sgprobe {

class VirtualDrive : public Drive {
public:
    VirtualDrive(VirtualHost&, std::unique_ptr<Target>, const DriveSpec&);
    ~VirtualDrive() override;

    const DriveSpec& spec() const override { return spec_; }
    const Limits& limits() const override { return limits_; }
    Buffer buffer(Bytes bytes, BufferKind) override { return Buffer::allocate(bytes); }
    void submit(Command&&) override;
    unsigned outstanding() const override {
        return static_cast<unsigned>(sent_.size() + held_.size() + lost_.size()) + (done_ ? 1u : 0u);
    }
    std::string gone() const override { return gone_; }

    // For VirtualHost.
    std::optional<Nanoseconds> ready() const;                    // the time of the completion at hand, if there is one
    bool at_target() const { return !sent_.empty(); }
    Nanoseconds first_timeout() const;                           // Host::never where nothing is at the target
    Nanoseconds ask(Nanoseconds now, Nanoseconds horizon);       // nothing happens before what it returns, unless ready() now holds
    Completion deliver(Nanoseconds now);                         // the completion at hand
    Completion time_out(Nanoseconds now);                        // aborts the command of first_timeout()
    void pass_time(Nanoseconds until);
    void lose(const std::string& why);                           // everything outstanding completes as gone

private:
    struct Sent {
        std::uint64_t id;
        Command command;
        Nanoseconds submitted, reached, give_up;
    };
    struct Held {
        Command command;
        Nanoseconds submitted;
    };
    void send(Command&&, Nanoseconds submitted, Nanoseconds now);
    void send_held(Nanoseconds now);
    void answer(Command&&, Nanoseconds submitted, Outcome::Kind, int os_errno);
    void take(const TargetDone&, Nanoseconds horizon);
    void look_whether_gone();

    VirtualHost& host_;
    std::unique_ptr<Target> target_;
    DriveSpec spec_;
    Limits limits_;
    std::string gone_;
    std::uint64_t next_id_ = 1;
    Nanoseconds target_time_{0};                                 // never runs back
    std::vector<Sent> sent_;                                     // at the target
    std::deque<Held> held_;                                      // past the target's depth they wait in the host, as in a kernel
    std::deque<Completion> lost_;                                // refused, or lost with the drive: at hand without the target
    std::optional<Completion> done_;                             // the target's next completion, not yet consumed
};

}
