// Capacities and log pages.
#include "decode_parts.h"
#include "sgprobe/scsi/capacity.h"
#include "sgprobe/scsi/log.h"
#include "sgprobe/scsi/reader.h"

namespace sgprobe::report {
namespace {
void put_size(Fields& f, const scsi::Capacity& v, std::size_t end) {
    f.put(end, "blocks", v.blocks).put(end, "block_bytes", v.block_bytes);
    if (v.blocks && v.block_bytes) f.put(end, "capacity_bytes", *v.blocks * *v.block_bytes);
}
}

void decode_capacity_10(ByteView bytes, Decoded& out) {
    const auto parsed = scsi::parse_capacity_10(bytes);
    take_words(parsed, out);
    const scsi::Reader data(bytes);
    Fields f(parsed.used);
    f.told("returned_logical_block_address", data.u32(0)).told("logical_block_length", data.u32(4));
    put_size(f, parsed.value, 8);
    f.put(8, "needs_read_capacity_16", parsed.value.needs_16);
    out.fields = f.take();
}

void decode_capacity_16(ByteView bytes, Decoded& out) {
    const auto parsed = scsi::parse_capacity_16(bytes);
    take_words(parsed, out);
    const scsi::Capacity& v = parsed.value;
    const scsi::Reader data(bytes);
    Fields f(parsed.used);
    f.told("returned_logical_block_address", data.u64(0)).told("logical_block_length", data.u32(8));
    put_size(f, v, 12);
    f.put(13, "prot_en", v.protection_enabled);
    if (v.protection_enabled) f.put(13, "p_type", v.protection_type - 1).put(13, "protection_type", v.protection_type);
    f.put(14, "p_i_exponent", data.bits(13, 7, 4)).put(14, "logical_blocks_per_physical_block_exponent", v.physical_exponent);
    f.put(14, "logical_blocks_per_physical_block", 1u << v.physical_exponent);
    if (v.block_bytes) f.put(14, "physical_block_bytes", *v.block_bytes << v.physical_exponent);
    f.put(16, "lbpme", v.lbpme).put(16, "lbprz", v.lbprz).put(16, "lowest_aligned_logical_block_address", v.lowest_aligned);
    out.fields = f.take();
}

namespace {
Value parameter_value(const scsi::LogPage& page, const scsi::LogParameter& parameter, Decoded& out) {
    Value one = Value::object();
    one.set("code", parameter.code).set("control", parameter.control).set("length", parameter.declared_length).set("truncated", parameter.truncated);
    if (parameter.truncated) return one;
    one.set("bytes", hex_text(parameter.value));
    const bool counter = parameter.value.size() <= 8 && !parameter.value.empty() && (parameter.control & 0x03) == 0;
    if (counter) one.set("value", *scsi::Reader(parameter.value).big_endian(0, parameter.value.size()));   // FORMAT AND LINKING 00b: a counter
    if (page.code == 0x0b && page.subpage == 0) {   // last n deferred errors or asynchronous events: each is sense data
        Value ata;
        std::vector<std::string> problems;
        one.set("sense", sense_fields(parameter.value, problems, out.notes, ata));
        for (const std::string& problem : problems) out.problems.push_back(fmt::format("parameter {:04X}h: {}", parameter.code, problem));
    }
    if (page.code == 0x2f && page.subpage == 0 && parameter.code == 0) {
        const scsi::Reader data(parameter.value);
        if (data.has(0, 2)) one.set("ie_asc", *data.u8(0)).set("ie_ascq", *data.u8(1));
    }
    return one;
}

Value page_value(const scsi::LogPage& page, std::size_t arrived, Decoded& out) {
    Value one = Value::object();
    one.set("code", page.code).set("subpage", page.subpage).set("length", page.declared_length).set("page_length", page.declared_length - 4);
    one.set("ds", page.ds).set("spf", page.spf).set("truncated", page.truncated);
    Value fields = Value::object();
    if (page.code == 0 || page.subpage == 0xff) {
        Value list = Value::list();
        for (const auto& [code, subpage] : page.supported) {
            if (!page.spf) list.add(code);
            else list.add(Value::object().set("code", code).set("subpage", subpage));
        }
        fields.set("supported_pages", std::move(list));
    } else {
        Value list = Value::list();
        for (const scsi::LogParameter& parameter : page.parameters) list.add(parameter_value(page, parameter, out));
        fields.set("parameters", std::move(list));
        if (const auto temperature = scsi::log_temperature(page); temperature && arrived >= page.declared_length) {
            fields.set("temperature_c", temperature->current_c ? Value(*temperature->current_c) : Value());
            if (page.code == 0x0d) fields.set("reference_temperature_c", temperature->reference_c ? Value(*temperature->reference_c) : Value());
            if (!temperature->current_c) out.notes.push_back("the temperature is not available");
        }
    }
    one.set("fields", std::move(fields));
    return one;
}
}

// Several replies in a row are several pages, as LOG SENSE captures have them.
void decode_log(ByteView bytes, Decoded& out) {
    Value list = Value::list();
    scsi::Reader rest(bytes);
    for (int pages = 0; pages == 0 || rest.size() >= 4; ++pages) {
        const auto parsed = scsi::parse_log_page(rest.all());
        const bool whole = parsed.ok() && rest.size() >= parsed.value.declared_length;
        if (pages > 0 && (!whole || (parsed.value.code == 0 && parsed.value.declared_length == 4))) break;   // padding, or no page
        out.problems.insert(out.problems.end(), parsed.problems.begin(), parsed.problems.end());
        if (parsed.used < 4) break;
        Value page = page_value(parsed.value, rest.size(), out);
        if (pages == 0) {
            out.fields.set("page_code", parsed.value.code).set("subpage_code", parsed.value.subpage).set("page_length", parsed.value.declared_length - 4);
            for (const auto& [key, value] : std::get<measure::ValueMap>(page.find("fields")->held)) out.fields.set(key, value);
        }
        list.add(std::move(page));
        rest = scsi::Reader(rest.rest(parsed.value.declared_length));
    }
    out.fields.set("pages", std::move(list));
    if (const ByteView left = rest.all(); !left.empty() && left.size() < bytes.size()) out.notes.push_back(fmt::format("{} bytes follow the log page", left.size()));
}

}
