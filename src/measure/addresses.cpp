#include "sgprobe/measure/addresses.h"

#include <algorithm>

namespace sgprobe::measure {

Addresses::Addresses(std::vector<Extent> media, Bytes block_bytes, Blocks alignment)
    : media_(std::move(media)), alignment_(std::max<Blocks>(alignment, 1)) {
    Blocks all = 0;
    for (const Extent& e : media_) all += e.count;
    // A track or two: what a drive may have read on its way to a sample. A small disk cannot afford it.
    sample_gap_ = std::min<Blocks>((2u << 20) / block_bytes, all / 4096);
    round_gap_ = std::min<Blocks>((16u << 20) / block_bytes, all / 512);
}

void Addresses::begin_round(Blocks planned) {
    planned_ = planned;
    low_ = top_ = 0;
}

bool Addresses::open_stretch(Blocks at_least) {
    while (extent_ < media_.size()) {
        const Extent& e = media_[extent_];
        Lba low = e.first + used_;
        low = (low + alignment_ - 1) / alignment_ * alignment_;
        const Lba end = e.first + e.count;
        if (low < end && end - low >= at_least) {
            const Blocks size = std::min(std::max(planned_, at_least + alignment_), end - low);
            low_ = low;
            top_ = low + size;
            used_ = std::min(top_ + round_gap_ - e.first, e.count);
            planned_ = 0;   // more of the same round opens small stretches
            return true;
        }
        ++extent_;
        used_ = 0;
    }
    return false;
}

std::optional<Lba> Addresses::take(Blocks blocks) {
    for (int pass = 0; pass < 2; ++pass) {
        if (top_ >= low_ + blocks) {
            const Lba start = (top_ - blocks) / alignment_ * alignment_;
            if (start >= low_) {
                top_ = start - std::min(start - low_, sample_gap_ / 2 + random_() % (sample_gap_ / 2 + 1));
                return start;
            }
        }
        if (!open_stretch(blocks)) return {};
    }
    return {};
}

Blocks Addresses::left() const {
    Blocks sum = top_ - low_;
    for (std::size_t i = extent_; i < media_.size(); ++i) sum += media_[i].count - (i == extent_ ? used_ : 0);
    return sum;
}

RandomAddresses::RandomAddresses(std::vector<Extent> media, Blocks blocks, Blocks alignment, std::uint64_t seed)
    : media_(std::move(media)), step_((std::max<Blocks>(blocks, 1) + alignment - 1) / alignment * alignment), random_(seed) {
    for (Extent& e : media_) {
        const Lba first = (e.first + alignment - 1) / alignment * alignment;
        e.count = first - e.first < e.count ? e.count - (first - e.first) : 0;
        e.first = first;
        slots_ += e.count / step_;
    }
}

std::optional<Lba> RandomAddresses::take() {
    if (slots_ == 0) return {};
    for (int attempt = 0; attempt < 64; ++attempt) {
        std::uint64_t slot = random_() % slots_;
        if (!used_.insert(slot).second) continue;
        for (const Extent& e : media_) {
            const std::uint64_t here = e.count / step_;
            if (slot < here) return e.first + slot * step_;
            slot -= here;
        }
    }
    return {};   // so full that fresh ones are hard to find
}

}
