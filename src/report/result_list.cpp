// The posting that testers send to mailing lists: identity, then a line a size. A kB is 1024 bytes there, a MB 10^6.
#include <fmt/format.h>

#include "sgprobe/report/escape.h"
#include "sgprobe/report/format.h"

namespace sgprobe::report {

std::string list(const measure::Result& r, const Style&) {
    std::string identity = for_terminal(fmt::format("{} {} {}", r.device.vendor, r.device.product, r.device.revision));
    identity.erase(0, identity.find_first_not_of(' '));
    std::string out = (identity.empty() ? for_terminal(r.device.path) : identity) + '\n';
    for (const auto& s : r.samples) {
        if (!s.commands) continue;
        const std::string prefix = s.depth == 1 ? "" : fmt::format("depth {}, ", s.depth);
        std::string kb = fmt::format("{:.3f}", static_cast<double>(s.transfer_bytes) / 1024);
        kb.erase(kb.find_last_not_of('0') + 1);
        if (kb.ends_with('.')) kb.pop_back();
        out += fmt::format("{}{} kB: {:.1f} MB/s\n", prefix, kb, s.rate_mb_s.median);
    }
    return out;
}

}
