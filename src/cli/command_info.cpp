#include "sgprobe/cli/run_each.h"
#include "sgprobe/cli/subcommand.h"
#include "sgprobe/measure/facts.h"
#include "sgprobe/report/facts.h"
#include "sgprobe/report/format.h"

namespace sgprobe::cli {
namespace {

class Info : public Command {
    std::vector<std::string> names_;
    std::string pages_;

    void setup(const Arguments& a) override {
        names_ = a.positionals();
        pages_ = a.text("modepages").value_or("");
    }

    int run(Context& context) override {
        const pages::Catalogue catalogue(pages_);
        const bool anonymous = context.options().anonymous;
        return run_each(context, names_, [&](Host& host, Drive& drive) {
            const auto facts = measure::gather_facts(host, drive, catalogue, kernel_device(drive.spec()), anonymous);
            switch (context.options().format) {
                case Format::json: context.print(report::to_value(facts, anonymous)); break;
                case Format::csv: context.print_text(report::csv(facts)); break;
                default: context.print_text(report::text(facts)); break;
            }
            return facts.exit_status;
        });
    }
};

}

extern const Subcommand info_subcommand;
const Subcommand info_subcommand{
    .name = "info",
    .summary = "all that identifies a drive and decides a measurement",
    .description =
        "INQUIRY, vital product data, capacity, IDENTIFY of an ATA drive, the caching page, and the limits of kernel and host adapter with "
        "where each comes from. It only asks; nothing is changed.",
    .positionals = {"DEV...", 1, many},
    .options = {{"modepages", 0, "DIR", "read the files of mode pages from DIR too, over the built-in ones"}},
    .groups = {&output_options, &drive_options},
    .make = make_command<Info>};

}
