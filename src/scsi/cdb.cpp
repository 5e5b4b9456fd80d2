#include "sgprobe/scsi/cdb.h"

#include "sgprobe/scsi/reader.h"

namespace sgprobe::scsi {
namespace {
Cdb make(std::initializer_list<std::uint8_t> start, std::uint8_t size) {
    Cdb cdb;
    std::copy(start.begin(), start.end(), cdb.bytes.begin());
    cdb.size = size;
    return cdb;
}

// Where the fields of each READ and WRITE lie: SBC-4 5.15 to 5.19, 5.40 to 5.44.
struct Layout {
    RwOpcode opcode;
    std::string_view name;
    std::uint8_t size, lba_at, lba_width, blocks_at, blocks_width;
};
constexpr Layout layouts[] = {
    {RwOpcode::read6, "READ(6)", 6, 1, 3, 4, 1},      {RwOpcode::write6, "WRITE(6)", 6, 1, 3, 4, 1},
    {RwOpcode::read10, "READ(10)", 10, 2, 4, 7, 2},   {RwOpcode::write10, "WRITE(10)", 10, 2, 4, 7, 2},
    {RwOpcode::read12, "READ(12)", 12, 2, 4, 6, 4},   {RwOpcode::write12, "WRITE(12)", 12, 2, 4, 6, 4},
    {RwOpcode::read16, "READ(16)", 16, 2, 8, 10, 4},  {RwOpcode::write16, "WRITE(16)", 16, 2, 8, 10, 4},
};
const Layout* layout(std::uint8_t opcode) {
    for (const Layout& candidate : layouts)
        if (static_cast<std::uint8_t>(candidate.opcode) == opcode) return &candidate;
    return nullptr;
}
const Layout& layout(RwOpcode opcode) {
    const Layout* found = layout(static_cast<std::uint8_t>(opcode));
    return found ? *found : layouts[0];
}
constexpr std::uint64_t greatest(unsigned bits) { return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1; }
}

bool ReadWrite::write() const {
    return opcode == RwOpcode::write6 || opcode == RwOpcode::write10 || opcode == RwOpcode::write12 || opcode == RwOpcode::write16;
}

std::string_view name(RwOpcode opcode) { return layout(opcode).name; }

Lba greatest_lba(RwOpcode opcode) {
    const Layout& of = layout(opcode);
    return of.size == 6 ? greatest(21) : greatest(8U * of.lba_width);
}

Blocks greatest_transfer(RwOpcode opcode) {
    const Layout& of = layout(opcode);
    return of.size == 6 ? 256 : greatest(8U * of.blocks_width);
}

std::optional<Cdb> build(const ReadWrite& command) {
    const Layout& of = layout(command.opcode);
    if (command.lba > greatest_lba(command.opcode) || command.blocks > greatest_transfer(command.opcode)) return {};
    Cdb cdb = make({static_cast<std::uint8_t>(of.opcode)}, of.size);
    put(cdb.bytes, of.lba_at, of.lba_width, command.lba);
    put(cdb.bytes, of.blocks_at, of.blocks_width, command.blocks);
    if (of.size == 6) {   // 0 means 256 there, so that a transfer of nothing cannot be asked for
        if (command.blocks == 0 || command.dpo || command.fua || command.protect != 0) return {};
        return cdb;
    }
    if (command.protect > 7) return {};
    put(cdb.bytes, 1, 1, static_cast<std::uint64_t>(command.protect << 5));
    put_flag(cdb.bytes, 1, 4, command.dpo);
    put_flag(cdb.bytes, 1, 3, command.fua);
    return cdb;
}

std::optional<ReadWrite> decode_read_write(ByteView bytes) {
    const Reader cdb(bytes);
    const auto opcode = cdb.u8(0);
    const Layout* of = opcode ? layout(*opcode) : nullptr;
    if (!of || cdb.size() < of->size) return {};
    ReadWrite command{.opcode = of->opcode};
    command.lba = *cdb.big_endian(of->lba_at, of->lba_width);
    command.blocks = *cdb.big_endian(of->blocks_at, of->blocks_width);
    if (of->size == 6) {
        command.lba &= greatest(21);
        if (command.blocks == 0) command.blocks = 256;
        return command;
    }
    command.protect = *cdb.bits(1, 7, 3);
    command.dpo = cdb.flag(1, 4);
    command.fua = cdb.flag(1, 3);
    return command;
}

Cdb test_unit_ready() { return make({0x00}, 6); }

Cdb request_sense(std::uint8_t allocation, bool descriptor) {
    return make({0x03, static_cast<std::uint8_t>(descriptor), 0, 0, allocation}, 6);
}

Cdb inquiry(std::uint16_t allocation) {
    Cdb cdb = make({0x12}, 6);
    put(cdb.bytes, 3, 2, allocation);
    return cdb;
}

Cdb inquiry_vpd(std::uint8_t page, std::uint16_t allocation) {
    Cdb cdb = make({0x12, 0x01, page}, 6);
    put(cdb.bytes, 3, 2, allocation);
    return cdb;
}

Cdb read_capacity_10() { return make({0x25}, 10); }

Cdb read_capacity_16(std::uint32_t allocation) {
    Cdb cdb = make({0x9e, 0x10}, 16);
    put(cdb.bytes, 10, 4, allocation);
    return cdb;
}

Cdb mode_sense_6(const ModeSense& asked, std::uint8_t allocation) {
    Cdb cdb = make({0x1a, 0, static_cast<std::uint8_t>(static_cast<unsigned>(asked.control) << 6 | (asked.page & 0x3f)), asked.subpage, allocation}, 6);
    put_flag(cdb.bytes, 1, 3, asked.dbd);
    return cdb;
}

Cdb mode_sense_10(const ModeSense& asked, std::uint16_t allocation) {
    Cdb cdb = make({0x5a, 0, static_cast<std::uint8_t>(static_cast<unsigned>(asked.control) << 6 | (asked.page & 0x3f)), asked.subpage}, 10);
    put_flag(cdb.bytes, 1, 3, asked.dbd);
    put_flag(cdb.bytes, 1, 4, asked.llbaa);
    put(cdb.bytes, 7, 2, allocation);
    return cdb;
}

Cdb mode_select_6(std::uint8_t length, bool save_pages) {
    Cdb cdb = make({0x15, 0x10, 0, 0, length}, 6);
    put_flag(cdb.bytes, 1, 0, save_pages);
    return cdb;
}

Cdb mode_select_10(std::uint16_t length, bool save_pages) {
    Cdb cdb = make({0x55, 0x10}, 10);
    put_flag(cdb.bytes, 1, 0, save_pages);
    put(cdb.bytes, 7, 2, length);
    return cdb;
}

Cdb log_sense(std::uint8_t page, std::uint8_t subpage, std::uint16_t allocation, std::uint16_t parameter) {
    Cdb cdb = make({0x4d, 0, static_cast<std::uint8_t>(0x40 | (page & 0x3f)), subpage}, 10);   // PC 01b: cumulative values
    put(cdb.bytes, 5, 2, parameter);
    put(cdb.bytes, 7, 2, allocation);
    return cdb;
}

Cdb synchronize_cache_10(std::uint32_t lba, std::uint16_t blocks, bool immediate) {
    Cdb cdb = make({0x35}, 10);
    put_flag(cdb.bytes, 1, 1, immediate);
    put(cdb.bytes, 2, 4, lba);
    put(cdb.bytes, 7, 2, blocks);
    return cdb;
}

Cdb start_stop_unit(bool start, bool immediate, std::uint8_t power_condition) {
    Cdb cdb = make({0x1b, static_cast<std::uint8_t>(immediate), 0, 0, static_cast<std::uint8_t>((power_condition & 0xf) << 4)}, 6);
    put_flag(cdb.bytes, 4, 0, start);
    return cdb;
}

Cdb get_lba_status(Lba lba, std::uint32_t allocation) {
    Cdb cdb = make({0x9e, 0x12}, 16);
    put(cdb.bytes, 2, 8, lba);
    put(cdb.bytes, 10, 4, allocation);
    return cdb;
}

Cdb report_luns(std::uint32_t allocation, std::uint8_t select) {
    Cdb cdb = make({0xa0, 0, select}, 12);
    put(cdb.bytes, 6, 4, allocation);
    return cdb;
}

Cdb report_supported_opcodes(std::uint8_t opcode, std::uint32_t allocation) {
    Cdb cdb = make({0xa3, 0x0c, 0x01, opcode}, 12);
    put(cdb.bytes, 6, 4, allocation);
    return cdb;
}

}
