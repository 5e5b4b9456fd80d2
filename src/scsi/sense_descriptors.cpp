// Descriptor format, SPC-5 4.4.2; the ATA Status Return descriptor and both fixed layouts of ATA registers, SAT-4 12.2.
#include <fmt/format.h>

#include "sense_parts.h"

namespace sgprobe::scsi {
namespace {
constexpr unsigned deepest_forwarded = 2;

AtaRegisters ata_descriptor(const Reader& d) {   // the upper byte of each register precedes the lower one
    AtaRegisters ata;
    ata.extend = d.flag(2, 0);
    ata.error = d.u8(3).value_or(0);
    ata.count = d.u16(4).value_or(0);
    for (unsigned i = 0; i < 3; ++i) {
        ata.lba |= std::uint64_t{d.u8(7 + 2 * i).value_or(0)} << (8 * i);
        ata.lba |= std::uint64_t{d.u8(6 + 2 * i).value_or(0)} << (24 + 8 * i);
    }
    ata.device = d.u8(12).value_or(0);
    ata.status = d.u8(13).value_or(0);
    if (!ata.extend) {   // SAT-4: the upper bytes mean nothing without EXTEND
        ata.count &= 0xff;
        ata.lba &= 0xffffff;
    }
    return ata;
}

// The least length of a descriptor, header included, by type; 0 where it varies.
std::size_t least_length(std::uint8_t type) {
    switch (type) {
    case 0x00: case 0x01: return 12;
    case 0x02: case 0x0a: return 8;
    case 0x03: case 0x04: case 0x05: return 4;
    case 0x09: return 14;
    case 0x0c: return 4;
    case 0x0d: return 32;
    default: return 2;
    }
}

void take(const Reader& d, std::uint8_t type, unsigned depth, Parsed<Sense>& out) {
    Sense& sense = out.value;
    switch (type) {
    case 0x00:
        if (d.flag(2, 7)) {
            sense.valid = true;
            sense.information = d.u64(4);
        }
        break;
    case 0x01: sense.command_specific = d.u64(4); break;
    case 0x02: parse_key_specific(d.part(4, 3), out); break;
    case 0x03:
        if (const auto fru = d.u8(3); fru && *fru != 0) sense.fru = fru;
        break;
    case 0x04:
        sense.filemark = d.flag(3, 7);
        sense.eom = d.flag(3, 6);
        sense.ili = d.flag(3, 5);
        break;
    case 0x05: sense.ili = d.flag(3, 5); break;
    case 0x09: sense.ata = ata_descriptor(d); break;
    case 0x0a:
        if (const auto progress = d.u16(6)) sense.another_progress = *progress / 65536.0;
        break;
    case 0x0c: {
        if (depth >= deepest_forwarded) {
            out.notes.push_back("forwarded sense data inside forwarded sense data is not followed any deeper");
            break;
        }
        Parsed<Sense> inner = parse_sense(d.rest(4), depth + 1);
        for (const std::string& problem : inner.problems) out.problems.push_back("forwarded sense: " + problem);
        for (const std::string& note : inner.notes) out.notes.push_back("forwarded sense: " + note);
        sense.forwarded.push_back(std::move(inner.value));
        break;
    }
    case 0x0d:   // SBC-4 4.18.3: information, command-specific, sense-key-specific and FRU in one
        if (d.flag(2, 7)) {
            sense.valid = true;
            sense.information = d.u64(8);
        }
        sense.ili = d.flag(2, 5);
        parse_key_specific(d.part(4, 3), out);
        if (const auto fru = d.u8(7); fru && *fru != 0) sense.fru = fru;
        sense.command_specific = d.u64(16);
        break;
    default: break;
    }
}
}

void parse_descriptor_format(const Reader& data, unsigned depth, Parsed<Sense>& out) {
    Sense& sense = out.value;
    if (const auto key = data.bits(1, 3, 4)) sense.key = static_cast<SenseKey>(*key);
    sense.asc = data.u8(2);
    sense.ascq = data.u8(3);
    sense.sdat_ovfl = data.flag(4, 7);
    for (std::size_t at = 8; at < data.size();) {
        const auto type = data.u8(at);
        const auto length = data.u8(at + 1);
        if (!type || !length) {
            out.problems.push_back(fmt::format("the sense descriptor at byte {} is cut short", at));
            return;
        }
        const std::size_t whole = *length + std::size_t{2};
        const Reader descriptor = data.part(at, whole);
        sense.descriptors.push_back({*type, ByteVector(descriptor.all().begin(), descriptor.all().end())});
        if (descriptor.size() < whole) {
            out.problems.push_back(fmt::format("the sense descriptor at byte {} ({}) says that it has {} bytes, {} are left", at, descriptor_name(*type), whole, descriptor.size()));
            return;
        }
        if (whole < least_length(*type))
            out.problems.push_back(fmt::format("the sense descriptor at byte {} ({}) has {} bytes, fewer than its {}", at, descriptor_name(*type), whole, least_length(*type)));
        else
            take(descriptor, *type, depth, out);
        at += whole;
    }
}

// SPC-5 4.4.2.4: what the three bytes mean depends on the sense key, and nothing where SKSV is off.
void parse_key_specific(const Reader& bytes, Parsed<Sense>& out) {
    Sense& sense = out.value;
    const auto value = bytes.u16(1);
    if (!bytes.flag(0, 7) || !value || !sense.key) return;
    std::optional<std::uint8_t> bit;
    if (bytes.flag(0, 3)) bit = bytes.bits(0, 2, 3);
    switch (*sense.key) {
    case SenseKey::illegal_request: sense.field_pointer = FieldPointer{bytes.flag(0, 6), *value, bit}; break;
    case SenseKey::recovered_error: case SenseKey::medium_error: case SenseKey::hardware_error: sense.retry_count = *value; break;
    case SenseKey::no_sense: case SenseKey::not_ready: sense.progress = *value / 65536.0; break;
    case SenseKey::copy_aborted: sense.segment_pointer = SegmentPointer{bytes.flag(0, 5), *value, bit}; break;
    case SenseKey::unit_attention: sense.attention_overflow = bytes.flag(0, 0); break;
    default: out.notes.push_back(fmt::format("sense-key-specific bytes under key {:X}h mean nothing", static_cast<unsigned>(*sense.key))); break;
    }
}

namespace {
// DRDY without BSY, and an error register where ERR is set alone: what a drive has when a command is over.
bool plausible_status(std::optional<std::uint8_t> error, std::optional<std::uint8_t> status) {
    return error && status && (*status & 0x80) == 0 && (*status & 0x51) != 0 && ((*status & 0x01) != 0 || *error == 0);
}

AtaRegisters first_registers(const Reader& bytes, std::size_t at) {
    AtaRegisters ata;
    ata.error = *bytes.u8(at);
    ata.status = *bytes.u8(at + 1);
    ata.device = *bytes.u8(at + 2);
    ata.count = *bytes.u8(at + 3);
    ata.lba_known = false;
    return ata;
}

void take_lba(const Reader& bytes, std::size_t flags, AtaRegisters& ata) {
    if (!bytes.has(flags, 4)) return;
    ata.extend = bytes.flag(flags, 7);
    ata.upper_lost = bytes.flag(flags, 6) || bytes.flag(flags, 5);
    ata.lba = *bytes.little_endian(flags + 1, 3);
    ata.lba_known = true;
}
}

// Fixed format has no descriptor: under 00h/1Dh the registers stand in INFORMATION and COMMAND-SPECIFIC INFORMATION, with
// VALID set (SAT-4 12.2.2.7). Linux before 4.7 put them eight bytes later, VALID clear, under whatever sense code the error had
// (05h 21h/04h for an aborted command), its LBA past the 18 bytes that the data says it has.
std::optional<AtaRegisters> fixed_ata_registers(const Reader& data, const Reader& arrived, const Sense& sense) {
    const bool told = sense.asc == 0x00 && sense.ascq == 0x1d;
    if (told && data.has(3, 9) && (sense.valid || plausible_status(data.u8(3), data.u8(4)))) {
        AtaRegisters ata = first_registers(data, 3);
        take_lba(data, 8, ata);
        return ata;
    }
    if (sense.valid || sense.asc == 0x32 || !data.has(8, 10) || data.u32(3).value_or(1) != 0) return {};
    // 32h, no spare location: REASSIGN BLOCKS has an address there.
    const bool old = plausible_status(data.u8(8), data.u8(9)) && (told || (data.flag(9, 6) && (*data.u8(10) & 0x1f) == 0));
    if (!old) return {};
    AtaRegisters ata = first_registers(data, 8);
    take_lba(arrived, 16, ata);
    return ata;
}

std::string_view descriptor_name(std::uint8_t type) {
    static constexpr std::string_view names[] = {
        "information", "command specific information", "sense key specific", "field replaceable unit", "stream commands", "block commands",
        "OSD object identification", "OSD response integrity check value", "OSD attribute identification", "ATA status return",
        "another progress indication", "user data segment referral", "forwarded sense data", "direct access block device",
        "device designation", "microcode activation",
    };
    if (type < std::size(names)) return names[type];
    return type >= 0x80 ? "vendor specific" : "reserved";
}

}
