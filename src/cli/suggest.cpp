#include "sgprobe/cli/suggest.h"

#include <algorithm>
#include <numeric>

namespace sgprobe::cli {
namespace {

// Levenshtein's distance; both words are short.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); i++) {
        std::size_t diagonal = row[0]++;
        for (std::size_t j = 0; j < b.size(); j++) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
        }
    }
    return row.back();
}

}

std::optional<std::string_view> suggest(std::string_view written, const std::vector<std::string_view>& words) {
    if (written.size() < 2 || written.size() > 64) return {};
    std::optional<std::string_view> best;
    std::size_t least = std::max<std::size_t>(written.size() < 4 ? 1 : 2, written.size() / 3) + 1;
    for (std::string_view word : words) {
        const std::size_t d = word.starts_with(written) ? 1 : distance(written, word);
        if (d < least) {
            least = d;
            best = word;
        }
    }
    return best;
}

}
