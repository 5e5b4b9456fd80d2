// A table of a drive's file, read strictly: every key must be asked for, and every complaint names file, line and key.
#pragma once
#include <toml++/toml.h>

#include <fmt/format.h>
#include <limits>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "sgprobe/transport/failure.h"

namespace sgprobe::sim {

class TomlTable {
public:
    TomlTable(const toml::table& table, const std::string& file, std::string path) : table_(table), file_(file), path_(std::move(path)) {}

    [[noreturn]] void fail(const toml::node* at, std::string_view key, const std::string& what) const {
        const auto line = at ? at->source().begin.line : table_.source().begin.line;
        const std::string where = path_.empty() ? std::string(key) : key.empty() ? path_ : path_ + "." + std::string(key);
        throw Failure(ExitStatus::syntax, fmt::format("{}:{}: {}: {}", file_, line, where, what));
    }
    [[noreturn]] void fail(std::string_view key, const std::string& what) const { fail(table_.get(key), key, what); }

    bool has(std::string_view key) const { return table_.contains(key); }
    const toml::node* node(std::string_view key) {
        asked_.insert(std::string(key));
        return table_.get(key);
    }

    // Reads a number, flag or string into `to`, which keeps its value where the key is not there.
    template <class T>
    void read(std::string_view key, T& to, double low = 0, double high = std::numeric_limits<double>::max()) {
        const toml::node* n = node(key);
        if (!n) return;
        if constexpr (std::is_same_v<T, bool>) {
            if (!n->is_boolean()) fail(n, key, "wants true or false");
            to = *n->value<bool>();
        } else if constexpr (std::is_same_v<T, std::string>) {
            if (!n->is_string()) fail(n, key, "wants a string");
            to = *n->value<std::string>();
        } else {
            const double highest = std::is_integral_v<T> ? std::min(high, static_cast<double>(std::numeric_limits<T>::max())) : high;
            const bool fits = std::is_integral_v<T> ? n->is_integer() : n->is_number();
            if (!fits) fail(n, key, std::is_integral_v<T> ? "wants a whole number" : "wants a number");
            const double value = *n->value<double>();
            if (!(value >= low && value <= highest)) fail(n, key, fmt::format("wants a number from {} to {}", low, highest));
            if constexpr (std::is_integral_v<T>) to = static_cast<T>(*n->value<std::int64_t>());
            else to = value;
        }
    }
    template <class T>
    void require(std::string_view key, T& to, double low = 0, double high = std::numeric_limits<double>::max()) {
        if (!table_.contains(key)) fail(nullptr, key, "is missing");
        read(key, to, low, high);
    }
    std::vector<std::string> strings(std::string_view key) {
        std::vector<std::string> out;
        const toml::node* n = node(key);
        if (!n) return out;
        if (!n->is_array()) fail(n, key, "wants a list of strings");
        for (const toml::node& element : *n->as_array()) {
            if (!element.is_string()) fail(&element, key, "wants a list of strings");
            out.push_back(*element.value<std::string>());
        }
        return out;
    }
    template <class T>
    void choose(std::string_view key, T& to, std::initializer_list<std::pair<std::string_view, T>> values) {
        std::string name, names;
        if (!table_.contains(key)) return;
        read(key, name);
        for (const auto& [known, value] : values) {
            if (name == known) {
                to = value;
                return;
            }
            names += (names.empty() ? "" : ", ") + std::string(known);
        }
        fail(key, "wants one of " + names);
    }
    std::vector<std::string> keys() const {
        std::vector<std::string> out;
        for (const auto& [key, value] : table_) out.emplace_back(key.str());
        return out;
    }
    // A table, or the tables of a list; none where the key is not there.
    std::vector<TomlTable> tables(std::string_view key) {
        std::vector<TomlTable> out;
        const toml::node* n = node(key);
        if (!n) return out;
        const std::string path = path_.empty() ? std::string(key) : path_ + "." + std::string(key);
        if (const toml::table* one = n->as_table()) {
            out.emplace_back(*one, file_, path);
        } else if (const toml::array* many = n->as_array()) {
            for (const toml::node& element : *many) {
                if (!element.is_table()) fail(&element, key, "wants tables");
                out.emplace_back(*element.as_table(), file_, path);
            }
        } else {
            fail(n, key, "wants a table");
        }
        return out;
    }
    void refuse_unknown() const {
        for (const auto& [key, value] : table_)
            if (!asked_.contains(std::string(key.str()))) fail(&value, key.str(), "is no key that this program knows");
    }

private:
    const toml::table& table_;
    const std::string& file_;
    std::string path_;
    std::set<std::string> asked_;
};

}
