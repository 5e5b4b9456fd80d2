#include "sgprobe/sim/content.h"

#include <algorithm>
#include <cstring>

#include "sgprobe/sim/random.h"

namespace sgprobe::sim {
namespace {
void repeat(std::uint64_t word, std::span<std::uint8_t> to) {
    for (std::size_t at = 0; at < to.size(); at += 8) std::memcpy(to.data() + at, &word, std::min<std::size_t>(8, to.size() - at));
}
}

void fill_block(std::uint64_t content, Lba lba, std::span<std::uint8_t> block) {
    std::uint64_t word = mix(content ^ mix(lba));
    for (std::size_t at = 0; at < block.size(); at += 8) {
        std::memcpy(block.data() + at, &word, std::min<std::size_t>(8, block.size() - at));
        word = word * 6364136223846793005u + 1442695040888963407u;
    }
}

void Content::read(Lba lba, std::span<std::uint8_t> to) const {
    for (; !to.empty(); ++lba) {
        const auto block = to.first(std::min<std::size_t>(block_bytes_, to.size()));
        auto after = extents_.upper_bound(lba);
        if (after == extents_.begin() || std::prev(after)->second.end <= lba) {
            fill_block(content_, lba, block);
        } else {
            const auto& [first, extent] = *std::prev(after);
            if (extent.bytes.empty()) repeat(extent.word, block);
            else std::copy_n(extent.bytes.begin() + static_cast<std::ptrdiff_t>((lba - first) * block_bytes_), block.size(), block.begin());
        }
        to = to.subspan(block.size());
    }
}

void Content::cut(Lba lba) {
    auto after = extents_.lower_bound(lba);
    if (after == extents_.begin()) return;
    auto& [first, extent] = *std::prev(after);
    if (extent.end <= lba) return;
    Extent rest{extent.end, extent.word, {}};
    if (!extent.bytes.empty()) {
        const auto at = static_cast<std::ptrdiff_t>((lba - first) * block_bytes_);
        rest.bytes.assign(extent.bytes.begin() + at, extent.bytes.end());
        extent.bytes.resize(static_cast<std::size_t>(at));
    }
    extent.end = lba;
    extents_.emplace(lba, std::move(rest));
}

void Content::write(Lba lba, ByteView data) {
    const Blocks n = data.size() / block_bytes_;
    if (n == 0) return;
    data = data.first(n * block_bytes_);
    cut(lba);
    cut(lba + n);
    extents_.erase(extents_.lower_bound(lba), extents_.lower_bound(lba + n));
    Extent extent{lba + n, 0, {}};
    std::memcpy(&extent.word, data.data(), 8);
    const bool uniform = block_bytes_ % 8 == 0 && std::memcmp(data.data(), data.data() + 8, data.size() - 8) == 0;
    if (!uniform) extent.bytes.assign(data.begin(), data.end());
    extents_.emplace(lba, std::move(extent));
}

}
