// Drive files, sgprobe-drive(5): text to Model.
#include <fmt/format.h>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "sgprobe/scsi/embedded.h"
#include "sgprobe/sim/sim.h"
#include "drive_file_parts.h"

namespace sgprobe::sim {
namespace {
constexpr std::string_view folder = "src/sim/drives/", ending = ".toml";

std::string slurp(const std::string& path) {
    std::string text;
    std::ifstream file;
    std::error_code ignored;
    if (!std::filesystem::is_directory(path, ignored)) file.open(path, std::ios::binary);
    if (file.is_open()) text.assign(std::istreambuf_iterator<char>(file), {});
    if (!file.is_open() || file.bad())
        throw Failure(ExitStatus::file_error, fmt::format("{}: the drive's file cannot be read; `sim:` takes the name of a built-in drive or a path that ends in .toml", path));
    return text;
}

// KEY=VALUE of the command line goes into the table as if the file had said so. A dotted key names a table's member.
void apply(toml::table& root, const std::string& key, const std::string& value, const std::string& file) {
    toml::table* table = &root;
    std::size_t at = 0;
    for (std::size_t dot; (dot = key.find('.', at)) != std::string::npos; at = dot + 1) {
        toml::node* next = table->get(key.substr(at, dot - at));
        if (!next) {
            table->insert(key.substr(at, dot - at), toml::table{});
            next = table->get(key.substr(at, dot - at));
        }
        table = next->as_table();
        if (!table) throw Failure(ExitStatus::syntax, fmt::format("{}: {}={}: {} is no table", file, key, value, key.substr(0, dot)));
    }
    toml::table parsed;
    try {
        parsed = toml::parse("value = " + value);
    } catch (const toml::parse_error&) {
    }
    const std::string name = key.substr(at);
    if (parsed.size() == 1) table->insert_or_assign(name, *parsed.get("value"));
    else table->insert_or_assign(name, value);
}

const std::map<std::string, std::string>& short_keys() {
    static const std::map<std::string, std::string> keys{
        {"noise", "noise.scale"}, {"bus", "controller.bus"}, {"max_transfer", "controller.max_transfer_bytes"}, {"depth", "queue.depth"}};
    return keys;
}
}

const std::vector<BuiltinDrive>& builtin_drives() {
    static const std::vector<BuiltinDrive> drives = [] {
        std::vector<BuiltinDrive> out;
        for (const EmbeddedFile& file : embedded_files())
            if (file.name.starts_with(folder) && file.name.ends_with(ending))
                out.push_back({std::string(file.name.substr(folder.size(), file.name.size() - folder.size() - ending.size())), file.name, file.content});
        return out;
    }();
    return drives;
}

Model parse_model(std::string_view text, const std::string& file, const std::map<std::string, std::string>& overrides) {
    toml::table root;
    try {
        root = toml::parse(text, file);
    } catch (const toml::parse_error& error) {
        throw Failure(ExitStatus::syntax, fmt::format("{}:{}: {}", file, error.source().begin.line, error.description()));
    }
    for (const auto& [key, value] : overrides) {
        const auto full = short_keys().find(key);
        if (key == "state") continue;
        apply(root, full == short_keys().end() ? key : full->second, value, file);
    }
    Model model;
    const std::size_t slash = file.rfind('/');
    model.name = file.substr(slash == std::string::npos ? 0 : slash + 1);
    if (model.name.ends_with(ending)) model.name.resize(model.name.size() - ending.size());
    if (const auto state = overrides.find("state"); state != overrides.end()) model.state_file = state->second;
    read_model(TomlTable(root, file, ""), model);
    return model;
}

Model load_model(const DriveSpec& spec) {
    if (spec.rest.find('/') != std::string::npos || spec.rest.ends_with(ending)) return parse_model(slurp(spec.rest), spec.rest, spec.options);
    std::string names;
    for (const BuiltinDrive& drive : builtin_drives()) {
        if (drive.name == spec.rest) return parse_model(drive.content, std::string(drive.file), spec.options);
        names += (names.empty() ? "" : ", ") + drive.name;
    }
    throw Failure(ExitStatus::file_error, fmt::format("{}: there is no such built-in drive; those there are: {} (or a path that ends in .toml)", spec.text, names));
}

}
