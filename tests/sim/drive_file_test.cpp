#include <doctest/doctest.h>

#include <fstream>

#include "sgprobe/sim/sim.h"
#include "sgprobe/transport/failure.h"

using namespace sgprobe;
using namespace sgprobe::sim;

namespace {
std::string atlas() {
    for (const BuiltinDrive& drive : builtin_drives())
        if (drive.name == "atlas15k2-hpm5") return std::string(drive.content);
    return {};
}
std::string with(const std::string& from, const std::string& to) {
    std::string text = atlas();
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}
std::string complaint(const std::string& text, const std::map<std::string, std::string>& overrides = {}) {
    try {
        parse_model(text, "my/drive.toml", overrides);
    } catch (const Failure& failure) {
        CHECK(failure.status() == static_cast<int>(ExitStatus::syntax));
        return failure.what();
    }
    return "accepted";
}
bool says(const std::string& what, std::initializer_list<const char*> parts) {
    for (const char* part : parts)
        if (what.find(part) == std::string::npos) return false;
    return true;
}
}

TEST_CASE("every built-in drive's file is read, and its name is the file's") {
    CHECK(builtin_drives().size() >= 4);
    for (const BuiltinDrive& drive : builtin_drives()) {
        CAPTURE(drive.name);
        const Model model = load_model(DriveSpec::parse("sim:" + drive.name));
        CHECK(model.name == drive.name);
        CHECK(make_target(model)->depth() >= 1);
    }
}

TEST_CASE("a bad line in a drive's file is named by file, line and key") {
    CHECK(says(complaint(with("rpm = 15000", "rpm = \"fast\"")), {"my/drive.toml:14:", "media.rpm", "number"}));
    CHECK(says(complaint(with("rpm = 15000", "rpm = -4")), {"media.rpm", "from 100"}));
    CHECK(says(complaint(with("rpm = 15000", "")), {"media.rpm", "missing"}));
    CHECK(says(complaint(with("rpm = 15000", "rpm = 15000\nrmp = 15000")), {"my/drive.toml:15:", "media.rmp", "no key"}));
    CHECK(says(complaint(with("[media]", "[media")), {"my/drive.toml:"}));
    CHECK(says(complaint(with("[cache]", "[cash]")), {"cache", "missing"}));
    CHECK(says(complaint(with("blocks = 287132440", "blocks = 987132440")), {"media.zones", "fewer than the 987132440"}));
    CHECK(says(complaint(with("vendor = \"MAXTOR\"", "vendor = \"MAXTOR STORAGE\"")), {"identity.vendor", "longer than 8"}));
    CHECK(says(complaint(with("vendor = \"MAXTOR\"", "vendor = \"MAX\\u001b[\"")), {"identity.vendor", "not ASCII"}));
    CHECK(says(complaint(with("DPTL = 512", "DPTL = 70000")), {"mode.caching.DPTL", "from 0 to 65535"}));
    CHECK(says(complaint(with("\"ABPF\"", "\"ABFP\"")), {"mode.caching.changeable", "ABFP"}));
    CHECK(says(complaint(with("segments = 6", "segments = 0")), {"cache.segments", "from 1"}));
    CHECK(says(complaint(with("cylinders = 3280", "cylinders = 3280.5")), {"media.zones.cylinders", "whole number"}));
    CHECK(complaint("") != "accepted");
}

TEST_CASE("overrides replace what the file says, by its own keys, and unknown ones are refused") {
    const Model model = parse_model(atlas(), "x.toml", {{"seed", "42"}, {"noise", "0"}, {"cache.segments", "3"}, {"identity.revision", "TEST"}, {"max_transfer", "65536"}});
    CHECK(model.seed == 42);
    CHECK(model.noise.scale == 0);
    CHECK(model.cache.segments == 3);
    CHECK(model.identity.revision == "TEST");
    CHECK(model.controller.max_transfer_bytes == 65536);
    CHECK(says(complaint(atlas(), {{"sede", "4"}}), {"sede", "no key"}));
    CHECK(says(complaint(atlas(), {{"seed", "x"}}), {"seed", "whole number"}));
    CHECK(says(complaint(atlas(), {{"media.rpm.x", "1"}}), {"media.rpm", "no table"}));
}

TEST_CASE("a name that is no drive is refused with the names there are, a file that is not there with its path") {
    auto failure = [](const char* spec) {
        try {
            load_model(DriveSpec::parse(spec));
        } catch (const Failure& f) {
            CHECK(f.status() == static_cast<int>(ExitStatus::file_error));
            return std::string(f.what());
        }
        return std::string("accepted");
    };
    CHECK(says(failure("sim:atlas15k3"), {"sim:atlas15k3", "atlas15k2-hpm5"}));
    CHECK(says(failure("sim:/nowhere/x.toml"), {"/nowhere/x.toml"}));
    CHECK(says(failure("sim:/"), {"/"}));
}
