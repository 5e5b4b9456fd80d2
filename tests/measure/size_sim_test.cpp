#include <doctest/doctest.h>

#include "sgprobe/measure/size.h"
#include "sgprobe/sim/sim.h"
#include "sgprobe/transport/virtual_host.h"

using namespace sgprobe;
using namespace sgprobe::measure;

namespace {
Result size_of(const std::string& name, unsigned seed) {
    VirtualHost host;
    host.add_scheme("sim", [](const DriveSpec& spec) { return sim::make_target(spec); });
    const auto drive = host.open(DriveSpec::parse("sim:" + name + ",seed=" + std::to_string(seed)));
    SizeOptions options;
    options.seed = seed;
    return measure_size(host, *drive, options, {});
}
}

TEST_CASE("size: the simulated Maxtor drives show a cliff at exactly 512 blocks, whatever the seed") {
    for (const auto& [name, seconds] : {std::pair{"atlas15k2-hpm5", 6.0}, {"atlas15k2-hpm7", 6.0}, {"atlas10k5-bp00", 8.0}}) {
        unsigned dear = 0;
        for (unsigned seed = 1; seed <= 100; ++seed) {
            const Result r = size_of(name, seed);
            INFO(name << " seed " << seed << ": " << r.reason);
            REQUIRE(r.cliffs.size() == 1);
            CHECK(r.cliffs[0].last_good == 512);
            CHECK(r.cliffs[0].first_bad == 513);
            dear += r.bytes_transferred > 330'000'000 || *r.virtual_time_s > seconds;
            CHECK(r.cliffs[0].settings.count("DPTL") == 1);
            CHECK(r.cliffs[0].mechanism.find("one lost revolution") != std::string::npos);
        }
        CHECK(dear == 0);
    }
}

TEST_CASE("size: the simulated clean drive is clean, whatever the seed") {
    unsigned dear = 0;
    for (unsigned seed = 1; seed <= 100; ++seed) {
        const Result r = size_of("stm316021", seed);
        INFO("seed " << seed << ": " << r.reason);
        CHECK(r.verdict == Verdict::clean);
        CHECK(r.cliffs.empty());
        dear += r.bytes_transferred > 330'000'000 || *r.virtual_time_s > 6;
    }
    CHECK(dear <= 1);      // goal: none; one seed in a hundred looks twice at the bend where the bus gives way to the media
}
