#include <fmt/format.h>

#include "sgprobe/report/format.h"
#include "sgprobe/report/names.h"

namespace sgprobe::report {

std::string text(const measure::Result& r, const Style&) { return verdict_sentence(r) + '\n'; }
std::string csv(const measure::Result&, const Style&) { return {}; }
std::string list(const measure::Result&, const Style&) { return {}; }
std::string verdict_sentence(const measure::Result& r) { return fmt::format("{}: {}", name(r.verdict), r.reason); }

}
