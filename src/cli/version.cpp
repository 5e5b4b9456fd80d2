#include "sgprobe/cli/version.h"

#include <fmt/format.h>
#include <scsi/sg_lib.h>

#include "sgprobe/cli/gnuplot.h"
#include "sgprobe/cli/subcommand.h"
#include "sgprobe/scsi/embedded.h"
#include "sgprobe/sim/sim.h"

namespace sgprobe::cli {

std::string version_text() {
    std::string names;
    for (const Subcommand* sub : subcommands()) names += fmt::format(" {}", sub->name);
    std::size_t pages = 0;
    for (const EmbeddedFile& file : embedded_files()) pages += file.name.starts_with("modepages/") && file.name.find('/', 10) == file.name.npos;
    return fmt::format(
        "sgprobe {} (schema sgprobe/1)\n"
        "subcommands:{}\n"
        "drives: sg sim pipe trace; {} simulated ones built in\n"
        "mode pages: {} files built in\n"
        "sgutils: {}\n"
        "plots: {}\n",
        SGPROBE_VERSION, names, sim::builtin_drives().size(), pages, sg_lib_version(), gnuplot_here() ? "gnuplot is here" : "gnuplot is not here (install gnuplot-nox)");
}

}
