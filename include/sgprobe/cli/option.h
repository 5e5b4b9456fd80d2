// Options as rows of data: parsing, --help, the man page, completion and the tests all read these.
#pragma once
#include <span>
#include <string_view>

namespace sgprobe::cli {

struct Option {
    std::string_view name;          // "budget", given as --budget
    char letter = 0;                // 'v' for -v as well; 0: none
    std::string_view argument;      // "TIME"; empty: takes none. "FILE", "DIR" and "A|B|C" also tell completion what to offer
    std::string_view help;          // a phrase in lower case without a full stop
    std::string_view fallback = {}; // the default as shown to people; empty: none
    bool repeated = false;          // may be given more than once
};

// A group of options that several subcommands share.
struct OptionGroup {
    std::string_view title;
    std::span<const Option> rows;
};

extern const OptionGroup output_options;   // --json --csv --format --output --force
extern const OptionGroup plot_options;     // --plot
extern const OptionGroup budget_options;   // --budget
extern const OptionGroup drive_options;    // -v --dry-run --trace --anonymous --timeout --host-overhead
extern const OptionGroup verdict_options;  // --check

}
