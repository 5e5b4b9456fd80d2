// Random drives for campaigns: from a seed, with what was planted in them readable beside the model.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sgprobe/sim/model.h"

namespace sgprobe::sim {

enum class NoiseKind : std::uint8_t { none, usual, slow_commands, jitter, drift, bursts };
inline constexpr NoiseKind all_noise_kinds[] = {NoiseKind::none, NoiseKind::usual, NoiseKind::slow_commands, NoiseKind::jitter, NoiseKind::drift, NoiseKind::bursts};
const char* name(NoiseKind);
void set_noise(Model&, NoiseKind);

struct PlantedCliff { Blocks last_good = 0; double drop = 0; };   // of the rate at last_good + 1 against that at last_good
struct PlantedLimit {
    enum class Kind : std::uint8_t { sense, time_out, corruption, gone } kind = Kind::sense;
    Blocks max_blocks_ok = 0;
};
// The cliff is there unless all of these fields hold these values. One that is refused or ignored cures nothing.
struct PlantedCure { std::vector<FieldValue> settings; bool refused = false, ignored = false; double price_us = 0; };

struct RandomDriveOptions {
    unsigned cliffs = 0;                          // 0, 1 or 2, at 129 to 1,983 blocks, at least two grid steps of 128 blocks apart
    double least_drop = 0.15, greatest_drop = 0.7;
    NoiseKind noise = NoiseKind::usual;
    bool small_cache = false;                     // segments as real drives have them: they may stop a prefetch; otherwise they never do
    std::optional<PlantedLimit::Kind> limit;
    double flaky = 0;                             // share of commands that fail at any size
    unsigned cure = 0;                            // 1: a setting cures the (first) cliff; 2: two settings together do
    bool cure_refused = false, cure_ignored = false, cure_has_price = false;
};
struct RandomDrive {
    Model model;
    std::vector<PlantedCliff> cliffs;
    std::optional<PlantedLimit> limit;
    std::optional<PlantedCure> cure;
};
RandomDrive random_drive(std::uint64_t seed, const RandomDriveOptions& = {});

// Time of one sequential request in the outermost zone, between requests of its size, when nothing is in the way.
double undisturbed_us(const Model&, Blocks, double host_us = 20);

}
