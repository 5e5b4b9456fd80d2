#include "decode_parts.h"
#include "sgprobe/scsi/reader.h"
#include "sgprobe/scsi/sense.h"

namespace sgprobe::report {
namespace {
Value registers(const scsi::AtaRegisters& ata) {
    Value out = Value::object();
    out.set("error", ata.error).set("status", ata.status).set("device", ata.device).set("count", ata.count);
    if (ata.lba_known) out.set("lba", ata.lba).set("extend", ata.extend);
    if (ata.upper_lost) out.set("upper_bytes_lost", true);
    return out;
}

void key_specific(const scsi::Sense& s, Value& fields) {
    const bool sksv = s.field_pointer || s.retry_count || s.progress || s.segment_pointer || s.attention_overflow;
    if (!sksv) return;
    fields.set("sksv", true);
    if (s.field_pointer) {
        fields.set("cd", s.field_pointer->in_command).set("bpv", s.field_pointer->bit.has_value());
        if (s.field_pointer->bit) fields.set("bit_pointer", *s.field_pointer->bit);
        fields.set("field_pointer", s.field_pointer->byte).set("field_pointer_in", s.field_pointer->in_command ? "CDB" : "parameter list");
    }
    if (s.retry_count) fields.set("actual_retry_count", *s.retry_count);
    if (s.progress) fields.set("progress_indication", *s.progress);
    if (s.segment_pointer) {
        fields.set("sd", s.segment_pointer->in_descriptor).set("bpv", s.segment_pointer->bit.has_value());
        if (s.segment_pointer->bit) fields.set("bit_pointer", *s.segment_pointer->bit);
        fields.set("field_pointer", s.segment_pointer->byte);
    }
    if (s.attention_overflow) fields.set("overflow", *s.attention_overflow);
}

Value to_fields(const scsi::Sense& s, std::size_t used, std::size_t arrived) {
    if (used == 0) return Value::object();
    const bool fixed = !s.descriptor_format;
    Fields f(used);
    f.put(1, "response_code", s.response_code).put(1, "format", fixed ? "fixed" : "descriptor").put(1, "deferred", s.deferred);
    if (fixed) f.put(1, "valid", s.valid);
    f.told("sense_key", s.key ? std::optional(static_cast<unsigned>(*s.key)) : std::nullopt);
    if (s.key) f.put(0, "sense_key_text", scsi::name(*s.key));
    f.told("asc", s.asc).told("ascq", s.ascq);
    if (s.asc && s.ascq) f.put(0, "additional_sense", scsi::additional_sense_text(*s.asc, *s.ascq));
    if (fixed) f.put(3, "filemark", s.filemark).put(3, "eom", s.eom).put(3, "ili", s.ili).put(3, "sdat_ovfl", s.sdat_ovfl);
    else f.put(5, "sdat_ovfl", s.sdat_ovfl);
    Value fields = f.take();
    const auto whole = [](const scsi::SenseDescriptor& d) { return d.bytes.size() == scsi::Reader(d.bytes).u8(1).value_or(0) + std::size_t{2}; };
    const auto has = [&](std::uint8_t type) { return std::ranges::any_of(s.descriptors, [&](const auto& d) { return d.type == type && whole(d); }); };
    if (!fixed) {
        if (has(0x00) || has(0x0d)) fields.set("valid", s.valid);
        if (has(0x04)) fields.set("filemark", s.filemark).set("eom", s.eom);
        if (has(0x04) || has(0x05) || has(0x0d)) fields.set("ili", s.ili);
    }
    if (arrived >= 8) fields.set("additional_sense_length", Value());
    if (s.information) fields.set("information", *s.information);
    if (s.command_specific) fields.set("command_specific_information", *s.command_specific);
    if (s.fru) fields.set("fru", *s.fru);
    key_specific(s, fields);
    if (s.another_progress) fields.set("another_progress_indication", *s.another_progress);
    if (!fixed && arrived >= 8) {
        Value list = Value::list();
        for (const scsi::SenseDescriptor& d : s.descriptors) {
            Value one = Value::object();
            one.set("type", d.type).set("name", scsi::descriptor_name(d.type)).set("length", d.bytes.size()).set("bytes", hex_text(d.bytes));
            if (!whole(d)) one.set("truncated", true);
            list.add(std::move(one));
        }
        fields.set("descriptors", std::move(list));
    }
    for (const scsi::Sense& inner : s.forwarded) {
        Value one = Value::object();
        if (inner.key) one.set("sense_key", static_cast<unsigned>(*inner.key));
        if (inner.asc && inner.ascq) one.set("asc", *inner.asc).set("ascq", *inner.ascq);
        one.set("sense", scsi::one_line(inner));
        Value list = fields.find("forwarded_sense") ? *fields.find("forwarded_sense") : Value::list();
        fields.set("forwarded_sense", list.add(std::move(one)));
    }
    return fields;
}
}

Value sense_fields(ByteView bytes, std::vector<std::string>& problems, std::vector<std::string>& notes, Value& ata) {
    const auto parsed = scsi::parse_sense(bytes);
    problems.insert(problems.end(), parsed.problems.begin(), parsed.problems.end());
    notes.insert(notes.end(), parsed.notes.begin(), parsed.notes.end());
    Value fields = to_fields(parsed.value, parsed.used, bytes.size());
    if (fields.find("additional_sense_length")) fields.set("additional_sense_length", *scsi::Reader(bytes).u8(7));
    if (parsed.value.ata) {
        ata = registers(*parsed.value.ata);
        fields.set("ata", ata);
    }
    if (parsed.value.deferred) notes.push_back("deferred: the error is an earlier command's; the command that returned it was not carried out and must be sent again");
    return fields;
}

void decode_sense(ByteView bytes, Decoded& out) { out.fields = sense_fields(bytes, out.problems, out.notes, out.ata); }

}
