#include "sgprobe/pages/editor.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sgprobe/scsi/reader.h"
#include "sgprobe/transport/escape.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::pages {
namespace {

unsigned first_bit(const Field& field) { return field.byte * 8 + (7 - field.bit); }   // of the page, most significant first

std::string indexed(const std::string& key, std::uint64_t index) { return index == 0 ? key : fmt::format("{}.{}", key, index); }

Failure bad(std::string_view text, std::string_view why) {
    return Failure(ExitStatus::syntax, fmt::format("\"{}\": {}", escaped(text), why));
}

std::uint64_t number(std::string_view text, std::string_view whole) {
    int base = 10;
    std::string_view digits = text;
    if (digits.starts_with("0x") || digits.starts_with("0X")) { base = 16; digits.remove_prefix(2); }
    else if (digits.ends_with('h') || digits.ends_with('H')) { base = 16; digits.remove_suffix(1); }
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (digits.empty() || error != std::errc() || end != digits.data() + digits.size())
        throw bad(whole, "a value is a number as in 512, 0x200 or 200h, or -1 for all ones");
    return value;
}

Assignment parse_one(std::string_view text) {
    Assignment result;
    result.text = text;
    const auto equals = text.find('=');
    std::string_view name = text.substr(0, equals);
    if (equals != std::string_view::npos) {
        const std::string_view value = text.substr(equals + 1);
        result.given = true;
        if (value != "-1") result.value = number(value, text);
    }
    // A number after the last dot counts descriptors; a first part before a dot is the page, which may hold a comma's slash.
    const auto dot = name.find('.');
    if (dot != std::string_view::npos) {
        const std::string_view rest = name.substr(dot + 1);
        if (rest.empty() || rest.find_first_not_of("0123456789") != std::string_view::npos) {
            result.page = name.substr(0, dot);
            name = rest;
            if (result.page.empty()) throw bad(text, "there is no page before the dot");
        }
    }
    if (name.empty() || name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.") != std::string_view::npos)
        throw bad(text, "a setting is KEY=VALUE, PAGE.KEY=VALUE or KEY.N=VALUE");
    result.key = name;
    std::transform(result.key.begin(), result.key.end(), result.key.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return result;
}

}

std::optional<std::uint64_t> read_field(const Field& field, ByteView page) {
    if (field.end_byte() > page.size() || field.width > 64) return {};
    std::uint64_t value = 0;
    for (unsigned at = first_bit(field); at < first_bit(field) + field.width; ++at)
        value = value << 1 | (page[at / 8] >> (7 - at % 8) & 1u);
    return value;
}

bool write_field(const Field& field, std::span<std::uint8_t> page, std::uint64_t value) {
    if (field.end_byte() > page.size() || value > field.all_ones()) return false;
    for (unsigned i = 0; i < field.width; ++i) {
        const unsigned at = first_bit(field) + field.width - 1 - i;
        const auto bit = static_cast<std::uint8_t>(0x80u >> at % 8);
        page[at / 8] = static_cast<std::uint8_t>((value >> i & 1) ? page[at / 8] | bit : page[at / 8] & ~bit);
    }
    return true;
}

Changeable changeable(const Field& field, ByteView mask) {
    ByteVector whole(mask.begin(), mask.end());
    whole.resize(std::max<std::size_t>(whole.size(), field.end_byte()));
    const std::uint64_t bits = read_field(field, whole).value_or(0);
    return bits == 0 ? Changeable::no : bits == field.all_ones() ? Changeable::yes : Changeable::partly;
}

std::vector<Field> fields_of(const PageFormat& format, ByteView page) {
    std::vector<Field> fields;
    for (const Field& field : format.fields)
        if (!field.reserved() && field.end_byte() <= page.size()) fields.push_back(field);
    if (!format.descriptors) return fields;
    const Descriptors& list = *format.descriptors;
    const scsi::Reader reader(page);
    std::uint64_t most = page.size();
    if (list.count) most = reader.big_endian(list.count->byte, list.count->width / 8).value_or(0);
    std::size_t at = list.first;
    for (std::uint64_t index = 0; index < most && at < page.size(); ++index) {
        std::size_t length = list.length;
        if (list.length_at)
            if (const auto own = reader.u16(at + *list.length_at)) length = *own + *list.length_at + 2;
        for (Field field : list.fields) {
            if (field.reserved() || field.end_byte() > length) continue;
            field.byte += static_cast<unsigned>(at);
            if (field.end_byte() > page.size()) continue;
            field.key = indexed(field.key, index);
            fields.push_back(std::move(field));
        }
        at += length;
    }
    return fields;
}

const Field* find_field(const std::vector<Field>& fields, std::string_view key) {
    for (const Field& field : fields)
        if (same_text(field.key, key)) return &field;
    return nullptr;
}

std::uint64_t Assignment::value_for(const Field& field) const {
    if (given && !value) return field.all_ones();
    const std::uint64_t wanted = value.value_or(1);
    if (wanted > field.all_ones())
        throw Failure(ExitStatus::syntax, fmt::format("{}: {} is more than the {} bits of {} hold; the greatest value is {} (or -1)", escaped(text), wanted, field.width, field.key, field.all_ones()));
    return wanted;
}

std::vector<Assignment> parse_assignments(std::string_view list) {
    std::vector<Assignment> result;
    while (true) {
        const auto comma = list.find(',');
        const Assignment one = parse_one(list.substr(0, comma));
        for (const Assignment& other : result)
            if (other.key == one.key && same_text(other.page, one.page)) throw Failure(ExitStatus::contradiction, fmt::format("{} is given twice", one.key));
        result.push_back(one);
        if (comma == std::string_view::npos) return result;
        list.remove_prefix(comma + 1);
    }
}

ByteVector mode_select_list(ByteView page, bool ten_byte, ByteView block_descriptors, bool longlba) {
    ByteVector list(ten_byte ? 8 : 4);
    if (ten_byte) {
        scsi::put(list, 6, 2, block_descriptors.size());
        scsi::put_flag(list, 4, 0, longlba);
    } else {
        scsi::put(list, 3, 1, block_descriptors.size());
    }
    list.insert(list.end(), block_descriptors.begin(), block_descriptors.end());
    const std::size_t at = list.size();
    list.insert(list.end(), page.begin(), page.end());
    if (!page.empty()) list[at] &= 0x7f;
    return list;
}

std::string pointed_at(const scsi::FieldPointer& pointer, ByteView select_list, bool ten_byte, const PageFormat* format) {
    std::string place = fmt::format("byte {}{} of the {}", pointer.byte, pointer.bit ? fmt::format(", bit {},", *pointer.bit) : "", pointer.in_command ? "CDB" : "parameter list");
    if (pointer.in_command) return place;
    // SPC-5 7.5.5: bytes of the mode parameter headers.
    static constexpr std::string_view six[] = {"the mode data length", "the medium type", "the device-specific parameter", "the block descriptor length"};
    static constexpr std::string_view ten[] = {"the mode data length", "the mode data length", "the medium type", "the device-specific parameter", "LONGLBA", "a reserved byte",
                                               "the block descriptor length", "the block descriptor length"};
    const std::size_t header = ten_byte ? 8 : 4;
    if (pointer.byte < header) return fmt::format("{}: {} of the header, not the page", place, ten_byte ? ten[pointer.byte] : six[pointer.byte]);
    const scsi::Reader list(select_list);
    const std::size_t start = header + (ten_byte ? list.big_endian(6, 2) : list.big_endian(3, 1)).value_or(0);
    if (pointer.byte < start) return fmt::format("{}: the block descriptor, not the page", place);
    const std::size_t at = pointer.byte - start;
    const ByteView page = list.rest(start);
    for (const Field& field : format ? fields_of(*format, page) : std::vector<Field>{}) {
        const std::size_t bit = at * 8 + (7 - pointer.bit.value_or(field.byte == at ? std::uint8_t(field.bit) : std::uint8_t{7}));
        const std::size_t first = field.byte * 8 + (7 - field.bit);
        if (bit >= first && bit < first + field.width) return fmt::format("{}: {} ({}) of page {}", place, field.key, field.name, label({format->code, format->subpage}));
    }
    return fmt::format("{}: byte {} of the page", place, at);
}

std::string block_descriptor_warning(ByteView select_list, bool ten_byte, std::optional<Bytes> block_bytes_now) {
    const scsi::Reader list(select_list);
    const auto length = ten_byte ? list.big_endian(6, 2) : list.big_endian(3, 1);
    const std::size_t header = ten_byte ? 8 : 4;
    const bool longlba = ten_byte && list.flag(4, 0);
    if (!length) return "the parameter list is shorter than its header";
    if (*length == 0) return "";
    if (header + *length > select_list.size()) return "the block descriptor length goes past the end of the parameter list";
    const auto bytes = longlba ? list.u32(header + 12) : list.u24(header + 5);
    if (!bytes) return "the block descriptor is cut short";
    if (*bytes != 0 && *bytes % 512 != 0) return fmt::format("a block length of {} bytes is no multiple of 512", *bytes);
    if (block_bytes_now && *bytes != 0 && *bytes != *block_bytes_now)
        return fmt::format("a block length of {} bytes in place of {} makes the medium unreadable until it is formatted", *bytes, *block_bytes_now);
    return "";
}

}
