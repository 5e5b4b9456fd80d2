#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "sgprobe/measure/addresses.h"

using namespace sgprobe;
using namespace sgprobe::measure;

TEST_CASE("addresses: no block is given out twice, and none that an upward prefetch of 2 MiB has touched") {
    Addresses addresses({{1000, 4'000'000}}, 512, 8);
    std::vector<std::pair<Lba, Blocks>> taken;
    for (int round = 0; round < 10; ++round) {
        addresses.begin_round(20 * (3000 + addresses.sample_gap()));
        for (Blocks n = 128; n <= 20 * 128; n += 128) {
            const auto lba = addresses.take(n);
            REQUIRE(lba);
            CHECK(*lba % 8 == 0);
            CHECK(*lba >= 1000);
            CHECK(*lba + n <= 4'001'000);
            for (const auto& [start, count] : taken) {
                const bool apart = *lba + n <= start || *lba >= start + count;
                CHECK(apart);
                CHECK_FALSE((*lba < start + count + 4096 && *lba + n > start + count && *lba >= start));
            }
            taken.emplace_back(*lba, n);
        }
    }
}

TEST_CASE("addresses: a tiny disk is used up and then says so") {
    Addresses addresses({{0, 16384}}, 512, 8);
    Blocks sum = 0;
    addresses.begin_round(8000);
    while (const auto lba = addresses.take(100)) {
        CHECK(*lba + 100 <= 16384);
        sum += 100;
    }
    CHECK(sum > 16384 * 8 / 10);
}

TEST_CASE("addresses: only mapped extents are read where they are told") {
    Addresses addresses({{100, 50}, {1000, 200}, {5000, 10}}, 512, 1);
    addresses.begin_round(100);
    int count = 0;
    while (const auto lba = addresses.take(20)) {
        CHECK(((*lba >= 100 && *lba + 20 <= 150) || (*lba >= 1000 && *lba + 20 <= 1200)));
        ++count;
    }
    CHECK(count >= 8);
}

TEST_CASE("addresses: random ones are all different and aligned") {
    RandomAddresses addresses({{3, 100'000}}, 9, 8, 1);
    std::set<Lba> seen;
    for (int i = 0; i < 2000; ++i) {
        const auto lba = addresses.take();
        REQUIRE(lba);
        CHECK(*lba % 8 == 0);
        CHECK(*lba + 9 <= 100'003);
        CHECK(seen.insert(*lba).second);
    }
}
