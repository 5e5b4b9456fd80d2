#include "sgprobe/report/facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "sgprobe/report/escape.h"
#include "sgprobe/report/format.h"
#include "sgprobe/report/table.h"

namespace sgprobe::report {
namespace {

std::string shown(const measure::Fact& fact) {
    if (!fact.shown.empty()) return fact.shown;
    std::string line = text(fact.value);
    if (line.ends_with('\n')) line.pop_back();
    return line;
}

}

std::string text(const measure::Facts& facts) {
    std::string out = for_terminal(facts.device.path) + '\n';
    for (const auto& group : facts.groups) {
        out += fmt::format("\n{}\n", for_terminal(group.title));
        std::size_t width = 0;
        for (const auto& fact : group.facts) width = std::max(width, columns_of(for_terminal(fact.label)));
        for (const auto& fact : group.facts) {
            std::string label = for_terminal(fact.label);
            label.append(width - std::min(width, columns_of(label)), ' ');
            out += fmt::format("  {}  {}\n", label, for_terminal(shown(fact)));
            for (const std::string& line : fact.more) out += fmt::format("  {:{}}  {}\n", "", width, for_terminal(line));
        }
    }
    if (!facts.notes.empty()) out += '\n';
    for (const std::string& note : facts.notes) out += fmt::format("Note: {}\n", for_terminal(note));
    return out;
}

measure::Value to_value(const measure::Facts& facts, bool anonymous) {
    using measure::Value;
    using measure::ValueMap;
    Value value(ValueMap{{"schema", "sgprobe/1"}, {"version", SGPROBE_VERSION}, {"probe", "info"}, {"device", device_value(facts.device, anonymous)}});
    for (const auto& group : facts.groups) {
        Value object = Value::object();
        for (const auto& fact : group.facts) object.set(fact.key, fact.value);
        value.set(group.key, object);
    }
    value.set("notes", facts.notes);
    return value;
}

std::string csv(const measure::Facts& facts) {
    std::string out = "path,group,key,value\n";
    for (const auto& group : facts.groups)
        for (const auto& fact : group.facts)
            out += fmt::format("{},{},{},{}\n", for_csv(facts.device.path), for_csv(group.key), for_csv(fact.key), for_csv(shown(fact)));
    return out;
}

}
