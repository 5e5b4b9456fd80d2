#include <doctest/doctest.h>

#include "harness.h"
#include "sgprobe/scsi/capacity.h"
#include "sgprobe/scsi/inquiry.h"
#include "sgprobe/scsi/mode.h"
#include "sgprobe/scsi/reader.h"
#include "sgprobe/scsi/sense.h"
#include "sgprobe/sim/logical_unit.h"
#include "sgprobe/sim/random.h"

using namespace sgprobe;
using namespace sgprobe::sim;
using scsi::SenseKey;
using test::Bench;

namespace {
bool refused_with(const Completion& done, SenseKey key, std::uint8_t asc, std::uint8_t ascq) {
    return done.outcome.check_condition() && scsi::parse_sense(done.sense.view()).value.is(key, asc, ascq);
}
Completion select(Bench& bench, const scsi::Cdb& cdb, ByteView list) {
    Command command;
    command.cdb = cdb;
    command.direction = scsi::Direction::out;
    command.length = list.size();
    command.data = bench.drive->buffer(list.size(), BufferKind::indirect);
    std::copy(list.begin(), list.end(), command.data.bytes().begin());
    bench.drive->submit(std::move(command));
    return std::move(bench.host.wait(Host::never).completion);
}
}

TEST_CASE("a built-in drive says who it is, in INQUIRY, in each VPD page and in both capacities") {
    for (const BuiltinDrive& builtin : builtin_drives()) {
        CAPTURE(builtin.name);
        Bench bench("sim:" + builtin.name);
        const auto inquiry = scsi::parse_inquiry(bench.ask(scsi::inquiry(96)));
        CHECK(inquiry.ok());
        CHECK(scsi::trimmed(*inquiry.value.vendor) == bench.model.identity.vendor);
        CHECK(scsi::trimmed(*inquiry.value.product) == bench.model.identity.product);
        CHECK(scsi::trimmed(*inquiry.value.revision) == bench.model.identity.revision);
        const auto pages = scsi::parse_vpd_supported(bench.ask(scsi::inquiry_vpd(0, 255)));
        CHECK(pages.ok());
        for (const std::uint8_t page : pages.value) CHECK(bench.ask(scsi::inquiry_vpd(page, 255))[1] == page);
        CHECK(scsi::trimmed(scsi::parse_vpd_serial(bench.ask(scsi::inquiry_vpd(0x80, 255))).value) == bench.model.identity.serial);
        const auto capacity = scsi::parse_capacity_16(bench.ask(scsi::read_capacity_16(32)));
        CHECK(capacity.ok());
        CHECK(capacity.value.blocks == bench.model.media.blocks);
        CHECK(capacity.value.block_bytes == bench.model.media.block_bytes);
        const auto small = scsi::parse_capacity_10(bench.ask(scsi::read_capacity_10()));
        if (bench.model.media.blocks <= 0xffffffff) CHECK(small.value.blocks == bench.model.media.blocks);
        else CHECK(small.value.needs_16);
        for (const scsi::PageControl control : {scsi::PageControl::current, scsi::PageControl::changeable, scsi::PageControl::defaults, scsi::PageControl::saved}) {
            const auto modes = scsi::parse_mode_10(bench.ask(scsi::mode_sense_10({.page = 0x3f, .subpage = 0xff, .control = control}, 4096)));
            CHECK(modes.ok());
            CHECK(modes.value.find(8) != nullptr);
        }
        if (bench.model.media.rotating && !bench.model.identity.ata) {
            const auto modes = scsi::parse_mode_6(bench.ask(scsi::mode_sense_6({.page = 4}, 255)));
            CHECK(scsi::Reader(modes.value.find(4)->bytes).u16(20) == static_cast<unsigned>(bench.model.media.rpm + 0.5));
        }
    }
}

TEST_CASE("a reply is cut to the allocation length, and the residual says by how much") {
    Bench bench("sim:atlas15k2-hpm5");
    const Completion done = bench.send(scsi::inquiry(36), scsi::Direction::in, 96);
    CHECK(done.outcome.good());
    CHECK(done.resid == 60);
}

TEST_CASE("blocks hold content that differs from block to block and is the same in every run and every transfer") {
    Bench one("sim:atlas15k2-hpm5,seed=1"), two("sim:atlas15k2-hpm5,seed=2");
    const Completion whole = one.read(1000, 64, true);
    for (Lba lba = 1000; lba < 1064; ++lba) {
        const Completion single = two.read(lba, 1, true);
        const ByteView part = whole.data().subspan((lba - 1000) * 512, 512);
        CHECK(std::equal(part.begin(), part.end(), single.data().begin()));
        if (lba > 1000) CHECK(!std::equal(part.begin(), part.end(), whole.data().begin()));
    }
}

