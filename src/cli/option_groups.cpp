#include "sgprobe/cli/option.h"

namespace sgprobe::cli {
namespace {

constexpr Option output_rows[] = {
    {"json", 0, "", "print the result as JSON (schema sgprobe/1): one line, unless it goes to a terminal"},
    {"csv", 0, "", "print the samples as comma-separated values, a header line first"},
    {"format", 0, "text|json|csv|list|openmetrics", "print in this format; list is the classic posting to a mailing list", "text"},
    {"output", 'o', "FILE", "write to FILE, which must not exist yet, instead of standard output"},
    {"force", 0, "", "overwrite files that exist, and do what is refused for safety where the message says so"},
};
constexpr Option plot_rows[] = {
    {"plot", 0, "FILE", "draw the result with gnuplot into FILE (.svg, .png or .pdf), or in the terminal where FILE is -"},
};
constexpr Option budget_rows[] = {
    {"budget", 0, "TIME", "take no more than this much of the drive's time (90s, 2m)", "60s"},
};
constexpr Option drive_rows[] = {
    {"verbose", 'v', "", "show every error with its CDB, status and sense data, raw and decoded; twice: every command", {}, true},
    {"dry-run", 'n', "", "show what would be sent, and send nothing that touches the medium or changes the drive"},
    {"trace", 0, "FILE", "record every command and completion in FILE, which trace:FILE replays"},
    {"anonymous", 0, "", "leave serial numbers out of what is printed and recorded"},
    {"timeout", 0, "TIME", "give up on a command after this time", "60s"},
    {"host-overhead", 0, "TIME", "turnaround that the host adds to each command of a simulated drive or model", "20us"},
};
constexpr Option verdict_rows[] = {
    {"check", 0, "", "exit with status 36 where a cliff was found and 39 where the result is inconclusive"},
};

}

constinit const OptionGroup output_options{"Output", output_rows};
constinit const OptionGroup plot_options{"Plots", plot_rows};
constinit const OptionGroup budget_options{"Budget", budget_rows};
constinit const OptionGroup drive_options{"Drives and commands", drive_rows};
constinit const OptionGroup verdict_options{"Verdict", verdict_rows};

}
