// sgprobe diagnose: all of it within a budget; one page that says what is wrong, how sure, and the fix.
#include <fmt/format.h>

#include "sgprobe/cli/run_each.h"
#include "sgprobe/cli/settings.h"
#include "sgprobe/cli/subcommand.h"
#include "sgprobe/measure/diagnose.h"
#include "sgprobe/measure/facts.h"
#include "sgprobe/measure/run_clock.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::cli {
namespace {

class Diagnose : public Command {
    std::vector<std::string> names_;
    measure::DiagnoseOptions options_;
    SettingsOptions settings_;
    bool vary_ = true;

    void setup(const Arguments& a) override {
        names_ = a.positionals();
        if (const auto budget = a.time("budget")) options_.budget = *budget;
        if (options_.budget <= Nanoseconds(0)) throw Failure(ExitStatus::syntax, "--budget: no time is no measurement");
        if (const auto threshold = a.fraction("threshold")) options_.threshold = *threshold;
        if (const auto seed = a.number("seed")) options_.seed = *seed;
        vary_ = !a.has("keep-settings");
        settings_ = SettingsOptions::from(a);
    }

    int run(Context& context) override {
        const pages::Catalogue catalogue(settings_.modepages);
        return run_each(context, names_, [&](Host& host, Drive& drive) {
            if (context.options().dry_run) {
                context.note(fmt::format("{}: would measure transfer lengths and queue depths, and vary the settings that matter to what is found; nothing is sent", drive.name()));
                return 0;
            }
            measure::DiagnoseOptions options = options_;
            options.known = known(host, drive, catalogue);
            if (vary_)
                options.settings = [&] { return std::make_unique<pages::Transaction>(host, drive, catalogue, transaction_options(context, drive.spec(), settings_)); };
            const measure::RunClock clock(host);
            auto result = measure::diagnose(host, drive, options, context.progress());
            clock.stamp(result);
            add_host_facts(result);
            context.print(result);
            if (result.exit_status != 0) context.note(fmt::format("{}: {}", drive.name(), result.reason));
            return context.exit_status(result);
        });
    }

    // Sentences on the model from the list of known quirks, which are obeyed from then on.
    static std::vector<std::string> known(Host& host, Drive& drive, const pages::Catalogue& catalogue) {
        std::vector<std::string> sentences;
        for (const auto& group : measure::gather_facts(host, drive, catalogue, kernel_device(drive.spec()), false).groups)
            if (group.key == "quirks")
                for (const auto& fact : group.facts) sentences.insert(sentences.end(), fact.more.begin(), fact.more.end());
        return sentences;
    }
};

}

extern const Subcommand diagnose_subcommand;
const Subcommand diagnose_subcommand{
    .name = "diagnose",
    .summary = "what is wrong with the drive, how sure that is, and the fix, on one page",
    .description =
        "Measures transfer lengths and queue depths, then varies the settings that could explain what was found, all within one budget of drive "
        "time and 500 MB of reads. One page says what is wrong, how sure that is, which command or udev rule works around it, and what was not "
        "looked at; of a healthy drive it says so, with the numbers. --json holds every part as the probe of its own would print it.\n\n"
        "Settings are changed as sgprobe mode changes them, with a journal, and put back whatever happens. Nothing is written to the medium.",
    .positionals = {"DEV...", 1, many},
    .options = {
        {"threshold", 0, "FRACTION", "call no smaller loss a cliff", "10%"},
        {"keep-settings", 0, "", "vary no setting"},
        {"seed", 0, "N", "the seed of the random order", "1"},
    },
    .groups = {&budget_options, &settings_options, &verdict_options, &output_options, &drive_options},
    .make = make_command<Diagnose>};

}
