#include "sgprobe/measure/value.h"

namespace sgprobe::measure {

Value& Value::set(std::string key, Value value) {
    if (!std::holds_alternative<ValueMap>(held)) held = ValueMap{};
    ValueMap& map = std::get<ValueMap>(held);
    for (auto& [name, old] : map)
        if (name == key) {
            old = std::move(value);
            return *this;
        }
    map.emplace_back(std::move(key), std::move(value));
    return *this;
}

Value& Value::add(Value value) {
    if (!std::holds_alternative<ValueList>(held)) held = ValueList{};
    std::get<ValueList>(held).push_back(std::move(value));
    return *this;
}

const Value* Value::find(std::string_view key) const {
    if (const ValueMap* map = std::get_if<ValueMap>(&held))
        for (const auto& [name, value] : *map)
            if (name == key) return &value;
    return nullptr;
}

}
