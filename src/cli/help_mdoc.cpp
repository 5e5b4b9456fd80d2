// The SUBCOMMANDS section of sgprobe(8) as mdoc(7), from the list of subcommands and their option rows.
#include <fmt/format.h>

#include <algorithm>

#include "sgprobe/cli/subcommand.h"

namespace sgprobe::cli {
namespace {

// A text line of mdoc: no macro, no escape, and a hyphen stays one.
std::string plain(std::string_view text) {
    std::string out;
    if (text.starts_with('.') || text.starts_with('\'')) out += "\\&";
    for (char c : text) {
        if (c == '\\') out += "\\e";
        else if (c == '-') out += "\\-";
        else out += c;
    }
    return out;
}

// Lines of at most 76 characters; a new sentence begins a new line.
std::string lines(std::string_view text) {
    std::string out, line;
    const auto flush = [&] {
        if (!line.empty()) out += plain(line) + '\n';
        line.clear();
    };
    for (std::size_t from = 0; from < text.size();) {
        const std::size_t end = std::min(text.find(' ', from), text.size());
        const std::string_view word = text.substr(from, end - from);
        if (!line.empty() && line.size() + 1 + word.size() > 72) flush();
        if (!line.empty()) line += ' ';
        line += word;
        if (word.ends_with('.') || word.ends_with('?')) flush();
        from = end + 1;
    }
    flush();
    return out;
}

std::string sentence(std::string_view phrase) {
    std::string text(phrase);
    if (!text.empty()) text[0] = static_cast<char>(std::toupper(text[0]));
    return text + '.';
}

// An argument of a macro: quoted where it has blanks, and never taken for a macro of its own.
std::string argument(std::string_view text) {
    std::string out = plain(text);
    return out.find(' ') != out.npos ? fmt::format("\"{}\"", out) : out.size() <= 3 ? "\\&" + out : out;
}

std::string options(std::span<const Option> rows) {
    std::string out = ".Bl -tag -width Ds\n";
    for (const Option& option : rows) {
        out += option.letter ? fmt::format(".It Fl {} , Fl -{}", option.letter, plain(option.name)) : fmt::format(".It Fl -{}", plain(option.name));
        if (!option.argument.empty()) out += fmt::format(" Ns = Ns Ar {}", argument(option.argument));
        out += '\n' + lines(sentence(option.help));
        if (!option.fallback.empty()) out += lines(fmt::format("The default is {}.", option.fallback));
    }
    return out + ".El\n";
}

std::string paragraphs(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const auto end = std::min(text.find("\n\n"), text.size());
        out += ".Pp\n" + lines(text.substr(0, end));
        text.remove_prefix(std::min(end + 2, text.size()));
    }
    return out;
}

}

std::string mdoc_text() {
    std::string out;
    std::vector<const OptionGroup*> groups;
    for (const Subcommand* sub : subcommands()) {
        out += fmt::format(".Ss {}\n", sub->name);
        out += fmt::format(".Nm Cm {}", sub->name);
        if (!sub->options.empty() || !sub->groups.empty()) out += " Op Ar option ...";
        if (!sub->positionals.synopsis.empty()) out += fmt::format(" Ar {}", argument(sub->positionals.synopsis));
        out += "\n.Pp\n" + lines(sentence(sub->summary)) + paragraphs(sub->description);
        if (!sub->options.empty()) out += options(sub->options);
        std::string shared;
        for (const OptionGroup* group : sub->groups) {
            if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
            shared += fmt::format("{}{}", shared.empty() ? "" : ", ", group->title);
        }
        if (!shared.empty()) out += ".Pp\n" + lines(fmt::format("Takes these groups of shared options: {}.", shared));
    }
    out += ".Ss Shared options\nThe groups of options that several subcommands take.\n";
    for (const OptionGroup* group : groups) out += fmt::format(".Pp\n.Em {}\n", group->title) + options(group->rows);
    return out;
}

}
