// Help texts, all from the list of subcommands and their option rows.
#include <fmt/format.h>

#include <algorithm>

#include "sgprobe/cli/subcommand.h"

namespace sgprobe::cli {
namespace {

constexpr std::size_t width = 80;

std::string wrapped(std::string_view text, std::size_t indent, std::size_t first_column) {
    std::string out;
    std::size_t column = first_column;
    for (std::size_t from = 0; from < text.size();) {
        std::size_t end = std::min(text.find(' ', from), text.size());
        const std::string_view word = text.substr(from, end - from);
        if (column > indent && column + 1 + word.size() > width) {
            out += '\n';
            out.append(indent, ' ');
            column = indent;
        } else if (column > indent) {
            out += ' ';
            column++;
        }
        out += word;
        column += word.size();
        from = end + 1;
    }
    return out + '\n';
}

std::string option_lines(std::span<const Option> rows) {
    std::string out;
    for (const Option& option : rows) {
        std::string left = option.letter ? fmt::format("  -{}, --{}", option.letter, option.name) : fmt::format("      --{}", option.name);
        if (!option.argument.empty()) left += fmt::format("={}", option.argument.size() > 12 ? "WORD" : option.argument);
        std::string help(option.help);
        if (option.argument.size() > 12) help += fmt::format(": {}", option.argument);
        if (!option.fallback.empty()) help += fmt::format(" (default {})", option.fallback);
        constexpr std::size_t column = 28;
        if (left.size() + 2 > column) {
            out += left + '\n';
            left.clear();
        }
        left.resize(column, ' ');
        out += left + wrapped(help, column, column);
    }
    return out;
}

}

std::string usage_line(const Subcommand& sub) {
    const bool takes_options = !sub.options.empty() || !sub.groups.empty();
    return fmt::format("sgprobe {}{}{}{}", sub.name, takes_options ? " [OPTION...]" : "", sub.positionals.synopsis.empty() ? "" : " ", sub.positionals.synopsis);
}

std::string help_text(const Subcommand& sub) {
    std::string out = fmt::format("usage: {}\n\n", usage_line(sub));
    out += wrapped(sub.summary, 0, 0);
    for (std::string_view rest = sub.description; !rest.empty();) {
        const auto end = std::min(rest.find("\n\n"), rest.size());
        out += '\n' + wrapped(rest.substr(0, end), 0, 0);
        rest.remove_prefix(std::min(end + 2, rest.size()));
    }
    if (!sub.options.empty()) out += "\nOptions:\n" + option_lines(sub.options);
    for (const OptionGroup* group : sub.groups) out += fmt::format("\n{}:\n", group->title) + option_lines(group->rows);
    return out;
}

std::string help_text() {
    std::string out =
        "usage: sgprobe SUBCOMMAND [OPTION...] [DEV...]\n\n"
        "Measures how a drive's firmware behaves, and says what it does wrong, by how much,\n"
        "how sure that is, and what setting works around it.\n\n";
    for (const Subcommand* sub : subcommands()) out += fmt::format("  {:<11} {}", sub->name, wrapped(sub->summary, 14, 14));
    out +=
        "\nDEV is /dev/sgN (or /dev/sdX, /dev/disk/by-id/...), sim:NAME or sim:FILE.toml for a\n"
        "simulated drive, pipe:COMMAND for a model in another process, or trace:FILE for a\n"
        "recorded run. `sgprobe help SUBCOMMAND` says more; so does sgprobe(8).\n";
    return out;
}

}
