#include <fmt/format.h>

#include "sgprobe/cli/subcommand.h"
#include "sgprobe/cli/suggest.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::cli {
namespace {

class Help : public Command {
    std::string about_;
    bool mdoc_ = false;
    std::string completion_;
    void setup(const Arguments& arguments) override {
        arguments.exclusive({"mdoc", "completion"});
        mdoc_ = arguments.has("mdoc");
        completion_ = arguments.one_of("completion", {"bash", "zsh"}).value_or("");
        if (arguments.positionals().empty()) return;
        about_ = arguments.positionals().front();
        if (!find_subcommand(about_))
            throw Failure(ExitStatus::syntax, fmt::format("there is no subcommand \"{}\"; sgprobe --help lists them", about_));
    }
    int run(Context& context) override {
        if (completion_ == "bash") context.print_text(bash_completion());
        else if (completion_ == "zsh") context.print_text(zsh_completion());
        else if (mdoc_) context.print_text(mdoc_text());
        else context.print_text(about_.empty() ? help_text() : help_text(*find_subcommand(about_)));
        return 0;
    }
};

}

extern const Subcommand help_subcommand;
const Subcommand help_subcommand{
    .name = "help", .summary = "what a subcommand does and which options it takes", .description = {},
    .positionals = {"[SUBCOMMAND]", 0, 1}, 
    .options = {{"completion", 0, "bash|zsh", "print the completion for a shell"},
                {"mdoc", 0, "", "print the manual page's section on the subcommands, as mdoc(7) source"}},
    .groups = {}, .make = make_command<Help>};

}
