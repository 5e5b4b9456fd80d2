#include "sgprobe/transport/pipe_protocol.h"

#include <fmt/format.h>

#include <array>
#include <iterator>

#include "line_words.h"
#include "sgprobe/transport/escape.h"

namespace sgprobe {
namespace {

template <class T>
std::optional<T> reject(std::string& why, std::string_view line, std::string_view expected) {
    why = "\"" + escaped(line, 160) + "\" where " + std::string(expected) + " was expected";
    return {};
}

int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

constexpr std::array<std::pair<std::string_view, scsi::Direction>, 3> directions{{
    {"none", scsi::Direction::none}, {"in", scsi::Direction::in}, {"out", scsi::Direction::out}}};

bool read_direction(std::string_view text, scsi::Direction& direction) {
    for (const auto& [name, value] : directions) {
        if (text != name) continue;
        direction = value;
        return true;
    }
    return false;
}

}

void append_hex(std::string& out, ByteView bytes) {
    static constexpr char digits[] = "0123456789abcdef";
    const std::size_t begin = out.size();
    out.resize(begin + bytes.size() * 2);
    char* at = out.data() + begin;
    for (const std::uint8_t byte : bytes) {
        *at++ = digits[byte >> 4];
        *at++ = digits[byte & 15];
    }
}

bool decode_hex(std::string_view digits, std::span<std::uint8_t> into) {
    if (digits.size() != into.size() * 2) return false;
    for (std::size_t i = 0; i < into.size(); ++i) {
        const int high = digit(digits[2 * i]), low = digit(digits[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        into[i] = static_cast<std::uint8_t>(high << 4 | low);
    }
    return true;
}

std::optional<PipeHello> parse_pipe_hello(std::string_view line, std::string& why) {
    constexpr std::string_view form = "\"hello 1 [depth=N] [max_transfer=BYTES]\"";
    const LineWords words(line);
    PipeHello hello;
    std::uint64_t depth = 0;
    std::size_t next = 2;
    if (words.count() < 2 || words.count() > 4 || words[0] != "hello" || words[1] != "1") return reject<PipeHello>(why, line, form);
    if (next < words.count() && words[next].starts_with("depth=")) {
        if (!read_number(words[next++].substr(6), depth, 65536) || depth == 0) return reject<PipeHello>(why, line, form);
        hello.depth = static_cast<unsigned>(depth);
    }
    if (next < words.count() && words[next].starts_with("max_transfer=")) {
        if (!read_number(words[next++].substr(13), hello.max_transfer_bytes) || hello.max_transfer_bytes == 0) return reject<PipeHello>(why, line, form);
    }
    if (next < words.count()) return reject<PipeHello>(why, line, form);
    return hello;
}

std::optional<PipeAnswer> parse_pipe_answer(std::string_view line, std::string& why) {
    PipeAnswer answer;
    answer.none = line == "none";
    if (answer.none) return answer;
    const LineWords words(line);
    std::uint64_t status = 0;
    const bool good = words.count() == 7 && words[0] == "done" && read_number(words[1], answer.done.id) && read_time(words[2], answer.done.time) &&
                      read_number(words[3], status, 255) && read_number(words[4], answer.done.resid) && read_hex(words[5], answer.done.sense) &&
                      !words[6].empty();
    if (!good) return reject<PipeAnswer>(why, line, "\"done ID TIME_NS STATUS RESID SENSEHEX|- DATAHEX|-\" or \"none\"");
    answer.done.status = static_cast<scsi::Status>(status);
    if (words[6] != "-") answer.data_hex = words[6];
    return answer;
}

std::optional<PipeRequest> parse_pipe_request(std::string_view line, std::string& why) {
    using Kind = PipeRequest::Kind;
    const LineWords words(line);
    PipeRequest request;
    const std::string_view verb = words[0];
    bool good = false;
    if (verb == "hello") {
        request.kind = Kind::hello;
        good = words.count() == 2 && words[1] == "1";
    } else if (verb == "submit") {
        request.kind = Kind::submit;
        good = (words.count() == 6 || words.count() == 7) && read_number(words[1], request.id) && read_time(words[2], request.time) &&
               read_hex(words[3], request.cdb) && read_direction(words[4], request.direction) && read_number(words[5], request.length);
        if (good && words.count() == 7) request.data_hex = words[6];
        good = good && request.data_hex.size() == (request.direction == scsi::Direction::out ? request.length * 2 : 0);
    } else if (verb == "wait") {
        request.kind = Kind::wait;
        good = words.count() == 3 && read_time(words[1], request.time) && read_time(words[2], request.deadline) && request.time <= request.deadline;
    } else if (verb == "abort") {
        request.kind = Kind::abort;
        good = words.count() == 3 && read_number(words[1], request.id) && read_time(words[2], request.time);
    } else if (verb == "idle") {
        request.kind = Kind::idle;
        good = words.count() == 2 && read_time(words[1], request.time);
    } else {
        good = line == "bye";
    }
    if (!good) return reject<PipeRequest>(why, line, "hello, submit, wait, abort, idle or bye");
    return request;
}

void append_pipe_submit(std::string& out, const TargetCommand& command) {
    fmt::format_to(std::back_inserter(out), "submit {} {} ", command.id, command.time.count());
    append_hex(out, command.cdb);
    fmt::format_to(std::back_inserter(out), " {} {}", directions[static_cast<std::size_t>(command.direction)].first, command.length);
    if (!command.data_out.empty()) {
        out += ' ';
        append_hex(out, command.data_out);
    }
    out += '\n';
}

void append_pipe_done(std::string& out, const TargetDone& done, ByteView data) {
    fmt::format_to(std::back_inserter(out), "done {} {} {} {} ", done.id, done.time.count(), static_cast<unsigned>(done.status), done.resid);
    if (done.sense.size > 0) append_hex(out, done.sense.view());
    else out += '-';
    out += ' ';
    const bool zeros = std::all_of(data.begin(), data.end(), [](std::uint8_t byte) { return byte == 0; });
    if (zeros) out += '-';
    else append_hex(out, data);
    out += '\n';
}

}
