#include <doctest/doctest.h>

#include <map>

#include "sgprobe/measure/diagnose.h"
#include "sgprobe/measure/subject.h"
#include "sgprobe/sim/sim.h"
#include "sgprobe/transport/failure.h"
#include "sgprobe/transport/virtual_host.h"

using namespace sgprobe;
using namespace sgprobe::measure;

namespace {

struct Diagnosed { Result result; SettingValues before, after; };

Diagnosed diagnosed(const std::string& spec, DiagnoseOptions options = {}) {
    VirtualHost host;
    host.add_scheme("sim", [](const DriveSpec& s) { return sim::make_target(s); });
    const auto drive = host.open(DriveSpec::parse("sim:" + spec));
    const pages::Catalogue catalogue;
    options.settings = [&] { return std::make_unique<pages::Transaction>(host, *drive, catalogue, pages::TransactionOptions{}); };
    Diagnosed d;
    d.before = caching_settings(host, *drive);
    d.result = diagnose(host, *drive, options, {});
    d.after = caching_settings(host, *drive);
    return d;
}

bool says(const Result& r, std::string_view text) { return r.reason.find(text) != std::string::npos; }

}

TEST_CASE("diagnose: the published truth about every built-in drive, within two minutes and 500 MB") {
    struct Truth { Verdict verdict; const char* says; };
    // sas-4kn and sas-6tb have tracks longer than a sample: 500 MB need not suffice there, and a cliff must not be claimed.
    const std::map<std::string, Truth> truths{
        {"atlas15k2-hpm5", {Verdict::cliff, "past 512 blocks"}}, {"atlas15k2-hpm7", {Verdict::cliff, "past 512 blocks"}}, {"atlas10k5-bp00", {Verdict::cliff, "past 512 blocks"}},
        {"wd740adfd", {Verdict::cliff, "past queue depth 2"}}, {"st3250620as", {Verdict::clean, "queueing gains nothing on random reads"}},
        {"atlas2-lxy4", {Verdict::clean, "with WCE=0 it accepts all that is sent"}}, {"tcq-15k", {Verdict::clean, "at depth 32 on random reads"}},
    };
    for (const sim::BuiltinDrive& builtin : sim::builtin_drives()) {
        const std::string name(builtin.name);
        const Diagnosed d = diagnosed(name);
        const Result& r = d.result;
        INFO(name << ": " << r.reason);
        CHECK(r.bytes_transferred <= 500'000'000);
        double seconds = 0;
        for (const Result& part : r.parts) seconds += part.virtual_time_s.value_or(0);
        CHECK(seconds > 0);
        CHECK(seconds <= 120);
        CHECK(d.before == d.after);
        if (const auto it = truths.find(name); it != truths.end()) {
            CHECK(r.verdict == it->second.verdict);
            CHECK(says(r, it->second.says));
        } else {
            CHECK(r.cliffs.empty());
            CHECK(r.exit_status == 0);
        }
    }
}

TEST_CASE("diagnose: on the Atlas no setting restores the rate, max_sectors_kb does, and the cliff is told once") {
    const Diagnosed d = diagnosed("atlas15k2-hpm5");
    CHECK(says(d.result, "no combination of these 3 settings restores the rate"));
    CHECK(says(d.result, "max_sectors_kb 256 does"));
    REQUIRE(d.result.cliffs.size() == 1);
    CHECK(d.result.cliffs[0].last_good == 512);
    REQUIRE(d.result.advice.size() == 1);
    CHECK(d.result.advice[0].value == 256);
    CHECK(d.result.parts.size() == 3);
}

TEST_CASE("diagnose: without a way to settings they are not varied, and it says so") {
    VirtualHost host;
    host.add_scheme("sim", [](const DriveSpec& s) { return sim::make_target(s); });
    const auto drive = host.open(DriveSpec::parse("sim:atlas15k2-hpm5"));
    const Result r = diagnose(host, *drive, {}, {});
    CHECK(r.parts.size() == 2);
    CHECK(r.notes.back().find("not looked at: settings;") != std::string::npos);
}

TEST_CASE("diagnose: little to spend is spent on the transfer length, and the rest is named") {
    DiagnoseOptions options;
    options.most_bytes = 100'000'000;
    const Diagnosed d = diagnosed("stm316021", options);
    CHECK(d.result.bytes_transferred <= 100'000'000);
    CHECK(d.result.verdict == Verdict::inconclusive);
    CHECK(d.result.notes.back().find("queue depth (the budget was spent)") != std::string::npos);
}
