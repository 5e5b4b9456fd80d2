// Puts a drive's settings back as a journal has them: sgprobe-journal(5), PUTTING BACK. The one way back, for the program itself, for
// its guardian, and for `sgprobe restore`.
#pragma once
#include <string>
#include <vector>

#include "sgprobe/pages/journal.h"
#include "sgprobe/pages/kernel_view.h"
#include "sgprobe/pages/mode_access.h"

namespace sgprobe::pages {

struct RestoreReport {
    std::vector<std::string> restored;            // "DPTL of page 08h: 65535 -> 512"
    std::vector<std::string> left;                // somebody else's later change
    std::vector<std::string> failed;              // what the drive would not do, in words
    unsigned already = 0;                         // pages, features and attributes that were as before
    bool complete() const { return failed.empty(); }
};

// Never throws for what the drive does: that is in the report. The journal itself stays with the caller.
RestoreReport put_back(ModeAccess&, const KernelView&, const Journal&);

}
