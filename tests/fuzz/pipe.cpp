// folders: scsi transport
#include <vector>

#include "fuzz.h"
#include "sgprobe/transport/pipe_protocol.h"

using namespace sgprobe;

FUZZ(data) {
    const std::string_view line(reinterpret_cast<const char*>(data.data()), data.size());
    std::string why;
    if (!parse_pipe_hello(line, why)) demand(!why.empty());
    const auto answer = parse_pipe_answer(line, why);
    if (!answer) demand(!why.empty() && why.find('\n') == why.npos);
    if (answer && !answer->none) {
        std::vector<std::uint8_t> bytes(answer->data_hex.size() / 2);
        std::string again;
        append_pipe_done(again, answer->done, {});
        demand(!decode_hex(answer->data_hex, bytes) || parse_pipe_answer(std::string_view(again).substr(0, again.size() - 1), why).has_value());
    }
    if (const auto request = parse_pipe_request(line, why); request && request->kind == PipeRequest::Kind::submit) {
        demand(request->cdb.size > 0 && request->cdb.size <= 32);
    }
}
