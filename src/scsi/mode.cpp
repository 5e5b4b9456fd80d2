#include "sgprobe/scsi/mode.h"

#include <fmt/format.h>

#include "sgprobe/scsi/reader.h"

namespace sgprobe::scsi {
namespace {
void parse_descriptors(const Reader& data, std::size_t at, std::size_t length, Parsed<ModeData>& out) {
    const ByteView bytes = data.some(at, length);
    out.value.descriptor_bytes.assign(bytes.begin(), bytes.end());
    const std::size_t each = out.value.longlba ? 16 : 8;
    if (length % each != 0) out.problems.push_back(fmt::format("the block descriptor length {} is no multiple of {}", length, each));
    const Reader descriptors(bytes);
    for (std::size_t i = 0; i + each <= descriptors.size(); i += each) {
        ModeBlockDescriptor descriptor;
        std::optional<Blocks> blocks;
        if (out.value.longlba) {
            blocks = descriptors.u64(i);
            descriptor.block_bytes = *descriptors.u32(i + 12);
        } else {
            // A direct access device counts in 32 bits (SBC-4 6.5.2.2); others have a density code in the first byte.
            blocks = *descriptors.u32(i);
            descriptor.density = *descriptors.u8(i);
            descriptor.block_bytes = *descriptors.u24(i + 5);
        }
        if (blocks != Blocks{0}) descriptor.blocks = blocks;
        out.value.descriptors.push_back(descriptor);
    }
}

void parse_pages(const Reader& data, std::size_t at, Parsed<ModeData>& out) {
    while (at < data.size()) {
        ModePage page;
        page.ps = data.flag(at, 7);
        page.spf = data.flag(at, 6);
        page.code = data.bits(at, 5, 6).value_or(0);
        const std::size_t header = page.spf ? 4 : 2;
        const auto length = page.spf ? data.big_endian(at + 2, 2) : data.big_endian(at + 1, 1);
        if (page.spf) page.subpage = data.u8(at + 1).value_or(0);
        if (!length) {
            out.problems.push_back(fmt::format("the header of mode page {:02X}h at byte {} is cut short", page.code, at));
            return;
        }
        page.declared_length = header + *length;
        const ByteView bytes = data.some(at, page.declared_length);
        page.bytes.assign(bytes.begin(), bytes.end());
        page.truncated = page.bytes.size() < page.declared_length;
        if (page.truncated)
            out.problems.push_back(fmt::format("mode page {:02X}h says that it has {} bytes, {} are left", page.code, page.declared_length, page.bytes.size()));
        at += page.declared_length;
        out.value.pages.push_back(std::move(page));
    }
}

bool take_header(const Reader& arrived, std::size_t header, Parsed<ModeData>& out) {
    ModeData& value = out.value;
    value.header_bytes = header;
    const std::size_t width = header == 4 ? 1 : 2;
    if (const auto length = arrived.big_endian(0, width)) value.mode_data_length = *length;
    value.medium_type = arrived.u8(width).value_or(0);
    value.device_specific = arrived.u8(width + 1).value_or(0);
    value.write_protected = (value.device_specific & 0x80) != 0;
    value.dpofua = (value.device_specific & 0x10) != 0;
    value.longlba = header == 8 && arrived.flag(4, 0);
    const auto length = header == 4 ? arrived.big_endian(3, 1) : arrived.big_endian(6, 2);
    if (length) value.descriptor_length = *length;
    else out.problems.push_back(fmt::format("the mode parameter header of {} bytes is cut short: {} arrived", header, arrived.size()));
    out.used = std::min(arrived.size(), header);
    return length.has_value();
}

void take_contents(const Reader& data, Parsed<ModeData>& out) {
    const std::size_t header = out.value.header_bytes, descriptors = out.value.descriptor_length.value_or(0);
    out.used = data.size();
    parse_descriptors(data, header, descriptors, out);
    parse_pages(data, header + descriptors, out);
}

Parsed<ModeData> parse(ByteView bytes, std::size_t header) {
    Parsed<ModeData> out;
    const Reader arrived(bytes);
    if (!take_header(arrived, header, out)) return out;
    const std::size_t length = *out.value.mode_data_length, descriptors = *out.value.descriptor_length;
    const std::size_t declared = length + (header == 4 ? 1 : 2);
    if (declared < header) {
        out.problems.push_back(fmt::format("the mode data length {} does not even cover the header", length));
        return out;
    }
    if (arrived.size() < declared) out.problems.push_back(fmt::format("the mode data says that it has {} bytes, {} arrived", declared, bytes.size()));
    if (arrived.size() > declared) out.notes.push_back(fmt::format("{} bytes follow the mode data", bytes.size() - declared));
    if (header + descriptors > declared) {
        out.problems.push_back(fmt::format("the block descriptor length {} contradicts the mode data length {}: only {} bytes follow the header", descriptors, length, declared - header));
        return out;   // where the pages begin cannot be told
    }
    take_contents(arrived.first(declared), out);
    return out;
}
}

Parsed<ModeData> parse_mode_select(ByteView bytes, bool ten_byte) {
    Parsed<ModeData> out;
    const Reader arrived(bytes);
    const std::size_t header = ten_byte ? 8 : 4;
    if (!take_header(arrived, header, out)) return out;
    if (!arrived.has(header, *out.value.descriptor_length)) {
        out.problems.push_back(fmt::format("the block descriptor length {} goes past the {} bytes of the list", *out.value.descriptor_length, bytes.size()));
        return out;
    }
    take_contents(arrived, out);
    return out;
}

Parsed<ModeData> parse_bare_mode_pages(ByteView bytes) {
    Parsed<ModeData> out;
    out.value.header_bytes = 0;
    out.used = bytes.size();
    if (bytes.empty()) out.problems.push_back("no mode page");
    parse_pages(Reader(bytes), 0, out);
    return out;
}

const ModePage* ModeData::find(std::uint8_t code, std::uint8_t subpage) const {
    for (const ModePage& page : pages)
        if (page.code == code && page.subpage == subpage) return &page;
    return nullptr;
}

Parsed<ModeData> parse_mode_6(ByteView bytes) { return parse(bytes, 4); }
Parsed<ModeData> parse_mode_10(ByteView bytes) { return parse(bytes, 8); }

}
