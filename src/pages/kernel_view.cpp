#include "sgprobe/pages/kernel_view.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "sgprobe/transport/failure.h"

namespace sgprobe::pages {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> first_line(const fs::path& path) {
    std::ifstream stream(path);
    std::string line;
    if (!std::getline(stream, line)) return {};
    return line;
}

// The device numbers of a block device, of its partitions, and of what holds it (dm, md).
void collect(const fs::path& block, std::set<std::string>& numbers, int depth) {
    if (const auto number = first_line(block / "dev")) numbers.insert(*number);
    std::error_code error;
    if (depth > 8) return;
    for (const auto& entry : fs::directory_iterator(block, error))
        if (fs::exists(entry.path() / "partition", error)) collect(entry.path(), numbers, depth + 1);
    for (const auto& entry : fs::directory_iterator(block / "holders", error)) collect(entry.path(), numbers, depth + 1);
}

}

KernelView::KernelView(std::string device_folder, std::string mountinfo) : folder_(std::move(device_folder)), mountinfo_(std::move(mountinfo)) {}

KernelView KernelView::of(const DriveSpec& spec) {
    if (spec.scheme != "sg") return {};
    std::error_code error;
    const fs::path node = fs::canonical(spec.rest, error);
    if (error) return {};
    for (const char* kind : {"scsi_generic", "block", "bsg"}) {
        const fs::path folder = fs::path("/sys/class") / kind / node.filename() / "device";
        if (fs::exists(folder, error)) return KernelView(folder.string());
    }
    return {};
}

std::string KernelView::path(const std::string& name) const {
    if (folder_.empty()) return {};
    if (name != "cache_type") return folder_ + "/" + name;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder_ + "/scsi_disk", error)) return (entry.path() / name).string();
    return {};
}

std::optional<std::string> KernelView::read(const std::string& name) const {
    const std::string file = path(name);
    if (file.empty()) return {};
    return first_line(file);
}

void KernelView::write(const std::string& name, const std::string& value) const {
    const std::string file = path(name);
    // "temporary": the kernel changes its own mind alone, and sends no MODE SELECT (sd.c, cache_type_store).
    const std::string text = name == "cache_type" ? "temporary " + value : value;
    const int fd = file.empty() ? -1 : ::open(file.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
    const ssize_t wrote = fd < 0 ? -1 : ::write(fd, text.data(), text.size());
    const int error = file.empty() ? ENOENT : errno;
    if (fd >= 0) ::close(fd);
    if (wrote != static_cast<ssize_t>(text.size())) throw Failure::os(error, fmt::format("{}: cannot write \"{}\"", file.empty() ? name : file, text));
}

bool KernelView::mounted() const {
    std::set<std::string> numbers;
    std::error_code error;
    if (folder_.empty()) return false;
    for (const auto& entry : fs::directory_iterator(folder_ + "/block", error)) collect(entry.path(), numbers, 0);
    std::ifstream stream(mountinfo_);
    for (std::string line; std::getline(stream, line);) {
        std::istringstream words(line);
        std::string id, parent, number;
        if (words >> id >> parent >> number && numbers.contains(number)) return true;
    }
    return false;
}

std::string KernelView::cache_type(bool wce, bool rcd) {
    if (wce) return rcd ? "write back, no read (daft)" : "write back";
    return rcd ? "none" : "write through";
}

}
