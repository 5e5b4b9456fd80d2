#include "sgprobe/measure/experiment_script.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "sgprobe/scsi/embedded.h"
#include "sgprobe/sim/toml_table.h"
#include "sgprobe/transport/escape.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::measure {

namespace {

using sim::TomlTable;
constexpr std::string_view folder = "modepages/experiments/", ending = ".toml";
constexpr std::size_t level_limit = 64;
constexpr std::uintmax_t file_limit = 1024 * 1024;

std::optional<std::int64_t> whole_number(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return {};
    return value;
}

// A word, a number, or FIRST:LAST:STEP. Nothing where it is none of these.
std::optional<std::vector<std::string>> levels_of(std::string_view text) {
    if (text == "current" || text == "default" || text == "saved") return std::vector<std::string>{std::string(text)};
    if (const std::size_t colon = text.find(':'); colon != text.npos) {
        const std::size_t second = text.find(':', colon + 1);
        if (second == text.npos) return {};
        const auto first = whole_number(text.substr(0, colon)), last = whole_number(text.substr(colon + 1, second - colon - 1)), step = whole_number(text.substr(second + 1));
        if (!first || !last || !step || *first < 0 || *last < *first || *step <= 0 || (*last - *first) / *step >= static_cast<std::int64_t>(level_limit)) return {};
        std::vector<std::string> levels;
        for (std::int64_t level = *first; level <= *last; level += *step) levels.push_back(std::to_string(level));
        return levels;
    }
    const bool hexadecimal = text.starts_with("0x") && text.size() > 2 && text.size() <= 18 && text.find_first_not_of("0123456789abcdefABCDEF", 2) == text.npos;
    if (hexadecimal) return std::vector<std::string>{std::string(text)};
    const auto value = whole_number(text);
    if (!value || *value < -1) return {};
    return std::vector<std::string>{std::string(text)};
}

Bytes size_of(TomlTable& table, std::string_view key) {
    const toml::node* node = table.node(key);
    if (!node) return 0;
    if (const auto number = node->value<std::int64_t>(); node->is_integer() && *number > 0 && *number <= (std::int64_t{1} << 40)) return static_cast<Bytes>(*number);
    if (const auto text = node->value<std::string>(); node->is_string() && !text->empty()) {
        const char unit = text->back();
        const Bytes factor = unit == 'k' || unit == 'K' ? 1024 : unit == 'm' || unit == 'M' ? 1024 * 1024 : 1;
        if (const auto number = whole_number(std::string_view(*text).substr(0, text->size() - (factor > 1))); number && *number > 0 && *number <= 1 << 20) return static_cast<Bytes>(*number) * factor;
    }
    table.fail(node, key, "wants a size: a number of bytes, or a string such as \"512k\"");
}

Response response_of(TomlTable table) {
    Response r;
    std::string what = "rate";
    table.read("what", what);
    if (what == "rate") r.what = Response::What::rate;
    else if (what == "latency") r.what = Response::What::latency;
    else if (what == "retries") r.what = Response::What::retries;
    else table.fail("what", "wants \"rate\", \"latency\" or \"retries\"");
    table.read("pattern", r.pattern);
    if (r.pattern != "seq-read" && r.pattern != "rand-read") table.fail("pattern", "wants \"seq-read\" or \"rand-read\"");
    r.size_bytes = size_of(table, "size");
    table.read("depth", r.depth, 1, 256);
    table.read("percentile", r.percentile, 1, 99.99);
    table.refuse_unknown();
    return r;
}

Factor factor_of(TomlTable table) {
    Factor factor;
    table.require("key", factor.key);
    const toml::node* levels = table.node("levels");
    if (!levels || !levels->is_array()) table.fail(levels, "levels", "wants a list of at least two levels");
    for (const toml::node& level : *levels->as_array()) {
        const auto number = level.value<std::int64_t>();
        const auto text = level.is_integer() ? std::to_string(*number) : level.value<std::string>().value_or("");
        const auto more = levels_of(text);
        if (!more) table.fail(&level, "levels", "a level is a number from -1 on, a range FIRST:LAST:STEP, or \"current\", \"default\" or \"saved\"");
        factor.levels.insert(factor.levels.end(), more->begin(), more->end());
    }
    if (factor.levels.size() < 2 || factor.levels.size() > level_limit) table.fail(levels, "levels", fmt::format("wants from 2 to {} levels", level_limit));
    table.refuse_unknown();
    return factor;
}

}

