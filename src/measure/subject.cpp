#include "sgprobe/measure/subject.h"

#include "sgprobe/pages/device_id.h"
#include "sgprobe/scsi/mode.h"
#include "sgprobe/scsi/reader.h"
#include "sgprobe/scsi/sense.h"
#include "sgprobe/transport/describe.h"
#include "sgprobe/transport/escape.h"

namespace sgprobe::measure {
namespace {

Completion ask(Host& host, Drive& drive, const scsi::Cdb& cdb, Bytes length) {
    for (int attempt = 0;; ++attempt) {
        Command command;
        command.cdb = cdb;
        command.direction = length > 0 ? scsi::Direction::in : scsi::Direction::none;
        command.length = length;
        if (length > 0) command.data = drive.buffer(length, BufferKind::indirect);
        Completion c = execute(host, drive, std::move(command));
        if (!c.outcome.check_condition() || attempt >= 8) return c;
        const scsi::Sense sense = scsi::parse_sense(c.sense.view()).value;
        if (!sense.is(scsi::SenseKey::unit_attention) && !sense.deferred) return c;   // those are news, not an answer
    }
}

void wait_until_ready(Host& host, Drive& drive) {
    const Nanoseconds give_up = host.now() + std::chrono::seconds(30);
    for (;;) {
        const Completion c = ask(host, drive, scsi::test_unit_ready(), 0);
        if (c.outcome.good()) return;
        const scsi::Sense sense = scsi::parse_sense(c.sense.view()).value;
        const bool becoming = c.outcome.check_condition() && sense.is(scsi::SenseKey::not_ready, 0x04, 0x01);
        if (!becoming || host.now() >= give_up) {
            const bool empty = c.outcome.check_condition() && sense.asc == 0x3a;
            throw failure(c, "the drive is not ready", empty ? "insert a medium" : "");
        }
        const Nanoseconds until = host.now() + std::chrono::milliseconds(500);
        while (host.now() < until) {
            const Event event = host.wait(until);
            if (event.kind == Event::Kind::interrupted) {
                host.hold_interruption(event.signal);
                throw Failure(ExitStatus::interrupted, drive.name() + ": interrupted while the drive was becoming ready");
            }
            if (event.kind == Event::Kind::deadline) break;
        }
    }
}

void read_identity(Host& host, Drive& drive, Subject& s) {
    const Completion c = ask(host, drive, scsi::inquiry(96), 96);
    if (!c.outcome.good()) throw failure(c, "cannot identify the drive");
    s.inquiry = scsi::parse_inquiry(c.data()).value;
    if (s.inquiry.peripheral_qualifier != 0)
        throw Failure(ExitStatus::not_ready, drive.name() + ": there is no drive behind this logical unit (INQUIRY says so by its peripheral qualifier)");
    const std::uint8_t type = s.inquiry.device_type;
    if (type != 0x00 && type != 0x07 && type != 0x0e && type != 0x14)
        throw Failure(ExitStatus::file_error, drive.name() + ": not a disk: INQUIRY says peripheral device type " + hex(ByteView(&type, 1)) + "h");
    pages::DeviceId id = pages::device_id(s.inquiry);
    pages::obey(drive, id);
    pages::add_ata_identity(host, drive, id);
    pages::obey(drive, id);
    for (const std::string& known : pages::sentences(id)) s.notes.push_back("known: " + known);
    s.identity.path = drive.name();
    s.identity.vendor = scsi::trimmed(s.inquiry.vendor.value_or(""));
    s.identity.product = scsi::trimmed(s.inquiry.product.value_or(""));
    s.identity.revision = scsi::trimmed(s.inquiry.revision.value_or(""));
    s.identity.queue_depth = drive.limits().depth;
    const std::string& scheme = drive.spec().scheme;
    s.identity.transport = scheme == "sim" ? "simulated" : scheme == "pipe" ? "pipe" : "";
}

void read_pages(Host& host, Drive& drive, Subject& s) {
    const Completion list = ask(host, drive, scsi::inquiry_vpd(0x00, 252), 252);
    if (!list.outcome.good()) return;
    for (const std::uint8_t page : scsi::parse_vpd_supported(list.data()).value) {
        if (page != 0x80 && page != 0xb0 && page != 0xb1) continue;
        const Completion c = ask(host, drive, scsi::inquiry_vpd(page, 252), 252);
        if (!c.outcome.good()) continue;
        if (page == 0x80) s.identity.serial = scsi::trimmed(scsi::parse_vpd_serial(c.data()).value);
        if (page == 0xb0) s.limits = scsi::parse_vpd_block_limits(c.data()).value;
        if (page == 0xb1) {
            const auto rpm = scsi::parse_vpd_block_characteristics(c.data()).value.rotation_rpm;
            if (!rpm) continue;
            s.identity.rotation_rpm = *rpm;
            if (*rpm > 1) {
                s.rotation_us = 60e6 / *rpm;
                s.rotation_source = "VPD B1h";
            }
        }
    }
}

void read_capacity(Host& host, Drive& drive, Subject& s) {
    const Completion ten = ask(host, drive, scsi::read_capacity_10(), 8);
    if (ten.outcome.good()) s.capacity = scsi::parse_capacity_10(ten.data()).value;
    const Completion sixteen = ask(host, drive, scsi::read_capacity_16(32), 32);
    if (sixteen.outcome.good()) {
        const auto parsed = scsi::parse_capacity_16(sixteen.data());
        if (parsed.value.blocks && parsed.value.block_bytes) s.capacity = parsed.value;
    }
    if (!s.capacity.blocks || !s.capacity.block_bytes || *s.capacity.block_bytes == 0) {
        const bool needs_16 = ten.outcome.good() && s.capacity.needs_16;
        if (ten.outcome.good() && sixteen.outcome.good())
            throw Failure(ExitStatus::malformed, drive.name() + ": READ CAPACITY came back without a capacity");
        throw failure(needs_16 ? sixteen : ten, "cannot read the capacity");
    }
    s.identity.blocks = *s.capacity.blocks;
    s.identity.block_bytes = *s.capacity.block_bytes;
    s.identity.physical_block_bytes = s.identity.block_bytes << std::min(s.capacity.physical_exponent, 15u);
    // Known quirks: the last block may not be there, and the last ones are not read many at a time.
    if (drive.precautions().capacity_one_too_large && s.identity.blocks > 1) --s.identity.blocks;
    const Blocks left_out = drive.precautions().last_blocks_single.value_or(0) * 512 / s.identity.block_bytes;
    s.media = {{0, s.identity.blocks - std::min(left_out, s.identity.blocks - 1)}};
}

std::optional<scsi::ModeData> mode_page(Host& host, Drive& drive, std::uint8_t page) {
    const Completion ten = ask(host, drive, scsi::mode_sense_10({.page = page}, 252), 252);
    if (ten.outcome.good()) {
        scsi::ModeData data = scsi::parse_mode_10(ten.data()).value;
        if (data.find(page)) return data;
    }
    if (ten.outcome.kind != Outcome::Kind::status) return {};
    const Completion six = ask(host, drive, scsi::mode_sense_6({.page = page}, 252), 252);
    if (!six.outcome.good()) return {};
    scsi::ModeData data = scsi::parse_mode_6(six.data()).value;
    if (!data.find(page)) return {};
    return data;
}

}

Blocks Subject::alignment() const {
    const Bytes bytes = std::max<Bytes>(4096, identity.physical_block_bytes);
    return std::max<Blocks>(1, bytes / std::max<Bytes>(identity.block_bytes, 1));
}

Subject identify(Host& host, Drive& drive) {
    Subject s;
    read_identity(host, drive, s);
    wait_until_ready(host, drive);
    read_pages(host, drive, s);
    read_capacity(host, drive, s);
    if (!s.identity.rotation_rpm) {
        const auto data = mode_page(host, drive, 0x04);   // rigid disk geometry: medium rotation rate, bytes 20 and 21
        const auto rpm = data ? scsi::Reader(data->find(0x04)->bytes).u16(20) : std::nullopt;
        if (rpm && *rpm >= 1000) {
            s.identity.rotation_rpm = *rpm;
            s.rotation_us = 60e6 / *rpm;
            s.rotation_source = "the rigid disk geometry page";
        }
    }
    return s;
}

SettingValues caching_settings(Host& host, Drive& drive) {
    struct Field { const char* key; std::size_t byte; unsigned bit, width; };   // SBC-4 6.5.6
    static constexpr Field fields[] = {
        {"IC", 2, 7, 1}, {"ABPF", 2, 6, 1}, {"CAP", 2, 5, 1}, {"DISC", 2, 4, 1}, {"SIZE", 2, 3, 1}, {"WCE", 2, 2, 1}, {"MF", 2, 1, 1}, {"RCD", 2, 0, 1},
        {"DRRP", 3, 7, 4}, {"WRP", 3, 3, 4}, {"DPTL", 4, 7, 16}, {"MIPF", 6, 7, 16}, {"MAPF", 8, 7, 16}, {"MAPFC", 10, 7, 16},
        {"FSW", 12, 7, 1}, {"LBCSS", 12, 6, 1}, {"DRA", 12, 5, 1}, {"NV_DIS", 12, 0, 1}, {"NCS", 13, 7, 8}, {"CSS", 14, 7, 16},
    };
    SettingValues settings;
    const auto data = mode_page(host, drive, 0x08);
    if (!data) return settings;
    const scsi::Reader page(data->find(0x08)->bytes);
    for (const Field& f : fields) {
        if (f.width == 16) { if (const auto v = page.u16(f.byte)) settings[f.key] = *v; }
        else if (const auto v = page.bits(f.byte, f.bit, f.width)) settings[f.key] = *v;
    }
    return settings;
}

}
