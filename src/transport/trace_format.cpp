#include "sgprobe/transport/trace_format.h"

#include <fmt/format.h>

#include <array>
#include <iterator>

#include "line_words.h"
#include "sgprobe/transport/escape.h"
#include "sgprobe/transport/pipe_protocol.h"

namespace sgprobe {
namespace {

using Kind = TraceLine::Kind;

constexpr std::array<std::string_view, 3> directions{"none", "in", "out"};
constexpr std::array<std::string_view, 3> attributes{"simple", "ordered", "head"};
constexpr std::array<std::string_view, 4> buffer_kinds{"indirect", "mmap", "direct", "huge"};
constexpr std::size_t greatest_data_out_bytes = 4096;

template <std::size_t N, class E>
bool choice(std::string_view text, const std::array<std::string_view, N>& words, E& value) {
    for (std::size_t i = 0; i < N; ++i) {
        if (text != words[i]) continue;
        value = static_cast<E>(i);
        return true;
    }
    return false;
}

void append_hex_or_dash(std::string& out, ByteView bytes) {
    const bool zeros = std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
    if (zeros) out += '-';
    else append_hex(out, bytes);
}

std::string outcome_word(const Outcome& o) {
    switch (o.kind) {
        case Outcome::Kind::status: return fmt::format("status:{}", static_cast<unsigned>(o.status));
        case Outcome::Kind::time_out: return "time-out";
        case Outcome::Kind::host_error: return fmt::format("host:{}:{}", o.host_status, o.driver_status);
        case Outcome::Kind::os_refusal: return fmt::format("refused:{}", o.os_errno);
        case Outcome::Kind::gone: return fmt::format("gone:{}", o.os_errno);
    }
    return {};
}

bool read_outcome(std::string_view text, Outcome& o) {
    std::uint64_t value = 0;
    const auto after = [&](std::string_view prefix, std::uint64_t greatest) {
        return text.starts_with(prefix) && read_number(text.substr(prefix.size()), value, greatest);
    };
    if (text == "time-out") {
        o.kind = Outcome::Kind::time_out;
    } else if (after("status:", 255)) {
        o.status = static_cast<scsi::Status>(value);
    } else if (after("refused:", 0x7fffffff)) {
        o.kind = Outcome::Kind::os_refusal;
        o.os_errno = static_cast<int>(value);
    } else if (after("gone:", 0x7fffffff)) {
        o.kind = Outcome::Kind::gone;
        o.os_errno = static_cast<int>(value);
    } else if (text.starts_with("host:")) {
        o.kind = Outcome::Kind::host_error;
        const std::size_t colon = text.find(':', 5);
        if (colon == text.npos || !read_number(text.substr(5, colon - 5), value, 0xffff)) return false;
        o.host_status = static_cast<std::uint16_t>(value);
        if (!read_number(text.substr(colon + 1), value, 0xffff)) return false;
        o.driver_status = static_cast<std::uint16_t>(value);
    } else {
        return false;
    }
    return true;
}

bool read_kinds(std::string_view text, std::vector<BufferKind>& kinds) {
    kinds.clear();
    for (;;) {
        const std::size_t comma = text.find(',');
        BufferKind kind{};
        if (!choice(text.substr(0, comma), buffer_kinds, kind)) return false;
        kinds.push_back(kind);
        if (comma == text.npos) return true;
        text.remove_prefix(comma + 1);
    }
}

bool read_submit(const LineWords& w, TraceLine& line) {
    Command& c = line.command;
    if (w.count() != 10 || !read_number(w[2], c.tag) || !read_hex(w[3], c.cdb) || !choice(w[4], directions, c.direction) ||
        !read_number(w[5], c.length) || !read_time(w[6], c.timeout) || !choice(w[7], attributes, c.attribute)) {
        return false;
    }
    line.unread = w[8] == "unread";
    if (w[9] != "-") line.data_hex = w[9];
    return (line.unread || w[8] == "kept") && !w[9].empty();
}

bool read_done(const LineWords& w, TraceLine& line) {
    Completion& c = line.completion;
    if (w.count() != 9 || !read_number(w[2], c.command.tag) || !read_time(w[3], c.submitted) || !read_time(w[4], c.finished) ||
        !read_outcome(w[5], c.outcome) || !read_number(w[6], c.resid) || !read_hex(w[7], c.sense)) {
        return false;
    }
    if (w[8] != "-") line.data_hex = w[8];
    return !w[8].empty();
}

bool read_drive(const LineWords& w, TraceLine& line) {
    std::uint64_t depth = 0;
    if (w.count() != 7) return false;
    const auto name = from_trace_word(w[2]), scheme = from_trace_word(w[3]);
    if (!name || !scheme || !read_number(w[4], depth, 65536) || depth == 0) return false;
    line.spec.text = line.spec.rest = *name;
    line.spec.scheme = *scheme;
    line.limits.depth = static_cast<unsigned>(depth);
    return read_number(w[5], line.limits.max_transfer_bytes) && read_kinds(w[6], line.limits.buffer_kinds);
}

bool read_counters(const LineWords& w, TraceLine& line) {
    if (w.count() == 3 && w[2] == "none") return true;
    std::uint64_t depth = 0;
    HiddenCounters& c = line.counters;
    c.available = true;
    if (w.count() != 6 || !read_number(w[2], c.requests) || !read_number(w[3], c.done) || !read_number(w[4], c.errors) ||
        !read_number(w[5], depth, 0xffffffff)) {
        return false;
    }
    c.queue_depth = static_cast<unsigned>(depth);
    return true;
}

bool read_rest(const LineWords& w, TraceLine& line) {
    std::uint64_t value = 0;
    switch (line.kind) {
        case Kind::version: return w.count() == 2 && w[1] == "1";
        case Kind::host:
            line.is_virtual = w[1] == "virtual";
            return w.count() == 4 && (line.is_virtual || w[1] == "real") && read_time(w[2], line.timeout) && read_time(w[3], line.time);
        case Kind::now: return w.count() == 2 && read_time(w[1], line.time);
        case Kind::interrupted:
            if (w.count() != 2 || !read_number(w[1], value, 64)) return false;
            line.signal = static_cast<int>(value);
            return true;
        case Kind::deadline:
        case Kind::end: return w.count() == 1;
        default: return false;
    }
}

}

std::string trace_word(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           std::string_view("._/:=,+-").find(c) != std::string_view::npos;
        if (plain) out += c;
        else fmt::format_to(std::back_inserter(out), "%{:02x}", static_cast<unsigned char>(c));
    }
    return out.empty() ? "%" : out;
}

