// sgprobe cache: what the firmware does inside, told by timing alone.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sgprobe/cli/run_each.h"
#include "sgprobe/cli/subcommand.h"
#include "sgprobe/measure/cache.h"
#include "sgprobe/measure/run_clock.h"
#include "sgprobe/measure/subject.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::cli {
namespace {

class Cache : public Command {
    std::vector<std::string> names_;
    measure::CacheOptions options_;

    void setup(const Arguments& a) override {
        names_ = a.positionals();
        if (const auto list = a.text("only")) {
            const auto groups = measure::cache_groups();
            for (std::size_t from = 0; from <= list->size();) {
                const std::size_t comma = std::min(list->find(',', from), list->size());
                const std::string word = list->substr(from, comma - from);
                if (std::find(groups.begin(), groups.end(), word) == groups.end())
                    throw Failure(ExitStatus::syntax, fmt::format("--only: \"{}\" is none of {}", word, fmt::join(groups, ", ")));
                options_.only.push_back(word);
                from = comma + 1;
            }
        }
        if (const auto budget = a.time("budget")) options_.budget = *budget;
        if (options_.budget <= Nanoseconds(0)) throw Failure(ExitStatus::syntax, "--budget: no time is no measurement");
        if (const auto seed = a.number("seed")) options_.seed = *seed;
    }

    int run(Context& context) override {
        return run_each(context, names_, [&](Host& host, Drive& drive) {
            measure::CacheOptions options = options_;
            options.progress = context.progress();
            const measure::RunClock clock(host);
            const measure::Subject subject = measure::identify(host, drive);
            const auto settings = measure::caching_settings(host, drive);
            auto result = measure::cache_result(measure::measure_cache(host, drive, subject, settings, options), subject);
            result.settings_before = result.settings_after = settings;
            clock.stamp(result);
            add_host_facts(result);
            context.print(result);
            return context.exit_status(result);
        });
    }
};

}

extern const Subcommand cache_subcommand;
const Subcommand cache_subcommand{
    .name = "cache",
    .summary = "what the firmware does: overhead, bus rate, rotation, segments, prefetch, media rate",
    .description =
        "Reads chosen blocks in chosen order and tells from the times alone what the firmware does: what a command costs, how fast the bus is, "
        "how long a turn takes, how many segments the cache has and how long they are, how far it reads ahead, how fast the media stream, how "
        "long a track is. Each item stands beside what the drive claims. An item that cannot be told says so, and why.\n\n"
        "Nothing is written, no setting is changed.",
    .positionals = {"DEV...", 1, many},
    .options = {
        {"only", 0, "LIST", "only these: overhead, rotation, segments, prefetch, zones, tracks"},
        {"seed", 0, "N", "the seed of the addresses", "1"},
    },
    .groups = {&budget_options, &verdict_options, &output_options, &drive_options},
    .make = make_command<Cache>};

}
