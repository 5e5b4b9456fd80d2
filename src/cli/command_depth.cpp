// sgprobe depth: rate against queue depth, the cliff along it, and what queueing gains.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "sgprobe/cli/run_each.h"
#include "sgprobe/cli/settings.h"
#include "sgprobe/cli/subcommand.h"
#include "sgprobe/measure/depth.h"
#include "sgprobe/pages/kernel_view.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::cli {
namespace {

class Depth : public Command {
    std::vector<std::string> names_;
    measure::DepthOptions options_;
    SettingsOptions settings_;
    std::string with_;                              // "WCE"
    std::vector<std::string> values_;               // "0", "1"
    bool udev_ = false;

    void setup(const Arguments& a) override {
        names_ = a.positionals();
        for (const std::uint64_t depth : a.numbers("depths")) {
            if (depth == 0 || depth > 256) throw Failure(ExitStatus::syntax, "--depths: from 1 to 256");
            options_.depths.push_back(static_cast<unsigned>(depth));
        }
        if (const auto pattern = a.one_of("pattern", {"seq-read", "rand-read", "both"}); pattern && *pattern != "both") options_.patterns = {*pattern};
        if (const auto size = a.number("size")) {
            if (*size == 0) throw Failure(ExitStatus::syntax, "--size: a request of 0 bytes measures nothing");
            options_.sequential_bytes = options_.random_bytes = *size;
        }
        options_.start = a.number("start");
        if (const auto budget = a.time("budget")) options_.budget = *budget;
        if (options_.budget <= Nanoseconds(0)) throw Failure(ExitStatus::syntax, "--budget: no time is no measurement");
        if (const auto threshold = a.fraction("threshold")) options_.threshold = *threshold;
        if (const auto rounds = a.number("rounds")) {
            if (*rounds == 0 || *rounds > 10'000) throw Failure(ExitStatus::syntax, "--rounds: from 1 to 10000");
            options_.rounds = static_cast<unsigned>(*rounds);
        }
        if (const auto seed = a.number("seed")) options_.seed = *seed;
        if (const auto with = a.text("with")) {
            const std::size_t equals = with->find('=');
            if (equals == with->npos || equals == 0 || equals + 1 == with->size()) throw Failure(ExitStatus::syntax, "--with wants KEY=VALUE,VALUE, for example --with WCE=0,1");
            with_ = with->substr(0, equals);
            for (std::size_t from = equals + 1; from <= with->size();) {
                const std::size_t comma = std::min(with->find(',', from), with->size());
                values_.push_back(with->substr(from, comma - from));
                pages::parse_assignments(with_ + "=" + values_.back());   // refused here, before anything is opened
                from = comma + 1;
            }
        }
        udev_ = a.has("udev");
        a.exclusive({"udev", "json", "csv", "format"});
        settings_ = SettingsOptions::from(a);
    }

    unsigned deepest(const Drive& drive) const {
        if (!options_.depths.empty()) return *std::max_element(options_.depths.begin(), options_.depths.end());
        return std::min(drive.limits().depth, 32u);
    }

    int print(Context& context, Drive& drive, const measure::Result& result) const {
        if (udev_) context.print_udev(result);
        else context.print(result);
        if (result.exit_status != 0) context.note(fmt::format("{}: {}", drive.name(), result.reason));
        return context.exit_status(result);
    }

    int run(Context& context) override {
        return run_each(context, names_, [&](Host& host, Drive& drive) {
            const auto kernel = pages::KernelView::of(drive.spec());
            const auto kernel_depth = kernel.read("queue_depth");
            unsigned in_kernel = 0;
            if (kernel_depth) std::from_chars(kernel_depth->data(), kernel_depth->data() + kernel_depth->size(), in_kernel);
            const bool raise = in_kernel > 0 && in_kernel < deepest(drive);
            measure::DepthOptions options = options_;
            if (context.options().dry_run || (!raise && values_.empty())) return print(context, drive, measure::measure_depth(host, drive, options, context.progress()));

            const pages::Catalogue catalogue(settings_.modepages);
            pages::Transaction settings(host, drive, catalogue, transaction_options(context, drive.spec(), settings_));
            if (raise) {
                const auto changes = settings.set(pages::parse_assignments(fmt::format("queue_depth={}", deepest(drive))));
                for (const auto& change : changes)
                    if (!change.good()) context.note(fmt::format("{}: the kernel's queue_depth of {} is in the way of deeper queues: {}", drive.name(), in_kernel, pages::describe(change)));
            }
            int status = 0;
            if (values_.empty()) status = print(context, drive, measure::measure_depth(host, drive, options, context.progress()));
            for (const std::string& value : values_) {
                for (const auto& change : settings.set(pages::parse_assignments(with_ + "=" + value)))
                    if (!change.good()) throw Failure(ExitStatus::illegal_request, fmt::format("{}: {}", drive.name(), pages::describe(change)));
                options.also = {{"with", with_ + "=" + value}};
                const auto result = measure::measure_depth(host, drive, options, context.progress());
                if (context.options().format == Format::text && !udev_) context.print_text(fmt::format("\nWith {}={}\n", with_, value));
                const int one = print(context, drive, result);
                if (status == 0) status = one;
                if (result.interrupted) break;
            }
            const auto back = settings.restore();
            if (!back.complete()) throw Failure(ExitStatus::other, fmt::format("{}: settings could not be put back: {}; sgprobe restore will try again", drive.name(), back.failed.front()));
            return status;
        });
    }
};

}

extern const Subcommand depth_subcommand;
const Subcommand depth_subcommand{
    .name = "depth",
    .summary = "rate against queue depth, sequential and random, and the cliff; hidden retries",
    .description =
        "Reads the drive with 1, 2, 3 and more commands outstanding, sequentially and at random, in rounds of random order, and says past which "
        "depth it is slower and what a deeper queue gains. The place of a loss is found to the command. Where the drive answers TASK SET FULL, "
        "or the kernel hides that it does, this is told, and is not taken for a slow drive.\n\n"
        "A kernel queue_depth below what is asked is raised for the run and put back. Nothing is written.",
    .positionals = {"DEV...", 1, many},
    .options = {
        {"depths", 0, "LIST", "queue depths: a list (1,2,4) or a range (1-32)", "1,2,3,4,6,8,12,16,24,32"},
        {"pattern", 0, "seq-read|rand-read|both", "what is read", "both"},
        {"size", 0, "BYTES", "the request size", "64k sequential, 4k random"},
        {"start", 0, "LBA", "read from this block on", "0"},
        {"with", 0, "KEY=VALUE,VALUE", "the same under each value of a setting, which is put back at the end: WCE=0,1"},
        {"threshold", 0, "FRACTION", "call no smaller loss a cliff", "10%"},
        {"rounds", 0, "N", "a fixed plan of N rounds, instead of as many as it takes to be sure"},
        {"seed", 0, "N", "the seed of the random order", "1"},
        {"udev", 0, "", "print the udev rule that works around what was found, and nothing else"},
    },
    .groups = {&budget_options, &settings_options, &verdict_options, &output_options, &plot_options, &drive_options},
    .make = make_command<Depth>};

}
