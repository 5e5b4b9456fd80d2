#include "sgprobe/measure/limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "sgprobe/measure/limit_attribution.h"
#include "sgprobe/measure/limit_borders.h"
#include "sgprobe/measure/limit_probe.h"
#include "sgprobe/measure/limit_write.h"
#include "sgprobe/transport/describe.h"
#include "sgprobe/transport/failure.h"
#include "sgprobe/transport/other_nodes.h"

namespace sgprobe::measure {
namespace {
constexpr Bytes greatest_try_bytes = Bytes{256} << 20;     // no host takes more in one command
constexpr Blocks spared_blocks = 8;                        // at the end of disks that crash there

class Run {
public:
    Run(Host& host, Drive& drive, const LimitsOptions& options)
        : options_(options), drive_(host, drive, options, finding_), host_facts_(options.host) {}

    LimitsFinding run() {
        const LimitFacts& facts = drive_.learn();
        finding_.declared = facts.declared;
        finding_.device = device();
        finding_.blocks = facts.blocks;
        finding_.block_bytes = facts.block_bytes;
        if (drive_.host().is_virtual()) host_facts_.max_transfer_bytes = drive_.drive().limits().max_transfer_bytes;
        finding_.host = host_facts_;
        if (options_.start && *options_.start >= facts.blocks)
            throw Failure(ExitStatus::contradiction, fmt::format("{}: --start {} lies past the end: the disk has {} blocks", drive_.drive().name(), *options_.start, facts.blocks));
        LimitProbe probe(drive_, options_);
        probe.choose_place(std::min<Blocks>(facts.blocks, Blocks{65536} * 512 / facts.block_bytes + 1));
        finding_.start = probe.start();
        const auto wanted = opcodes();
        for (std::size_t i = 0; i < wanted.size(); ++i) try_opcode(probe, *wanted[i], i, wanted.size());
        if (options_.write) try_writes();
        if (options_.borders && !drive_.over()) finding_.borders = read_across_borders(drive_, wanted);
        for (const AddressBorder& border : finding_.borders)
            if (!border.passes) finding_.notes.push_back(fmt::format("{} across block {} ({}): {}", border.opcode, border.lba, border.border, border.outcome));
        if (probe.residual_lies()) finding_.notes.push_back("the residual count is unreliable: data that it calls missing arrived whole");
        finding_.notes.insert(finding_.notes.end(), probe.notes().begin(), probe.notes().end());
        if (finding_.unit_attentions > 0) finding_.notes.push_back(fmt::format("{} unit attention{} during the run", finding_.unit_attentions, finding_.unit_attentions == 1 ? "" : "s"));
        if (finding_.gone) finding_.notes.push_back("the drive is gone: " + *finding_.gone);
        return std::move(finding_);
    }

private:
    DeviceIdentity device() const {
        const LimitFacts& facts = drive_.facts();
        DeviceIdentity device;
        device.path = drive_.drive().name();
        device.vendor = scsi::trimmed(facts.inquiry.vendor.value_or(""));
        device.product = scsi::trimmed(facts.inquiry.product.value_or(""));
        device.revision = scsi::trimmed(facts.inquiry.revision.value_or(""));
        device.serial = facts.serial;
        device.blocks = facts.blocks;
        device.block_bytes = device.physical_block_bytes = facts.block_bytes;
        device.rotation_rpm = facts.rotation_rpm;
        device.queue_depth = drive_.drive().limits().depth;
        const std::string& scheme = drive_.drive().spec().scheme;
        device.transport = scheme == "sim" ? "simulated" : scheme == "pipe" ? "pipe" : "";
        return device;
    }

    std::vector<const LimitOpcode*> opcodes() const {
        std::vector<const LimitOpcode*> wanted;
        for (const std::string& name : options_.opcodes) {
            const LimitOpcode* opcode = find_limit_opcode(name);
            if (!opcode) throw Failure(ExitStatus::syntax, fmt::format("\"{}\" is no opcode whose limit can be looked for", name));
            wanted.push_back(opcode);
        }
        if (!wanted.empty()) return wanted;
        for (const LimitOpcode& opcode : limit_opcodes())
            if (!opcode.write && (opcode.scsi || drive_.facts().ata)) wanted.push_back(&opcode);
        return wanted;
    }

