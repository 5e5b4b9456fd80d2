#include "sgprobe/measure/limits.h"

#include <doctest/doctest.h>

#include "scripted_disk.h"
#include "sgprobe/transport/failure.h"
#include "sgprobe/transport/virtual_host.h"

using namespace sgprobe;
using namespace sgprobe::measure;
using sgprobe::testing::Damage;
using sgprobe::testing::DiskRules;

namespace {
LimitsFinding limits_of(const DiskRules& rules, LimitsOptions options = {}, Bytes host_bytes = 4u << 20) {
    VirtualHostOptions host_options;
    host_options.max_transfer_bytes = host_bytes;
    VirtualHost host(host_options);
    int opened = 0;
    host.add_scheme("scripted", [&](const DriveSpec&) -> std::unique_ptr<Target> {
        if (opened++ > 0 && !rules.comes_back) throw Failure(ExitStatus::file_error, "not there");
        return std::make_unique<sgprobe::testing::ScriptedDisk>(rules);
    });
    DriveSpec spec;
    spec.text = "scripted:disk";
    spec.scheme = "scripted";
    const auto drive = host.open(spec);
    return measure_limits(host, *drive, options);
}

LimitsOptions only(std::vector<std::string> opcodes) { LimitsOptions options; options.opcodes = std::move(opcodes); return options; }

const OpcodeLimit& of(const LimitsFinding& finding, std::string_view opcode) {
    for (const OpcodeLimit& limit : finding.opcodes) if (limit.opcode == opcode) return limit;
    FAIL("no such opcode in the result");
    return finding.opcodes.front();
}

void is(const OpcodeLimit& limit, Blocks max_ok, std::optional<Blocks> first_failing, Failing failing, LimitLayer layer) {
    CAPTURE(limit.opcode);
    CAPTURE(limit.detail);
    CHECK(limit.found.max_ok == max_ok);
    CHECK(limit.found.first_failing == first_failing);
    CHECK(limit.found.failing == failing);
    CHECK(name(limit.layer) == name(layer));
}
}

TEST_CASE("limits: a sound drive ends at the CDB's field, and at the host's limit") {
    const LimitsFinding found = limits_of({}, {}, 32u << 20);
    is(of(found, "READ(6)"), 256, {}, Failing::none, LimitLayer::cdb);
    is(of(found, "READ(10)"), 65535, {}, Failing::none, LimitLayer::cdb);
    is(of(found, "READ(12)"), 65536, 65537, Failing::host, LimitLayer::host);
    is(of(found, "READ(16)"), 65536, 65537, Failing::host, LimitLayer::host);
    CHECK(of(found, "READ(16)").host_limit == "max_transfer");
    CHECK(of(found, "READ(10)").content_checked);
    CHECK(found.time_outs == 0);
}

TEST_CASE("limits: every failure class, told to the block and to the layer, for every opcode") {
    for (const Failing failing : {Failing::sense, Failing::time_out, Failing::corruption, Failing::disconnect}) {
        DiskRules rules;
        rules.limit = 640;
        rules.failing = failing;
        const LimitsFinding found = limits_of(rules);
        for (const char* opcode : {"READ(10)", "READ(12)", "READ(16)"}) is(of(found, opcode), 640, 641, failing, LimitLayer::drive);
        is(of(found, "READ(6)"), 256, {}, Failing::none, LimitLayer::cdb);
        CHECK(found.time_outs <= 12);
    }
}

TEST_CASE("limits: silent corruption of every kind is seen, and where it begins is said") {
    for (const Damage damage : {Damage::zeros, Damage::nothing_arrives, Damage::wraps, Damage::shifts, Damage::one_byte, Damage::short_count}) {
        DiskRules rules;
        rules.limit = 2056;
        rules.failing = Failing::corruption;
        rules.damage = damage;
        const LimitsFinding found = limits_of(rules, only({"READ(10)"}));
        CAPTURE(int(damage));
        is(of(found, "READ(10)"), 2056, 2057, Failing::corruption, LimitLayer::drive);
        CHECK(of(found, "READ(10)").detail.find("silent corruption") != std::string::npos);
    }
}

TEST_CASE("limits: media without varied content is said to be unchecked") {
    DiskRules rules;
    rules.blank = true;
    const LimitsFinding found = limits_of(rules, only({"READ(10)"}));
    CHECK_FALSE(of(found, "READ(10)").content_checked);
    CHECK(of(found, "READ(10)").found.max_ok == 8192);
}

