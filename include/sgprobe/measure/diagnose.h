// `sgprobe diagnose`: size, depth and the settings that matter to what they found, within one budget; what is wrong, how sure that
// is, and what works around it.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sgprobe/measure/progress.h"
#include "sgprobe/measure/result.h"
#include "sgprobe/pages/transaction.h"
#include "sgprobe/transport/drive.h"

namespace sgprobe::measure {

struct DiagnoseOptions {
    Nanoseconds budget = std::chrono::minutes(2);   // of drive time, for all parts
    Bytes most_bytes = 500'000'000;                 // to be read, for all parts
    double threshold = 0.10;
    std::uint64_t seed = 1;
    std::vector<std::string> known;                 // sentences on the model: known quirks
    std::function<std::unique_ptr<pages::Transaction>()> settings;   // called where settings are worth varying; empty: never
};

// Result::parts holds what each probe found; cliffs, advice and notes are theirs together; section "sentence" is the page's headline.
// Throws Failure where not even the first part can begin. A part that fails later is told in its row, with its exit status.
Result diagnose(Host&, Drive&, const DiagnoseOptions&, const Progress&);

}
