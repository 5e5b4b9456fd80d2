// A neutral tree of values, in the order in which they were put: what a probe has to say beyond samples and cliffs. report/ turns it
// into JSON, CSV or indented text; it holds raw strings, which are escaped there.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace sgprobe::measure {

struct Value;
using ValueList = std::vector<Value>;
using ValueMap = std::vector<std::pair<std::string, Value>>;

struct Value {
    std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, ValueList, ValueMap> held;

    Value() = default;                                      // null
    template <class T> requires std::is_arithmetic_v<T>
    Value(T number) {
        if constexpr (std::is_same_v<T, bool>) held = number;
        else if constexpr (std::is_floating_point_v<T>) held = static_cast<double>(number);
        else if constexpr (std::is_signed_v<T>) held = static_cast<std::int64_t>(number);
        else held = static_cast<std::uint64_t>(number);
    }
    Value(std::string text) : held(std::move(text)) {}
    Value(std::string_view text) : held(std::string(text)) {}
    Value(const char* text) : held(std::string(text)) {}
    Value(ValueList list) : held(std::move(list)) {}
    Value(ValueMap map) : held(std::move(map)) {}
    template <class T> Value(const std::vector<T>& list) {
        ValueList values(list.begin(), list.end());
        held = std::move(values);
    }
    static Value object() { return Value(ValueMap{}); }
    static Value list() { return Value(ValueList{}); }

    Value& set(std::string key, Value value);               // makes an object of a null; replaces a key that is there; returns *this
    Value& add(Value value);                                // makes a list of a null; returns *this
    const Value* find(std::string_view key) const;          // of an object; null where it has no such key
};

}
