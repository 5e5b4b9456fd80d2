#include "sgprobe/measure/limit_content.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_set>

namespace sgprobe::measure {
namespace {
constexpr std::uint8_t poison_byte = 0xa5;

std::string_view text(ByteView bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
bool uniform(ByteView bytes) { return std::equal(bytes.begin() + 1, bytes.end(), bytes.begin()); }
}

void LimitContent::append(ByteView bytes) { data_.insert(data_.end(), bytes.begin(), bytes.end()); }

void LimitContent::replace(Blocks offset, ByteView bytes) {
    std::copy(bytes.begin(), bytes.end(), data_.begin() + static_cast<std::ptrdiff_t>(offset * block_bytes_));
}

ByteView LimitContent::blocks(Blocks offset, Blocks count) const { return ByteView(data_).subspan(offset * block_bytes_, count * block_bytes_); }

bool LimitContent::telling(Blocks count) const {
    count = std::min(count, known());
    std::unordered_set<std::string_view> different;
    for (Blocks i = 0; i < count; ++i) {
        const ByteView block = blocks(i, 1);
        if (!uniform(block)) different.insert(text(block));
    }
    return count > 0 && different.size() * 2 >= count;
}

void LimitContent::poison(std::span<std::uint8_t> bytes) { std::memset(bytes.data(), poison_byte, bytes.size()); }

std::optional<Blocks> LimitContent::first_difference(ByteView data, Blocks from) const {
    const std::uint8_t* wanted = data_.data() + from * block_bytes_;
    if (std::memcmp(data.data(), wanted, data.size()) == 0) return {};
    const auto [here, there] = std::mismatch(data.begin(), data.end(), wanted);
    return static_cast<Bytes>(here - data.begin()) / block_bytes_;
}

std::string LimitContent::describe(ByteView data, Blocks offset) const {
    const ByteView block = data.subspan(offset * block_bytes_, block_bytes_);
    if (uniform(block) && block[0] == poison_byte) return "nothing arrived";
    if (uniform(block) && block[0] == 0) return "zeros arrived";
    const Blocks last = known();
    for (Blocks other = 0; other < last; ++other)
        if (std::equal(block.begin(), block.end(), blocks(other, 1).begin()))
            return "the data of block " + std::to_string(start_ + other) + " arrived";
    return "other data arrived";
}

}
