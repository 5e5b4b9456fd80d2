#include "sgprobe/scsi/capacity.h"

#include <doctest/doctest.h>

#include "../hex.h"

using namespace sgprobe;
using namespace sgprobe::scsi;

TEST_CASE("a capacity with bit 31 set is a number like any other") {
    const auto parsed = parse_capacity_10(from_hex("ee 77 52 af 00 00 02 00"));
    CHECK(parsed.ok());
    CHECK(parsed.value.blocks == Blocks{4000797360});
    CHECK_FALSE(parsed.value.needs_16);
}

TEST_CASE("the last address is one less than the count") {
    CHECK(parse_capacity_10(from_hex("03 95 6f ff 00 00 02 00")).value.blocks == Blocks{60125184});
}

TEST_CASE("FFFFFFFFh is no capacity but a call for READ CAPACITY(16)") {
    const auto parsed = parse_capacity_10(from_hex("ff ff ff ff 00 00 10 00"));
    CHECK(parsed.value.needs_16);
    CHECK_FALSE(parsed.value.blocks);
    CHECK(parsed.value.block_bytes == Bytes{4096});
}

TEST_CASE("READ CAPACITY(16) of a 512e drive") {
    const auto parsed = parse_capacity_16(from_hex("00 00 00 00 74 70 6d af 00 00 02 00 00 03 00 00" + std::string(32, '0')));
    CHECK(parsed.ok());
    CHECK(parsed.value.blocks == Blocks{1953525168});
    CHECK(parsed.value.physical_exponent == 3);
    CHECK(parsed.value.lowest_aligned == 0);
}

TEST_CASE("a block length of 0 is a problem, never a divisor") {
    const auto parsed = parse_capacity_10(from_hex("00 00 ff ff 00 00 00 00"));
    CHECK_FALSE(parsed.ok());
    CHECK_FALSE(parsed.value.block_bytes);
}

TEST_CASE("capacities of 512, 520 and 4096 byte blocks, past 2^32 blocks too, come back as they were built") {
    for (const Bytes size : {512, 520, 4096})
        for (const Blocks blocks : {Blocks{1}, Blocks{0xffffffff}, Blocks{0x100000000}, Blocks{0x123456789abc}}) {
            const Capacity made{.blocks = blocks, .block_bytes = size, .protection_enabled = true, .protection_type = 2, .physical_exponent = 3, .lowest_aligned = 7, .lbpme = true};
            const auto back = parse_capacity_16(build_capacity_16(made));
            REQUIRE(back.ok());
            CHECK(back.value.blocks == blocks);
            CHECK(back.value.block_bytes == size);
            CHECK(back.value.protection_type == 2);
            CHECK(back.value.lowest_aligned == 7);
            CHECK(back.value.lbpme);
            const auto ten = parse_capacity_10(build_capacity_10(made));
            CHECK(ten.value.needs_16 == (blocks > 0xffffffff));
            CHECK(ten.value.blocks == (blocks > 0xffffffff ? std::optional<Blocks>() : blocks));
        }
}
