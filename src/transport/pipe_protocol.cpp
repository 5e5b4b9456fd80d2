#include "sgprobe/transport/pipe_protocol.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <iterator>

#include "sgprobe/transport/escape.h"

namespace sgprobe {
namespace {

constexpr std::uint64_t greatest_time_ns = std::numeric_limits<std::int64_t>::max();

template <class T>
std::optional<T> reject(std::string& why, std::string_view line, std::string_view expected) {
    why = "\"" + escaped(line, 160) + "\" where " + std::string(expected) + " was expected";
    return {};
}

// Words parted by exactly one blank each; more than there is room for: nothing.
struct Words {
    std::array<std::string_view, 8> word;
    std::size_t count = 0;
    explicit Words(std::string_view line) {
        for (;;) {
            const std::size_t blank = line.find(' ');
            if (count == word.size()) { count = word.size() + 1; return; }
            word[count++] = line.substr(0, blank);
            if (blank == line.npos) return;
            line.remove_prefix(blank + 1);
        }
    }
    std::string_view operator[](std::size_t i) const { return word[i]; }
};

bool number(std::string_view text, std::uint64_t& value, std::uint64_t greatest = std::numeric_limits<std::uint64_t>::max()) {
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    return !text.empty() && error == std::errc() && stop == end && value <= greatest;
}

bool time(std::string_view text, Nanoseconds& value) {
    std::uint64_t ns = 0;
    if (!number(text, ns, greatest_time_ns)) return false;
    value = Nanoseconds(static_cast<std::int64_t>(ns));
    return true;
}

int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

bool read_sense(std::string_view text, SenseBytes& sense) {
    if (text == "-") return true;
    if (text.empty() || text.size() % 2 != 0 || text.size() / 2 > sense.bytes.size()) return false;
    sense.size = static_cast<std::uint8_t>(text.size() / 2);
    return decode_hex(text, std::span(sense.bytes).first(sense.size));
}

bool read_cdb(std::string_view text, scsi::Cdb& cdb) {
    if (text.empty() || text.size() % 2 != 0 || text.size() / 2 > cdb.bytes.size()) return false;
    cdb.size = static_cast<std::uint8_t>(text.size() / 2);
    return decode_hex(text, std::span(cdb.bytes).first(cdb.size));
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
    const Words words(line);
    PipeHello hello;
    std::uint64_t depth = 0;
    std::size_t next = 2;
    if (words.count < 2 || words.count > 4 || words[0] != "hello" || words[1] != "1") return reject<PipeHello>(why, line, form);
    if (next < words.count && words[next].starts_with("depth=")) {
        if (!number(words[next++].substr(6), depth, 65536) || depth == 0) return reject<PipeHello>(why, line, form);
        hello.depth = static_cast<unsigned>(depth);
    }
    if (next < words.count && words[next].starts_with("max_transfer=")) {
        if (!number(words[next++].substr(13), hello.max_transfer_bytes) || hello.max_transfer_bytes == 0) return reject<PipeHello>(why, line, form);
    }
    if (next < words.count) return reject<PipeHello>(why, line, form);
    return hello;
}

std::optional<PipeAnswer> parse_pipe_answer(std::string_view line, std::string& why) {
    PipeAnswer answer;
    answer.none = line == "none";
    if (answer.none) return answer;
    const Words words(line);
    std::uint64_t status = 0;
    const bool good = words.count == 7 && words[0] == "done" && number(words[1], answer.done.id) && time(words[2], answer.done.time) &&
                      number(words[3], status, 255) && number(words[4], answer.done.resid) && read_sense(words[5], answer.done.sense) &&
                      !words[6].empty();
    if (!good) return reject<PipeAnswer>(why, line, "\"done ID TIME_NS STATUS RESID SENSEHEX|- DATAHEX|-\" or \"none\"");
    answer.done.status = static_cast<scsi::Status>(status);
    if (words[6] != "-") answer.data_hex = words[6];
    return answer;
}

std::optional<PipeRequest> parse_pipe_request(std::string_view line, std::string& why) {
    using Kind = PipeRequest::Kind;
    const Words words(line);
    PipeRequest request;
    const std::string_view verb = words[0];
    bool good = false;
    if (verb == "hello") {
        request.kind = Kind::hello;
        good = words.count == 2 && words[1] == "1";
    } else if (verb == "submit") {
        request.kind = Kind::submit;
        good = (words.count == 6 || words.count == 7) && number(words[1], request.id) && time(words[2], request.time) &&
               read_cdb(words[3], request.cdb) && read_direction(words[4], request.direction) && number(words[5], request.length);
        if (good && words.count == 7) request.data_hex = words[6];
        good = good && request.data_hex.size() == (request.direction == scsi::Direction::out ? request.length * 2 : 0);
    } else if (verb == "wait") {
        request.kind = Kind::wait;
        good = words.count == 3 && time(words[1], request.time) && time(words[2], request.deadline) && request.time <= request.deadline;
    } else if (verb == "abort") {
        request.kind = Kind::abort;
        good = words.count == 3 && number(words[1], request.id) && time(words[2], request.time);
    } else if (verb == "idle") {
        request.kind = Kind::idle;
        good = words.count == 2 && time(words[1], request.time);
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
