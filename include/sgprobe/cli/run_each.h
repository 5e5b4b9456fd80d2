// The loop of every subcommand that takes DEV...: one drive after another, each on its own; what fails does not stop the others.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "sgprobe/cli/context.h"

namespace sgprobe::cli {

// Opens each drive and calls `work`, which returns an exit status. With several drives a Failure is printed and the next drive is
// taken; the first status that is not 0 is returned. An interruption (130) ends the loop.
int run_each(Context&, const std::vector<std::string>& names, const std::function<int(Host&, Drive&)>& work);

}
