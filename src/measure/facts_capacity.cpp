// READ CAPACITY; VPD B0h, B1h and B2h: how much, in what blocks, on what medium.
#include <fmt/format.h>

#include <algorithm>

#include "facts_parts.h"
#include "sgprobe/scsi/inquiry.h"

namespace sgprobe::measure {
namespace {

std::string protection(const scsi::Capacity& c) {
    if (!c.protection_enabled) return "none";
    const std::string text = fmt::format("type {}", c.protection_type);
    if (c.protection_type != 2) return text + ": 8 bytes are added to each block where RDPROTECT asks for them";
    return text + ": READ(10), (12) and (16) may be refused with \"invalid command operation code\", which is no fault of the drive; it takes READ(32)";
}

// SBC-4 table 212.
std::string form_factor(std::uint8_t value) {
    constexpr const char* names[] = {"not reported", "5.25 inch", "3.5 inch", "2.5 inch", "1.8 inch", "less than 1.8 inch"};
    return value < std::size(names) ? names[value] : fmt::format("code {}", value);
}

std::string zoned(std::uint8_t value) { return value == 0 ? "no" : value == 1 ? "host aware" : value == 2 ? "device managed" : "reserved code"; }

std::string blocks_text(Blocks blocks, Bytes block_bytes) { return block_bytes ? fmt::format("{} blocks ({} KiB)", blocks, blocks * block_bytes / 1024) : fmt::format("{} blocks", blocks); }

}

void add_capacity(Facts& facts, Inquirer& inquirer) {
    const CapacityReply reply = inquirer.capacity();
    keep_problems(facts, reply, "READ CAPACITY");
    FactGroup g{"capacity", "Capacity", {}};
    const scsi::Capacity& c = reply.capacity;
    if (!reply || !c.blocks || !c.block_bytes) {
        g.add("reason", "not known", reply.reason.empty() ? std::string("the drive does not say") : reply.reason);
        facts.groups.push_back(std::move(g));
        return;
    }
    auto& d = facts.device;
    d.blocks = *c.blocks;
    d.block_bytes = *c.block_bytes;
    d.physical_block_bytes = d.block_bytes << std::min(c.physical_exponent, 15u);
    g.add("bytes", "size", d.blocks * d.block_bytes, fmt::format("{} bytes ({:.1f} GB)", d.blocks * d.block_bytes, static_cast<double>(d.blocks * d.block_bytes) / 1e9));
    g.add("blocks", "logical blocks", d.blocks);
    g.add("block_bytes", "logical block", d.block_bytes, fmt::format("{} bytes", d.block_bytes));
    g.add("physical_block_bytes", "physical block", d.physical_block_bytes, fmt::format("{} bytes", d.physical_block_bytes));
    if (c.lowest_aligned && *c.lowest_aligned) g.add("lowest_aligned", "first aligned block", static_cast<unsigned>(*c.lowest_aligned));
    g.add("protection_type", "protection information", c.protection_enabled ? static_cast<unsigned>(c.protection_type) : 0u, protection(c));
    if (c.lbpme) g.add("lbpme", "logical blocks are mapped as they are written (LBPME)", true, c.lbprz ? "yes; unmapped ones read as zeros" : "yes");
    facts.groups.push_back(std::move(g));
}

void add_medium(Facts& facts, Inquirer& inquirer) {
    const auto pages = inquirer.vpd_pages();
    const auto ask = [&](std::uint8_t page) {
        if (std::find(pages.begin(), pages.end(), page) == pages.end()) return Reply{};
        Reply reply = inquirer.vpd(page);
        keep_problems(facts, reply, fmt::format("VPD {:02x}h", page));
        return reply;
    };
    FactGroup medium{"medium", "Medium", {}}, limits{"block_limits", "Limits that the drive declares (VPD B0h)", {}};
    if (const Reply reply = ask(0xb1)) {
        const auto b1 = scsi::parse_vpd_block_characteristics(reply.bytes).value;
        facts.device.rotation_rpm = b1.rotation_rpm ? std::optional<unsigned>(*b1.rotation_rpm) : std::nullopt;
        if (b1.rotation_rpm) medium.add("rotation_rpm", "rotation", static_cast<unsigned>(*b1.rotation_rpm), *b1.rotation_rpm == 1 ? "none: it does not rotate" : fmt::format("{} rpm ({:.2f} ms)", *b1.rotation_rpm, 60e3 / *b1.rotation_rpm));
        if (b1.form_factor) medium.add("form_factor", "form factor", static_cast<unsigned>(*b1.form_factor), form_factor(*b1.form_factor));
        if (b1.zoned) medium.add("zoned", "zoned", static_cast<unsigned>(*b1.zoned), zoned(*b1.zoned));
    }
    if (const Reply reply = ask(0xb2)) {
        const auto b2 = scsi::parse_vpd_provisioning(reply.bytes).value;
        constexpr const char* kinds[] = {"fully provisioned, or not reported", "resource provisioned", "thin provisioned"};
        medium.add("provisioning_type", "provisioning", static_cast<unsigned>(b2.type), b2.type < std::size(kinds) ? kinds[b2.type] : fmt::format("code {}", b2.type));
        medium.add("unmap", "takes UNMAP", b2.lbpu);
    }
    if (const Reply reply = ask(0xb0)) {
        const auto b0 = scsi::parse_vpd_block_limits(reply.bytes).value;
        const auto add = [&](const char* key, const char* label, const std::optional<Blocks>& blocks) {
            if (blocks) limits.add(key, label, *blocks, blocks_text(*blocks, facts.device.block_bytes));
        };
        add("max_transfer_blocks", "greatest transfer", b0.max_transfer);
        add("optimal_transfer_blocks", "optimal transfer", b0.optimal_transfer);
        add("optimal_granularity_blocks", "optimal granularity", b0.optimal_granularity);
        add("max_prefetch_blocks", "greatest prefetch", b0.max_prefetch);
        if (b0.transfer_is_placeholder) facts.notes.push_back("VPD B0h: the transfer lengths look like placeholders; sgprobe limits finds the real ones");
    }
    facts.groups.push_back(std::move(medium));
    facts.groups.push_back(std::move(limits));
}

}
