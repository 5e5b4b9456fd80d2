#include "sgprobe/scsi/hex_text.h"

#include <doctest/doctest.h>

#include "../hex.h"

using namespace sgprobe;
using namespace sgprobe::scsi;

namespace {
const ByteVector emc = from_hex("00 00 05 02 1f 00 00 32 45 4d 43 20 20 20 20 20 53 59 4d 4d 45 54 52 49 58 20 20 20 20 20 20 20 35 38 37 36 20 20 20 20");

ByteVector one(std::string_view text) {
    const auto sections = read_hex_text(text);
    CHECK(sections.size() == 1);
    for (const auto& section : sections) CHECK(section.problems.empty());
    return sections.empty() ? ByteVector() : sections.front().bytes;
}
}

TEST_CASE("one dump reads the same in every layout that people post") {
    SUBCASE("bytes") { CHECK(one("00 00 05 02 1f 00 00 32 45 4d 43 20 20 20 20 20 53 59 4d 4d 45 54 52 49 58 20 20 20 20 20 20 20 35 38 37 36 20 20 20 20") == emc); }
    SUBCASE("sg3_utils --hex") {
        CHECK(one(" 00     00 00 05 02 1f 00 00 32  45 4d 43 20 20 20 20 20    .......2EMC     \n"
                  " 10     53 59 4d 4d 45 54 52 49  58 20 20 20 20 20 20 20    SYMMETRIX       \n"
                  " 20     35 38 37 36 20 20 20 20                             5876    \n") == emc);
    }
    SUBCASE("an --inhex file with comments") {
        CHECK(one("# EMC Symmetrix # sg_inq -H\n00 00 05 02 1f 00 00 32  45 4d 43 20 20 20 20 20\n\n"
                  "53 59 4d 4d 45 54 52 49  58 20 20 20 20 20 20 20   # the product\n35,38,37,36,20,20,20,20\n") == emc);
    }
    SUBCASE("hexdump -C, quoted twice") {
        CHECK(one("> > 00000000  00 00 05 02 1f 00 00 32  45 4d 43 20 20 20 20 20  |.......2EMC     |\r\n"
                  "> > 00000010  53 59 4d 4d 45 54 52 49  58 20 20 20 20 20 20 20  |SYMMETRIX       |\r\n"
                  "> > 00000020  35 38 37 36 20 20 20 20                           |5876    |\r\n"
                  "> > 00000028\r\n") == emc);
    }
    SUBCASE("xxd") {
        CHECK(one("00000000: 0000 0502 1f00 0032 454d 4320 2020 2020  .......2EMC     \n"
                  "00000010: 5359 4d4d 4554 5249 5820 2020 2020 2020  SYMMETRIX       \n"
                  "00000020: 3538 3736 2020 2020                      5876    \n") == emc);
    }
    SUBCASE("hexdump of 16-bit words of a little-endian host") {
        const auto sections = read_hex_text("0000000 0000 0205 001f 3200 4d45 2043 2020 2020\n0000010 5953 4d4d 5445 4952 2058 2020 2020 2020\n"
                                            "0000020 3835 3637 2020 2020\n0000028\n");
        REQUIRE(sections.size() == 1);
        CHECK(sections[0].words);
        CHECK(swapped_words(sections[0].bytes) == emc);
    }
    SUBCASE("od with octal offsets and its own gutter") {
        CHECK(one("0000000  00  00  05  02  1f  00  00  32  45  4d  43  20  20  20  20  20  >.......2EMC     <\n"
                  "0000020  53  59  4d  4d  45  54  52  49  58  20  20  20  20  20  20  20  >SYMMETRIX       <\n"
                  "0000040  35  38  37  36  20  20  20  20                                  >5876    <\n0000050\n") == emc);
    }
    SUBCASE("a C array") {
        CHECK(one("unsigned char inq[] = {\n  0x00, 0x00, 0x05, 0x02, 0x1f, 0x00, 0x00, 0x32, 0x45, 0x4d, 0x43, 0x20, 0x20, 0x20, 0x20, 0x20,\n"
                  "  0x53,0x59,0x4D,0x4D,0x45,0x54,0x52,0x49,0x58,0x20,0x20,0x20,0x20,0x20,0x20,0x20, /* product */\n  0x35, 0x38, 0x37, 0x36, 0x20, 0x20, 0x20, 0x20 };\n") == emc);
    }
    SUBCASE("a C string") { CHECK(one("\"\\x70\\x00\\x05\\x00\\x00\\x00\\x00\\x0a\"") == from_hex("70 00 05 00 00 00 00 0a")); }
    SUBCASE("one run of digits") { CHECK(one("0000 05021f000032454d43202020202053594d4d45545249582020202020202035383736 20202020") == emc); }
    SUBCASE("colons, dashes, and an h after each") {
        CHECK(one("70:00:05:00:00:00:00:0a") == from_hex("70 00 05 00 00 00 00 0a"));
        CHECK(one("70-00-05-00 00-00-00-0a") == from_hex("70 00 05 00 00 00 00 0a"));
        CHECK(one("70h 00h 05h 00h 00h 00h 00h 0Ah") == from_hex("70 00 05 00 00 00 00 0a"));
    }
    SUBCASE("digits without their leading zeros") { CHECK(one("70 0 5 0 0 0 0 a 0 0 0 0 24 0 0 0 0 0") == from_hex("70 00 05 00 00 00 00 0a 00 00 00 00 24 00 00 00 00 00")); }
    SUBCASE("decimal offsets") { CHECK(one("0: 00 00 05 02 1f 00 00 32 45 4d\n10: 43 20 20 20 20 20 53 59 4d 4d\n20: 45 54 52 49 58 20 20 20 20 20\n30: 20 20 35 38 37 36 20 20 20 20\n") == emc); }
    SUBCASE("offsets that nothing sets off") {
        CHECK(one("00 00 00 05 02 1f 00 00 32 45 4d 43 20 20 20 20 20\n10 53 59 4d 4d 45 54 52 49 58 20 20 20 20 20 20 20\n20 35 38 37 36 20 20 20 20\n") == emc);
    }
    SUBCASE("a gutter that mail has wrapped") {
        CHECK(one("00000000  00 00 05 02 1f 00 00 32  45 4d 43 20 20 20 20 20\n|.......2EMC     |\n00000010  53 59 4d 4d 45 54 52 49  58 20 20 20 20 20 20 20\n|SYMMETRIX       |\n"
                  "00000020  35 38 37 36 20 20 20 20\n|5876    |\n") == emc);
    }
    SUBCASE("a gutter that looks like bytes") { CHECK(one(" 00     61 62 20 63 64 20 65 66  31 32                          ab cd ef12\n") == from_hex("61 62 20 63 64 20 65 66 31 32")); }
}

