// The parts of the parser of drive files.
#pragma once
#include "sgprobe/sim/model.h"
#include "sgprobe/sim/toml_table.h"

namespace sgprobe::sim {

void read_model(TomlTable root, Model&);
void read_rule(TomlTable&, Rule&);
void read_pages(TomlTable& root, Model&);    // [mode.*]: after the media, whose geometry pages 03h and 04h repeat

}
