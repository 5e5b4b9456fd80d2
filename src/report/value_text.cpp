#include <fmt/format.h>

#include "sgprobe/report/escape.h"
#include "sgprobe/report/format.h"

namespace sgprobe::report {
namespace {

std::string scalar(const measure::Value& value) {
    return std::visit([](const auto& held) -> std::string {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, std::monostate>) return "-";
        else if constexpr (std::is_same_v<T, bool>) return held ? "yes" : "no";
        else if constexpr (std::is_same_v<T, double>) return fmt::format("{:.6g}", held);
        else if constexpr (std::is_same_v<T, std::string>) return for_terminal(held);
        else if constexpr (std::is_integral_v<T>) return fmt::format("{}", held);
        else return {};
    }, value.held);
}

bool is_scalar(const measure::Value& value) {
    return !std::holds_alternative<measure::ValueList>(value.held) && !std::holds_alternative<measure::ValueMap>(value.held);
}

void append(std::string& out, const measure::Value& value, std::size_t indent) {
    if (const auto* map = std::get_if<measure::ValueMap>(&value.held)) {
        for (const auto& [key, item] : *map) {
            out.append(indent, ' ');
            out += for_terminal(key) + ':';
            if (is_scalar(item)) out += ' ' + scalar(item) + '\n';
            else {
                out += '\n';
                append(out, item, indent + 2);
            }
        }
    } else if (const auto* list = std::get_if<measure::ValueList>(&value.held)) {
        for (const auto& item : *list) {
            std::string text;
            append(text, item, indent + 2);
            if (text.size() > indent) text[indent] = '-';
            out += text;
        }
    } else {
        out.append(indent, ' ');
        out += scalar(value) + '\n';
    }
}

}

std::string text(const measure::Value& value) {
    std::string out;
    append(out, value, 0);
    return out;
}

}
