#include "sgprobe/report/decode.h"

#include <algorithm>

#include "decode_parts.h"
#include "sgprobe/report/escape.h"
#include "sgprobe/report/format.h"
#include "sgprobe/scsi/reader.h"
#include "sgprobe/transport/inquire.h"

namespace sgprobe::report {
namespace {
constexpr std::string_view kind_names[] = {"inquiry", "vpd", "sense", "mode6", "mode10", "identify", "readcap10", "readcap16", "log", "cdb"};
}

std::span<const std::string_view> decode_kind_names() { return kind_names; }
std::string_view name(DecodeKind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

std::optional<DecodeKind> decode_kind_named(std::string_view text) {
    const auto found = std::ranges::find(kind_names, text);
    if (found == std::end(kind_names)) return {};
    return static_cast<DecodeKind>(found - std::begin(kind_names));
}

Decoded decode(DecodeKind kind, ByteView bytes, const pages::Catalogue& catalogue) {
    Decoded out{.kind = kind};
    if (const std::string signature = transport_signature(bytes); !signature.empty() && kind != DecodeKind::cdb) {
        out.problems.push_back(signature);
        return out;
    }
    switch (kind) {
    case DecodeKind::inquiry: decode_inquiry(bytes, out); break;
    case DecodeKind::vpd: decode_vpd(bytes, out); break;
    case DecodeKind::sense: decode_sense(bytes, out); break;
    case DecodeKind::mode6: decode_mode(bytes, false, catalogue, out); break;
    case DecodeKind::mode10: decode_mode(bytes, true, catalogue, out); break;
    case DecodeKind::identify: decode_identify(bytes, out); break;
    case DecodeKind::readcap10: decode_capacity_10(bytes, out); break;
    case DecodeKind::readcap16: decode_capacity_16(bytes, out); break;
    case DecodeKind::log: decode_log(bytes, out); break;
    case DecodeKind::cdb: decode_cdb(bytes, out); break;
    }
    return out;
}

bool has_problems(const Decoded& decoded) { return !decoded.problems.empty() || std::ranges::any_of(decoded.also, has_problems); }

measure::Value to_value(const Decoded& decoded) {
    Value out = Value::object();
    out.set("kind", name(decoded.kind)).set("fields", decoded.fields);
    if (decoded.ata.find("status")) out.set("ata", decoded.ata);
    out.set("problems", Value(decoded.problems)).set("notes", Value(decoded.notes));
    if (!decoded.also.empty()) {
        Value also = Value::list();
        for (const Decoded& other : decoded.also) also.add(to_value(other));
        out.set("also", std::move(also));
    }
    return out;
}

namespace {
// Codes are read in hexadecimal by everyone who reads them at all.
bool is_code(std::string_view key) {
    static constexpr std::string_view codes[] = {"asc", "ascq", "code", "subpage", "page_code", "subpage_code", "opcode", "response_code", "sense_key", "command_code",
                                                 "command", "status", "error", "device", "ie_asc", "ie_ascq", "fru", "control", "type", "density_code", "device_specific_parameter"};
    return std::ranges::find(codes, key) != std::end(codes);
}

Value for_people(const Value& value, std::string_view key) {
    if (const auto* map = std::get_if<measure::ValueMap>(&value.held)) {
        Value out = Value::object();
        for (const auto& [name, item] : *map) out.set(name, for_people(item, name));
        return out;
    }
    if (const auto* list = std::get_if<measure::ValueList>(&value.held)) {
        Value out = Value::list();
        for (const Value& item : *list) out.add(for_people(item, key == "supported_pages" || key == "supported_vpd_pages" ? "code" : ""));
        return out;
    }
    if (!is_code(key)) return value;
    if (const auto* number = std::get_if<std::uint64_t>(&value.held)) return fmt::format("{:02X}h", *number);
    if (const auto* number = std::get_if<std::int64_t>(&value.held)) return fmt::format("{:02X}h", *number);
    return value;
}
}

std::string text(const Decoded& decoded) {
    std::string out = fmt::format("{}:\n", name(decoded.kind));
    std::string fields = text(for_people(decoded.fields, ""));
    for (std::size_t at = 0; at < fields.size();) {
        const std::size_t end = fields.find('\n', at);
        out += "  " + fields.substr(at, end - at + 1);
        at = end == std::string::npos ? fields.size() : end + 1;
    }
    for (const std::string& problem : decoded.problems) out += "  problem: " + for_terminal(problem) + "\n";
    for (const std::string& note : decoded.notes) out += "  note: " + for_terminal(note) + "\n";
    for (const Decoded& other : decoded.also) out += text(other);
    return out;
}

}
