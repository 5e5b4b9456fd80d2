#include "sgprobe/measure/depth.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sgprobe/pages/transaction.h"
#include "sgprobe/sim/sim.h"
#include "sgprobe/transport/failure.h"
#include "sgprobe/transport/virtual_host.h"

using namespace sgprobe;
using namespace sgprobe::measure;

namespace {

struct Bench {
    VirtualHost host;
    std::unique_ptr<Drive> drive;
    explicit Bench(const std::string& name) {
        host.add_scheme("sim", [](const DriveSpec& spec) { return sim::make_target(spec); });
        drive = host.open(DriveSpec::parse(name));
    }
    Result run(const DepthOptions& options = {}) { return measure_depth(host, *drive, options, {}); }
};

bool noted(const Result& r, std::string_view text) {
    for (const std::string& note : r.notes)
        if (note.find(text) != note.npos) return true;
    return r.reason.find(text) != std::string::npos;
}

}

TEST_CASE("depth: the Raptor collapses past depth 2, exactly") {
    for (int seed = 1; seed <= 10; ++seed) {
        INFO(seed);
        Bench bench(fmt::format("sim:wd740adfd,seed={}", seed));
        DepthOptions options;
        options.patterns = {"seq-read"};
        options.seed = static_cast<std::uint64_t>(seed);
        const Result r = bench.run(options);
        CHECK(r.verdict == Verdict::cliff);
        REQUIRE(r.cliffs.size() >= 1);
        CHECK(r.cliffs[0].axis == "depth");
        CHECK(r.cliffs[0].last_good == 2);
        CHECK(r.cliffs[0].first_bad == 3);
        REQUIRE(r.advice.size() == 1);
        CHECK(r.advice[0].what == "queue_depth");
        CHECK(r.advice[0].value == 2);
    }
}

TEST_CASE("depth: queueing that gains nothing is said to gain nothing, and costs nothing") {
    Bench bench("sim:st3250620as,seed=3");
    const Result r = bench.run();
    CHECK(r.verdict == Verdict::clean);
    CHECK(noted(r, "gains nothing on random reads"));
}

TEST_CASE("depth: tagged queueing that gains on random reads says by how much and from where") {
    Bench bench("sim:tcq-15k,seed=3");
    DepthOptions options;
    options.patterns = {"rand-read"};
    const Result r = bench.run(options);
    CHECK(r.verdict == Verdict::clean);
    CHECK(noted(r, "x at depth"));
    CHECK(noted(r, "out of order"));
}

TEST_CASE("depth: TASK SET FULL is flow control, not a slow drive") {
    Bench bench("sim:atlas2-lxy4,seed=1");
    const Result r = bench.run();
    INFO(r.reason);
    CHECK(r.verdict != Verdict::cliff);
}

TEST_CASE("depth: a budget too small is inconclusive, with the reason") {
    Bench bench("sim:st3250620as,seed=3");
    DepthOptions options;
    options.budget = std::chrono::milliseconds(200);
    const Result r = bench.run(options);
    CHECK(r.verdict == Verdict::inconclusive);
    CHECK(noted(r, "budget"));
}

TEST_CASE("depth: a depth of 0 and a size that is no multiple of the block are refused") {
    Bench bench("sim:st3250620as");
    DepthOptions options;
    options.depths = {0, 1};
    CHECK_THROWS_AS(bench.run(options), Failure);
    options.depths = {1, 2};
    options.sequential_bytes = 1000;
    CHECK_THROWS_AS(bench.run(options), Failure);
}
