// Every command of a run of `size`, made to go wrong in every way: the run ends with the right message and status, or completes and
// counts what it met. A seeded choice here; all of them with SGPROBE_FAULTS=full (make faults).
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <random>
#include <set>

#include "../transport/fault_host.h"
#include "sgprobe/measure/size.h"
#include "sgprobe/sim/sim.h"
#include "sgprobe/transport/failure.h"
#include "sgprobe/transport/virtual_host.h"

using namespace sgprobe;
using namespace sgprobe::tests;

namespace {

constexpr std::string_view name = "sim:atlas15k2-hpm5,seed=5";

struct Ended {
    std::optional<measure::Result> result;
    int status = 0;                        // of a Failure
    std::string message;
    std::uint64_t commands = 0;
    double virtual_s = 0;
    bool struck = false;
};

Ended run(Fault fault, std::uint64_t index) {
    auto within = std::make_unique<VirtualHost>();
    within->add_scheme("sim", [](const DriveSpec& spec) { return sim::make_target(spec); });
    FaultHost host(std::move(within), fault, index);
    const auto drive = host.open(DriveSpec::parse(name));
    Ended ended;
    measure::SizeOptions options;
    options.rounds = 4;
    try {
        ended.result = measure::measure_size(host, *drive, options, {});
    } catch (const Failure& failure) {
        ended.status = failure.status();
        ended.message = failure.what();
    }
    ended.commands = host.commands();
    ended.struck = host.struck();
    ended.virtual_s = static_cast<double>(host.now().count()) / 1e9;
    return ended;
}

std::uint64_t counted(const measure::Result& result) {
    std::uint64_t sum = 0;
    for (const auto& sample : result.samples) sum += sample.errors + sample.redone + sample.task_set_full;
    return sum + result.notes.size();
}

// What may end a run that met this, as sg3_utils would exit.
std::set<int> statuses(Fault fault) {
    switch (fault) {
        case Fault::time_out: return {33};
        case Fault::busy: return {26};
        case Fault::task_set_full: return {27};
        case Fault::unit_attention: return {6};
        case Fault::reset: return {35, 6};
        case Fault::check_condition: return {3};
        case Fault::gone: return {35};
        case Fault::refusal: return {62};
        case Fault::short_data: return {97};
        case Fault::garbage: return {97, 15, 2, 5, 99};
    }
    return {};
}

// What is wrong with how it ended; empty where nothing is.
std::string judge(Fault fault, const Ended& e, std::uint64_t counted_without) {
    if (e.virtual_s > 200) return fmt::format("took {:.0f} s", e.virtual_s);
    if (!e.result) {
        if (e.message.find("sim:atlas15k2-hpm5") == std::string::npos) return "the message does not name the drive: " + e.message;
        if (!statuses(fault).contains(e.status)) return fmt::format("ended with status {}: {}", e.status, e.message);
        return "";
    }
    const measure::Result& r = *e.result;
    if (fault == Fault::gone) {
        const bool said = r.reason.find("pulled out") != std::string::npos || r.cliffs.size() == 1;   // it may vanish after the answer
        if (!said) return "the reason does not say that the drive is gone: " + r.reason;
        return r.exit_status == 35 || r.reason.find("pulled out") == std::string::npos ? "" : fmt::format("the drive is gone, and the status is {}", r.exit_status);
    }
    const bool right = r.verdict == measure::Verdict::cliff && r.cliffs.size() == 1 && r.cliffs[0].last_good == 512 && r.cliffs[0].exact;
    if (right) return "";
    // What ended the run early may leave the place less exact than to the block, if the status says what it was.
    const bool within = r.verdict == measure::Verdict::cliff && r.cliffs.size() == 1 && r.cliffs[0].last_good <= 512 && r.cliffs[0].first_bad > 512;
    if (within && statuses(fault).contains(r.exit_status) && r.reason.find("not complete") != std::string::npos) return "";
    if (r.verdict != measure::Verdict::inconclusive || r.reason.empty()) return fmt::format("another answer: {} cliffs, {}", r.cliffs.size(), r.reason);
    if (fault == Fault::garbage) return "";
    if (fault == Fault::refusal && statuses(fault).contains(r.exit_status)) return "";
    // A time-out costs as much as the whole budget: then it must at least be told.
    if (fault == Fault::time_out && counted(r) > counted_without) return "";
    return "inconclusive after one fault: " + r.reason;
}

}

TEST_CASE("faults: every command of a run, wrong in every way, ends in the right answer or the right message") {
    const Ended whole = run(Fault::garbage, ~std::uint64_t{0});
    REQUIRE(whole.result);
    REQUIRE(whole.result->cliffs.size() == 1);
    REQUIRE(whole.commands > 100);
    const std::uint64_t without = counted(*whole.result);
    const char* wish = std::getenv("SGPROBE_FAULTS");
    const bool all = wish && std::string_view(wish) == "full";
    std::mt19937_64 random(20261130);
    for (const auto& [fault, fault_name] : faults) {
        std::uint64_t runs = 0, refused = 0, uncounted = 0, bad = 0;
        for (std::uint64_t index = 0; index < whole.commands; ++index) {
            const bool early = index < 24;
            if (!all && !early && random() % (whole.commands / 12) != 0) continue;
            const Ended ended = run(fault, index);
            ++runs;
            refused += !ended.result;
            if (ended.result && counted(*ended.result) == without) ++uncounted;
            const std::string wrong = judge(fault, ended, without);
            if (wrong.empty()) continue;
            if (++bad <= 5) MESSAGE(fmt::format("{} at command {}: {}", fault_name, index, wrong));
        }
        CHECK(bad == 0);
        if (all) fmt::print("{:>16}: {} runs, {} ended with a message, {} completed ({} of them without a trace of it in the result), {} wrong\n", fault_name, runs, refused,
                            runs - refused, uncounted, bad);
    }
}