TEST_CASE("what is written is read back, and its neighbours are untouched") {
    Bench bench("sim:atlas15k2-hpm5");
    const Completion before = bench.read(499, 3, true);
    Command write;
    write.cdb = *scsi::build({.opcode = scsi::RwOpcode::write10, .lba = 500, .blocks = 1});
    write.direction = scsi::Direction::out;
    write.length = 512;
    write.data = bench.drive->buffer(512, BufferKind::indirect);
    std::fill(write.data.bytes().begin(), write.data.bytes().end(), std::uint8_t{0xa5});
    bench.drive->submit(std::move(write));
    CHECK(bench.host.wait(Host::never).completion.outcome.good());
    const Completion after = bench.read(499, 3, true);
    CHECK(std::equal(before.data().begin(), before.data().begin() + 512, after.data().begin()));
    CHECK(std::all_of(after.data().begin() + 512, after.data().begin() + 1024, [](std::uint8_t b) { return b == 0xa5; }));
    CHECK(std::equal(before.data().begin() + 1024, before.data().end(), after.data().begin() + 1024));
}

TEST_CASE("an address past the end, an unknown command and an unknown page get the sense that the standard gives them") {
    Bench bench("sim:atlas15k2-hpm5");
    const Lba end = bench.model.media.blocks;
    CHECK(bench.read(end - 8, 8).outcome.good());
    CHECK(refused_with(bench.read(end - 8, 9), SenseKey::illegal_request, 0x21, 0x00));
    CHECK(refused_with(bench.read(end, 1), SenseKey::illegal_request, 0x21, 0x00));
    scsi::Cdb vendor;
    vendor.bytes[0] = 0xee;
    vendor.size = 10;
    CHECK(refused_with(bench.send(vendor), SenseKey::illegal_request, 0x20, 0x00));
    CHECK(refused_with(bench.send(scsi::inquiry_vpd(0xcc, 255), scsi::Direction::in, 255), SenseKey::illegal_request, 0x24, 0x00));
    CHECK(refused_with(bench.send(scsi::mode_sense_10({.page = 0x30}, 255), scsi::Direction::in, 255), SenseKey::illegal_request, 0x24, 0x00));
    CHECK(bench.move(scsi::RwOpcode::read6, 0, 256).outcome.good());
    CHECK(bench.move(scsi::RwOpcode::read12, 0, 4096).outcome.good());
}

TEST_CASE("a stopped drive is not ready until it is started") {
    Bench bench("sim:atlas15k2-hpm5");
    CHECK(bench.send(scsi::start_stop_unit(false, false)).outcome.good());
    CHECK(refused_with(bench.send(scsi::test_unit_ready()), SenseKey::not_ready, 0x04, 0x02));
    CHECK(refused_with(bench.read(0, 1), SenseKey::not_ready, 0x04, 0x02));
    CHECK(bench.send(scsi::start_stop_unit(true, false)).outcome.good());
    CHECK(bench.send(scsi::test_unit_ready()).outcome.good());
}

TEST_CASE("MODE SELECT changes what may be changed, keeps it apart from what is saved, and is obeyed") {
    Bench bench("sim:atlas15k2-hpm5,noise=0");
    CHECK(bench.get("DPTL") == 512);
    CHECK(bench.set("DPTL", 100) == scsi::Status::good);
    CHECK(bench.get("DPTL") == 100);
    CHECK(bench.get("DPTL", scsi::PageControl::saved) == 512);
    CHECK(bench.get("DPTL", scsi::PageControl::defaults) == 512);
    CHECK(bench.get("DPTL", scsi::PageControl::changeable) == 0xffff);
    CHECK(bench.set("MAPF", 300, true) == scsi::Status::good);
    CHECK(bench.get("MAPF", scsi::PageControl::saved) == 300);
    CHECK(bench.get("DPTL", scsi::PageControl::saved) == 100);
    CHECK(bench.rate_mb_s(100, 20'000'000) > 90);
    CHECK(bench.rate_mb_s(128, 20'000'000, 10'000'000) < 20);
}

