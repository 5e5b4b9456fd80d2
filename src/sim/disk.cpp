#include "sgprobe/sim/disk.h"

#include <algorithm>

namespace sgprobe::sim {

Disk::Disk(const Model& model)
    : mechanics_(model.media), cache_(model.cache), blocks_(model.media.blocks),
      block_bus_ns_(model.media.block_bytes / model.controller.bus_mb_s * 1e3), settle_ns_(model.media.write_settle_us * 1e3) {
    obey({});
}

void Disk::obey(const Settings& settings) {
    const unsigned segments = settings.segments ? settings.segments : cache_.segments;
    if (segments != segments_.size()) {
        segments_.assign(segments, {});
        segment_blocks_ = cache_.segment_blocks * cache_.segments / segments;
        stream_ = {};
    }
    settings_ = settings;
}

void Disk::reset() {
    std::fill(segments_.begin(), segments_.end(), Segment{});
    stream_ = {};
}

int Disk::find(Lba lba) const {
    if (stream_.segment >= 0) {
        const Segment& s = segments_[static_cast<std::size_t>(stream_.segment)];
        if (lba >= s.first && lba < s.end) return stream_.segment;
    }
    for (std::size_t i = 0; i < segments_.size(); ++i)
        if (lba >= segments_[i].first && lba < segments_[i].end) return static_cast<int>(i);
    return -1;
}

// The segment that a read of `lba` from the media goes to: the one that ends there, else the one not used for longest.
int Disk::victim(Lba lba) const {
    std::size_t oldest = 0;
    for (std::size_t i = 0; i < segments_.size(); ++i) {
        if (segments_[i].end == lba && segments_[i].end > segments_[i].first) return static_cast<int>(i);
        if (segments_[i].used < segments_[oldest].used) oldest = i;
    }
    return static_cast<int>(oldest);
}

// Blocks to prefetch past a request of n blocks that ends at `end`, `held` of which its segment has to hold: SBC-4 6.5.6.
Blocks Disk::ahead(Lba end, Blocks n, Blocks held) const {
    if (!settings_.read_ahead || !settings_.read_cache || n > settings_.disable_length || settings_.disable_length == 0) return 0;
    const Blocks factor = settings_.multiply ? n : 1;
    Blocks most = std::min(settings_.maximum * factor, settings_.ceiling);
    most = std::max(most, settings_.minimum * factor);
    most = std::min(most, segment_blocks_ > held ? segment_blocks_ - held : 0);
    if (!settings_.discontinuity && most) most = std::min(most, mechanics_.cylinder_end(end - 1) - end);
    return std::min(most, blocks_ - end);
}

void Disk::set_limit(Lba limit) {
    Segment& s = segments_[static_cast<std::size_t>(stream_.segment)];
    stream_.limit = s.end = limit;
    if (limit > s.first + segment_blocks_) s.first = limit - segment_blocks_;
    stream_.end_ns = time_of(limit);
}

double Disk::yields(double now_ns) const {
    if (stream_.segment < 0 || now_ns >= stream_.end_ns) return now_ns;
    return settings_.abort_prefetch ? now_ns : std::max(now_ns, time_of(std::min(stream_.limit, stream_.minimum)));
}

// The arms leave the stream: its segment keeps what was read by now.
void Disk::stop(double now_ns) {
    if (stream_.segment < 0) return;
    Segment& s = segments_[static_cast<std::size_t>(stream_.segment)];
    if (now_ns < stream_.end_ns) {
        const double angle = stream_.theta + (now_ns - stream_.start_ns) / mechanics_.period_ns();
        const Lba reached = now_ns <= stream_.start_ns ? stream_.from : mechanics_.lba_at(angle);
        s.end = std::clamp(reached, std::min(stream_.from, stream_.limit), stream_.limit);
        s.first = std::min(s.first, s.end);
    }
    if (stream_.limit) head_ = std::max<Lba>(s.end, 1) - 1;
    stream_.segment = -1;
}

// Moves the arms and reads from `lba` on: the request up to `end`, then the prefetch. Says when the request is read.
double Disk::start(int segment, Lba lba, Lba end, Blocks prefetch, double now_ns, unsigned retry_revolutions) {
    now_ns = yields(now_ns);
    stop(now_ns);
    Segment& s = segments_[static_cast<std::size_t>(segment)];
    if (s.end != lba) s.first = lba;
    const double period = mechanics_.period_ns();
    const double ready = now_ns + mechanics_.move_ns(head_, lba);
    stream_.segment = segment;
    stream_.theta = mechanics_.theta(lba);
    stream_.start_ns = mechanics_.passes_after(ready, stream_.theta) + retry_revolutions * period;
    stream_.from = lba;
    stream_.minimum = end;
    double read_ns = -1;
    if (cache_.read_on_arrival && end > lba) {
        // Where the heads land inside the request's part of this track, one turn from there reads all of that part.
        const Lba part = std::min(end, mechanics_.track_end(lba));
        const double arc = (mechanics_.theta_end(part) - stream_.theta) * period;
        if (stream_.start_ns - ready > period - arc) {
            read_ns = ready + (1 + retry_revolutions) * period;
            stream_.from = part;
            stream_.theta = mechanics_.theta(std::min(part, blocks_ - 1));
            stream_.start_ns = mechanics_.passes_after(read_ns, stream_.theta);
            if (part < end) read_ns = -1;
        }
    }
    set_limit(end + prefetch);
    return read_ns >= 0 ? read_ns : time_of(end);
}

Disk::Served Disk::read(double start_ns, Lba lba, Blocks n, bool force_media, unsigned retry_revolutions, bool may_prefetch) {
    const Lba end = lba + n;
    Served served{start_ns, start_ns + bus_ns(n), true};
    ++clock_;
    if (written_ns_ > start_ns) start_ns = std::max(start_ns, written_ns_);   // what waits to be written goes first
    if (settings_.abort_prefetch && stream_.segment >= 0 && start_ns < stream_.end_ns) stop(start_ns);
    const int found = settings_.read_cache && !force_media ? find(lba) : -1;
    const Blocks prefetch = may_prefetch ? ahead(end, n, n) : 0;
    if (found < 0) {
        const int segment = victim(lba);
        segments_[static_cast<std::size_t>(segment)].used = clock_;
        served.hit = false;
        served.media_ns = start(segment, lba, end, prefetch, start_ns, retry_revolutions);
        served.data_ns = std::max(served.media_ns + block_bus_ns_, served.data_ns);
        stream_.minimum = end + std::min(settings_.minimum * (settings_.multiply ? n : 1), prefetch);
        return served;
    }
    Segment& s = segments_[static_cast<std::size_t>(found)];
    s.used = clock_;
    const bool streaming = found == stream_.segment;
    if (streaming) {
        const bool running = start_ns < stream_.end_ns;
        if (running && retry_revolutions) {
            stream_.start_ns += retry_revolutions * mechanics_.period_ns();
            stream_.end_ns += retry_revolutions * mechanics_.period_ns();
        }
        if (n <= cache_.extend_up_to_blocks && end + prefetch > stream_.limit) {
            const Blocks left = stream_.limit > end ? stream_.limit - end : 0;
            const Blocks refill = cache_.refill_at_blocks ? cache_.refill_at_blocks : prefetch / 2;
            if (running) set_limit(end + prefetch);
            else if (prefetch && left <= refill && left) start(found, stream_.limit, stream_.limit, end + prefetch - stream_.limit, start_ns, 0);
        }
        if (cache_.stop_prefetch_on_hit && start_ns < stream_.end_ns && time_of(std::min(end, stream_.limit)) <= start_ns) stop(start_ns);
    }
    if (end <= s.end) {
        if (streaming && stream_.segment == found) {
            const double there = time_of(end);
            served.hit = there <= start_ns;
            if (end > stream_.from) served.data_ns = std::max(served.data_ns, there + block_bus_ns_);
            if (!served.hit) served.media_ns = there;
            stream_.minimum = std::max(stream_.minimum, end);
        }
        return served;
    }
    // The rest is a new access: the stream has stopped, or will stop, short of it.
    const Lba rest = s.end;
    const double from_ns = streaming && stream_.segment == found ? std::max(start_ns, stream_.end_ns + cache_.restart_us * 1e3) : start_ns;
    served.hit = false;
    const Blocks more = may_prefetch ? ahead(end, n, end - rest) : 0;
    served.media_ns = start(found, rest, end, more, from_ns, retry_revolutions);
    served.data_ns = std::max(served.media_ns + block_bus_ns_, served.data_ns);
    stream_.minimum = end + std::min(settings_.minimum * (settings_.multiply ? n : 1), more);
    return served;
}

double Disk::write_media(double now_ns, Lba lba, Lba end) {
    now_ns = yields(now_ns);
    stop(now_ns);
    const double ready = now_ns + mechanics_.move_ns(head_, lba) + settle_ns_;
    const double theta = mechanics_.theta(lba);
    const double start_ns = mechanics_.passes_after(ready, theta);
    head_ = end - 1;
    return start_ns + (mechanics_.theta_end(end) - theta) * mechanics_.period_ns();
}

Disk::Served Disk::write(double start_ns, Lba lba, Blocks n, bool force_media) {
    const Lba end = lba + n;
    Served served{start_ns, start_ns + bus_ns(n), false};
    for (Segment& s : segments_)                     // what the cache holds of these blocks is stale
        if (s.first < end && lba < s.end) {
            if (&s - segments_.data() == stream_.segment) stop(start_ns);
            s = {};
        }
    if (!settings_.write_cache || force_media || !cache_.write_buffer_blocks) {
        served.media_ns = write_media(std::max(start_ns, written_ns_), lba, end);
        served.data_ns = std::max(served.data_ns, served.media_ns);
        written_end_ = ~Lba{0};
        return served;
    }
    // Write-behind: acknowledged as soon as the buffer has room; a write that continues the last one streams on.
    const double room_ns = bus_ns(0) + static_cast<double>(cache_.write_buffer_blocks) * mechanics_.period_ns() / 1000;
    served.data_ns = std::max(served.data_ns, written_ns_ - room_ns);
    if (lba == written_end_ && written_ns_ > start_ns) {
        written_ns_ += (mechanics_.theta_end(end) - mechanics_.theta_end(lba)) * mechanics_.period_ns();
        head_ = end - 1;
    } else {
        written_ns_ = write_media(std::max(start_ns, written_ns_), lba, end);
    }
    written_end_ = end;
    return served;
}

double Disk::flush(double start_ns) { return std::max(start_ns, written_ns_); }

}