    SearchPlan plan(const LimitProbe& probe, const LimitOpcode& opcode, std::size_t still_to_come) const {
        const Bytes block = drive_.facts().block_bytes;
        SearchPlan plan;
        plan.seed = options_.seed;
        const Blocks room = options_.spare_last_blocks ? std::max<Blocks>(1, probe.room() - std::min(probe.room() - 1, spared_blocks)) : probe.room() + 1;
        plan.top = std::max<Blocks>(1, std::min({opcode.greatest, room, greatest_try_bytes / block}));
        plan.likely = {240 * 512 / block, 8191 * 512 / block, 65535 * 512 / block, probe.room()};
        if (const auto declared = drive_.facts().declared.vpd_b0_max_blocks) plan.likely.push_back(*declared);
        if (const Bytes host = drive_.drive().limits().max_transfer_bytes) {
            plan.likely.push_back(host / block);
            plan.top = std::min(plan.top, host / block + 1);
        }
        const unsigned left = drive_.max_timeouts() - std::min(drive_.max_timeouts(), finding_.time_outs + disconnects_);
        // Every opcode still to come needs one time-out to show its own edge.
        const unsigned kept = drive_.max_timeouts() >= 8 ? static_cast<unsigned>(still_to_come) : 0;
        plan.costly = left > kept ? left - kept : std::min(left, 1u);
        if (known_) plan.hint = std::min(known_->max_ok, plan.top);
        return plan;
    }

    std::string why_stopped(const LimitProbe& probe) const {
        if (probe.bad_block()) return fmt::format("block {} cannot be read (a fault of the medium)", *probe.bad_block());
        if (finding_.interrupted) return "the run was interrupted";
        if (finding_.gone) return "the drive is gone";
        if (finding_.budget_spent) return "the budget (--budget) was spent";
        return "the time-outs allowed (--max-timeouts) were used up";
    }

    void try_opcode(LimitProbe& probe, const LimitOpcode& opcode, std::size_t index, std::size_t count) {
        OpcodeLimit limit;
        limit.opcode = opcode.name;
        SearchPlan search_plan = plan(probe, opcode, count - 1 - index);
        const Blocks top = search_plan.top;
        const bool spent = search_plan.costly == 0 && known_;
        if (spent) search_plan.top = std::min(top, std::max<Blocks>(1, known_->max_ok));
        if (drive_.over() || probe.start() > opcode.greatest_lba || !build(opcode, probe.start(), 1, drive_.facts().block_bytes)) {
            limit.tried = false;
            limit.detail = probe.start() > opcode.greatest_lba ? fmt::format("{} cannot address block {}", opcode.name, probe.start())
                                                               : fmt::format("{} was not tried: {}", opcode.name, why_stopped(probe));
            finding_.opcodes.push_back(std::move(limit));
            return;
        }
        search(probe, opcode, search_plan, limit, index, count);
        LimitCase seen;
        seen.opcode = limit.opcode;
        seen.found = limit.found;
        seen.cdb_greatest = opcode.greatest;
        seen.room = probe.room();
        seen.tried_up_to = limit.found.first_failing.value_or(limit.found.max_ok);
        seen.why_stopped = why_stopped(probe);
        seen.buffer = buffer_;
        if (spent && !limit.found.first_failing && limit.found.max_ok < top) seen.found.stopped = true, seen.found.exact = limit.found.exact = false;
        if (limit.found.first_failing) {
            seen.out_of_range = probe.out_of_range(*limit.found.first_failing);
            seen.os_errno = probe.refusal(*limit.found.first_failing);
            seen.what = limit.what = probe.what(*limit.found.first_failing);
        } else if (limit.found.max_ok > probe.room()) {
            finding_.notes.push_back(fmt::format("{} reads past the end of the disk as its capacity has it", opcode.name));
            seen.found.max_ok = limit.found.max_ok = seen.tried_up_to = probe.room();
        }
        if (index == 0) {
            other_node(probe, opcode, limit, "block node", options_.block_node, false);
            other_node(probe, opcode, limit, "bsg", options_.bsg_node, true);
            if (limit.paths.size() > 0 && limit.found.failing != Failing::host) limit.paths.insert(limit.paths.begin(), path(probe, limit.found, buffer_));
        }
        const LimitVerdict verdict = attribute(seen, drive_.facts(), host_facts_);
        limit.layer = verdict.layer;
        limit.host_limit = verdict.host_limit;
        limit.detail = verdict.detail;
        limit.content_checked = probe.telling(std::min(limit.found.max_ok, probe.room()));
        if (limit.found.strays > 0)
            finding_.notes.push_back(fmt::format("{}: {} of {} commands of lengths that work failed all the same: no limit, but the drive or its link is not sound",
                                                 opcode.name, limit.found.strays, limit.found.stray_base));
        if (!opcode.write && limit.found.max_ok > 0) known_ = limit.found;
        finding_.opcodes.push_back(std::move(limit));
    }

