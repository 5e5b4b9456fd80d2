#include <set>

#include "decode_parts.h"
#include "sgprobe/pages/editor.h"
#include "sgprobe/scsi/mode.h"
#include "sgprobe/scsi/reader.h"

namespace sgprobe::report {
namespace {
Value page_value(const scsi::ModePage& page, const pages::Catalogue& catalogue) {
    Value out = Value::object();
    out.set("code", page.code).set("subpage", page.subpage);
    const pages::PageFormat* format = catalogue.find({page.code, page.subpage}, page.bytes, "");
    // Of a page that is cut, what depends on bytes further on (its protocol, the number of its descriptors) is not told.
    const bool depends = page.code == 0x18 || page.code == 0x19 || (format && (format->descriptors || format->protocol || !format->vendors.empty()));
    if (page.truncated && depends) format = nullptr;
    if (format) out.set("name", format->name).set("acronym", format->acronym);
    out.set("length", page.declared_length).set("page_length", page.declared_length - (page.spf ? 4 : 2));
    out.set("ps", page.ps).set("spf", page.spf).set("truncated", page.truncated);
    Value fields = Value::object();
    if (format)
        for (const pages::Field& field : pages::fields_of(*format, page.bytes)) {
            if (const auto value = pages::read_field(field, page.bytes)) fields.set(field.key, *value);
        }
    out.set("fields", std::move(fields));
    if (!format && !page.truncated) out.set("bytes", hex_text(page.bytes));
    return out;
}

// The reading that the bytes bear: MODE SENSE data, else a MODE SELECT list (its length field is 0), else pages without a header.
scsi::Parsed<scsi::ModeData> best_reading(ByteView bytes, bool ten_byte) {
    auto sense = ten_byte ? scsi::parse_mode_10(bytes) : scsi::parse_mode_6(bytes);
    if (sense.ok()) return sense;
    const auto plausible = [](const scsi::ModePage& page) { return (page.code != 0 || page.spf) && page.declared_length > 2; };
    if (sense.value.mode_data_length == std::size_t{0}) {
        auto select = scsi::parse_mode_select(bytes, ten_byte);
        if (select.ok() && bytes.size() > select.value.header_bytes && std::ranges::all_of(select.value.pages, plausible)) {
            select.notes.push_back("the mode data length is 0: this is a MODE SELECT parameter list");
            return select;
        }
    }
    auto bare = scsi::parse_bare_mode_pages(bytes);
    if (bare.ok() && std::ranges::all_of(bare.value.pages, plausible)) {
        bare.notes.push_back("this is a mode page without the mode parameter header");
        return bare;
    }
    auto other = ten_byte ? scsi::parse_mode_6(bytes) : scsi::parse_mode_10(bytes);
    if (other.ok() && !other.value.pages.empty())
        sense.notes.push_back(fmt::format("read as MODE SENSE({}) data it holds no contradiction", ten_byte ? 6 : 10));
    return sense;
}

void judge_descriptor(const scsi::ModeBlockDescriptor& descriptor, std::vector<std::string>& notes) {
    if (descriptor.block_bytes == 0) notes.push_back("the block descriptor's block length is 0: not reported");
    else if (descriptor.block_bytes % 4 != 0) notes.push_back(fmt::format("block length {} is no multiple of 512, nor of 4: no drive has such blocks", descriptor.block_bytes));
    if (!descriptor.blocks) notes.push_back("the block descriptor's number of blocks is 0: not reported, no capacity");
}
}

void decode_mode(ByteView bytes, bool ten_byte, const pages::Catalogue& catalogue, Decoded& out) {
    const auto parsed = best_reading(bytes, ten_byte);
    take_words(parsed, out);
    const scsi::ModeData& v = parsed.value;
    const std::size_t arrived = bytes.size(), width = ten_byte ? 2 : 1;
    if (v.header_bytes > 0) {
        Fields f(arrived);
        f.put(width, "mode_data_length", v.mode_data_length).put(width + 1, "medium_type", v.medium_type);
        f.put(width + 2, "device_specific_parameter", v.device_specific).put(width + 2, "wp", v.write_protected).put(width + 2, "dpofua", v.dpofua);
        if (ten_byte) f.put(5, "longlba", v.longlba);
        f.put(v.header_bytes, "block_descriptor_length", v.descriptor_length);
        out.fields = f.take();
    }
    if (parsed.used < v.header_bytes) return;
    Value descriptors = Value::list();
    for (const scsi::ModeBlockDescriptor& descriptor : v.descriptors) {
        Value one = Value::object();
        one.set("number_of_logical_blocks", descriptor.blocks ? Value(*descriptor.blocks) : Value()).set("logical_block_length", descriptor.block_bytes);
        if (descriptor.density != 0) one.set("density_code", descriptor.density);
        descriptors.add(std::move(one));
        judge_descriptor(descriptor, out.notes);
    }
    if (v.header_bytes > 0) out.fields.set("block_descriptors", std::move(descriptors));
    Value list = Value::list();
    std::set<std::pair<unsigned, unsigned>> seen;
    for (const scsi::ModePage& page : v.pages) {
        list.add(page_value(page, catalogue));
        if (!seen.insert({page.code, page.subpage}).second) out.notes.push_back(fmt::format("mode page {:02X}h/{:02X}h comes more than once", page.code, page.subpage));
    }
    out.fields.set("pages", std::move(list));
    if (v.pages.empty() && out.problems.empty() && v.descriptors.empty()) out.notes.push_back("a header without any page: no state is known");
}

}
