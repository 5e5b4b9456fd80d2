// [[rule]] of a drive's file.
#include <charconv>

#include "drive_file_parts.h"
#include "sgprobe/scsi/cdb.h"
#include "sgprobe/sim/mode_pages.h"

namespace sgprobe::sim {
namespace {
constexpr scsi::RwOpcode moving[] = {scsi::RwOpcode::read6,  scsi::RwOpcode::read10,  scsi::RwOpcode::read12,  scsi::RwOpcode::read16,
                                     scsi::RwOpcode::write6, scsi::RwOpcode::write10, scsi::RwOpcode::write12, scsi::RwOpcode::write16};

// Two or more bytes written as hexadecimal with slashes between, as sense codes are: "5/24/00".
std::uint32_t slashed(TomlTable& t, std::string_view key, unsigned count) {
    std::string text;
    t.read(key, text);
    std::uint32_t value = 0;
    const char *at = text.data(), *end = at + text.size();
    for (unsigned i = 0; i < count; ++i) {
        unsigned part = 0;
        const auto [next, error] = std::from_chars(at, end, part, 16);
        if (error != std::errc{} || part > 0xff || (i + 1 < count ? next == end || *next != '/' : next != end))
            t.fail(key, count == 3 ? "wants key/ASC/ASCQ in hexadecimal, as \"5/24/00\"" : "wants ASC/ASCQ in hexadecimal, as \"29/00\"");
        value = value << 8 | part;
        at = next + 1;
    }
    return value;
}

void read_opcodes(TomlTable& t, std::vector<std::uint8_t>& opcodes) {
    for (const std::string& name : t.strings("commands")) {
        const std::size_t before = opcodes.size();
        for (const scsi::RwOpcode opcode : moving) {
            const bool write = scsi::ReadWrite{.opcode = opcode}.write();
            if (name == scsi::name(opcode) || name == (write ? "write" : "read")) opcodes.push_back(static_cast<std::uint8_t>(opcode));
        }
        unsigned code = 0;
        const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), code, 16);
        if (name.size() == 2 && error == std::errc{} && end == name.data() + 2) opcodes.push_back(static_cast<std::uint8_t>(code));
        if (opcodes.size() == before) t.fail("commands", fmt::format("`{}` is no command: wants read, write, \"READ(10)\" or an operation code of two hexadecimal digits", name));
    }
}

void read_fields(TomlTable& t, std::string_view key, std::vector<FieldValue>& to) {
    for (TomlTable& fields : t.tables(key)) {
        for (const std::string& name : fields.keys()) {
            if (!find_mode_field(name, 8) && !find_mode_field(name, 10)) fields.fail(name, "is no field of the caching or control page");
            fields.read(name, to.emplace_back(FieldValue{name, 0}).value);
        }
    }
}
}

void read_rule(TomlTable& t, Rule& r) {
    read_opcodes(t, r.opcodes);
    t.read("over_blocks", r.over_blocks);
    t.read("up_to_blocks", r.up_to_blocks);
    t.read("over_depth", r.over_depth);
    t.read("up_to_depth", r.up_to_depth);
    t.read("from_lba", r.from_lba);
    t.read("to_lba", r.to_lba);
    if (t.has("sequential")) t.read("sequential", r.sequential.emplace());
    read_fields(t, "settings", r.settings);
    read_fields(t, "unless", r.unless);
    t.read("probability", r.probability, 0, 1);
    t.read("every", r.every, 1);
    t.read("after_commands", r.after_commands);
    t.read("after_s", r.after_s);
    t.read("until_s", r.until_s);

    t.read("extra_us", r.extra_us, 0, 1e9);
    t.read("extra_us_per_block", r.extra_us_per_block, 0, 1e9);
    t.read("extra_turns", r.extra_turns, 0, 1000);
    t.read("no_prefetch", r.no_prefetch);
    t.read("stop_prefetch", r.stop_prefetch);
    if (t.has("sense")) r.sense = slashed(t, "sense", 3);
    if (t.has("status")) t.read("status", r.status.emplace());
    if (t.has("attention")) r.attention = slashed(t, "attention", 2);
    t.read("never", r.never);
    t.read("reset", r.reset);
    t.read("gone", r.gone);
    t.choose("data", r.data, {{"intact", Rule::Data::intact}, {"garbage", Rule::Data::garbage}, {"stale", Rule::Data::stale}, {"zero", Rule::Data::zero}});
    t.read("data_from_block", r.data_from_block);
    if (t.has("transfer_blocks")) t.read("transfer_blocks", r.transfer_blocks.emplace());
}

}
