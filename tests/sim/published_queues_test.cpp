#include <doctest/doctest.h>

#include <cmath>

#include "workload.h"

using namespace sgprobe;
using namespace sgprobe::sim;
using namespace sgprobe::sim::test;

TEST_CASE("st3250620as gives the published matrix: command queueing gains it nothing") {
    const auto rows = published("ncq-matrix.csv");
    for (const auto& row : rows) {
        if (row[0] != "SEAGATE") continue;
        const Blocks blocks = std::stoul(row[3]) * 2;
        const auto threads = static_cast<unsigned>(std::stoul(row[4]));
        const unsigned split = blocks > 1024 ? 2 : 1;    // the host issued those as two commands
        const bool left_out = row[2] == "deadline" && blocks == 2048 && threads == 32;
        if (row[2] == "deadline" && blocks < 1024) continue;   // but for rounding the same as noop's
        CAPTURE(row[2]);
        CAPTURE(blocks);
        CAPTURE(threads);
        auto near = [](double simulated, const std::string& printed) {
            const double want = std::stod(printed);
            const double error = std::abs(simulated - want);
            CAPTURE(simulated);
            CAPTURE(want);
            CHECK((error <= 0.1 * want || error <= 0.1 + 0.05));   // a tenth, or a unit of the last digit that was printed
        };
        auto measure = [&](unsigned count, const std::function<Step(Random&)>& next) {
            Bench bench("sim:st3250620as");
            return run(bench, threads, split, count, next);
        };
        const Blocks all = Bench("sim:st3250620as").model.media.blocks;
        if (!row[5].empty()) near(measure(2000, sequential(false, blocks)).read_mb_s, row[5]);
        near(measure(1500, random_all_over(0, blocks, all)).read_mb_s, row[6]);
        if (!row[7].empty()) near(measure(300, sequential(true, blocks)).write_mb_s, row[7]);
        near(measure(600, random_all_over(1, blocks, all)).write_mb_s, row[8]);
        const Moved mixed = measure(1500, random_all_over(0.5, blocks, all));
        if (!left_out) near(mixed.read_mb_s, row[9]);
        if (!left_out) near(mixed.write_mb_s, row[10]);
    }
}

TEST_CASE("sequential reads of st3250620as follow max(n/80.5 MB/s, 275 us + n/120 MB/s) within 4 %") {
    for (const Blocks n : {8u, 16u, 32u, 64u, 128u, 256u, 512u, 1024u}) {
        const double us = std::max(static_cast<double>(n) * 512 / 80.5, 275 + static_cast<double>(n) * 512 / 120);
        CAPTURE(n);
        CHECK(Bench("sim:st3250620as").rate_mb_s(n, 100'000'000) == doctest::Approx(static_cast<double>(n) * 512 / us).epsilon(0.04));
    }
}

TEST_CASE("wd740adfd reads at 84 MB/s with one or two commands queued and at 36 to 46 with more, whatever their size") {
    for (const char* seed : {"1", "2", "3"}) {
        for (const unsigned depth : {1u, 2u, 3u, 5u, 10u, 20u, 31u}) {
            for (const Blocks n : {128u, 256u}) {
                Bench bench(std::string("sim:wd740adfd,seed=") + seed);
                const double rate = run(bench, depth, 1, 3000, sequential(false, n)).read_mb_s;
                CAPTURE(depth);
                CAPTURE(n);
                if (depth <= 2) CHECK(rate == doctest::Approx(84).epsilon(0.03));
                if (depth > 2) CHECK(rate >= 36);
                if (depth > 2) CHECK(rate <= 46);
            }
        }
    }
}

TEST_CASE("atlas2-lxy4 answers TASK SET FULL with write-behind on, never with it off, and moves as much either way") {
    for (const bool write : {false, true}) {
        for (const Blocks n : {16u, 128u}) {
            CAPTURE(write);
            CAPTURE(n);
            Bench behind("sim:atlas2-lxy4,noise=0"), through("sim:atlas2-lxy4,noise=0");
            REQUIRE(through.set("WCE", 0) == scsi::Status::good);
            const Moved a = run(behind, 24, 1, 6000, sequential(write, n)), b = run(through, 24, 1, 6000, sequential(write, n));
            CHECK(a.task_set_full > 0);
            CHECK(b.task_set_full == 0);
            CHECK(a.read_mb_s + a.write_mb_s == doctest::Approx(b.read_mb_s + b.write_mb_s).epsilon(0.02));
        }
    }
}

TEST_CASE("two drives on one bus lose what the published pair lost") {
    const auto rows = published("two-drives.csv");
    for (const bool write : {false, true}) {
        const double alone = std::stod(rows[1][write ? 4 : 3]) * 1024 / 1e6, pair = std::stod(rows[2][write ? 4 : 3]) * 1024 / 1e6;
        const Model a = Bench("sim:ultra2-pair-a").model, b = Bench("sim:ultra2-pair-b").model;
        const double one = run_together({a}, write, 128, 20)[0];
        const std::vector<double> two = run_together({a, b}, write, 128, 20);
        CAPTURE(write);
        CHECK(one == doctest::Approx(alone).epsilon(0.10));
        for (const double rate : two) {
            CHECK(rate == doctest::Approx(pair).epsilon(0.10));
            CHECK(rate / one == doctest::Approx(pair / alone).epsilon(0.10));
        }
    }
}

TEST_CASE("tcq-15k gains from a queue of 16 on random reads what its file says, and nothing on sequential ones") {
    Bench one("sim:tcq-15k"), many("sim:tcq-15k"), stream("sim:tcq-15k"), streams("sim:tcq-15k");
    const Blocks all = one.model.media.blocks;
    const double gain = run(many, 16, 1, 4000, random_all_over(0, 8, all)).read_mb_s / run(one, 1, 1, 4000, random_all_over(0, 8, all)).read_mb_s;
    REQUIRE(one.model.claims.size() == 1);
    CHECK(gain == doctest::Approx(one.model.claims[0].second).epsilon(0.10));
    CHECK(run(streams, 16, 1, 4000, sequential(false, 128)).read_mb_s == doctest::Approx(run(stream, 1, 1, 4000, sequential(false, 128)).read_mb_s).epsilon(0.02));
}
