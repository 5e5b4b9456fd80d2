// The host of this machine: drives behind /dev/sgN, in real time, through the kernel's sg driver, version 3.
//
// A command alone on the host goes by SG_IO, which costs little more than half of write() and read(); several go by write() and read() over as many
// descriptors as it takes. A deadline may be overrun by one command that is alone, if it is more than 0.1 s away.
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "sgprobe/transport/drive.h"
#include "sgprobe/transport/sysfs.h"

namespace sgprobe {

class Signals;
class SgDrive;
struct SgFile;

struct SgHostOptions {
    Nanoseconds timeout = std::chrono::seconds(60);   // --timeout
    Sysfs sysfs{};
};

class SgHost : public Host {
public:
    explicit SgHost(const SgHostOptions&, Signals* = nullptr);
    ~SgHost() override;
    std::unique_ptr<Drive> open(const DriveSpec&) override;
    Event wait(Nanoseconds deadline) override;
    Nanoseconds now() const override;                 // CLOCK_MONOTONIC_RAW
    bool is_virtual() const override { return false; }
    Nanoseconds timeout() const override { return options_.timeout; }
    const Sysfs& sysfs() const { return options_.sysfs; }

private:
    friend class SgDrive;
    bool read_one(Event&);
    void poll_files(Nanoseconds timeout);
    bool signal_arrived(Event&);

    SgHostOptions options_;
    Signals* signals_;
    int epoll_ = -1;
    std::vector<SgDrive*> drives_;
    SgDrive* staged_ = nullptr;                       // has one command that was not sent yet: it may stay alone
    unsigned sent_ = 0;                               // commands at the kernel, of all drives
    std::vector<SgFile*> readable_;                   // as the last poll said
    std::size_t next_readable_ = 0;                   // whose turn it is
    unsigned reads_since_poll_ = 0;
    std::deque<Completion> at_hand_;                  // refusals
    Nanoseconds last_{0};                             // the last reading of the clock
    bool signal_ready_ = false;
};

}
