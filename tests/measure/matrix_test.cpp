#include <doctest/doctest.h>

#include "model_drive.h"
#include "sgprobe/measure/matrix.h"
#include "sgprobe/transport/failure.h"
#include "sgprobe/transport/virtual_host.h"

using namespace sgprobe;
using namespace sgprobe::measure;

namespace {
Result run(const model::Parameters& p, const MatrixOptions& options) {
    VirtualHost host;
    const auto drive = host.attach(std::make_unique<model::Drive>(p), "model");
    return measure_matrix(host, *drive, options, {});
}
}

TEST_CASE("matrix: sequential and random rates are those of the drive") {
    model::Parameters p;
    p.seek_us = 5000;
    p.cold_us = 0;
    MatrixOptions options;
    options.depths = {1};
    const Result r = run(p, options);
    REQUIRE(r.samples.size() == 12);
    for (const SampleResult& s : r.samples) {
        const auto n = static_cast<double>(s.transfer_bytes);
        const double us = 70 + n / 100 + (s.pattern == "rand-read" ? 5000 : 0);
        CHECK(s.rate_mb_s.median == doctest::Approx(n / us).epsilon(0.08));
    }
    CHECK(r.verdict == Verdict::clean);
    REQUIRE(r.tables.size() == 1);
    CHECK(r.tables[0].rows.size() == 6);
}

TEST_CASE("matrix: a block longer than a command is sent as several, and pays for each") {
    model::Parameters p;
    MatrixOptions options;
    options.blocks_bytes = {1 << 20};
    options.depths = {1};
    options.patterns = {"seq-read"};
    options.max_command_bytes = 65536;
    const Result r = run(p, options);
    REQUIRE(r.samples.size() == 1);
    CHECK(r.samples[0].transfer_bytes == 1 << 20);
    CHECK(r.samples[0].rate_mb_s.median == doctest::Approx(65536 / (50 + 655.36)).epsilon(0.05));
}

TEST_CASE("matrix: sizes and patterns that cannot be are refused") {
    MatrixOptions options;
    options.blocks_bytes = {1000};
    CHECK_THROWS_AS(run({}, options), Failure);
    options.blocks_bytes = {4096};
    options.patterns = {"seq-write"};
    CHECK_THROWS_AS(run({}, options), Failure);
}
