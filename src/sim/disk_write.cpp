// Writes of a rotating drive: through to the media, or into the buffer and on to the media when the arms are free.
#include <algorithm>
#include <limits>

#include "sgprobe/sim/disk.h"

namespace sgprobe::sim {

double Disk::write_media(double now_ns, Lba lba, Lba end, bool behind) {
    now_ns = yields(now_ns);
    stop(now_ns);
    const double period = mechanics_.period_ns();
    const bool goes_on = behind && lba == written_end_ && now_ns <= written_ns_;   // the last write ended here, just now
    const double ready = goes_on ? now_ns : now_ns + mechanics_.move_ns(head_, lba) + settle_ns_;
    const double theta = mechanics_.theta(lba);
    double start_ns = mechanics_.passes_after(ready, theta);
    // Physical blocks that are written in part are read first, and written when they come round again.
    if (physical_blocks_ > 1 && (lba % physical_blocks_ || end % physical_blocks_)) start_ns += period;
    written_ns_ = start_ns + (mechanics_.theta_end(end) - theta) * period;
    written_end_ = end;
    head_ = end - 1;
    return written_ns_;
}

void Disk::destage_one() {
    const Dirty next = dirty_.front();
    dirty_.pop_front();
    dirty_blocks_ -= next.end - next.lba;
    arms_free_ns_ = write_media(std::max(arms_free_ns_, next.since_ns), next.lba, next.end, true);
}

void Disk::destage(double until_ns) {
    while (!dirty_.empty() && std::max(arms_free_ns_, dirty_.front().since_ns) < until_ns) destage_one();
}

bool Disk::buffered(const Access& a, bool& partly) const {
    const Lba end = a.lba + a.blocks;
    for (const Dirty& d : dirty_) {
        if (d.lba <= a.lba && end <= d.end) return true;
        partly = partly || (d.lba < end && a.lba < d.end);
    }
    return false;
}

Served Disk::write(const Access& a) {
    const Lba end = a.lba + a.blocks;
    Served served{a.start_ns, a.start_ns, a.start_ns, false};
    for (Segment& s : segments_) {                   // what the cache holds of these blocks is stale
        if (s.first >= end || a.lba >= s.end) continue;
        if (&s - segments_.data() == stream_.segment) stop(a.start_ns);
        s = {};
    }
    destage(a.start_ns);
    if (!settings_.write_cache || a.force_media || cache_.write_buffer_blocks == 0) {
        destage(std::numeric_limits<double>::max());
        arms_free_ns_ = write_media(std::max(a.start_ns, arms_free_ns_), a.lba, end, cache_.join_queued_writes) + a.turns * mechanics_.period_ns();
        served.free_ns = served.last_ns = arms_free_ns_;
        return served;
    }
    while (!dirty_.empty() && dirty_blocks_ + a.blocks > cache_.write_buffer_blocks) {
        destage_one();
        served.last_ns = std::max(served.last_ns, arms_free_ns_);
    }
    dirty_.push_back({a.lba, end, served.last_ns});
    dirty_blocks_ += a.blocks;
    served.free_ns = served.last_ns;
    return served;
}

double Disk::flush(double start_ns) {
    destage(std::numeric_limits<double>::max());
    return std::max(start_ns, written_ns_);
}

}
