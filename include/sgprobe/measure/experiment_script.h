// Experiment scripts, sgprobe-experiment(5).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sgprobe/measure/experiment.h"

namespace sgprobe::measure {

// Throws Failure (syntax) that names file, line and key.
ExperimentOptions parse_experiment(std::string_view toml, const std::string& file);

// A script that comes with the program by its name, else a file. Throws Failure where there is neither.
ExperimentOptions load_experiment(const std::string& name_or_path);
std::vector<std::string> builtin_experiments();

// "DPTL=current,-1" of the command line; levels as in a script.
Factor parse_vary(std::string_view);

}
