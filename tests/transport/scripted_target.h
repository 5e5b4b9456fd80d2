// A target for tests: serves one command at a time in order, and asks a function what each costs and answers.
#pragma once
#include <deque>
#include <functional>

#include "sgprobe/transport/target.h"

namespace sgprobe::tests {

struct Answer {
    Nanoseconds takes = std::chrono::milliseconds(1);
    scsi::Status status = scsi::Status::good;
    Bytes resid = 0;
    ByteVector sense{};
    ByteVector data{};
    bool never = false;                    // no answer at all
};

class ScriptedTarget : public Target {
public:
    using Script = std::function<Answer(const TargetCommand&, std::uint64_t index)>;   // index: how many came before
    explicit ScriptedTarget(Script script, unsigned depth = 1) : script_(std::move(script)), depth_(depth) {}

    unsigned depth() const override { return depth_; }
    Bytes max_transfer_bytes() const override { return max_transfer_bytes_; }
    void submit(const TargetCommand& command) override {
        Answer answer = script_(command, index_++);
        if (!answer.data.empty() && !command.data_in.empty()) {
            std::copy_n(answer.data.begin(), std::min(answer.data.size(), command.data_in.size()), command.data_in.begin());
        }
        if (answer.never) return;
        busy_until_ = std::max(busy_until_, command.time) + answer.takes;
        TargetDone done;
        done.id = command.id;
        done.time = busy_until_;
        done.status = answer.status;
        done.resid = answer.resid;
        done.sense = SenseBytes(answer.sense);
        queue_.push_back(done);
    }
    TargetEvent wait(Nanoseconds, Nanoseconds deadline) override {
        TargetEvent event;
        event.time = deadline;
        if (queue_.empty() || queue_.front().time > deadline) return event;
        event.done = queue_.front();
        event.time = event.done->time;
        queue_.pop_front();
        return event;
    }
    void abort(std::uint64_t id, Nanoseconds time) override {
        aborted.push_back({id, time});
        std::erase_if(queue_, [&](const TargetDone& done) { return done.id == id; });
    }
    void idle(Nanoseconds time) override { idled_to = time; }
    std::optional<std::string> gone() const override { return gone_; }

    void set_max_transfer_bytes(Bytes bytes) { max_transfer_bytes_ = bytes; }
    void vanish(const std::string& why) { gone_ = why; }
    std::uint64_t commands() const { return index_; }

    std::vector<std::pair<std::uint64_t, Nanoseconds>> aborted;
    Nanoseconds idled_to{0};

private:
    Script script_;
    unsigned depth_;
    Bytes max_transfer_bytes_ = 0;
    std::uint64_t index_ = 0;
    Nanoseconds busy_until_{0};
    std::deque<TargetDone> queue_;
    std::optional<std::string> gone_;
};

inline Command read_command(Bytes length, std::uint64_t tag = 0) {
    Command command;
    command.tag = tag;
    command.cdb.bytes = {0x28, 0, 0, 0, 0, 0, 0, static_cast<std::uint8_t>(length / 512 >> 8), static_cast<std::uint8_t>(length / 512)};
    command.cdb.size = 10;
    command.direction = scsi::Direction::in;
    command.length = length;
    return command;
}

}
