// Where blocks lie on a rotating disk, and when they pass under the heads.
//
// Blocks are laid along one unrolled angle: theta(lba) is how many revolutions a stream from block 0 needs to reach the
// start of `lba`, skews included. A stream from A to B therefore takes (theta(B) - theta(A)) revolutions, and the start of
// A passes under its head whenever time, in revolutions, has the fraction of theta(A).
#pragma once
#include <vector>

#include "sgprobe/sim/model.h"

namespace sgprobe::sim {

class Mechanics {
public:
    explicit Mechanics(const Media&);

    double period_ns() const { return period_ns_; }
    double theta(Lba) const;                         // to the start of a block
    double theta_end(Lba end) const;                 // to the end of the block before `end`
    Lba lba_at(double theta) const;                  // the first block that is not wholly read at this angle
    std::uint64_t track(Lba) const;                  // counted over all zones
    Lba track_end(Lba) const;                        // first block of the next track
    Lba cylinder_end(Lba) const;
    double media_rate_mb_s(Lba) const;               // streaming rate of the zone

    // Time to move from one block's track to another's: nothing on the same track, a head switch, or a seek.
    double move_ns(Lba from, Lba to) const;
    double seek_ns(std::uint64_t cylinders) const;
    double passes_after(double time_ns, double theta) const;   // first time, not before time_ns, that this angle is under the heads

private:
    struct Span {                                    // a zone
        Lba first, end;
        std::uint64_t first_cylinder;
        double theta;                                // at `first`
        double per_block, per_track, per_cylinder;   // in revolutions; skews included
        unsigned blocks_per_track;
        Blocks blocks_per_cylinder;
    };
    const Span& span(Lba) const;
    std::uint64_t cylinder(Lba) const;

    std::vector<Span> spans_;
    mutable std::size_t last_ = 0;                   // the zone that was asked for last
    double period_ns_, revolutions_per_ns_, head_switch_ns_;
    double seek_[3];                                 // a + b sqrt(d) + c d
    unsigned heads_, block_bytes_;
    std::uint64_t cylinders_ = 0;
};

}
