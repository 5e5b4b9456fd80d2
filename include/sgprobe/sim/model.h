// Everything that a drive's file says, as values. The file's keys are the members' names; what they mean: sgprobe-drive(5).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sgprobe/scsi/types.h"

namespace sgprobe::sim {

struct Identity {
    std::string vendor, product, revision, serial;
    std::uint64_t naa = 0;                        // 0: no designator
    bool ata = false;                             // behind a SCSI/ATA translation
    std::uint8_t version = 3;
    bool queues = true;                           // CMDQUE
};

struct Zone {
    std::uint64_t cylinders = 0;
    unsigned blocks_per_track = 0;
    double head_skew_us = 0, cylinder_skew_us = 0;
};

struct Media {
    bool rotating = true;
    Blocks blocks = 0;
    unsigned block_bytes = 512, physical_exponent = 0;
    double rpm = 0;
    unsigned heads = 1;
    std::vector<Zone> zones;                      // outermost first; together they hold at least `blocks`
    double head_switch_us = 0, cylinder_switch_us = 0;
    double seek_average_us = 0, seek_full_us = 0; // over a third of the cylinders, over all of them
    double write_settle_us = 0;
    std::uint64_t content = 0;                    // what the blocks hold follows from this number and the address
};

struct Controller {
    double read_overhead_us = 0, write_overhead_us = 0, other_overhead_us = 0;
    double bus_mb_s = 0;
    std::string bus;                              // name of a shared one
    unsigned depth = 1;                           // commands that it queues; past them, TASK SET FULL
    Bytes max_transfer_bytes = 0;                 // of the host adapter; 0: the host's own
    Blocks declared_max_blocks = 0, declared_optimal_blocks = 0;   // VPD B0h
};

struct CacheModel {
    unsigned segments = 1;
    Blocks segment_blocks = 0;
    Blocks extend_up_to_blocks = ~Blocks{0};      // longer requests do not extend a running stream, nor give its room back
    double restart_us = 50;                       // to set up another media access where the prefetch falls short of a request
    bool read_on_arrival = false;
    bool stop_prefetch_on_hit = false;
    Blocks refill_at_blocks = 0;                  // a prefetch that ended starts again when so few are left; 0: half of it
    Blocks write_buffer_blocks = 0;
};

struct Noise {
    double jitter = 0.01;                         // of a command's own time, one standard deviation
    double slow_probability = 0.0005;              // of commands whose blocks are read again
    unsigned slow_revolutions = 3;                // at most
    double scale = 1;                             // noise= on the command line
};

// A mode page as the drive holds it, header included.
struct PageModel {
    std::uint8_t code = 0, subpage = 0;
    bool savable = true;
    ByteVector defaults, changeable, saved;       // all of one length
    ByteVector ignored, refused, not_kept;        // masks: bits without effect; refused although changeable; accepted and dropped
};

struct Model {
    std::string name;                             // file's name without folder and .toml
    Identity identity;
    Media media;
    Controller controller;
    CacheModel cache;
    std::vector<PageModel> pages;
    bool block_pages = true;                      // VPD B0h, B1h (and B2h of a drive that does not rotate)
    bool attention_after_select = false;          // 2A/01 to the initiator that sent MODE SELECT itself
    bool attention_after_power_on = false;        // 29/00 on the first command (a kernel takes it while it scans)
    Noise noise;
    std::uint64_t seed = 1;
    std::string state_file;
};

}
