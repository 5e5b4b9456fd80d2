#include "sgprobe/measure/stream.h"

#include <algorithm>
#include <deque>

#include "sgprobe/scsi/sense.h"
#include "sgprobe/transport/describe.h"

namespace sgprobe::measure {
namespace {

using End = StreamRun::End;
constexpr Nanoseconds pause_on_busy = std::chrono::milliseconds(2);   // where nothing is outstanding whose end could be waited for
constexpr unsigned greatest_pauses = 2000;

double us(Nanoseconds t) { return static_cast<double>(t.count()) / 1000.0; }

// What a completion that is not plainly good means for the sample.
End judge(const Completion& c, Incidents& incidents) {
    using Kind = Outcome::Kind;
    switch (c.outcome.kind) {
    case Kind::gone: return End::gone;
    case Kind::time_out: ++incidents.timeouts; ++incidents.errors; return End::timed_out;
    case Kind::os_refusal: ++incidents.errors; return End::refused;
    case Kind::host_error: ++incidents.errors; return End::spoiled;
    case Kind::status: break;
    }
    if (c.outcome.good()) {
        ++incidents.short_transfers;
        ++incidents.errors;
        return End::spoiled;
    }
    if (!c.outcome.check_condition()) { ++incidents.errors; return End::spoiled; }
    const scsi::Sense sense = scsi::parse_sense(c.sense.view()).value;
    if (sense.is(scsi::SenseKey::recovered_error)) {
        ++incidents.recovered;
        ++incidents.errors;
        return End::spoiled;      // the data is good, but the time holds the drive's retries
    }
    if (sense.is(scsi::SenseKey::unit_attention) && !sense.deferred) {
        if (sense.asc == 0x29) ++incidents.resets;
        else if (sense.asc == 0x2a) ++incidents.parameter_changes;
        else ++incidents.attentions;
        return End::spoiled;
    }
    ++incidents.errors;
    const bool never_works = !sense.deferred && (sense.is(scsi::SenseKey::illegal_request) || sense.is(scsi::SenseKey::data_protect));
    return never_works ? End::refused : End::spoiled;
}

class Stream {
public:
    Stream(Host& host, Drive& drive, const StreamPlan& plan) : host_(host), drive_(drive), plan_(plan) {
        run_.gap_us.reserve(plan.commands);
        run_.latency_us.reserve(plan.commands);
        run_.held.reserve(plan.commands);
    }

    StreamRun run() {
        run_.started = last_ = host_.now();
        while (true) {
            fill();
            if (drive_.outstanding() == 0) {
                if (held_.empty() || stopping_) break;
                rest();
                continue;
            }
            Event event = host_.wait(Host::never);
            if (event.kind == Event::Kind::interrupted) stop(End::interrupted, "interrupted");
            else if (event.kind == Event::Kind::completion && event.completion.drive == &drive_) take(std::move(event.completion));
        }
        run_.ended = host_.now();
        const double span = us(run_.ended - run_.started);
        if (span > 0) run_.depth_reached = area_ / span;
        return std::move(run_);
    }

private:
    void fill() {
        while (!stopping_ && drive_.outstanding() < plan_.depth && !wait_for_one_) {
            if (!held_.empty()) {
                Command again = std::move(held_.front());
                held_.pop_front();
                send(std::move(again));
            } else if (next_ < plan_.commands) {
                send(make(next_++));
            } else {
                return;
            }
        }
    }

    Command make(std::size_t index) {
        const Place place = plan_.place(index);
        Command command;
        command.tag = index;
        const auto cdb = scsi::build({.opcode = place.opcode, .lba = place.lba, .blocks = place.blocks});
        if (cdb) command.cdb = *cdb;
        command.direction = scsi::ReadWrite{.opcode = place.opcode}.direction();
        command.length = place.blocks * plan_.block_bytes;
        if (plan_.buffer != BufferKind::indirect) {
            if (buffers_.empty() || buffers_.back().size() < command.length) buffers_.push_back(drive_.buffer(command.length, plan_.buffer));
            command.data = std::move(buffers_.back());
            buffers_.pop_back();
        }
        return command;
    }

    void send(Command&& command) {
        ++run_.commands;
        count_area();
        drive_.submit(std::move(command));
    }

