// The one place that turns the names of drives into a host of the right kind.
#include <fmt/format.h>

#include "sgprobe/cli/context.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::cli {

OpenDrives Context::open(const std::vector<std::string>& names) {
    throw Failure(ExitStatus::file_error, fmt::format("{} cannot be opened: this program was built without transports", names.front()));
}

}
