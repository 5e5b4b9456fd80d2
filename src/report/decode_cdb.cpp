// A CDB's fields, as rows in the standards' coordinates (SPC-5 6, SBC-4 5, SAT-4 12.2.2).
#include <scsi/sg_lib.h>

#include <array>

#include "decode_parts.h"
#include "sgprobe/scsi/cdb.h"
#include "sgprobe/scsi/reader.h"

namespace sgprobe::report {
namespace {
struct Row { std::uint8_t opcode; int service_action; const char* field; std::uint8_t byte, bit, width; };   // width in bits, from bit down
constexpr Row rows[] = {
    {0x03, -1, "desc", 1, 0, 1}, {0x03, -1, "allocation_length", 4, 7, 8},
    {0x12, -1, "evpd", 1, 0, 1}, {0x12, -1, "page_code", 2, 7, 8}, {0x12, -1, "allocation_length", 3, 7, 16},
    {0x1a, -1, "dbd", 1, 3, 1}, {0x1a, -1, "pc", 2, 7, 2}, {0x1a, -1, "page_code", 2, 5, 6}, {0x1a, -1, "subpage_code", 3, 7, 8}, {0x1a, -1, "allocation_length", 4, 7, 8},
    {0x5a, -1, "llbaa", 1, 4, 1}, {0x5a, -1, "dbd", 1, 3, 1}, {0x5a, -1, "pc", 2, 7, 2}, {0x5a, -1, "page_code", 2, 5, 6}, {0x5a, -1, "subpage_code", 3, 7, 8}, {0x5a, -1, "allocation_length", 7, 7, 16},
    {0x15, -1, "pf", 1, 4, 1}, {0x15, -1, "sp", 1, 0, 1}, {0x15, -1, "parameter_list_length", 4, 7, 8},
    {0x55, -1, "pf", 1, 4, 1}, {0x55, -1, "sp", 1, 0, 1}, {0x55, -1, "parameter_list_length", 7, 7, 16},
    {0x4d, -1, "sp", 1, 0, 1}, {0x4d, -1, "pc", 2, 7, 2}, {0x4d, -1, "page_code", 2, 5, 6}, {0x4d, -1, "subpage_code", 3, 7, 8}, {0x4d, -1, "parameter_pointer", 5, 7, 16}, {0x4d, -1, "allocation_length", 7, 7, 16},
    {0x1b, -1, "immed", 1, 0, 1}, {0x1b, -1, "power_condition", 4, 7, 4}, {0x1b, -1, "loej", 4, 1, 1}, {0x1b, -1, "start", 4, 0, 1},
    {0x35, -1, "immed", 1, 1, 1}, {0x35, -1, "logical_block_address", 2, 7, 32}, {0x35, -1, "number_of_logical_blocks", 7, 7, 16},
    {0x9e, 0x10, "allocation_length", 10, 7, 32}, {0x9e, 0x12, "starting_logical_block_address", 2, 7, 64}, {0x9e, 0x12, "allocation_length", 10, 7, 32},
    {0xa0, -1, "select_report", 2, 7, 8}, {0xa0, -1, "allocation_length", 6, 7, 32},
    {0xa1, -1, "protocol", 1, 4, 4}, {0xa1, -1, "ck_cond", 2, 5, 1}, {0xa1, -1, "t_dir", 2, 3, 1}, {0xa1, -1, "byt_blok", 2, 2, 1}, {0xa1, -1, "t_length", 2, 1, 2},
    {0xa1, -1, "features", 3, 7, 8}, {0xa1, -1, "count", 4, 7, 8}, {0xa1, -1, "device", 8, 7, 8}, {0xa1, -1, "command", 9, 7, 8},
    {0x85, -1, "protocol", 1, 4, 4}, {0x85, -1, "extend", 1, 0, 1}, {0x85, -1, "ck_cond", 2, 5, 1}, {0x85, -1, "t_dir", 2, 3, 1}, {0x85, -1, "byt_blok", 2, 2, 1}, {0x85, -1, "t_length", 2, 1, 2},
    {0x85, -1, "features", 3, 7, 16}, {0x85, -1, "count", 5, 7, 16}, {0x85, -1, "device", 13, 7, 8}, {0x85, -1, "command", 14, 7, 8},
};

// SAM-5 5.2.2: the group code in the operation code says how long a CDB is. 0 where it does not.
std::size_t length_of(std::uint8_t opcode) {
    switch (opcode >> 5) {
    case 0: return 6;
    case 1: case 2: return opcode == 0x7f ? 0 : opcode == 0x7e ? 0 : 10;
    case 4: return 16;
    case 5: return 12;
    default: return 0;
    }
}

std::string command_name(const scsi::Reader& cdb, int service_action) {
    std::array<char, 128> text{};
    if (service_action >= 0) sg_get_opcode_sa_name(*cdb.u8(0), service_action, 0, text.size(), text.data());
    else sg_get_opcode_name(*cdb.u8(0), 0, text.size(), text.data());
    return text.data();
}

// The upper and lower bytes of the LBA registers stand side by side in ATA PASS-THROUGH (16).
std::optional<std::uint64_t> ata_lba(const scsi::Reader& cdb, bool sixteen) {
    if (!sixteen) return cdb.little_endian(5, 3);
    if (!cdb.has(7, 6)) return {};
    std::uint64_t lba = 0;
    for (unsigned i = 0; i < 3; ++i) lba |= std::uint64_t{*cdb.u8(8 + 2 * i)} << (8 * i) | std::uint64_t{*cdb.u8(7 + 2 * i)} << (24 + 8 * i);
    return lba;
}
}

void decode_cdb(ByteView bytes, Decoded& out) {
    const scsi::Reader cdb(bytes);
    const auto opcode = cdb.u8(0);
    if (!opcode) return out.problems.push_back("no CDB");
    const std::size_t length = length_of(*opcode);
    if (length > 0 && bytes.size() < length) out.problems.push_back(fmt::format("a CDB with operation code {:02X}h has {} bytes, {} arrived", *opcode, length, bytes.size()));
    if (length > 0 && bytes.size() > length) out.notes.push_back(fmt::format("{} bytes follow the CDB", bytes.size() - length));
    const bool by_action = *opcode == 0x9e || *opcode == 0x9f || *opcode == 0xa3 || *opcode == 0xa4;
    const int action = by_action ? static_cast<int>(cdb.bits(1, 4, 5).value_or(0)) : -1;
    out.fields.set("opcode", *opcode);
    if (!by_action || cdb.has(1, 1)) {
        out.fields.set("name", command_name(cdb, action));
        if (by_action) out.fields.set("service_action", action);
    }
    if (const auto rw = scsi::decode_read_write(bytes)) {
        out.fields.set("logical_block_address", rw->lba).set("transfer_length", rw->blocks);
        if (length > 6) out.fields.set("dpo", rw->dpo).set("fua", rw->fua).set("protect", rw->protect);
    }
    for (const Row& row : rows) {
        if (row.opcode != *opcode || (row.service_action >= 0 && row.service_action != action)) continue;
        if (row.width <= row.bit + 1) {
            if (const auto value = cdb.bits(row.byte, row.bit, row.width)) out.fields.set(row.field, row.width == 1 ? Value(*value != 0) : Value(*value));
        } else if (const auto value = cdb.big_endian(row.byte, row.width / 8U)) {
            out.fields.set(row.field, *value);
        }
    }
    if (*opcode == 0x85 || *opcode == 0xa1)
        if (const auto lba = ata_lba(cdb, *opcode == 0x85)) out.fields.set("lba", *lba);
}

}
