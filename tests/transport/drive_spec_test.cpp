#include "sgprobe/transport/drive_spec.h"

#include <doctest/doctest.h>

#include "sgprobe/transport/escape.h"
#include "sgprobe/transport/failure.h"

using namespace sgprobe;

TEST_CASE("drive spec: schemes are told apart") {
    CHECK(DriveSpec::parse("/dev/sg3").scheme == "sg");
    CHECK(DriveSpec::parse("/dev/disk/by-id/a:b").rest == "/dev/disk/by-id/a:b");
    CHECK(DriveSpec::parse("pipe:python3 model.py --x=1,2").rest == "python3 model.py --x=1,2");
    CHECK(DriveSpec::parse("trace:run,1.trace").rest == "run,1.trace");
    const DriveSpec sim = DriveSpec::parse("sim:atlas15k2-hpm5,seed=7,noise=0");
    CHECK(sim.scheme == "sim");
    CHECK(sim.rest == "atlas15k2-hpm5");
    CHECK(sim.options == std::map<std::string, std::string>{{"seed", "7"}, {"noise", "0"}});
    CHECK(sim.text == "sim:atlas15k2-hpm5,seed=7,noise=0");
}

TEST_CASE("drive spec: what names no drive is refused with syntax status") {
    using namespace std::string_literals;
    for (const std::string& text : {""s, "sim:"s, "pipe:  "s, "trace:"s, "sg3"s, "sim"s, "nvme:x"s, "sim:a,"s, "sim:a,b"s, "sim:a,=1"s, "sim:a,x=1,x=2"s,
                                    "sim:a\0b"s, "sim:,seed=1"s}) {
        CAPTURE(text);
        try {
            DriveSpec::parse(text);
            FAIL("was taken");
        } catch (const Failure& failure) {
            CHECK(failure.status() == 1);
        }
    }
}

TEST_CASE("failure: an OS error has the status that sg3_utils gives it") {
    CHECK(Failure::os(13, "/dev/sg0: open").status() == 63);
    CHECK(std::string(Failure::os(13, "/dev/sg0: open").what()) == "/dev/sg0: open: Permission denied");
}

TEST_CASE("escape: nothing from outside reaches the terminal unescaped") {
    CHECK(escaped("a\"b'c`d\\e\n\t\r\x1b[31m\xc3\xa4") == "a\\x22b\\x27c\\x60d\\\\e\\n\\t\\r\\x1b[31m\\xc3\\xa4");
    CHECK(escaped("abcdef", 3) == "abc... (6 bytes)");
    CHECK(hex(ByteVector{0x2a, 0, 0xff}, " ") == "2a 00 ff");
}
