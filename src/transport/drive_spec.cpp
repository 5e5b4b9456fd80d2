#include "sgprobe/transport/drive_spec.h"

#include <algorithm>
#include <array>

#include "sgprobe/transport/escape.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe {
namespace {

constexpr std::string_view hint = "a drive is /dev/sgN, /dev/sdX, sim:NAME, sim:FILE.toml, pipe:COMMAND or trace:FILE";

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
    throw Failure(ExitStatus::syntax, "\"" + escaped(text, 200) + "\" names no drive: " + why + " (" + std::string(hint) + ")");
}

void parse_options(DriveSpec& spec, std::string_view options) {
    while (!options.empty()) {
        const std::string_view option = options.substr(0, options.find(','));
        options.remove_prefix(std::min(options.size(), option.size() + 1));
        const std::size_t equals = option.find('=');
        if (equals == 0 || equals == option.npos) refuse(spec.text, "\"" + escaped(option, 80) + "\" is not KEY=VALUE");
        const std::string key(option.substr(0, equals));
        if (!spec.options.emplace(key, option.substr(equals + 1)).second) refuse(spec.text, "\"" + escaped(key, 80) + "\" stands twice");
    }
}

}

DriveSpec DriveSpec::parse(std::string_view text) {
    DriveSpec spec;
    spec.text = text;
    if (text.empty()) refuse(text, "it is empty");
    if (text.find('\0') != text.npos) refuse(text, "it holds a NUL byte");
    static constexpr std::array<std::string_view, 3> schemes{"sim", "pipe", "trace"};
    for (const std::string_view scheme : schemes) {
        if (text.size() <= scheme.size() || !text.starts_with(scheme) || text[scheme.size()] != ':') continue;
        spec.scheme = scheme;
        spec.rest = text.substr(scheme.size() + 1);
        if (scheme == "sim") {
            const std::size_t comma = spec.rest.find(',');
            if (comma != std::string::npos) {
                const std::string options = spec.rest.substr(comma + 1);
                spec.rest.resize(comma);
                if (options.empty()) refuse(text, "nothing follows the comma");
                parse_options(spec, options);
            }
        }
        if (spec.rest.find_first_not_of(" \t") == std::string::npos) refuse(text, "nothing follows \"" + std::string(scheme) + ":\"");
        return spec;
    }
    if (text.find('/') != text.npos) {
        spec.scheme = "sg";
        spec.rest = text;
        return spec;
    }
    if (text.find(':') != text.npos) refuse(text, "there is no such kind of drive");
    const bool bare = text.starts_with("sg") || text.starts_with("sd");
    refuse(text, bare ? "did you mean /dev/" + escaped(text, 80) + "?" : "did you mean sim:" + escaped(text, 80) + "?");
}

}
