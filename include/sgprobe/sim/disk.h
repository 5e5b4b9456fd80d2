// The media side of a rotating drive: one pair of arms, a segmented cache, and the prefetch that runs on between commands.
//
// Nothing here is stepped: a stream over the media is kept as where and when it started and where it will stop, and looked
// at only when a command needs to know how far it has come. Writes that wait in the buffer are put on the media as late.
#pragma once
#include <deque>
#include <vector>

#include "sgprobe/sim/mechanics.h"
#include "sgprobe/sim/medium.h"
#include "sgprobe/sim/model.h"

namespace sgprobe::sim {

class Disk : public Medium {
public:
    explicit Disk(const Model&);
    void obey(const Settings&) override;
    Served read(const Access&) override;
    Served write(const Access&) override;
    double flush(double start_ns) override;
    void reset(double now_ns) override;
    double reach_ns(double now_ns, Lba) override;
    bool streaming_at(double now_ns, Lba) const override;
    void stall(double ns) override;
    void disturb(double now_ns, double busy_ns, Lba elsewhere) override;
    const Mechanics& mechanics() const { return mechanics_; }

private:
    struct Segment { Lba first = 0, end = 0; std::uint64_t used = 0; };
    struct Stream {                                  // what the arms read, from `from` at `start_ns` on, up to `limit`
        int segment = -1;
        Lba from = 0, limit = 0, minimum = 0;        // `minimum`: it does not yield to another command before this block
        double start_ns = 0, theta = 0, end_ns = 0;
    };
    struct Dirty { Lba lba = 0, end = 0; double since_ns = 0; };
    Segment& segment(int i) { return segments_[static_cast<std::size_t>(i)]; }
    double time_of(Lba end) const { return stream_.start_ns + (mechanics_.theta_end(end) - stream_.theta) * mechanics_.period_ns(); }
    int find(Lba) const;
    int victim(Lba) const;
    Blocks ahead(Lba end, Blocks n, Blocks held) const;
    Blocks minimum(Blocks n, Blocks prefetch) const;
    void set_limit(Lba);
    void make_room();
    void stop(double now_ns);
    double start(int segment, Lba, Lba end, Blocks prefetch, double now_ns, unsigned turns);
    void prolong(int segment, const Access&, Blocks prefetch);
    double yields(double now_ns) const;
    double write_media(double now_ns, Lba, Lba end, bool behind);
    void destage_one();
    void destage(double until_ns);                   // as far as the arms would have come by then
    bool buffered(const Access&, bool& partly) const;

    Mechanics mechanics_;
    CacheModel cache_;
    Settings settings_;
    std::vector<Segment> segments_;
    Stream stream_;
    std::deque<Dirty> dirty_;
    Blocks dirty_blocks_ = 0;
    Lba head_ = 0;                                   // a block on the track under the arms
    Lba written_end_ = ~Lba{0};
    double written_ns_ = 0;                          // when the last write to the media ended, there
    double arms_free_ns_ = 0;
    Blocks blocks_, segment_blocks_ = 0, cache_blocks_, physical_blocks_;
    double settle_ns_;
    std::uint64_t clock_ = 0;
};

}
