// folders: scsi transport sim
// Whatever the file says: it is refused with a message, or it is a drive that answers commands.
#include "fuzz.h"
#include "sgprobe/scsi/cdb.h"
#include "sgprobe/sim/sim.h"
#include "sgprobe/transport/failure.h"

using namespace sgprobe;

FUZZ(data) {
    const std::string_view text(reinterpret_cast<const char*>(data.data()), data.size());
    std::unique_ptr<Target> target;
    Blocks blocks = 0;
    try {
        const sim::Model model = sim::parse_model(text, "fuzz.toml");
        blocks = model.media.blocks;
        target = sim::make_target(model);
    } catch (const Failure& failure) {
        demand(std::string_view(failure.what()).starts_with("fuzz.toml:"));
        return;
    }
    static std::uint8_t buffer[65536];
    TargetCommand command;
    auto send = [&](const scsi::Cdb& cdb, Bytes length) {
        ++command.id;
        command.cdb = cdb.view();
        command.direction = length ? scsi::Direction::in : scsi::Direction::none;
        command.length = length;
        command.data_in = std::span(buffer).first(std::min<std::size_t>(length, sizeof buffer));
        target->submit(command);
        const Nanoseconds deadline = command.time + std::chrono::seconds(60);
        const TargetEvent event = target->wait(command.time, deadline);
        if (event.done) demand(event.done->id == command.id && event.done->time >= command.time && event.done->time <= deadline && event.done->resid <= length);
        else target->abort(command.id, deadline);
        command.time = event.done ? event.done->time : deadline;
    };
    send(scsi::inquiry(96), 96);
    send(scsi::mode_sense_10({.page = 0x3f, .subpage = 0xff}, 4096), 4096);
    for (const Lba lba : {Lba{0}, blocks / 2, blocks - 1})
        for (const Blocks n : {1u, 40u})
            send(*scsi::build({.opcode = scsi::RwOpcode::read16, .lba = lba, .blocks = n}), n * 64);
}
