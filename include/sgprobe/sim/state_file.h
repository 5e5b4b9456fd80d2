// state=FILE: the settings of a simulated drive outlive the process, which then stands for a host that crashed, not for a power cycle.
// A line a page: "page CODE SUBPAGE CURRENT SAVED", numbers and bytes in hexadecimal; then "end". The file is replaced whole at every change.
#pragma once
#include <string>

#include "sgprobe/sim/mode_pages.h"

namespace sgprobe::sim {

void load_state(ModePages&, const std::string& path);          // nothing where there is no file; throws Failure where it does not fit the drive
void store_state(const ModePages&, const std::string& path);   // throws Failure where it cannot be written

}
