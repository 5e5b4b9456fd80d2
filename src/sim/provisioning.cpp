// Blocks that are mapped and blocks that are not: GET LBA STATUS (SBC-4 5.6), UNMAP (5.35).
#include <algorithm>

#include "sgprobe/scsi/reader.h"
#include "sgprobe/sim/logical_unit.h"

namespace sgprobe::sim {
namespace {
constexpr SenseCode invalid_opcode{scsi::SenseKey::illegal_request, 0x20, 0x00};
constexpr SenseCode out_of_range{scsi::SenseKey::illegal_request, 0x21, 0x00};
constexpr SenseCode list_length{scsi::SenseKey::illegal_request, 0x1a, 0x00};
}

LogicalUnit::Reply LogicalUnit::lba_status(const TargetCommand& command) const {
    const scsi::Reader cdb(command.cdb);
    const Bytes allocation = cdb.u32(10).value_or(0);
    Lba lba = cdb.u64(2).value_or(0);
    if (!model_.flash.provisioned) return refused(invalid_opcode);
    if (lba >= model_.media.blocks) return refused(out_of_range);
    ByteVector data(8);
    for (int extents = 0; extents < 64 && lba < model_.media.blocks; ++extents) {
        const std::size_t at = data.size();
        data.resize(at + 16);
        const Blocks run = std::min<Blocks>(mapping_.run(lba), 0xffffffff);
        scsi::put(data, at, 8, lba);
        scsi::put(data, at + 8, 4, run);
        scsi::put(data, at + 12, 1, mapping_.mapped(lba) ? 0 : 1);
        lba += run;
    }
    scsi::put(data, 0, 4, data.size() - 4);
    return give(command, data, allocation);
}

LogicalUnit::Reply LogicalUnit::unmap(const TargetCommand& command) {
    if (!model_.flash.provisioned) return refused(invalid_opcode);
    const scsi::Reader list(command.data_out);
    const std::size_t length = scsi::Reader(command.cdb).u16(7).value_or(0);
    if (length == 0) return {};
    if (length < 8 || !list.has(0, length)) return refused(list_length);
    const std::size_t end = 8 + std::min<std::size_t>(list.u16(2).value_or(0), length - 8);
    for (std::size_t at = 8; at + 16 <= end; at += 16) {
        const Lba lba = *list.u64(at);
        const Blocks n = *list.u32(at + 8);
        if (lba > model_.media.blocks || n > model_.media.blocks - lba) return refused(out_of_range);
    }
    for (std::size_t at = 8; at + 16 <= end; at += 16) mapping_.unmap(*list.u64(at), *list.u32(at + 8));
    Reply reply;
    reply.transferred = length;
    return reply;
}

// Blocks that are not mapped read as zeros (LBPRZ).
void LogicalUnit::blank_unmapped(Lba lba, std::span<std::uint8_t> data) const {
    const std::size_t block = model_.media.block_bytes;
    for (std::size_t at = 0; at < data.size();) {
        const std::size_t bytes = std::min<std::size_t>(data.size() - at, std::min<Blocks>(mapping_.run(lba), 1 << 20) * block);
        if (!mapping_.mapped(lba)) std::fill_n(data.begin() + static_cast<std::ptrdiff_t>(at), bytes, std::uint8_t{0});
        at += bytes;
        lba += (bytes + block - 1) / block;
    }
}

}
