// A drive in virtual time whose every answer a test writes: for faults that no honest simulation has.
#pragma once
#include <algorithm>
#include <deque>
#include <functional>
#include <vector>

#include "sgprobe/scsi/sense.h"
#include "sgprobe/transport/target.h"

namespace sgprobe::test {

struct Answer {
    scsi::Status status = scsi::Status::good;
    ByteVector data{};                // cut at the command's length; the residual is what is missing
    ByteVector sense{};
    std::optional<Bytes> resid{};     // a lie about the residual
    bool never = false;               // no completion: the host's time-out ends it
};

inline Answer good(ByteVector data) { return {.data = std::move(data)}; }
inline Answer check(scsi::SenseKey key, std::uint8_t asc, std::uint8_t ascq, bool deferred = false) {
    return {.status = scsi::Status::check_condition, .sense = scsi::build_fixed_sense(key, asc, ascq, {}, deferred)};
}
inline Answer unsupported() { return check(scsi::SenseKey::illegal_request, 0x24, 0x00); }

class ScriptedTarget : public Target {
public:
    using Script = std::function<Answer(ByteView cdb, Bytes length)>;
    explicit ScriptedTarget(Script script) : script_(std::move(script)) {}
    std::vector<ByteVector>& cdbs() { return cdbs_; }

    unsigned depth() const override { return 32; }
    Bytes max_transfer_bytes() const override { return 32u << 20; }
    void submit(const TargetCommand& command) override {
        cdbs_.emplace_back(command.cdb.begin(), command.cdb.end());
        Answer answer = script_(command.cdb, command.length);
        if (answer.never) return;
        const std::size_t moved = std::min<std::size_t>(answer.data.size(), static_cast<std::size_t>(command.length));
        std::copy_n(answer.data.begin(), std::min(moved, command.data_in.size()), command.data_in.begin());
        TargetDone done;
        done.id = command.id;
        done.time = command.time + std::chrono::microseconds(100);
        done.status = answer.status;
        done.resid = answer.resid.value_or(command.length - moved);
        done.sense = SenseBytes(answer.sense);
        queue_.push_back(done);
    }
    TargetEvent wait(Nanoseconds, Nanoseconds deadline) override {
        if (queue_.empty() || queue_.front().time > deadline) return {.done = {}, .time = deadline};
        TargetEvent event{.done = queue_.front(), .time = queue_.front().time};
        queue_.pop_front();
        return event;
    }
    void abort(std::uint64_t id, Nanoseconds) override {
        std::erase_if(queue_, [&](const TargetDone& done) { return done.id == id; });
    }
    void idle(Nanoseconds) override {}

private:
    Script script_;
    std::vector<ByteVector> cdbs_;
    std::deque<TargetDone> queue_;
};

}
