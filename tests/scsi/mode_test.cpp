#include "sgprobe/scsi/mode.h"

#include <doctest/doctest.h>

#include "../hex.h"

using namespace sgprobe;
using namespace sgprobe::scsi;

namespace {
const char* const samsung = "00 3a 00 00 00 00 00 08 00 00 00 00 00 00 02 00 01 0a 80 00 00 00 00 00 00 00 00 00 08 12 04 00 00 00 00 00 00 00 00 00 00 00 00 00"
                            "00 00 00 00 0a 0a 02 00 00 00 00 00 ff ff 00 1e";
}

TEST_CASE("a descriptor's block count of 0 is not reported, not an empty drive") {
    const auto parsed = parse_mode_10(from_hex(samsung));
    REQUIRE(parsed.ok());
    CHECK(parsed.value.mode_data_length == 0x3a);
    CHECK_FALSE(parsed.value.write_protected);
    CHECK_FALSE(parsed.value.dpofua);
    REQUIRE(parsed.value.descriptors.size() == 1);
    CHECK_FALSE(parsed.value.descriptors[0].blocks);
    CHECK(parsed.value.descriptors[0].block_bytes == 512);
    REQUIRE(parsed.value.pages.size() == 3);
    REQUIRE(parsed.value.find(0x08));
    CHECK(parsed.value.find(0x08)->bytes.size() == 20);
    CHECK_FALSE(parsed.value.find(0x08)->ps);
}

TEST_CASE("a header without its page holds no page, whatever follows it") {
    const auto parsed = parse_mode_6(from_hex("03 00 00 00 88 12 14 00 ff ff 00 00 ff ff ff ff 80 14 00 00 00 00 00 00"));
    CHECK(parsed.ok());
    CHECK(parsed.value.pages.empty());
    CHECK(parsed.notes.size() == 1);
}

TEST_CASE("a descriptor length that the mode data length contradicts leaves no page") {
    const auto parsed = parse_mode_6(from_hex("03 00 00 55"));
    CHECK_FALSE(parsed.ok());
    CHECK(parsed.value.pages.empty());
    CHECK(parsed.value.descriptors.empty());
}

TEST_CASE("a page that is cut short keeps what arrived and is marked") {
    auto reply = from_hex(samsung);
    reply.resize(40);
    const auto parsed = parse_mode_10(reply);
    CHECK_FALSE(parsed.ok());
    REQUIRE(parsed.value.find(0x08));
    CHECK(parsed.value.find(0x08)->truncated);
    CHECK(parsed.value.find(0x08)->bytes.size() == 12);
    CHECK_FALSE(parsed.value.find(0x0a));
}

TEST_CASE("subpages have a header of four bytes, and a long LBA descriptor has sixteen") {
    const auto parsed = parse_mode_10(from_hex("00 24 00 10 01 00 00 10  00 00 00 01 00 00 00 00 00 00 00 00 00 00 10 00  59 02 00 0a 00 06 10 00 00 00 00 00 00 00"));
    REQUIRE(parsed.ok());
    REQUIRE(parsed.value.descriptors.size() == 1);
    CHECK(parsed.value.descriptors[0].blocks == Blocks{0x100000000});
    CHECK(parsed.value.descriptors[0].block_bytes == 4096);
    REQUIRE(parsed.value.find(0x19, 0x02));
    CHECK(parsed.value.find(0x19, 0x02)->declared_length == 14);
}
