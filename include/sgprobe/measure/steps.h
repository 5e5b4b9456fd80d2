// Where a curve of time against transfer length steps up. Pure: points in, judgements out.
//
// Before a cliff t = a + b * n. A step is what is left of the difference between two neighbouring sizes after the slope, and
// it must be left whichever side's slope is believed: a bend (overhead giving way to media rate) shows on one side only.
#pragma once
#include <cstdint>
#include <vector>

#include "sgprobe/measure/statistics.h"

namespace sgprobe::measure {

enum class StepState : std::uint8_t { none, suspect, unsure };

struct Step {
    std::size_t left = 0, right = 0;     // indices of the points on both sides; dips between are left out
    double jump = 0, error = 0;          // in the unit of time, and its standard error
    double left_slope = 0, right_slope = 0;
    double bend = 0, bend_error = 0;     // what is left after the gentler of both slopes: a bend may hide a step beside it
    bool both_sides = false;             // both sides have a slope, or the grid ends; else a bend looks just like a step
    bool lasts = true;                   // no later step down takes it back
    StepState state = StepState::none;
};

struct Curve {
    std::vector<Step> steps;             // one a pair of neighbours
    std::vector<std::size_t> dips;       // single slow sizes among good ones
    std::vector<std::pair<std::size_t, std::size_t>> bands;   // first and last of several slow sizes among good ones
};

// Points ascend in x; those without a value are left out by the caller. threshold: the least loss of rate that matters.
Curve analyse_curve(const std::vector<Point>&, double threshold);

// The step between two neighbours alone, all other pairs taken as free of steps.
Step step_between(const std::vector<Point>&, std::size_t left, double threshold);
Step step_down_between(const std::vector<Point>&, std::size_t left, double threshold);   // its jump is positive where time falls
bool is_dip(const std::vector<Point>&, std::size_t at, double threshold);

}
