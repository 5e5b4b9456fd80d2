#include "sgprobe/cli/subcommand.h"

namespace sgprobe::cli {

#define SUBCOMMAND(name) extern const Subcommand name##_subcommand;
#include "subcommands.def"
#undef SUBCOMMAND

std::span<const Subcommand* const> subcommands() {
    static const Subcommand* const table[] = {
#define SUBCOMMAND(name) &name##_subcommand,
#include "subcommands.def"
#undef SUBCOMMAND
    };
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
