// What the kernel tells about a SCSI device in /sys and /proc, as typed values. What is not there is empty; nothing is guessed.
//
// Everything is read below a root, "" for this machine, so that a folder of text files can stand for a machine in tests.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sgprobe/transport/drive.h"

namespace sgprobe {

struct Mount {
    std::string source, target, type;       // "sda1", "/home", "ext4"; type "swap" for swap space
};

struct QueueLimits {                        // /sys/block/sdX/queue: who decides is the HBA's driver, or whoever wrote to the file
    std::optional<std::uint64_t> max_hw_sectors_kb, max_sectors_kb, max_segments, max_segment_bytes, logical_block_bytes, physical_block_bytes,
        nr_requests, rotational, read_ahead_kb, discard_max_bytes;
    std::string scheduler, zoned, write_cache;          // "mq-deadline", "none", "host-managed", "write back"
};

struct KernelDevice {
    std::string sg;                         // "sg0"
    std::string block;                      // "sda"; empty where no block driver has it
    std::string address;                    // "2:0:0:0" host, channel, target, LUN
    std::string host_driver;                // "ahci", "mpt3sas", "scsi_debug": the HBA's
    std::string device_driver;              // "sd", "sr", "ses"; empty where none is bound
    std::string transport;                  // "sata", "sas", "usb", "fc", "iscsi", "virtio", "pseudo", "loop"; empty: not told
    std::string vendor, model, revision;    // as the kernel trimmed them; not escaped
    std::string state;                      // "running", "offline", ...
    std::optional<unsigned> device_type;    // 0: disk
    std::optional<std::uint64_t> queue_depth, can_queue, cmd_per_lun, sg_tablesize, timeout_s, blocks_512;
    std::string queue_type;                 // "simple", "none", "ordered"
    std::string cache_type;                 // "write back", "write through"
    std::optional<std::uint64_t> ncq_priority_supported;
    QueueLimits queue;
    std::vector<std::string> partitions;    // "sda1"
    std::vector<std::string> holders;       // "dm-0", "md127": of the disk and of its partitions
    std::vector<Mount> mounts;              // of the disk, its partitions and its holders
    bool in_use() const { return !holders.empty() || !mounts.empty(); }
};

class Sysfs {
public:
    explicit Sysfs(std::string root = "") : root_(std::move(root)) {}

    std::vector<std::string> sg_names() const;                       // "sg0", "sg1", ... in order of number
    std::optional<KernelDevice> device(const std::string& sg) const; // empty where there is none
    HiddenCounters counters(const std::string& sg) const;
    // The sg name behind /dev/sgN, /dev/sdX, /dev/disk/by-id/..., /dev/bsg/... Throws Failure (15) with what is wrong with the name.
    std::string sg_name_of(const std::string& path) const;
    std::string kernel_release() const;
    bool direct_io_allowed() const;                                  // /proc/scsi/sg/allow_dio

    std::string text(const std::string& path) const;                 // a file's first line without its end; "" where it cannot be read
    std::optional<std::uint64_t> number(const std::string& path, int base = 10) const;
    std::vector<std::string> entries(const std::string& folder) const;   // sorted names
    std::string link_name(const std::string& path) const;            // last part of where a link points
    const std::string& root() const { return root_; }

private:
    std::string device_folder(const std::string& sg) const { return "/sys/class/scsi_generic/" + sg + "/device"; }
    void read_use(KernelDevice&) const;
    std::string root_;
};

}
