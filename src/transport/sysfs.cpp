#include "sgprobe/transport/sysfs.h"

#include <sys/utsname.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

namespace sgprobe {
namespace fs = std::filesystem;
namespace {

std::string trimmed(std::string text) {
    const std::size_t end = text.find_last_not_of(" \t\r\n");
    text.resize(end == text.npos ? 0 : end + 1);
    return text.substr(std::min(text.size(), text.find_first_not_of(" \t")));
}

// "none [mq-deadline] kyber": the one in brackets.
std::string chosen(const std::string& text) {
    const std::size_t open = text.find('['), close = text.find(']');
    return open == text.npos || close == text.npos || close < open ? text : text.substr(open + 1, close - open - 1);
}

// The transport as the path of the device in the tree of buses shows it.
std::string transport_of(const std::string& path) {
    struct Mark { std::string_view part, transport; };
    static constexpr Mark marks[] = {{"/usb", "usb"}, {"/ata", "sata"}, {"/end_device-", "sas"}, {"/rport-", "fc"}, {"/session", "iscsi"},
                                     {"/virtio", "virtio"}, {"/tcm_loop", "loop"}, {"/pseudo", "pseudo"}, {"/adapter", "pseudo"}, {"/fw-host", "sbp"}};
    for (const Mark& mark : marks) {
        if (path.find(mark.part) != path.npos) return std::string(mark.transport);
    }
    return {};
}

}

std::string Sysfs::text(const std::string& path) const {
    std::ifstream file(root_ + path);
    std::string line;
    std::getline(file, line);
    return trimmed(line);
}

std::optional<std::uint64_t> Sysfs::number(const std::string& path, int base) const {
    std::string digits = text(path);
    if (base == 16 && digits.starts_with("0x")) digits.erase(0, 2);
    std::uint64_t value = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
    if (digits.empty() || error != std::errc() || stop != end) return {};
    return value;
}

std::vector<std::string> Sysfs::entries(const std::string& folder) const {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator it(root_ + folder, error), end; !error && it != end; it.increment(error)) names.push_back(it->path().filename());
    std::sort(names.begin(), names.end());
    return names;
}

std::string Sysfs::link_name(const std::string& path) const {
    std::error_code error;
    return fs::read_symlink(root_ + path, error).filename();
}

std::vector<std::string> Sysfs::sg_names() const {
    std::vector<std::string> names = entries("/sys/class/scsi_generic");
    std::erase_if(names, [](const std::string& name) { return !name.starts_with("sg"); });
    std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
        return a.size() != b.size() ? a.size() < b.size() : a < b;   // sg2 before sg10
    });
    return names;
}

std::optional<KernelDevice> Sysfs::device(const std::string& sg) const {
    const std::string at = device_folder(sg);
    std::error_code error;
    const fs::path real = fs::canonical(root_ + at, error);
    if (error) return {};
    KernelDevice d;
    d.sg = sg;
    d.address = real.filename();
    d.transport = transport_of(real.string().substr(root_.empty() ? 0 : fs::canonical(root_, error).string().size()));
    d.device_driver = link_name(at + "/driver");
    const std::string host = "/sys/class/scsi_host/host" + d.address.substr(0, d.address.find(':'));
    d.host_driver = text(host + "/proc_name");
    if (d.host_driver == "(null)" || d.host_driver == "<NULL>") d.host_driver.clear();
    if (d.transport.empty() && d.host_driver == "scsi_debug") d.transport = "pseudo";
    d.can_queue = number(host + "/can_queue");
    d.cmd_per_lun = number(host + "/cmd_per_lun");
    d.sg_tablesize = number(host + "/sg_tablesize");
    d.vendor = text(at + "/vendor");
    d.model = text(at + "/model");
    d.revision = text(at + "/rev");
    d.state = text(at + "/state");
    if (const auto type = number(at + "/type")) d.device_type = static_cast<unsigned>(*type);
    d.queue_depth = number(at + "/queue_depth");
    d.queue_type = text(at + "/queue_type");
    d.timeout_s = number(at + "/timeout");
    d.ncq_priority_supported = number(at + "/ncq_prio_supported");
    for (const std::string& scsi_disk : entries(at + "/scsi_disk")) d.cache_type = text(at + "/scsi_disk/" + scsi_disk + "/cache_type");
    const std::vector<std::string> blocks = entries(at + "/block");
    if (blocks.empty()) return d;
    d.block = blocks.front();
    const std::string block = "/sys/class/block/" + d.block, queue = block + "/queue/";
    d.blocks_512 = number(block + "/size");
    QueueLimits& q = d.queue;
    q.max_hw_sectors_kb = number(queue + "max_hw_sectors_kb");
    q.max_sectors_kb = number(queue + "max_sectors_kb");
    q.max_segments = number(queue + "max_segments");
    q.max_segment_bytes = number(queue + "max_segment_size");
    q.logical_block_bytes = number(queue + "logical_block_size");
    q.physical_block_bytes = number(queue + "physical_block_size");
    q.nr_requests = number(queue + "nr_requests");
    q.rotational = number(queue + "rotational");
    q.read_ahead_kb = number(queue + "read_ahead_kb");
    q.discard_max_bytes = number(queue + "discard_max_bytes");
    q.scheduler = chosen(text(queue + "scheduler"));
    q.zoned = text(queue + "zoned");
    q.write_cache = text(queue + "write_cache");
    read_use(d);
    return d;
}

HiddenCounters Sysfs::counters(const std::string& sg) const {
    const std::string at = device_folder(sg);
    HiddenCounters c;
    const auto requests = number(at + "/iorequest_cnt", 16), done = number(at + "/iodone_cnt", 16), errors = number(at + "/ioerr_cnt", 16);
    c.available = requests && done && errors;
    c.requests = requests.value_or(0);
    c.done = done.value_or(0);
    c.errors = errors.value_or(0);
    c.queue_depth = static_cast<unsigned>(number(at + "/queue_depth").value_or(0));
    return c;
}

std::string Sysfs::kernel_release() const {
    const std::string said = text("/proc/sys/kernel/osrelease");
    if (!said.empty() || !root_.empty()) return said;
    utsname name{};
    return uname(&name) == 0 ? name.release : "";
}

bool Sysfs::direct_io_allowed() const {
    return number("/proc/scsi/sg/allow_dio").value_or(number("/sys/module/sg/parameters/allow_dio").value_or(0)) != 0;
}

}
