// `sgprobe experiment`: one measurement under varied settings. Which setting matters, how much, and is there any combination that
// brings the rate back? sgprobe-experiment(5) describes the script; this is the same as values.
//
// Runs are taken in blocks: each block holds every treatment (combination of levels) once, in a fresh random order, so that drift
// cannot pass for an effect. All settings go through one pages::Transaction, which puts them back whatever happens.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sgprobe/measure/progress.h"
#include "sgprobe/measure/result.h"
#include "sgprobe/pages/transaction.h"
#include "sgprobe/transport/drive.h"

namespace sgprobe::measure {

struct Factor {
    std::string key;                        // what pages::Assignment takes: "DPTL", "ca.DPTL", "look_ahead", "queue_depth"
    std::vector<std::string> levels;        // "current", "default", "saved", "-1" or a number; the first is what others are compared with
};

enum class Design : std::uint8_t { automatic, one_at_a_time, pairs, full, together };   // together: the base, and all at their last level

struct Response {
    enum class What : std::uint8_t { rate, latency, retries };
    What what = What::rate;
    std::string pattern = "seq-read";       // or "rand-read"
    Bytes size_bytes = 0;                   // 0: the first size measured past the cliff, else the largest
    unsigned depth = 1;
    double percentile = 99;                 // of latency
};

struct ExperimentOptions {
    std::string name;
    std::vector<Factor> factors;
    std::vector<pages::Assignment> hold;    // set once, for the whole experiment
    Design design = Design::automatic;      // full up to 16 treatments, then pairs up to 64, then one at a time
    std::optional<Response> response;       // empty: rate
    std::vector<Response> price;            // measured beside it; empty: random reads of 4 KiB and the reference size
    Bytes reference_bytes = 0;              // the size whose rate is to be reached; 0: the largest before the cliff
    unsigned replicates = 0;                // blocks; 0: from 4 on until sure
    Nanoseconds budget = std::chrono::seconds(60);
    double threshold = 0.10;
    std::uint64_t seed = 1;
    bool find_best = false;                 // successive halving over all combinations, where a full design is too large
    bool keep_best = false;                 // leave the best combination set
    const Result* baseline = nullptr;       // what `size` found, where it was just measured
};

// What became of one level of one factor before anything was measured.
struct LevelState {
    std::string factor, level;
    std::optional<std::uint64_t> value;     // what it stands for on this drive
    std::string state;                      // "set", "refused", "altered", "ignored"
    std::string why;                        // in words, for all but "set"
};

struct Effect {
    std::string factor;                     // "DPTL", or "DPTL x MAPF" for what only the two together do
    std::vector<std::string> levels;        // the first is the base
    std::string response;
    double effect = 0, low = 0, high = 0;   // relative change (0.5: half as much again); of retries the change for each command
    double p_value = 1;                     // corrected for all effects looked at
    bool matters = false;                   // significant, and no less than half the threshold
};

struct Treatment {
    std::vector<std::size_t> levels;        // an index for each factor
    std::string text;                       // "DPTL=-1 MAPF=512"; "as found" for the base
    std::vector<Interval> responses;        // main, reference..., in the order of ExperimentResult::response_names
};

struct ExperimentResult {
    Result result;                          // sections and tables filled in
    std::vector<std::string> response_names;
    std::vector<LevelState> levels;
    std::vector<Treatment> treatments;
    std::vector<Effect> effects;            // by how much they matter
    std::optional<std::size_t> best;        // of treatments; empty where none is better than the base
    std::optional<bool> restored;           // the best (or the base) reaches the reference; empty where it cannot be told
    std::string sentence;
};

// Throws Failure where it cannot begin, or where the drive ends it; settings are back then too.
ExperimentResult run_experiment(Host&, Drive&, pages::Transaction&, const ExperimentOptions&, const Progress&);

std::string name(const Response&, Bytes size_bytes);

}
