// sgprobe matrix: rate by block size, depth and pattern.
#include "sgprobe/cli/run_each.h"
#include "sgprobe/cli/subcommand.h"
#include "sgprobe/measure/matrix.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::cli {
namespace {

class Matrix : public Command {
    std::vector<std::string> names_;
    measure::MatrixOptions options_;

    void setup(const Arguments& a) override {
        names_ = a.positionals();
        options_.blocks_bytes = a.numbers("sizes");
        for (const std::uint64_t depth : a.numbers("depths")) {
            if (depth == 0 || depth > 256) throw Failure(ExitStatus::syntax, "--depths: from 1 to 256");
            options_.depths.push_back(static_cast<unsigned>(depth));
        }
        if (const auto pattern = a.one_of("pattern", {"seq-read", "rand-read"})) options_.patterns = {*pattern};
        if (const auto most = a.number("max-command")) options_.max_command_bytes = *most;
        options_.start = a.number("start");
        if (const auto budget = a.time("budget")) options_.budget = *budget;
        if (options_.budget <= Nanoseconds(0)) throw Failure(ExitStatus::syntax, "--budget: no time is no measurement");
        if (const auto rounds = a.number("rounds")) {
            if (*rounds == 0 || *rounds > 10'000) throw Failure(ExitStatus::syntax, "--rounds: from 1 to 10000");
            options_.rounds = static_cast<unsigned>(*rounds);
        }
        if (const auto seed = a.number("seed")) options_.seed = *seed;
    }

    int run(Context& context) override {
        return run_each(context, names_, [&](Host& host, Drive& drive) {
            const auto result = measure::measure_matrix(host, drive, options_, context.progress());
            context.print(result);
            return context.exit_status(result);
        });
    }
};

}

extern const Subcommand matrix_subcommand;
const Subcommand matrix_subcommand{
    .name = "matrix",
    .summary = "block size x depth x pattern",
    .description =
        "Measures the rate of every block size at every queue depth, reading in sequence and at random addresses, in rounds of random order, "
        "and prints it in the layout in which such figures have always been posted. With --max-command a block is sent as several commands, "
        "as a host with that limit would send it.\n\n"
        "Nothing is written.",
    .positionals = {"DEV...", 1, many},
    .options = {
        {"sizes", 0, "LIST", "block sizes in bytes", "4k,8k,16k,32k,128k,1M"},
        {"depths", 0, "LIST", "how many blocks are asked for at once", "1,4,32, or to the drive's depth"},
        {"pattern", 0, "seq-read|rand-read", "one pattern alone", "both"},
        {"max-command", 0, "BYTES", "split blocks into commands of no more than that", "the limit in force"},
        {"start", 0, "LBA", "read from this block on", "0"},
        {"rounds", 0, "N", "how often each cell is measured", "4"},
        {"seed", 0, "N", "the seed of the random order", "1"},
    },
    .groups = {&budget_options, &output_options, &plot_options, &drive_options},
    .make = make_command<Matrix>};

}
