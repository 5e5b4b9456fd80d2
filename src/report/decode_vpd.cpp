#include "decode_parts.h"
#include "sgprobe/scsi/inquiry.h"
#include "sgprobe/scsi/reader.h"

namespace sgprobe::report {
namespace {
void supported(ByteView bytes, Decoded& out) {
    const auto parsed = scsi::parse_vpd_supported(bytes);
    take_words(parsed, out);
    if (parsed.used >= 4) out.fields.set("supported_vpd_pages", Value(parsed.value));
}

void serial(ByteView bytes, Decoded& out) {
    const auto parsed = scsi::parse_vpd_serial(bytes);
    take_words(parsed, out);
    const bool whole = parsed.used >= 4 && parsed.used == scsi::Reader(bytes).u16(2).value_or(0) + std::size_t{4};
    if (whole) out.fields.set("product_serial_number", parsed.value);   // a piece of a serial number is another drive's
}

void designators(ByteView bytes, Decoded& out) {
    const auto parsed = scsi::parse_vpd_designators(bytes);
    take_words(parsed, out);
    if (parsed.used < 4) return;
    Value list = Value::list();
    for (const scsi::Designator& d : parsed.value) {
        Value one = Value::object();
        one.set("association", d.association).set("designator_type", d.type).set("code_set", d.code_set);
        one.set("piv", d.protocol.has_value());
        if (d.protocol) one.set("protocol_identifier", *d.protocol);
        one.set("designator_length", d.identifier.size()).set("designator", d.text()).set("bytes", hex_text(d.identifier));
        list.add(std::move(one));
    }
    out.fields.set("designators", std::move(list));
}

void ata_information(ByteView bytes, Decoded& out) {
    const auto parsed = scsi::parse_vpd_ata_information(bytes);
    take_words(parsed, out);
    const scsi::AtaInformation& v = parsed.value;
    const auto text = [&](const char* field, const std::optional<std::string>& value) {
        if (value) out.fields.set(field, scsi::trimmed(*value));
    };
    text("sat_vendor", v.sat_vendor);
    text("sat_product", v.sat_product);
    text("sat_revision", v.sat_revision);
    if (!v.signature.empty()) out.fields.set("device_signature", hex_text(v.signature));
    if (v.command_code) out.fields.set("command_code", *v.command_code);
    if (!v.identify.empty()) out.fields.set("identify", identify_fields(v.identify, out.problems, out.notes));
}

void block_limits(ByteView bytes, Decoded& out) {
    const auto parsed = scsi::parse_vpd_block_limits(bytes);
    take_words(parsed, out);
    const scsi::BlockLimits& v = parsed.value;
    Fields f(parsed.used);
    f.put(5, "wsnz", v.wsnz).put(6, "maximum_compare_and_write_length", v.max_compare_and_write);
    f.put(8, "optimal_transfer_length_granularity", v.optimal_granularity).put(12, "maximum_transfer_length", v.max_transfer);
    f.put(16, "optimal_transfer_length", v.optimal_transfer).put(20, "maximum_prefetch_length", v.max_prefetch);
    f.put(24, "maximum_unmap_lba_count", v.max_unmap_blocks).put(28, "maximum_unmap_block_descriptor_count", v.max_unmap_descriptors);
    f.put(32, "optimal_unmap_granularity", v.unmap_granularity).put(36, "ugavalid", v.unmap_alignment.has_value());
    f.put(36, "unmap_granularity_alignment", v.unmap_alignment).put(44, "maximum_write_same_length", v.max_write_same);
    f.put(48, "maximum_atomic_transfer_length", v.max_atomic).put(52, "atomic_alignment", v.atomic_alignment);
    f.put(56, "atomic_transfer_length_granularity", v.atomic_granularity);
    f.put(60, "maximum_atomic_transfer_length_with_atomic_boundary", v.max_atomic_with_boundary).put(64, "maximum_atomic_boundary_size", v.max_atomic_boundary);
    if (!v.unknown.empty() && parsed.used == *scsi::Reader(bytes).u16(2) + std::size_t{4}) f.put(65, "unknown_bytes", hex_text(v.unknown));
    f.put(20, "transfer_lengths_are_placeholders", v.transfer_is_placeholder);
    const Value made = f.take();
    for (const auto& [key, value] : std::get<measure::ValueMap>(made.held)) out.fields.set(key, value);
}

void characteristics(ByteView bytes, Decoded& out) {
    const auto parsed = scsi::parse_vpd_block_characteristics(bytes);
    take_words(parsed, out);
    const scsi::BlockCharacteristics& v = parsed.value;
    Fields f(parsed.used);
    f.put(6, "medium_rotation_rate", v.rotation_rpm).put(7, "product_type", v.product_type).put(8, "nominal_form_factor", v.form_factor);
    f.put(9, "zoned", v.zoned).put(9, "bocs", v.bocs).put(9, "fuab", v.fuab).put(9, "vbuls", v.vbuls);
    const Value made = f.take();
    for (const auto& [key, value] : std::get<measure::ValueMap>(made.held)) out.fields.set(key, value);
}

void provisioning(ByteView bytes, Decoded& out) {
    const auto parsed = scsi::parse_vpd_provisioning(bytes);
    take_words(parsed, out);
    const scsi::Provisioning& v = parsed.value;
    Fields f(parsed.used);
    f.put(5, "threshold_exponent", v.threshold_exponent).put(6, "lbpu", v.lbpu).put(6, "lbpws", v.lbpws).put(6, "lbpws10", v.lbpws10);
    f.put(6, "lbprz", v.lbprz).put(6, "anc_sup", v.anc_sup).put(6, "dp", v.dp);
    f.put(7, "minimum_percentage", v.minimum_percentage).put(7, "provisioning_type", v.type).put(8, "threshold_percentage", v.threshold_percentage);
    const Value made = f.take();
    for (const auto& [key, value] : std::get<measure::ValueMap>(made.held)) out.fields.set(key, value);
}
}

void decode_vpd(ByteView bytes, Decoded& out) {
    const scsi::Reader data(bytes);
    const auto code = data.u8(1);
    if (scsi::looks_like_inquiry(bytes)) {
        out.problems.push_back("this is standard INQUIRY data, no VPD page");
        return;
    }
    if (const auto first = data.u8(0)) {
        out.fields.set("peripheral_qualifier", *first >> 5).set("peripheral_device_type", *first & 0x1f);
    }
    if (code) out.fields.set("page_code", *code);
    if (const auto length = data.u16(2)) out.fields.set("page_length", *length);
    switch (code.value_or(0)) {
    case 0x00: return supported(bytes, out);
    case 0x80: return serial(bytes, out);
    case 0x83: return designators(bytes, out);
    case 0x89: return ata_information(bytes, out);
    case 0xb0: return block_limits(bytes, out);
    case 0xb1: return characteristics(bytes, out);
    case 0xb2: return provisioning(bytes, out);
    default: break;
    }
    const std::size_t declared = data.u16(2).value_or(0) + std::size_t{4};
    if (!data.u16(2)) out.problems.push_back(fmt::format("the header of the VPD page is cut short: {} bytes arrived", bytes.size()));
    else if (bytes.size() < declared) out.problems.push_back(fmt::format("VPD page {:02X}h says that it has {} bytes, {} arrived", *code, declared, bytes.size()));
    else if (bytes.size() > declared) out.notes.push_back(fmt::format("{} bytes follow VPD page {:02X}h", bytes.size() - declared, *code));
    if (data.has(4, 1) && bytes.size() >= declared) out.fields.set("bytes", hex_text(data.first(declared).rest(4)));
}

}
