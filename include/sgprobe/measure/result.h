// What a probe found: neutral values that report/ turns into text, JSON, CSV and plots. The JSON schema is sgprobe/1.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sgprobe/measure/value.h"
#include "sgprobe/scsi/types.h"

namespace sgprobe::measure {

enum class Verdict : std::uint8_t { cliff, clean, inconclusive };

struct DeviceIdentity {
    std::string path, vendor, product, revision, serial;   // trimmed of padding; not yet escaped: report/ does that
    Blocks blocks = 0;
    Bytes block_bytes = 0;
    Bytes physical_block_bytes = 0;
    std::optional<unsigned> rotation_rpm;                   // 1: not rotating; as VPD B1h has it
    std::string transport;                                  // "sas", "sata", "usb", "simulated", "pipe", ...
    unsigned queue_depth = 0;
};

struct HostIdentity {
    std::string kernel, driver;
    std::optional<std::uint64_t> max_hw_sectors_kb, max_sectors_kb, max_segments;
};

struct Interval { double median = 0, low = 0, high = 0, best = 0; };     // low..high: 95 %
struct Latency { double p50 = 0, p99 = 0, p999 = 0, max = 0; };

struct SampleResult {                       // one cell, all rounds
    std::string pattern;                    // "seq-read", "rand-read", ...
    Blocks transfer_blocks = 0;
    Bytes transfer_bytes = 0;
    unsigned depth = 1;
    double depth_reached = 1;
    std::uint64_t commands = 0;             // counted ones
    Bytes bytes = 0;
    Interval rate_mb_s;
    Latency latency_us;
    std::uint64_t hidden_retries = 0, task_set_full = 0, errors = 0, redone = 0;
    std::string note;                       // "dip", "NCQ off", why nothing was measured
};

using SettingValues = std::map<std::string, std::int64_t>;   // "DPTL" -> 512

struct Cliff {
    std::string axis = "transfer_blocks";   // or "depth"
    std::string pattern;
    std::uint64_t last_good = 0, first_bad = 0;
    bool exact = true;                      // bisected until last_good + 1 == first_bad
    double before_mb_s = 0, after_mb_s = 0, drop = 0;
    double p_value = 1;
    std::string mechanism;                  // plain words; empty where none was recognised
    SettingValues settings;                 // those of the caching page that the place matches
};

struct Advice { std::string what; std::uint64_t value = 0; std::string command; std::string udev_rule; };

using ParameterValue = std::variant<std::string, std::int64_t, double, bool, std::vector<std::int64_t>>;
struct Parameter { std::string name; ParameterValue value; };

// What `sections` says in JSON, laid out for people and for CSV. Cells are not yet escaped.
struct ResultTable {
    std::string title;
    std::vector<std::string> columns;
    std::vector<std::vector<std::string>> rows;
};

struct Result {
    std::string probe;                      // "size", ...
    std::string started;                    // RFC 3339
    double elapsed_s = 0;
    std::optional<double> virtual_time_s;
    DeviceIdentity device;
    std::optional<HostIdentity> host;
    std::vector<Parameter> parameters;
    std::vector<SampleResult> samples;
    Verdict verdict = Verdict::inconclusive;
    std::string reason;
    std::vector<Cliff> cliffs;              // ascending along their axis
    std::vector<Advice> advice;
    Bytes bytes_transferred = 0;
    std::uint64_t commands = 0;
    SettingValues settings_before, settings_after;
    std::vector<std::string> notes;
    bool interrupted = false;
    int exit_status = 0;                    // of what ended the run before its time (the drive gone, errors without end), as sg3_utils exits
    std::vector<ResultTable> tables;        // printed instead of `sections`, and as CSV where there are no samples
    std::vector<Result> parts;              // of a probe that runs others
    ValueMap sections;                      // what a probe adds under names of its own: "limits", "cache", "effects"...
};

}
