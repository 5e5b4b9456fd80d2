#include "sgprobe/sim/flash.h"

#include <algorithm>

namespace sgprobe::sim {

Mapping::Mapping(const Flash& flash, Blocks capacity) : capacity_(capacity) {
    for (const auto& [first, count] : flash.unmapped) unmap(first, count);
}

bool Mapping::mapped(Lba lba) const {
    auto after = holes_.upper_bound(lba);
    return after == holes_.begin() || std::prev(after)->second <= lba;
}

Blocks Mapping::run(Lba lba) const {
    auto after = holes_.upper_bound(lba);
    if (after != holes_.begin() && std::prev(after)->second > lba) return std::prev(after)->second - lba;
    return (after == holes_.end() ? capacity_ : after->first) - lba;
}

void Mapping::map(Lba lba, Blocks n) {
    const Lba end = lba + n;
    auto hole = holes_.upper_bound(lba);
    if (hole != holes_.begin() && std::prev(hole)->second > lba) --hole;
    while (hole != holes_.end() && hole->first < end) {
        const auto [first, last] = *hole;
        hole = holes_.erase(hole);
        if (first < lba) holes_[first] = lba;
        if (last > end) holes_[end] = last;
    }
}

void Mapping::unmap(Lba lba, Blocks n) {
    if (n == 0) return;
    map(lba, n);                                     // so that holes never overlap
    Lba first = lba, end = lba + n;
    if (const auto next = holes_.find(end); next != holes_.end()) {
        end = next->second;
        holes_.erase(next);
    }
    auto after = holes_.upper_bound(first);
    if (after != holes_.begin() && std::prev(after)->second == first) first = std::prev(after)->first;
    holes_[first] = end;
}

FlashMedium::FlashMedium(const Model& model, Mapping& mapping)
    : flash_(model.flash), mapping_(mapping), channels_(model.flash.channels), block_bytes_(model.media.block_bytes) {}

double& FlashMedium::channel() { return *std::min_element(channels_.begin(), channels_.end()); }

Served FlashMedium::serve(const Access& a, double look_up_us, double rate_mb_s) {
    Served served{a.start_ns, a.start_ns, a.start_ns, false};
    double& busy = channel();
    const double found = std::max(a.start_ns, busy) + look_up_us * 1e3;
    const double moved = std::max(found, path_free_ns_) + static_cast<double>(a.blocks * block_bytes_) / rate_mb_s * 1e3;
    busy = found;
    path_free_ns_ = moved;
    served.first_ns = found;
    served.last_ns = moved;
    served.free_ns = std::max(a.start_ns, channel());
    return served;
}

Served FlashMedium::read(const Access& a) {
    if (!mapping_.mapped(a.lba) && mapping_.run(a.lba) >= a.blocks) return {a.start_ns, a.start_ns, a.start_ns, true};
    return serve(a, flash_.read_us * (1 + a.turns), flash_.rate_mb_s);
}

Served FlashMedium::write(const Access& a) {
    mapping_.map(a.lba, a.blocks);
    const bool whole = a.lba % flash_.page_blocks == 0 && a.blocks % flash_.page_blocks == 0;
    Served served = serve(a, flash_.write_us + (whole ? 0 : flash_.read_us), flash_.write_rate_mb_s);
    written_ns_ = std::max(written_ns_, served.last_ns);
    // With the cache on, a write is acknowledged as soon as the data path had room for it.
    if (settings_.write_cache && !a.force_media) served.last_ns = std::max(a.start_ns, served.last_ns - flash_.write_us * 1e3);
    return served;
}

double FlashMedium::flush(double start_ns) { return std::max(start_ns, written_ns_); }

void FlashMedium::disturb(double now_ns, double busy_ns, Lba) {
    for (double& busy : channels_) busy = std::max(busy, now_ns) + busy_ns;
}

}
