// What was chosen for the built-in drives that nobody published figures of, and for the rest what follows from their files.
// Published figures: published_sizes_test.cpp, published_queues_test.cpp.
#include <doctest/doctest.h>

#include "workload.h"

using namespace sgprobe;
using namespace sgprobe::sim;
using namespace sgprobe::sim::test;

namespace {
enum class What { sequential_mb_s, queued_mb_s, random_ms, reread_us };
struct Row { const char* drive; What what; Blocks blocks; double value, tolerance; };
constexpr Row rows[] = {
    {"atlas15k2-hpm5", What::reread_us, 8, 183, 0.03},      // 150 + 13 by the bus + 20 of the host
    {"atlas15k2-hpm5", What::random_ms, 8, 5.8, 0.08},
    {"atlas15k2-hpm7", What::reread_us, 8, 183, 0.03},
    {"atlas10k5-bp00", What::random_ms, 8, 7.4, 0.08},
    {"stm316021", What::random_ms, 8, 13.0, 0.08},
    {"st3250620as", What::reread_us, 8, 309, 0.03},
    {"wd740adfd", What::random_ms, 8, 7.6, 0.08},
    {"atlas2-lxy4", What::sequential_mb_s, 128, 13.7, 0.02},
    {"ultra2-pair-a", What::sequential_mb_s, 128, 13.7, 0.02},
    {"ultra2-pair-b", What::sequential_mb_s, 128, 13.7, 0.02},
    {"tcq-15k", What::sequential_mb_s, 128, 95.6, 0.02},
    {"tcq-15k", What::random_ms, 8, 5.6, 0.08},
    {"sata-ssd", What::sequential_mb_s, 256, 372, 0.03},
    {"sata-ssd", What::queued_mb_s, 256, 530, 0.03},
    {"sata-ssd", What::random_ms, 8, 0.12, 0.10},
    {"sas-4kn", What::sequential_mb_s, 128, 201.6, 0.02},
    {"sas-512e", What::sequential_mb_s, 512, 135.0, 0.02},
    {"sas-520", What::sequential_mb_s, 512, 105.0, 0.02},
    {"sas-6tb", What::sequential_mb_s, 512, 180.1, 0.02},
};
double simulated(const Row& row) {
    Bench bench(std::string("sim:") + row.drive);
    const unsigned depth = row.what == What::queued_mb_s ? 8 : 1;
    const Blocks mapped = bench.model.media.blocks * 3 / 4;
    switch (row.what) {
        case What::sequential_mb_s: case What::queued_mb_s: return run(bench, depth, 1, 4000, sequential(false, row.blocks)).read_mb_s;
        case What::random_ms: return run(bench, 1, 1, 3000, random_all_over(0, row.blocks, bench.model.identity.ata && !bench.model.media.rotating ? mapped : bench.model.media.blocks)).mean_latency_us / 1e3;
        case What::reread_us: break;
    }
    bench.read(1000, row.blocks);
    const Nanoseconds begin = bench.host.now();
    for (int i = 0; i < 100; ++i) bench.read(1000, row.blocks);
    return static_cast<double>((bench.host.now() - begin).count()) / 1e5;
}
}

TEST_CASE("every built-in drive is as it was chosen to be") {
    for (const BuiltinDrive& drive : builtin_drives())
        CHECK_MESSAGE(std::any_of(std::begin(rows), std::end(rows), [&](const Row& r) { return drive.name == r.drive; }), drive.name, " has no row");
    for (const Row& row : rows) {
        CAPTURE(row.drive);
        CAPTURE(static_cast<int>(row.what));
        CHECK(simulated(row) == doctest::Approx(row.value).epsilon(row.tolerance));
    }
}

TEST_CASE("the built-in drives without a cliff lose nothing however long the requests are") {
    for (const char* name : {"stm316021", "st3250620as", "wd740adfd", "atlas2-lxy4", "tcq-15k", "sas-4kn", "sas-512e", "sas-520", "sas-6tb"}) {
        CAPTURE(name);
        double before = 0;
        for (const Blocks n : {256u, 512u, 700u, 983u, 1024u, 1500u, 1983u, 2048u, 4096u}) {
            Bench bench(std::string("sim:") + name + ",noise=0");
            const double rate = bench.rate_mb_s(n, 100'000'000);
            CAPTURE(n);
            CHECK(rate > before * 0.99);
            before = rate;
        }
    }
}

TEST_CASE("a write of a part of a physical block costs sas-512e a turn more") {
    Bench whole("sim:sas-512e,noise=0"), part("sim:sas-512e,noise=0");
    auto latency = [](Bench& bench, Lba shift) {
        return run(bench, 1, 1, 400, [=](Random& random) { return Step{true, random.below(200'000'000) * 8 + shift, 8}; }).mean_latency_us;
    };
    CHECK(latency(part, 1) - latency(whole, 0) == doctest::Approx(8333).epsilon(0.08));
}

TEST_CASE("without fixed segments a cache keeps many short streams or few long ones") {
    auto hits = [](bool adaptive, unsigned streams, Blocks n) {
        Model model = Bench("sim:tcq-15k,noise=0").model;
        model.cache.segments = 4;
        model.cache.segment_blocks = 1024;
        model.cache.adaptive = adaptive;
        Bench bench(model);
        bench.set("DRA", 1);
        for (unsigned i = 0; i < streams; ++i) bench.read(i * 1'000'000, n);
        unsigned count = 0;
        const double hit_us = 120 + static_cast<double>(n) * 512 / 320;
        for (unsigned i = 0; i < streams; ++i) count += static_cast<double>(bench.read(i * 1'000'000, n).latency().count()) < hit_us * 1100;
        return count;
    };
    CHECK(hits(false, 4, 64) == 4);
    CHECK(hits(false, 5, 64) == 0);                  // the one not used for longest goes, and is asked for next
    CHECK(hits(true, 32, 64) == 32);
    CHECK(hits(true, 2, 1500) == 2);
    CHECK(hits(false, 2, 1500) == 0);
}