TEST_CASE("MODE SELECT refuses what may not be changed and lists that contradict themselves, and then changes nothing") {
    Bench bench("sim:atlas15k2-hpm5");
    CHECK(bench.set("NCS", 3) == scsi::Status::check_condition);
    ByteVector list = bench.ask(scsi::mode_sense_10({.page = 8, .dbd = true}, 255));
    scsi::put(list, 0, 2, 0);
    auto with = [&](auto change) {
        ByteVector copy = list;
        scsi::put(copy, 8 + 4, 2, 77);               // DPTL, which may be changed
        change(copy);
        return select(bench, scsi::mode_select_10(static_cast<std::uint16_t>(copy.size()), false), copy);
    };
    CHECK(refused_with(with([](ByteVector& l) { l[8 + 1] = 10; }), SenseKey::illegal_request, 0x26, 0x00));      // page length
    CHECK(refused_with(with([](ByteVector& l) { l.pop_back(); }), SenseKey::illegal_request, 0x1a, 0x00));       // cut short
    CHECK(refused_with(with([](ByteVector& l) { l[8] = 0x33; }), SenseKey::illegal_request, 0x26, 0x00));        // no such page
    CHECK(refused_with(with([](ByteVector& l) { l[7] = 5; }), SenseKey::illegal_request, 0x26, 0x00));           // descriptor length
    CHECK(refused_with(with([](ByteVector& l) { l[8 + 13] ^= 1; }), SenseKey::illegal_request, 0x26, 0x00));     // NCS
    CHECK(bench.get("DPTL") == 512);
    CHECK(with([](ByteVector&) {}).outcome.good());
    CHECK(bench.get("DPTL") == 77);
}

TEST_CASE("fields that a drive refuses, drops or keeps without effect behave as its file says") {
    const std::string base = "sim:atlas15k2-hpm5,noise=0,mode.caching.";
    Bench refused(base + "refused=[\"DPTL\"]"), dropped(base + "not_kept=[\"DPTL\"]"), ignored(base + "ignored=[\"DPTL\"]");
    CHECK(refused.set("DPTL", 100) == scsi::Status::check_condition);
    CHECK(refused.get("DPTL", scsi::PageControl::changeable) == 0xffff);
    CHECK(dropped.set("DPTL", 100) == scsi::Status::good);
    CHECK(dropped.get("DPTL") == 512);
    CHECK(ignored.set("DPTL", 100) == scsi::Status::good);
    CHECK(ignored.get("DPTL") == 100);
    CHECK(ignored.rate_mb_s(256, 20'000'000) > 90);
}

TEST_CASE("unit attentions come where the drive's file asks for them, once, and not with INQUIRY") {
    Bench bench("sim:atlas15k2-hpm5,attention_after_power_on=true,attention_after_select=true");
    CHECK(bench.send(scsi::inquiry(96), scsi::Direction::in, 96).outcome.good());
    CHECK(refused_with(bench.send(scsi::test_unit_ready()), SenseKey::unit_attention, 0x29, 0x00));
    CHECK(bench.send(scsi::test_unit_ready()).outcome.good());
    CHECK(bench.set("DPTL", 100) == scsi::Status::good);
    CHECK(refused_with(bench.read(0, 8), SenseKey::unit_attention, 0x2a, 0x01));
    CHECK(bench.read(0, 8).outcome.good());
}

TEST_CASE("prefetch obeys DRA, RCD and DISC") {
    for (const char* key : {"DRA", "RCD"}) {
        CAPTURE(key);
        Bench bench("sim:atlas15k2-hpm5,noise=0");
        CHECK(bench.set(key, 1) == scsi::Status::good);
        CHECK(bench.rate_mb_s(128, 10'000'000) == doctest::Approx(128 * 512 / (128 * 512 / 96.19 + 4000)).epsilon(0.03));
    }
    Bench rereads("sim:atlas15k2-hpm5,noise=0");
    rereads.read(5000, 8);
    CHECK(rereads.read(5000, 8).latency() < std::chrono::microseconds(200));
    rereads.set("RCD", 1);
    rereads.read(5000, 8);
    CHECK(rereads.read(5000, 8).latency() > std::chrono::microseconds(1000));
    for (const bool across : {true, false}) {        // a cylinder of the outermost zone holds 6,576 blocks
        Bench bench("sim:atlas15k2-hpm5,noise=0");
        bench.set("DISC", across);
        bench.read(6500, 76);
        bench.host.wait(bench.host.now() + std::chrono::milliseconds(20));
        CHECK((bench.read(6576, 8).latency() < std::chrono::microseconds(200)) == across);
    }
}

TEST_CASE("the same seed gives the same run, another seed another") {
    auto run = [](const char* name) {
        Bench bench(name);
        Random draw(5);
        for (int i = 0; i < 2000; ++i) bench.read(draw.below(1'000'000) * 64, 64);
        return bench.host.now();
    };
    CHECK(run("sim:atlas15k2-hpm5,seed=7") == run("sim:atlas15k2-hpm5,seed=7"));
    CHECK(run("sim:atlas15k2-hpm5,seed=7") != run("sim:atlas15k2-hpm5,seed=8"));
}
