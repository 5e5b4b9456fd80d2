#pragma once
#include <string_view>

#include "sgprobe/measure/result.h"

namespace sgprobe::report {

std::string_view name(measure::Verdict);   // "cliff", "clean", "inconclusive"

}