    void try_writes() {
        const Bytes block = drive_.facts().block_bytes;
        if (options_.write_blocks == 0 || options_.write_first >= drive_.facts().blocks || options_.write_blocks > drive_.facts().blocks - options_.write_first)
            throw Failure(ExitStatus::contradiction, fmt::format("{}: the range to write ({} blocks from {}) does not lie on the disk", drive_.drive().name(), options_.write_blocks, options_.write_first));
        LimitWriteProbe probe(drive_, options_.write_first, options_.write_blocks, known_ ? known_->max_ok : 1);
        const SearchFinding reads = known_.value_or(SearchFinding{});
        for (const LimitOpcode& opcode : limit_opcodes()) {
            if (!opcode.write || drive_.over() || !build(opcode, options_.write_first, 1, block)) continue;
            SearchPlan plan;
            plan.seed = options_.seed;
            plan.top = std::min({opcode.greatest, options_.write_blocks, greatest_try_bytes / block});
            if (const Bytes host = drive_.drive().limits().max_transfer_bytes) plan.top = std::min(plan.top, host / block + 1);
            plan.costly = drive_.max_timeouts() - std::min(drive_.max_timeouts(), finding_.time_outs + disconnects_);
            if (reads.max_ok > 0) plan.hint = std::min(reads.max_ok, plan.top);
            if (plan.costly == 0) break;
            OpcodeLimit limit;
            limit.opcode = opcode.name;
            limit.found = LimitSearch(plan, [&](Blocks length) {
                if (options_.progress) options_.progress(1, Nanoseconds(0), fmt::format("{}: {} blocks", opcode.name, length));
                return probe.send(opcode, length, buffer_);
            }).run();
            LimitCase seen;
            seen.opcode = limit.opcode;
            seen.found = limit.found;
            seen.cdb_greatest = opcode.greatest;
            seen.room = options_.write_blocks;
            seen.range_given = true;
            seen.tried_up_to = limit.found.first_failing.value_or(limit.found.max_ok);
            seen.why_stopped = finding_.interrupted ? "the run was interrupted" : finding_.gone ? "the drive is gone" : finding_.budget_spent ? "the budget (--budget) was spent" : "the time-outs allowed (--max-timeouts) were used up";
            seen.buffer = buffer_;
            if (limit.found.first_failing) {
                seen.os_errno = probe.refusal(*limit.found.first_failing);
                seen.what = limit.what = probe.what(*limit.found.first_failing);
            }
            const LimitVerdict verdict = attribute(seen, drive_.facts(), host_facts_);
            limit.layer = verdict.layer;
            limit.host_limit = verdict.host_limit;
            limit.detail = verdict.detail;
            limit.content_checked = true;
            finding_.opcodes.push_back(std::move(limit));
        }
        finding_.notes.push_back(probe.restore() ? fmt::format("blocks {} to {} were written over and hold again what they held", options_.write_first, options_.write_first + options_.write_blocks - 1)
                                                 : "the range written does not hold again what it held: " + probe.complaint());
    }

    void search(LimitProbe& probe, const LimitOpcode& opcode, const SearchPlan& search_plan, OpcodeLimit& limit, std::size_t index, std::size_t count) {
        probe.begin_opcode();
        limit.found = search_with(probe, opcode, search_plan, buffer_, index, count);
        if (limit.found.failing != Failing::host) return;
        // The system refused: another kind of buffer may go further.
        const auto& kinds = drive_.drive().limits().buffer_kinds;
        if (kinds.size() > 1 && index == 0) limit.paths.push_back(path(probe, limit.found, buffer_));
        for (const BufferKind kind : kinds) {
            if (index > 0) break;                     // which kind goes furthest is known by then
            if (kind == buffer_ || drive_.over()) continue;
            SearchPlan again = search_plan;
            again.hint = std::min(limit.found.max_ok, search_plan.top);
            const SearchFinding found = search_with(probe, opcode, again, kind, index, count);
            limit.paths.push_back(path(probe, found, kind));
            if (found.max_ok > limit.found.max_ok || (found.max_ok == limit.found.max_ok && found.failing != Failing::host)) {
                limit.found = found;
                buffer_ = kind;
            }
        }
    }

