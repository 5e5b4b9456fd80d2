// Random drives, with cliffs planted in some: how often is the verdict of `sgprobe size` true? A table by kind of noise.
// truth [drives of each kind and case] [first seed] [-v]; exit status 1 where the goals are missed by more than chance.
// The goals are those of one kind of noise at a time; all kinds at once are shown beside them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "../measure/model_drive.h"
#include "sgprobe/measure/size.h"
#include "sgprobe/measure/statistics.h"
#include "sgprobe/transport/virtual_host.h"

using namespace sgprobe;
using namespace sgprobe::measure;

namespace {

enum class Noise { quiet, drift, bursts, slow, jitter, all };
constexpr std::array<std::pair<Noise, const char*>, 6> noises{{
    {Noise::quiet, "1 % jitter"}, {Noise::drift, "drift of 25 %"}, {Noise::bursts, "bursts of load"}, {Noise::slow, "1 % slow commands"},
    {Noise::jitter, "8 % jitter"}, {Noise::all, "all of them"},
}};
enum class Case { clean, small, one, two };
constexpr std::array<std::pair<Case, const char*>, 4> cases{{{Case::clean, "clean"}, {Case::small, "4 % dip or step"}, {Case::one, "one cliff"}, {Case::two, "two cliffs"}}};

struct Truth { model::Parameters drive; std::vector<Blocks> cliffs; };

Truth random_drive(std::uint64_t seed, Noise noise, Case which) {
    std::mt19937_64 random(seed * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(noise) * 1009 + static_cast<std::uint64_t>(which));
    const auto uniform = [&](double a, double b) { return std::uniform_real_distribution<double>(a, b)(random); };
    const auto chance = [&](double p) { return uniform(0, 1) < p; };
    Truth t;
    model::Parameters& p = t.drive;
    p.seed = seed;
    p.blocks = static_cast<Blocks>(uniform(3e7, 4e9));
    p.rate_mb_s = std::exp(uniform(std::log(45.), std::log(250.)));
    p.overhead_us = chance(0.3) ? uniform(0, 2000) : std::exp(uniform(std::log(10.), std::log(2000.)));
    if (chance(0.4)) p.bus_mb_s = p.rate_mb_s * uniform(1.2, 4);
    const double rpms[] = {5400, 7200, 10000, 15000};
    const double rpm = rpms[random() % 4];
    if (chance(0.5)) p.rpm = static_cast<unsigned>(rpm);
    p.seek_us = 60e6 / rpm;
    p.cold_commands = 1 + static_cast<unsigned>(random() % 3);
    p.cold_us = uniform(500, 60e6 / rpm);
    p.jitter = 0.01;
    if (chance(0.5)) {
        p.track_blocks = uniform(500, 3000);
        p.track_us = uniform(200, 1500);
    }
    for (double at = uniform(0, 3e6); at < static_cast<double>(p.blocks) && p.zones.size() < 40; at += uniform(1e6, 2e8))
        p.zones.emplace_back(static_cast<Lba>(at), 1 - 0.012 * static_cast<double>(p.zones.size() + 1));
    if (noise == Noise::drift || noise == Noise::all) { p.drift = 0.25; p.drift_over_s = uniform(3, 30); }
    if (noise == Noise::bursts || noise == Noise::all) { p.burst_every_s = uniform(1, 6); p.burst_s = uniform(0.05, 0.5); p.burst_factor = uniform(1.3, 4); }
    if (noise == Noise::slow || noise == Noise::all) { p.slow_share = 0.01; p.slow_us = uniform(10000, 100000); }
    if (noise == Noise::jitter || noise == Noise::all) p.jitter = 0.08;

    const auto time = [&](Blocks n) {
        const double bytes = static_cast<double>(n) * 512;
        double us = p.overhead_us + bytes / p.rate_mb_s;
        if (p.bus_mb_s > 0) us = std::max(p.overhead_us + bytes / p.bus_mb_s, bytes / p.rate_mb_s);
        if (p.track_blocks > 0) us += p.track_us * static_cast<double>(n) / p.track_blocks;
        for (const auto& c : p.cliffs) if (n > c.last_good) us = us * c.factor + c.added_us;
        return us + 20;
    };
    const auto plant = [&](Blocks at, double drop) {
        model::PlantedCliff c;
        c.last_good = at;
        // The loss of rate at at+1 against at, the host's turnaround and the slope of one block included.
        const double before = time(at), after = before * static_cast<double>(at + 1) / static_cast<double>(at) / (1 - drop);
        const double extra = after - time(at + 1);
        if (chance(0.6)) c.added_us = extra;
        else c.factor = 1 + extra / (time(at + 1) - 20);
        p.cliffs.push_back(c);
        t.cliffs.push_back(at);
    };
    const auto somewhere = [&](double low, double high) { return static_cast<Blocks>(uniform(low, high)); };
    if (which == Case::small) {
        if (chance(0.5)) { plant(somewhere(129, 1983), 0.04); t.cliffs.clear(); }
        else p.dips[128 * (1 + random() % 16)] = 1 / 0.96;
    }
    if (which == Case::one) plant(somewhere(129, 1984), uniform(0.15, 0.7));
    if (which == Case::two) {
        const Blocks first = somewhere(129, 1984 - 257);
        plant(first, uniform(0.15, 0.6));
        plant(somewhere(static_cast<double>(first) + 257, 1984), uniform(0.15, 0.6));
    }
    return t;
}

struct Tally { unsigned drives = 0, called = 0, inconclusive = 0, planted = 0, found = 0, exact = 0, extra = 0; double drive_s = 0, gb = 0; };

}

