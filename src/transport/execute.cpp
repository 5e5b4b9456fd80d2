#include <algorithm>
#include <cerrno>

#include "sgprobe/transport/drive.h"

namespace sgprobe {

Completion execute(Host& host, Drive& drive, Command&& command) {
    shorten(drive.precautions(), command);
    if (!forbidden(drive.precautions(), command.cdb).empty()) {
        Completion refused;
        refused.drive = &drive;
        refused.command = std::move(command);
        refused.outcome.kind = Outcome::Kind::os_refusal;
        refused.outcome.os_errno = EPERM;
        refused.resid = refused.command.length;
        refused.submitted = refused.finished = host.now();
        return refused;
    }
    const Nanoseconds timeout = command.timeout > Nanoseconds(0) ? command.timeout : host.timeout();
    const Nanoseconds give_up = host.now() + timeout;
    Nanoseconds pause = std::chrono::milliseconds(1);
    int signal = 0;
    drive.submit(std::move(command));
    for (;;) {
        Event event = host.wait(Host::never);
        if (event.kind == Event::Kind::interrupted) signal = event.signal;
        if (event.kind != Event::Kind::completion || event.completion.drive != &drive) continue;
        const bool hold = event.completion.outcome.flow_control() && host.now() + pause <= give_up;
        if (!hold) {
            if (signal != 0) host.hold_interruption(signal);
            return std::move(event.completion);
        }
        const Nanoseconds again = host.now() + pause;
        while (host.now() < again) {
            const Event other = host.wait(again);
            if (other.kind == Event::Kind::interrupted) signal = other.signal;
            else if (other.kind == Event::Kind::deadline) break;
        }
        pause = std::min<Nanoseconds>(pause * 2, std::chrono::milliseconds(100));
        drive.submit(std::move(event.completion.command));
    }
}

}
