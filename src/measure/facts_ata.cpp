// IDENTIFY DEVICE of an ATA drive behind a SCSI/ATA translation: from VPD 89h, or asked through it.
#include <fmt/format.h>

#include <algorithm>

#include "facts_parts.h"
#include "sgprobe/scsi/identify.h"
#include "sgprobe/scsi/inquiry.h"

namespace sgprobe::measure {
namespace {

std::string feature(const scsi::Feature& f) { return !f.supported ? "not supported" : f.enabled ? "on" : "off"; }

Value feature_value(const scsi::Feature& f) { return ValueMap{{"supported", f.supported}, {"enabled", f.enabled}}; }

}

void add_ata(Facts& facts, Inquirer& inquirer, bool anonymous) {
    const auto pages = inquirer.vpd_pages();
    ByteVector data;
    std::string source;
    if (std::find(pages.begin(), pages.end(), 0x89) != pages.end()) {
        const Reply reply = inquirer.vpd(0x89);
        keep_problems(facts, reply, "VPD 89h");
        if (reply) data = scsi::parse_vpd_ata_information(reply.bytes).value.identify;
        source = "VPD 89h";
    }
    if (data.empty() && facts.device.vendor == "ATA") {
        const Reply reply = inquirer.identify();
        keep_problems(facts, reply, "IDENTIFY DEVICE");
        if (reply) data = reply.bytes;
        source = "IDENTIFY DEVICE";
    }
    if (data.empty()) return;
    const auto parsed = scsi::parse_identify(data);
    keep_problems(facts, parsed, source);
    const scsi::Identify& i = parsed.value;
    FactGroup g{"ata", fmt::format("ATA ({})", source), {}};
    if (i.model) g.add("model", "model", scsi::trimmed(*i.model));
    if (i.firmware) g.add("firmware", "firmware", scsi::trimmed(*i.firmware));
    if (i.serial && !anonymous) g.add("serial", "serial number", scsi::trimmed(*i.serial));
    if (i.sata_current) g.add("sata_generation", "SATA generation in use", *i.sata_current, fmt::format("{} ({} Gb/s)", *i.sata_current, *i.sata_current == 1 ? "1.5" : *i.sata_current == 2 ? "3" : "6"));
    if (i.ncq) g.add("ncq", "NCQ", *i.ncq);
    if (i.queue_depth) g.add("queue_depth", "queue depth of the drive", *i.queue_depth);
    const auto add = [&](const char* key, const char* label, const std::optional<scsi::Feature>& f) {
        if (f) g.add(key, label, feature_value(*f), feature(*f));
    };
    add("write_cache", "write cache", i.write_cache);
    add("look_ahead", "look-ahead", i.look_ahead);
    add("apm", "APM", i.apm);
    add("aam", "AAM", i.aam);
    add("fua", "FUA", i.fua);
    if (i.trim) g.add("trim", "takes TRIM", *i.trim);
    if (i.major_version) g.add("major_version", "greatest ATA version", *i.major_version);
    if (!facts.device.rotation_rpm && i.rotation_rpm) facts.device.rotation_rpm = *i.rotation_rpm;
    facts.groups.push_back(std::move(g));
}

}
