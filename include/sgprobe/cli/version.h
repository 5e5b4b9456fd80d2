#pragma once
#include <string>

namespace sgprobe::cli {

std::string version_text();   // sgprobe --version: the version, and what this program was built with and finds

}
