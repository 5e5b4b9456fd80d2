// What a table of single runs allows to be said: one rate a size (or a depth), no rounds, often few digits. Pure.
//
// The rule is the one of every probe: past a cliff every larger transfer takes longer than t = a + b * n from before it
// predicts (at depth: every deeper queue is slower than the plateau before it), the loss is material and it is significant.
// The noise, which nobody measured, is taken from how far the rates scatter about the two levels (Student's t for a change
// point, corrected for the places looked at), and is never less than what the last printed digit hides.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "sgprobe/measure/result.h"

namespace sgprobe::measure {

struct SinglePoint {
    double x = 0;                // bytes a request, or commands outstanding
    double rate = 0;             // any unit, the same for all
    double resolution = 0;       // one unit of the last digit, in the same unit
};

struct SingleRuns {
    Verdict verdict = Verdict::inconclusive;
    std::string reason;
    double last_good = 0, first_bad = 0;      // with a cliff: neighbouring x
    double before = 0, after = 0;             // rates there; without a cliff both the greatest
    double p_value = 1;
    double gain = 1;                          // greatest rate over the one at the least x
    std::vector<double> dips;                 // single slow x among good ones
};

enum class SingleAxis : std::uint8_t { transfer, depth };

// Points in any order; those of equal x are runs of one cell. threshold: the least loss that matters.
SingleRuns judge_single_runs(std::span<const SinglePoint>, SingleAxis, double threshold);

}
