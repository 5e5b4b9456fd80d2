// Reads across the addresses at which command sets change: some firmware miscounts there, and it looks like a bad block.
#include "sgprobe/measure/limit_borders.h"

#include <fmt/format.h>

#include "sgprobe/transport/describe.h"

namespace sgprobe::measure {
namespace {
constexpr Blocks across = 8;

struct Border { Lba last; std::string_view name; };
// ACS-4 4.1.2: 28-bit commands end at 0FFFFFFFh, though some drives refuse that one; READ(10) and (12) start no higher than FFFFFFFFh.
constexpr Border borders[] = {
    {(Lba{1} << 21) - 1, "21-bit addresses (READ(6))"},
    {(Lba{1} << 28) - 1, "28-bit addresses (ATA)"},
    {(Lba{1} << 32) - 1, "32-bit addresses (READ(10), READ(12))"},
};

std::optional<Completion> read(LimitDrive& drive, const LimitOpcode& opcode, Lba lba, Blocks blocks) {
    const Bytes block = drive.facts().block_bytes;
    const auto cdb = build(opcode, lba, blocks, block);
    if (!cdb || drive.over()) return {};
    Command command;
    command.cdb = *cdb;
    command.direction = scsi::Direction::in;
    command.length = blocks * block;
    command.data = drive.drive().buffer(command.length, BufferKind::indirect);
    Completion completion = drive.run(std::move(command));
    if (completion.outcome.kind != Outcome::Kind::status && completion.outcome.kind != Outcome::Kind::os_refusal) drive.come_back(completion);
    return completion;
}

// Which of the blocks fails on its own, in the command with the widest address field?
std::optional<Lba> bad_block(LimitDrive& drive, Lba first) {
    const LimitOpcode* opcode = find_limit_opcode("READ(16)");
    for (Lba lba = first; lba < first + across; ++lba) {
        bool reads = false;
        for (int attempt = 0; attempt < 3 && !reads; ++attempt) {
            const auto completion = read(drive, *opcode, lba, 1);
            if (!completion) return {};
            reads = completion->outcome.good();
        }
        if (!reads) return lba;
    }
    return {};
}
}

std::vector<AddressBorder> read_across_borders(LimitDrive& drive, const std::vector<const LimitOpcode*>& opcodes) {
    std::vector<AddressBorder> found;
    for (const Border& border : borders) {
        if (border.last + across >= drive.facts().blocks) break;
        const Lba first = border.last + 1 - across / 2;
        for (const LimitOpcode* opcode : opcodes) {
            if (opcode->write) continue;
            AddressBorder result{border.last, std::string(border.name), std::string(opcode->name), "passes", true, ""};
            std::optional<Completion> completion;
            for (int attempt = 0; attempt < 4 && (!completion || !completion->outcome.good()); ++attempt) {
                completion = read(drive, *opcode, first, across);
                if (!completion) break;
            }
            if (!completion) continue;                       // not addressable, or the run is over
            if (!completion->outcome.good()) {
                result.passes = false;
                const auto bad = bad_block(drive, first);
                result.told = bad ? fmt::format("block {} fails on its own: a fault of the medium", *bad)
                                  : "each block reads well on its own: the firmware does not cross this border";
                result.outcome = describe(*completion) + "; " + result.told;
            }
            found.push_back(std::move(result));
        }
    }
    return found;
}

}
