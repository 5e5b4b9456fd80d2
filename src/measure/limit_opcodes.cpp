#include <algorithm>

#include "sgprobe/measure/limit_probe.h"

namespace sgprobe::measure {
namespace {
using scsi::RwOpcode;

constexpr Lba lba48 = (Lba{1} << 48) - 1;
constexpr std::uint8_t read_dma_ext = 0x25, read_fpdma_queued = 0x60;

LimitOpcode row(RwOpcode opcode, bool write) {
    return {name(opcode), opcode, 0, scsi::greatest_transfer(opcode), scsi::greatest_lba(opcode), write};
}

// ACS-4 7.23 and 7.25: a count of 0 asks for 65,536.
const LimitOpcode rows[] = {
    row(RwOpcode::read10, false), row(RwOpcode::read16, false), row(RwOpcode::read12, false), row(RwOpcode::read6, false),
    {"READ DMA EXT", {}, read_dma_ext, 65536, lba48, false},
    {"READ FPDMA QUEUED", {}, read_fpdma_queued, 65536, lba48, false},
    row(RwOpcode::write10, true), row(RwOpcode::write16, true), row(RwOpcode::write12, true), row(RwOpcode::write6, true),
};
}

std::span<const LimitOpcode> limit_opcodes() { return rows; }

const LimitOpcode* find_limit_opcode(std::string_view name) {
    const auto* found = std::find_if(std::begin(rows), std::end(rows), [&](const LimitOpcode& opcode) { return opcode.name == name; });
    return found == std::end(rows) ? nullptr : found;
}

std::optional<scsi::Cdb> build(const LimitOpcode& opcode, Lba lba, Blocks blocks, Bytes block_bytes) {
    if (opcode.scsi) return scsi::build(scsi::ReadWrite{.opcode = *opcode.scsi, .lba = lba, .blocks = blocks});
    if (blocks > opcode.greatest || lba > opcode.greatest_lba) return {};
    const bool queued = opcode.ata_command == read_fpdma_queued;
    scsi::AtaCommand ata;
    ata.protocol = queued ? scsi::AtaProtocol::fpdma : scsi::AtaProtocol::dma;
    ata.extend = true;
    ata.command = opcode.ata_command;
    ata.device = 0x40;
    ata.lba = lba;
    (queued ? ata.feature : ata.count) = static_cast<std::uint16_t>(blocks);
    scsi::Cdb cdb = scsi::ata_pass_through_16(ata);
    // SAT-4 12.2.2.2: the length of a queued command is in the FEATURES field; T_TYPE counts in logical blocks, not in 512 bytes.
    if (queued) cdb.bytes[2] = static_cast<std::uint8_t>((cdb.bytes[2] & ~0x03) | 0x01);
    if (block_bytes != 512) cdb.bytes[2] |= 0x10;
    return cdb;
}

}
