#include "sgprobe/report/compare.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sgprobe/transport/failure.h"

using namespace sgprobe;
using namespace sgprobe::report;

namespace {

struct RunText {
    std::string product = "ATLAS15K2", revision = "HPM5", serial = "S1", transport = "sas", settings = "{\"DPTL\":512}";
    double large = 47, width = 0.01;
    std::string json() const {
        std::string samples;
        for (const int kib : {64, 128, 256, 512, 1024}) {
            const double rate = kib > 256 ? large : 96;
            samples += fmt::format(R"({}{{"pattern":"seq-read","transfer_bytes":{},"depth":1,"rate_mb_s":{{"median":{},"low":{},"high":{}}}}})", samples.empty() ? "" : ",", kib * 1024, rate, rate * (1 - width), rate * (1 + width));
        }
        return fmt::format(R"({{"schema":"sgprobe/1","probe":"size","started":"2026-01-02T00:00:00Z","device":{{"vendor":"MAXTOR","product":"{}","revision":"{}","serial":"{}","block_bytes":512,"transport":"{}"}},)"
                           R"("samples":[{}],"verdict":"clean","cliffs":[],"settings_before":{}}})", product, revision, serial, transport, samples, settings);
    }
};

int refusal(const RunText& a, const RunText& b) {
    try {
        compare_runs(a.json(), "a", b.json(), "b", 0.1);
    } catch (const Failure& failure) {
        return failure.status();
    }
    return 0;
}

}

TEST_CASE("compare: a setting that lifts the large sizes is significant there and nowhere else") {
    RunText a, b;
    b.large = 75;
    b.settings = "{\"DPTL\":65535}";
    const Comparison c = compare_runs(a.json(), "a", b.json(), "b", 0.1);
    REQUIRE(c.cells.size() == 5);
    for (const ComparedCell& cell : c.cells) CHECK(cell.significant == (cell.transfer_bytes > 256 * 1024));
    REQUIRE(c.differs.size() == 1);
    CHECK(c.differs[0] == "DPTL: 512 and 65535");
    CHECK(c.summary.find("2 of 5 cells faster") == 0);
}

TEST_CASE("compare: what lies within the intervals has not changed") {
    RunText a, b;
    a.width = b.width = 0.2;
    b.large = 52;
    CHECK(compare_runs(a.json(), "a", b.json(), "b", 0.1).summary == "nothing changed significantly in 5 cells");
}

TEST_CASE("compare: another drive, model or transport is refused, another firmware is not") {
    RunText a, firmware, serial, model, usb, anonymous;
    firmware.revision = "HPM7";
    serial.serial = "S2";
    model.product = "ATLAS10K5";
    usb.transport = "usb";
    anonymous.serial = "";
    CHECK(refusal(a, firmware) == 0);
    CHECK(refusal(a, anonymous) == 0);
    CHECK(refusal(a, serial) == static_cast<int>(ExitStatus::contradiction));
    CHECK(refusal(a, model) == static_cast<int>(ExitStatus::contradiction));
    CHECK(refusal(a, usb) == static_cast<int>(ExitStatus::contradiction));
}

TEST_CASE("compare: text that is no result is malformed, not compared") {
    for (const char* bad : {"", "{", "[]", "{\"schema\":\"sgprobe/1\"}", "{\"schema\":1}", "64 kB: 96 MB/s"}) {
        INFO(bad);
        try {
            compare_runs(bad, "a", RunText{}.json(), "b", 0.1);
            FAIL("not refused");
        } catch (const Failure& failure) {
            CHECK(failure.status() == static_cast<int>(ExitStatus::malformed));
        }
    }
}
