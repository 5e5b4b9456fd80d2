// Everything that a drive's file says, as values. The file's keys are the members' names; what they mean: sgprobe-drive(5).
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sgprobe/scsi/types.h"

namespace sgprobe::sim {

struct Identity {
    std::string vendor, product, revision, serial;
    std::uint64_t naa = 0;                        // 0: no designator
    bool ata = false;                             // behind a SCSI/ATA translation; its own words for itself:
    std::string model, firmware;
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
    std::optional<Blocks> declared_blocks;        // what READ CAPACITY says where that is a lie
    std::uint8_t protection_type = 0;
};

// Media without arms. `unmapped` ranges were never written: they read as zeros, faster than what is there.
struct Flash {
    double read_us = 0, write_us = 0;             // of the first page of a command
    double rate_mb_s = 0, write_rate_mb_s = 0;    // of all channels together
    unsigned channels = 1;                        // commands whose first pages are looked up at the same time
    Blocks page_blocks = 8;
    std::vector<std::pair<Lba, Blocks>> unmapped;
    bool provisioned = false;                     // LBPME: UNMAP, GET LBA STATUS
};

struct Controller {
    double read_overhead_us = 0, write_overhead_us = 0, other_overhead_us = 0;
    double bus_mb_s = 0, bus_write_mb_s = 0;
    std::string bus;                              // name of a shared one
    Bytes max_transfer_bytes = 0;                 // of the host adapter; 0: the host's own
    Blocks declared_max_blocks = 0, declared_optimal_blocks = 0;   // VPD B0h
};

struct Queue {
    enum class Policy : std::uint8_t { fifo, shortest_access, stream_first };
    unsigned depth = 1;                           // the most that the host is told it may send
    unsigned task_set = 0;                        // commands that it takes; past them, TASK SET FULL (0: as many as come)
    bool busy_when_full = false;                  // BUSY in its place
    unsigned task_set_write_cache = 0;            // the same while WCE is 1, where that makes a difference
    Policy policy = Policy::fifo;
    unsigned window = 256;                        // commands among which the policy chooses
    double age_limit_us = 0;                      // a command that waited so long goes first (0: never)
};

struct CacheModel {
    unsigned segments = 1;
    Blocks segment_blocks = 0;
    bool adaptive = false;                        // no fixed segments: as many as fit into all of that, each up to half of it
    Blocks extend_up_to_blocks = ~Blocks{0};      // longer requests do not extend a running stream, nor give its room back
    unsigned extend_up_to_depth = ~0u;            // nor does any, while more commands than that are outstanding
    double restart_us = 50;                       // to set up another media access where the prefetch falls short of a request
    bool read_on_arrival = false;
    bool stop_prefetch_on_hit = false;
    Blocks refill_at_blocks = 0;                  // a prefetch that ended starts again when so few are left; 0: half of it
    Blocks write_buffer_blocks = 0;
    bool join_queued_writes = true;               // with the write cache off, writes that wait and continue each other go in one pass
};

struct Noise {
    double jitter = 0.01;                         // of a command's own time, one standard deviation
    double rate_jitter = 0;                       // the same, but the media stands still meanwhile
    double drift = 0, drift_s = 60;               // by how much every command is slower at the end of that time; then it stays
    double slow_probability = 0.0005;              // of commands whose blocks are read again
    unsigned slow_revolutions = 3;                // at most
    double scale = 1;                             // noise= on the command line
};

// What the drive does besides: recalibration (every_s, busy_us), other hosts' load (every_s, for_s, probability), a scan of
// the media when idle (idle_s). A command that meets it waits, and finds the arms elsewhere.
struct Background {
    double every_s = 0, for_s = 0, idle_s = 0;
    double busy_us = 0, probability = 1;
    bool moves_arms = true;
};

struct FieldValue { std::string key; std::uint64_t value = 0; };

// A firmware rule: what happens to commands to which all of its conditions apply.
struct Rule {
    // Conditions.
    std::vector<std::uint8_t> opcodes;            // empty: every READ and WRITE
    void commands_read_only() { opcodes = {0x08, 0x28, 0xa8, 0x88}; }
    Blocks over_blocks = 0, up_to_blocks = ~Blocks{0};
    unsigned over_depth = 0, up_to_depth = ~0u;   // outstanding commands, this one counted
    Lba from_lba = 0, to_lba = ~Lba{0};
    std::optional<bool> sequential;               // starts where the command before it ended
    std::vector<FieldValue> settings, unless;     // in force while all of the first hold, and not all of the second
    double probability = 1;
    std::uint64_t every = 0, after_commands = 0;  // each so manieth that matches; not the first so many
    double after_s = 0, until_s = 0;
    // Effects.
    double extra_us = 0, extra_us_per_block = 0;  // the drive stands still for so long
    unsigned extra_turns = 0;
    bool no_prefetch = false, stop_prefetch = false;
    std::optional<std::uint32_t> sense;           // key, ASC and ASCQ as 0xKKAAQQ
    std::optional<std::uint8_t> status;           // another status byte
    std::optional<std::uint32_t> attention;       // reported with the next command, 0xAAQQ
    bool never = false;                           // no answer; everything else waits until it is aborted
    bool reset = false, gone = false;
    enum class Data : std::uint8_t { intact, garbage, stale, zero } data = Data::intact;
    Blocks data_from_block = 0;                   // of the transfer: those before it are intact
    std::optional<Blocks> transfer_blocks;        // a short transfer
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
    Queue queue;
    CacheModel cache;
    Flash flash;                                  // where the media do not rotate
    std::vector<Background> background;
    std::vector<Rule> rules;
    std::vector<std::pair<std::string, double>> claims;   // [claims]: what the file says of itself, for people and tests
    std::vector<PageModel> pages;
    bool block_pages = true;                      // VPD B0h, B1h (and B2h of a drive that does not rotate)
    bool attention_after_select = false;          // 2A/01 to the initiator that sent MODE SELECT itself
    bool attention_after_power_on = false;        // 29/00 on the first command (a kernel takes it while it scans)
    Noise noise;
    std::uint64_t seed = 1;
    std::string state_file;
};

}
