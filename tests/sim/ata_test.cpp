#include <doctest/doctest.h>

#include "harness.h"
#include "sgprobe/scsi/identify.h"
#include "sgprobe/scsi/inquiry.h"
#include "sgprobe/scsi/reader.h"
#include "sgprobe/scsi/sense.h"

using namespace sgprobe;
using namespace sgprobe::sim;
using test::Bench;

namespace {
Completion ata(Bench& bench, const scsi::AtaCommand& command, Bytes length = 0) {
    return bench.send(scsi::ata_pass_through_16(command), command.direction(), length);
}
scsi::Identify identify(Bench& bench) {
    const Completion done = ata(bench, scsi::ata_identify_device(), 512);
    REQUIRE(done.outcome.good());
    const auto parsed = scsi::parse_identify(done.data());
    CHECK(parsed.ok());
    CHECK(parsed.value.checksum_good == true);
    return parsed.value;
}
}

TEST_CASE("a simulated SATA drive identifies itself alike through IDENTIFY DEVICE, VPD page 89h and INQUIRY") {
    Bench bench("sim:wd740adfd");
    const scsi::Identify id = identify(bench);
    CHECK(scsi::trimmed(*id.model) == "WDC WD740ADFD-00NLR5");
    CHECK(scsi::trimmed(*id.firmware) == "21.07QR5");
    CHECK(id.sectors == bench.model.media.blocks);
    CHECK(id.rotation_rpm == 10000);
    CHECK(id.queue_depth == 32);
    const auto page = scsi::parse_vpd_ata_information(bench.ask(scsi::inquiry_vpd(0x89, 1024)));
    CHECK(page.ok());
    const Completion direct = ata(bench, scsi::ata_identify_device(), 512);
    CHECK(ByteVector(direct.data().begin(), direct.data().end()) == page.value.identify);
}

TEST_CASE("SET FEATURES turns write cache, look-ahead, APM and AAM on and off, and the caching page shows it") {
    Bench bench("sim:stm316021,noise=0");
    CHECK(bench.get("WCE") == 1);
    CHECK(ata(bench, scsi::ata_set_features(0x82)).outcome.good());
    CHECK(bench.get("WCE") == 0);
    CHECK(identify(bench).write_cache->enabled == false);
    CHECK(bench.rate_mb_s(256, 20'000'000) > 70);
    CHECK(ata(bench, scsi::ata_set_features(0x55)).outcome.good());
    CHECK(bench.get("DRA") == 1);
    CHECK(identify(bench).look_ahead->enabled == false);
    CHECK(bench.rate_mb_s(256, 20'000'000, 10'000'000) < 20);
    CHECK(ata(bench, scsi::ata_set_features(0xaa)).outcome.good());
    CHECK(bench.rate_mb_s(256, 20'000'000, 20'000'000) > 70);
    CHECK(ata(bench, scsi::ata_set_features(0x05, 0x80)).outcome.good());
    CHECK(identify(bench).apm_level == 0x80);
    CHECK(ata(bench, scsi::ata_set_features(0x42, 0x90)).outcome.good());
    CHECK(identify(bench).aam_level == 0x90);
    CHECK(bench.set("DRA", 1) == scsi::Status::check_condition);   // of the caching page only WCE can be set
}

TEST_CASE("an ATA command that the drive does not know is aborted, with the registers in the sense data") {
    Bench bench("sim:stm316021");
    const Completion done = ata(bench, scsi::ata_set_features(0x77));
    REQUIRE(done.outcome.check_condition());
    const scsi::Sense sense = scsi::parse_sense(done.sense.view()).value;
    CHECK(sense.key == scsi::SenseKey::aborted_command);
    REQUIRE(sense.ata);
    CHECK(sense.ata->status == 0x51);
    CHECK(sense.ata->error == 0x04);
    scsi::AtaCommand power{.command = 0xe5, .ck_cond = true};
    const Completion mode = ata(bench, power);
    const scsi::Sense registers = scsi::parse_sense(mode.sense.view()).value;
    REQUIRE(registers.ata);
    CHECK(registers.is(scsi::SenseKey::recovered_error, 0x00, 0x1d));
    CHECK(registers.ata->count == 0xff);
    Bench scsi_drive("sim:atlas15k2-hpm5");
    CHECK(ata(scsi_drive, scsi::ata_identify_device(), 512).outcome.check_condition());
}

