#include "sgprobe/scsi/sense.h"

#include <doctest/doctest.h>

#include "../hex.h"

using namespace sgprobe;
using namespace sgprobe::scsi;

TEST_CASE("a medium error in fixed format: where, how often tried, which part") {
    const auto parsed = parse_sense(from_hex("f0 00 03 00 00 12 34 0a 00 00 00 00 11 00 77 80 01 98"));
    REQUIRE(parsed.ok());
    const Sense& sense = parsed.value;
    CHECK(sense.is(SenseKey::medium_error, 0x11, 0x00));
    CHECK_FALSE(sense.deferred);
    CHECK(sense.valid);
    CHECK(sense.information == 0x1234u);
    CHECK(sense.fru == 0x77);
    CHECK(sense.retry_count == 408);
    CHECK_FALSE(sense.ata);
}

TEST_CASE("VALID beside a deferred error's response code does not hide that it is deferred") {
    const auto parsed = parse_sense(from_hex("f1 00 03 00 00 12 34 0a 00 00 00 00 11 00 00 00 00 00"));
    CHECK(parsed.ok());
    CHECK(parsed.value.deferred);
    CHECK(parsed.value.information == 0x1234u);
    CHECK(one_line(parsed.value).starts_with("deferred: Medium Error"));
}

TEST_CASE("information without VALID is not information") {
    CHECK_FALSE(parse_sense(from_hex("70 00 03 00 00 12 34 0a 00 00 00 00 11 00 00 00 00 00")).value.information);
}

TEST_CASE("a field pointer names bit 3 of byte 3 of the parameter list") {
    const auto sense = parse_sense(from_hex("70 00 05 00 00 00 00 10 00 00 00 00 26 00 00 8b 00 03 00 00 00 00 00 00")).value;
    REQUIRE(sense.field_pointer);
    CHECK_FALSE(sense.field_pointer->in_command);
    CHECK(sense.field_pointer->byte == 3);
    CHECK(sense.field_pointer->bit == 3);
    CHECK(exit_status(sense) == 5);
}

TEST_CASE("ATA registers in fixed sense stand in the information field") {
    const auto parsed = parse_sense(from_hex("f0 00 01 00 50 40 3c 0a 80 00 00 00 00 1d" + std::string(36, '0')));
    REQUIRE(parsed.value.ata);
    CHECK(parsed.value.ata->error == 0);
    CHECK(parsed.value.ata->status == 0x50);
    CHECK(parsed.value.ata->device == 0x40);
    CHECK(parsed.value.ata->count == 0x3c);
    CHECK(parsed.value.ata->extend);
    CHECK(parsed.value.ata->lba == 0);
    CHECK_FALSE(parsed.value.information);
}

TEST_CASE("ATA registers as an older kernel put them, eight bytes late and without VALID") {
    const auto parsed = parse_sense(from_hex("70 00 01 00 00 00 00 0e  00 50 e0 01 00 1d 00 00 80 11 22 33 00 00"));
    REQUIRE(parsed.value.ata);
    CHECK(parsed.value.ata->status == 0x50);
    CHECK(parsed.value.ata->device == 0xe0);
    CHECK(parsed.value.ata->count == 1);
    CHECK(parsed.value.ata->lba == 0x332211);
    CHECK(parsed.value.ata->extend);
}

TEST_CASE("an older kernel's registers stand under the sense code of the error too, and the LBA past the 18 bytes") {
    const auto posted = from_hex("70 00 05 00 00 00 00 0a 04 51 40 01 21 04 00 00 00 a0 00 00 00 00 00 00 00 00 00 00 00 00 00 00");
    const auto sense = parse_sense(posted).value;
    CHECK(sense.is(SenseKey::illegal_request, 0x21, 0x04));
    REQUIRE(sense.ata);
    CHECK(sense.ata->error == 0x04);
    CHECK(sense.ata->status == 0x51);
    CHECK(sense.ata->device == 0x40);
    CHECK(sense.ata->count == 0x01);
    CHECK(sense.ata->lba_known);
    CHECK(sense.ata->lba == 0xa0);
    CHECK_FALSE(sense.command_specific);
    const auto cut = parse_sense(ByteView(posted).first(18)).value;
    REQUIRE(cut.ata);
    CHECK_FALSE(cut.ata->lba_known);
    // Command-specific information of a SCSI drive is no ATA status.
    CHECK_FALSE(parse_sense(from_hex("70 00 04 00 00 00 00 0a 00 00 12 34 32 01 00 00 00 00")).value.ata);
}

