#include "sgprobe/cli/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/program_options.hpp>

#include "sgprobe/cli/quantity.h"
#include "sgprobe/cli/subcommand.h"
#include "sgprobe/cli/suggest.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::cli {
namespace {

namespace po = boost::program_options;

void add(po::options_description& description, const Option& option) {
    std::string names(option.name);
    if (option.letter) names += fmt::format(",{}", option.letter);
    description.add_options()(names.c_str(), new po::untyped_value(option.argument.empty()));
}

std::string hint(const Subcommand& sub) { return fmt::format("see: sgprobe {} --help", sub.name); }

[[noreturn]] void unknown_option(const Subcommand& sub, std::string_view word) {
    std::vector<std::string_view> names{"help"};
    for (const OptionGroup* group : sub.groups)
        for (const Option& option : group->rows) names.push_back(option.name);
    for (const Option& option : sub.options) names.push_back(option.name);
    std::string_view bare = word.substr(std::min(word.find_first_not_of('-'), word.size()));
    bare = bare.substr(0, bare.find('='));
    const auto near = suggest(bare, names);
    throw Failure(ExitStatus::syntax, near ? fmt::format("there is no option {}; did you mean --{}?", word, *near)
                                           : fmt::format("there is no option {}; {}", word, hint(sub)));
}

template <class F>
auto named(std::string_view option, F&& parse) {
    try {
        return parse();
    } catch (const Failure& failure) {
        throw Failure(ExitStatus::syntax, fmt::format("--{}: {}", option, failure.what()));
    }
}

}

Arguments Arguments::parse(const Subcommand& sub, const std::vector<std::string>& words) {
    po::options_description description;
    for (const Option& option : sub.options) add(description, option);
    for (const OptionGroup* group : sub.groups)
        for (const Option& option : group->rows) add(description, option);

    Arguments arguments;
    try {
        // An abbreviation is never guessed: --sa must not become --save.
        const auto parsed = po::command_line_parser(words).options(description).style(
            po::command_line_style::unix_style & ~po::command_line_style::allow_guessing).run();
        for (const auto& found : parsed.options) {
            if (found.position_key >= 0 || found.string_key.empty()) {
                arguments.positionals_.insert(arguments.positionals_.end(), found.value.begin(), found.value.end());
                continue;
            }
            std::string name = found.string_key;
            if (name.size() == 2 && name[0] == '-')                     // -v comes as it was written
                for (const OptionGroup* group : sub.groups)
                    for (const Option& option : group->rows)
                        if (option.letter == name[1]) name = option.name;
            if (name.size() == 2 && name[0] == '-')
                for (const Option& option : sub.options)
                    if (option.letter == name[1]) name = option.name;
            arguments.values_[name].push_back(found.value.empty() ? "" : found.value.front());
        }
    } catch (const po::unknown_option& error) {
        unknown_option(sub, error.get_option_name());
    } catch (const po::error_with_option_name& error) {
        throw Failure(ExitStatus::syntax, fmt::format("{}; {}", error.what(), hint(sub)));
    } catch (const po::error& error) {
        throw Failure(ExitStatus::syntax, fmt::format("{}; {}", error.what(), hint(sub)));
    }
    for (const auto& [name, values] : arguments.values_)
        if (values.size() > 1 && !sub.find(name)->repeated)
            throw Failure(ExitStatus::contradiction, fmt::format("--{} is given more than once", name));
    const std::size_t count = arguments.positionals_.size();
    if (count < sub.positionals.least)
        throw Failure(ExitStatus::syntax, fmt::format("{} is missing; usage: {}", sub.positionals.synopsis, usage_line(sub)));
    if (count > sub.positionals.most)
        throw Failure(ExitStatus::syntax, fmt::format("\"{}\" is one argument too many; usage: {}",
                                                      arguments.positionals_[sub.positionals.most], usage_line(sub)));
    return arguments;
}

unsigned Arguments::count(std::string_view option) const {
    const auto found = values_.find(option);
    return found == values_.end() ? 0 : static_cast<unsigned>(found->second.size());
}
std::optional<std::string> Arguments::text(std::string_view option) const {
    const auto found = values_.find(option);
    if (found == values_.end()) return {};
    return found->second.back();
}
std::vector<std::string> Arguments::texts(std::string_view option) const {
    const auto found = values_.find(option);
    return found == values_.end() ? std::vector<std::string>{} : found->second;
}
std::optional<std::uint64_t> Arguments::number(std::string_view option) const {
    if (const auto written = text(option)) return named(option, [&] { return parse_number(*written); });
    return {};
}
std::vector<std::uint64_t> Arguments::numbers(std::string_view option) const {
    if (const auto written = text(option)) return named(option, [&] { return parse_numbers(*written); });
    return {};
}
std::optional<Nanoseconds> Arguments::time(std::string_view option) const {
    if (const auto written = text(option)) return named(option, [&] { return parse_time(*written); });
    return {};
}
std::optional<double> Arguments::fraction(std::string_view option) const {
    if (const auto written = text(option)) return named(option, [&] { return parse_fraction(*written); });
    return {};
}
std::optional<std::string> Arguments::one_of(std::string_view option, std::initializer_list<std::string_view> words) const {
    const auto written = text(option);
    if (written && std::find(words.begin(), words.end(), *written) == words.end())
        throw Failure(ExitStatus::syntax, fmt::format("--{}: \"{}\" is none of {}", option, *written, fmt::join(words, ", ")));
    return written;
}
void Arguments::exclusive(std::initializer_list<std::string_view> options) const {
    std::string_view first;
    for (std::string_view option : options) {
        if (!has(option)) continue;
        if (!first.empty())
            throw Failure(ExitStatus::contradiction, fmt::format("--{} and --{} contradict each other", first, option));
        first = option;
    }
}

}
