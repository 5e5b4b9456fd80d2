#include "sgprobe/scsi/inquiry.h"

#include <doctest/doctest.h>

#include "../hex.h"

using namespace sgprobe;
using namespace sgprobe::scsi;

TEST_CASE("a minimal INQUIRY reply of an EMC array is read to its end") {
    const auto reply = from_hex("00 00 05 02 1f 00 00 32 45 4d 43 20 20 20 20 20 53 59 4d 4d 45 54 52 49 58 20 20 20 20 20 20 20 35 38 37 36 20 20 20 20");
    const auto parsed = parse_inquiry(reply);
    CHECK(parsed.ok());
    CHECK(trimmed(*parsed.value.vendor) == "EMC");
    CHECK(trimmed(*parsed.value.product) == "SYMMETRIX");
    CHECK(*parsed.value.revision == "5876");
    CHECK(parsed.value.version == 5);
    CHECK(parsed.value.wbus16);
    CHECK(parsed.value.sync);
    CHECK(parsed.value.cmdque);
    CHECK(parsed.value.version_descriptors.empty());
    REQUIRE(parsed.notes.size() == 1);
    CHECK(parsed.notes[0] == "4 bytes follow the INQUIRY data");
}

TEST_CASE("an INQUIRY that claims more than was fetched says so and keeps its strings") {
    const auto parsed = parse_inquiry(from_hex("00 00 00 00 23 00 00 00 57 44 43 20 57 44 31 30 30 33 46 42 59 58 2d 30 31 59 37 42 32 20 20 20 30 31 2e 30"));
    REQUIRE(parsed.problems.size() == 1);
    CHECK(parsed.problems[0] == "INQUIRY data says that it has 40 bytes, 36 arrived");
    CHECK(*parsed.value.vendor + *parsed.value.product == "WDC WD1003FBYX-01Y7B2   ");
}

TEST_CASE("an additional length of 0 does not hide the 36 bytes that are there") {
    auto reply = build_inquiry({.device_type = 0, .version = 2, .vendor = "Generic", .product = "Flash"});
    reply[4] = 0;
    const auto parsed = parse_inquiry(reply);
    CHECK_FALSE(parsed.ok());
    CHECK(trimmed(parsed.value.vendor.value_or("")) == "Generic");
}

TEST_CASE("what build_inquiry makes parse_inquiry reads") {
    const Inquiry made{.device_type = 0, .removable = true, .version = 6, .response_format = 2, .protect = true, .cmdque = true, .tpgs = 1,
                       .vendor = "MAXTOR", .product = "ATLAS15K2_073SCA", .revision = "HPM5", .version_descriptors = {0x0460, 0x04c0}};
    const auto parsed = parse_inquiry(build_inquiry(made));
    CHECK(parsed.ok());
    CHECK(parsed.value.removable);
    CHECK(parsed.value.protect);
    CHECK(parsed.value.tpgs == 1);
    CHECK(trimmed(*parsed.value.vendor) == "MAXTOR");
    CHECK(*parsed.value.product == "ATLAS15K2_073SCA");
    CHECK(parsed.value.version_descriptors == made.version_descriptors);
}

TEST_CASE("standard INQUIRY data in place of a VPD page is not taken for the page") {
    for (const bool removable : {false, true}) {
        const auto reply = build_inquiry({.device_type = 0, .removable = removable, .version = 5, .response_format = 2, .vendor = "USB", .product = "Bridge", .revision = "1.00"});
        CHECK(looks_like_inquiry(reply));
        const auto pages = parse_vpd_supported(reply);   // the page code of a fixed medium's reply reads as 00h
        CHECK(pages.value.empty());
        CHECK_FALSE(pages.ok());
        const auto serial = parse_vpd_serial(reply);     // and that of a removable one as 80h
        CHECK(serial.value.empty());
        CHECK_FALSE(serial.ok());
    }
}

TEST_CASE("a block limits page of a bridge with FFFFh everywhere is told from a tuned one") {
    const auto bridge = parse_vpd_block_limits(from_hex("00 b0 00 3c 00 00 00 08 00 00 ff ff 00 00 ff ff 00 00 ff ff" + std::string(44 * 2, '0')));
    CHECK(bridge.ok());
    CHECK(bridge.value.max_transfer == Blocks{65535});
    CHECK(bridge.value.transfer_is_placeholder);
    const auto drive = parse_vpd_block_limits(from_hex("00 b0 00 3c 00 00 00 08" + std::string(56 * 2, '0')));
    CHECK(drive.ok());
    CHECK_FALSE(drive.value.max_transfer);
    CHECK_FALSE(drive.value.transfer_is_placeholder);
    CHECK(drive.value.optimal_granularity == Blocks{8});
    const auto tuned = parse_vpd_block_limits(from_hex("00 b0 00 3c 00 00 00 08 00 00 20 00 00 00 04 00" + std::string(48 * 2, '0')));
    CHECK_FALSE(tuned.value.transfer_is_placeholder);
    CHECK(tuned.value.optimal_transfer == Blocks{1024});
}

TEST_CASE("a block limits page that has grown by two bytes is whole, its extra bytes unknown") {
    const auto parsed = parse_vpd_block_limits(from_hex(
        "00 b0 00 3e 00 00 00 08 00 00 ff ff 00 00 00 00 00 00 00 00 00 06 00 00 00 00 02 00 00 00 00 08" + std::string(64, '0') + "00 14"));
    CHECK(parsed.ok());
    CHECK(parsed.value.max_unmap_blocks == Blocks{393216});
    CHECK(parsed.value.max_unmap_descriptors == 512u);
    CHECK(parsed.value.unmap_granularity == Blocks{8});
    CHECK_FALSE(parsed.value.unmap_alignment);
    CHECK(parsed.value.unknown == ByteVector{0x00, 0x14});
}

TEST_CASE("designators are walked by their lengths, and one that overruns the page is left out") {
    const auto parsed = parse_vpd_designators(from_hex("00 83 00 14  01 03 00 08 50 00 c5 00 a1 b2 c3 d4  61 94 00 04 00 00 00 01"));
    REQUIRE(parsed.ok());
    REQUIRE(parsed.value.size() == 2);
    CHECK(parsed.value[0].text() == "naa.5000c500a1b2c3d4");
    CHECK(parsed.value[1].protocol == 6);
    CHECK(parsed.value[1].association == 1);
    const auto overrun = parse_vpd_designators(from_hex("00 83 00 0c  01 03 00 10 50 00 c5 00 a1 b2 c3 d4"));
    CHECK(overrun.value.empty());
    CHECK_FALSE(overrun.ok());
    CHECK_FALSE(parse_vpd_designators(from_hex("00 83 00 0a 01 03 00 06 50 00 c5 00 a1 b2")).ok());   // NAA 5 has 8 bytes
}

TEST_CASE("rotation rates: 1 does not rotate, 0 and reserved values say nothing") {
    const auto rate = [](const char* two) { return parse_vpd_block_characteristics(from_hex(std::string("00 b1 00 3c ") + two + std::string(116, '0'))).value.rotation_rpm; };
    CHECK(rate("3a 98") == 15000);
    CHECK(rate("00 01") == 1);
    CHECK_FALSE(rate("00 00"));
    CHECK_FALSE(rate("00 02"));
    CHECK_FALSE(rate("ff ff"));
}
