#include "sgprobe/sim/disk.h"

#include <algorithm>
#include <limits>

namespace sgprobe::sim {

Disk::Disk(const Model& model)
    : mechanics_(model.media), cache_(model.cache), blocks_(model.media.blocks),
      cache_blocks_(model.cache.segments * model.cache.segment_blocks), physical_blocks_(Blocks{1} << model.media.physical_exponent),
      settle_ns_(model.media.write_settle_us * 1e3) {
    obey({});
}

void Disk::obey(const Settings& settings) {
    constexpr unsigned adaptive_segments = 64;
    const unsigned segments = cache_.adaptive ? adaptive_segments : settings.segments ? settings.segments : cache_.segments;
    if (segments != segments_.size()) {
        segments_.assign(segments, {});
        segment_blocks_ = std::max<Blocks>(1, cache_.adaptive ? cache_blocks_ / 2 : cache_blocks_ / segments);
        stream_ = {};
    }
    settings_ = settings;
}

void Disk::reset(double now_ns) {
    destage(std::numeric_limits<double>::max());
    stop(now_ns);
    std::fill(segments_.begin(), segments_.end(), Segment{});
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
    // A request gives back the room that it takes beyond half of the segment, but for one too long to extend a stream.
    Blocks room = segment_blocks_ > held ? segment_blocks_ - held : 0;
    if (n <= cache_.extend_up_to_blocks) room = std::max(room, (segment_blocks_ + 1) / 2);
    most = std::min(most, room);
    if (!settings_.discontinuity && most) most = std::min(most, mechanics_.cylinder_end(end - 1) - end);
    return std::min(most, blocks_ - end);
}

Blocks Disk::minimum(Blocks n, Blocks prefetch) const { return std::min(settings_.minimum * (settings_.multiply ? n : 1), prefetch); }

void Disk::set_limit(Lba limit) {
    Segment& s = segment(stream_.segment);
    stream_.limit = s.end = limit;
    if (limit > s.first + segment_blocks_) s.first = limit - segment_blocks_;
    stream_.end_ns = time_of(limit);
    if (cache_.adaptive) make_room();
}

// Without fixed segments, those not used for longest go until the rest fits.
void Disk::make_room() {
    Blocks held = 0;
    for (const Segment& s : segments_) held += s.end - s.first;
    while (held > cache_blocks_) {
        Segment* oldest = nullptr;
        for (Segment& s : segments_)
            if (s.end > s.first && &s != &segment(stream_.segment) && (!oldest || s.used < oldest->used)) oldest = &s;
        if (!oldest) return;
        held -= oldest->end - oldest->first;
        *oldest = {};
    }
}

double Disk::yields(double now_ns) const {
    if (stream_.segment < 0 || now_ns >= stream_.end_ns) return now_ns;
    return settings_.abort_prefetch ? now_ns : std::max(now_ns, time_of(std::min(stream_.limit, stream_.minimum)));
}

// The arms leave the stream: its segment keeps what was read by now.
void Disk::stop(double now_ns) {
    if (stream_.segment < 0) return;
    Segment& s = segment(stream_.segment);
    if (now_ns < stream_.end_ns) {
        const double angle = stream_.theta + (now_ns - stream_.start_ns) / mechanics_.period_ns();
        const Lba reached = now_ns <= stream_.start_ns ? stream_.from : mechanics_.lba_at(angle);
        s.end = std::clamp(reached, std::min(stream_.from, stream_.limit), stream_.limit);
        s.first = std::min(s.first, s.end);
    }
    head_ = std::max<Lba>(s.end, 1) - 1;
    stream_.segment = -1;
}

// Moves the arms and reads from `lba` on: the request up to `end`, then the prefetch. Says when the request is read.
double Disk::start(int into, Lba lba, Lba end, Blocks prefetch, double now_ns, unsigned turns) {
    now_ns = yields(std::max(now_ns, arms_free_ns_));
    stop(now_ns);
    if (segment(into).end != lba) segment(into).first = lba;
    const double period = mechanics_.period_ns();
    const double ready = now_ns + mechanics_.move_ns(head_, lba);
    stream_.segment = into;
    stream_.theta = mechanics_.theta(lba);
    stream_.start_ns = mechanics_.passes_after(ready, stream_.theta) + turns * period;
    stream_.from = lba;
    stream_.minimum = end + minimum(end - lba, prefetch);
    double read_ns = -1;
    if (cache_.read_on_arrival && end > lba) {
        // Where the heads land inside the request's part of this track, one turn from there reads all of that part.
        const Lba part = std::min(end, mechanics_.track_end(lba));
        const double arc = (mechanics_.theta_end(part) - stream_.theta) * period;
        if (stream_.start_ns - turns * period - ready > period - arc) {
            read_ns = ready + (1 + turns) * period;
            stream_.from = part;
            stream_.theta = mechanics_.theta(std::min(part, blocks_ - 1));
            stream_.start_ns = mechanics_.passes_after(read_ns, stream_.theta);
            if (part < end) read_ns = -1;
        }
    }
    set_limit(end + prefetch);
    arms_free_ns_ = read_ns >= 0 ? read_ns : time_of(end);
    return arms_free_ns_;
}

// A request was found in the segment that the arms fill, or filled last: on with the prefetch, as far as this drive does that.
void Disk::prolong(int found, const Access& a, Blocks prefetch) {
    const Lba end = a.lba + a.blocks;
    const bool running = a.start_ns < stream_.end_ns;
    if (running && a.turns) stall(a.turns * mechanics_.period_ns());
    if (a.may_extend && a.blocks <= cache_.extend_up_to_blocks && end + prefetch > stream_.limit) {
        const Blocks left = stream_.limit > end ? stream_.limit - end : 0;
        const Blocks refill = cache_.refill_at_blocks ? cache_.refill_at_blocks : prefetch / 2;
        if (running) set_limit(end + prefetch);
        else if (prefetch && left && left <= refill) {
            const double busy = arms_free_ns_;
            start(found, stream_.limit, stream_.limit, end + prefetch - stream_.limit, a.start_ns, 0);
            arms_free_ns_ = busy;                    // a prefetch holds nobody up
        }
    }
    if (cache_.stop_prefetch_on_hit && a.start_ns < stream_.end_ns && time_of(std::min(end, stream_.limit)) <= a.start_ns) stop(a.start_ns);
}

Served Disk::read(const Access& a) {
    const Lba end = a.lba + a.blocks;
    Served served{a.start_ns, a.start_ns, a.start_ns, true};
    ++clock_;
    if (!dirty_.empty()) {
        destage(a.start_ns);
        bool partly = false;
        if (buffered(a, partly)) return served;
        if (partly) destage(std::numeric_limits<double>::max());
    }
    if ((settings_.abort_prefetch || a.stop_prefetch) && stream_.segment >= 0 && a.start_ns < stream_.end_ns) stop(a.start_ns);
    const int found = settings_.read_cache && !a.force_media && !a.stop_prefetch ? find(a.lba) : -1;
    const Blocks prefetch = a.may_prefetch ? ahead(end, a.blocks, a.blocks) : 0;
    const int into = found < 0 ? victim(a.lba) : found;
    segment(into).used = clock_;
    Lba from = a.lba;
    double from_ns = a.start_ns;
    Blocks more = prefetch;
    if (found >= 0) {
        const bool streaming = found == stream_.segment;
        if (streaming) prolong(found, a, prefetch);
        if (end <= segment(found).end) {
            if (streaming && stream_.segment == found && end > stream_.from) {
                const double there = time_of(end);
                served.hit = there <= a.start_ns;
                served.free_ns = std::max(served.free_ns, there);
                served.last_ns = std::max(served.last_ns, there);
                stream_.minimum = std::max(stream_.minimum, end);
            }
            return served;
        }
        // The rest is a new access: the stream has stopped, or will stop, short of it.
        from = segment(found).end;
        if (streaming && stream_.segment == found) from_ns = std::max(from_ns, stream_.end_ns + cache_.restart_us * 1e3);
        more = a.may_prefetch ? ahead(end, a.blocks, end - from) : 0;
    }
    served.hit = false;
    served.free_ns = served.last_ns = start(into, from, end, more, from_ns, a.turns);
    if (found < 0) served.first_ns = std::max(a.start_ns, std::min(stream_.start_ns, served.last_ns));
    return served;
}

double Disk::reach_ns(double now_ns, Lba lba) {
    const double ready = std::max(now_ns, arms_free_ns_) + mechanics_.move_ns(stream_.segment >= 0 && stream_.limit ? stream_.limit - 1 : head_, lba);
    return mechanics_.passes_after(ready, mechanics_.theta(lba)) - now_ns;
}

bool Disk::streaming_at(double now_ns, Lba lba) const {
    if (stream_.segment < 0) return false;
    const Segment& s = segments_[static_cast<std::size_t>(stream_.segment)];
    return lba >= s.first && (lba < s.end || (lba == s.end && now_ns <= stream_.end_ns));
}

void Disk::stall(double ns) {
    stream_.start_ns += ns;
    stream_.end_ns += ns;
}

void Disk::disturb(double now_ns, double busy_ns, Lba elsewhere) {
    destage(now_ns);
    stop(now_ns);
    arms_free_ns_ = std::max(arms_free_ns_, now_ns) + busy_ns;
    head_ = std::min(elsewhere, blocks_ - 1);
}

}
