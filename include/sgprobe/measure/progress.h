#pragma once
#include <functional>
#include <string>

#include "sgprobe/scsi/types.h"

namespace sgprobe::measure {

// Called between samples: the fraction done as planned at that moment, the drive time left by estimate, and what is being done.
using Progress = std::function<void(double fraction, Nanoseconds left, const std::string& what)>;

}
