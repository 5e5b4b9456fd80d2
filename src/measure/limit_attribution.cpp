#include "sgprobe/measure/limit_attribution.h"

#include <fmt/format.h>

#include <cerrno>
#include <vector>

namespace sgprobe::measure {
namespace {

struct Candidate { std::string limit, arithmetic; Bytes bytes; std::string further; };

std::string times(std::uint64_t count, std::string_view what, Bytes each, std::string_view unit) {
    return fmt::format("{} {} x {} bytes {} = {} bytes", grouped_number(count), what, grouped_number(each), unit, grouped_number(count * each));
}

std::vector<Candidate> candidates(const HostEdge& edge, const HostFacts& host) {
    std::vector<Candidate> all;
    const auto add = [&](std::string limit, std::string arithmetic, Bytes bytes, std::string further = {}) {
        if (bytes > 0) all.push_back({std::move(limit), std::move(arithmetic), bytes, std::move(further)});
    };
    const auto kb = [&](std::string_view limit, std::uint64_t value, std::string further = {}) {
        add(std::string(limit), fmt::format("{} = {} KiB = {} bytes", limit, grouped_number(value), grouped_number(value * 1024)), value * 1024, std::move(further));
    };
    const bool mapped = edge.buffer == BufferKind::mmap, user_pages = edge.buffer == BufferKind::direct || edge.buffer == BufferKind::huge;
    if (host.max_transfer_bytes) add("max_transfer", fmt::format("the host takes {} bytes a command", grouped_number(host.max_transfer_bytes)), host.max_transfer_bytes);
    if (mapped && host.reserved_bytes) add("reserved size", fmt::format("a reserved buffer of {} bytes", grouped_number(*host.reserved_bytes)), *host.reserved_bytes);
    if (host.max_hw_sectors_kb) kb("max_hw_sectors_kb", *host.max_hw_sectors_kb);
    if (user_pages && host.max_segments)
        add("max_segments", times(*host.max_segments, "segments", host.page_bytes, "a page"), *host.max_segments * host.page_bytes,
            "contiguous memory (huge pages) goes further");
    if (host.sg_tablesize && host.scatter_element_bytes)
        add("sg_tablesize", times(*host.sg_tablesize, "scatter-list entries", *host.scatter_element_bytes, "each (scatter_elem_sz)"),
            *host.sg_tablesize * *host.scatter_element_bytes, "a greater scatter_elem_sz (parameter of the sg module) goes further");
    if (host.max_segments) {
        if (host.scatter_element_bytes && *host.scatter_element_bytes != host.page_bytes)
            add("max_segments", times(*host.max_segments, "segments", *host.scatter_element_bytes, "each (scatter_elem_sz)"),
                *host.max_segments * *host.scatter_element_bytes, "a greater scatter_elem_sz (parameter of the sg module) goes further");
        add("max_segments", times(*host.max_segments, "segments", host.page_bytes, "a page"), *host.max_segments * host.page_bytes,
            "contiguous memory (huge pages) goes further");
    }
    if (host.max_sectors_kb) kb("max_sectors_kb", *host.max_sectors_kb, "a greater max_sectors_kb in /sys/block/.../queue goes further");
    add("pages of one bio", times(256, "pages", host.page_bytes, "each"), 256 * host.page_bytes, "contiguous memory (huge pages) goes further");
    return all;
}

std::string blocks_text(Blocks count, Bytes block_bytes) {
    return fmt::format("{} block{} ({})", grouped_number(count), count == 1 ? "" : "s", binary_bytes(count * block_bytes));
}

std::string past(const LimitCase& c, Bytes block_bytes) {
    const std::string at = blocks_text(*c.found.first_failing, block_bytes);
    const std::string back = c.what.empty() ? "" : ": " + c.what;
    switch (c.found.failing) {
    case Failing::time_out: return fmt::format("{} get no answer within the command's time-out", at);
    case Failing::corruption: return fmt::format("{} come back with wrong data and no error (silent corruption){}", at, back);
    case Failing::disconnect: return fmt::format("at {} the drive disconnects{}", at, back);
    case Failing::host: return fmt::format("{} are refused by the system before any command reaches the drive{}", at, back);
    case Failing::adapter: return fmt::format("{} are failed by the host adapter or its driver{}", at, back);
    default: return fmt::format("{} fail{}", at, back);
    }
}

LimitLayer layer_of(const LimitCase& c, const LimitFacts& facts) {
    if (!c.found.first_failing) {
        if (c.tried_up_to >= c.cdb_greatest) return LimitLayer::cdb;
        return c.tried_up_to + 8 >= c.room ? LimitLayer::capacity : LimitLayer::drive;
    }
    if (c.found.failing == Failing::host) return LimitLayer::host;
    if (*c.found.first_failing > c.room || c.out_of_range) return LimitLayer::capacity;
    if (facts.declared.vpd_b0_max_blocks == c.found.max_ok) return LimitLayer::declared;
    return c.found.failing == Failing::adapter ? LimitLayer::transport : LimitLayer::drive;
}

std::string against_declared(const LimitCase& c, const LimitFacts& facts, LimitLayer layer) {
    const auto declared = facts.declared.vpd_b0_max_blocks;
    if (layer == LimitLayer::declared) return fmt::format("; VPD page B0h declares {} blocks, and that is real", grouped_number(*declared));
    if (!declared) return layer == LimitLayer::drive ? "; VPD page B0h declares no maximum" : "";
    if (c.found.max_ok > *declared) return fmt::format("; VPD page B0h declares {} blocks, but more work", grouped_number(*declared));
    if (c.found.max_ok < *declared && layer == LimitLayer::drive)
        return fmt::format("; VPD page B0h declares {} blocks, which it does not keep", grouped_number(*declared));
    return "";
}

std::string sentence(const LimitCase& c, const LimitFacts& facts, LimitLayer layer, const HostCause& cause) {
    const Bytes block = facts.block_bytes;
    const SearchFinding& found = c.found;
    std::string text;
    if (found.max_ok == 0 && found.first_failing) return fmt::format("{} does not work: {}", c.opcode, past(c, block));
    text = fmt::format("{} works up to {}", c.opcode, blocks_text(found.max_ok, block));
    if (!found.first_failing) {
        if (found.stopped && !found.exact) return text + "; longer ones were not tried: " + c.why_stopped;
        if (layer == LimitLayer::cdb) text += ", the most that its transfer length field can ask for";
        else if (layer == LimitLayer::capacity) text += c.range_given ? ", all of the range given" : ", all that the disk holds from there";
        return text + against_declared(c, facts, layer);
    }
    text += "; " + past(c, block);
    if (found.intermittent && found.failing != Failing::host) text += fmt::format(" ({} of {} times)", found.failed_at_first, found.tried_at_first);
    if (!found.exact) {
        text += "; what lies between is not known, because ";
        text += found.costly_spent ? "the time-outs allowed (--max-timeouts) were used up" : c.why_stopped;
    }
    switch (layer) {
    case LimitLayer::host:
        text += cause.limit.empty() ? "; no limit that the system states stands at that length" : fmt::format("; the limit is {} ({})", cause.limit, cause.arithmetic);
        break;
    case LimitLayer::capacity:
        text += *found.first_failing > c.room ? "; the disk ends there" : "; the disk ends before its capacity says so";
        break;
    case LimitLayer::drive: case LimitLayer::declared: case LimitLayer::transport:
        if (found.failing != Failing::disconnect) text += layer == LimitLayer::transport ? "; no sense data came from the drive" : "";
        break;
    default: break;
    }
    return text + against_declared(c, facts, layer);
}
}

std::string grouped_number(std::uint64_t value) {
    std::string digits = std::to_string(value);
    for (auto at = std::ssize(digits) - 3; at > 0; at -= 3) digits.insert(static_cast<std::size_t>(at), ",");
    return digits;
}

std::string binary_bytes(Bytes bytes) {
    if (bytes >= 1u << 20 && bytes % (1u << 20) == 0) return fmt::format("{} MiB", grouped_number(bytes >> 20));
    if (bytes >= 1u << 10 && bytes % (1u << 10) == 0) return fmt::format("{} KiB", grouped_number(bytes >> 10));
    if (bytes >= 1u << 10 && bytes % 512 == 0) return fmt::format("{}.5 KiB", grouped_number(bytes >> 10));
    return grouped_number(bytes) + " bytes";
}

HostCause host_cause(const HostEdge& edge, const HostFacts& host) {
    for (const Candidate& candidate : candidates(edge, host))
        if (candidate.bytes >= edge.max_ok_bytes && candidate.bytes < edge.first_failing_bytes) return {candidate.limit, candidate.arithmetic, candidate.further};
    return {};
}

LimitVerdict attribute(const LimitCase& c, const LimitFacts& facts, const HostFacts& host) {
    LimitVerdict verdict{layer_of(c, facts), {}, {}};
    HostCause cause;
    if (verdict.layer == LimitLayer::host) {
        cause = host_cause({c.found.max_ok * facts.block_bytes, *c.found.first_failing * facts.block_bytes, c.os_errno, c.buffer}, host);
        verdict.host_limit = cause.limit;
    }
    verdict.detail = sentence(c, facts, verdict.layer, cause);
    return verdict;
}

}
