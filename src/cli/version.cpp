#include "sgprobe/cli/version.h"

#include <fmt/format.h>

namespace sgprobe::cli {

std::string version_text() {
    return "sgprobe " SGPROBE_VERSION "\n";
}

}
