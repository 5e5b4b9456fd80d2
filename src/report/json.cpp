#include <cmath>
#include <nlohmann/json.hpp>

#include "sgprobe/report/format.h"

namespace sgprobe::report {
namespace {

using nlohmann::ordered_json;

// Six significant digits: more is noise, and 96.10000000000001 helps nobody.
double rounded(double value) {
    if (value == 0 || !std::isfinite(value)) return value;
    const double scale = std::pow(10.0, 5 - std::floor(std::log10(std::fabs(value))));
    if (!std::isfinite(scale) || scale == 0) return value;
    return scale >= 1 ? std::round(value * scale) / scale : std::round(value);
}

ordered_json converted(const measure::Value& value) {
    return std::visit([](const auto& held) -> ordered_json {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, std::monostate>) return nullptr;
        else if constexpr (std::is_same_v<T, double>) return std::isfinite(held) ? ordered_json(rounded(held)) : ordered_json(nullptr);
        else if constexpr (std::is_same_v<T, measure::ValueList>) {
            ordered_json list = ordered_json::array();
            for (const auto& item : held) list.push_back(converted(item));
            return list;
        } else if constexpr (std::is_same_v<T, measure::ValueMap>) {
            ordered_json object = ordered_json::object();
            for (const auto& [key, item] : held) object[key] = converted(item);
            return object;
        } else return held;
    }, value.held);
}

}

std::string json(const measure::Value& value, bool pretty) {
    // Everything past ASCII is written as \u, so that no terminal sees a byte from a drive.
    return converted(value).dump(pretty ? 2 : -1, ' ', true, ordered_json::error_handler_t::replace) + '\n';
}

}
