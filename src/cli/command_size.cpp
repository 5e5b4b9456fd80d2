// sgprobe size: rate against transfer length, and the cliff.
#include <fmt/format.h>

#include "sgprobe/cli/run_each.h"
#include "sgprobe/cli/subcommand.h"
#include "sgprobe/measure/size.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::cli {
namespace {

constexpr std::pair<std::string_view, scsi::RwOpcode> opcodes[] = {
    {"read6", scsi::RwOpcode::read6}, {"read10", scsi::RwOpcode::read10}, {"read12", scsi::RwOpcode::read12}, {"read16", scsi::RwOpcode::read16}};

class Size : public Command {
    std::vector<std::string> names_;
    measure::SizeOptions options_;
    bool udev_ = false;

    void setup(const Arguments& a) override {
        names_ = a.positionals();
        options_.sizes_bytes = a.numbers("sizes");
        for (Bytes size : options_.sizes_bytes)
            if (size == 0) throw Failure(ExitStatus::syntax, "--sizes: a transfer of 0 bytes measures nothing");
        if (const auto word = a.one_of("opcode", {"read6", "read10", "read12", "read16"}))
            for (const auto& [name, opcode] : opcodes)
                if (name == *word) options_.opcode = opcode;
        options_.start = a.number("start");
        if (const auto budget = a.time("budget")) options_.budget = *budget;
        if (options_.budget <= Nanoseconds(0)) throw Failure(ExitStatus::syntax, "--budget: no time is no measurement");
        if (const auto threshold = a.fraction("threshold")) options_.threshold = *threshold;
        if (const auto rounds = a.number("rounds")) {
            if (*rounds == 0 || *rounds > 10'000) throw Failure(ExitStatus::syntax, "--rounds: from 1 to 10000");
            options_.rounds = static_cast<unsigned>(*rounds);
        }
        if (const auto seed = a.number("seed")) options_.seed = *seed;
        udev_ = a.has("udev");
        a.exclusive({"udev", "json", "csv", "format"});
    }

    int run(Context& context) override {
        return run_each(context, names_, [&](Host& host, Drive& drive) {
            const auto result = measure::measure_size(host, drive, options_, context.progress());
            if (!udev_) {
                context.print(result);
                if (result.exit_status != 0) context.note(fmt::format("{}: {}", drive.name(), result.reason));
                return context.exit_status(result);
            }
            context.print_udev(result);
            return context.exit_status(result);
        });
    }
};

}

extern const Subcommand size_subcommand;
const Subcommand size_subcommand{
    .name = "size",
    .summary = "rate against transfer length, and the cliff",
    .description =
        "Reads the drive sequentially with commands of many transfer lengths, in rounds of random order over blocks that it has not read "
        "before, until the answer is sure or the budget is spent. A length past which the drive is slower, by more than the threshold and by "
        "more than chance, is a cliff: it is then found to the block, and the setting that works around it is printed.\n\n"
        "Nothing is written.",
    .positionals = {"DEV...", 1, many},
    .options = {
        {"sizes", 0, "LIST", "transfer lengths in bytes: a list (64k,256k,1M) or a range (FIRST:LAST:STEP)", "4k,8k,16k,32k,64k:1M:64k"},
        {"opcode", 0, "read6|read10|read12|read16", "the command to read with", "read10, or read16 past 2 TiB"},
        {"start", 0, "LBA", "read from this block on, as the rate depends on where on the disk it is", "0"},
        {"threshold", 0, "FRACTION", "call no smaller loss a cliff", "10%"},
        {"rounds", 0, "N", "a fixed plan of N rounds, instead of as many as it takes to be sure"},
        {"seed", 0, "N", "the seed of the random order", "1"},
        {"udev", 0, "", "print the udev rule that works around what was found, and nothing else"},
    },
    .groups = {&budget_options, &verdict_options, &output_options, &plot_options, &drive_options},
    .make = make_command<Size>};

}
