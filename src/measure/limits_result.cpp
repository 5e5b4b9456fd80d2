// What was found about limits, as a result.
#include <fmt/format.h>

#include <algorithm>

#include "sgprobe/measure/limit_attribution.h"
#include "sgprobe/measure/limits.h"

namespace sgprobe::measure {
namespace {

template <class T>
Value optional(const std::optional<T>& value) { return value ? Value(*value) : Value(); }

Value paths_value(const std::vector<LimitPath>& paths) {
    ValueList list;
    for (const LimitPath& path : paths)
        list.push_back(ValueMap{{"node", path.node}, {"buffer", name(path.buffer)}, {"max_blocks_ok", path.max_blocks_ok},
                                {"first_failing", optional(path.first_failing)}, {"failure", path.failure}, {"limit", path.limit}});
    return list;
}

Value opcode_value(const OpcodeLimit& limit) {
    if (!limit.tried) return ValueMap{{"tried", false}, {"max_blocks_ok", Value()}, {"first_failing", Value()}, {"failure", "none"}, {"detail", limit.detail}};
    Value value(ValueMap{{"max_blocks_ok", limit.found.max_ok}, {"first_failing", optional(limit.found.first_failing)}, {"failure", name(limit.found.failing)},
                         {"layer", name(limit.layer)}, {"content", limit.content_checked ? "checked" : "unchecked"}, {"detail", limit.detail},
                         {"exact", limit.found.exact}, {"intermittent", limit.found.intermittent && limit.found.failing != Failing::host},
                         {"commands", limit.found.commands}});
    if (!limit.host_limit.empty()) value.set("host_limit", limit.host_limit);
    if (limit.found.strays > 0) value.set("failures_without_limit", limit.found.strays);
    if (!limit.paths.empty()) value.set("paths", paths_value(limit.paths));
    return value;
}

Value declared_value(const LimitsFinding& f) {
    const auto bytes_to_blocks = [&](const std::optional<std::uint64_t>& kb) { return kb && f.block_bytes ? Value(*kb * 1024 / f.block_bytes) : Value(); };
    Value value(ValueMap{{"vpd_b0_max_blocks", optional(f.declared.vpd_b0_max_blocks)}, {"host_max_blocks", optional(f.declared.host_max_blocks)},
                         {"vpd_b0_optimal_blocks", optional(f.declared.vpd_b0_optimal_blocks)},
                         {"vpd_b0_granularity_blocks", optional(f.declared.vpd_b0_granularity_blocks)},
                         {"max_hw_sectors_blocks", bytes_to_blocks(f.host.max_hw_sectors_kb)}, {"max_sectors_blocks", bytes_to_blocks(f.host.max_sectors_kb)},
                         {"max_segments", optional(f.host.max_segments)}, {"sg_tablesize", optional(f.host.sg_tablesize)},
                         {"reserved_bytes", optional(f.host.reserved_bytes)}, {"scatter_element_bytes", optional(f.host.scatter_element_bytes)}});
    if (f.declared.vpd_b0_note) value.set("vpd_b0_note", *f.declared.vpd_b0_note);
    return value;
}

std::string outcome_text(const OpcodeLimit& limit) {
    switch (limit.found.failing) {
    case Failing::none: return "nothing fails";
    case Failing::time_out: return "time-out";
    case Failing::corruption: return "silent corruption";
    case Failing::disconnect: return "disconnect";
    default: return limit.what;
    }
}

ResultTable opcode_table(const LimitsFinding& f) {
    ResultTable table{"", {"command", "blocks that work", "size", "first that fails", "what happens", "layer", "content"}, {}};
    for (const OpcodeLimit& limit : f.opcodes) {
        if (!limit.tried) { table.rows.push_back({limit.opcode, "not tried"}); continue; }
        const std::string layer = limit.host_limit.empty() ? std::string(name(limit.layer)) : fmt::format("{} ({})", name(limit.layer), limit.host_limit);
        table.rows.push_back({limit.opcode, grouped_number(limit.found.max_ok), binary_bytes(limit.found.max_ok * f.block_bytes),
                              limit.found.first_failing ? grouped_number(*limit.found.first_failing) : "-", outcome_text(limit), layer,
                              limit.content_checked ? "checked" : "unchecked"});
    }
    return table;
}

ResultTable path_table(const OpcodeLimit& limit, Bytes block_bytes) {
    ResultTable table{limit.opcode + " by another way", {"node", "buffer", "blocks that work", "size", "first that fails", "what happens", "limit"}, {}};
    for (const LimitPath& path : limit.paths)
        table.rows.push_back({path.node, std::string(name(path.buffer)), grouped_number(path.max_blocks_ok), binary_bytes(path.max_blocks_ok * block_bytes),
                              path.first_failing ? grouped_number(*path.first_failing) : "-", path.failure, path.limit});
    return table;
}

// The opcode that an ordinary host uses tells the story; the others are in the table.
const OpcodeLimit* story(const LimitsFinding& f) {
    const OpcodeLimit* best = nullptr;
    for (const OpcodeLimit& limit : f.opcodes) {
        if (!limit.tried || limit.found.max_ok == 0) continue;
        const bool real = limit.found.first_failing && limit.layer != LimitLayer::host && limit.layer != LimitLayer::capacity;
        const bool best_real = best && best->found.first_failing && best->layer != LimitLayer::host && best->layer != LimitLayer::capacity;
        if (!best || (real && !best_real)) best = &limit;
    }
    return best ? best : f.opcodes.empty() ? nullptr : &f.opcodes.front();
}

void advise(Result& result, const LimitsFinding& f, const OpcodeLimit& limit) {
    if (!limit.found.first_failing || limit.layer == LimitLayer::host || limit.layer == LimitLayer::capacity || limit.layer == LimitLayer::cdb) return;
    const std::uint64_t kb = limit.found.max_ok * f.block_bytes / 1024;
    if (kb < 4) return;
    const bool named = f.device.path.starts_with("/dev/sd");
    result.advice.push_back({"max_sectors_kb", kb, fmt::format("echo {} > /sys/block/{}/queue/max_sectors_kb", kb, named ? f.device.path.substr(5) : "sdX"), ""});
}
}

Result limits_result(const LimitsFinding& f, const HostIdentity* host) {
    Result result;
    result.probe = "limits";
    result.device = f.device;
    if (host) result.host = *host;
    result.commands = f.commands;
    result.bytes_transferred = f.bytes_transferred;
    result.notes = f.notes;
    result.interrupted = f.interrupted;
    Value limits = Value::object();
    for (const OpcodeLimit& limit : f.opcodes) limits.set(limit.opcode, opcode_value(limit));
    result.sections.emplace_back("limits", std::move(limits));
    result.sections.emplace_back("declared", declared_value(f));
    if (!f.borders.empty()) {
        ValueList list;
        for (const AddressBorder& border : f.borders)
            list.push_back(ValueMap{{"lba", border.lba}, {"border", border.border}, {"opcode", border.opcode}, {"passes", border.passes},
                                    {"outcome", border.outcome}, {"told", border.told}});
        result.sections.emplace_back("borders", std::move(list));
    }
    result.tables.push_back(opcode_table(f));
    for (const OpcodeLimit& limit : f.opcodes) if (!limit.paths.empty()) result.tables.push_back(path_table(limit, f.block_bytes));
    if (!f.borders.empty()) {
        ResultTable table{"across the borders of command sets", {"command", "border", "after block", "outcome"}, {}};
        for (const AddressBorder& border : f.borders) table.rows.push_back({border.opcode, border.border, grouped_number(border.lba), border.outcome});
        result.tables.push_back(std::move(table));
    }
    const bool known = std::all_of(f.opcodes.begin(), f.opcodes.end(), [](const OpcodeLimit& l) { return l.tried && (l.found.exact || l.found.max_ok == 0); });
    result.verdict = known ? Verdict::clean : Verdict::inconclusive;
    if (const OpcodeLimit* limit = story(f)) {
        result.reason = limit->detail;
        advise(result, f, *limit);
    }
    if (f.declared.vpd_b0_note) result.notes.push_back("VPD page B0h: " + *f.declared.vpd_b0_note);
    result.parameters = {{"start", static_cast<std::int64_t>(f.start)}, {"time_outs", static_cast<std::int64_t>(f.time_outs)}};
    return result;
}

}
