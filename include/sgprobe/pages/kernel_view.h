// What the kernel makes of a drive, in sysfs: queue_depth, cache_type, and whether a file system is mounted from it.
#pragma once
#include <optional>
#include <string>

#include "sgprobe/transport/drive_spec.h"

namespace sgprobe::pages {

class KernelView {
public:
    KernelView() = default;                                      // no kernel stands between: everything is empty
    explicit KernelView(std::string device_folder, std::string mountinfo = "/proc/self/mountinfo");
    static KernelView of(const DriveSpec&);                      // sg, sd and bsg names; empty for sim: and pipe:

    std::optional<std::string> read(const std::string& name) const;   // nothing where the kernel has no such attribute
    void write(const std::string& name, const std::string& value) const;   // throws Failure
    bool mounted() const;                                        // the disk, a partition, or what is built on them
    static std::string cache_type(bool wce, bool rcd);           // the kernel's words (sd.c)

private:
    std::string path(const std::string& name) const;
    std::string folder_, mountinfo_;
};

}
