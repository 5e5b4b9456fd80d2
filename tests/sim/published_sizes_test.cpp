#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "harness.h"

using namespace sgprobe;
using namespace sgprobe::sim;
using test::Bench;

namespace {
struct Held { const char* drive; const char* revision; Blocks cliff; double turn_ms; };
constexpr Held drives[] = {
    {"atlas15k2-hpm5", "HPM5", 512, 4.0}, {"atlas15k2-hpm7", "HPM7", 512, 4.0}, {"atlas10k5-bp00", "BP00", 512, 6.0}, {"stm316021", "3.AA", 0, 0}};
}

TEST_CASE("the simulated drives read as fast as the published ones at every size") {
    const auto rows = test::published("request-size.csv");
    for (const Held& held : drives) {
        CAPTURE(held.drive);
        std::vector<double> errors;
        bool first_past = true;
        for (const auto& row : rows) {
            if (row[2] != held.revision) continue;
            const Blocks blocks = std::stoul(row[3]) * 2;
            const double want = std::stod(row[4]);
            Bench bench(std::string("sim:") + held.drive);
            const double rate = bench.rate_mb_s(blocks, 200'000'000);
            const double error = std::abs(rate / want - 1);
            errors.push_back(error);
            CAPTURE(blocks);
            CAPTURE(rate);
            CAPTURE(want);
            if (!held.cliff || blocks <= held.cliff) {
                CHECK(error < 0.03);
            } else if (std::exchange(first_past, false)) {
                CHECK(error < 0.20);
            }
        }
        REQUIRE(errors.size() == 16);
        std::nth_element(errors.begin(), errors.begin() + 8, errors.end());
        CHECK(errors[8] < 0.10);
    }
}

TEST_CASE("past 512 blocks a request costs its media time and one lost turn") {
    for (const Held& held : drives) {
        if (!held.cliff) continue;
        CAPTURE(held.drive);
        Bench bench(std::string("sim:") + held.drive + ",noise=0");
        const double media = bench.rate_mb_s(512, 50'000'000);
        for (const Blocks n : {513u, 640u, 1024u, 2048u}) {
            const double rate = bench.rate_mb_s(n, 50'000'000, 1'000'000 * n / 512);
            const double per_request_ms = static_cast<double>(n) * 512 / rate / 1e3;
            CHECK(per_request_ms - static_cast<double>(n) * 512 / media / 1e3 == doctest::Approx(held.turn_ms).epsilon(0.03));
        }
    }
}

TEST_CASE("DPTL, MAPF and MAPFC at all ones lift large reads to 70-80 MB/s and never to 95; two of the three do nothing") {
    for (const char* name : {"sim:atlas15k2-hpm5", "sim:atlas15k2-hpm7"}) {
        CAPTURE(name);
        for (const unsigned set : {3u, 5u, 6u, 7u}) {
            Bench bench(name);
            const char* keys[] = {"DPTL", "MAPF", "MAPFC"};
            for (unsigned i = 0; i < 3; ++i)
                if (set & 1u << i) CHECK(bench.set(keys[i], 65535) == scsi::Status::good);
            for (const Blocks n : {640u, 1024u, 1536u, 2048u}) {
                const double rate = bench.rate_mb_s(n, 200'000'000, n * 4096);
                const double shipped = static_cast<double>(n) * 512 / (static_cast<double>(n) * 512 / 96.1 + 4000);
                CAPTURE(set);
                CAPTURE(n);
                if (set == 7) {
                    CHECK(rate > 70);
                    CHECK(rate < 80);
                }
                if (set != 7) CHECK(rate == doctest::Approx(shipped).epsilon(0.04));
            }
            CHECK(bench.rate_mb_s(512, 100'000'000, 90'000'000) > 0.0);
            if (set == 7) CHECK(Bench(name).rate_mb_s(512, 100'000'000) == doctest::Approx(96.0).epsilon(0.01));
        }
    }
}
