#include "sgprobe/sim/mechanics.h"

#include <algorithm>
#include <cmath>

namespace sgprobe::sim {

Mechanics::Mechanics(const Media& media)
    : period_ns_(60e9 / media.rpm), revolutions_per_ns_(media.rpm / 60e9), head_switch_ns_(media.head_switch_us * 1e3),
      heads_(media.heads), block_bytes_(media.block_bytes) {
    Lba first = 0;
    double theta = 0;
    for (const Zone& zone : media.zones) {
        // A skew shorter than the switch means that the next track's first block has passed: one more revolution.
        auto step = [&](double skew_us, double switch_us) {
            return (skew_us + 1e-9 < switch_us ? 1.0 : 0.0) + skew_us * 1e3 * revolutions_per_ns_;
        };
        Span s;
        s.first = first;
        s.first_cylinder = cylinders_;
        s.theta = theta;
        s.blocks_per_track = zone.blocks_per_track;
        s.blocks_per_cylinder = Blocks{zone.blocks_per_track} * heads_;
        s.end = first + s.blocks_per_cylinder * zone.cylinders;
        s.per_block = 1.0 / zone.blocks_per_track;
        s.per_track = 1 + step(zone.head_skew_us, media.head_switch_us);
        s.per_cylinder = (heads_ - 1) * s.per_track + 1 + step(zone.cylinder_skew_us, media.cylinder_switch_us);
        spans_.push_back(s);
        theta += s.per_cylinder * static_cast<double>(zone.cylinders);
        first = s.end;
        cylinders_ += zone.cylinders;
    }
    // The curve through the three given points: next cylinder, a third of the way, all of it.
    const double d[3] = {1, std::max(2.0, static_cast<double>(cylinders_) / 3), std::max(3.0, static_cast<double>(cylinders_) - 1)};
    const double t[3] = {media.cylinder_switch_us * 1e3, media.seek_average_us * 1e3, media.seek_full_us * 1e3};
    auto slope = [&](int i, int j, auto f) { return (f(j) - f(i)) / (d[j] - d[i]); };
    auto time = [&](int i) { return t[i]; };
    auto root = [&](int i) { return std::sqrt(d[i]); };
    const double bend = slope(0, 1, root) - slope(1, 2, root);
    seek_[1] = bend != 0 ? (slope(0, 1, time) - slope(1, 2, time)) / bend : 0;
    seek_[2] = slope(1, 2, time) - seek_[1] * slope(1, 2, root);
    seek_[0] = t[0] - seek_[1] * root(0) - seek_[2] * d[0];
}

const Mechanics::Span& Mechanics::span(Lba lba) const {
    const Span& last = spans_[last_];
    if (lba >= last.first && lba < last.end) return last;
    auto after = std::upper_bound(spans_.begin(), spans_.end(), lba, [](Lba a, const Span& s) { return a < s.end; });
    if (after == spans_.end()) --after;
    last_ = static_cast<std::size_t>(after - spans_.begin());
    return *after;
}

double Mechanics::theta(Lba lba) const {
    const Span& s = span(lba);
    const Blocks offset = lba - s.first;
    const Blocks cylinder = offset / s.blocks_per_cylinder;
    const auto in_cylinder = static_cast<std::uint32_t>(offset - cylinder * s.blocks_per_cylinder);
    const std::uint32_t head = in_cylinder / s.blocks_per_track;
    return s.theta + static_cast<double>(cylinder) * s.per_cylinder + head * s.per_track
         + (in_cylinder - head * s.blocks_per_track) * s.per_block;
}

double Mechanics::theta_end(Lba end) const { return end == 0 ? 0 : theta(end - 1) + span(end - 1).per_block; }

Lba Mechanics::lba_at(double theta) const {
    if (theta <= 0) return 0;
    auto after = std::upper_bound(spans_.begin(), spans_.end(), theta, [](double a, const Span& s) { return a < s.theta; });
    const Span& s = *std::prev(after);
    const double offset = theta - s.theta + s.per_block * 1e-3;   // rounding never takes a block away that is wholly read
    const double cylinder = std::floor(offset / s.per_cylinder);
    const double in_cylinder = offset - cylinder * s.per_cylinder;
    const double head = std::min(std::floor(in_cylinder / s.per_track), static_cast<double>(heads_ - 1));
    const double block = std::min(std::floor((in_cylinder - head * s.per_track) * s.blocks_per_track), static_cast<double>(s.blocks_per_track));
    const Lba lba = s.first + static_cast<Lba>(cylinder) * s.blocks_per_cylinder + static_cast<Lba>(head) * s.blocks_per_track
                  + static_cast<Lba>(block);
    return std::min(lba, s.end);
}

std::uint64_t Mechanics::cylinder(Lba lba) const {
    const Span& s = span(lba);
    return s.first_cylinder + (lba - s.first) / s.blocks_per_cylinder;
}

std::uint64_t Mechanics::track(Lba lba) const {
    const Span& s = span(lba);
    return s.first_cylinder * heads_ + (lba - s.first) / s.blocks_per_track;
}

Lba Mechanics::track_end(Lba lba) const {
    const Span& s = span(lba);
    return s.first + ((lba - s.first) / s.blocks_per_track + 1) * s.blocks_per_track;
}

Lba Mechanics::cylinder_end(Lba lba) const {
    const Span& s = span(lba);
    return s.first + ((lba - s.first) / s.blocks_per_cylinder + 1) * s.blocks_per_cylinder;
}

double Mechanics::media_rate_mb_s(Lba lba) const {
    const Span& s = span(lba);
    return static_cast<double>(s.blocks_per_cylinder) * block_bytes_ / (s.per_cylinder * period_ns_) * 1e3;
}

double Mechanics::seek_ns(std::uint64_t distance) const {
    if (distance == 0) return 0;
    const auto d = static_cast<double>(distance);
    return std::max(seek_[0] + seek_[1] * std::sqrt(d) + seek_[2] * d, 0.0);
}

double Mechanics::move_ns(Lba from, Lba to) const {
    const std::uint64_t a = track(from), b = track(to);
    if (a == b) return 0;
    const std::uint64_t x = a / heads_, y = b / heads_;
    return x == y ? head_switch_ns_ : std::max(seek_ns(x > y ? x - y : y - x), head_switch_ns_);
}

double Mechanics::passes_after(double time_ns, double theta) const {
    const double ahead = theta - time_ns * revolutions_per_ns_;
    double wait = ahead - std::floor(ahead);
    if (wait > 1 - 1e-9) wait = 0;                   // it is there now, but for rounding
    return time_ns + wait * period_ns_;
}

}
