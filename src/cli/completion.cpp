// Completion for bash and zsh, from the list of subcommands and their option rows.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "sgprobe/cli/subcommand.h"

namespace sgprobe::cli {
namespace {

void each_option(const Subcommand& sub, const std::function<void(const Option&)>& work) {
    for (const Option& option : sub.options) work(option);
    for (const OptionGroup* group : sub.groups)
        for (const Option& option : group->rows) work(option);
}

enum class Offer { nothing, files, folders, words };

Offer offer(const Option& option) {
    if (option.argument.find('|') != option.argument.npos) return Offer::words;
    if (option.argument.starts_with("FILE") || option.argument.starts_with("SCRIPT")) return Offer::files;
    return option.argument == "DIR" ? Offer::folders : Offer::nothing;
}

std::string words_of(const Option& option) {
    std::string words(option.argument);
    std::replace(words.begin(), words.end(), '|', ' ');
    return words;
}

// Inside '' of a shell, and inside [] of a zsh option.
std::string zsh_text(std::string_view text) {
    std::string out;
    for (char c : text) {
        if (c == '\'') out += "'\\''";
        else if (c == '[' || c == ']' || c == ':' || c == '\\') out += fmt::format("\\{}", c);
        else out += c;
    }
    return out;
}

std::string zsh_argument(const Option& option) {
    switch (offer(option)) {
        case Offer::words: return fmt::format(":word:({})", words_of(option));
        case Offer::files: return ":file:_files";
        case Offer::folders: return ":folder:_files -/";
        case Offer::nothing: break;
    }
    return option.argument.empty() ? "" : fmt::format(":{}: ", zsh_text(option.argument));
}

}

std::string bash_completion() {
    std::string names, options, arguments;
    for (const Subcommand* sub : subcommands()) {
        names += fmt::format("{}{}", names.empty() ? "" : " ", sub->name);
        std::string list = "--help";
        each_option(*sub, [&](const Option& option) {
            list += fmt::format(" --{}", option.name);
            const std::string where = fmt::format("        {}:--{}) ", sub->name, option.name);
            switch (offer(option)) {
                case Offer::words: arguments += where + fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$cur\")); return ;;\n", words_of(option)); break;
                case Offer::files: arguments += where + "compopt -o filenames; COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n"; break;
                case Offer::folders: arguments += where + "compopt -o filenames; COMPREPLY=($(compgen -d -- \"$cur\")); return ;;\n"; break;
                case Offer::nothing:
                    if (!option.argument.empty()) arguments += where + "COMPREPLY=(); return ;;\n";
                    break;
            }
        });
        options += fmt::format("        {}) options='{}' ;;\n", sub->name, list);
    }
    return fmt::format(
        "# bash completion for sgprobe(8); made by: sgprobe help --completion=bash\n"
        "_sgprobe() {{\n"
        "    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} options=\n"
        "    COMPREPLY=()\n"
        "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
        "        COMPREPLY=($(compgen -W '{} --help --version' -- \"$cur\"))\n"
        "        return\n"
        "    fi\n"
        "    # --option=WORD comes in three pieces.\n"
        "    if [ \"$cur\" = = ]; then cur=; elif [ \"$prev\" = = ]; then prev=${{COMP_WORDS[COMP_CWORD-2]}}; fi\n"
        "    case ${{COMP_WORDS[1]}}:$prev in\n"
        "{}"
        "        help:*) COMPREPLY=($(compgen -W '{}' -- \"$cur\")); return ;;\n"
        "    esac\n"
        "    case ${{COMP_WORDS[1]}} in\n"
        "{}"
        "    esac\n"
        "    if [[ $cur == -* ]]; then\n"
        "        COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
        "    else\n"
        "        compopt -o filenames\n"
        "        COMPREPLY=($(compgen -f -- \"${{cur:-/dev/sg}}\"))\n"
        "    fi\n"
        "}}\n"
        "complete -F _sgprobe sgprobe\n",
        names, arguments, names, options);
}

std::string zsh_completion() {
    std::string table, cases;
    for (const Subcommand* sub : subcommands()) {
        table += fmt::format("    '{}:{}'\n", sub->name, zsh_text(sub->summary));
        cases += fmt::format("    ({}) _arguments -s '--help[show what it does and which options it takes]'", sub->name);
        each_option(*sub, [&](const Option& option) {
            const std::string star = option.repeated ? "*" : "";
            cases += fmt::format(" \\\n        '{}--{}{}[{}]{}'", star, option.name, option.argument.empty() ? "" : "=", zsh_text(option.help), zsh_argument(option));
            if (option.letter)
                cases += fmt::format(" \\\n        '{}-{}{}[{}]{}'", star, option.letter, option.argument.empty() ? "" : "+", zsh_text(option.help), zsh_argument(option));
        });
        if (sub->name == "help") cases += " \\\n        ':subcommand:_sgprobe_subcommands'";
        else if (!sub->positionals.synopsis.empty()) cases += " \\\n        '*:drive or file:_files'";
        cases += " ;;\n";
    }
    return fmt::format(
        "#compdef sgprobe\n"
        "# zsh completion for sgprobe(8); made by: sgprobe help --completion=zsh\n"
        "_sgprobe_subcommands() {{\n"
        "    local -a subcommands=(\n{}    )\n"
        "    _describe subcommand subcommands\n"
        "}}\n"
        "_sgprobe() {{\n"
        "    if (( CURRENT == 2 )); then\n"
        "        _sgprobe_subcommands\n"
        "        return\n"
        "    fi\n"
        "    shift words\n"
        "    (( CURRENT-- ))\n"
        "    case $words[1] in\n{}"
        "    esac\n"
        "}}\n"
        "_sgprobe \"$@\"\n",
        table, cases);
}

}
