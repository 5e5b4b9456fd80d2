#include <doctest/doctest.h>

#include "sgprobe/sim/mechanics.h"
#include "sgprobe/sim/random_drive.h"
#include "workload.h"

using namespace sgprobe;
using namespace sgprobe::sim;
using namespace sgprobe::sim::test;

namespace {
RandomDriveOptions options(std::uint64_t seed) {
    RandomDriveOptions o;
    o.noise = all_noise_kinds[seed % std::size(all_noise_kinds)];
    o.cliffs = static_cast<unsigned>(seed / 7 % 3);
    o.small_cache = seed % 2;
    o.flaky = seed % 5 == 0 ? 0.05 : 0;
    if (seed % 11 == 0) o.limit = PlantedLimit::Kind::sense;
    o.cure = static_cast<unsigned>(seed / 3 % 3);
    return o;
}
Nanoseconds mixed_load(std::uint64_t seed, std::uint64_t& commands) {
    Bench bench(random_drive(seed, options(seed)).model);
    const Blocks all = bench.model.media.blocks;
    const unsigned threads = 1 + static_cast<unsigned>(seed % 16);
    const Moved moved = run(bench, threads, 1, 120, [&](Random& random) {
        const Blocks n = random.between(1, 256);
        return Step{random.chance(0.3), random.below(all - n), n};
    });
    commands = moved.commands;
    return bench.host.now();
}
}

TEST_CASE("in 1,000 random drives every command completes, time never runs back, and the same seed gives the same run") {
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
        std::uint64_t commands = 0, again = 0;
        const Nanoseconds end = mixed_load(seed, commands);
        if (commands != 120) FAIL_CHECK("seed ", seed, ": ", commands, " of 120 commands completed");
        if (seed % 10 == 0 && mixed_load(seed, again) != end) FAIL_CHECK("seed ", seed, ": another run with the same seed ended at another time");
    }
}

TEST_CASE("in 1,000 random drives sequential reads never exceed the media rate, and a cache hit never beats the bus") {
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
        RandomDriveOptions o = options(seed);
        o.flaky = 0;
        o.limit.reset();
        Bench bench(random_drive(seed, o).model);
        const Mechanics mechanics(bench.model.media);
        // What was prefetched before the clock started, and switches that were not met, may come on top: a track's worth.
        const Blocks n = 64 + 64 * (seed % 8), requests = 40 + 4000 / n;
        bench.read(0, n);
        const Nanoseconds begin = bench.host.now();
        for (Blocks i = 1; i <= requests; ++i) bench.read(i * n, n);
        const double bytes = static_cast<double>(requests * n * 512), ns = static_cast<double>((bench.host.now() - begin).count());
        if (bytes > mechanics.media_rate_mb_s(0) * ns / 1e3 + static_cast<double>(mechanics.track_end(0) * 512))
            FAIL_CHECK("seed ", seed, ": ", bytes / ns * 1e3, " MB/s of a medium that gives ", mechanics.media_rate_mb_s(0));
        const Blocks small = std::min<Blocks>(n, bench.model.cache.segment_blocks / 2);
        bench.read(1'000'000, small);
        const double us = static_cast<double>(bench.read(1'000'000, small).latency().count()) / 1e3;
        const double least = static_cast<double>(small) * 512 / bench.model.controller.bus_mb_s;
        if (us < least) FAIL_CHECK("seed ", seed, ": a hit took ", us, " us, the bus ", least);
    }
}

TEST_CASE("a cliff planted in a random drive is where it was planted, and as deep") {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        RandomDriveOptions o;
        o.cliffs = 1 + seed % 2;
        o.noise = NoiseKind::none;
        const RandomDrive drive = random_drive(seed, o);
        for (const PlantedCliff& cliff : drive.cliffs) {
            Bench good(drive.model), bad(drive.model);
            const double before = good.rate_mb_s(cliff.last_good, cliff.last_good * 512 * 200);
            const double after = bad.rate_mb_s(cliff.last_good + 1, (cliff.last_good + 1) * 512 * 200);
            CAPTURE(seed);
            CAPTURE(cliff.last_good);
            CHECK(1 - after / before == doctest::Approx(cliff.drop).epsilon(0.06));
        }
    }
}

TEST_CASE("planted limits and cures work as they say") {
    RandomDriveOptions o;
    o.limit = PlantedLimit::Kind::sense;
    const RandomDrive limited = random_drive(3, o);
    Bench bench(limited.model);
    CHECK(bench.read(0, limited.limit->max_blocks_ok).outcome.good());
    CHECK(bench.read(0, limited.limit->max_blocks_ok + 1).outcome.check_condition());
    o = {};
    o.cliffs = 1;
    o.cure = 2;
    o.noise = NoiseKind::none;
    const RandomDrive cured = random_drive(4, o);
    const Blocks n = cured.cliffs[0].last_good + 1;
    Bench before(cured.model), half(cured.model), whole(cured.model);
    const double slow = before.rate_mb_s(n, n * 512 * 100);
    CHECK(half.set(cured.cure->settings[0].key, cured.cure->settings[0].value) == scsi::Status::good);
    CHECK(half.rate_mb_s(n, n * 512 * 100) == doctest::Approx(slow).epsilon(0.02));
    for (const FieldValue& s : cured.cure->settings) CHECK(whole.set(s.key, s.value) == scsi::Status::good);
    CHECK(whole.rate_mb_s(n, n * 512 * 100) > slow * 1.1);
}
