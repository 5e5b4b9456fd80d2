// The one seam between sgprobe and a drive: a Host (one clock, any number of drives) and its Drives, real or virtual.
//
// Time comes only from Host::now(); Host::wait() is the only place that waits. One thread calls all of it. Commands and
// their buffers belong to the drive from submit() until their completion is handed out by wait(). No outcome of a command
// is thrown; opening a drive throws Failure (transport/failure.h), which carries an exit status and the whole message.
#pragma once
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "sgprobe/transport/command.h"
#include "sgprobe/transport/drive_spec.h"
#include "sgprobe/transport/precautions.h"

namespace sgprobe {

struct Limits {
    unsigned depth = 1;                    // greatest number outstanding that the host can carry at once
    Bytes max_transfer_bytes = 0;          // greatest transfer that the host says it carries (0: it does not say)
    std::vector<BufferKind> buffer_kinds{BufferKind::indirect};
};

// Kernel counters of a device (sysfs iorequest_cnt, iodone_cnt, ioerr_cnt, queue_depth); all zero where there is no kernel.
struct HiddenCounters {
    bool available = false;
    std::uint64_t requests = 0, done = 0, errors = 0;
    unsigned queue_depth = 0;
};

class Drive {
public:
    virtual ~Drive() = default;            // drains what is outstanding, then frees its buffers
    virtual const DriveSpec& spec() const = 0;
    virtual const Limits& limits() const = 0;
    virtual Buffer buffer(Bytes, BufferKind) = 0;
    virtual void submit(Command&&) = 0;    // queued; a refusal comes back as a completion
    virtual unsigned outstanding() const = 0;
    virtual HiddenCounters counters() { return {}; }
    virtual std::string gone() const { return {}; }    // why there is no drive any more, safe to print; empty while there is one
    virtual const Precautions& precautions() const { return precautions_; }   // what is left undone because the device is known to break
    virtual void set_precautions(const Precautions& p) { precautions_ = p; }
    std::string name() const { return spec().text; }   // as the user wrote it; messages name the drive with it
private:
    Precautions precautions_;
};

struct Event {
    enum class Kind : std::uint8_t { completion, deadline, interrupted };
    Kind kind = Kind::deadline;
    Completion completion;                 // with Kind::completion
    int signal = 0;                        // with Kind::interrupted: SIGINT, SIGTERM or SIGHUP
};

class Host {
public:
    virtual ~Host() = default;             // outlives its drives
    virtual std::unique_ptr<Drive> open(const DriveSpec&) = 0;
    virtual Event wait(Nanoseconds deadline) = 0;   // deadline on now()'s clock
    virtual Nanoseconds now() const = 0;
    virtual bool is_virtual() const = 0;   // simulated and modelled drives: time is computed, not passed
    virtual Nanoseconds timeout() const { return std::chrono::seconds(60); }   // of commands that bring none
    static constexpr Nanoseconds never{std::numeric_limits<std::int64_t>::max()};   // a deadline: wait for a completion alone
    void hold_interruption(int signal) { held_signal_ = signal; }   // the next wait() reports it
protected:
    int take_held_signal() { return std::exchange(held_signal_, 0); }   // for wait(); 0: none
private:
    int held_signal_ = 0;
};

// Submits one command and waits for it. One that is known to break the device is not sent: it comes back refused (EPERM), or is made
// shorter where that is enough (INQUIRY, REQUEST SENSE). BUSY and TASK SET FULL are held back and sent again until the command's timeout.
// Nothing else may be outstanding on the host. An interruption is kept by the host and reported by the next wait().
Completion execute(Host&, Drive&, Command&&);

}
