#include "virtual_drive.h"

#include <fmt/format.h>

#include <cerrno>

namespace sgprobe {

VirtualDrive::VirtualDrive(VirtualHost& host, std::unique_ptr<Target> target, const DriveSpec& spec)
    : host_(host), target_(std::move(target)), spec_(spec) {
    limits_.depth = std::max(1u, target_->depth());
    limits_.max_transfer_bytes = host.options_.max_transfer_bytes;
    if (const Bytes less = target_->max_transfer_bytes(); less > 0) limits_.max_transfer_bytes = std::min(limits_.max_transfer_bytes, less);
    host_.drives_.push_back(this);
}

VirtualDrive::~VirtualDrive() {
    std::erase(host_.drives_, this);
    for (const Sent& sent : sent_) target_->abort(sent.id, std::max(target_time_, host_.now()));
}

void VirtualDrive::submit(Command&& command) {
    const Nanoseconds now = host_.now();
    const bool fits = !command.data || command.length <= command.data.size();
    const bool nothing_to_send = command.direction == scsi::Direction::out && command.length > 0 && !command.data;
    if (!gone_.empty()) answer(std::move(command), now, Outcome::Kind::gone, 0);
    else if (command.length > limits_.max_transfer_bytes || !fits) answer(std::move(command), now, Outcome::Kind::os_refusal, EINVAL);
    else if (nothing_to_send) answer(std::move(command), now, Outcome::Kind::os_refusal, EFAULT);
    else if (sent_.size() >= limits_.depth || !held_.empty()) held_.push_back({std::move(command), now});
    else send(std::move(command), now, now);
}

void VirtualDrive::send(Command&& command, Nanoseconds submitted, Nanoseconds now) {
    target_time_ = std::max(target_time_, now);
    const Nanoseconds timeout = command.timeout > Nanoseconds(0) ? command.timeout : host_.options_.timeout;
    sent_.push_back({next_id_++, std::move(command), submitted, target_time_, now + timeout});
    Command& at_target = sent_.back().command;
    TargetCommand seen;
    seen.id = sent_.back().id;
    seen.time = target_time_;
    seen.cdb = at_target.cdb.view();
    seen.direction = at_target.direction;
    seen.length = at_target.direction == scsi::Direction::none ? 0 : at_target.length;
    seen.attribute = at_target.attribute;
    const auto data = at_target.data.bytes().first(at_target.data ? static_cast<std::size_t>(seen.length) : 0);
    if (at_target.direction == scsi::Direction::out) seen.data_out = data;
    if (at_target.direction == scsi::Direction::in) seen.data_in = data;
    target_->submit(seen);
    look_whether_gone();
}

void VirtualDrive::send_held(Nanoseconds now) {
    while (!held_.empty() && sent_.size() < limits_.depth && gone_.empty()) {
        Held held = std::move(held_.front());
        held_.pop_front();
        send(std::move(held.command), held.submitted, now);
    }
}

void VirtualDrive::answer(Command&& command, Nanoseconds submitted, Outcome::Kind kind, int os_errno) {
    Completion& completion = lost_.emplace_back();
    completion.drive = this;
    completion.resid = command.length;
    completion.command = std::move(command);
    completion.outcome.kind = kind;
    completion.outcome.os_errno = os_errno;
    completion.submitted = submitted;
    completion.finished = host_.now();
}

std::optional<Nanoseconds> VirtualDrive::ready() const {
    if (!lost_.empty()) return lost_.front().finished;
    if (done_) return done_->finished;
    return {};
}

Nanoseconds VirtualDrive::first_timeout() const {
    Nanoseconds first = Host::never;
    for (const Sent& sent : sent_) first = std::min(first, sent.give_up);
    return first;
}

Nanoseconds VirtualDrive::ask(Nanoseconds now, Nanoseconds horizon) {
    if (target_time_ > horizon) return target_time_;   // it was asked about this time before
    now = std::max(now, target_time_);
    const TargetEvent event = target_->wait(now, horizon);
    look_whether_gone();
    if (!gone_.empty()) return horizon;
    if (event.done) {
        take(*event.done, horizon);
    } else if (event.time < now) {
        lose(fmt::format("its time runs back: {} ns after {} ns", event.time.count(), now.count()));
    } else {
        target_time_ = std::min(event.time, horizon);
    }
    return target_time_;
}

void VirtualDrive::take(const TargetDone& done, Nanoseconds horizon) {
    const auto sent = std::find_if(sent_.begin(), sent_.end(), [&](const Sent& s) { return s.id == done.id; });
    if (sent == sent_.end()) return lose(fmt::format("it answered command {}, which is not outstanding", done.id));
    // Done before the last command came is no fault: the host was busy, and looks only now. Done before its own coming is.
    if (done.time < sent->reached) {
        return lose(fmt::format("its time runs back: command {} done at {} ns, after {} ns", done.id, done.time.count(), sent->reached.count()));
    }
    if (done.time > horizon) {
        return lose(fmt::format("it answered command {} for {} ns, past the deadline of {} ns", done.id, done.time.count(), horizon.count()));
    }
    if (done.resid > sent->command.length) {
        return lose(fmt::format("it left {} bytes of command {}, which asked for {}", done.resid, done.id, sent->command.length));
    }
    target_time_ = std::max(target_time_, done.time);
    Completion& completion = done_.emplace();
    completion.drive = this;
    completion.command = std::move(sent->command);
    completion.outcome.status = done.status;
    completion.sense = done.sense;
    completion.resid = done.resid;
    completion.submitted = sent->submitted;
    completion.finished = done.time;
    sent_.erase(sent);
}

Completion VirtualDrive::deliver(Nanoseconds now) {
    Completion completion;
    if (!lost_.empty()) {
        completion = std::move(lost_.front());
        lost_.pop_front();
    } else {
        completion = std::move(*done_);
        done_.reset();
        completion.finished = now;
    }
    send_held(now);
    return completion;
}

Completion VirtualDrive::time_out(Nanoseconds now) {
    const auto first = std::min_element(sent_.begin(), sent_.end(), [](const Sent& a, const Sent& b) { return a.give_up < b.give_up; });
    target_time_ = std::max(target_time_, now);
    target_->abort(first->id, target_time_);
    Completion completion;
    completion.drive = this;
    completion.resid = first->command.length;
    completion.command = std::move(first->command);
    completion.outcome.kind = Outcome::Kind::time_out;
    completion.submitted = first->submitted;
    completion.finished = now;
    sent_.erase(first);
    send_held(now);
    return completion;
}

void VirtualDrive::pass_time(Nanoseconds until) {
    if (outstanding() > 0 || until <= target_time_ || !gone_.empty()) return;
    target_time_ = until;
    target_->idle(until);
    look_whether_gone();
}

void VirtualDrive::look_whether_gone() {
    if (!gone_.empty()) return;
    if (const auto why = target_->gone()) lose(why->empty() ? "it went away" : *why);
}

void VirtualDrive::lose(const std::string& why) {
    gone_ = why;
    for (Sent& sent : sent_) answer(std::move(sent.command), sent.submitted, Outcome::Kind::gone, 0);
    for (Held& held : held_) answer(std::move(held.command), held.submitted, Outcome::Kind::gone, 0);
    sent_.clear();
    held_.clear();
}

}
