#include "sgprobe/measure/experiment.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sgprobe/measure/experiment_script.h"
#include "sgprobe/sim/sim.h"
#include "sgprobe/transport/failure.h"
#include "sgprobe/transport/virtual_host.h"

using namespace sgprobe;
using namespace sgprobe::measure;

namespace {

struct Bench {
    VirtualHost host;
    std::unique_ptr<Drive> drive;
    pages::Catalogue catalogue;
    explicit Bench(const std::string& name) {
        host.add_scheme("sim", [](const DriveSpec& spec) { return sim::make_target(spec); });
        drive = host.open(DriveSpec::parse(name));
    }
    ExperimentResult run(const ExperimentOptions& options) {
        pages::Transaction settings(host, *drive, catalogue, {});
        return run_experiment(host, *drive, settings, options, {});
    }
};

std::string script_error(std::string_view text) {
    try {
        parse_experiment(text, "x.toml");
    } catch (const Failure& failure) {
        CHECK(failure.status() == static_cast<int>(ExitStatus::syntax));
        return failure.what();
    }
    return "";
}

const Treatment* find(const ExperimentResult& r, const std::string& text) {
    for (const Treatment& t : r.treatments)
        if (t.text == text) return &t;
    return nullptr;
}

}

TEST_CASE("experiment: nothing restores the Atlas, and all three at all ones come nearest") {
    for (const char* name : {"sim:atlas15k2-hpm5,seed=1", "sim:atlas15k2-hpm7,seed=2", "sim:atlas15k2-hpm5,seed=3"}) {
        INFO(name);
        Bench bench(name);
        const ExperimentResult r = bench.run(load_experiment("prefetch"));
        REQUIRE(r.best);
        CHECK(r.treatments[*r.best].text == "DPTL=-1 MAPF=-1 MAPFC=-1");
        CHECK(r.treatments[*r.best].responses[0].median > 70);
        CHECK(r.treatments[*r.best].responses[0].median < 80);
        REQUIRE(r.restored);
        CHECK_FALSE(*r.restored);
        CHECK(r.sentence.find("no combination of these 3 settings restores the rate") == 0);
        CHECK(r.sentence.find("max_sectors_kb 256 does") != std::string::npos);
        CHECK(r.result.settings_before == r.result.settings_after);
    }
}

TEST_CASE("experiment: a drive without a cliff, on which prefetch settings do nothing") {
    Bench bench("sim:stm316021,seed=5");
    ExperimentOptions options;
    options.factors = {parse_vary("MIPF=current,8")};
    const ExperimentResult r = bench.run(options);
    CHECK_FALSE(r.best);
    for (const Effect& e : r.effects) CHECK_FALSE(e.matters);
}

TEST_CASE("experiment: a setting that the drive refuses is told, and what is left is measured") {
    Bench bench("sim:atlas15k2-hpm5,seed=1");
    ExperimentOptions options;
    options.factors = {parse_vary("DPTL=current,-1"), parse_vary("IC=0,1")};
    const ExperimentResult r = bench.run(options);
    bool refused = false;
    for (const LevelState& level : r.levels) refused = refused || (level.factor == "IC" && level.state == "refused" && !level.why.empty());
    CHECK(refused);
    CHECK(find(r, "DPTL=-1"));
}

TEST_CASE("experiment: a setting that is there on no page is named, and nothing is sent") {
    Bench bench("sim:atlas15k2-hpm5,seed=1");
    ExperimentOptions options;
    options.factors = {parse_vary("NOSUCH=0,1")};
    CHECK_THROWS_AS(bench.run(options), Failure);
}

TEST_CASE("experiment script: what is wrong is told by line and key") {
    const std::string factor = "[[factor]]\nkey = \"DPTL\"\nlevels = [\"current\", -1]\n";
    CHECK(script_error(factor).empty());
    CHECK(script_error("").find("factor") != std::string::npos);
    CHECK(script_error("designs = \"full\"\n" + factor).find("designs") != std::string::npos);
    CHECK(script_error("design = \"half\"\n" + factor).find("x.toml:1: design") != std::string::npos);
    CHECK(script_error("[[factor]]\nkey = \"DPTL\"\nlevels = [\"much\"]\n").find("x.toml:3") != std::string::npos);
    CHECK(script_error("[[factor]]\nkey = \"DPTL\"\nlevels = [1]\n").find("from 2") != std::string::npos);
    CHECK(script_error("[[factor]]\nlevels = [1, 2]\n").find("key") != std::string::npos);
    CHECK(script_error(factor + "[response]\nwhat = \"colour\"\n").find("what") != std::string::npos);
    CHECK(script_error(factor + "[response]\nsize = \"-4k\"\n").find("size") != std::string::npos);
    CHECK(script_error(factor + "[response]\nsize = 99999999999999999\n").find("size") != std::string::npos);
    CHECK(script_error(factor + "[hold]\nRCD = \"no\"\n").find("hold") != std::string::npos);
    CHECK(script_error(factor + "replicates = 0\n").size() > 0);
    CHECK(script_error("this is no TOML").find("x.toml:1") != std::string::npos);
}

TEST_CASE("experiment script: every one that comes with the program is sound, ranges too") {
    CHECK(builtin_experiments().size() == 4);
    for (const std::string& name : builtin_experiments()) {
        INFO(name);
        const ExperimentOptions options = load_experiment(name);
        CHECK(options.name == name);
        CHECK_FALSE(options.factors.empty());
    }
    CHECK(parse_vary("NCS=0:8:4").levels == std::vector<std::string>{"0", "4", "8"});
    CHECK(parse_vary("DPTL=-1").levels == std::vector<std::string>{"current", "-1"});
    for (const char* bad : {"DPTL", "=1", "DPTL=", "DPTL=1,,2", "DPTL=0:100:1", "DPTL=8:4:1", "DPTL=x"}) {
        INFO(bad);
        CHECK_THROWS_AS(parse_vary(bad), Failure);
    }
}
