// folders: scsi transport
#include "fuzz.h"
#include "sgprobe/scsi/anonymize.h"
#include "sgprobe/transport/failure.h"
#include "sgprobe/transport/trace_format.h"
#include "sgprobe/transport/trace_host.h"

using namespace sgprobe;

namespace {

// Replays whatever it is: every command sent comes back, and the clock is all that a run can be told wrong.
void replay(std::string_view text) {
    TraceHost host(std::string(text), "trace:x");
    const auto drive = host.open(DriveSpec::parse("trace:x"));
    for (int i = 0; i < 4; ++i) {
        Command command;
        command.cdb = scsi::test_unit_ready();
        command.direction = scsi::Direction::in;
        command.length = 16;
        command.data = drive->buffer(16, BufferKind::indirect);
        drive->submit(std::move(command));
        for (int waits = 0; drive->outstanding() > 0; ++waits) {
            host.wait(Host::never);
            demand(waits < 100000);
        }
        drive->counters();
    }
}

}

FUZZ(data) {
    const std::string_view text(reinterpret_cast<const char*>(data.data()), data.size());
    std::string why;
    if (!parse_trace_line(text.substr(0, text.find('\n')), why)) demand(!why.empty());
    const auto word = from_trace_word(trace_word(text));
    demand(word == text);
    std::vector<std::uint8_t> bytes(data.begin(), data.end());
    const ByteView cdb = ByteView(data).first(std::min<std::size_t>(data.size(), 16));
    scsi::anonymize(cdb, bytes);
    try {
        replay("sgprobe-trace 1\nhost virtual 60000000000 0\ndrive 0 x sim 1 0 indirect\n" + std::string(text));
    } catch (const Failure&) {
    }
}
