#include "tcmu_server.h"

#include <algorithm>
#include <iterator>

namespace sgprobe::kernel {

namespace {

// The target is asked about so much of the future at once; a command that comes meanwhile reaches it late by no more. An initiator
// that has sent so many commands one at a time is taken to go on so: then the whole of a command's time is asked for and slept at once.
constexpr Nanoseconds look_ahead = std::chrono::microseconds(500);
constexpr Nanoseconds far_ahead = std::chrono::milliseconds(100);
constexpr unsigned alone_for_certain = 8;

Nanoseconds monotonic_now() { return std::chrono::steady_clock::now().time_since_epoch(); }

// The ring does not say which way a command's data goes: SPC-5 and SBC-4 do, by the opcode.
scsi::Direction direction_of(const RingCommand& command) {
    if (command.pieces.empty()) return scsi::Direction::none;
    switch (command.cdb[0]) {
    case 0x04: case 0x07: case 0x0a: case 0x15: case 0x1d: case 0x2a: case 0x2e: case 0x3b: case 0x3f: case 0x41: case 0x42:
    case 0x4c: case 0x55: case 0x5f: case 0x8a: case 0x8e: case 0x93: case 0xa4: case 0xaa: case 0xae:
        return scsi::Direction::out;
    case 0x85: case 0xa1:   // ATA PASS-THROUGH, SAT-4 12.2.2: T_DIR
        return command.cdb[2] & 0x08 ? scsi::Direction::in : scsi::Direction::out;
    default:
        return scsi::Direction::in;
    }
}

}

Server::Server(Ring& ring, Target& target, double stretch)
    : ring_(ring), target_(target), stretch_(stretch), began_(monotonic_now()) {}

Nanoseconds Server::virtual_now() const {
    return Nanoseconds(static_cast<Nanoseconds::rep>(static_cast<double>((monotonic_now() - began_).count()) / stretch_));
}

void Server::sleep_until(Nanoseconds virtual_time) {
    const Nanoseconds left = virtual_time - virtual_now();
    if (left > Nanoseconds(0)) ring_.wait(Nanoseconds(static_cast<Nanoseconds::rep>(static_cast<double>(left.count()) * stretch_)));
}

void Server::take(RingCommand&& command) {
    target_time_ = std::max(target_time_, virtual_now());
    if (outstanding_.empty()) target_.idle(target_time_);
    alone_ = outstanding_.empty() ? alone_ + 1 : 0;
    const auto direction = direction_of(command);
    const auto id = ++last_id_;
    auto& held = outstanding_[id] = {std::move(command), {}, direction};
    if (direction == scsi::Direction::out) held.data = held.command.gather();
    if (direction == scsi::Direction::in) held.data.resize(held.command.length());
    TargetCommand given;
    given.id = id;
    given.time = target_time_;
    given.cdb = held.command.cdb;
    given.direction = direction;
    given.length = held.data.size();
    if (direction == scsi::Direction::out) given.data_out = held.data;
    if (direction == scsi::Direction::in) given.data_in = held.data;
    target_.submit(given);
}

void Server::answer(const TargetDone& done) {
    const auto found = outstanding_.find(done.id);
    if (found == outstanding_.end()) return;
    const Outstanding& held = found->second;
    std::optional<Bytes> read_bytes;
    if (held.direction == scsi::Direction::in) {
        const Bytes moved = held.data.size() - std::min<Bytes>(done.resid, held.data.size());
        held.command.scatter(ByteView(held.data).first(moved));
        if (moved < held.data.size()) read_bytes = moved;
    }
    ring_.complete(held.command, done.status, done.sense.view(), read_bytes);
    outstanding_.erase(found);
}

void Server::step() {
    while (auto command = ring_.next()) take(std::move(*command));
    if (outstanding_.empty()) return ring_.wait({});
    const Nanoseconds from = std::max(target_time_, virtual_now());
    const TargetEvent event = target_.wait(from, from + (alone_ > alone_for_certain ? far_ahead : look_ahead));
    if (!event.done) {
        target_time_ = std::max(target_time_, event.time);
        return sleep_until(target_time_);
    }
    target_time_ = std::max(target_time_, event.done->time);
    while (virtual_now() < event.done->time) sleep_until(event.done->time);
    answer(*event.done);
}

}
