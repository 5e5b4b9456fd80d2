#include "sgprobe/transport/virtual_host.h"

#include <stdexcept>

#include "sgprobe/transport/escape.h"
#include "sgprobe/transport/failure.h"
#include "sgprobe/transport/signals.h"
#include "virtual_drive.h"

namespace sgprobe {
namespace {

Event interrupted(int signal) {
    Event event;
    event.kind = Event::Kind::interrupted;
    event.signal = signal;
    return event;
}

}

VirtualHost::VirtualHost(const VirtualHostOptions& options, Signals* signals) : options_(options), signals_(signals) {}
VirtualHost::~VirtualHost() = default;

void VirtualHost::add_scheme(const std::string& scheme, Factory factory) {
    factories_[scheme] = std::move(factory);
}

std::unique_ptr<Drive> VirtualHost::open(const DriveSpec& spec) {
    const auto factory = factories_.find(spec.scheme);
    if (factory == factories_.end()) {
        throw Failure(ExitStatus::contradiction, escaped(spec.text, 200) + ": \"" + escaped(spec.scheme, 80) + ":\" cannot run in virtual time");
    }
    return attach(factory->second(spec), spec);
}

std::unique_ptr<Drive> VirtualHost::attach(std::unique_ptr<Target> target, const std::string& name) {
    DriveSpec spec;
    spec.text = spec.rest = name;
    spec.scheme = name.substr(0, name.find(':'));
    return attach(std::move(target), spec);
}

std::unique_ptr<Drive> VirtualHost::attach(std::unique_ptr<Target> target, const DriveSpec& spec) {
    return std::make_unique<VirtualDrive>(*this, std::move(target), spec);
}

Event VirtualHost::wait(Nanoseconds deadline) {
    deadline = std::max(deadline, clock_);
    if (const int signal = take_held_signal()) return interrupted(signal);
    if (signals_ && signals_->arrived_lately()) return interrupted(*signals_->take());

    Nanoseconds limit = deadline;
    for (const VirtualDrive* drive : drives_) limit = std::min(limit, std::max(clock_, drive->first_timeout()));
    if (auto event = earliest(limit)) return std::move(*event);

    for (VirtualDrive* drive : drives_) {
        if (!drive->at_target() || drive->first_timeout() > limit) continue;
        clock_ = limit;
        Event event;
        event.kind = Event::Kind::completion;
        event.completion = drive->time_out(clock_);
        return event;
    }
    if (deadline == never) throw std::logic_error("waiting for a completion where nothing is outstanding");
    clock_ = deadline;
    for (VirtualDrive* drive : drives_) drive->pass_time(clock_);
    return {};
}

// The first completion of any drive by the limit. Drives that share a bus may say "ask again" before it: then time moves in steps.
std::optional<Event> VirtualHost::earliest(Nanoseconds limit) {
    Nanoseconds from = clock_;
    for (unsigned standing_still = 0;;) {
        Nanoseconds horizon = limit;
        for (const VirtualDrive* drive : drives_) {
            if (const auto ready = drive->ready()) horizon = std::min(horizon, *ready);
        }
        VirtualDrive* slowest = nullptr;
        for (VirtualDrive* drive : drives_) {
            if (drive->ready() || !drive->at_target()) continue;
            const Nanoseconds until = drive->ask(from, horizon);
            if (until < horizon && !drive->ready()) slowest = drive;
            horizon = std::min(horizon, drive->ready().value_or(until));
        }
        VirtualDrive* first = nullptr;
        for (VirtualDrive* drive : drives_) {
            const auto ready = drive->ready();
            if (ready && *ready <= horizon && (!first || *ready < *first->ready())) first = drive;
        }
        if (first) {
            clock_ = std::max(clock_, *first->ready());
            Event event;
            event.kind = Event::Kind::completion;
            event.completion = first->deliver(clock_);
            clock_ += options_.turnaround;
            return event;
        }
        if (signals_ && signals_->arrived_lately()) return interrupted(*signals_->take());
        if (!slowest) return {};
        standing_still = horizon > from ? 0 : standing_still + 1;
        if (standing_still > 2 * drives_.size()) slowest->lose("its time stands still");
        from = std::max(from, horizon);
    }
}

}
