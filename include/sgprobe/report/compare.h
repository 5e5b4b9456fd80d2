// `sgprobe collate --compare`: two runs on one drive (two firmwares, two settings, two days), cell by cell.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sgprobe/measure/value.h"

namespace sgprobe::report {

struct ComparedCell {
    std::string pattern;
    double transfer_bytes = 0;
    unsigned depth = 1;
    double a_mb_s = 0, b_mb_s = 0;          // medians
    double change = 0;                      // b/a - 1
    double p_value = 1;                     // two-sided, from both runs' intervals; corrected for the number of cells
    bool significant = false;               // p < 0.01 and a change of at least half the threshold
};

struct Comparison {
    std::string a_name, b_name, drive;
    std::vector<std::string> differs;       // what was not alike: firmware, settings, kernel, day
    std::vector<ComparedCell> cells;        // those that both runs have
    std::size_t only_a = 0, only_b = 0;     // cells that one run alone has
    std::string a_verdict, b_verdict;       // with the places of the cliffs
    std::string summary;
};

// Both are one JSON object of sgprobe/1. Throws Failure: malformed (97), or a contradiction (31) where the two cannot be
// compared (another model or drive, transport, block size or probe, or no cell in common), which it names.
Comparison compare_runs(std::string_view a, const std::string& a_name, std::string_view b, const std::string& b_name, double threshold);

std::string text(const Comparison&);
std::string csv(const Comparison&);
measure::Value to_value(const Comparison&);

}
