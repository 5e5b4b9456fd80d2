// sgprobe experiment: which setting matters, how much, and is there any combination that cures it.
#include <fmt/format.h>

#include "sgprobe/cli/run_each.h"
#include "sgprobe/cli/settings.h"
#include "sgprobe/cli/subcommand.h"
#include "sgprobe/measure/experiment_script.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::cli {
namespace {

class Experiment : public Command {
    std::vector<std::string> names_;
    measure::ExperimentOptions options_;
    SettingsOptions settings_;
    bool save_ = false;

    void setup(const Arguments& a) override {
        names_ = a.positionals();
        const auto vary = a.texts("vary");
        if (vary.empty()) {
            if (names_.size() < 2) throw Failure(ExitStatus::syntax, "experiment takes a script and a drive, or --vary KEY=LEVEL,LEVEL and a drive");
            options_ = measure::load_experiment(names_.front());
            names_.erase(names_.begin());
        } else {
            if (names_.empty()) throw Failure(ExitStatus::syntax, "experiment: which drive? sgprobe list shows those of this machine");
            options_.name = "--vary";
            for (const std::string& one : vary) options_.factors.push_back(measure::parse_vary(one));
        }
        if (const auto design = a.one_of("design", {"automatic", "one-at-a-time", "pairs", "full"}))
            options_.design = *design == "full" ? measure::Design::full : *design == "pairs" ? measure::Design::pairs : *design == "one-at-a-time" ? measure::Design::one_at_a_time : measure::Design::automatic;
        if (const auto size = a.number("size")) {
            if (!options_.response) options_.response.emplace();
            options_.response->size_bytes = *size;
        }
        if (const auto depth = a.number("depth")) {
            if (*depth == 0 || *depth > 256) throw Failure(ExitStatus::syntax, "--depth: from 1 to 256");
            if (!options_.response) options_.response.emplace();
            options_.response->depth = static_cast<unsigned>(*depth);
        }
        if (const auto replicates = a.number("replicates")) {
            if (*replicates == 0 || *replicates > 1000) throw Failure(ExitStatus::syntax, "--replicates: from 1 to 1000");
            options_.replicates = static_cast<unsigned>(*replicates);
        }
        if (const auto reference = a.number("reference")) options_.reference_bytes = *reference;
        if (const auto budget = a.time("budget")) options_.budget = *budget;
        if (options_.budget <= Nanoseconds(0)) throw Failure(ExitStatus::syntax, "--budget: no time is no measurement");
        if (const auto threshold = a.fraction("threshold")) options_.threshold = *threshold;
        if (const auto seed = a.number("seed")) options_.seed = *seed;
        options_.find_best = a.has("find-best");
        save_ = a.has("save");
        options_.keep_best = a.has("keep") || save_;
        settings_ = SettingsOptions::from(a);
    }

    int run(Context& context) override {
        const pages::Catalogue catalogue(settings_.modepages);
        return run_each(context, names_, [&](Host& host, Drive& drive) {
            if (context.options().dry_run) {
                for (const measure::Factor& f : options_.factors) {
                    std::string levels;
                    for (const std::string& level : f.levels) levels += (levels.empty() ? "" : ", ") + level;
                    context.note(fmt::format("{}: would set {} to {} in turn, and measure; nothing is sent", drive.name(), f.key, levels));
                }
                return 0;
            }
            auto transaction = transaction_options(context, drive.spec(), settings_);
            transaction.save = false;
            pages::Transaction settings(host, drive, catalogue, transaction);
            const auto found = measure::run_experiment(host, drive, settings, options_, context.progress());
            context.print(found.result);
            if (save_ && found.best && !found.result.interrupted) save(context, host, drive, catalogue, transaction, found);
            return context.exit_status(found.result);
        });
    }

    // The best is in force; saving it is a change of its own, of the saved page.
    static void save(Context& context, Host& host, Drive& drive, const pages::Catalogue& catalogue, pages::TransactionOptions options, const measure::ExperimentResult& found) {
        options.save = true;
        pages::Transaction settings(host, drive, catalogue, options);
        std::string text = found.treatments[*found.best].text;
        for (char& c : text)
            if (c == ' ') c = ',';
        for (const pages::Change& change : settings.set(pages::parse_assignments(text)))
            context.note(fmt::format("{}: saved: {}", drive.name(), pages::describe(change)));
        settings.keep();
    }
};

}

extern const Subcommand experiment_subcommand;
const Subcommand experiment_subcommand{
    .name = "experiment",
    .summary = "probes under varied settings, and their effects, always put back",
    .description =
        "Measures the drive under each combination of settings that SCRIPT (see sgprobe-experiment(5)) or --vary names, in blocks of random order, "
        "and says which setting matters, by how much, how sure that is, and whether any combination brings back the rate. SCRIPT is a file, or one "
        "that comes with the program: prefetch, write-behind, segments, look-ahead.\n\n"
        "Settings are changed as sgprobe mode changes them, with a journal, and put back at the end whatever happens. Nothing is written to the "
        "medium.",
    .positionals = {"[SCRIPT] DEV...", 1, many},
    .options = {
        {"vary", 0, "KEY=LEVEL,LEVEL...", "vary this setting, without a script: numbers, -1 (all ones), current, default, saved, FIRST:LAST:STEP", {}, true},
        {"design", 0, "automatic|one-at-a-time|pairs|full", "which combinations are measured", "automatic"},
        {"find-best", 0, "", "search all combinations by successive halving where there are too many for a full design"},
        {"size", 0, "BYTES", "the request size whose rate is looked at", "past the cliff"},
        {"depth", 0, "N", "commands outstanding", "1"},
        {"reference", 0, "BYTES", "the request size whose rate is to be reached", "before the cliff"},
        {"replicates", 0, "N", "a fixed number of blocks, instead of as many as it takes to be sure"},
        {"threshold", 0, "FRACTION", "the least change that matters", "10%"},
        {"keep", 0, "", "leave the best combination set"},
        {"save", 0, "", "leave the best combination set, and save it"},
        {"seed", 0, "N", "the seed of the random order", "1"},
    },
    .groups = {&budget_options, &settings_options, &output_options, &plot_options, &verdict_options, &drive_options},
    .make = make_command<Experiment>};

}