    // How far the same command goes through another node. Never further than is known to be safe for the drive.
    void other_node(const LimitProbe& probe, const LimitOpcode& opcode, OpcodeLimit& limit, const char* label, const std::string& node_path, bool bsg) {
        if (node_path.empty() || limit.found.max_ok == 0 || drive_.over()) return;
        OtherNode node(node_path, bsg);
        if (!node.opened()) return;
        const Bytes block = drive_.facts().block_bytes;
        SearchPlan plan;
        plan.top = limit.found.failing == Failing::host ? *limit.found.first_failing : limit.found.max_ok;
        plan.costly = 1;
        plan.hint = limit.found.max_ok;
        std::string what;
        int os_errno = 0;
        Buffer data = Buffer::allocate(plan.top * block);
        const SearchFinding found = LimitSearch(plan, [&](Blocks length) -> Attempt {
            if (drive_.over()) return {Failing::none, true, false};
            const Outcome outcome = node.read(*build(opcode, probe.start(), length, block), data.bytes().first(length * block), drive_.host().timeout());
            ++finding_.commands;
            if (outcome.good()) return {};
            Completion completion;
            completion.outcome = outcome;
            what = describe(completion);
            os_errno = outcome.os_errno;
            return {outcome.kind == Outcome::Kind::os_refusal ? Failing::host : outcome.kind == Outcome::Kind::time_out ? Failing::time_out : Failing::adapter};
        }).run();
        LimitPath path{label, BufferKind::direct, found.max_ok, found.first_failing, found.first_failing ? what : "", ""};
        if (found.failing == Failing::host) {
            const HostCause cause = host_cause({found.max_ok * block, *found.first_failing * block, os_errno, BufferKind::direct}, host_facts_);
            path.limit = cause.limit.empty() ? "" : fmt::format("{}: {}", cause.limit, cause.arithmetic);
        }
        limit.paths.push_back(std::move(path));
    }

    LimitPath path(const LimitProbe& probe, const SearchFinding& found, BufferKind kind) const {
        LimitPath path;
        path.node = "sg";
        path.buffer = kind;
        path.max_blocks_ok = found.max_ok;
        path.first_failing = found.first_failing;
        if (!found.first_failing) return path;
        path.failure = probe.what(*found.first_failing);
        const Bytes block = drive_.facts().block_bytes;
        if (found.failing == Failing::host) {
            const HostCause cause = host_cause({found.max_ok * block, *found.first_failing * block, probe.refusal(*found.first_failing), kind}, host_facts_);
            path.limit = cause.limit.empty() ? "" : fmt::format("{}: {}", cause.limit, cause.arithmetic);
        }
        return path;
    }

    SearchFinding search_with(LimitProbe& probe, const LimitOpcode& opcode, const SearchPlan& search_plan, BufferKind kind, std::size_t index, std::size_t count) {
        unsigned sent = 0;
        const SearchFinding found = LimitSearch(search_plan, [&](Blocks length) {
            if (options_.progress) {
                const double done = std::min(1.0, ++sent / 150.0);
                options_.progress((double(index) + done) / double(count), Nanoseconds(0), fmt::format("{}: {} blocks", opcode.name, length));
            }
            return probe.send(opcode, length, kind);
        }).run();
        if (found.failing == Failing::disconnect) disconnects_ += found.costly;
        return found;
    }

    const LimitsOptions& options_;
    LimitsFinding finding_;
    LimitDrive drive_;
    HostFacts host_facts_;
    std::optional<SearchFinding> known_;        // of the READ before
    BufferKind buffer_ = BufferKind::indirect;
    unsigned disconnects_ = 0;
};
}

std::string_view name(LimitLayer layer) {
    static constexpr std::string_view names[] = {"drive", "host", "transport", "declared", "cdb", "capacity"};
    return names[static_cast<std::size_t>(layer)];
}

std::string_view name(Failing failing) {
    static constexpr std::string_view names[] = {"none", "sense", "timeout", "corruption", "host", "disconnect", "host"};
    return names[static_cast<std::size_t>(failing)];
}

std::string_view name(BufferKind kind) {
    static constexpr std::string_view names[] = {"indirect", "mmap", "direct", "huge"};
    return names[static_cast<std::size_t>(kind)];
}

LimitsFinding measure_limits(Host& host, Drive& drive, const LimitsOptions& options) { return Run(host, drive, options).run(); }

}
