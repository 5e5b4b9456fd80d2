#include <fmt/format.h>

#include "sgprobe/cli/subcommand.h"
#include "sgprobe/cli/suggest.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::cli {
namespace {

class Help : public Command {
    std::string about_;
    void setup(const Arguments& arguments) override {
        if (arguments.positionals().empty()) return;
        about_ = arguments.positionals().front();
        if (!find_subcommand(about_))
            throw Failure(ExitStatus::syntax, fmt::format("there is no subcommand \"{}\"; sgprobe --help lists them", about_));
    }
    int run(Context& context) override {
        context.print_text(about_.empty() ? help_text() : help_text(*find_subcommand(about_)));
        return 0;
    }
};

}

extern const Subcommand help_subcommand;
const Subcommand help_subcommand{
    .name = "help", .summary = "what a subcommand does and which options it takes", .description = {},
    .positionals = {"[SUBCOMMAND]", 0, 1}, .options = {}, .groups = {}, .make = make_command<Help>};

}
