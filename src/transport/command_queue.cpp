#include "sgprobe/transport/command_queue.h"

#include <algorithm>

namespace sgprobe {

const CommandQueue::Lane* CommandQueue::find(const Drive& drive) const {
    const auto found = std::find_if(lanes_.begin(), lanes_.end(), [&](const Lane& lane) { return lane.drive == &drive; });
    return found == lanes_.end() ? nullptr : &*found;
}

CommandQueue::Lane& CommandQueue::lane(Drive& drive) {
    if (const Lane* known = find(drive)) return const_cast<Lane&>(*known);
    Lane& fresh = lanes_.emplace_back();
    fresh.drive = &drive;
    return fresh;
}

unsigned CommandQueue::outstanding(const Drive& drive) const {
    const Lane* known = find(drive);
    return known ? known->at_drive + static_cast<unsigned>(known->held.size()) : 0;
}

void CommandQueue::submit(Drive& drive, Command&& command) {
    if (free_slots_.empty()) {
        free_slots_.push_back(slots_.size());
        slots_.emplace_back();
    }
    const std::uint64_t slot = free_slots_.back();
    free_slots_.pop_back();
    slots_[slot] = {command.tag, Nanoseconds(0), false};
    command.tag = slot;
    ++outstanding_;
    Lane& to = lane(drive);
    if (to.held.empty() && to.at_drive < to.window) {
        send(to, std::move(command));
    } else {
        Slot& waits = slots_[slot];
        waits.first_submitted = host_.now();
        waits.sent_before = true;
        to.held.push_back(std::move(command));
    }
}

void CommandQueue::send(Lane& to, Command&& command) {
    count_time(to, host_.now());
    ++to.at_drive;
    to.counts.most_at_drive = std::max(to.counts.most_at_drive, to.at_drive);
    to.drive->submit(std::move(command));
}

void CommandQueue::send_held(Lane& to, Nanoseconds now) {
    while (!to.held.empty() && to.at_drive < to.window && (to.at_drive > 0 || now >= to.again)) {
        Command command = std::move(to.held.front());
        to.held.pop_front();
        send(to, std::move(command));
    }
}

void CommandQueue::count_time(Lane& of, Nanoseconds now) {
    const Nanoseconds passed = now - of.changed;
    if (of.at_drive > 0 && passed > Nanoseconds(0)) {
        of.busy_time += passed;
        of.at_drive_ns += static_cast<double>(passed.count()) * of.at_drive;
    }
    of.changed = now;
}

// True where the completion was flow control, and the command now waits to be sent again.
bool CommandQueue::hold(Lane& from, Completion& completion, Nanoseconds now) {
    if (!completion.outcome.flow_control()) {
        from.pause = first_pause;
        // A drive that was full once may take more later: after four windows without a word, one more is tried.
        if (from.window != no_window && ++from.goods >= 4 * from.window) {
            ++from.window;
            from.goods = 0;
        }
        return false;
    }
    ++(completion.outcome.status == scsi::Status::busy ? from.counts.busy : from.counts.task_set_full);
    Slot& slot = slots_[completion.command.tag];
    const Nanoseconds timeout = completion.command.timeout > Nanoseconds(0) ? completion.command.timeout : host_.timeout();
    if (!slot.sent_before) slot.first_submitted = completion.submitted;
    if (now + from.pause > slot.first_submitted + timeout) return false;
    slot.sent_before = true;
    from.window = std::max(1u, from.at_drive);
    from.goods = 0;
    if (from.at_drive == 0) {
        from.again = now + from.pause;
        from.pause = std::min(from.pause * 2, longest_pause);
    }
    from.held.push_front(std::move(completion.command));
    return true;
}

void CommandQueue::finish(Completion& completion) {
    const std::uint64_t index = completion.command.tag;
    const Slot& slot = slots_[index];
    completion.command.tag = slot.tag;
    if (slot.sent_before) completion.submitted = slot.first_submitted;
    free_slots_.push_back(index);
    --outstanding_;
}

Event CommandQueue::wait(Nanoseconds deadline) {
    for (;;) {
        Nanoseconds until = deadline;
        for (const Lane& one : lanes_) {
            if (one.at_drive == 0 && !one.held.empty()) until = std::min(until, std::max(host_.now(), one.again));
        }
        Event event = host_.wait(until);
        const Nanoseconds now = host_.now();
        if (event.kind == Event::Kind::completion) {
            Lane& from = lane(*event.completion.drive);
            count_time(from, now);
            --from.at_drive;
            const bool held = hold(from, event.completion, now);
            if (!held) finish(event.completion);
            send_held(from, now);
            if (!held) return event;
        } else if (event.kind == Event::Kind::interrupted) {
            return event;
        } else {
            for (Lane& one : lanes_) send_held(one, now);
            if (now >= deadline) return event;
        }
    }
}

void CommandQueue::drain() {
    int signal = 0;
    for (Lane& one : lanes_) {
        outstanding_ -= static_cast<unsigned>(one.held.size());
        for (const Command& command : one.held) free_slots_.push_back(command.tag);
        one.held.clear();
    }
    while (outstanding_ > 0) {
        Event event = host_.wait(Host::never);
        if (event.kind == Event::Kind::interrupted) signal = event.signal;
        if (event.kind != Event::Kind::completion) continue;
        --lane(*event.completion.drive).at_drive;
        finish(event.completion);
    }
    if (signal != 0) host_.hold_interruption(signal);
}

FlowCounts CommandQueue::counts(const Drive& drive) const {
    const Lane* known = find(drive);
    if (!known) return {};
    FlowCounts counts = known->counts;
    if (known->busy_time > Nanoseconds(0)) counts.mean_at_drive = known->at_drive_ns / static_cast<double>(known->busy_time.count());
    return counts;
}

void CommandQueue::reset_counts() {
    for (Lane& one : lanes_) {
        one.counts = {.most_at_drive = one.at_drive};
        one.busy_time = Nanoseconds(0);
        one.at_drive_ns = 0;
        one.changed = host_.now();
    }
}

}
