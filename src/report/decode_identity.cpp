#include "decode_parts.h"
#include "sgprobe/scsi/identify.h"
#include "sgprobe/scsi/inquiry.h"

namespace sgprobe::report {
namespace {
std::optional<std::string> clean(const std::optional<std::string>& text) {
    if (!text) return {};
    return scsi::trimmed(*text);
}
}

void decode_inquiry(ByteView bytes, Decoded& out) {
    const auto parsed = scsi::parse_inquiry(bytes);
    take_words(parsed, out);
    const scsi::Inquiry& v = parsed.value;
    Fields f(parsed.used);
    f.put(1, "peripheral_qualifier", v.peripheral_qualifier).put(1, "peripheral_device_type", v.device_type);
    f.put(2, "rmb", v.removable).put(2, "lu_cong", v.lu_cong).put(3, "version", v.version);
    f.put(4, "normaca", v.normaca).put(4, "hisup", v.hisup).put(4, "response_data_format", v.response_format);
    f.put(5, "additional_length", v.additional_length);
    f.put(6, "sccs", v.sccs).put(6, "tpgs", v.tpgs).put(6, "3pc", v.third_party_copy).put(6, "protect", v.protect);
    f.put(7, "encserv", v.encserv).put(7, "multip", v.multip);
    f.put(8, "wbus16", v.wbus16).put(8, "sync", v.sync).put(8, "cmdque", v.cmdque);
    f.told("vendor", clean(v.vendor)).told("product", clean(v.product)).told("revision", clean(v.revision));
    if (parsed.used >= 60) f.put(60, "version_descriptors", v.version_descriptors);
    out.fields = f.take();
    if (v.vendor && v.product && v.vendor->back() != ' ' && v.product->front() != ' ' && v.vendor->find(' ') != std::string::npos && *v.vendor != "ATA     ")
        out.notes.push_back("vendor and product read as one string: \"" + scsi::trimmed(*v.vendor + *v.product) + "\"");   // bridges split the ATA model
    const std::size_t claimed = v.additional_length ? *v.additional_length + std::size_t{5} : 0;
    if (v.response_format > 2) out.notes.push_back(fmt::format("response data format {} is reserved", v.response_format));
    if (claimed >= 96 && bytes.size() == 36) out.notes.push_back("36 bytes were fetched, as every host does first");
}

Value identify_fields(ByteView raw, std::vector<std::string>& problems, std::vector<std::string>& notes) {
    ByteVector bytes(raw.begin(), raw.end());
    if (const auto ordered = scsi::identify_in_byte_order(raw); ordered && *ordered != bytes) {
        bytes = *ordered;
        notes.push_back("the bytes of each word came swapped and were put right");
    }
    const auto parsed = scsi::parse_identify(bytes);
    problems.insert(problems.end(), parsed.problems.begin(), parsed.problems.end());
    notes.insert(notes.end(), parsed.notes.begin(), parsed.notes.end());
    const scsi::Identify& v = parsed.value;
    const auto words = [](std::size_t last) { return 2 * (last + 1); };
    Fields f(parsed.used);
    if (!v.model && !v.serial && v.sectors == std::nullopt && parsed.used >= 512) return f.take();
    f.put(words(0), "ata", v.ata);
    f.told("serial", clean(v.serial)).told("firmware", clean(v.firmware)).told("model", clean(v.model));
    const bool whole = parsed.used >= 512;   // what depends on several words is told only where all of them are there
    const std::size_t all = 512;
    f.put(words(61), "sectors_28bit", v.sectors_28);
    f.put(words(103), "sectors_48bit", v.sectors_48);
    f.put(all, "sectors", v.sectors);
    f.put(words(118), "logical_sector_bytes", v.logical_sector_bytes).put(words(118), "physical_sector_bytes", v.physical_sector_bytes);
    if (v.sectors && whole) f.put(all, "capacity_bytes", *v.sectors * v.logical_sector_bytes);
    f.put(words(209), "alignment_offset", v.alignment_offset);
    f.put(words(76), "ncq", v.ncq).put(words(83), "queue_depth", v.queue_depth);
    const auto feature = [&](const char* supported, const char* enabled, const std::optional<scsi::Feature>& value) {
        f.put(words(87), supported, value ? std::optional(value->supported) : std::nullopt);
        f.put(words(87), enabled, value ? std::optional(value->enabled) : std::nullopt);
    };
    feature("write_cache_supported", "write_cache_enabled", v.write_cache);
    feature("look_ahead_supported", "look_ahead_enabled", v.look_ahead);
    feature("smart_supported", "smart_enabled", v.smart);
    feature("security_supported", "security_enabled", v.security);
    feature("apm_supported", "apm_enabled", v.apm);
    feature("aam_supported", "aam_enabled", v.aam);
    feature("lba48_supported", "lba48_enabled", v.lba48);
    feature("fua_supported", "fua_enabled", v.fua);
    f.told("apm_level", v.apm_level).told("aam_level", v.aam_level);
    f.put(words(169), "trim", v.trim);
    f.put(words(217), "nominal_media_rotation_rate", v.rotation_rpm).put(words(168), "nominal_form_factor", v.form_factor);
    f.told("major_version", v.major_version).told("sata_generation_in_use", v.sata_current);
    if (v.wwn) f.put(words(111), "world_wide_name", fmt::format("{:016x}", *v.wwn));
    f.put(all, "checksum", std::string(!v.checksum_good ? "none" : *v.checksum_good ? "good" : "wrong"));
    f.put(all, "checksum_good", v.checksum_good);
    return f.take();
}

void decode_identify(ByteView bytes, Decoded& out) { out.fields = identify_fields(bytes, out.problems, out.notes); }

}
