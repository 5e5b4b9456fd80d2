// Runs gnuplot, which is another program: no shell, no start-up files of the user's, its script on standard input.
#pragma once
#include <string>

namespace sgprobe::cli {

bool gnuplot_here();
std::string run_gnuplot(const std::string& script);   // what it drew; throws Failure where it is not here or draws nothing

}
