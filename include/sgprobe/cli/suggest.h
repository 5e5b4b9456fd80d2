// "Did you mean": the nearest word of a list, where one is near enough.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

namespace sgprobe::cli {

std::optional<std::string_view> suggest(std::string_view written, const std::vector<std::string_view>& words);

}
