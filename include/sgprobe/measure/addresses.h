// Which blocks a sample reads: fresh ones, never read before in this run, and such as no drive can have prefetched.
//
// A round takes one stretch of media and its samples descend through it: a drive prefetches upwards, into what has been read
// already. Stretches ascend with a gap between them, so that a run stays in one zone's worth of media and a round in much less.
// The gaps between samples vary, or each sample of one size could start at the same place of its track and that of another at
// another.
#pragma once
#include <optional>
#include <random>
#include <unordered_set>
#include <vector>

#include "sgprobe/scsi/types.h"

namespace sgprobe::measure {

struct Extent { Lba first = 0; Blocks count = 0; };

class Addresses {
public:
    Addresses(std::vector<Extent> media, Bytes block_bytes, Blocks alignment);

    void begin_round(Blocks planned);              // what the samples of the round will read in all, and how many they are
    std::optional<Lba> take(Blocks blocks);        // nothing: no fresh media is left
    Blocks left() const;
    Blocks sample_gap() const { return sample_gap_; }

private:
    bool open_stretch(Blocks at_least);

    std::vector<Extent> media_;
    std::size_t extent_ = 0;
    Blocks used_ = 0;                              // of the current extent, from its start
    Lba low_ = 0, top_ = 0;                        // what is left of the current stretch
    Blocks planned_ = 0, sample_gap_, round_gap_, alignment_;
    std::minstd_rand random_;                      // the same in every run
};

// Random addresses over the media, each at most once.
class RandomAddresses {
public:
    RandomAddresses(std::vector<Extent> media, Blocks blocks, Blocks alignment, std::uint64_t seed);
    std::optional<Lba> take();
private:
    std::vector<Extent> media_;
    Blocks step_;
    std::uint64_t slots_ = 0;
    std::mt19937_64 random_;
    std::unordered_set<std::uint64_t> used_;
};

}
