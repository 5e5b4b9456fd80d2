#include "sgprobe/scsi/inquiry.h"

#include <fmt/format.h>

#include "sgprobe/scsi/reader.h"

namespace sgprobe::scsi {

std::string trimmed(std::string_view text) {
    const auto padding = [](char c) { return c == ' ' || c == '\0'; };
    while (!text.empty() && padding(text.front())) text.remove_prefix(1);
    while (!text.empty() && padding(text.back())) text.remove_suffix(1);
    return std::string(text);
}

bool looks_like_inquiry(ByteView bytes) {
    const Reader data(bytes);
    if (data.size() < 36) return false;
    const unsigned version = *data.u8(2), format = *data.u8(3) & 0x0fU, additional = *data.u8(4);
    // As a VPD page it would have to say a length of VERSION * 256 + FORMAT bytes; that many never arrived.
    if (version > 7 || format > 2 || additional < 31 || data.u16(2).value_or(0) == data.size() - 4) return false;
    const ByteView text = data.some(8, 28);
    return std::all_of(text.begin(), text.end(), [](std::uint8_t c) { return (c >= 0x20 && c < 0x7f) || c == 0; }) &&
           std::any_of(text.begin(), text.end(), [](std::uint8_t c) { return c > 0x20; });
}

Parsed<Inquiry> parse_inquiry(ByteView bytes) {
    Parsed<Inquiry> out;
    Inquiry& value = out.value;
    const Reader arrived(bytes);
    value.additional_length = arrived.u8(4);
    Reader data = arrived;
    if (!value.additional_length) {
        out.problems.push_back(fmt::format("INQUIRY data of {} bytes ends before its length field", bytes.size()));
    } else {
        const std::size_t declared = *value.additional_length + std::size_t{5};
        // Some firmware says 0 and means nothing by it, though 36 bytes are always there: SPC-5 6.7.2 asks for no fewer.
        if (declared < 36 && arrived.size() >= 36) {
            out.problems.push_back(fmt::format("INQUIRY data says that it has {} bytes, but the standard's 36 are there", declared));
            data = arrived.first(36);
        } else {
            data = arrived.first(declared);
            if (arrived.size() < declared) out.problems.push_back(fmt::format("INQUIRY data says that it has {} bytes, {} arrived", declared, bytes.size()));
            else if (declared < 36) out.problems.push_back(fmt::format("INQUIRY data of {} bytes is shorter than the standard's 36", declared));
        }
        if (arrived.size() > std::max<std::size_t>(declared, 36))
            out.notes.push_back(fmt::format("{} bytes follow the INQUIRY data", arrived.size() - data.size()));
    }
    out.used = data.size();
    if (const auto byte = data.u8(0)) {
        value.peripheral_qualifier = static_cast<std::uint8_t>(*byte >> 5);
        value.device_type = *byte & 0x1f;
    }
    value.removable = data.flag(1, 7);
    value.version = data.u8(2).value_or(0);
    value.response_format = data.bits(3, 3, 4).value_or(0);
    value.normaca = data.flag(3, 5);
    value.hisup = data.flag(3, 4);
    value.sccs = data.flag(5, 7);
    value.tpgs = data.bits(5, 5, 2).value_or(0);
    value.third_party_copy = data.flag(5, 3);
    value.protect = data.flag(5, 0);
    value.encserv = data.flag(6, 6);
    value.multip = data.flag(6, 4);
    value.wbus16 = data.flag(7, 5);
    value.sync = data.flag(7, 4);
    value.cmdque = data.flag(7, 1);
    value.lu_cong = data.flag(1, 6);
    value.vendor = data.text(8, 8);
    value.product = data.text(16, 16);
    value.revision = data.text(32, 4);
    for (std::size_t at = 58; at + 2 <= 74; at += 2)
        if (const auto version = data.u16(at); version && *version != 0) value.version_descriptors.push_back(*version);
    return out;
}

ByteVector build_inquiry(const Inquiry& inquiry) {
    ByteVector out(96);
    put(out, 0, 1, static_cast<std::uint64_t>(inquiry.peripheral_qualifier << 5 | (inquiry.device_type & 0x1f)));
    put_flag(out, 1, 7, inquiry.removable);
    put(out, 2, 1, inquiry.version);
    put(out, 3, 1, inquiry.response_format & 0xf);
    put(out, 4, 1, out.size() - 5);
    put(out, 5, 1, static_cast<std::uint64_t>((inquiry.tpgs & 3) << 4));
    put_flag(out, 5, 0, inquiry.protect);
    put_flag(out, 6, 6, inquiry.encserv);
    put_flag(out, 7, 1, inquiry.cmdque);
    put_text(out, 8, 8, inquiry.vendor.value_or(""));
    put_text(out, 16, 16, inquiry.product.value_or(""));
    put_text(out, 32, 4, inquiry.revision.value_or(""));
    std::size_t at = 58;
    for (const std::uint16_t version : inquiry.version_descriptors) {
        if (at + 2 > 74) break;
        put(out, at, 2, version);
        at += 2;
    }
    return out;
}

}
