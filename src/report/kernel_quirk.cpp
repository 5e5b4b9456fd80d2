#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "sgprobe/report/collate.h"
#include "sgprobe/report/escape.h"

namespace sgprobe::report {

namespace {

// A string of C, and of the kernel's glob patterns: what is special in either becomes '?', which matches any one character.
std::string for_table(std::string_view text) {
    std::string out;
    for (const char c : text) out += c < ' ' || c > '~' || std::string_view("\"\\*?[]").find(c) != std::string_view::npos ? '?' : c;
    return out;
}

// INQUIRY's revision has four characters, so a longer one is an ATA firmware.
bool ata_drive(const CollatedRow& row) {
    return row.vendor == "ATA" || row.vendor.empty() || row.transport == "sata" || row.transport == "ata" || row.revision.size() > 4;
}

// An ATA model begins with its maker, under a name that may differ from what a posting calls it.
std::string model_glob(const CollatedRow& row) {
    return (row.vendor == "ATA" || row.vendor.empty() ? "" : "*") + for_table(row.product);
}

std::string ata_entry(const CollatedRow& row) {
    const std::string id = fmt::format("\"{}\",\t{}", model_glob(row), row.revision.empty() ? "NULL" : "\"" + for_table(row.revision) + "\"");
    if (row.axis == "depth")
        return fmt::format("drivers/ata/libata-core.c, __ata_dev_quirks[]:\n\t{{ {},\tATA_QUIRK_NONCQ }},\n", id);
    // drivers/ata/libata-core.c: the flag stands in one table, the number of sectors in the other.
    return fmt::format("drivers/ata/libata-core.c, __ata_dev_quirks[]:\n\t{{ {},\tATA_QUIRK_MAX_SEC }},\n"
                       "drivers/ata/libata-core.c, __ata_dev_max_sec_quirks[]:\n\t{{ {},\t{:.0f} }},\n", id, id, row.last_good / 512);
}

std::string scsi_entry(const CollatedRow& row) {
    const std::string id = fmt::format("\"{}\", \"{}\", {}", for_table(row.vendor), for_table(row.product), row.revision.empty() ? "NULL" : "\"" + for_table(row.revision) + "\"");
    if (row.axis == "depth") {
        if (row.last_good == 1) return fmt::format("drivers/scsi/scsi_devinfo.c, scsi_static_device_list[]:\n\t{{{}, BLIST_NOTQ}},\n", id);
        return "the kernel's device list has no flag for a queue depth past 1: the udev rule below is the way\n";
    }
    const double sectors = row.last_good / 512;
    if (sectors < 512) return "the kernel's device list has no flag for fewer than 512 sectors: the udev rule below is the way\n";
    return fmt::format("drivers/scsi/scsi_devinfo.c, scsi_static_device_list[] (the kernel does not look at the revision):\n\t{{{}, {}}},\n", id,
                       sectors >= 1024 ? "BLIST_MAX_1024" : "BLIST_MAX_512");
}

}

std::string kernel_quirks(const Collated& collated, unsigned confirm) {
    std::string out, rules;
    std::string nearest;
    for (const CollatedRow& row : collated.rows) {
        if (row.verdict != measure::Verdict::cliff || row.pattern.find("read") == std::string::npos) continue;
        const std::string who = for_terminal(fmt::format("{} {} {}", row.vendor, row.product, row.revision));
        if (row.transport == "simulated" || row.transport == "pipe") {
            nearest += fmt::format("{}: a simulated drive or a model, no entry for the kernel\n", who);
            continue;
        }
        if (row.drives_at_limit < confirm || row.product.empty()) {
            nearest += fmt::format("{}: confirmed by {} of {} independent drives\n", who, row.drives_at_limit, confirm);
            continue;
        }
        const bool depth = row.axis == "depth", ata = ata_drive(row);
        out += fmt::format("{}: {} {:.0f} {}, {:.1f} MB/s there and {:.1f} past it; {} reports, {} independent drives\n", who, "good up to",
                           depth ? row.last_good : row.last_good / 1024, depth ? "commands outstanding" : "KiB a request", row.before_mb_s, row.after_mb_s, row.reports,
                           row.drives_at_limit);
        out += ata ? ata_entry(row) : scsi_entry(row);
        std::string model = ata ? model_glob(row) : for_table(row.product);
        std::replace(model.begin(), model.end(), ' ', '_');   // as ata_id and scsi_id write ID_MODEL
        out += fmt::format("/etc/udev/hwdb.d/90-sgprobe.hwdb:\nsgprobe:m{}:r{}:\n {}={:.0f}\n\n", model,
                           row.revision.empty() ? "*" : for_table(row.revision), depth ? "SGPROBE_QUEUE_DEPTH" : "SGPROBE_MAX_SECTORS_KB",
                           depth ? row.last_good : row.last_good / 1024);
    }
    if (!out.empty())
        out += "/etc/udev/rules.d/90-sgprobe.rules, which applies the hardware database above:\n"
               "ACTION!=\"remove\", SUBSYSTEM==\"block\", ENV{DEVTYPE}==\"disk\", "
               "IMPORT{builtin}=\"hwdb 'sgprobe:m$env{ID_MODEL}:r$env{ID_REVISION}:'\"\n"
               "SUBSYSTEM==\"block\", ENV{SGPROBE_MAX_SECTORS_KB}==\"?*\", ATTR{queue/max_sectors_kb}=\"$env{SGPROBE_MAX_SECTORS_KB}\"\n"
               "SUBSYSTEM==\"block\", ENV{SGPROBE_QUEUE_DEPTH}==\"?*\", ATTR{device/queue_depth}=\"$env{SGPROBE_QUEUE_DEPTH}\"\n";
    if (!nearest.empty()) out += (out.empty() ? "" : "\nNot confirmed:\n") + nearest;
    return out.empty() ? "no cliff to make an entry of\n" : out;
}

}
