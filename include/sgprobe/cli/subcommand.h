// A subcommand is one literal and one class in one file, src/cli/command_NAME.cpp, and one line in src/cli/subcommands.def.
#pragma once
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "sgprobe/cli/arguments.h"
#include "sgprobe/cli/context.h"
#include "sgprobe/cli/option.h"

namespace sgprobe::cli {

class Command {
public:
    virtual ~Command() = default;
    virtual void setup(const Arguments&) = 0;   // takes the command line apart; opens nothing
    virtual int run(Context&) = 0;              // works; returns the exit status, throws Failure for what ends it
};

struct Positionals {
    std::string_view synopsis;                  // "DEV...", "KIND [FILE]"; empty: none
    std::size_t least = 0, most = 0;
};
inline constexpr std::size_t many = static_cast<std::size_t>(-1);

struct Subcommand {
    std::string_view name;                      // "size"
    std::string_view summary;                   // what it answers: a phrase in lower case without a full stop
    std::string_view description;               // paragraphs for --help and the man page, divided by \n\n; no markup
    Positionals positionals;
    std::vector<Option> options;                // its own
    std::vector<const OptionGroup*> groups;     // shared ones
    std::unique_ptr<Command> (*make)();

    const Option* find(std::string_view option) const;          // among its own and its groups'
    bool has_group(const OptionGroup& group) const;
};

template <class T>
std::unique_ptr<Command> make_command() { return std::make_unique<T>(); }

std::span<const Subcommand* const> subcommands();               // the one list
const Subcommand* find_subcommand(std::string_view name);

std::string usage_line(const Subcommand&);
std::string help_text(const Subcommand&);                       // sgprobe SUBCOMMAND --help, sgprobe help SUBCOMMAND
std::string help_text();                                        // sgprobe --help
std::string bash_completion();                                  // sgprobe help --completion=bash
std::string zsh_completion();
std::string mdoc_text();                                        // sgprobe help --mdoc: the section of the manual

}
