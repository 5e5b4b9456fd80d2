// The media: how fast they stream from place to place, how long a track is, how far the next one is turned against it.
#include <algorithm>
#include <cmath>

#include "sgprobe/measure/cache_drive.h"
#include "sgprobe/measure/statistics.h"

namespace sgprobe::measure {
namespace {

double stream_rate(CacheDrive& drive, Lba at) {
    constexpr Blocks request = 128, count = 40, warm = 8;
    double from = 0, to = 0;
    for (Blocks i = 0; i < count; ++i) {
        to = drive.read(at + i * request, request).finished_us;
        if (i + 1 == warm) from = to;
    }
    return double((count - warm) * request * drive.block_bytes()) / (to - from);
}

// Where on the turn a block ends, in us from an origin that all share; the middle of three readings, around the circle.
double phase(CacheDrive& drive, double period, Lba lba) {
    const double first = std::fmod(drive.media_read(lba).finished_us, period);
    std::vector<double> turned{0};
    for (int i = 0; i < 2; ++i) turned.push_back(std::remainder(drive.media_read(lba).finished_us - first, period));
    return first + median(turned);
}

double forward(double from, double to, double period) {
    const double difference = std::fmod(to - from, period);
    return difference < -period * 0.02 ? difference + period : difference;
}

struct Track { Blocks blocks = 0; double skew_us = 0, skew_error_us = 0; };

std::optional<Track> track_at(CacheDrive& drive, double period, Lba start) {
    constexpr Blocks step = 32;
    std::vector<double> phases, steps;
    for (Blocks i = 0; i < 128; ++i) {
        phases.push_back(phase(drive, period, start + i * step));
        if (i > 0) steps.push_back(forward(phases[i - 1], phases[i], period));
    }
    const double slope = median(steps), noise = std::max(spread(steps), 1.0);
    std::vector<std::size_t> jumps;
    for (std::size_t i = 0; i < steps.size(); ++i) if (steps[i] > slope + 7 * noise) jumps.push_back(i);
    if (jumps.size() < 3 || slope <= 0) return {};
    // The slope again, from all that lies within tracks: each step alone is worth little.
    std::vector<double> within;
    for (std::size_t i = 0; i < steps.size(); ++i) if (steps[i] <= slope + 7 * noise) within.push_back(steps[i]);
    const double per_block = biweight(within, 0).value / double(step);
    std::vector<Lba> borders;
    std::vector<double> skews;
    for (std::size_t j = 0; j < 3; ++j) {
        const Lba base = start + jumps[j] * step;
        const double jump = steps[jumps[j]] - per_block * double(step);
        Blocks low = 0, high = step;                // the border lies in (low, high]
        while (high - low > 1) {
            const Blocks middle = (low + high) / 2;
            const double extra = forward(phases[jumps[j]], phase(drive, period, base + middle), period) - per_block * double(middle);
            (extra > jump / 2 ? high : low) = middle;
        }
        borders.push_back(base + high);
        skews.push_back(jump);
    }
    if (borders[1] - borders[0] != borders[2] - borders[1]) return {};
    return Track{borders[1] - borders[0], median(skews), 2 * noise};
}
}

void measure_zones(CacheDrive& drive, CacheFinding& finding) {
    constexpr int positions = 33;
    const Blocks span = drive.blocks() > 8192 * 2 ? drive.blocks() - 8192 : 0;
    if (span == 0) return cannot_tell(finding, "media_rate_mb_s", "MB/s", "the disk is too small");
    for (int i = 0; i < positions; ++i) {
        const Lba at = span / (positions - 1) * static_cast<Blocks>(i) / 8 * 8;
        std::vector<double> rates;
        for (int run = 0; run < 3; ++run) {
            // Not the blocks of the run before: the cache may hold them.
            drive.read((at + drive.blocks() / 2) % span, 1);
            rates.push_back(stream_rate(drive, at > 32768 ? at - static_cast<Blocks>(run) * 8192 : at + static_cast<Blocks>(run) * 8192));
        }
        std::sort(rates.begin(), rates.end());
        finding.zones.push_back({at, rates[1], rates[0], rates[2], {}});
    }
    const auto& z = finding.zones;
    const auto greatest = std::max_element(z.begin(), z.end(), [](const auto& a, const auto& b) { return a.rate_mb_s < b.rate_mb_s; });
    add_item(finding, "media_rate_outer_mb_s", "MB/s", z[1].rate_mb_s, z[1].low, z[1].high);
    add_item(finding, "media_rate_inner_mb_s", "MB/s", z[positions - 2].rate_mb_s, z[positions - 2].low, z[positions - 2].high);
    add_item(finding, "media_rate_max_mb_s", "MB/s", greatest->rate_mb_s, greatest->low, greatest->high);
    cannot_tell(finding, "zone_borders", "", "rates are known at 33 places; the borders between them are not looked for yet");
}

void measure_tracks(CacheDrive& drive, CacheFinding& finding) {
    const CacheItem* rotation = finding.find("rotation_period_us");
    if (!rotation || !rotation->value) return cannot_tell(finding, "track_blocks_outer", "blocks", "the rotation period is not known");
    if (!drive.fua_reaches_media) return cannot_tell(finding, "track_blocks_outer", "blocks", "FUA does not reach the media, and pushing each block out of the cache takes too long");
    const struct { const char* name; const char* skew; double where; } places[] = {
        {"track_blocks_outer", "track_skew_outer_us", 0.002}, {"track_blocks_middle", "track_skew_middle_us", 0.5}, {"track_blocks_inner", "track_skew_inner_us", 0.995}};
    for (const auto& place : places) {
        std::optional<Track> track;
        const Lba at = static_cast<Lba>(double(drive.blocks()) * place.where);
        for (int attempt = 0; attempt < 5 && !track; ++attempt) track = track_at(drive, *rotation->value, std::min(at + static_cast<Lba>(attempt) * 50021, drive.blocks() - 4200 - static_cast<Lba>(attempt) * 30011));
        if (!track) { cannot_tell(finding, place.name, "blocks", "the angles of successive blocks show no three evenly spaced track borders"); continue; }
        add_item(finding, place.name, "blocks", double(track->blocks), double(track->blocks), double(track->blocks));
        add_item(finding, place.skew, "us", track->skew_us, track->skew_us - track->skew_error_us, track->skew_us + track->skew_error_us);
    }
}

}