TEST_CASE("a repeated line of hexdump stands for all of its copies") {
    const auto bytes = one("00000000  00 b0 00 3c 00 00 00 08  00 00 ff ff 00 00 00 00  |...<............|\n"
                           "00000010  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|\n*\n00000040\n");
    REQUIRE(bytes.size() == 64);
    CHECK(bytes[11] == 0xff);
    CHECK(bytes[63] == 0);
}

TEST_CASE("words before the bytes are a label, and say what they are") {
    auto sections = read_hex_text("[    3.214159] sd 0:0:0:0: [sda] Mode Sense: 00 3a 00 00\n");
    REQUIRE(sections.size() == 1);
    CHECK(sections[0].bytes == from_hex("003a0000"));
    CHECK(sections[0].role == HexSection::Role::data);
    sections = read_hex_text("[123.4] sd 2:0:0:0: [sdb] tag#0 CDB: Read(10) 28 00 00 00 00 00 00 00 08 00\n"
                             "SG_IO: bad/missing sense data, sb[]:  70 00 05 00 00 00 00 0a 04 53 00 00 21 04 00 00 00 00\n");
    REQUIRE(sections.size() == 2);
    CHECK(sections[0].role == HexSection::Role::cdb);
    CHECK(sections[0].bytes == from_hex("28000000000000000800"));
    CHECK(sections[1].role == HexSection::Role::sense);
    CHECK(sections[1].bytes.size() == 18);
    CHECK(sections[1].cdb == sections[0].bytes);
}

TEST_CASE("an excerpt of smartctl -r ioctl gives each command, its data and its sense") {
    const auto sections = read_hex_text(
        "smartctl 5.43 2012-06-30 r3573\n>>>> do_scsi_cmnd_io: sg_io_ver=3\n [inquiry: 12 00 00 00 24 00 ]\n  scsi_status=0x0, host_status=0x0, driver_status=0x0\n"
        "  info=0x0  duration=4 milliseconds  resid=0\n  Incoming data, len=36:\n"
        " 00     00 00 00 00 23 00 00 00 57 44 43 20 57 44 31 30    ....#...WDC WD10\n"
        " 10     30 33 46 42 59 58 2d 30 31 59 37 42 32 20 20 20    03FBYX-01Y7B2   \n"
        " 20     30 31 2e 30                                        01.0\n"
        " [mode sense(6): 1a 00 1c 00 40 00 ]\n  scsi_status=0x2\n  >>> Sense buffer, len=18:\n"
        " 00     70 00 05 00 00 00 00 0a 00 00 00 00 24 00 00 00    p...........$...\n 10     00 00                                              ..\n");
    REQUIRE(sections.size() == 4);
    CHECK(sections[0].role == HexSection::Role::cdb);
    CHECK(sections[1].bytes.size() == 36);
    CHECK(sections[1].cdb == from_hex("120000002400"));
    CHECK(sections[2].role == HexSection::Role::cdb);
    CHECK(sections[3].role == HexSection::Role::sense);
    CHECK(sections[3].bytes.size() == 18);
}

TEST_CASE("a hole in the offsets ends the dump and is named") {
    const auto sections = read_hex_text("0000: 00 01 02 03 04 05 06 07\n0008: 08 09 0a 0b 0c 0d 0e 0f\n0020: 20 21\n");
    REQUIRE(sections.size() == 1);
    CHECK(sections[0].bytes.size() == 16);
    CHECK(sections[0].problems.size() == 1);
}

TEST_CASE("a line of brackets alone is no dump and no fault") {
    CHECK(read_hex_text("{\n};\n").empty());
    CHECK(read_hex_text("00 11 22 33\n}\n").size() == 1);
}

TEST_CASE("prose is no dump") {
    CHECK(read_hex_text("I bought a bad cab\nDate: Mon, 30 Nov 2026 10:11:12\nBe a dear and add it.\n").empty());
    CHECK(read_hex_text("").empty());
}
