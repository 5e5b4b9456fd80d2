#include "sgprobe/transport/trace_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "sgprobe/transport/describe.h"
#include "sgprobe/transport/escape.h"
#include "sgprobe/transport/failure.h"
#include "sgprobe/transport/pipe_protocol.h"
#include "sgprobe/transport/signals.h"

namespace sgprobe {

using Kind = TraceLine::Kind;

namespace {

// The reason was safe to print when it was written; this file may have been written by anybody.
std::string printable(std::string text) {
    for (char& c : text) {
        if (c < 0x20 || c > 0x7e) c = '?';
    }
    return text.substr(0, 1000);
}

}

class TraceHost::TraceDrive : public Drive {
public:
    TraceDrive(TraceHost& host, const DriveSpec& spec, const Limits& limits, unsigned n) : number(n), host_(host), spec_(spec), limits_(limits) {
        host.drives_.push_back(this);
    }
    ~TraceDrive() override {
        std::erase(host_.drives_, this);
        std::erase_if(host_.outstanding_, [&](const Outstanding& o) { return o.drive == this; });
    }
    const DriveSpec& spec() const override { return spec_; }
    const Limits& limits() const override { return limits_; }
    Buffer buffer(Bytes size, BufferKind) override { return Buffer::allocate(size); }
    void submit(Command&& command) override {
        host_.check_submit(number, command);
        host_.outstanding_.push_back({this, std::move(command), host_.now_});
    }
    unsigned outstanding() const override {
        return static_cast<unsigned>(std::count_if(host_.outstanding_.begin(), host_.outstanding_.end(), [&](const Outstanding& o) { return o.drive == this; }));
    }
    HiddenCounters counters() override {
        const TraceLine* line = host_.peek();
        if (!line || line->kind != Kind::counters || line->drive != number) {
            if (line) host_.part("reads the kernel's counters");
            return {};
        }
        const HiddenCounters c = line->counters;
        host_.next();
        return c;
    }
    std::string gone() const override { return host_.parted_.empty() ? reason : host_.parted_; }
    const unsigned number;
    std::string reason;
private:
    TraceHost& host_;
    DriveSpec spec_;
    Limits limits_;
};

std::unique_ptr<TraceHost> TraceHost::read(const std::string& path, Signals* signals, unsigned recording) {
    std::string text;
    std::FILE* const file = std::fopen(path.c_str(), "re");
    const auto cannot = [&](int error) {
        return Failure(ExitStatus::file_error, "trace:" + escaped(path, 200) + " cannot be read: " + std::generic_category().message(error));
    };
    if (!file) throw cannot(errno);
    char piece[65536];
    for (std::size_t got; (got = std::fread(piece, 1, sizeof piece, file)) > 0;) text.append(piece, got);
    const int error = std::ferror(file) ? errno : 0;
    std::fclose(file);
    if (error != 0) throw cannot(error);
    for (unsigned i = 0; i < recording; ++i) {
        const std::size_t next = text.find("\nsgprobe-trace ");
        if (next == text.npos) throw Failure(ExitStatus::contradiction, fmt::format("trace:{}: it holds {} recordings, and this would be one more", escaped(path, 200), i + 1));
        text.erase(0, next + 1);
    }
    return std::make_unique<TraceHost>(std::move(text), "trace:" + path, signals);
}

TraceHost::TraceHost(std::string text, const std::string& name, Signals* signals) : text_(std::move(text)), name_(escaped(name, 200)), signals_(signals) {
    const TraceLine* line = peek();
    if (!line || line->kind != Kind::version) throw Failure(ExitStatus::malformed, name_ + ": this is no trace (sgprobe-trace(5)): " + (parted_.empty() ? "it is empty" : parted_));
    next();
    if ((line = peek()) && line->kind == Kind::run) {
        run_ = escaped(line->text, 500);
        next();
        line = peek();
    }
    if (!line || line->kind != Kind::host) throw Failure(ExitStatus::malformed, name_ + ": the trace does not say what host it is of" + (parted_.empty() ? "" : ": " + parted_));
    is_virtual_ = line->is_virtual;
    timeout_ = line->timeout;
    now_ = line->time;
    next();
}

TraceHost::~TraceHost() = default;

std::string TraceHost::where() const { return fmt::format("line {}", line_number_); }

const TraceLine* TraceHost::peek() {
    while (!line_ && parted_.empty()) {
        if (at_ >= text_.size()) {
            parted_ = where() + ": the trace was cut short here";
            break;
        }
        const std::size_t end = text_.find('\n', at_);
        if (end == text_.npos) {
            at_ = text_.size();
            continue;
        }
        const std::string_view line(text_.data() + at_, end - at_);
        at_ = end + 1;
        ++line_number_;
        if (line.empty() || line.front() == '#') continue;
        std::string why;
        line_ = parse_trace_line(line, why);
        if (!line_) parted_ = where() + ": " + why;
        else if (line_->kind == Kind::end) parted_ = where() + ": the recorded run ended here";
        else if (line_->kind == Kind::kernel) line_.reset();
    }
    return parted_.empty() ? &*line_ : nullptr;
}

void TraceHost::part(const std::string& why) {
    if (!parted_.empty()) return;
    parted_ = fmt::format("{} of the trace: the recorded run went another way than this one, which {}{}", where(), why,
                          run_.empty() ? "" : "; it was recorded by: " + run_);
}

std::unique_ptr<Drive> TraceHost::open(const DriveSpec& spec) {
    const TraceLine* line = peek();
    if (!line || line->kind != Kind::drive || line->drive != opened_) {
        throw Failure(ExitStatus::contradiction, fmt::format("{}: the recorded run had {} drive{}, and this would be one more", name_, opened_, opened_ == 1 ? "" : "s"));
    }
    DriveSpec recorded = line->spec;       // scheme and rest as they were, so that the run decides as it did
    recorded.text = spec.text;
    if (recorded.scheme == "sg") recorded.scheme = spec.scheme;   // what this machine's kernel knows is not of that drive
    auto drive = std::make_unique<TraceDrive>(*this, recorded, line->limits, opened_++);
    next();
    return drive;
}

void TraceHost::check_submit(unsigned drive, const Command& c) {
    const TraceLine* line = peek();
    if (!line) return;
    const Command& r = line->command;
    const bool same = line->kind == Kind::submit && line->drive == drive && r.tag == c.tag && r.direction == c.direction && r.length == c.length &&
                      r.timeout == c.timeout && r.attribute == c.attribute && std::equal(r.cdb.view().begin(), r.cdb.view().end(), c.cdb.view().begin(), c.cdb.view().end());
    if (same) return next();
    const std::string recorded = line->kind == Kind::submit ? fmt::format(", where {} was recorded", describe(r.cdb)) : "";
    part(fmt::format("sends {}{}", describe(c.cdb), recorded));
}

Event TraceHost::wait(Nanoseconds deadline) {
    Event event;
    if (signals_ && signals_->arrived_lately()) {
        event.kind = Event::Kind::interrupted;
        event.signal = *signals_->take();
        return event;
    }
    const int held = take_held_signal();   // the trace has it too, as the recorded run saw it
    while (const TraceLine* line = peek()) {
        switch (line->kind) {
            case Kind::now: now_ = line->time; break;
            case Kind::gone:
                for (TraceDrive* drive : drives_) {
                    if (drive->number == line->drive) drive->reason = printable(line->text);
                }
                break;
            case Kind::done: {
                TraceLine done = std::move(*line_);
                next();
                return deliver(done);
            }
            case Kind::interrupted:
                event.kind = Event::Kind::interrupted;
                event.signal = line->signal;
                [[fallthrough]];
            case Kind::deadline: next(); return event;
            default: part("waits"); continue;
        }
        next();
    }
    if (held != 0) return {.kind = Event::Kind::interrupted, .completion = {}, .signal = held};
    if (!outstanding_.empty()) return lost();
    now_ = std::max(now_, deadline == never ? now_ : deadline);
    return event;
}

Event TraceHost::lost() {
    Event event;
    event.kind = Event::Kind::completion;
    Completion& c = event.completion;
    c.drive = outstanding_.front().drive;
    c.command = std::move(outstanding_.front().command);
    c.outcome.kind = Outcome::Kind::gone;
    c.resid = c.command.length;
    c.submitted = outstanding_.front().submitted;
    c.finished = now_;
    outstanding_.erase(outstanding_.begin());
    return event;
}

Event TraceHost::deliver(TraceLine& line) {
    const auto found = std::find_if(outstanding_.begin(), outstanding_.end(), [&](const Outstanding& o) {
        return o.drive->number == line.drive && o.command.tag == line.completion.command.tag;
    });
    const bool known = found != outstanding_.end();
    const Bytes moved = known && line.completion.resid <= found->command.length ? found->command.length - line.completion.resid : 0;
    const bool fits = known && line.completion.resid <= found->command.length &&
                      (line.data_hex.empty() || (line.data_hex.size() == moved * 2 && (!found->command.data || moved <= found->command.data.size())));
    if (!fits) {
        parted_ = where() + (known ? ": the data do not fit the command" : ": a command completes that is not outstanding");
        return outstanding_.empty() ? Event{} : lost();
    }
    Event event;
    event.kind = Event::Kind::completion;
    event.completion = std::move(line.completion);
    Completion& c = event.completion;
    c.drive = found->drive;
    c.command = std::move(found->command);
    outstanding_.erase(found);
    if (c.command.data && c.command.direction == scsi::Direction::in && c.outcome.good()) {
        const auto into = c.command.data.bytes().first(static_cast<std::size_t>(std::min<Bytes>(moved, c.command.data.size())));
        if (line.data_hex.empty()) std::fill(into.begin(), into.end(), std::uint8_t{0});
        else if (!decode_hex(line.data_hex, into)) parted_ = where() + ": the data are not hexadecimal";
    }
    return event;
}

}
