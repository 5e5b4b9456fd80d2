#include "sgprobe/transport/trace_recorder.h"

#include <fmt/format.h>

#include <iterator>

#include "sgprobe/scsi/anonymize.h"
#include "sgprobe/transport/trace_format.h"

namespace sgprobe {

class TraceRecorder::RecordedDrive : public WrapperDrive {
public:
    RecordedDrive(TraceRecorder& host, std::unique_ptr<Drive> within, unsigned n) : WrapperDrive(host, std::move(within)), number(n), host_(host) {}
    HiddenCounters counters() override {
        const HiddenCounters c = WrapperDrive::counters();
        append_trace_counters(host_.out_, number, c);
        return c;
    }
    const unsigned number;
    bool told_gone = false;
private:
    TraceRecorder& host_;
};

TraceRecorder::TraceRecorder(std::unique_ptr<Host> within, Write write, const TraceRecorderOptions& options)
    : WrapperHost(std::move(within)), write_(std::move(write)), options_(options), now_(WrapperHost::now()) {
    out_ = "sgprobe-trace 1\n";
    if (!options_.run.empty()) out_ += "run " + options_.run + '\n';
    fmt::format_to(std::back_inserter(out_), "host {} {} {}\n", is_virtual() ? "virtual" : "real", timeout().count(), now_.count());
}

std::unique_ptr<Drive> TraceRecorder::open(const DriveSpec& spec) {
    auto drive = std::make_unique<RecordedDrive>(*this, within().open(spec), drives_);
    DriveSpec told = drive->spec();
    if (options_.anonymous) told.text = fmt::format("drive{}", drives_);   // by-id names hold serial numbers
    append_trace_drive(out_, drives_++, told, drive->limits());
    return drive;
}

void TraceRecorder::on_submit(Drive& drive, Command& command) {
    append_trace_submit(out_, static_cast<RecordedDrive&>(drive).number, command);
}

void TraceRecorder::tell_gone(RecordedDrive& drive) {
    if (drive.told_gone || drive.gone().empty()) return;
    drive.told_gone = true;
    fmt::format_to(std::back_inserter(out_), "gone {} {}\n", drive.number, trace_word(options_.anonymous ? "the drive is gone" : drive.gone()));
}

void TraceRecorder::on_completion(Completion& c) {
    auto& drive = static_cast<RecordedDrive&>(*c.drive);
    tell_gone(drive);
    ByteView data = c.command.direction == scsi::Direction::in ? c.data() : ByteView{};
    if (options_.anonymous && !data.empty()) {
        blanked_.assign(data.begin(), data.end());
        scsi::anonymize(c.command.cdb.view(), blanked_);
        data = blanked_;
    }
    append_trace_done(event_, drive.number, c, data);
}

Event TraceRecorder::wait(Nanoseconds deadline) {
    Event event = WrapperHost::wait(deadline);
    if (finished_) return event;
    const Nanoseconds before = std::exchange(now_, WrapperHost::now());
    if (now_ != before) fmt::format_to(std::back_inserter(out_), "now {}\n", now_.count());
    if (event.kind == Event::Kind::deadline) out_ += "deadline\n";
    if (event.kind == Event::Kind::interrupted) fmt::format_to(std::back_inserter(out_), "interrupted {}\n", event.signal);
    out_ += event_;
    event_.clear();
    put(false);
    return event;
}

void TraceRecorder::put(bool all) {
    constexpr std::size_t piece_bytes = 65536;
    if (!all && out_.size() < piece_bytes) return;
    write_(out_);
    out_.clear();
}

TraceRecorder::~TraceRecorder() {
    try {
        finish();
    } catch (const std::exception&) {
        // The disk is full: whoever owns the file says so when it is closed.
    }
}

void TraceRecorder::finish() {
    if (std::exchange(finished_, true)) return;
    out_ += "end\n";
    put(true);
}

}
