#include "sgprobe/measure/limit_search.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

using namespace sgprobe;
using namespace sgprobe::measure;

namespace {
// A drive reduced to one rule: commands longer than `limit` fail with `rate`, and any command with `stray`.
struct Rule {
    Blocks limit = 0;                       // 0: none
    Failing failing = Failing::sense;
    double rate = 1, stray = 0;
    std::uint64_t seed = 1;
    Failing stray_failing = Failing::sense;
};

struct Trace { std::vector<Blocks> lengths; unsigned time_outs = 0; Blocks smallest_time_out = ~0ull; bool grew_after_time_out = false; };

SearchFinding search(const Rule& rule, SearchPlan plan, Trace* trace = nullptr) {
    std::mt19937_64 random(rule.seed);
    std::uniform_real_distribution<double> chance(0, 1);
    Trace own;
    Trace& seen = trace ? *trace : own;
    return LimitSearch(plan, [&](Blocks length) -> Attempt {
        seen.lengths.push_back(length);
        if (length >= seen.smallest_time_out) seen.grew_after_time_out = true;
        Failing failing = Failing::none;
        if (rule.limit && length > rule.limit && chance(random) < rule.rate) failing = rule.failing;
        else if (chance(random) < rule.stray) failing = rule.stray_failing;
        if (failing == Failing::time_out) { ++seen.time_outs; seen.smallest_time_out = std::min(seen.smallest_time_out, length); }
        return {failing};
    }).run();
}

SearchPlan plan_of(Blocks top, unsigned costly = 12) { SearchPlan plan; plan.top = top; plan.costly = costly; return plan; }
}

TEST_CASE("limit search: a limit at any length is found to the block in every failure class") {
    for (const Failing failing : {Failing::sense, Failing::time_out, Failing::corruption, Failing::host, Failing::disconnect})
        for (const Blocks limit : {1, 2, 3, 8, 63, 128, 640, 1000, 1024, 4095, 8191, 30011, 65534}) {
            CAPTURE(limit);
            CAPTURE(int(failing));
            const SearchFinding found = search({limit, failing}, plan_of(65535));
            CHECK(found.max_ok == limit);
            CHECK(found.first_failing == limit + 1);
            CHECK(found.exact);
            CHECK(found.failing == failing);
            CHECK(found.costly <= 12);
        }
}

TEST_CASE("limit search: without a limit the top passes and nothing is said to fail") {
    const SearchFinding found = search({}, plan_of(65535));
    CHECK(found.max_ok == 65535);
    CHECK_FALSE(found.first_failing);
    CHECK(found.exact);
    CHECK(found.commands < 200);
}

TEST_CASE("limit search: after a time-out only shorter commands are sent, and at most as many time-outs as allowed") {
    for (const unsigned costly : {1u, 2u, 3u, 12u})
        for (const Blocks limit : {5, 640, 1024, 8191, 20000}) {
            Trace trace;
            const SearchFinding found = search({limit, Failing::time_out}, plan_of(65535, costly), &trace);
            CAPTURE(costly);
            CAPTURE(limit);
            CHECK(trace.time_outs <= costly);
            CHECK_FALSE(trace.grew_after_time_out);
            CHECK(found.max_ok <= limit);
            REQUIRE(found.first_failing);
            CHECK(*found.first_failing > limit);
            CHECK((found.exact || found.costly_spent));
            if (costly >= 3) CHECK(found.exact);
        }
}

TEST_CASE("limit search: a drive that times out past a round number is settled by a single time-out") {
    Trace trace;
    const SearchFinding found = search({1024, Failing::time_out}, plan_of(65535, 3), &trace);
    CHECK(found.exact);
    CHECK(trace.time_outs == 1);
}

TEST_CASE("limit search: one failure in twenty at any length is no limit") {
    int wrong = 0;
    for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
        Rule rule;
        rule.stray = 0.05;
        rule.seed = seed;
        const SearchFinding found = search(rule, plan_of(65535));
        if (found.max_ok != 65535 || found.first_failing) ++wrong;
    }
    CHECK(wrong <= 2);
}

TEST_CASE("limit search: a limit is found beside failures that have nothing to do with length") {
    int wrong = 0;
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
        std::mt19937_64 random(seed);
        const Blocks limit = 1 + random() % 60000;
        const SearchFinding found = search({limit, Failing::sense, 1, 0.05, seed}, plan_of(65535));
        if (found.max_ok != limit || found.first_failing != limit + 1) ++wrong;
    }
    CHECK(wrong <= 1);
}

TEST_CASE("limit search: a limit past which commands fail only now and then is found to the block") {
    for (const Failing failing : {Failing::sense, Failing::corruption, Failing::time_out}) {
        int wrong = 0, brackets = 0;
        for (std::uint64_t seed = 1; seed <= 300; ++seed) {
            std::mt19937_64 random(seed);
            const Blocks limit = 1 + random() % 60000;
            const SearchFinding found = search({limit, failing, 0.5, 0, seed}, plan_of(65535));
            if (!found.exact) ++brackets;
            else if (found.max_ok != limit || found.first_failing != limit + 1) ++wrong;
        }
        CAPTURE(int(failing));
        CHECK(wrong <= 1);
        CHECK(brackets <= 3);
    }
}

TEST_CASE("limit search: time-outs at any length do not become a limit, and end within what is allowed") {
    int limits = 0, tops = 0;
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
        Rule rule;
        rule.stray = 0.05;
        rule.seed = seed;
        rule.stray_failing = Failing::time_out;
        Trace trace;
        const SearchFinding found = search(rule, plan_of(65535), &trace);
        CHECK(trace.time_outs <= 12);
        limits += found.first_failing && found.exact;
        tops += found.max_ok == 65535;
    }
    CHECK(limits <= 1);
    CHECK(tops >= 400);
}

TEST_CASE("limit search: not even one block") {
    const SearchFinding found = search({0, Failing::sense, 1, 1}, plan_of(65535));
    CHECK(found.max_ok == 0);
    CHECK(found.first_failing == 1);
    CHECK(found.commands < 10);
}

TEST_CASE("limit search: a hint from another opcode is checked, not believed") {
    for (const Blocks limit : {100, 640, 641, 9000}) {
        SearchPlan plan = plan_of(65535);
        plan.hint = 640;
        const SearchFinding found = search({limit, Failing::time_out}, plan);
        CHECK(found.max_ok == limit);
        CHECK(found.first_failing == limit + 1);
    }
}

TEST_CASE("limit search: a drive that is gone for good leaves a bracket") {
    bool gone = false;
    const SearchFinding found = LimitSearch(plan_of(65535), [&](Blocks length) -> Attempt {
        if (gone) return {Failing::disconnect, true, false};
        gone = length > 100;
        return gone ? Attempt{Failing::disconnect, true} : Attempt{};
    }).run();
    CHECK(found.max_ok == 65);
    CHECK(found.first_failing == 128);
    CHECK(found.stopped);
    CHECK_FALSE(found.exact);
}
