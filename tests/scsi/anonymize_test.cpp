#include "sgprobe/scsi/anonymize.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "sgprobe/scsi/cdb.h"

using namespace sgprobe;

namespace {

ByteVector bytes(const std::string& text) { return {text.begin(), text.end()}; }

ByteVector blanked(const scsi::Cdb& cdb, ByteVector data) {
    const std::size_t size = data.size();
    scsi::anonymize(cdb.view(), data);
    CHECK(data.size() == size);
    return data;
}

bool holds(const ByteVector& data, const std::string& text) { return std::search(data.begin(), data.end(), text.begin(), text.end()) != data.end(); }

scsi::Cdb ata(std::uint8_t opcode, std::size_t place, std::uint8_t command) {
    scsi::Cdb cdb;
    cdb.bytes[0] = opcode;
    cdb.bytes[place] = command;
    cdb.size = opcode == 0xa1 ? 12 : 16;
    return cdb;
}

}

TEST_CASE("anonymous: a serial number disappears from INQUIRY and its pages, vendor and product stay") {
    ByteVector inquiry = bytes(std::string("\0\0\6\2\x5b\0\0\2", 8) + "SEAGATE ST1200MM0129    C006S3ECRET7");
    inquiry.resize(96);
    const ByteVector out = blanked(scsi::inquiry(96), inquiry);
    CHECK(holds(out, "SEAGATE ST1200MM0129    C006"));
    CHECK_FALSE(holds(out, "S3ECRET7"));
    CHECK(blanked(scsi::inquiry_vpd(0x80, 252), bytes(std::string("\0\x80\0\x08", 4) + "S3ECRET7")) == bytes(std::string("\0\x80\0\x08", 4) + "XXXXXXXX"));
    CHECK_FALSE(holds(blanked(scsi::inquiry_vpd(0xc1, 252), bytes(std::string("\0\xc1\0\x08", 4) + "S3ECRET7")), "S3ECRET7"));
    const ByteVector limits = bytes(std::string("\0\xb0\0\x3c", 4) + "numbers");
    CHECK(blanked(scsi::inquiry_vpd(0xb0, 252), limits) == limits);
}

TEST_CASE("anonymous: designators keep their structure and company, and lose the drive") {
    ByteVector page{0, 0x83, 0, 0};
    page.insert(page.end(), {0x02, 0x01, 0, 16});
    for (const char c : std::string("ATA     S3ECRET7")) page.push_back(static_cast<std::uint8_t>(c));
    page.insert(page.end(), {0x01, 0x03, 0, 8, 0x50, 0x00, 0xc5, 0x0a, 0x1b, 0x2c, 0x3d, 0x4e});
    page.insert(page.end(), {0x01, 0x14, 0, 4, 0, 0, 0, 1});
    const ByteVector out = blanked(scsi::inquiry_vpd(0x83, 252), page);
    CHECK(holds(out, "ATA     XXXXXXXX"));
    const ByteVector naa(out.begin() + 28, out.begin() + 36);
    CHECK(naa == ByteVector{0x50, 0x00, 0xc5, 0x00, 0, 0, 0, 0});
    CHECK(out.back() == 1);
}

TEST_CASE("anonymous: IDENTIFY DEVICE data lose the serial number and name by every way, and the checksum stays right") {
    ByteVector identify(512);
    for (const auto& [at, text] : {std::pair{20, "3SCEERTS7"}, {54, "TS230506"}, {216, "WWNWWNWW"}}) {
        std::copy_n(text, std::string(text).size(), identify.begin() + at);
    }
    identify[510] = 0xa5;
    for (const scsi::Cdb& cdb : {ata(0x85, 14, 0xec), ata(0xa1, 9, 0xec), ata(0xa1, 9, 0xa1)}) {
        const ByteVector out = blanked(cdb, identify);
        CHECK_FALSE(holds(out, "3SCEERTS7"));
        CHECK_FALSE(holds(out, "WWNWWNWW"));
        CHECK(holds(out, "TS230506"));
        CHECK((std::accumulate(out.begin(), out.end(), 0u) & 0xff) == 0);
    }
    ByteVector page(60);
    page.insert(page.end(), identify.begin(), identify.end());
    CHECK_FALSE(holds(blanked(scsi::inquiry_vpd(0x89, 572), page), "3SCEERTS7"));
    CHECK_FALSE(holds(blanked([] { auto c = ata(0x85, 14, 0x2f); c.bytes[8] = 0x30; return c; }(), identify), "3SCEERTS7"));
    CHECK(blanked(ata(0x85, 14, 0xb0), identify) == identify);
}

TEST_CASE("anonymous: bytes cut short anywhere are taken as they are") {
    for (const std::uint8_t page : ByteVector{0x00, 0x80, 0x83, 0x89, 0xc0}) {
        for (std::size_t size = 0; size < 80; ++size) blanked(scsi::inquiry_vpd(page, 252), ByteVector(size, 0xff));
    }
    ByteVector data(4, 1);
    scsi::anonymize(ByteView{}, data);
    CHECK(data == ByteVector(4, 1));
}
