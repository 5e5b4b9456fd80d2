// From a device's name to its sg node.
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "sgprobe/transport/escape.h"
#include "sgprobe/transport/failure.h"
#include "sgprobe/transport/sysfs.h"

namespace sgprobe {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
    throw Failure(ExitStatus::file_error, escaped(path, 200) + ": " + why);
}

}

std::string Sysfs::sg_name_of(const std::string& path) const {
    const std::string full = root_ + path;
    struct stat info {};
    if (stat(full.c_str(), &info) != 0) {
        if (errno != ENOENT) refuse(path, fmt::format("cannot be looked at: {}", std::strerror(errno)));
        refuse(path, "there is no such device; `sgprobe list` shows those there are");
    }
    // Device numbers, not names, say what a node is: udev renames, and links are followed. A plain file stands for a node below a root of tests.
    std::string name = fs::path(fs::canonical(full)).filename();
    const bool character = S_ISCHR(info.st_mode), block = S_ISBLK(info.st_mode);
    if (character || block) {
        const std::string number = fmt::format("/sys/dev/{}/{}:{}", block ? "block" : "char", major(info.st_rdev), minor(info.st_rdev));
        if (const std::string known = link_name(number); !known.empty()) name = known;
    } else if (root_.empty()) {
        refuse(path, "is not a device");
    }
    if (fs::exists(root_ + "/sys/class/scsi_generic/" + name)) return name;

    const std::string as_block = "/sys/class/block/" + name;
    std::string device;
    if (fs::exists(root_ + as_block)) {
        if (number(as_block + "/partition")) {
            const std::string disk = fs::path(fs::canonical(root_ + as_block)).parent_path().filename();
            refuse(path, "is a partition: name the whole disk, /dev/" + escaped(disk, 80));
        }
        device = as_block + "/device";
        if (name.starts_with("nvme")) refuse(path, "is an NVMe drive: it has no SCSI commands and no sg node");
        if (!fs::exists(root_ + device)) refuse(path, "is no drive of its own (a loop, md, dm or ram device): name a disk below it");
    } else if (fs::exists(root_ + "/sys/class/bsg/" + name)) {
        device = "/sys/class/bsg/" + name + "/device";
    } else if (fs::exists(root_ + "/sys/class/scsi_device/" + name)) {
        device = "/sys/class/scsi_device/" + name + "/device";
    } else {
        refuse(path, "is not a SCSI device");
    }
    const std::vector<std::string> nodes = entries(device + "/scsi_generic");
    if (!nodes.empty()) return nodes.front();
    const bool scsi = link_name(device + "/subsystem") == "scsi";
    if (scsi && !fs::exists(root_ + "/sys/class/scsi_generic")) refuse(path, "has no sg node: the kernel's sg driver is not loaded (modprobe sg)");
    refuse(path, scsi ? "has no sg node" : "is not a SCSI device");
}

}
