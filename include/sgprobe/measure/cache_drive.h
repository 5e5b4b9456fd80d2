// Reads of one drive, timed one by one, at addresses of our choosing: fresh ones, ones just read, or straight from the media.
#pragma once
#include <random>
#include <stdexcept>

#include "sgprobe/measure/cache.h"
#include "sgprobe/measure/subject.h"

namespace sgprobe::measure {

// Thrown inside the probe alone, when it has to end early: what was found by then stands.
struct CacheOver : std::runtime_error { using std::runtime_error::runtime_error; };

class CacheDrive {
public:
    struct Timed { double latency_us = 0, finished_us = 0; };

    CacheDrive(Host&, Drive&, const Subject&, const CacheOptions&, CacheFinding&);
    Timed read(Lba, Blocks, bool fua = false);     // throws CacheOver
    void idle(double us);
    // An address far from every one that was handed out before, with room behind it that nothing was read from. From high to low, so that
    // what is prefetched behind one never holds the next.
    Lba fresh();
    void stay_near(Lba);                           // from there down
    Blocks blocks() const { return subject_.identity.blocks; }
    Bytes block_bytes() const { return subject_.identity.block_bytes; }
    Blocks stride() const { return stride_; }
    Blocks longest() const;                        // blocks that one command may carry here
    std::mt19937_64& random() { return random_; }

    // Told by the split of latencies: a read that took no longer came from the cache.
    std::optional<double> threshold_us;
    double bus_us_per_block = 0;
    bool is_hit(const Timed& timed, Blocks n) const { return threshold_us && timed.latency_us < *threshold_us + double(n) * bus_us_per_block; }
    bool fua_reaches_media = false;
    unsigned evictors = 0;                         // fresh reads after which a block is not cached any more; 0: not known
    Timed media_read(Lba);                         // of one block, surely not from the cache
    bool can_read_media() const { return fua_reaches_media || evictors > 0; }

private:
    Host& host_;
    Drive& drive_;
    const Subject& subject_;
    CacheFinding& finding_;
    std::mt19937_64 random_;
    Blocks stride_;
    Lba top_ = 0, next_ = 0;
    Nanoseconds end_;
    Buffer buffer_;
    unsigned failures_ = 0;
};

// The parts of the probe. Each adds its items, measured or not.
void split_hits_and_misses(CacheDrive&, CacheFinding&);
void measure_overhead(CacheDrive&, CacheFinding&);
void measure_rotation(CacheDrive&, const Subject&, CacheFinding&);
void measure_segments(CacheDrive&, const SettingValues&, CacheFinding&);
void measure_prefetch(CacheDrive&, const SettingValues&, CacheFinding&);
void measure_zones(CacheDrive&, CacheFinding&);
void measure_tracks(CacheDrive&, CacheFinding&);

void add_item(CacheFinding&, std::string name, std::string unit, double value, double low, double high);
void cannot_tell(CacheFinding&, std::string name, std::string unit, std::string why);

}
