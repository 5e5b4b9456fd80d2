#include "sgprobe/scsi/identify.h"

#include <doctest/doctest.h>

#include "sgprobe/scsi/inquiry.h"

using namespace sgprobe;
using namespace sgprobe::scsi;

namespace {
ByteVector drive() {
    return build_identify({.serial = "WD-1234", .firmware = "08.01G08", .model = "WDC WD1200BEVS-08RST2", .sectors = 234441648,
                           .logical_per_physical_exponent = 3, .queue_depth = 32, .rotation_rpm = 5400, .wwn = 0x50014ee012345678});
}
void set_word(ByteVector& data, std::size_t word, unsigned value) {
    data[2 * word] = static_cast<std::uint8_t>(value);
    data[2 * word + 1] = static_cast<std::uint8_t>(value >> 8);
}
}

TEST_CASE("IDENTIFY data that was built is read back, its strings in order") {
    const auto parsed = parse_identify(drive());
    REQUIRE(parsed.ok());
    const Identify& id = parsed.value;
    CHECK(id.ata);
    CHECK(trimmed(*id.model) == "WDC WD1200BEVS-08RST2");
    CHECK(trimmed(*id.firmware) == "08.01G08");
    CHECK(id.sectors == Blocks{234441648});
    CHECK(id.physical_sector_bytes == 4096);
    CHECK(id.queue_depth == 32u);
    CHECK(id.write_cache->enabled);
    CHECK(id.rotation_rpm == 5400);
    CHECK(id.wwn == 0x50014ee012345678u);
    CHECK(id.checksum_good == true);
}

TEST_CASE("a queue depth in word 75 means nothing where NCQ is not supported") {
    auto data = drive();
    set_word(data, 76, 0x0602);
    set_word(data, 75, 0x001f);
    const auto id = parse_identify(data).value;
    CHECK(id.ncq == false);
    CHECK_FALSE(id.queue_depth);
}

TEST_CASE("word 106 without its validity bits means 512-byte sectors") {
    auto data = drive();
    set_word(data, 106, 0x0360);
    CHECK(parse_identify(data).value.physical_sector_bytes == 512);
}

TEST_CASE("features are unknown where the words that enable them are not valid") {
    auto data = drive();
    set_word(data, 87, 0xffff);
    const auto id = parse_identify(data).value;
    CHECK_FALSE(id.write_cache);
    CHECK_FALSE(id.look_ahead);
    CHECK_FALSE(id.wwn);
}

TEST_CASE("a byte that changed on the way is seen in the checksum") {
    auto data = drive();
    data[120] = static_cast<std::uint8_t>(data[120] + 1);
    const auto parsed = parse_identify(data);
    CHECK_FALSE(parsed.ok());
    CHECK(parsed.value.checksum_good == false);
}

TEST_CASE("words whose bytes were swapped on the way are put right") {
    auto swapped = drive();
    for (std::size_t i = 0; i < swapped.size(); i += 2) std::swap(swapped[i], swapped[i + 1]);
    CHECK(identify_in_byte_order(swapped) == drive());
    CHECK(identify_in_byte_order(drive()) == drive());
    CHECK_FALSE(identify_in_byte_order(ByteVector(512)));
}

TEST_CASE("a page of zeros or of ones is no drive") {
    CHECK_FALSE(parse_identify(ByteVector(512)).ok());
    CHECK_FALSE(parse_identify(ByteVector(512, 0xff)).value.model);
}
