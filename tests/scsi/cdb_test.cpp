#include "sgprobe/scsi/cdb.h"

#include <doctest/doctest.h>

using namespace sgprobe;
using namespace sgprobe::scsi;

namespace {
constexpr RwOpcode all[] = {RwOpcode::read6, RwOpcode::write6, RwOpcode::read10, RwOpcode::write10,
                            RwOpcode::read12, RwOpcode::write12, RwOpcode::read16, RwOpcode::write16};
ByteVector bytes(const Cdb& cdb) { return {cdb.view().begin(), cdb.view().end()}; }
}

TEST_CASE("a CDB starts empty") {
    CHECK(Cdb{}.view().empty());
}

TEST_CASE("each READ and WRITE says back what it was built from, at its greatest fields too") {
    for (const RwOpcode opcode : all) {
        for (const auto& [lba, blocks] : {std::pair<Lba, Blocks>{0, 1}, {0x12345, 200}, {greatest_lba(opcode), greatest_transfer(opcode)}}) {
            const auto cdb = build({.opcode = opcode, .lba = lba, .blocks = blocks});
            REQUIRE(cdb);
            const auto back = decode_read_write(cdb->view());
            REQUIRE(back);
            CHECK(back->opcode == opcode);
            CHECK(back->lba == lba);
            CHECK(back->blocks == blocks);
        }
        CHECK_FALSE(build({.opcode = opcode, .lba = 0, .blocks = greatest_transfer(opcode) + 1}));
        if (opcode != RwOpcode::read16 && opcode != RwOpcode::write16) CHECK_FALSE(build({.opcode = opcode, .lba = greatest_lba(opcode) + 1, .blocks = 1}));
    }
}

TEST_CASE("256 blocks in a READ(6) are a zero in the CDB, and no blocks cannot be asked for") {
    CHECK(bytes(*build({.opcode = RwOpcode::read6, .lba = 0x1fffff, .blocks = 256})) == ByteVector{0x08, 0x1f, 0xff, 0xff, 0x00, 0x00});
    CHECK_FALSE(build({.opcode = RwOpcode::read6, .lba = 0, .blocks = 0}));
    CHECK(decode_read_write(ByteVector{0x08, 0xff, 0xff, 0xff, 0x00, 0x00})->lba == 0x1fffff);
}

TEST_CASE("a CDB that is cut short is no command") {
    const auto cdb = build({.opcode = RwOpcode::read10, .lba = 7, .blocks = 1});
    for (std::size_t size = 0; size < cdb->size; ++size) CHECK_FALSE(decode_read_write(cdb->view().first(size)));
    CHECK_FALSE(decode_read_write(test_unit_ready().view()));
}

TEST_CASE("FUA, DPO and RDPROTECT stand in byte 1") {
    const auto cdb = build({.opcode = RwOpcode::read16, .lba = 1, .blocks = 2, .dpo = true, .fua = true, .protect = 3});
    CHECK(cdb->bytes[1] == 0x78);
    const auto back = decode_read_write(cdb->view());
    CHECK(back->dpo);
    CHECK(back->fua);
    CHECK(back->protect == 3);
}

TEST_CASE("the other CDBs have the standards' bytes") {
    CHECK(bytes(request_sense(18)) == ByteVector{0x03, 0, 0, 0, 18, 0});
    CHECK(bytes(inquiry_vpd(0xb0, 0x1fc)) == ByteVector{0x12, 1, 0xb0, 0x01, 0xfc, 0});
    CHECK(bytes(mode_sense_6({.page = 8, .control = PageControl::changeable, .dbd = true}, 192)) == ByteVector{0x1a, 0x08, 0x48, 0, 192, 0});
    CHECK(bytes(mode_sense_10({.page = 0x3f, .subpage = 0xff}, 0x400)) == ByteVector{0x5a, 0, 0x3f, 0xff, 0, 0, 0, 4, 0, 0});
    CHECK(bytes(mode_select_10(0x1c, true)) == ByteVector{0x55, 0x11, 0, 0, 0, 0, 0, 0, 0x1c, 0});
    CHECK(bytes(log_sense(0x0d, 1, 0x200)) == ByteVector{0x4d, 0, 0x4d, 1, 0, 0, 0, 2, 0, 0});
    CHECK(bytes(read_capacity_16()) == ByteVector{0x9e, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32, 0, 0});
    CHECK(bytes(start_stop_unit(true, true)) == ByteVector{0x1b, 1, 0, 0, 1, 0});
    CHECK(bytes(report_luns(16)) == ByteVector{0xa0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0});
}

TEST_CASE("IDENTIFY DEVICE goes through SAT as PIO data-in of one block") {
    CHECK(bytes(ata_pass_through_16(ata_identify_device())) == ByteVector{0x85, 0x08, 0x0e, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xec, 0});
    CHECK(bytes(*ata_pass_through_12(ata_identify_device())) == ByteVector{0xa1, 0x08, 0x0e, 0, 1, 0, 0, 0, 0, 0xec, 0, 0});
    AtaCommand read{.protocol = AtaProtocol::dma, .command = 0x25, .device = 0x40, .count = 0x1234, .lba = 0x665544332211, .extend = true};
    CHECK(bytes(ata_pass_through_16(read)) == ByteVector{0x85, 0x0d, 0x0e, 0, 0, 0x12, 0x34, 0x44, 0x11, 0x55, 0x22, 0x66, 0x33, 0x40, 0x25, 0});
    CHECK_FALSE(ata_pass_through_12(read));
}
