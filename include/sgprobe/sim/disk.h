// The media side of a rotating drive: one pair of arms, a segmented cache, and the prefetch that runs on between commands.
//
// Nothing here is stepped: a stream over the media is kept as where and when it started and where it will stop, and looked
// at only when a command needs to know how far it has come.
#pragma once
#include <vector>

#include "sgprobe/sim/mechanics.h"
#include "sgprobe/sim/model.h"
#include "sgprobe/sim/settings.h"

namespace sgprobe::sim {

class Disk {
public:
    Disk(const Model&);

    void obey(const Settings&);
    // Serves a request whose data may move from `start_ns` on. `retry_revolutions`: its blocks are read so many times more.
    struct Served {
        double media_ns = 0;       // when the arms are free for another command
        double data_ns = 0;        // when the last block has moved (read), or may be acknowledged (write)
        bool hit = false;          // wholly from the cache, and there when it was asked for
    };
    Served read(double start_ns, Lba, Blocks, bool force_media, unsigned retry_revolutions, bool may_prefetch = true);
    Served write(double start_ns, Lba, Blocks, bool force_media);
    double flush(double start_ns);                   // when everything written is on the media
    void reset();                                    // the cache is empty
    const Mechanics& mechanics() const { return mechanics_; }

private:
    struct Segment { Lba first = 0, end = 0; std::uint64_t used = 0; };
    struct Stream {                                  // what the arms read, from `from` at `start_ns` on, up to `limit`
        int segment = -1;
        Lba from = 0, limit = 0, minimum = 0;        // `minimum`: it does not yield to another command before this block
        double start_ns = 0, theta = 0, end_ns = 0;
    };
    double time_of(Lba end) const { return stream_.start_ns + (mechanics_.theta_end(end) - stream_.theta) * mechanics_.period_ns(); }
    double bus_ns(Blocks n) const { return static_cast<double>(n) * block_bus_ns_; }
    int find(Lba) const;
    int victim(Lba) const;
    Blocks ahead(Lba end, Blocks n, Blocks held) const;
    void set_limit(Lba);
    void stop(double now_ns);
    double start(int segment, Lba, Lba end, Blocks prefetch, double now_ns, unsigned retry_revolutions);
    double yields(double now_ns) const;
    double write_media(double now_ns, Lba, Lba end);

    Mechanics mechanics_;
    CacheModel cache_;
    Settings settings_;
    std::vector<Segment> segments_;
    Stream stream_;
    Lba head_ = 0;                                   // a block on the track under the arms
    Blocks blocks_, segment_blocks_ = 0;
    double block_bus_ns_, settle_ns_, written_ns_ = 0;
    Lba written_end_ = ~Lba{0};
    std::uint64_t clock_ = 0;
};

}