std::optional<std::string> from_trace_word(std::string_view word) {
    if (word == "%") return "";
    std::string out;
    for (std::size_t i = 0; i < word.size(); ++i) {
        std::uint8_t byte = static_cast<std::uint8_t>(word[i]);
        if (word[i] == '%') {
            if (i + 2 >= word.size() || !decode_hex(word.substr(i + 1, 2), {&byte, 1})) return {};
            i += 2;
        }
        out += static_cast<char>(byte);
    }
    return out.empty() ? std::nullopt : std::optional(out);
}

void append_trace_drive(std::string& out, unsigned drive, const DriveSpec& spec, const Limits& limits) {
    fmt::format_to(std::back_inserter(out), "drive {} {} {} {} {} ", drive, trace_word(spec.text), trace_word(spec.scheme), limits.depth,
                   limits.max_transfer_bytes);
    for (const BufferKind kind : limits.buffer_kinds) {
        if (out.back() != ' ') out += ',';
        out += buffer_kinds[static_cast<std::size_t>(kind)];
    }
    out += '\n';
}

void append_trace_submit(std::string& out, unsigned drive, const Command& c) {
    fmt::format_to(std::back_inserter(out), "submit {} {} ", drive, c.tag);
    append_hex(out, c.cdb.view());
    fmt::format_to(std::back_inserter(out), " {} {} {} {} {} ", directions[static_cast<std::size_t>(c.direction)], c.length, c.timeout.count(),
                   attributes[static_cast<std::size_t>(c.attribute)], c.data ? "kept" : "unread");
    const bool told = c.direction == scsi::Direction::out && c.data && c.length <= std::min<Bytes>(greatest_data_out_bytes, c.data.size());
    append_hex_or_dash(out, c.data.bytes().first(told ? static_cast<std::size_t>(c.length) : 0));
    out += '\n';
}

void append_trace_done(std::string& out, unsigned drive, const Completion& c, ByteView data) {
    fmt::format_to(std::back_inserter(out), "done {} {} {} {} {} {} ", drive, c.command.tag, c.submitted.count(), c.finished.count(),
                   outcome_word(c.outcome), c.resid);
    if (c.sense.size > 0) append_hex(out, c.sense.view());
    else out += '-';
    out += ' ';
    append_hex_or_dash(out, data);
    out += '\n';
}

void append_trace_counters(std::string& out, unsigned drive, const HiddenCounters& c) {
    if (!c.available) fmt::format_to(std::back_inserter(out), "counters {} none\n", drive);
    else fmt::format_to(std::back_inserter(out), "counters {} {} {} {} {}\n", drive, c.requests, c.done, c.errors, c.queue_depth);
}

std::optional<TraceLine> parse_trace_line(std::string_view text, std::string& why) {
    static constexpr std::array<std::string_view, 13> verbs{"sgprobe-trace", "run",      "host",        "drive",    "kernel", "submit", "done",
                                                            "now",           "deadline", "interrupted", "counters", "gone",   "end"};
    const LineWords words(text);
    TraceLine line;
    bool good = choice(words[0], verbs, line.kind);
    const bool of_a_drive = line.kind == Kind::drive || line.kind == Kind::kernel || line.kind == Kind::submit || line.kind == Kind::done ||
                            line.kind == Kind::counters || line.kind == Kind::gone;
    std::uint64_t drive = 0;
    if (good && of_a_drive) good = words.count() > 2 && read_number(words[1], drive, 65535);
    line.drive = static_cast<unsigned>(drive);
    if (good) {
        switch (line.kind) {
            case Kind::drive: good = read_drive(words, line); break;
            case Kind::submit: good = read_submit(words, line); break;
            case Kind::done: good = read_done(words, line); break;
            case Kind::counters: good = read_counters(words, line); break;
            case Kind::run: line.text = text.substr(std::min<std::size_t>(4, text.size())); break;
            case Kind::kernel: line.text = text.substr(words[0].size() + words[1].size() + 2); break;
            case Kind::gone:
                if (const auto reason = words.count() == 3 ? from_trace_word(words[2]) : std::nullopt) line.text = *reason;
                else good = false;
                break;
            default: good = read_rest(words, line);
        }
    }
    if (good) return line;
    why = "\"" + escaped(text, 160) + "\" is no line of a trace";
    return {};
}

}
