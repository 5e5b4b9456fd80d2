#include "sgprobe/sim/state_file.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>

#include "sgprobe/transport/escape.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::sim {
namespace {

bool from_hex(const std::string& text, ByteVector& bytes) {
    if (text.size() != bytes.size() * 2 || text.find_first_not_of("0123456789abcdef") != std::string::npos) return false;
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(std::stoul(text.substr(2 * i, 2), nullptr, 16));
    return true;
}

}

void load_state(ModePages& modes, const std::string& path) {
    std::ifstream file(path);
    std::string word, current, saved;
    unsigned code = 0, subpage = 0;
    bool whole = false;
    while (file >> word) {
        if (word == "end") {
            whole = true;
            break;
        }
        if (!(file >> std::hex >> code >> subpage >> current >> saved)) break;
        bool fits = false;
        for (ModePages::Page& page : modes.pages()) {
            if (word != "page" || page.model.code != code || page.model.subpage != subpage) continue;
            fits = from_hex(current, page.current) && from_hex(saved, page.model.saved);
            for (std::size_t i = 0; fits && i < page.current.size(); ++i)
                page.obeyed[i] = static_cast<std::uint8_t>((page.current[i] & ~page.model.ignored[i]) | (page.model.defaults[i] & page.model.ignored[i]));
        }
        if (!fits) throw Failure(ExitStatus::malformed, fmt::format("{}: this is not the state of such a simulated drive; remove it to begin anew", escaped(path)));
    }
    if (file.is_open() && !whole) throw Failure(ExitStatus::malformed, fmt::format("{}: the state of the simulated drive is torn: its last line is missing; remove it to begin anew", escaped(path)));
}

void store_state(const ModePages& modes, const std::string& path) {
    const std::string fresh = path + ".new";
    {
        std::ofstream file(fresh);
        for (const ModePages::Page& page : modes.pages())
            file << fmt::format("page {:02x} {:02x} {} {}\n", page.model.code, page.model.subpage, hex(page.current), hex(page.model.saved));
        file << "end\n";
        file.close();
        if (!file) throw Failure(ExitStatus::file_error, fmt::format("{}: the drive's state cannot be written", escaped(fresh)));
    }
    if (std::rename(fresh.c_str(), path.c_str()) != 0) throw Failure(ExitStatus::file_error, fmt::format("{}: the drive's state cannot be written", escaped(path)));
}

}