TEST_CASE("READ DMA EXT and READ FPDMA QUEUED read what READ(16) reads, and SMART data are whole") {
    Bench bench("sim:stm316021");
    const Completion plain = bench.read(123456, 8, true);
    const Completion dma = ata(bench, {.protocol = scsi::AtaProtocol::dma, .command = 0x25, .device = 0x40, .count = 8, .lba = 123456, .extend = true}, 4096);
    const Completion queued = ata(bench, {.protocol = scsi::AtaProtocol::fpdma, .command = 0x60, .device = 0x40, .feature = 8, .lba = 123456, .extend = true}, 4096);
    REQUIRE(dma.outcome.good());
    REQUIRE(queued.outcome.good());
    CHECK(std::equal(plain.data().begin(), plain.data().end(), dma.data().begin(), dma.data().end()));
    CHECK(std::equal(plain.data().begin(), plain.data().end(), queued.data().begin(), queued.data().end()));
    const Completion smart = ata(bench, scsi::ata_smart_read_data(), 512);
    REQUIRE(smart.outcome.good());
    CHECK(scsi::ata_checksum_good(smart.data()));
}

TEST_CASE("unmapped blocks of a solid-state drive read as zeros and faster, until they are written; UNMAP takes them away") {
    Bench bench("sim:sata-ssd,noise=0");
    const Lba hole = bench.model.flash.unmapped[0].first;
    auto zero = [&](Lba lba) {
        const Completion done = bench.read(lba, 1, true);
        return std::all_of(done.data().begin(), done.data().end(), [](std::uint8_t b) { return b == 0; });
    };
    auto mapped = [&](Lba lba) { return scsi::Reader(bench.ask(scsi::get_lba_status(lba, 24))).u8(20) == 0; };
    CHECK(zero(hole));
    CHECK_FALSE(zero(hole - 1));
    CHECK(mapped(hole - 1));
    CHECK_FALSE(mapped(hole));
    CHECK(bench.read(hole, 64).latency() < bench.read(0, 64).latency());
    const auto provisioning = scsi::parse_vpd_provisioning(bench.ask(scsi::inquiry_vpd(0xb2, 64)));
    CHECK(provisioning.value.lbpu);
    Command write;
    write.cdb = *scsi::build({.opcode = scsi::RwOpcode::write16, .lba = hole, .blocks = 8});
    write.direction = scsi::Direction::out;
    write.length = 4096;
    write.data = bench.drive->buffer(4096, BufferKind::indirect);
    std::fill(write.data.bytes().begin(), write.data.bytes().end(), std::uint8_t{7});
    bench.drive->submit(std::move(write));
    CHECK(bench.host.wait(Host::never).completion.outcome.good());
    CHECK(mapped(hole + 7));
    CHECK_FALSE(mapped(hole + 8));
    CHECK_FALSE(zero(hole));
    Command unmap;
    unmap.cdb.bytes[0] = 0x42;
    unmap.cdb.bytes[8] = 24;
    unmap.cdb.size = 10;
    unmap.direction = scsi::Direction::out;
    unmap.length = 24;
    unmap.data = bench.drive->buffer(24, BufferKind::indirect);
    auto list = unmap.data.bytes();
    scsi::put(list, 0, 2, 22);
    scsi::put(list, 2, 2, 16);
    scsi::put(list, 8, 8, 1000);
    scsi::put(list, 16, 4, 16);
    bench.drive->submit(std::move(unmap));
    CHECK(bench.host.wait(Host::never).completion.outcome.good());
    CHECK(zero(1015));
    CHECK_FALSE(zero(1016));
}
