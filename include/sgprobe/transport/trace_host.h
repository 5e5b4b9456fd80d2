// `trace:FILE`: the drives of a recorded run (sgprobe-trace(5)), replayed exactly. A run that goes another way finds its drives gone.
#pragma once
#include <string>
#include <vector>

#include "sgprobe/transport/drive.h"
#include "sgprobe/transport/trace_format.h"

namespace sgprobe {

class Signals;

class TraceHost : public Host {
public:
    TraceHost(std::string text, const std::string& name, Signals* = nullptr);   // the file's text; throws Failure where it is no trace
    // A file may hold several recordings, one after the other: the one of that index, from 0. Throws Failure where it cannot be read.
    static std::unique_ptr<TraceHost> read(const std::string& path, Signals*, unsigned recording = 0);
    ~TraceHost() override;

    std::unique_ptr<Drive> open(const DriveSpec&) override;                     // the next drive of the recorded run
    Event wait(Nanoseconds deadline) override;
    Nanoseconds now() const override { return now_; }
    bool is_virtual() const override { return is_virtual_; }
    Nanoseconds timeout() const override { return timeout_; }

private:
    class TraceDrive;
    struct Outstanding {
        TraceDrive* drive;
        Command command;
        Nanoseconds submitted;
    };
    const TraceLine* peek();               // the line that comes next; null at the end, or once the run went another way
    void next() { line_.reset(); }
    void part(const std::string& why);     // from here on every drive is gone
    void check_submit(unsigned drive, const Command&);
    Event lost();
    Event deliver(TraceLine&);
    std::string where() const;

    std::string text_, name_, run_, parted_;
    Signals* signals_;
    std::size_t at_ = 0;
    unsigned line_number_ = 0, opened_ = 0;
    std::optional<TraceLine> line_;
    bool is_virtual_ = true;
    Nanoseconds now_{0}, timeout_{0};
    std::vector<TraceDrive*> drives_;
    std::vector<Outstanding> outstanding_;
};

}
