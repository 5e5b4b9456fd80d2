#include "sgprobe/measure/transfer_limit.h"

#include <fmt/format.h>

#include "sgprobe/measure/limit_attribution.h"
#include "sgprobe/measure/limits.h"
#include "sgprobe/transport/describe.h"

namespace sgprobe::measure {
namespace {
struct Tried { bool refused = false; std::string how; };

Tried try_read(Host& host, Drive& drive, Lba lba, Blocks blocks, Bytes block_bytes, BufferKind kind) {
    Command command;
    const bool far = lba + blocks > 0xffffffff || blocks > 0xffff;
    command.cdb = *scsi::build({.opcode = far ? scsi::RwOpcode::read16 : scsi::RwOpcode::read10, .lba = lba, .blocks = blocks});
    command.direction = scsi::Direction::in;
    command.length = blocks * block_bytes;
    if (kind != BufferKind::indirect) {
        command.data = drive.buffer(command.length, kind);
        if (!command.data) return {true, "no memory of that kind"};
    }
    const Completion completion = execute(host, drive, std::move(command));
    return {completion.outcome.kind == Outcome::Kind::os_refusal, describe(completion)};
}
}

TransferLimit find_transfer_limit(Host& host, Drive& drive, Lba lba, Blocks wanted, Bytes block_bytes) {
    const Tried plain = try_read(host, drive, lba, wanted, block_bytes, BufferKind::indirect);
    if (!plain.refused) return {wanted, BufferKind::indirect, ""};
    TransferLimit best;
    for (const BufferKind kind : drive.limits().buffer_kinds) {
        if (try_read(host, drive, lba, 1, block_bytes, kind).refused) continue;
        Blocks low = 1, high = wanted;               // wanted is refused with plain buffers; other kinds may carry it
        if (kind != BufferKind::indirect && !try_read(host, drive, lba, wanted, block_bytes, kind).refused) low = wanted;
        while (low < wanted && high - low > 1) {
            const Blocks middle = low + (high - low) / 2;
            (try_read(host, drive, lba, middle, block_bytes, kind).refused ? high : low) = middle;
        }
        if (low > best.blocks) { best.blocks = low; best.buffer = kind; }
        if (best.blocks == wanted) break;
    }
    if (best.blocks == 0) return best;
    const std::string with = best.buffer == BufferKind::indirect ? "" : fmt::format(" (with {} buffers, which go further than plain ones)", name(best.buffer));
    best.note = best.blocks == wanted
        ? fmt::format("the host refuses {} with plain buffers ({}); {} buffers carry it and were used", binary_bytes(wanted * block_bytes), plain.how, name(best.buffer))
        : fmt::format("the host, not the drive, ends the sweep at {}{}: longer transfers are refused ({}); `sgprobe limits` says which limit that is and how to go past it",
                      binary_bytes(best.blocks * block_bytes), with, plain.how);
    return best;
}

}
