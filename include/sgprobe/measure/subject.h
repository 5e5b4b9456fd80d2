// The drive that a probe is about to measure: who it is, how large, how it is set, which of its media can be read truly.
#pragma once
#include <optional>

#include "sgprobe/measure/addresses.h"
#include "sgprobe/measure/result.h"
#include "sgprobe/scsi/capacity.h"
#include "sgprobe/scsi/inquiry.h"
#include "sgprobe/transport/drive.h"

namespace sgprobe::measure {

struct Subject {
    DeviceIdentity identity;
    scsi::Inquiry inquiry;
    scsi::Capacity capacity;
    scsi::BlockLimits limits;
    std::optional<double> rotation_us;        // from VPD B1h, else from the rigid disk geometry page
    std::string rotation_source;
    std::vector<Extent> media;                // what may be read: all of it, or what is mapped
    std::vector<std::string> notes;
    Blocks alignment() const;                 // blocks in 4 KiB or in a physical block, whichever is more
};

// Throws Failure where there is nothing to measure: not a disk, no medium, not ready, no capacity.
Subject identify(Host&, Drive&);

// The caching page's current values by sdparm's keys; empty where the drive has no such page.
SettingValues caching_settings(Host&, Drive&);

}
