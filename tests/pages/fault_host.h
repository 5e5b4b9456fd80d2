// One fault at one command, for tests: the command with this index, counted from the host's making, meets it.
#pragma once
#include <cerrno>
#include <functional>

#include "sgprobe/scsi/sense.h"
#include "sgprobe/transport/wrapper.h"

namespace sgprobe::tests {

enum class Fault : std::uint8_t {
    none, kill_program, kill_guardian, kill_both, kill_program_after, kill_both_after, terminate, time_out, time_out_after, busy, task_set_full, unit_attention,
    bus_reset, bus_reset_after, hardware_error, invalid_field, aborted, wrong_data, gone, refuse_from_here, end_
};

inline bool kills_program(Fault f) { return f == Fault::kill_program || f == Fault::kill_both || f == Fault::kill_program_after || f == Fault::kill_both_after; }
inline bool resets(Fault f) { return f == Fault::bus_reset || f == Fault::bus_reset_after; }

class FaultHost : public WrapperHost {
public:
    struct Deeds { std::function<void(Fault)> kill; std::function<void()> reset; };
    FaultHost(std::unique_ptr<Host> within, Fault fault, unsigned index, Deeds deeds)
        : WrapperHost(std::move(within)), fault_(fault), index_(index), deeds_(std::move(deeds)) {}
    unsigned commands() const { return count_; }

private:
    static bool after(Fault f) {
        return f == Fault::kill_program_after || f == Fault::kill_both_after || f == Fault::time_out_after || f == Fault::bus_reset_after || f == Fault::wrong_data;
    }
    bool lasting() const { return fault_ == Fault::gone || fault_ == Fault::refuse_from_here; }
    void on_submit(Drive&, Command& command) override {
        const unsigned at = count_++;
        hit_ = fault_ != Fault::none && (at == index_ || (lasting() && at >= index_));
        if (fault_ == Fault::refuse_from_here && command.cdb.opcode() != 0x55 && command.cdb.opcode() != 0x15 && command.cdb.opcode() != 0x85) hit_ = false;
        if (!hit_) return;
        if (!after(fault_)) {
            deeds_.kill(fault_);
            if (fault_ == Fault::terminate || fault_ == Fault::kill_guardian) { hit_ = false; return; }
            kept_ = command.cdb;                   // the drive sees a command that changes nothing in its place
            command.cdb = scsi::inquiry(0);
            command.cdb.bytes[4] = 0;
        }
    }
    void on_completion(Completion& c) override {
        if (!hit_) return;
        hit_ = false;
        if (!after(fault_)) c.command.cdb = kept_;
        const auto sense = [&](scsi::SenseKey key, std::uint8_t asc, std::uint8_t ascq) {
            c.outcome = {};
            c.outcome.status = scsi::Status::check_condition;
            c.sense = SenseBytes(scsi::build_fixed_sense(key, asc, ascq));
        };
        switch (fault_) {
        case Fault::kill_program_after: case Fault::kill_both_after: deeds_.kill(fault_); break;
        case Fault::time_out: case Fault::time_out_after: c.outcome = {}; c.outcome.kind = Outcome::Kind::time_out; break;
        case Fault::busy: c.outcome = {}; c.outcome.status = scsi::Status::busy; break;
        case Fault::task_set_full: c.outcome = {}; c.outcome.status = scsi::Status::task_set_full; break;
        case Fault::unit_attention: sense(scsi::SenseKey::unit_attention, 0x28, 0); break;
        case Fault::bus_reset: case Fault::bus_reset_after:
            deeds_.reset();
            c.outcome = {};
            c.outcome.kind = Outcome::Kind::host_error;
            c.outcome.host_status = 8;             // DID_RESET
            break;
        case Fault::hardware_error: sense(scsi::SenseKey::hardware_error, 0x44, 0); break;
        case Fault::invalid_field: sense(scsi::SenseKey::illegal_request, c.command.direction == scsi::Direction::out ? 0x26 : 0x24, 0); break;
        case Fault::aborted: sense(scsi::SenseKey::aborted_command, 0x4b, 3); break;
        case Fault::refuse_from_here: sense(scsi::SenseKey::illegal_request, 0x26, 0); break;
        case Fault::wrong_data:
            if (c.command.direction == scsi::Direction::in)
                for (std::uint8_t& byte : c.command.data.bytes()) byte = static_cast<std::uint8_t>(byte ^ (0x15 + 7 * (&byte - c.command.data.bytes().data()) % 64));
            break;
        case Fault::gone: c.outcome = {}; c.outcome.kind = Outcome::Kind::gone; c.outcome.os_errno = ENODEV; break;
        default: break;
        }
    }
    Fault fault_;
    unsigned index_, count_ = 0;
    Deeds deeds_;
    bool hit_ = false;
    scsi::Cdb kept_;
};

}
