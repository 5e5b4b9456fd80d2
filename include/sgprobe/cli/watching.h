// Hosts that main puts around the real one: -v shows commands as they come back, --dry-run counts them instead of sending them.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <tuple>

#include "sgprobe/transport/wrapper.h"

namespace sgprobe::cli {

// Says what failed, raw and decoded; from `verbosity` 2 on, everything. A line each to `say`.
class WatchingHost : public WrapperHost {
public:
    using Say = std::function<void(const std::string&)>;
    WatchingHost(std::unique_ptr<Host> within, unsigned verbosity, Say say) : WrapperHost(std::move(within)), verbosity_(verbosity), say_(std::move(say)) {}
private:
    void on_completion(Completion&) override;
    unsigned verbosity_;
    Say say_;
};

// What asks only (INQUIRY, READ CAPACITY, MODE SENSE...) is sent. What moves blocks or changes the drive is not: it is answered at once,
// well, by an ideal drive (0.1 ms and 100 MB/s) on a clock of its own, and counted.
class DryRunHost : public WrapperHost {
public:
    DryRunHost(std::unique_ptr<Host> within, std::string& plan_out) : WrapperHost(std::move(within)), plan_out_(plan_out) {}
    ~DryRunHost() override { plan_out_ += plan(); }
    std::unique_ptr<Drive> open(const DriveSpec&) override;
    Event wait(Nanoseconds deadline) override;
    Nanoseconds now() const override { return ahead_ + WrapperHost::now(); }
    bool is_virtual() const override { return true; }
    std::string plan() const;                       // what would have been sent, a line for each kind of command
    static bool only_asks(ByteView cdb);

private:
    class DryDrive;
    struct Row { std::uint64_t commands = 0; Bytes bytes = 0; Lba first = ~Lba{0}, last = 0; bool blocks = false; };
    void answer(Drive&, Command&&);
    std::string& plan_out_;
    Nanoseconds ahead_{0};                          // by how much this clock is ahead of the one within
    Nanoseconds busy_until_{0};
    std::uint64_t answered_ = 0, asking_ = 0;       // asking_: outstanding on the host within
    std::vector<Completion> answers_;               // in order of time
    std::map<std::tuple<std::string, Bytes>, Row> rows_;
    std::map<std::string, Row> asked_;
};

}
