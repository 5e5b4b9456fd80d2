// INQUIRY, VPD 80h and 83h.
#include <fmt/format.h>

#include <algorithm>

#include "facts_parts.h"
#include "sgprobe/pages/device_id.h"
#include "sgprobe/scsi/inquiry.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::measure {
namespace {

// SPC-5 table 146, the types that a drive may have.
std::string device_type(std::uint8_t type) {
    switch (type) {
        case 0x00: return "direct access block device";
        case 0x01: return "sequential access device (tape)";
        case 0x05: return "CD or DVD";
        case 0x07: return "optical memory";
        case 0x0c: return "storage array controller";
        case 0x0d: return "enclosure services";
        case 0x0e: return "simplified direct access";
        case 0x14: return "host managed zoned block device";
        case 0x1e: return "well known logical unit";
        default: return fmt::format("type {:02x}h", type);
    }
}

// SPC-5 table 147.
std::string standard(std::uint8_t version) {
    switch (version) {
        case 0x00: return "none claimed";
        case 0x02: return "SCSI-2";
        case 0x03: return "SPC";
        case 0x04: return "SPC-2";
        case 0x05: return "SPC-3";
        case 0x06: return "SPC-4";
        case 0x07: return "SPC-5";
        case 0x0d: return "SPC-6";
        default: return fmt::format("version {:02x}h", version);
    }
}

std::string association(std::uint8_t value) { return value == 0 ? "logical unit" : value == 1 ? "target port" : value == 2 ? "target device" : "reserved"; }

}

void add_identity(Facts& facts, Inquirer& inquirer, bool anonymous) {
    const Reply reply = inquirer.inquiry();
    if (!reply) {
        const int status = reply.exit_status ? reply.exit_status : static_cast<int>(ExitStatus::other);
        std::string why = reply.reason;
        for (const std::string& problem : reply.problems) why += (why.empty() ? "" : "; ") + problem;
        throw Failure(static_cast<ExitStatus>(status), fmt::format("{}: the drive does not say what it is: INQUIRY: {}", facts.device.path, why));
    }
    const auto parsed = scsi::parse_inquiry(reply.bytes);
    keep_problems(facts, parsed, "INQUIRY");
    const scsi::Inquiry& i = parsed.value;
    FactGroup g{"identity", "Identity", {}};
    facts.device.vendor = scsi::trimmed(i.vendor.value_or(""));
    facts.device.product = scsi::trimmed(i.product.value_or(""));
    facts.device.revision = scsi::trimmed(i.revision.value_or(""));
    pages::obey(inquirer.drive(), pages::device_id(i));
    g.add("vendor", "vendor", facts.device.vendor);
    g.add("product", "product", facts.device.product);
    g.add("revision", "firmware revision", facts.device.revision);
    const auto pages = inquirer.vpd_pages();
    const auto has = [&](std::uint8_t page) { return std::find(pages.begin(), pages.end(), page) != pages.end(); };
    if (has(0x80)) {
        const Reply serial = inquirer.vpd(0x80);
        keep_problems(facts, serial, "VPD 80h");
        if (serial) facts.device.serial = scsi::trimmed(scsi::parse_vpd_serial(serial.bytes).value);
        if (!facts.device.serial.empty() && !anonymous) g.add("serial", "serial number", facts.device.serial);
    }
    g.add("device_type", "device type", static_cast<unsigned>(i.device_type), device_type(i.device_type));
    if (i.peripheral_qualifier) g.add("peripheral_qualifier", "peripheral qualifier", static_cast<unsigned>(i.peripheral_qualifier));
    g.add("version", "standard claimed", static_cast<unsigned>(i.version), standard(i.version));
    g.add("removable", "removable medium", i.removable);
    g.add("cmdque", "command queueing (CMDQUE)", i.cmdque);
    if (i.protect) g.add("protect", "protection information can be had (PROTECT)", true);
    if (has(0x83)) {
        const Reply ids = inquirer.vpd(0x83);
        keep_problems(facts, ids, "VPD 83h");
        ValueList list;
        std::vector<std::string> lines;
        if (ids) {
            const auto designators = scsi::parse_vpd_designators(ids.bytes);
            keep_problems(facts, designators, "VPD 83h");
            for (const auto& d : designators.value) {
                list.push_back(ValueMap{{"designator", d.text()}, {"association", association(d.association)}, {"type", static_cast<unsigned>(d.type)}});
                lines.push_back(fmt::format("{} ({})", d.text(), association(d.association)));
            }
        }
        if (!anonymous) g.add_lines("designators", "designators (VPD 83h)", std::move(list), std::move(lines));
    }
    facts.groups.push_back(std::move(g));
}

}
