// The media: how fast they stream from place to place, how long a track is, how far the next one is turned against it.
#include <algorithm>
#include <cmath>

#include "sgprobe/measure/cache_drive.h"
#include "sgprobe/measure/statistics.h"

namespace sgprobe::measure {
namespace {

double stream_rate(CacheDrive& drive, Lba at) {
    constexpr Blocks count = 40, warm = 8;
    const Blocks request = std::max<Blocks>(1, 65536 / drive.block_bytes());
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

struct Track { Blocks blocks = 0; double skew_us = 0, skew_error_us = 0, block_us = 0; Lba border = 0; };

std::optional<Track> track_at(CacheDrive& drive, double period, Lba start, Blocks step) {
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
    return Track{borders[1] - borders[0], median(skews), 2 * noise, per_block, borders[0]};
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
        finding.zones.push_back({at, rates[1], rates[0], rates[2]});
    }
    const auto& z = finding.zones;
    const auto greatest = std::max_element(z.begin(), z.end(), [](const auto& a, const auto& b) { return a.rate_mb_s < b.rate_mb_s; });
    add_item(finding, "media_rate_outer_mb_s", "MB/s", z[1].rate_mb_s, z[1].low, z[1].high);
    add_item(finding, "media_rate_inner_mb_s", "MB/s", z[positions - 2].rate_mb_s, z[positions - 2].low, z[positions - 2].high);
    add_item(finding, "media_rate_max_mb_s", "MB/s", greatest->rate_mb_s, greatest->low, greatest->high);
}

namespace {
// The turn that lies between the end of one block and the end of the next, less the block itself: nothing within a track.
double jump_at(CacheDrive& drive, double period, Lba border, double block_us, int readings = 3) {
    std::vector<double> jumps;
    for (int i = 0; i < readings; ++i) {
        const double before = drive.media_read(border - 1).finished_us;
        jumps.push_back(forward(std::fmod(before, period), std::fmod(drive.media_read(border).finished_us, period), period) - block_us);
    }
    const double jump = median(jumps);
    return jump > period * 0.98 ? jump - period : jump;
}

std::optional<Track> find_track(CacheDrive& drive, double period, Lba start) {
    // Steps are long enough that three borders come into view, short enough that a step is less than a track.
    for (const Blocks step : {32, 64, 16, 32})
        if (start + 128 * step < drive.blocks())
            if (const auto track = track_at(drive, period, start, step)) return track;
    return {};
}

// Within a zone every track begins a whole number of tracks after the first: the last place where one still does is its end.
std::optional<Lba> zone_end(CacheDrive& drive, double period, const Track& track) {
    const auto begins = [&](std::uint64_t k) {
        const Lba at = track.border + k * track.blocks;
        return at < drive.blocks() && jump_at(drive, period, at, track.block_us) > track.skew_us / 2;
    };
    const auto holds = [&](std::uint64_t k) {        // two tracks in a row: one jump alone may be another zone's by chance
        return begins(k) && (begins(k + 1) || begins(k - 1));
    };
    std::uint64_t low = 1, high = (drive.blocks() - track.border) / track.blocks + 1;
    if (!holds(1) || !holds(2)) return {};
    while (high - low > 1) {
        const std::uint64_t middle = low + (high - low) / 2;
        (holds(middle) ? low : high) = middle;
    }
    const Lba end = track.border + low * track.blocks;
    if (end + 2 * track.blocks >= drive.blocks()) return drive.blocks();
    if (begins(low + 1) && begins(low + 2)) return {};
    return end;                                      // the first track of the next zone begins where this zone's last one ends
}

void measure_heads(CacheDrive& drive, double period, const Track& track, CacheFinding& finding) {
    std::vector<double> jumps;
    for (std::uint64_t k = 1; k <= 48; ++k) jumps.push_back(jump_at(drive, period, track.border + k * track.blocks, track.block_us, 5));
    // Every so manieth jump is another: the move to the next cylinder in place of a switch of heads. Folded at each number of heads,
    // the right one sets one place apart from all others most clearly.
    std::size_t heads = 0;
    double clearest = 0;
    std::vector<double> few, more;
    for (std::size_t h = 2; h <= 16; ++h)
        for (std::size_t r = 0; r < h; ++r) {
            std::vector<double> in, out;
            for (std::size_t i = 0; i < jumps.size(); ++i) (i % h == r ? in : out).push_back(jumps[i]);
            const double noise = std::max({spread(out), spread(in) * 0.5, 2.0});
            const double clear = (median(in) - median(out)) / noise * std::sqrt(double(in.size()));
            const auto below = std::count_if(in.begin(), in.end(), [&](double jump) { return jump < (median(in) + median(out)) / 2; });
            const auto above = std::count_if(out.begin(), out.end(), [&](double jump) { return jump > (median(in) + median(out)) / 2; });
            if (clear > clearest && below <= std::ssize(in) / 8 && above <= std::ssize(out) / 12) { clearest = clear; heads = h; few = out; more = in; }
        }
    if (clearest < 8) {
        cannot_tell(finding, "heads", "", "jumps from track to track do not come in two kinds at even distances: one head, more than 16, or skews too alike");
        return;
    }
    add_item(finding, "heads", "", double(heads), double(heads), double(heads));
    const double error_few = 2 * spread(few) / std::sqrt(double(few.size())) + 10, error_more = 2 * spread(more) / std::sqrt(double(more.size())) + 10;
    add_item(finding, "head_skew_us", "us", median(few), median(few) - error_few, median(few) + error_few);
    add_item(finding, "cylinder_skew_us", "us", median(more), median(more) - error_more, median(more) + error_more);
}
}

void measure_tracks(CacheDrive& drive, CacheFinding& finding) {
    const CacheItem* rotation = finding.find("rotation_period_us");
    const auto none = [&](const char* why) {
        for (const char* name : {"track_blocks_outer", "track_blocks_inner", "zones", "heads"}) cannot_tell(finding, name, "", why);
    };
    if (!rotation || !rotation->value) return none("the rotation period is not known");
    if (!drive.fua_reaches_media) return none("FUA does not reach the media, and pushing each block out of the cache takes too long");
    const double period = *rotation->value;
    const auto told = [&](const char* place, const Track& track) {
        add_item(finding, std::string("track_blocks_") + place, "blocks", double(track.blocks), double(track.blocks), double(track.blocks));
        add_item(finding, std::string("track_skew_") + place + "_us", "us", track.skew_us, track.skew_us - track.skew_error_us, track.skew_us + track.skew_error_us);
    };
    const char* why = "the angles of successive blocks show no three evenly spaced track borders";
    const auto outer = find_track(drive, period, 0);
    if (!outer) return none(why);
    told("outer", *outer);
    const auto inner = find_track(drive, period, drive.blocks() - std::min(drive.blocks() / 2, Blocks{20000}));
    if (inner) told("inner", *inner);
    else cannot_tell(finding, "track_blocks_inner", "blocks", why);
    measure_heads(drive, period, *outer, finding);
    // From zone to zone, each from the end of the one before.
    Lba first = 0;
    std::optional<Track> track = outer;
    while (track && finding.track_zones.size() < 64) {
        std::optional<Lba> end;
        for (int attempt = 0; attempt < 3 && !end; ++attempt) end = zone_end(drive, period, *track);
        if (!end) { cannot_tell(finding, "zones", "", "past the last zone listed tracks do not follow each other evenly"); return; }
        finding.track_zones.push_back({first, *end, track->blocks});
        if (*end >= drive.blocks()) break;
        first = *end;
        for (Lba further : {0, 1013, 3001}) if ((track = find_track(drive, period, first + further))) break;
        if (track) track->border = first;
    }
    if (!track) { cannot_tell(finding, "zones", "", why); return; }
    const auto count = double(finding.track_zones.size());
    add_item(finding, "zones", "", count, count, count);
}

}
