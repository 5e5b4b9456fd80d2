#pragma once
#include <string>
#include <vector>

namespace sgprobe::cli {

// The whole program but the catch ladder: finds the subcommand, sets it up, runs it. Throws Failure.
int run(const std::vector<std::string>& words);

}
