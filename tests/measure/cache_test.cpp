// What is told by timing, against drives whose inside is known. CACHE_DRIVES sets how many random ones.
#include "sgprobe/measure/cache.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <map>

#include "sgprobe/measure/subject.h"
#include "sgprobe/sim/sim.h"
#include "sgprobe/transport/virtual_host.h"

using namespace sgprobe;
using namespace sgprobe::measure;

namespace {
sim::Model known_drive() {
    DriveSpec spec;
    spec.text = "sim:atlas15k2-hpm5";
    spec.scheme = "sim";
    spec.rest = "atlas15k2-hpm5";
    return sim::load_model(spec);
}

void set_u16(sim::Model& model, std::size_t byte, unsigned value) {
    for (auto& page : model.pages) {
        if (page.code != 0x08) continue;
        for (ByteVector* bytes : {&page.defaults, &page.saved}) {
            if (bytes->size() < byte + 2) continue;
            (*bytes)[byte] = static_cast<std::uint8_t>(value >> 8);
            (*bytes)[byte + 1] = static_cast<std::uint8_t>(value);
        }
    }
}

struct Inside { sim::Model model; Blocks prefetch = 0; };

Inside random_inside(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto between = [&](std::uint64_t low, std::uint64_t high) { return low + random() % (high - low + 1); };
    Inside inside{known_drive(), 0};
    sim::Model& m = inside.model;
    m.seed = seed;
    m.media.rpm = double(between(4200, 15600));
    const double period_us = 60e6 / m.media.rpm;
    m.media.heads = unsigned(between(1, 8));
    m.media.head_switch_us = double(between(200, 700));
    m.media.cylinder_switch_us = m.media.head_switch_us + double(between(50, 300));
    m.media.zones.clear();
    unsigned track = unsigned(between(300, 1400));
    Blocks blocks = 0;
    for (auto zones = between(3, 12); zones > 0; --zones) {
        sim::Zone zone;
        zone.cylinders = between(4000, 9000);
        zone.blocks_per_track = track;
        zone.head_skew_us = m.media.head_switch_us + double(between(20, 200));
        zone.cylinder_skew_us = m.media.cylinder_switch_us + double(between(20, 200));
        blocks += zone.cylinders * m.media.heads * track;
        m.media.zones.push_back(zone);
        track -= track / unsigned(between(20, 60));
    }
    m.media.blocks = blocks;
    m.controller.read_overhead_us = double(between(60, 800));
    m.controller.bus_mb_s = double(between(40, 600));
    m.cache.segments = unsigned(between(2, 24));
    m.cache.segment_blocks = between(300, 4000);
    m.cache.extend_up_to_blocks = ~Blocks{0};
    const Blocks most = between(32, 3000);
    set_u16(m, 4, 0xffff);
    set_u16(m, 6, 0);
    set_u16(m, 8, unsigned(most));
    set_u16(m, 10, 0xffff);
    inside.prefetch = std::min(most, m.cache.segment_blocks - 8);
    (void)period_us;
    return inside;
}

CacheFinding found_of(const sim::Model& model) {
    VirtualHost host;
    const auto drive = host.attach(sim::make_target(model), "sim:random");
    const Subject subject = identify(host, *drive);
    return measure_cache(host, *drive, subject, caching_settings(host, *drive), {});
}

struct Tally { unsigned right = 0, silent = 0, wrong = 0; };
}

TEST_CASE("cache: what the built-in Atlas 15K II holds inside is told by timing") {
    const CacheFinding found = found_of(known_drive());
    const auto is = [&](const char* item, double truth, double within) {
        CAPTURE(item);
        const CacheItem* told = found.find(item);
        REQUIRE(told);
        REQUIRE(told->value);
        CHECK(std::abs(*told->value - truth) <= within);
    };
    is("rotation_period_us", 4000, 0.8);
    is("command_overhead_us", 150, 3);
    is("bus_rate_mb_s", 320, 7);
    is("segments", 6, 0);
    is("segment_blocks", 2640, 0);
    is("prefetch_max_blocks", 512, 0);
    is("track_blocks_outer", 822, 0);
    is("zones", 16, 0);
    is("heads", 8, 0);
    is("track_blocks_inner", 546, 0);
    CHECK(found.bytes_transferred < 2'000'000'000);
    CHECK_FALSE(found.budget_spent);
}

TEST_CASE("cache: random drives are told right, or said not to be told") {
    const char* wanted = std::getenv("CACHE_DRIVES");
    const unsigned drives = wanted ? static_cast<unsigned>(std::strtoul(wanted, nullptr, 10)) : 10;
    std::map<std::string, Tally> tallies;
    for (std::uint64_t seed = 1; seed <= drives; ++seed) {
        const Inside inside = random_inside(seed);
        const sim::Model& m = inside.model;
        const CacheFinding found = found_of(m);
        const auto judge = [&](const char* item, double truth, double within) {
            Tally& tally = tallies[item];
            const CacheItem* told = found.find(item);
            if (!told || !told->value) { ++tally.silent; return; }
            if (std::abs(*told->value - truth) <= within) { ++tally.right; return; }
            ++tally.wrong;
            MESSAGE(fmt::format("seed {}: {} is {}, told {} ({} - {})", seed, item, truth, *told->value, *told->low, *told->high));
        };
        judge("rotation_period_us", 60e6 / m.media.rpm, 60e6 / m.media.rpm * 2e-4);
        judge("command_overhead_us", m.controller.read_overhead_us, std::max(5.0, m.controller.read_overhead_us * 0.02));
        judge("bus_rate_mb_s", m.controller.bus_mb_s, m.controller.bus_mb_s * 0.03);
        judge("segments", m.cache.segments, 0);
        judge("segment_blocks", double(m.cache.segment_blocks), 0);
        judge("prefetch_max_blocks", double(inside.prefetch), 0);
        judge("heads", m.media.heads, 0);
        judge("zones", double(m.media.zones.size()), 0);
        Lba border = 0;
        for (std::size_t i = 0; i < found.track_zones.size(); ++i) {
            border += m.media.zones[std::min(i, m.media.zones.size() - 1)].cylinders * m.media.heads * m.media.zones[std::min(i, m.media.zones.size() - 1)].blocks_per_track;
            Tally& tally = tallies["zone borders"];
            if (found.track_zones[i].end == border) { ++tally.right; continue; }
            ++tally.wrong;
            MESSAGE(fmt::format("seed {}: zone {} ends at {}, told {}", seed, i, border, found.track_zones[i].end));
        }
        judge("track_blocks_outer", m.media.zones.front().blocks_per_track, 0);
        judge("track_blocks_inner", m.media.zones.back().blocks_per_track, 0);
    }
    for (const auto& [item, tally] : tallies) {
        if (wanted) fmt::print("{:22} {:4} right {:4} not told {:4} wrong\n", item, tally.right, tally.silent, tally.wrong);
        CAPTURE(item);
        CHECK(tally.wrong * 100 <= drives);
        if (drives >= 100 && item != "heads") CHECK(tally.right * 100 >= drives * 95);
    }
}
