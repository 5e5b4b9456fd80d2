#include <fmt/format.h>

#include "sgprobe/cli/main.h"
#include "sgprobe/cli/subcommand.h"
#include "sgprobe/cli/suggest.h"
#include "sgprobe/cli/version.h"
#include "sgprobe/transport/failure.h"
#include "sgprobe/transport/trace_format.h"

namespace sgprobe::cli {
namespace {

[[noreturn]] void unknown_subcommand(const std::string& word) {
    std::vector<std::string_view> names;
    for (const Subcommand* sub : subcommands()) names.push_back(sub->name);
    const auto near = suggest(word, names);
    throw Failure(ExitStatus::syntax, near ? fmt::format("there is no subcommand \"{}\"; did you mean {}?", word, *near)
                                           : fmt::format("there is no subcommand \"{}\"; sgprobe --help lists them", word));
}

bool asks_for_help(const Subcommand& sub, const std::vector<std::string>& words) {
    for (std::size_t i = 0; i < words.size(); i++) {
        if (words[i] == "--") return false;
        if (words[i] == "--help" || (words[i] == "-h" && !sub.find("h"))) return true;
    }
    return false;
}

int print_and_finish(std::string_view text) {
    Context context{SharedOptions{}};
    context.print_text(text);
    context.finish();
    return 0;
}

}

int run(const std::vector<std::string>& words) {
    if (words.empty()) throw Failure(ExitStatus::syntax, "which subcommand? sgprobe --help lists them");
    if (words[0] == "--help" || words[0] == "-h") return print_and_finish(help_text());
    if (words[0] == "--version" || words[0] == "-V") return print_and_finish(version_text());
    const Subcommand* sub = find_subcommand(words[0]);
    if (!sub) unknown_subcommand(words[0]);

    const std::vector<std::string> rest(words.begin() + 1, words.end());
    if (asks_for_help(*sub, rest)) return print_and_finish(help_text(*sub));
    const Arguments arguments = Arguments::parse(*sub, rest);
    const auto command = sub->make();
    command->setup(arguments);
    SharedOptions options = shared_options(arguments);
    options.run = "sgprobe";
    for (const std::string& word : words) options.run += " " + trace_word(word);
    Context context(std::move(options));
    const int status = command->run(context);
    context.finish();
    return status;
}

}
