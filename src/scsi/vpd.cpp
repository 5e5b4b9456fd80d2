// Vital product data pages of SPC-5 7.7 and SAT-4 12.4.2.
#include <fmt/format.h>

#include "vpd_page.h"

namespace sgprobe::scsi {

Reader vpd_page(ByteView bytes, std::uint8_t code, std::vector<std::string>& problems, std::vector<std::string>& notes) {
    const Reader arrived(bytes);
    const auto length = arrived.u16(2);
    if (!length) {
        problems.push_back(fmt::format("VPD page {:02X}h is cut short in its header: {} bytes arrived", code, bytes.size()));
        return {};
    }
    if (looks_like_inquiry(bytes)) {   // a removable medium's RMB bit reads as page 80h, and no RMB as page 00h
        problems.push_back(fmt::format("VPD page {:02X}h was asked for, the reply is standard INQUIRY data", code));
        return {};
    }
    if (const auto found = arrived.u8(1); found != code) {
        problems.push_back(fmt::format("VPD page {:02X}h was asked for, the reply says page {:02X}h", code, *found));
        return {};
    }
    const std::size_t declared = *length + std::size_t{4};
    if (arrived.size() < declared) problems.push_back(fmt::format("VPD page {:02X}h says that it has {} bytes, {} arrived", code, declared, bytes.size()));
    if (arrived.size() > declared) notes.push_back(fmt::format("{} bytes follow VPD page {:02X}h", bytes.size() - declared, code));
    return arrived.first(declared);
}

Parsed<std::vector<std::uint8_t>> parse_vpd_supported(ByteView bytes) {
    Parsed<std::vector<std::uint8_t>> out;
    const ByteView codes = vpd_page(bytes, 0x00, out).rest(4);
    out.value.assign(codes.begin(), codes.end());
    // SPC-5 7.7.17: ascending from 00h. Some devices list in another order, which harms nobody; a code twice is a stale reply.
    if (!out.value.empty() && out.value.front() != 0x00) out.notes.push_back("the list of supported VPD pages does not begin with page 00h");
    return out;
}

Parsed<std::string> parse_vpd_serial(ByteView bytes) {
    Parsed<std::string> out;
    const ByteView text = vpd_page(bytes, 0x80, out).rest(4);
    out.value = trimmed(std::string(text.begin(), text.end()));
    if (out.ok() && out.value.empty()) out.notes.push_back("the serial number is blank: not available (SPC-5 7.7.18)");
    return out;
}

namespace {
// SPC-5 7.7.6: the lengths that each type of designator can have.
std::optional<std::string> wrong_length(const Designator& d) {
    const std::size_t size = d.identifier.size();
    if (size == 0) return "is empty";
    const Reader identifier(d.identifier);
    switch (d.type) {
    case 2:
        if (size != 8 && size != 12 && size != 16) return fmt::format("is an EUI-64 of {} bytes", size);
        break;
    case 3: {
        const unsigned naa = identifier.bits(0, 7, 4).value_or(0);
        if (size != (naa == 6 ? 16U : 8U)) return fmt::format("is an NAA {} designator of {} bytes", naa, size);
        break;
    }
    case 4: case 5: case 6:
        if (size != 4) return fmt::format("is of type {} and has {} bytes, not 4", d.type, size);
        break;
    default: break;
    }
    return {};
}
}

Parsed<std::vector<Designator>> parse_vpd_designators(ByteView bytes) {
    Parsed<std::vector<Designator>> out;
    const Reader data = vpd_page(bytes, 0x83, out);
    for (std::size_t at = 4; at < data.size();) {
        const auto length = data.u8(at + 3);
        if (!length) {
            out.problems.push_back(fmt::format("a designator's header at byte {} is cut short", at));
            break;
        }
        if (!data.has(at + 4, *length)) {
            out.problems.push_back(fmt::format("the designator at byte {} says that it has {} bytes, {} are left", at, *length, data.size() - at - 4));
            break;   // a piece of an identifier identifies nothing
        }
        Designator designator;
        designator.code_set = data.bits(at, 3, 4).value_or(0);
        designator.type = data.bits(at + 1, 3, 4).value_or(0);
        designator.association = data.bits(at + 1, 5, 2).value_or(0);
        if (data.flag(at + 1, 7)) designator.protocol = data.bits(at, 7, 4);
        const ByteView identifier = data.some(at + 4, *length);
        designator.identifier.assign(identifier.begin(), identifier.end());
        if (const auto wrong = wrong_length(designator)) out.problems.push_back(fmt::format("the designator at byte {} {}", at, *wrong));
        out.value.push_back(std::move(designator));
        at += std::size_t{4} + *length;
    }
    return out;
}

std::string Designator::text() const {
    std::string hex;
    for (const std::uint8_t byte : identifier) hex += fmt::format("{:02x}", byte);
    const std::string plain = code_set == 1 ? hex : trimmed(std::string(identifier.begin(), identifier.end()));
    switch (type) {
    case 1: return "t10." + plain;
    case 2: return "eui." + hex;
    case 3: return "naa." + hex;
    case 8: return plain.substr(0, plain.find('\0'));   // a SCSI name string, padded with NULs
    default: return plain;
    }
}

Parsed<AtaInformation> parse_vpd_ata_information(ByteView bytes) {
    Parsed<AtaInformation> out;
    const Reader data = vpd_page(bytes, 0x89, out);
    out.value.sat_vendor = data.text(8, 8);
    out.value.sat_product = data.text(16, 16);
    out.value.sat_revision = data.text(32, 4);
    out.value.command_code = data.u8(56);
    if (data.has(36, 20)) {
        const ByteView signature = data.some(36, 20);
        out.value.signature.assign(signature.begin(), signature.end());
    }
    if (data.has(60, 512)) {
        const ByteView identify = data.some(60, 512);
        out.value.identify.assign(identify.begin(), identify.end());
    }
    return out;
}

}
