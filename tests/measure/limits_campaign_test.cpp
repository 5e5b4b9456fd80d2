// Random drives, each with one limit somewhere or with none: the right layer and the right block. TRUTH_DRIVES sets how many.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>

#include "scripted_disk.h"
#include "sgprobe/measure/limits.h"
#include "sgprobe/transport/virtual_host.h"

using namespace sgprobe;
using namespace sgprobe::measure;
using sgprobe::testing::Damage;
using sgprobe::testing::DiskRules;

namespace {
struct Expected { Blocks max_ok = 0; std::optional<Blocks> first_failing; Failing failing = Failing::none; LimitLayer layer = LimitLayer::cdb; };

struct RandomDrive {
    DiskRules rules;
    Bytes host_bytes = 4u << 20;
    std::string kind, opcode;
    Expected expected;
};

RandomDrive random_drive(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t n) { return random() % n; };
    RandomDrive d;
    DiskRules& r = d.rules;
    r.seed = seed;
    r.block_bytes = std::array<Bytes, 4>{512, 512, 520, 4096}[below(4)];
    d.opcode = std::array{"READ(10)", "READ(12)", "READ(16)"}[below(3)];
    if (below(20) == 0) d.host_bytes = 32u << 20;
    const Blocks host = d.host_bytes / r.block_bytes;
    const Blocks cdb = d.opcode == "READ(10)" ? 65535 : ~Blocks{0};
    d.expected = host < cdb ? Expected{host, host + 1, Failing::host, LimitLayer::host} : Expected{cdb, {}, Failing::none, LimitLayer::cdb};
    const Blocks most = std::min(host, cdb) - 1;
    // Lengths are spread over the decades, and a third of them are round.
    const Blocks limit = std::max<Blocks>(1, below(3) == 0 ? std::min<Blocks>(most, Blocks{1} << below(17)) : below(most >> below(8)) + 1);
    switch (below(8)) {
    case 0: d.kind = "no limit"; return d;
    case 1: d.kind = "one in twenty fails"; r.stray = 0.05; return d;
    case 2: d.kind = "end of the disk"; r.blocks = limit; d.expected = {r.blocks, r.blocks + 1, Failing::sense, LimitLayer::capacity}; return d;
    default: break;
    }
    r.limit = limit;
    r.failing = std::array{Failing::sense, Failing::time_out, Failing::corruption, Failing::disconnect}[below(4)];
    r.damage = static_cast<Damage>(below(6));
    d.kind = std::string(name(r.failing));
    if (below(4) == 0 && r.failing != Failing::disconnect) { r.rate = 0.5; d.kind += ", now and then"; }
    else if (below(6) == 0 && r.failing == Failing::sense) { r.stray = 0.05; d.kind += ", beside one in twenty"; }
    if (r.failing == Failing::time_out && below(3) == 0) r.late = std::chrono::seconds(70);
    if ((r.failing == Failing::time_out || r.failing == Failing::sense) && below(4) == 0) { r.reset_after = true; d.kind += ", with a reset"; }
    d.expected = {limit, limit + 1, r.failing, LimitLayer::drive};
    if (const auto lie = below(5); lie == 0) { r.declared = limit; d.expected.layer = LimitLayer::declared; }
    else if (lie == 1) r.declared = limit + 1 + below(1000);
    else if (lie == 2 && limit > 2) r.declared = 1 + below(limit - 1);
    return d;
}

std::string judged(const RandomDrive& d) {
    VirtualHostOptions host_options;
    host_options.max_transfer_bytes = d.host_bytes;
    VirtualHost host(host_options);
    host.add_scheme("scripted", [&](const DriveSpec&) { return std::make_unique<sgprobe::testing::ScriptedDisk>(d.rules); });
    DriveSpec spec;
    spec.text = "scripted:disk";
    spec.scheme = "scripted";
    const auto drive = host.open(spec);
    LimitsOptions options;
    options.opcodes = {d.opcode};
    const LimitsFinding finding = measure_limits(host, *drive, options);
    const OpcodeLimit& limit = finding.opcodes.front();
    const Expected& e = d.expected;
    if (finding.time_outs > 12) return fmt::format("{} time-outs", finding.time_outs);
    if (limit.found.max_ok == e.max_ok && limit.found.first_failing == e.first_failing && limit.found.failing == e.failing && limit.layer == e.layer) return "";
    return fmt::format("expected {} {} {}, found {} to {} {} {}: {}", e.max_ok, name(e.failing), name(e.layer), limit.found.max_ok,
                       limit.found.first_failing.value_or(0), name(limit.found.failing), name(limit.layer), limit.detail);
}
}

TEST_CASE("limits: random drives, right layer and right block") {
    const char* wanted = std::getenv("TRUTH_DRIVES");
    const unsigned drives = wanted ? static_cast<unsigned>(std::strtoul(wanted, nullptr, 10)) : 20;
    struct Row { unsigned drives = 0, wrong = 0; };
    std::map<std::string, Row> rows;
    unsigned wrong = 0;
    for (std::uint64_t seed = 1; seed <= drives; ++seed) {
        const RandomDrive d = random_drive(seed);
        const std::string complaint = judged(d);
        Row& row = rows[d.kind];
        ++row.drives;
        if (complaint.empty()) continue;
        ++row.wrong, ++wrong;
        MESSAGE(fmt::format("seed {} ({}, {}-byte blocks, limit {}): {}", seed, d.kind, d.rules.block_bytes, d.rules.limit, complaint));
    }
    if (wanted) for (const auto& [kind, row] : rows) fmt::print("{:44} {:6} drives {:4} wrong\n", kind, row.drives, row.wrong);
    CHECK(wrong * 1000 <= drives);
}
