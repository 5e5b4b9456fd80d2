// The lines of a trace (sgprobe-trace(5)), written and read.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sgprobe/transport/drive.h"

namespace sgprobe {

std::string trace_word(std::string_view);                           // outside text as one word
std::optional<std::string> from_trace_word(std::string_view);

void append_trace_submit(std::string& out, unsigned drive, const Command&);
void append_trace_done(std::string& out, unsigned drive, const Completion&, ByteView data);
void append_trace_drive(std::string& out, unsigned drive, const DriveSpec&, const Limits&);
void append_trace_counters(std::string& out, unsigned drive, const HiddenCounters&);

// One line of a trace. Views point into the text that was parsed.
struct TraceLine {
    enum class Kind : std::uint8_t { version, run, host, drive, kernel, submit, done, now, deadline, interrupted, counters, gone, end };
    Kind kind = Kind::end;
    unsigned drive = 0;
    Nanoseconds time{0}, timeout{0};
    bool is_virtual = false, unread = false;
    int signal = 0;
    Command command;                       // submit: without its buffer
    Completion completion;                 // done: tag, times, outcome, resid, sense; no drive, no buffer
    std::string_view data_hex;             // submit, done: empty for `-`
    DriveSpec spec;                        // drive
    Limits limits;
    HiddenCounters counters;
    std::string text;                      // run, kernel, gone
};
std::optional<TraceLine> parse_trace_line(std::string_view line, std::string& why);   // why is safe to print


}
