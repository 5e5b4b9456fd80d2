// A drive in virtual time: what stands behind sim: and pipe:. The pipe protocol is this interface as lines of text.
//
// Times are virtual, from the target's creation, and never run back for one target. VirtualHost (virtual_host.h) drives any
// number of targets on one clock, adds its own turnaround, and aborts what has timed out.
#pragma once
#include <optional>
#include <string>

#include "sgprobe/transport/command.h"

namespace sgprobe {

struct TargetCommand {
    std::uint64_t id = 0;
    Nanoseconds time{0};                   // when the command reaches the drive
    ByteView cdb;                          // valid during submit() only
    scsi::Direction direction = scsi::Direction::none;
    Bytes length = 0;
    ByteView data_out;                     // valid during submit() only
    std::span<std::uint8_t> data_in;       // where to put data; valid until done; empty where nobody reads it
    TaskAttribute attribute = TaskAttribute::simple;
};

struct TargetDone {
    std::uint64_t id = 0;
    Nanoseconds time{0};                   // when the drive finished
    scsi::Status status = scsi::Status::good;
    Bytes resid = 0;
    SenseBytes sense;
};

struct TargetEvent {
    std::optional<TargetDone> done;
    Nanoseconds time{0};                   // without done: nothing happens by this time, which is the deadline, or earlier
};                                         // where another drive on the same bus finishes first and must be asked

class Target {
public:
    virtual ~Target() = default;
    virtual unsigned depth() const = 0;                   // greatest number outstanding it declares
    virtual Bytes max_transfer_bytes() const = 0;
    virtual void submit(const TargetCommand&) = 0;
    virtual TargetEvent wait(Nanoseconds now, Nanoseconds deadline) = 0;   // the next completion, if it comes by the deadline
    virtual void abort(std::uint64_t id, Nanoseconds time) = 0;            // no completion follows for it
    virtual void idle(Nanoseconds time) = 0;              // time passes, nothing outstanding
    virtual std::optional<std::string> gone() const { return {}; }        // why there is no drive any more, safe to print
};

}