int main(int argc, char** argv) {
    unsigned count = 20;
    std::uint64_t first = 1;
    bool verbose = false;
    int position = 0;
    for (int i = 1; i < argc; ++i) {
        if (!std::strcmp(argv[i], "-v")) verbose = true;
        else if (position++ == 0) count = static_cast<unsigned>(std::stoul(argv[i]));
        else first = std::stoull(argv[i]);
    }
    std::map<Case, Tally> all;
    fmt::print("{:<18} {:<16} {:>6} {:>6} {:>6} {:>7} {:>6} {:>6} {:>5} {:>7} {:>6}\n", "noise", "case", "drives", "called", "incon.", "planted", "found", "exact", "false", "drive s", "GB");
    for (const auto& [noise, noise_name] : noises) {
        for (const auto& [which, case_name] : cases) {
            Tally tally;
            for (std::uint64_t seed = first; seed < first + count; ++seed) {
                const Truth truth = random_drive(seed, noise, which);
                VirtualHost host;
                const auto drive = host.attach(std::make_unique<model::Drive>(truth.drive), "model");
                SizeOptions options;
                options.seed = seed;
                const Result r = measure_size(host, *drive, options, {});
                ++tally.drives;
                tally.called += !r.cliffs.empty();
                tally.inconclusive += r.verdict == Verdict::inconclusive;
                tally.planted += static_cast<unsigned>(truth.cliffs.size());
                tally.drive_s += r.elapsed_s;
                tally.gb += static_cast<double>(r.bytes_transferred) / 1e9;
                unsigned matched = 0;
                for (const Blocks at : truth.cliffs) {
                    bool found = false, exact = false;
                    for (const Cliff& c : r.cliffs) {
                        exact = exact || (c.last_good == at && c.first_bad == at + 1);
                        found = found || (c.last_good <= at + 16 && c.first_bad >= at - 16);
                    }
                    tally.found += found;
                    tally.exact += exact;
                    matched += found;
                    if (verbose && !exact) fmt::print("  seed {}: cliff at {} {}\n", seed, at, found ? "found beside it" : "missed");
                }
                tally.extra += static_cast<unsigned>(r.cliffs.size()) > matched ? static_cast<unsigned>(r.cliffs.size()) - matched : 0;
                const bool wrong = r.cliffs.size() != truth.cliffs.size() || (truth.cliffs.empty() && r.verdict != Verdict::clean);
                if (verbose && (wrong || matched != truth.cliffs.size())) {
                    fmt::print("  seed {} {} {}: {:.1f} s {}", seed, noise_name, case_name, r.elapsed_s, r.reason);
                    for (const Cliff& c : r.cliffs) fmt::print(" [{} {:.0f} %]", c.last_good, 100 * c.drop);
                    for (const auto& n : r.notes) fmt::print(" ({})", n);
                    fmt::print("\n");
                }
            }
            fmt::print("{:<18} {:<16} {:>6} {:>6} {:>6} {:>7} {:>6} {:>6} {:>5} {:>7.1f} {:>6.2f}\n", noise_name, case_name, tally.drives, tally.called, tally.inconclusive,
                       tally.planted, tally.found, tally.exact, tally.extra, tally.drive_s / tally.drives, tally.gb / tally.drives);
            std::fflush(stdout);
            if (noise == Noise::all) continue;
            Tally& sum = all[which];
            sum.drives += tally.drives;
            sum.called += tally.called;
            sum.planted += tally.planted;
            sum.found += tally.found;
            sum.exact += tally.exact;
            sum.extra += tally.extra;
        }
    }
    const unsigned planted = all[Case::one].planted + all[Case::two].planted, found = all[Case::one].found + all[Case::two].found, exact = all[Case::one].exact + all[Case::two].exact;
    const unsigned quiet = all[Case::clean].drives, called = all[Case::clean].called, small = all[Case::small].drives, small_called = all[Case::small].called;
    fmt::print("\nclean drives called a cliff: {} of {} (goal: at most 1 in 1,000)\n", called, quiet);
    fmt::print("4 % dips and steps called a cliff: {} of {} (goal: none)\n", small_called, small);
    fmt::print("cliffs found: {} of {} (goal: 999 in 1,000); exact: {} (goal: 99 in 100)\n", found, planted, exact);
    // Of a goal of one in a thousand a short run may show one by chance.
    const auto missed = [](unsigned bad, unsigned of, double goal) { return binomial_tail(bad, of, goal) < 0.01; };
    const bool good = !missed(called, quiet, 0.001) && !missed(small_called, small, 0.001) && !missed(planted - found, planted, 0.001) && !missed(planted - exact, planted, 0.01);
    fmt::print("{}\n", good ? "no further from the goals than chance explains" : "GOALS NOT MET");
    return good ? 0 : 1;
}
