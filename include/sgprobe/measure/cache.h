// `sgprobe cache`: what the firmware does inside, told by timing alone. Read-only; no word of the drive about itself is trusted,
// it stands beside what was measured. An item that cannot be told says so, and why.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sgprobe/measure/progress.h"
#include "sgprobe/measure/result.h"
#include "sgprobe/transport/drive.h"

namespace sgprobe::measure {

struct CacheItem {
    std::string name, unit;                        // "rotation_period_us"; unit for people
    std::optional<double> value, low, high;        // low..high: 95 %
    std::optional<double> claimed;                 // by the drive itself
    std::string claimed_by;                        // "VPD B1h", "mode page 08h, SIZE"
    std::string word;                              // where the value is a word: "adaptive", "fixed"
    std::string why;                               // without a value: why it cannot be told, or does not apply
};

struct ZoneRate { Lba lba = 0; double rate_mb_s = 0, low = 0, high = 0; };

struct TrackZone { Lba first = 0, end = 0; Blocks track_blocks = 0; };

struct CacheFinding {
    std::vector<CacheItem> items;
    std::vector<ZoneRate> zones;                   // positions from the first block to the last
    std::vector<TrackZone> track_zones;            // as far as they could be followed from the first block on
    std::vector<double> hits_us, misses_us;        // what the split of hits and misses was made from
    std::vector<std::string> notes;
    bool interrupted = false, budget_spent = false;
    std::uint64_t commands = 0;
    Bytes bytes_transferred = 0;
    const CacheItem* find(std::string_view name) const;
};

struct CacheOptions {
    std::vector<std::string> only;                 // item groups; empty: all
    Nanoseconds budget = std::chrono::minutes(3);
    std::uint64_t seed = 1;
    Progress progress;
};

std::vector<std::string_view> cache_groups();      // "overhead", "rotation", "segments", "prefetch", "zones", "tracks"

struct Subject;
CacheFinding measure_cache(Host&, Drive&, const Subject&, const SettingValues& caching_page, const CacheOptions&);
Result cache_result(const CacheFinding&, const Subject&);

}
