// The lines of the pipe protocol (sgprobe-pipe(5)): what a model says, and what the host says, as typed values.
//
// Nothing is guessed: a line that is not exactly in form gives no value and the reason, in words that are safe to print.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "sgprobe/transport/target.h"

namespace sgprobe {

struct PipeHello {
    unsigned depth = 1;
    Bytes max_transfer_bytes = 0;          // 0: the host's own limit
};
std::optional<PipeHello> parse_pipe_hello(std::string_view line, std::string& why);

// `done ID TIME_NS STATUS RESID SENSEHEX|- DATAHEX|-` or `none`. Views point into the line.
struct PipeAnswer {
    bool none = false;
    TargetDone done;
    std::string_view data_hex;             // empty for `-`: zeros
};
std::optional<PipeAnswer> parse_pipe_answer(std::string_view line, std::string& why);

// What the host says, for a server of the protocol. Views point into the line.
struct PipeRequest {
    enum class Kind : std::uint8_t { hello, submit, wait, abort, idle, bye };
    Kind kind = Kind::bye;
    std::uint64_t id = 0;
    Nanoseconds time{0}, deadline{0};
    scsi::Cdb cdb;
    scsi::Direction direction = scsi::Direction::none;
    Bytes length = 0;
    std::string_view data_hex;
};
std::optional<PipeRequest> parse_pipe_request(std::string_view line, std::string& why);

void append_pipe_submit(std::string& out, const TargetCommand&);
void append_pipe_done(std::string& out, const TargetDone&, ByteView data);   // data that is all zeros is `-`

void append_hex(std::string& out, ByteView);
bool decode_hex(std::string_view digits, std::span<std::uint8_t> into);      // false unless it is 2 digits for each byte

}
