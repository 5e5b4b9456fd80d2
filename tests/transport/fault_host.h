// A host around another one that makes one command of a run go wrong, in one way. For tests.
#pragma once
#include <cerrno>
#include <string_view>

#include "sgprobe/scsi/sense.h"
#include "sgprobe/transport/wrapper.h"

namespace sgprobe::tests {

enum class Fault : std::uint8_t { time_out, busy, task_set_full, unit_attention, reset, check_condition, short_data, garbage, gone, refusal };
inline constexpr std::pair<Fault, std::string_view> faults[] = {
    {Fault::time_out, "time-out"},   {Fault::busy, "BUSY"},   {Fault::task_set_full, "TASK SET FULL"},     {Fault::unit_attention, "unit attention"},
    {Fault::reset, "reset"},         {Fault::garbage, "garbage"}, {Fault::check_condition, "CHECK CONDITION"}, {Fault::short_data, "short data"},
    {Fault::gone, "gone"},           {Fault::refusal, "host refusal"},
};

class FaultHost : public WrapperHost {
public:
    // The command of that index, from 0 in order of submission, goes wrong.
    FaultHost(std::unique_ptr<Host> within, Fault fault, std::uint64_t index) : WrapperHost(std::move(within)), fault_(fault), index_(index) {}

    std::unique_ptr<Drive> open(const DriveSpec& spec) override { return std::make_unique<FaultDrive>(*this, within().open(spec)); }
    std::uint64_t commands() const { return next_; }
    bool struck() const { return next_ > index_; }

    Event wait(Nanoseconds deadline) override {
        if (due_.empty()) return WrapperHost::wait(deadline);
        const auto first = std::min_element(due_.begin(), due_.end(), [](const Completion& a, const Completion& b) { return a.finished < b.finished; });
        if (now() < first->finished) {
            Event event = WrapperHost::wait(std::min(deadline, first->finished));
            if (event.kind != Event::Kind::deadline || now() < first->finished) return event;
        }
        Event event;
        event.kind = Event::Kind::completion;
        event.completion = std::move(*first);
        due_.erase(first);
        return event;
    }

private:
    class FaultDrive : public WrapperDrive {
    public:
        FaultDrive(FaultHost& host, std::unique_ptr<Drive> within) : WrapperDrive(host, std::move(within)), host_(host) {}
        ~FaultDrive() override { std::erase_if(host_.due_, [&](const Completion& c) { return c.drive == this; }); }
        std::string gone() const override { return host_.gone_ ? "pulled out" : WrapperDrive::gone(); }
        unsigned outstanding() const override { return WrapperDrive::outstanding() + static_cast<unsigned>(host_.due_.size()); }
        void submit(Command&& command) override {
            if (!host_.strike(*this, command)) WrapperDrive::submit(std::move(command));
        }
    private:
        FaultHost& host_;
    };

    bool strike(Drive& drive, Command& command) {
        const bool now_it_is = next_++ == index_;
        if (gone_ || (now_it_is && fault_ == Fault::gone)) {
            gone_ = true;
            answer(drive, command, Nanoseconds(0)).outcome.kind = Outcome::Kind::gone;
            return true;
        }
        if (std::exchange(attention_, false)) {
            sense(answer(drive, command, std::chrono::microseconds(50)), scsi::SenseKey::unit_attention, 0x29, 0x02);
            return true;
        }
        if (!now_it_is) return false;
        switch (fault_) {
            case Fault::time_out: answer(drive, command, command.timeout > Nanoseconds(0) ? command.timeout : timeout()).outcome.kind = Outcome::Kind::time_out; break;
            case Fault::busy: answer(drive, command, std::chrono::microseconds(20)).outcome.status = scsi::Status::busy; break;
            case Fault::task_set_full: answer(drive, command, std::chrono::microseconds(20)).outcome.status = scsi::Status::task_set_full; break;
            case Fault::unit_attention: sense(answer(drive, command, std::chrono::microseconds(50)), scsi::SenseKey::unit_attention, 0x29, 0x00); break;
            case Fault::check_condition: sense(answer(drive, command, std::chrono::milliseconds(30)), scsi::SenseKey::medium_error, 0x11, 0x00); break;
            case Fault::refusal: {
                Outcome& outcome = answer(drive, command, Nanoseconds(0)).outcome;
                outcome.kind = Outcome::Kind::os_refusal;
                outcome.os_errno = ENOMEM;
                break;
            }
            case Fault::reset: {
                Outcome& outcome = answer(drive, command, std::chrono::milliseconds(5)).outcome;
                outcome.kind = Outcome::Kind::host_error;
                outcome.host_status = 8;   // DID_RESET
                attention_ = true;
                break;
            }
            case Fault::short_data:
            case Fault::garbage:
                mangled_ = command.tag;
                return false;
            case Fault::gone: break;
        }
        return true;
    }

    Completion& answer(Drive& drive, Command& command, Nanoseconds after) {
        Completion& c = due_.emplace_back();
        c.drive = &drive;
        c.resid = command.length;
        c.command = std::move(command);
        c.submitted = now();
        c.finished = now() + after;
        return c;
    }

    static void sense(Completion& c, scsi::SenseKey key, std::uint8_t asc, std::uint8_t ascq) {
        c.outcome.status = scsi::Status::check_condition;
        c.sense = SenseBytes(scsi::build_fixed_sense(key, asc, ascq));
    }

    void on_completion(Completion& c) override {
        if (mangled_ != c.command.tag) return;
        mangled_.reset();
        if (fault_ == Fault::short_data) c.resid = c.command.length - c.command.length / 3;
        std::uint32_t noise = 12345;
        if (fault_ == Fault::garbage && c.command.data) {
            for (std::uint8_t& byte : c.command.data.bytes()) byte = static_cast<std::uint8_t>((noise = noise * 1664525 + 1013904223) >> 24);
        }
    }

    Fault fault_;
    std::uint64_t index_, next_ = 0;
    bool gone_ = false, attention_ = false;
    std::optional<std::uint64_t> mangled_;
    std::vector<Completion> due_;
};

}
