// `pipe:COMMAND`: a drive model in another process, in virtual time, over lines of ASCII (transport/pipe_protocol.h).
//
// A model that dies, answers out of form or says nothing is gone, and the reason quotes what came. Its death is a power cycle.
#pragma once
#include <memory>

#include "sgprobe/transport/drive_spec.h"
#include "sgprobe/transport/target.h"

namespace sgprobe {

class Signals;

struct PipeOptions {
    Nanoseconds silence = std::chrono::seconds(60);   // of real time, after which a model that says nothing is gone
    Signals* signals = nullptr;                       // the host's, so that a signal does not wait for a slow model
};

// Starts the model and says hello. Throws Failure where that does not succeed.
std::unique_ptr<Target> open_pipe(const DriveSpec&, const PipeOptions& = {});

}
