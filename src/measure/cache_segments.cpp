// How many segments the cache has, how long one is, how far it reads ahead.
#include <algorithm>
#include <cmath>
#include <functional>

#include "sgprobe/measure/cache_drive.h"

namespace sgprobe::measure {
namespace {
constexpr double quiet_us = 120e3;                  // a prefetch of 8 MiB is over by then

// Long enough, and never the same number of turns: else a block just past the prefetch might come round each time right then.
void quiet(CacheDrive& drive) { drive.idle(quiet_us + double(drive.random()() % 16384)); }

// The greatest n of 0..most for which a noisy test holds, where it holds for all smaller ones: doubling, then bisection, each
// length by majority. Empty where it does not even hold for 0.
std::optional<Blocks> edge(Blocks most, const std::function<bool(Blocks)>& holds) {
    const auto majority = [&](Blocks n) {
        const bool one = holds(n), two = holds(n);
        return one == two ? one : holds(n);
    };
    if (!majority(0)) return {};
    Blocks low = 0, high = 1;
    while (high <= most && majority(high)) { low = high; high *= 2; }
    high = std::min(high, most + 1);
    while (high - low > 1) {
        const Blocks middle = low + (high - low) / 2;
        (majority(middle) ? low : high) = middle;
    }
    return low;
}

// The same, and it stands when it is tried five more times on either side.
std::optional<Blocks> greatest(Blocks most, const std::function<bool(Blocks)>& holds) {
    const auto low = edge(most, holds);
    if (!low) return {};
    int held = 0, held_past = 0;
    for (int i = 0; i < 5; ++i) { held += holds(*low); held_past += *low < most && holds(*low + 1); }
    return held >= 4 && held_past <= 1 ? low : std::nullopt;
}

void claim(CacheFinding& finding, const SettingValues& page, const char* key) {
    const auto found = page.find(key);
    if (found == page.end() || (found->second == 0 && std::string_view(key) == "NCS")) return;   // NCS 0: not told
    finding.items.back().claimed = double(found->second);
    finding.items.back().claimed_by = std::string("mode page 08h, ") + key;
}
}

void measure_segments(CacheDrive& drive, const SettingValues& page, CacheFinding& finding) {
    if (!drive.threshold_us) return cannot_tell(finding, "segments", "", "hits cannot be told from reads of the media");
    constexpr Blocks most = 64;
    // A block survives reads of n-1 other places where there are n segments.
    const auto count = [&](Blocks request) {
        return greatest(most, [&, request](Blocks others) {
            const Lba first = drive.fresh();
            drive.read(first, request);
            for (Blocks i = 0; i < others; ++i) drive.read(drive.fresh(), request);
            return drive.is_hit(drive.read(first, 1), 1);
        });
    };
    const auto small = count(1), large = count(128);
    if (!small) {
        cannot_tell(finding, "segments", "", "how long a block stays in the cache is not a matter of how many other places were read (replacement at random, or a cache without segments)");
        claim(finding, page, "NCS");
        return;
    }
    if (*small >= most) { cannot_tell(finding, "segments", "", "64 other places do not push a block out of the cache: it has more segments than that, or none"); claim(finding, page, "NCS"); return; }
    const double segments = double(*small) + 1;
    drive.evictors = static_cast<unsigned>(*small) + 2;
    add_item(finding, "segments", "", segments, segments, segments);
    claim(finding, page, "NCS");
    CacheItem kind;
    kind.name = "segmentation";
    if (large) kind.word = *large == *small ? "fixed" : "adaptive";
    else kind.why = "with requests of 128 blocks the number of segments does not stand still";
    finding.items.push_back(std::move(kind));
}

namespace {
bool hit_at(CacheDrive& drive, Lba lba) { return drive.is_hit(drive.read(lba, 1), 1); }

// What is held back from the end of what was just read, and on past it. Empty where the two edges do not stand still.
std::optional<Blocks> held_around(CacheDrive& drive, Blocks most, Blocks length, const std::function<Lba()>& read_to_end) {
    const auto back = greatest(length - 1, [&](Blocks j) { return hit_at(drive, read_to_end() - 1 - j); });
    if (!back) return {};
    if (*back + 1 >= length) return length;         // all of it: the segment may be longer
    const auto on = greatest(most, [&](Blocks j) { return hit_at(drive, read_to_end() - 1 + j); });
    return on ? std::optional(*back + 1 + *on) : std::nullopt;
}

// A stream longer than a segment leaves it full. Where the prefetch past the stream's end comes and goes, one long command may
// leave none: what it leaves is then all behind its end.
void measure_segment_length(CacheDrive& drive, Blocks most, CacheFinding& finding) {
    const Blocks request = std::max<Blocks>(1, 32768 / drive.block_bytes());
    const char* why = "a stream of the greatest length tried is still held whole";
    for (Blocks length = std::max<Blocks>(512, (Bytes{2} << 20) / drive.block_bytes()) / request * request; length <= most; length *= 2) {
        const auto held = held_around(drive, most, length, [&] {
            const Lba at = drive.fresh();
            for (Blocks i = 0; i < length; i += request) drive.read(at + i, request);
            quiet(drive);
            return at + length;
        });
        if (!held) { why = "what is held of a long stream differs from time to time"; break; }
        if (*held == length) continue;
        return add_item(finding, "segment_blocks", "blocks", double(*held), double(*held), double(*held));
    }
    for (Blocks length = 1024; length <= std::min(most, drive.longest()); length *= 2) {
        const auto held = held_around(drive, most, length, [&] {
            const Lba at = drive.fresh();
            drive.read(at, length);
            quiet(drive);
            return at + length;
        });
        if (held && *held < length) return add_item(finding, "segment_blocks", "blocks", double(*held), double(*held), double(*held));
    }
    cannot_tell(finding, "segment_blocks", "blocks", why);
}
}

void measure_prefetch(CacheDrive& drive, const SettingValues& page, CacheFinding& finding) {
    const auto all = {"prefetch_max_blocks", "prefetch_max_blocks_after_64", "prefetch_min_blocks", "segment_blocks"};
    if (!drive.threshold_us) { for (const char* name : all) cannot_tell(finding, name, "blocks", "hits cannot be told from reads of the media"); return; }
    const Blocks most = std::min<Blocks>(65536, drive.stride() * 3);
    const auto hit = [&](Lba lba) { return drive.is_hit(drive.read(lba, 1), 1); };
    const auto exact = [&](const char* name, std::optional<Blocks> blocks, const char* why) {
        if (blocks) add_item(finding, name, "blocks", double(*blocks), double(*blocks), double(*blocks));
        else cannot_tell(finding, name, "blocks", why);
    };
    const auto ahead = [&](Blocks request) {
        // Holds for 0: the last block of the request itself.
        return greatest(most, [&, request](Blocks further) {
            const Lba at = drive.fresh();
            drive.read(at, request);
            quiet(drive);
            return hit(at + request - 1 + further);
        });
    };
    const auto after_8 = ahead(8);
    exact("prefetch_max_blocks", after_8, "how far it reads ahead differs from time to time");
    claim(finding, page, "MAPFC");
    exact("prefetch_max_blocks_after_64", ahead(64), "how far it reads ahead differs from time to time");

    // What passes under the heads until a command elsewhere stops them varies a little: the span of several searches.
    std::vector<double> at_once;
    for (int i = 0; i < 5; ++i) {
        const auto blocks = edge(std::min<Blocks>(most, 8192), [&](Blocks further) {
            const Lba at = drive.fresh();
            drive.read(at, 8);
            drive.read(drive.fresh(), 8);
            return hit(at + 7 + further);
        });
        if (blocks) at_once.push_back(double(*blocks));
    }
    if (at_once.size() < 4) {
        cannot_tell(finding, "prefetch_min_blocks", "blocks", "even the blocks that were asked for are not held after a read elsewhere");
    } else {
        std::sort(at_once.begin(), at_once.end());
        const double margin = at_once.front() == at_once.back() ? 0 : 2;
        add_item(finding, "prefetch_min_blocks", "blocks", at_once[at_once.size() / 2], std::max(0.0, at_once.front() - margin), at_once.back() + margin);
        finding.items.back().why = "held after a read elsewhere stopped the prefetch at once: the drive's own minimum, or what passed under the heads until then";
    }
    claim(finding, page, "MIPF");

    measure_segment_length(drive, most, finding);
}

}
