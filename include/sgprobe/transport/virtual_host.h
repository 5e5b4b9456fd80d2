// The host in virtual time: one clock and any number of Targets (sim:, pipe:). Nothing sleeps; the clock moves to what happens next.
//
// A completion that is consumed moves the clock to the later of its own time and the drive's, and then on by the host's turnaround.
// A command not done by its timeout is aborted there. A target that answers nonsense is gone, with the reason in Drive::gone().
#pragma once
#include <functional>
#include <map>
#include <vector>

#include "sgprobe/transport/drive.h"
#include "sgprobe/transport/target.h"

namespace sgprobe {

class Signals;
class VirtualDrive;

struct VirtualHostOptions {
    Nanoseconds turnaround = std::chrono::microseconds(20);   // --host-overhead
    Nanoseconds timeout = std::chrono::seconds(60);           // --timeout
    Bytes max_transfer_bytes = 32u << 20;                     // longer commands are refused with EINVAL, as a kernel would
};

class VirtualHost : public Host {
public:
    using Factory = std::function<std::unique_ptr<Target>(const DriveSpec&)>;   // throws Failure where there is no such drive

    explicit VirtualHost(const VirtualHostOptions& = {}, Signals* = nullptr);
    ~VirtualHost() override;
    void add_scheme(const std::string& scheme, Factory);      // "sim", "pipe": who makes the targets
    std::unique_ptr<Drive> attach(std::unique_ptr<Target>, const std::string& name);   // a target at hand, as in tests

    std::unique_ptr<Drive> open(const DriveSpec&) override;
    Event wait(Nanoseconds deadline) override;
    Nanoseconds now() const override { return clock_; }
    bool is_virtual() const override { return true; }
    Nanoseconds timeout() const override { return options_.timeout; }

private:
    friend class VirtualDrive;
    std::unique_ptr<Drive> attach(std::unique_ptr<Target>, const DriveSpec&);
    std::optional<Event> earliest(Nanoseconds deadline);
    void pass_time(Nanoseconds until);

    VirtualHostOptions options_;
    Signals* signals_;
    std::map<std::string, Factory> factories_;
    std::vector<VirtualDrive*> drives_;
    Nanoseconds clock_{0};
};

}
