#include "sgprobe/transport/pipe_target.h"

#include <fmt/format.h>

#include <vector>

#include "pipe_process.h"
#include "sgprobe/transport/escape.h"
#include "sgprobe/transport/failure.h"
#include "sgprobe/transport/pipe_protocol.h"
#include "sgprobe/transport/signals.h"

namespace sgprobe {
namespace {

using Got = PipeProcess::Got;

class PipeTarget : public Target {
public:
    PipeTarget(const DriveSpec&, const PipeOptions&);
    ~PipeTarget() override { if (!gone_) process_.part(out_ + "bye\n", std::chrono::seconds(1)); }

    unsigned depth() const override { return hello_.depth; }
    Bytes max_transfer_bytes() const override { return hello_.max_transfer_bytes; }
    void submit(const TargetCommand&) override;
    TargetEvent wait(Nanoseconds now, Nanoseconds deadline) override;
    void abort(std::uint64_t id, Nanoseconds time) override;
    void idle(Nanoseconds time) override;
    std::optional<std::string> gone() const override { return gone_; }

private:
    struct Outstanding {
        std::uint64_t id;
        Bytes length;
        std::span<std::uint8_t> data_in;
        bool reads;
    };
    std::string explain(Got, std::string_view line, std::string_view asked);
    bool settle(Signals* signals);          // reads the answer to the last `wait`; false: interrupted, or gone
    void take(const PipeAnswer&);
    void lose(const std::string& why) { gone_ = why; }
    std::size_t greatest_line() const;

    std::string name_;
    PipeOptions options_;
    PipeProcess process_;
    PipeHello hello_;
    std::string out_;                       // lines that the model has not been sent yet
    bool awaited_ = false;                  // a `wait` is not answered yet
    Nanoseconds awaited_until_{0};          // its deadline
    std::optional<TargetDone> done_;        // an answer that nobody has taken yet
    std::vector<Outstanding> outstanding_;
    std::optional<std::string> gone_;
};

PipeTarget::PipeTarget(const DriveSpec& spec, const PipeOptions& options) : name_(escaped(spec.text, 200)), options_(options), process_(spec.rest) {
    out_ = "hello 1\n";
    std::string_view line;
    std::string why;
    const Got got = process_.exchange(out_, line, 4096, options_.silence, options_.signals);
    const auto hello = got == Got::line ? parse_pipe_hello(line, why) : std::nullopt;
    if (hello) {
        hello_ = *hello;
        return;
    }
    ExitStatus status = ExitStatus::file_error;
    if (got == Got::interrupted) status = ExitStatus::interrupted;
    if (got == Got::silence) status = ExitStatus::timeout;
    if (got == Got::line || got == Got::too_long) status = ExitStatus::malformed;
    throw Failure(status, name_ + ": " + (got == Got::line ? "the model answered " + why : explain(got, line, "hello 1")));
}

std::string PipeTarget::explain(Got got, std::string_view line, std::string_view asked) {
    switch (got) {
        case Got::silence: return fmt::format("the model said nothing for {:g} s after \"{}\"", std::chrono::duration<double>(options_.silence).count(), asked);
        case Got::ended: return fmt::format("the model {} before it answered \"{}\"", process_.how_it_ended(), asked);
        case Got::too_long: return fmt::format("the model answered \"{}\" with a line longer than any in form: \"{}...\"", asked, escaped(line.substr(0, 80)));
        case Got::interrupted: return fmt::format("interrupted while the model had not answered \"{}\"", asked);
        case Got::line: break;
    }
    return {};
}

// The longest line that is in form: the data of the longest command outstanding, sense, and the numbers.
std::size_t PipeTarget::greatest_line() const {
    Bytes data = 0;
    for (const Outstanding& command : outstanding_) data = std::max(data, command.length);
    return static_cast<std::size_t>(data) * 2 + 2 * 252 + 200;
}

void PipeTarget::submit(const TargetCommand& command) {
    if (awaited_) settle(nullptr);
    if (gone_) return;
    outstanding_.push_back({command.id, command.length, command.data_in, command.direction == scsi::Direction::in});
    append_pipe_submit(out_, command);
}

void PipeTarget::abort(std::uint64_t id, Nanoseconds time) {
    if (awaited_) settle(nullptr);
    if (gone_) return;
    std::erase_if(outstanding_, [&](const Outstanding& command) { return command.id == id; });
    if (done_ && done_->id == id) done_.reset();
    else out_ += fmt::format("abort {} {}\n", id, time.count());
}

void PipeTarget::idle(Nanoseconds time) {
    if (awaited_) settle(nullptr);
    out_ += fmt::format("idle {}\n", time.count());
}

TargetEvent PipeTarget::wait(Nanoseconds now, Nanoseconds deadline) {
    TargetEvent event;
    event.time = now;
    if (gone_) return event;
    if (!awaited_ && !done_) {
        fmt::format_to(std::back_inserter(out_), "wait {} {}\n", now.count(), deadline.count());
        awaited_ = true;
        awaited_until_ = deadline;
        if (!settle(options_.signals)) return event;
    } else if (awaited_ && !settle(nullptr)) {   // a signal came between: the answer is still owed
        return event;
    }
    event.time = deadline;
    if (done_ && done_->time <= deadline) event.done = std::exchange(done_, std::nullopt);
    return event;
}

// A signal while we wait leaves the answer owed. Then the model gets 10 s to give it, and a second signal ends it at once.
bool PipeTarget::settle(Signals* signals) {
    const Nanoseconds patience = signals == options_.signals ? options_.silence : std::min<Nanoseconds>(options_.silence, std::chrono::seconds(10));
    std::string_view line;
    const Got got = process_.exchange(out_, line, greatest_line(), patience, options_.signals);
    if (got == Got::interrupted && signals) return false;
    awaited_ = false;
    if (got != Got::line) {
        lose(explain(got, line, "wait"));
        return false;
    }
    std::string why;
    const auto answer = parse_pipe_answer(line, why);
    if (!answer) lose("the model answered " + why);
    else if (!answer->none) take(*answer);
    return !gone_;
}

void PipeTarget::take(const PipeAnswer& answer) {
    if (answer.done.time > awaited_until_) {
        return lose(fmt::format("the model answered command {} for {} ns, past the deadline of {} ns", answer.done.id, answer.done.time.count(),
                                awaited_until_.count()));
    }
    done_ = answer.done;
    const auto command = std::find_if(outstanding_.begin(), outstanding_.end(), [&](const Outstanding& o) { return o.id == answer.done.id; });
    if (command == outstanding_.end() || answer.done.resid > command->length) return;   // the host says what is wrong with it
    const Bytes moved = command->reads ? command->length - answer.done.resid : 0;
    const bool kept = !command->data_in.empty();
    if (!answer.data_hex.empty()) {
        if (answer.data_hex.size() != moved * 2) {
            lose(fmt::format("the model sent {} hexadecimal digits of data for command {}, where LENGTH-RESID is {} bytes", answer.data_hex.size(),
                             answer.done.id, moved));
        } else if (kept && !decode_hex(answer.data_hex, command->data_in.first(static_cast<std::size_t>(moved)))) {
            lose(fmt::format("the model sent data for command {} that is not hexadecimal: \"{}\"", answer.done.id, escaped(answer.data_hex, 80)));
        }
    } else if (kept) {
        std::fill_n(command->data_in.begin(), static_cast<std::size_t>(moved), std::uint8_t{0});
    }
    outstanding_.erase(command);
}

}

std::unique_ptr<Target> open_pipe(const DriveSpec& spec, const PipeOptions& options) {
    return std::make_unique<PipeTarget>(spec, options);
}

}
