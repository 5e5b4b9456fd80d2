// One fault at one command, for tests: the command with this index, counted from the host's making, meets it.
#pragma once
#include <cerrno>
#include <functional>

#include "sgprobe/scsi/sense.h"
#include "sgprobe/transport/wrapper.h"

namespace sgprobe::tests {

enum class Mishap : std::uint8_t {
    none, kill_program, kill_guardian, kill_both, kill_program_after, kill_both_after, terminate, time_out, time_out_after, busy, task_set_full, unit_attention,
    bus_reset, bus_reset_after, hardware_error, invalid_field, aborted, wrong_data, gone, refuse_from_here, end_
};

inline bool kills_program(Mishap f) { return f == Mishap::kill_program || f == Mishap::kill_both || f == Mishap::kill_program_after || f == Mishap::kill_both_after; }
inline bool resets(Mishap f) { return f == Mishap::bus_reset || f == Mishap::bus_reset_after; }

class CampaignHost : public WrapperHost {
public:
    struct Deeds { std::function<void(Mishap)> kill; std::function<void()> reset; };
    CampaignHost(std::unique_ptr<Host> within, Mishap fault, unsigned index, Deeds deeds)
        : WrapperHost(std::move(within)), fault_(fault), index_(index), deeds_(std::move(deeds)) {}
    unsigned commands() const { return count_; }

private:
    static bool after(Mishap f) {
        return f == Mishap::kill_program_after || f == Mishap::kill_both_after || f == Mishap::time_out_after || f == Mishap::bus_reset_after || f == Mishap::wrong_data;
    }
    bool lasting() const { return fault_ == Mishap::gone || fault_ == Mishap::refuse_from_here; }
    void on_submit(Drive&, Command& command) override {
        const unsigned at = count_++;
        hit_ = fault_ != Mishap::none && (at == index_ || (lasting() && at >= index_));
        if (fault_ == Mishap::refuse_from_here && command.cdb.opcode() != 0x55 && command.cdb.opcode() != 0x15 && command.cdb.opcode() != 0x85) hit_ = false;
        if (!hit_) return;
        if (!after(fault_)) {
            deeds_.kill(fault_);
            if (fault_ == Mishap::terminate || fault_ == Mishap::kill_guardian) { hit_ = false; return; }
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
        case Mishap::kill_program_after: case Mishap::kill_both_after: deeds_.kill(fault_); break;
        case Mishap::time_out: case Mishap::time_out_after: c.outcome = {}; c.outcome.kind = Outcome::Kind::time_out; break;
        case Mishap::busy: c.outcome = {}; c.outcome.status = scsi::Status::busy; break;
        case Mishap::task_set_full: c.outcome = {}; c.outcome.status = scsi::Status::task_set_full; break;
        case Mishap::unit_attention: sense(scsi::SenseKey::unit_attention, 0x28, 0); break;
        case Mishap::bus_reset: case Mishap::bus_reset_after:
            deeds_.reset();
            c.outcome = {};
            c.outcome.kind = Outcome::Kind::host_error;
            c.outcome.host_status = 8;             // DID_RESET
            break;
        case Mishap::hardware_error: sense(scsi::SenseKey::hardware_error, 0x44, 0); break;
        case Mishap::invalid_field: sense(scsi::SenseKey::illegal_request, c.command.direction == scsi::Direction::out ? 0x26 : 0x24, 0); break;
        case Mishap::aborted: sense(scsi::SenseKey::aborted_command, 0x4b, 3); break;
        case Mishap::refuse_from_here: sense(scsi::SenseKey::illegal_request, 0x26, 0); break;
        case Mishap::wrong_data:
            if (c.command.direction == scsi::Direction::in)
                for (std::uint8_t& byte : c.command.data.bytes()) byte = static_cast<std::uint8_t>(byte ^ (0x15 + 7 * (&byte - c.command.data.bytes().data()) % 64));
            break;
        case Mishap::gone: c.outcome = {}; c.outcome.kind = Outcome::Kind::gone; c.outcome.os_errno = ENODEV; break;
        default: break;
        }
    }
    Mishap fault_;
    unsigned index_, count_ = 0;
    Deeds deeds_;
    bool hit_ = false;
    scsi::Cdb kept_;
};

}
