// sgprobe limits: the largest transfer each opcode takes, what happens past it, and which layer says no.
#include <fmt/format.h>

#include <algorithm>

#include "sgprobe/cli/run_each.h"
#include "sgprobe/cli/subcommand.h"
#include "sgprobe/measure/limit_probe.h"
#include "sgprobe/measure/limits.h"
#include "sgprobe/measure/run_clock.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::cli {
namespace {

// "read10", "read-dma-ext" for READ(10), READ DMA EXT.
std::string word_of(std::string_view opcode) {
    std::string word;
    for (const char c : opcode)
        if (std::isalnum(static_cast<unsigned char>(c))) word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        else if (c == ' ') word += '-';
    return word;
}

std::vector<std::string> opcodes_of(const std::string& list) {
    std::vector<std::string> names;
    std::string known;
    for (const auto& opcode : measure::limit_opcodes())
        if (!opcode.write) known += (known.empty() ? "" : ", ") + word_of(opcode.name);
    for (std::size_t from = 0; from <= list.size();) {
        const std::size_t comma = std::min(list.find(',', from), list.size());
        const std::string word = list.substr(from, comma - from);
        const auto rows = measure::limit_opcodes();
        const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& opcode) { return !opcode.write && word_of(opcode.name) == word; });
        if (found == rows.end()) throw Failure(ExitStatus::syntax, fmt::format("--opcodes: \"{}\" is none of {}", word, known));
        names.emplace_back(found->name);
        from = comma + 1;
    }
    return names;
}

class Limits : public Command {
    std::vector<std::string> names_;
    measure::LimitsOptions options_;

    void setup(const Arguments& a) override {
        names_ = a.positionals();
        if (const auto list = a.text("opcodes")) options_.opcodes = opcodes_of(*list);
        options_.start = a.number("start");
        if (const auto count = a.number("max-timeouts")) {
            if (*count == 0 || *count > 1000) throw Failure(ExitStatus::syntax, "--max-timeouts: from 1 to 1000");
            options_.max_timeouts = static_cast<unsigned>(*count);
        }
        options_.spare_last_blocks = a.has("spare-last-blocks");
        options_.budget = a.time("budget");
        if (options_.budget && *options_.budget <= Nanoseconds(0)) throw Failure(ExitStatus::syntax, "--budget: no time is no measurement");
        if (const auto seed = a.number("seed")) options_.seed = *seed;
    }

    int run(Context& context) override {
        return run_each(context, names_, [&](Host& host, Drive& drive) {
            measure::LimitsOptions options = options_;
            options.progress = context.progress();
            const measure::RunClock clock(host);
            auto result = measure::limits_result(measure::measure_limits(host, drive, options));
            clock.stamp(result);
            context.print(result);
            return context.exit_status(result);
        });
    }
};

}

extern const Subcommand limits_subcommand;
const Subcommand limits_subcommand{
    .name = "limits",
    .summary = "the largest transfer each opcode takes, what happens past it, and which layer says no",
    .description =
        "Reads with longer and longer commands of each opcode, finds the longest that works and the shortest that does not to the block, and "
        "says what the failure is: an error with sense data, a time-out, a disconnect, wrong data without an error, or a refusal by the host. "
        "What arrives is compared with the same blocks read in small commands. The answer names the layer that says no: the drive, the drive as "
        "it declares (VPD page B0h), the host and which of its limits, the transport, the CDB's transfer length field, or the end of the disk.\n\n"
        "After a time-out the drive is waited for, and only shorter commands are sent. Commands that fail now and then at any length are told "
        "from a limit. Nothing is written.",
    .positionals = {"DEV...", 1, many},
    .options = {
        {"opcodes", 0, "LIST", "only these: read6, read10, read12, read16, read-dma-ext, read-fpdma-queued", "every READ; ATA's where the drive is ATA"},
        {"start", 0, "LBA", "read from this block on", "a stretch below block 2,097,152 whose content tells"},
        {"max-timeouts", 0, "N", "time-outs and disconnects that may be spent", "12 in virtual time, 3 else"},
        {"spare-last-blocks", 0, "", "keep away from the last 8 blocks, for drives that crash there"},
        {"seed", 0, "N", "the seed of the random lengths", "1"},
    },
    .groups = {&budget_options, &verdict_options, &output_options, &drive_options},
    .make = make_command<Limits>};

}