TEST_CASE("limits: declared limits that are real, that lie, and none") {
    DiskRules rules;
    rules.declared = 512;
    rules.limit = 512;
    is(of(limits_of(rules, only({"READ(10)"})), "READ(10)"), 512, 513, Failing::sense, LimitLayer::declared);
    rules.declared = 2048;
    rules.limit = 640;
    auto lies = limits_of(rules, only({"READ(10)"}));
    is(of(lies, "READ(10)"), 640, 641, Failing::sense, LimitLayer::drive);
    CHECK(of(lies, "READ(10)").detail.find("2,048") != std::string::npos);
    rules.declared = 512;
    rules.limit = 4000;
    auto modest = limits_of(rules, only({"READ(10)"}));
    is(of(modest, "READ(10)"), 4000, 4001, Failing::sense, LimitLayer::drive);
    CHECK(of(modest, "READ(10)").detail.find("more work") != std::string::npos);
    rules.declared = 0xffff;
    rules.limit = 0;
    is(of(limits_of(rules, only({"READ(10)"})), "READ(10)"), 8192, 8193, Failing::host, LimitLayer::host);
}

TEST_CASE("limits: the end of a small disk is capacity, and so is a capacity that is one too large") {
    DiskRules rules;
    rules.blocks = 1000;
    is(of(limits_of(rules, only({"READ(10)"})), "READ(10)"), 1000, 1001, Failing::sense, LimitLayer::capacity);
    rules.capacity_lie = 1;
    is(of(limits_of(rules, only({"READ(10)"})), "READ(10)"), 999, 1000, Failing::sense, LimitLayer::capacity);
    rules.capacity_lie = 0;
    LimitsOptions options = only({"READ(10)"});
    options.spare_last_blocks = true;
    is(of(limits_of(rules, options), "READ(10)"), 992, {}, Failing::none, LimitLayer::capacity);
}

TEST_CASE("limits: 4096-byte blocks meet the host's limit, not the CDB's") {
    DiskRules rules;
    rules.block_bytes = 4096;
    const LimitsFinding found = limits_of(rules);
    is(of(found, "READ(10)"), 1024, 1025, Failing::host, LimitLayer::host);
    is(of(found, "READ(6)"), 256, {}, Failing::none, LimitLayer::cdb);
}

TEST_CASE("limits: a medium error is not taken for a limit") {
    DiskRules rules;
    rules.bad_block = 3000;
    LimitsOptions options = only({"READ(10)"});
    is(of(limits_of(rules, options), "READ(10)"), 8192, 8193, Failing::host, LimitLayer::host);
    options.start = 0;
    const LimitsFinding found = limits_of(rules, options);
    CHECK(of(found, "READ(10)").found.max_ok < 3000);
    CHECK(of(found, "READ(10)").detail.find("fault of the medium") != std::string::npos);
    CHECK_FALSE(of(found, "READ(10)").found.first_failing);
}

TEST_CASE("limits: one command in twenty fails at any length: no limit, but it is said") {
    DiskRules rules;
    rules.stray = 0.05;
    const LimitsFinding found = limits_of(rules, only({"READ(10)"}));
    is(of(found, "READ(10)"), 8192, 8193, Failing::host, LimitLayer::host);
    CHECK_FALSE(found.notes.empty());
}

TEST_CASE("limits: answers after 70 s, never, or with a reset end within the time-outs allowed") {
    for (const bool reset : {false, true})
        for (const auto late : {std::chrono::seconds(0), std::chrono::seconds(70)}) {
            DiskRules rules;
            rules.limit = 1024;
            rules.failing = Failing::time_out;
            rules.late = late;
            rules.reset_after = reset;
            LimitsOptions options = only({"READ(10)"});
            options.max_timeouts = 3;
            const LimitsFinding found = limits_of(rules, options);
            is(of(found, "READ(10)"), 1024, 1025, Failing::time_out, LimitLayer::drive);
            CHECK(found.time_outs <= 3);
        }
    DiskRules rules;
    rules.limit = 1024;
    rules.reset_after = true;
    is(of(limits_of(rules, only({"READ(10)"})), "READ(10)"), 1024, 1025, Failing::sense, LimitLayer::drive);
}

TEST_CASE("limits: a drive that disconnects and stays away leaves the last good length") {
    DiskRules rules;
    rules.limit = 128;
    rules.failing = Failing::disconnect;
    rules.comes_back = false;
    const LimitsFinding found = limits_of(rules);
    is(of(found, "READ(10)"), 128, 129, Failing::disconnect, LimitLayer::drive);
    CHECK(found.gone);
    CHECK_FALSE(of(found, "READ(16)").tried);
}

