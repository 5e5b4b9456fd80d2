// Limits that were reported of real devices, as firmware rules of simulated ones: each must get the answer that its report has.
#include <doctest/doctest.h>

#include "sgprobe/measure/limits.h"
#include "sgprobe/sim/sim.h"
#include "sgprobe/transport/virtual_host.h"

using namespace sgprobe;
using namespace sgprobe::measure;

namespace {
constexpr const char* disk = R"(
[identity]
vendor = "SGPROBE"
product = "CASE"
revision = "0001"
serial = "CASE0001"

[media]
rotating = false
blocks = 4194304

[controller]
read_overhead_us = 50
bus_mb_s = 500
)";

constexpr const char* flash = R"(
[flash]
read_us = 60
write_us = 60
rate_mb_s = 500
write_rate_mb_s = 500
)";

OpcodeLimit limit_of(const std::string& controller, const std::string& rule, Bytes host_bytes = 8u << 20) {
    VirtualHostOptions host_options;
    host_options.max_transfer_bytes = host_bytes;
    VirtualHost host(host_options);
    const sim::Model model = sim::parse_model(disk + controller + flash + rule, "case.toml");
    host.add_scheme("sim", [&](const DriveSpec&) { return sim::make_target(model); });
    const auto drive = host.open(DriveSpec::parse("sim:case"));
    LimitsOptions options;
    options.opcodes = {"READ(16)"};
    return measure_limits(host, *drive, options).opcodes.front();
}

void is(const OpcodeLimit& limit, Blocks max_ok, Blocks first_failing, Failing failing, LimitLayer layer) {
    CAPTURE(limit.detail);
    CHECK(limit.found.max_ok == max_ok);
    CHECK(limit.found.first_failing == first_failing);
    CHECK(name(limit.found.failing) == name(failing));
    CHECK(name(limit.layer) == name(layer));
}
}

TEST_CASE("limits of reported devices: 8,191 sectors, past them a time-out after a few attempts (Dell BOSS)") {
    is(limit_of("", "[[rule]]\ncommands = [\"read\"]\nover_blocks = 8191\nprobability = 0.4\nnever = true\n"), 8191, 8192, Failing::time_out, LimitLayer::drive);
}

TEST_CASE("limits of reported devices: 1,024 sectors, past them time-outs (LITEON)") {
    is(limit_of("", "[[rule]]\ncommands = [\"read\"]\nover_blocks = 1024\nnever = true\n"), 1024, 1025, Failing::time_out, LimitLayer::drive);
}

TEST_CASE("limits of reported devices: stale data past 257 pages of 4 KiB (Fusion-io)") {
    for (const char* data : {"stale", "zero", "garbage"}) {
        CAPTURE(data);
        is(limit_of("", std::string("[[rule]]\ncommands = [\"read\"]\nover_blocks = 2056\ndata = \"") + data + "\"\ndata_from_block = 2056\n"), 2056, 2057,
           Failing::corruption, LimitLayer::drive);
    }
}

TEST_CASE("limits of reported devices: the host's scatter list ends at 524,288 bytes (tape behind an ATTO HBA)") {
    const OpcodeLimit limit = limit_of("", "", 524288);
    is(limit, 1024, 1025, Failing::host, LimitLayer::host);
    CHECK(limit.detail.find("524,288") != std::string::npos);
}

TEST_CASE("limits of reported devices: 512 blocks declared, and real (Google persistent disk)") {
    is(limit_of("declared_max_blocks = 512\n", "[[rule]]\ncommands = [\"read\"]\nover_blocks = 512\nsense = \"5/24/00\"\n"), 512, 513, Failing::sense,
       LimitLayer::declared);
}

TEST_CASE("limits of reported devices: disconnects above 128 sectors (RockChip)") {
    is(limit_of("", "[[rule]]\ncommands = [\"read\"]\nover_blocks = 128\ngone = true\n"), 128, 129, Failing::disconnect, LimitLayer::drive);
}

TEST_CASE("limits of reported devices: one command in twenty fails at any length, which is no limit") {
    is(limit_of("", "[[rule]]\ncommands = [\"read\"]\nevery = 20\nsense = \"b/4b/03\"\n"), 16384, 16385, Failing::host, LimitLayer::host);
}

TEST_CASE("limits of reported devices: 2,048 blocks declared, 640 taken, then a reset") {
    is(limit_of("declared_max_blocks = 2048\n", "[[rule]]\ncommands = [\"read\"]\nover_blocks = 640\nreset = true\nnever = true\n"), 640, 641, Failing::time_out,
       LimitLayer::drive);
}
