#include "sgprobe/transport/wrapper.h"

#include <algorithm>

namespace sgprobe {

std::unique_ptr<Drive> WrapperHost::open(const DriveSpec& spec) { return std::make_unique<WrapperDrive>(*this, within_->open(spec)); }

Event WrapperHost::wait(Nanoseconds deadline) {
    if (const int signal = take_held_signal()) return {.kind = Event::Kind::interrupted, .completion = {}, .signal = signal};
    Event event = within_->wait(deadline);
    if (event.kind != Event::Kind::completion) return event;
    for (WrapperDrive* drive : drives_)
        if (&drive->within() == event.completion.drive) event.completion.drive = drive;
    on_completion(event.completion);
    return event;
}

WrapperDrive::WrapperDrive(WrapperHost& host, std::unique_ptr<Drive> within) : host_(host), within_(std::move(within)) {
    host_.drives_.push_back(this);
}

WrapperDrive::~WrapperDrive() { std::erase(host_.drives_, this); }

void WrapperDrive::submit(Command&& command) {
    host_.on_submit(*this, command);
    within_->submit(std::move(command));
}

}
