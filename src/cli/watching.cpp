#include "sgprobe/cli/watching.h"

#include <fmt/format.h>

#include "sgprobe/report/escape.h"
#include "sgprobe/transport/describe.h"

namespace sgprobe::cli {

void WatchingHost::on_completion(Completion& c) {
    if (verbosity_ < 2 && c.outcome.good()) return;
    const std::string name = c.drive ? report::for_terminal(c.drive->name()) : "?";
    say_(fmt::format("{}: {}: {}, {:.1f} us", name, describe(c.command.cdb), describe(c), std::chrono::duration<double, std::micro>(c.latency()).count()));
    say_(fmt::format("{}:   {}", name, raw(c)));
}

}
