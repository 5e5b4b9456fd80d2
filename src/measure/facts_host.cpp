// What stands between us and the drive: the kernel's limits and where each comes from, and who else uses the drive.
#include <fmt/format.h>

#include "facts_parts.h"

namespace sgprobe::measure {
namespace {

std::string joined(const std::vector<std::string>& words) {
    std::string out;
    for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
    return out;
}

}

void add_host(Facts& facts, const Drive& drive, const std::optional<KernelDevice>& kernel, const std::string& release) {
    FactGroup g{"host", "Host", {}};
    if (!kernel) {
        const Limits& l = drive.limits();
        g.add("depth", "greatest queue depth", l.depth);
        if (l.max_transfer_bytes) g.add("max_transfer_bytes", "greatest transfer", l.max_transfer_bytes, fmt::format("{} KiB", l.max_transfer_bytes / 1024));
        facts.device.transport = drive.spec().scheme == "sim" ? "simulated" : drive.spec().scheme;
        facts.device.queue_depth = l.depth;
        facts.groups.push_back(std::move(g));
        return;
    }
    const KernelDevice& k = *kernel;
    facts.device.transport = k.transport;
    facts.device.queue_depth = static_cast<unsigned>(k.queue_depth.value_or(0));
    const auto text = [&](const char* key, const char* label, const std::string& value) { if (!value.empty()) g.add(key, label, value); };
    const auto number = [&](const char* key, const char* label, const std::optional<std::uint64_t>& value, const std::string& note = {}) {
        if (value) g.add(key, label, *value, note.empty() ? "" : fmt::format("{} ({})", *value, note));
    };
    text("kernel", "kernel", release);
    text("sg", "sg node", "/dev/" + k.sg);
    if (!k.block.empty()) text("block", "block node", "/dev/" + k.block);
    text("address", "SCSI address", k.address);
    text("driver", "HBA driver", k.host_driver);
    text("transport", "transport", k.transport);
    text("state", "state", k.state);
    number("queue_depth", "queue_depth", k.queue_depth, "the kernel's for this drive; queue_depth in sysfs changes it");
    text("queue_type", "queue type", k.queue_type);
    number("can_queue", "can_queue", k.can_queue, "the HBA's for all of its drives");
    number("max_hw_sectors_kb", "max_hw_sectors_kb", k.queue.max_hw_sectors_kb, "the HBA driver's limit");
    number("max_sectors_kb", "max_sectors_kb", k.queue.max_sectors_kb, "the block layer's; pass-through is not bound by it");
    number("max_segments", "max_segments", k.queue.max_segments, "pieces of memory in one command, the HBA driver's");
    number("sg_tablesize", "sg_tablesize", k.sg_tablesize, "the HBA driver's");
    number("timeout_s", "timeout", k.timeout_s, "seconds, of the block layer's commands");
    text("scheduler", "I/O scheduler", k.queue.scheduler);
    text("cache_type", "cache as the kernel believes", k.cache_type);
    text("zoned", "zoned as the kernel sees it", k.queue.zoned == "none" ? "" : k.queue.zoned);
    if (!k.partitions.empty()) g.add("partitions", "partitions", k.partitions, joined(k.partitions));
    if (!k.holders.empty()) g.add("holders", "held by", k.holders, joined(k.holders));
    ValueList mounts;
    std::vector<std::string> lines;
    for (const Mount& m : k.mounts) {
        mounts.push_back(ValueMap{{"source", m.source}, {"target", m.target}, {"type", m.type}});
        lines.push_back(fmt::format("{} on {} ({})", m.source, m.target, m.type));
    }
    g.add_lines("mounts", "mounted", std::move(mounts), std::move(lines));
    g.add("in_use", "in use", k.in_use(), k.in_use() ? "yes: it is never written to" : "no");
    facts.groups.push_back(std::move(g));
}

}