TEST_CASE("an ATA status return descriptor gives all 48 bits of the LBA") {
    const auto sense = parse_sense(from_hex("72 01 00 1d 00 00 00 0e  09 0c 01 04 00 01 66 33 55 22 44 11 e0 51")).value;
    REQUIRE(sense.ata);
    CHECK(sense.ata->status == 0x51);
    CHECK(sense.ata->error == 4);
    CHECK(sense.ata->count == 1);
    CHECK(sense.ata->lba == 0x445566112233);
}

TEST_CASE("descriptors out of order are walked by length, and none is invented") {
    const auto parsed = parse_sense(from_hex(
        "72 01 03 02 80 00 00 4c 00 0a 80 00 11 22 33 44 55 66 77 bb 01 0a 00 00 33 44 55 66 77 bb cc ff 02 06 00 00 80 01 01 00 03 02 00 45"
        "0a 06 02 01 02 00 32 01 05 02 00 20 0b 1a 01 00 00 00 00 01 01 02 03 04 05 06 07 08 01 02 03 04 55 06 07 08 02 00 12 34"));
    REQUIRE(parsed.ok());
    const Sense& sense = parsed.value;
    CHECK(sense.is(SenseKey::recovered_error, 0x03, 0x02));
    CHECK(sense.sdat_ovfl);
    CHECK(sense.descriptors.size() == 7);
    CHECK(sense.information == 0x11223344556677bbu);
    CHECK(sense.command_specific == 0x3344556677bbccffu);
    CHECK(sense.retry_count == 257);
    CHECK(sense.fru == 0x45);
    CHECK(sense.ili);
    CHECK(sense.another_progress);
    CHECK_FALSE(sense.ata);
}

TEST_CASE("forwarded sense inside forwarded sense is followed two deep and no deeper") {
    auto sense = build_descriptor_sense(SenseKey::medium_error, 0x11, 0);
    for (int i = 0; i < 6; ++i) {
        auto outer = build_descriptor_sense(SenseKey::copy_aborted, 0x0d, 0x01);
        const auto size = static_cast<std::uint8_t>(sense.size());
        outer.insert(outer.end(), {0x0c, static_cast<std::uint8_t>(size + 2), 0, 0});
        outer.insert(outer.end(), sense.begin(), sense.end());
        outer[7] = static_cast<std::uint8_t>(outer.size() - 8);
        sense = outer;
    }
    const auto parsed = parse_sense(sense);
    CHECK(parsed.ok());
    REQUIRE(parsed.value.forwarded.size() == 1);
    REQUIRE(parsed.value.forwarded[0].forwarded.size() == 1);
    CHECK(parsed.value.forwarded[0].forwarded[0].forwarded.empty());
}

TEST_CASE("bytes past the additional length are not sense data") {
    const auto parsed = parse_sense(from_hex("70 00 05 00 00 00 00 06 00 00 00 00 24 00 ff cf ff ff"));
    CHECK(parsed.value.is(SenseKey::illegal_request, 0x24, 0x00));
    CHECK_FALSE(parsed.value.fru);
    CHECK_FALSE(parsed.value.field_pointer);
    CHECK(parsed.notes.size() == 1);
}

TEST_CASE("sense that was built is read back, in both formats") {
    for (const bool deferred : {false, true}) {
        for (const auto& bytes : {build_fixed_sense(SenseKey::medium_error, 0x11, 0x04, 4660, deferred), build_descriptor_sense(SenseKey::medium_error, 0x11, 0x04, 4660, deferred)}) {
            const auto parsed = parse_sense(bytes);
            CHECK(parsed.ok());
            CHECK(parsed.value.is(SenseKey::medium_error, 0x11, 0x04));
            CHECK(parsed.value.information == 4660u);
            CHECK(parsed.value.deferred == deferred);
        }
    }
}

TEST_CASE("what is no sense data is not taken for it") {
    for (const char* bytes : {"", "00 00 00", "55 53 42 53", "7f 00 05 00 00 00 00 0a"}) {
        const auto parsed = parse_sense(from_hex(bytes));
        CHECK_FALSE(parsed.ok());
        CHECK_FALSE(parsed.value.key);
    }
}

TEST_CASE("texts of additional sense codes are the library's") {
    CHECK(additional_sense_text(0x11, 0x00) == "Unrecovered read error");
    CHECK(additional_sense_text(0x80, 0x01) == "vendor specific or unknown");
}
