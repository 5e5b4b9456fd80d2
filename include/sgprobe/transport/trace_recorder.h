// `--trace FILE`: a host around another one that writes down all that passes (sgprobe-trace(5)).
//
// The run sees time move only in wait(), also on a real host: what it decides then follows from what the trace holds.
#pragma once
#include <functional>

#include "sgprobe/transport/wrapper.h"

namespace sgprobe {

struct TraceRecorderOptions {
    std::string run;                       // the command line, for whoever replays it
    bool anonymous = false;                // without what identifies one drive among its likes
};

class TraceRecorder : public WrapperHost {
public:
    using Write = std::function<void(std::string_view)>;   // pieces of the file, in order; may throw Failure
    TraceRecorder(std::unique_ptr<Host> within, Write, const TraceRecorderOptions& = {});
    ~TraceRecorder() override;

    std::unique_ptr<Drive> open(const DriveSpec&) override;
    Event wait(Nanoseconds deadline) override;
    Nanoseconds now() const override { return now_; }
    void finish();                         // writes the end; nothing is recorded after it. Drives may still be there.

private:
    class RecordedDrive;
    void on_submit(Drive&, Command&) override;
    void on_completion(Completion&) override;
    void tell_gone(RecordedDrive&);
    void put(bool all);

    Write write_;
    TraceRecorderOptions options_;
    Nanoseconds now_;
    std::string out_;                      // lines not yet written
    std::string event_;                    // the completion on its way, before whose line the clock's must stand
    ByteVector blanked_;
    unsigned drives_ = 0;
    bool finished_ = false;
};

}
