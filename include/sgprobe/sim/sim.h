// Simulated drives: what stands behind sim:NAME and sim:FILE.toml. A Target (transport/target.h) over mechanics, cache and
// firmware rules, all of it from one text file a drive (sgprobe-drive(5)).
#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sgprobe/sim/bus.h"
#include "sgprobe/sim/model.h"
#include "sgprobe/transport/drive_spec.h"
#include "sgprobe/transport/target.h"

namespace sgprobe::sim {

struct BuiltinDrive {
    std::string name;              // "atlas15k2-hpm5"
    std::string_view file;         // path in the source tree
    std::string_view content;
};
const std::vector<BuiltinDrive>& builtin_drives();   // by name

// The buses of one host: drives that name the same one (bus = in the file, bus= on the command line) share it.
class Buses {
public:
    std::shared_ptr<Bus> find(const std::string& name);
private:
    std::map<std::string, std::shared_ptr<Bus>> buses_;
};

// Reads the drive's file (built in, or the user's where the name ends in .toml or holds a slash) and applies the overrides.
// Throws Failure with file, line and key where it cannot be read or makes no sense.
Model load_model(const DriveSpec&);
Model parse_model(std::string_view text, const std::string& file, const std::map<std::string, std::string>& overrides = {});

// The mode pages that any drive of the model's kind has, as they are where a file says nothing of them.
void add_usual_pages(Model&);

// One factory for a host: give the same Buses to all of its drives. Without one the drive has a bus of its own.
std::unique_ptr<Target> make_target(const DriveSpec&, Buses* = nullptr);
std::unique_ptr<Target> make_target(const Model&, Buses* = nullptr);

}
