#include "sgprobe/scsi/sense.h"

#include <fmt/format.h>

#include "sense_parts.h"

namespace sgprobe::scsi {
namespace {
// Fixed format, SPC-5 4.4.3. The reader is cut to ADDITIONAL SENSE LENGTH: past it nothing means anything.
void parse_fixed(const Reader& data, const Reader& arrived, Parsed<Sense>& out) {
    Sense& sense = out.value;
    sense.valid = data.flag(0, 7);
    if (const auto key = data.bits(2, 3, 4)) sense.key = static_cast<SenseKey>(*key);
    sense.filemark = data.flag(2, 7);
    sense.eom = data.flag(2, 6);
    sense.ili = data.flag(2, 5);
    sense.sdat_ovfl = data.flag(2, 4);
    sense.asc = data.u8(12);
    sense.ascq = data.u8(13);
    if (const auto fru = data.u8(14); fru && *fru != 0) sense.fru = fru;
    parse_key_specific(data.part(15, 3), out);
    const bool cut_before_asc = !sense.ascq && data.u8(7).value_or(0xff) >= 6;
    if (cut_before_asc) return;   // whether INFORMATION is that, or ATA registers, cannot be told
    sense.ata = fixed_ata_registers(data, arrived, sense);
    if (sense.ata || (sense.asc == 0x00 && sense.ascq == 0x1d)) return;   // registers, found or not, stand in these fields
    if (sense.valid) sense.information = data.big_endian(3, 4);
    if (const auto specific = data.big_endian(8, 4); specific && *specific != 0) sense.command_specific = specific;
}
}

Parsed<Sense> parse_sense(ByteView bytes) { return parse_sense(bytes, 0); }

Parsed<Sense> parse_sense(ByteView bytes, unsigned depth) {
    Parsed<Sense> out;
    Sense& sense = out.value;
    const Reader arrived(bytes);
    const auto code = arrived.bits(0, 6, 7);
    if (!code) {
        out.problems.push_back("no sense data");
        return out;
    }
    sense.response_code = *code;
    if (*code < 0x70 || *code > 0x73) {
        out.problems.push_back(fmt::format("response code {:02X}h is no sense data of a known format", *code));
        return out;
    }
    sense.deferred = (*code & 1) != 0;
    sense.descriptor_format = *code >= 0x72;
    Reader data = arrived;
    if (const auto length = arrived.u8(7)) {
        const std::size_t declared = *length + std::size_t{8};
        data = arrived.first(declared);
        if (arrived.size() < declared) out.problems.push_back(fmt::format("sense data says that it has {} bytes, {} arrived", declared, bytes.size()));
        if (arrived.size() > declared) out.notes.push_back(fmt::format("{} bytes follow the sense data", bytes.size() - declared));
        if (!sense.descriptor_format && declared < 14 && arrived.size() >= 14)
            out.problems.push_back(fmt::format("sense data says that it has {} bytes, too few for an additional sense code", declared));
    } else {
        out.problems.push_back(fmt::format("sense data ends before its length field: {} bytes arrived", bytes.size()));
    }
    out.used = data.size();
    if (sense.descriptor_format) parse_descriptor_format(data, depth, out);
    else parse_fixed(data, arrived, out);
    return out;
}

std::string_view name(SenseKey key) {
    static constexpr std::string_view names[] = {
        "No Sense", "Recovered Error", "Not Ready", "Medium Error", "Hardware Error", "Illegal Request", "Unit Attention", "Data Protect",
        "Blank Check", "Vendor Specific", "Copy Aborted", "Aborted Command", "Reserved", "Volume Overflow", "Miscompare", "Completed",
    };
    return names[static_cast<std::size_t>(key) & 0xf];
}

ByteVector build_fixed_sense(SenseKey key, std::uint8_t asc, std::uint8_t ascq, std::optional<std::uint32_t> information, bool deferred) {
    ByteVector out(18);
    put(out, 0, 1, (deferred ? 0x71U : 0x70U) | (information ? 0x80U : 0U));
    put(out, 2, 1, static_cast<std::uint64_t>(key));
    put(out, 3, 4, information.value_or(0));
    put(out, 7, 1, out.size() - 8);
    put(out, 12, 1, asc);
    put(out, 13, 1, ascq);
    return out;
}

ByteVector build_descriptor_sense(SenseKey key, std::uint8_t asc, std::uint8_t ascq, std::optional<std::uint64_t> information, bool deferred) {
    ByteVector out(information ? 20 : 8);
    put(out, 0, 1, deferred ? 0x73 : 0x72);
    put(out, 1, 1, static_cast<std::uint64_t>(key));
    put(out, 2, 1, asc);
    put(out, 3, 1, ascq);
    put(out, 7, 1, out.size() - 8);
    if (information) {
        put(out, 8, 3, 0x000a80);   // type 00h, 10 more bytes, VALID
        put(out, 12, 8, *information);
    }
    return out;
}

}
