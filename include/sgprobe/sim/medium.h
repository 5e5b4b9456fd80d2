// What serves a drive's reads and writes behind its controller: Disk (arms and cache) or Flash.
#pragma once
#include "sgprobe/scsi/types.h"
#include "sgprobe/sim/settings.h"

namespace sgprobe::sim {

struct Access {
    double start_ns = 0;           // the controller is ready for it from then on
    Lba lba = 0;
    Blocks blocks = 0;
    bool force_media = false;      // FUA
    unsigned turns = 0;            // its blocks are read so many times more
    bool may_prefetch = true, may_extend = true, stop_prefetch = false;
};

struct Served {
    double free_ns = 0;            // when another command can be started
    double first_ns = 0;           // reads: when the first block is in the buffer
    double last_ns = 0;            // reads: when the last one is; writes: when it may be acknowledged
    bool hit = false;              // reads: all of it was in the buffer when asked for
};

class Medium {
public:
    virtual ~Medium() = default;
    virtual void obey(const Settings&) = 0;
    virtual Served read(const Access&) = 0;
    virtual Served write(const Access&) = 0;
    virtual double flush(double start_ns) = 0;               // when everything written is on the media
    virtual void reset(double now_ns) = 0;                   // the cache is empty
    virtual double reach_ns(double now_ns, Lba) = 0;         // how long until a block can be had: for choosing among commands
    virtual bool streaming_at(double now_ns, Lba) const = 0; // a prefetch is running that holds, or will hold, this block
    virtual void stall(double ns) = 0;                       // the media stand still
    virtual void disturb(double now_ns, double busy_ns, Lba elsewhere) = 0;   // something else uses the arms
};

}
