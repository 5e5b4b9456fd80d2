// Vital product data pages: SPC-5 7.7, SBC-4 6.6, SAT-4 12.4.2.
#include <fmt/format.h>

#include "sgprobe/scsi/inquiry.h"
#include "sgprobe/scsi/reader.h"

namespace sgprobe::scsi {
namespace {
// The page cut to its own length, header included, once it is known to be the page that was asked for; else nothing.
Reader page(ByteView bytes, std::uint8_t code, std::vector<std::string>& problems, std::vector<std::string>& notes) {
    const Reader arrived(bytes);
    const auto length = arrived.u16(2);
    if (!length) {
        problems.push_back(fmt::format("VPD page {:02X}h is cut short in its header: {} bytes arrived", code, bytes.size()));
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

template <class T>
std::optional<T> reported(std::optional<T> value) { return value == T{0} ? std::nullopt : value; }
std::optional<Blocks> blocks(std::optional<std::uint64_t> value) { return reported(value); }
std::optional<Blocks> blocks32(const Reader& data, std::size_t at) { return blocks(data.big_endian(at, 4)); }
}

Parsed<std::vector<std::uint8_t>> parse_vpd_supported(ByteView bytes) {
    Parsed<std::vector<std::uint8_t>> out;
    const ByteView codes = page(bytes, 0x00, out.problems, out.notes).rest(4);
    out.value.assign(codes.begin(), codes.end());
    return out;
}

Parsed<std::string> parse_vpd_serial(ByteView bytes) {
    Parsed<std::string> out;
    const ByteView text = page(bytes, 0x80, out.problems, out.notes).rest(4);
    out.value = trimmed(std::string(text.begin(), text.end()));
    return out;
}

Parsed<std::vector<Designator>> parse_vpd_designators(ByteView bytes) {
    Parsed<std::vector<Designator>> out;
    const Reader data = page(bytes, 0x83, out.problems, out.notes);
    for (std::size_t at = 4; at < data.size();) {
        const auto length = data.u8(at + 3);
        if (!length) {
            out.problems.push_back(fmt::format("a designator's header at byte {} is cut short", at));
            break;
        }
        if (!data.has(at + 4, *length)) {
            out.problems.push_back(fmt::format("the designator at byte {} says that it has {} bytes, the page holds {}", at, *length, data.size() - at - 4));
            break;   // a piece of an identifier identifies nothing
        }
        Designator designator;
        designator.code_set = data.bits(at, 3, 4).value_or(0);
        designator.type = data.bits(at + 1, 3, 4).value_or(0);
        designator.association = data.bits(at + 1, 5, 2).value_or(0);
        if (data.flag(at + 1, 7)) designator.protocol = data.bits(at, 7, 4);
        const ByteView identifier = data.some(at + 4, *length);
        designator.identifier.assign(identifier.begin(), identifier.end());
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
    case 8: return plain;
    default: return plain;
    }
}

Parsed<AtaInformation> parse_vpd_ata_information(ByteView bytes) {
    Parsed<AtaInformation> out;
    const Reader data = page(bytes, 0x89, out.problems, out.notes);
    out.value.sat_vendor = data.text(8, 8);
    out.value.sat_product = data.text(16, 16);
    out.value.sat_revision = data.text(32, 4);
    out.value.command_code = data.u8(56);
    if (data.has(60, 512)) {
        const ByteView identify = data.some(60, 512);
        out.value.identify.assign(identify.begin(), identify.end());
    }
    return out;
}

Parsed<BlockLimits> parse_vpd_block_limits(ByteView bytes) {
    Parsed<BlockLimits> out;
    BlockLimits& value = out.value;
    const Reader data = page(bytes, 0xb0, out.problems, out.notes);
    value.optimal_granularity = blocks(data.big_endian(6, 2));
    value.max_transfer = blocks32(data, 8);
    value.optimal_transfer = blocks32(data, 12);
    value.max_prefetch = blocks32(data, 16);
    value.max_unmap_blocks = blocks32(data, 20);
    value.max_unmap_descriptors = reported(data.u32(24));
    value.unmap_granularity = blocks32(data, 28);
    if (data.flag(32, 7)) value.unmap_alignment = *data.u32(32) & 0x7fffffff;   // UGAVALID
    value.max_write_same = blocks(data.u64(36));
    return out;
}

Parsed<BlockCharacteristics> parse_vpd_block_characteristics(ByteView bytes) {
    Parsed<BlockCharacteristics> out;
    const Reader data = page(bytes, 0xb1, out.problems, out.notes);
    out.value.rotation_rpm = reported(data.u16(4));
    out.value.form_factor = reported(data.bits(7, 3, 4));
    out.value.zoned = data.bits(8, 5, 2);
    return out;
}

Parsed<Provisioning> parse_vpd_provisioning(ByteView bytes) {
    Parsed<Provisioning> out;
    const Reader data = page(bytes, 0xb2, out.problems, out.notes);
    out.value.threshold_exponent = data.u8(4).value_or(0);
    out.value.lbpu = data.flag(5, 7);
    out.value.lbpws = data.flag(5, 6);
    out.value.lbpws10 = data.flag(5, 5);
    out.value.lbprz = data.bits(5, 4, 3).value_or(0);
    out.value.anc_sup = data.flag(5, 1);
    out.value.type = data.bits(6, 2, 3).value_or(0);
    return out;
}

}
