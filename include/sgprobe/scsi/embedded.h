// The project's data files (drives, mode pages, experiments, quirks) as compiled in; made by tools/embed.
#pragma once
#include <span>
#include <string_view>

namespace sgprobe {

struct EmbeddedFile {
    std::string_view name;     // path in the source tree, e.g. "src/sim/drives/stm316021.toml"
    std::string_view content;
};

std::span<const EmbeddedFile> embedded_files();

}
