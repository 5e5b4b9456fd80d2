// The one list of subcommands, in the order in which help shows them. One line each; the literal is in command_NAME.cpp.
#include <fmt/format.h>

#include "sgprobe/cli/subcommand.h"

#define SUBCOMMANDS(row) \
    row(collate) \
    row(help)

namespace sgprobe::cli {

#define DECLARE(name) extern const Subcommand name##_subcommand;
SUBCOMMANDS(DECLARE)
#undef DECLARE

std::span<const Subcommand* const> subcommands() {
#define ROW(name) &name##_subcommand,
    static const Subcommand* const table[] = {SUBCOMMANDS(ROW)};
#undef ROW
    return table;
}

const Subcommand* find_subcommand(std::string_view name) {
    for (const Subcommand* sub : subcommands())
        if (sub->name == name) return sub;
    return nullptr;
}

const Option* Subcommand::find(std::string_view option) const {
    for (const Option& row : options)
        if (row.name == option) return &row;
    for (const OptionGroup* group : groups)
        for (const Option& row : group->rows)
            if (row.name == option) return &row;
    return nullptr;
}

bool Subcommand::has_group(const OptionGroup& group) const {
    for (const OptionGroup* g : groups)
        if (g == &group) return true;
    return false;
}

}
