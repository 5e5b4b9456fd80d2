// --trace FILE and trace:FILE.
#include "sgprobe/cli/context.h"
#include "sgprobe/cli/new_file.h"
#include "sgprobe/transport/escape.h"
#include "sgprobe/transport/failure.h"
#include "sgprobe/transport/signals.h"
#include "sgprobe/transport/trace_host.h"
#include "sgprobe/transport/trace_recorder.h"

namespace sgprobe::cli {

std::unique_ptr<Host> Context::replayed(const std::vector<DriveSpec>& specs) {
    const std::string& path = specs.front().rest;
    for (const DriveSpec& spec : specs) {
        if (spec.rest != path)
            throw Failure(ExitStatus::contradiction, escaped(spec.text, 200) + " and " + escaped(specs.front().text, 200) + " are two runs: replay one at a time");
    }
    return TraceHost::read(path, signals_.get(), replayed_[path]++);
}

std::unique_ptr<Host> Context::recorded(std::unique_ptr<Host> host) {
    if (!trace_) trace_ = std::make_shared<NewFile>(*options_.trace, options_.force);
    TraceRecorderOptions o;
    o.anonymous = options_.anonymous;
    if (!o.anonymous) o.run = options_.run;   // the names of drives stand in it
    return std::make_unique<TraceRecorder>(std::move(host), [file = trace_](std::string_view piece) { file->write(piece); }, o);
}

}