ExperimentOptions parse_experiment(std::string_view text, const std::string& file) {
    toml::table root;
    try {
        root = toml::parse(text, file);
    } catch (const toml::parse_error& error) {
        throw Failure(ExitStatus::syntax, fmt::format("{}:{}: {}", file, error.source().begin.line, escaped(error.description())));
    }
    TomlTable table(root, file, "");
    ExperimentOptions options;
    std::string about, design = "automatic";
    table.read("name", options.name);
    table.read("about", about);
    table.read("design", design);
    if (design == "automatic") options.design = Design::automatic;
    else if (design == "one-at-a-time") options.design = Design::one_at_a_time;
    else if (design == "pairs") options.design = Design::pairs;
    else if (design == "full") options.design = Design::full;
    else table.fail("design", "wants \"automatic\", \"one-at-a-time\", \"pairs\" or \"full\"");
    table.read("replicates", options.replicates, 1, 1000);
    table.read("threshold", options.threshold, 0.001, 0.9);
    options.reference_bytes = size_of(table, "reference");
    for (TomlTable& factor : table.tables("factor")) options.factors.push_back(factor_of(factor));
    const auto responses = table.tables("response");
    if (responses.size() > 1) table.fail("response", "is one table; what else is watched is a [[price]]");
    if (!responses.empty()) options.response = response_of(responses.front());
    for (TomlTable& price : table.tables("price")) options.price.push_back(response_of(price));
    if (const toml::node* hold = table.node("hold")) {
        if (!hold->is_table()) table.fail(hold, "hold", "wants a table of settings");
        for (const auto& [key, value] : *hold->as_table()) {
            const auto number = value.value<std::int64_t>();
            if (!value.is_integer() || *number < -1) table.fail(&value, "hold", fmt::format("{} wants a number from -1 on", key.str()));
            for (const pages::Assignment& a : pages::parse_assignments(fmt::format("{}={}", key.str(), *number))) options.hold.push_back(a);
        }
    }
    table.refuse_unknown();
    if (options.factors.empty()) table.fail("factor", "is missing: an experiment varies at least one setting");
    return options;
}

std::vector<std::string> builtin_experiments() {
    std::vector<std::string> names;
    for (const EmbeddedFile& file : embedded_files())
        if (file.name.starts_with(folder) && file.name.ends_with(ending))
            names.emplace_back(file.name.substr(folder.size(), file.name.size() - folder.size() - ending.size()));
    return names;
}

ExperimentOptions load_experiment(const std::string& name) {
    for (const EmbeddedFile& file : embedded_files())
        if (file.name == fmt::format("{}{}{}", folder, name, ending)) return parse_experiment(file.content, std::string(file.name));
    std::error_code error;
    const auto size = std::filesystem::is_regular_file(name, error) ? std::filesystem::file_size(name, error) : 0;
    std::ifstream file(name, std::ios::binary);
    if (size == 0 || error || !file) {
        std::string known;
        for (const std::string& one : builtin_experiments()) known += (known.empty() ? "" : ", ") + one;
        throw Failure(ExitStatus::file_error, fmt::format("{}: no such script; a script is a file, or one of those that come with the program: {}", escaped(name), known));
    }
    if (size > file_limit) throw Failure(ExitStatus::malformed, fmt::format("{}: longer than 1 MiB: no experiment script", escaped(name)));
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return parse_experiment(text, name);
}

Factor parse_vary(std::string_view text) {
    const auto bad = [&](std::string_view why) { return Failure(ExitStatus::syntax, fmt::format("--vary {}: {}; for example --vary DPTL=current,-1", escaped(text), why)); };
    const std::size_t equals = text.find('=');
    if (equals == text.npos || equals == 0) throw bad("wants KEY=LEVEL,LEVEL...");
    Factor factor{std::string(text.substr(0, equals)), {}};
    for (std::string_view rest = text.substr(equals + 1);;) {
        const std::size_t comma = rest.find(',');
        const auto more = levels_of(rest.substr(0, comma));
        if (!more) throw bad("a level is a number from -1 on, a range FIRST:LAST:STEP, or current, default or saved");
        factor.levels.insert(factor.levels.end(), more->begin(), more->end());
        if (comma == rest.npos) break;
        rest.remove_prefix(comma + 1);
    }
    if (factor.levels.size() == 1) factor.levels.insert(factor.levels.begin(), "current");   // KEY=VALUE: against what it is
    if (factor.levels.size() > level_limit) throw bad("too many levels");
    return factor;
}

}