TEST_CASE("limits: an opcode that the drive does not know") {
    DiskRules rules;
    rules.read_6_12_16 = false;
    const LimitsFinding found = limits_of(rules);
    CHECK(of(found, "READ(12)").found.max_ok == 0);
    CHECK(of(found, "READ(12)").detail.find("does not work") != std::string::npos);
    CHECK(of(found, "READ(10)").found.max_ok == 8192);
}

TEST_CASE("limits: ATA commands where the drive is ATA") {
    DiskRules rules;
    rules.ata = true;
    rules.limit = 8191;
    rules.failing = Failing::time_out;
    rules.rate = 0.5;
    const LimitsFinding found = limits_of(rules);
    is(of(found, "READ DMA EXT"), 8191, 8192, Failing::time_out, LimitLayer::drive);
    is(of(found, "READ(10)"), 8191, 8192, Failing::time_out, LimitLayer::drive);
}

TEST_CASE("limits: the scatter list's end is the host's, with its arithmetic") {
    DiskRules rules;
    rules.max_transfer_bytes = 524288;
    LimitsOptions options = only({"READ(10)"});
    const LimitsFinding found = limits_of(rules, options);
    is(of(found, "READ(10)"), 1024, 1025, Failing::host, LimitLayer::host);
    CHECK(of(found, "READ(10)").detail.find("524,288") != std::string::npos);
}

TEST_CASE("limits: a budget ends it with what is known") {
    DiskRules rules;
    LimitsOptions options;
    options.budget = std::chrono::milliseconds(20);
    const LimitsFinding found = limits_of(rules, options);
    CHECK(found.budget_spent);
    CHECK_FALSE(of(found, "READ(10)").found.exact);
    CHECK(of(found, "READ(10)").detail.find("--budget") != std::string::npos);
}

TEST_CASE("limits: a read across 0FFFFFFFh that fails is told from a bad block there") {
    DiskRules rules;
    rules.blocks = Blocks{1} << 33;
    rules.crosses_badly = 0x0fffffff;
    const auto outcome = [](const LimitsFinding& found, Lba lba, std::string_view opcode) -> const AddressBorder& {
        for (const AddressBorder& border : found.borders) if (border.lba == lba && border.opcode == opcode) return border;
        FAIL("no such border");
        return found.borders.front();
    };
    const LimitsOptions options = only({"READ(10)", "READ(16)"});
    LimitsFinding found = limits_of(rules, options);
    CHECK_FALSE(outcome(found, 0x0fffffff, "READ(10)").passes);
    CHECK(outcome(found, 0x0fffffff, "READ(10)").told.find("does not cross") != std::string::npos);
    CHECK(outcome(found, 0xffffffff, "READ(10)").passes);
    CHECK(outcome(found, 0xffffffff, "READ(16)").passes);
    rules.crosses_badly = 0;
    rules.bad_block = 0x10000001;
    found = limits_of(rules, options);
    CHECK(outcome(found, 0x0fffffff, "READ(16)").told.find("268435457 fails on its own") != std::string::npos);
}

TEST_CASE("limits: WRITE within a range: to the block, silent loss seen, and the range holds again what it held") {
    for (const Failing failing : {Failing::sense, Failing::corruption, Failing::time_out}) {
        DiskRules rules;
        rules.limit = 300;
        rules.failing = failing;
        LimitsOptions options = only({"READ(10)"});
        options.write = true;
        options.write_first = 5000;
        options.write_blocks = 1000;
        const LimitsFinding found = limits_of(rules, options);
        is(of(found, "WRITE(10)"), 300, 301, failing, LimitLayer::drive);
        is(of(found, "WRITE(16)"), 300, 301, failing, LimitLayer::drive);
        is(of(found, "WRITE(6)"), 256, {}, Failing::none, LimitLayer::cdb);
        bool held = false;
        for (const std::string& note : found.notes) held = held || note.find("hold again") != std::string::npos;
        CHECK(held);
    }
    LimitsOptions options = only({"READ(10)"});
    options.write = true;
    options.write_blocks = 100;
    const OpcodeLimit whole = of(limits_of({}, options), "WRITE(10)");
    CHECK(whole.found.max_ok == 100);
    CHECK(whole.detail.find("all of the range given") != std::string::npos);
}
