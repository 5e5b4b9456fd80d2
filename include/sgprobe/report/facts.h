// What `sgprobe info` and `sgprobe list` found, as strings.
#pragma once
#include <string>
#include <vector>

#include "sgprobe/measure/facts.h"

namespace sgprobe::report {

std::string text(const measure::Facts&);
measure::Value to_value(const measure::Facts&, bool anonymous);       // schema sgprobe/1, probe "info"
std::string csv(const measure::Facts&);               // group,key,value

}