    void count_area() {
        const Nanoseconds now = host_.now();
        area_ += us(now - area_at_) * (area_at_.count() > 0 ? drive_.outstanding() : 0);
        area_at_ = now;
    }

    void take(Completion&& c) {
        const unsigned were = drive_.outstanding() + 1;
        const Nanoseconds now = host_.now();
        area_ += us(now - area_at_) * were;
        area_at_ = now;
        wait_for_one_ = false;
        if (c.command.data && !c.outcome.flow_control()) buffers_.push_back(std::move(c.command.data));
        if (c.outcome.flow_control()) {
            ++run_.incidents.flow_control;
            flowing_ = false;
            held_.push_back(std::move(c.command));
            wait_for_one_ = true;             // no more until one completes
            return;
        }
        if (!c.outcome.good() || c.resid != 0) {
            const End end = judge(c, run_.incidents);
            if (!stopping_) {
                run_.command = static_cast<std::size_t>(c.command.tag);
                run_.exit_status = static_cast<int>(exit_status(c));
                std::string why = describe(c.command.cdb) + " came back with " + describe(c);
                if (c.outcome.good()) why = describe(c.command.cdb) + " moved " + std::to_string(c.transferred()) + " of " + std::to_string(c.command.length) + " bytes";
                stop(end, std::move(why));
            }
            return;
        }
        run_.bytes += c.transferred();
        if (c.command.tag < furthest_) ++run_.reordered;
        furthest_ = std::max(furthest_, c.command.tag);
        pauses_ = 0;
        run_.gap_us.push_back(static_cast<float>(us(now - last_)));
        run_.latency_us.push_back(static_cast<float>(us(c.latency())));
        run_.held.push_back(!flowing_);
        flowing_ = held_.empty();
        last_ = now;
    }

    void stop(End end, std::string why) {
        if (stopping_ && end != End::interrupted) return;
        stopping_ = true;
        run_.end = end;
        run_.why = std::move(why);
    }

    // Everything is held back and nothing is outstanding: time must pass before the drive is asked again.
    void rest() {
        const Nanoseconds until = host_.now() + pause_on_busy;
        while (host_.now() < until) {
            const Event event = host_.wait(until);
            if (event.kind == Event::Kind::interrupted) { stop(End::interrupted, "interrupted"); return; }
            if (event.kind == Event::Kind::deadline) break;
        }
        wait_for_one_ = false;
        if (++pauses_ > greatest_pauses) stop(End::timed_out, "the drive answered BUSY or TASK SET FULL without end");
    }

    Host& host_;
    Drive& drive_;
    const StreamPlan& plan_;
    StreamRun run_;
    std::deque<Command> held_;
    std::vector<Buffer> buffers_;               // for commands whose data needs memory of a kind
    std::size_t next_ = 0;
    std::uint64_t furthest_ = 0;              // greatest tag that has completed
    unsigned pauses_ = 0;
    bool stopping_ = false, wait_for_one_ = false, flowing_ = true;
    Nanoseconds last_{0}, area_at_{0};
    double area_ = 0;
};

}

Incidents& Incidents::operator+=(const Incidents& o) {
    errors += o.errors;
    timeouts += o.timeouts;
    short_transfers += o.short_transfers;
    recovered += o.recovered;
    resets += o.resets;
    parameter_changes += o.parameter_changes;
    attentions += o.attentions;
    flow_control += o.flow_control;
    hidden_retries += o.hidden_retries;
    foreign += o.foreign;
    return *this;
}

StreamRun run_stream(Host& host, Drive& drive, const StreamPlan& plan) {
    const HiddenCounters before = drive.counters();
    StreamRun run = Stream(host, drive, plan).run();
    const HiddenCounters after = drive.counters();
    if (before.available && after.available) {
        const std::uint64_t failed = after.errors - before.errors, sent = after.requests - before.requests;
        const std::uint64_t seen = run.incidents.errors + run.incidents.resets + run.incidents.parameter_changes + run.incidents.attentions + run.incidents.flow_control;
        run.incidents.hidden_retries = failed > seen ? failed - seen : 0;
        const std::uint64_t ours = run.commands + run.incidents.hidden_retries;
        run.incidents.foreign = sent > ours ? sent - ours : 0;
    }
    return run;
}

}
