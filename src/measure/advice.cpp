#include "sgprobe/measure/advice.h"

#include <fmt/format.h>

#include "sgprobe/measure/statistics.h"

namespace sgprobe::measure {

std::string udev_match(const std::string& key, const std::string& value) {
    std::string match;
    for (const char c : value) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ' ' || c == '_' || c == '-' || c == '.' || c == '/' || c == '+';
        match += plain ? c : '?';
    }
    return fmt::format("{}==\"{}*\"", key, match);   // sysfs pads the strings of SCSI with blanks
}

namespace {

// `attribute` is a file below /sys/block/sdX.
Advice advise(const DeviceIdentity& device, const std::string& what, const std::string& attribute, std::uint64_t value) {
    Advice advice;
    advice.what = what;
    advice.value = value;
    advice.command = fmt::format("echo {} > /sys/block/sdX/{}", value, attribute);
    advice.udev_rule = fmt::format("ACTION==\"add|change\", SUBSYSTEM==\"block\", ENV{{DEVTYPE}}==\"disk\", {}, {}, {}, ATTR{{{}}}=\"{}\"",
                                   udev_match("ATTRS{vendor}", device.vendor), udev_match("ATTRS{model}", device.product), udev_match("ATTRS{rev}", device.revision),
                                   attribute, value);
    return advice;
}

}

std::optional<Advice> advise_max_sectors(const DeviceIdentity& device, Bytes longest_good) {
    const std::uint64_t kb = longest_good / 1024 / 4 * 4;    // the kernel takes no less than a page, and whole KiB
    if (kb < 4) return {};
    return advise(device, "max_sectors_kb", "queue/max_sectors_kb", kb);
}

Advice advise_queue_depth(const DeviceIdentity& device, unsigned depth) {
    return advise(device, "queue_depth", "device/queue_depth", depth);
}

std::optional<double> measure_rotation_us(Host& host, Drive& drive, const Subject& subject, Addresses& addresses) {
    const auto lba = addresses.take(subject.alignment());
    if (!lba || drive.precautions().no_fua) return {};
    std::vector<double> gaps;
    Nanoseconds last{0};
    for (int i = 0; i < 16; ++i) {
        const scsi::RwOpcode opcode = *lba <= scsi::greatest_lba(scsi::RwOpcode::read10) ? scsi::RwOpcode::read10 : scsi::RwOpcode::read16;
        const auto cdb = scsi::build({.opcode = opcode, .lba = *lba, .blocks = 1, .fua = true});
        if (!cdb) return {};
        Command command;
        command.cdb = *cdb;
        command.direction = scsi::Direction::in;
        command.length = subject.identity.block_bytes;
        const Completion c = execute(host, drive, std::move(command));
        if (!c.outcome.good()) return {};
        if (i > 1) gaps.push_back(static_cast<double>((c.finished - last).count()) / 1000);
        last = c.finished;
    }
    const double period = median(gaps);
    if (period < 3000 || period > 18000 || spread(gaps) > 0.02 * period) return {};   // 20,000 to 3,333 revolutions a minute
    return period;
}

}
