// ATA PASS-THROUGH of a simulated SATA drive behind a SCSI/ATA translation (SAT-4 12.2.2), and VPD page 89h.
#include <algorithm>
#include <numeric>

#include "sgprobe/scsi/identify.h"
#include "sgprobe/scsi/reader.h"
#include "sgprobe/sim/logical_unit.h"

namespace sgprobe::sim {
namespace {
using scsi::put;

struct Registers {
    unsigned protocol = 0;
    bool extend = false, ck_cond = false;
    std::uint16_t feature = 0, count = 0;
    std::uint64_t lba = 0;
    std::uint8_t device = 0, command = 0;
};

Registers registers(ByteView bytes) {
    const scsi::Reader cdb(bytes);
    Registers r;
    r.protocol = cdb.bits(1, 4, 4).value_or(0);
    r.ck_cond = cdb.flag(2, 5);
    auto byte = [&](std::size_t at) { return std::uint64_t{cdb.u8(at).value_or(0)}; };
    if (cdb.u8(0) == 0xa1) {
        r.feature = static_cast<std::uint16_t>(byte(3));
        r.count = static_cast<std::uint16_t>(byte(4));
        r.lba = byte(5) | byte(6) << 8 | byte(7) << 16;
        r.device = static_cast<std::uint8_t>(byte(8));
        r.command = static_cast<std::uint8_t>(byte(9));
        return r;
    }
    r.extend = cdb.flag(1, 0);
    const unsigned high = r.extend ? 0xff : 0;       // the upper halves mean something only then
    r.feature = static_cast<std::uint16_t>((byte(3) & high) << 8 | byte(4));
    r.count = static_cast<std::uint16_t>((byte(5) & high) << 8 | byte(6));
    r.lba = byte(8) | byte(10) << 8 | byte(12) << 16;
    if (r.extend) r.lba |= byte(7) << 24 | byte(9) << 32 | byte(11) << 40;
    r.device = static_cast<std::uint8_t>(byte(13));
    r.command = static_cast<std::uint8_t>(byte(14));
    return r;
}

// The registers that a command leaves, as sense data carries them; with an error, or where CK_COND asks for them.
LogicalUnit::Reply with_registers(LogicalUnit::Reply reply, const Registers& r, std::uint8_t status, std::uint8_t error, std::uint64_t lba, std::uint16_t count) {
    if (!error && !r.ck_cond) return reply;
    reply.status = scsi::Status::check_condition;
    reply.sense = error ? SenseCode{scsi::SenseKey::aborted_command, 0x00, 0x00} : SenseCode{scsi::SenseKey::recovered_error, 0x00, 0x1d};
    reply.ata = scsi::AtaRegisters{.error = error, .status = status, .device = r.device, .count = count, .lba = lba, .extend = r.extend};
    if (error) reply.work = LogicalUnit::Work::none;
    return reply;
}

void checksum(std::span<std::uint8_t> sector) {      // the sum of all 512 bytes is 0
    sector[511] = 0;
    sector[511] = static_cast<std::uint8_t>(0x100 - (std::accumulate(sector.begin(), sector.end(), 0u) & 0xff));
}
}

ByteVector LogicalUnit::identify() const {
    scsi::IdentifyFacts facts;
    facts.serial = model_.identity.serial;
    facts.firmware = model_.identity.firmware;
    facts.model = model_.identity.model;
    facts.sectors = model_.media.blocks;
    facts.logical_per_physical_exponent = model_.media.physical_exponent;
    facts.queue_depth = std::min(model_.queue.depth + 1, 32u);
    facts.rotation_rpm = model_.media.rotating ? static_cast<std::uint16_t>(model_.media.rpm + 0.5) : std::uint16_t{1};
    facts.wwn = model_.identity.naa;
    facts.write_cache = modes_.obeyed("WCE");
    facts.look_ahead = !modes_.obeyed("DRA");
    ByteVector data = scsi::build_identify(facts);
    auto word = [&](std::size_t n) { return data[2 * n] | data[2 * n + 1] << 8; };
    auto set = [&](std::size_t n, unsigned value) {
        data[2 * n] = static_cast<std::uint8_t>(value);
        data[2 * n + 1] = static_cast<std::uint8_t>(value >> 8);
    };
    set(82, static_cast<unsigned>(word(82)) | 0x0001);                     // SMART
    set(85, static_cast<unsigned>(word(85)) | (smart_ ? 0x0001 : 0));
    set(83, static_cast<unsigned>(word(83)) | 0x0208);                     // APM and AAM can be set
    set(86, static_cast<unsigned>(word(86)) | (apm_ ? 0x0008 : 0) | (aam_ ? 0x0200 : 0));
    set(91, apm_);
    set(94, 0xfe00u | aam_);
    checksum(data);
    return data;
}

void LogicalUnit::ata_information(ByteVector& data) const {
    data.resize(60 + 512);
    scsi::put_text(data, 8, 8, "SGPROBE");
    scsi::put_text(data, 16, 16, "SAT");
    scsi::put_text(data, 32, 4, "1");
    put(data, 56, 1, 0xec);
    const ByteVector identity = identify();
    std::copy(identity.begin(), identity.end(), data.begin() + 60);
}

LogicalUnit::Reply LogicalUnit::ata_set_features(std::uint16_t feature, std::uint16_t count, bool& known) {
    Reply reply;
    known = true;
    switch (feature & 0xff) {
        case 0x02: reply.settings_changed = modes_.force("WCE", 1); break;
        case 0x82: reply.settings_changed = modes_.force("WCE", 0); break;
        case 0xaa: reply.settings_changed = modes_.force("DRA", 0); break;
        case 0x55: reply.settings_changed = modes_.force("DRA", 1); break;
        case 0x05: known = (count & 0xff) != 0 && (count & 0xff) != 0xff; if (known) apm_ = static_cast<std::uint8_t>(count); break;
        case 0x85: apm_ = 0; break;
        case 0x42: aam_ = static_cast<std::uint8_t>(count); break;
        case 0xc2: aam_ = 0; break;
        case 0x03: break;                            // transfer mode
        default: known = false;
    }
    if (known) keep_state();
    return reply;
}

// SMART READ DATA and READ THRESHOLDS: a healthy drive of some age.
ByteVector LogicalUnit::smart_data(bool thresholds) const {
    struct Attribute { std::uint8_t id, value, threshold; std::uint64_t raw; };
    const Attribute attributes[] = {{0x01, 118, 6, 0}, {0x05, 100, 36, 0}, {0x09, 97, 0, 2718}, {0x0c, 100, 20, 314}, {0xc2, 62, 0, 38}, {0xc5, 100, 0, 0}, {0xc7, 200, 0, 0}};
    ByteVector data(512);
    data[0] = 10;
    std::size_t at = 2;
    for (const Attribute& a : attributes) {
        data[at] = a.id;
        if (thresholds) {
            data[at + 1] = a.threshold;
        } else {
            data[at + 1] = 0x0f;
            data[at + 3] = data[at + 4] = a.value;
            for (unsigned i = 0; i < 6; ++i) data[at + 5 + i] = static_cast<std::uint8_t>(a.raw >> 8 * i);
        }
        at += 12;
    }
    checksum(data);
    return data;
}

LogicalUnit::Reply LogicalUnit::ata_pass_through(const TargetCommand& command) {
    const Registers r = registers(command.cdb);
    constexpr std::uint8_t ready = 0x50, failed = 0x51, aborted = 0x04, no_such_id = 0x10;
    auto abort = [&] { return with_registers({}, r, failed, aborted, r.lba, r.count); };
    auto data = [&](const ByteVector& bytes) { return with_registers(give(command, bytes, bytes.size()), r, ready, 0, r.lba, 0); };
    auto media = [&](scsi::RwOpcode opcode, Blocks blocks) {
        Reply reply = read_write(command, {.opcode = opcode, .lba = r.lba, .blocks = blocks});
        if (reply.status != scsi::Status::good) {
            const bool moves = reply.moves_blocks;
            reply = with_registers({}, r, failed, no_such_id, r.lba, r.count);
            reply.moves_blocks = moves;
            reply.blocks = blocks;
            reply.lba = r.lba;
            return reply;
        }
        return with_registers(reply, r, ready, 0, r.lba, 0);
    };
    const Blocks short_count = r.count & 0xff ? r.count & 0xff : 256, long_count = r.count ? r.count : 65536;
    switch (r.command) {
        case 0xec: return data(identify());
        case 0xef: {
            bool known = false;
            const Reply reply = ata_set_features(r.feature, r.count, known);
            return known ? with_registers(reply, r, ready, 0, r.lba, r.count) : abort();
        }
        case 0x20: case 0xc8: return media(scsi::RwOpcode::read10, short_count);
        case 0x24: case 0x25: return media(scsi::RwOpcode::read16, long_count);
        case 0x30: case 0xca: return media(scsi::RwOpcode::write10, short_count);
        case 0x34: case 0x35: return media(scsi::RwOpcode::write16, long_count);
        case 0x60: return media(scsi::RwOpcode::read16, r.feature ? r.feature : 65536);    // the count lies in the feature register
        case 0x61: return media(scsi::RwOpcode::write16, r.feature ? r.feature : 65536);
        case 0xe7: case 0xea: {
            Reply reply;
            reply.work = Work::flush;
            return with_registers(reply, r, ready, 0, r.lba, r.count);
        }
        case 0xe5: return with_registers({}, r, ready, 0, r.lba, started_ ? 0xff : 0x00);
        case 0xe0: started_ = false; return with_registers({}, r, ready, 0, r.lba, r.count);
        case 0xe1: started_ = true; return with_registers({}, r, ready, 0, r.lba, r.count);
        case 0xb0:
            if ((r.lba >> 8 & 0xffff) != 0xc24f) return abort();
            switch (r.feature & 0xff) {
                case 0xd0: return smart_ ? data(smart_data(false)) : abort();
                case 0xd1: return smart_ ? data(smart_data(true)) : abort();
                case 0xd8: smart_ = true; return with_registers({}, r, ready, 0, r.lba, r.count);
                case 0xd9: smart_ = false; return with_registers({}, r, ready, 0, r.lba, r.count);
                case 0xda: return smart_ ? with_registers({}, r, ready, 0, r.lba, r.count) : abort();   // C24Fh come back: healthy
                default: return abort();
            }
        default: return abort();
    }
}

}
