#include "sgprobe/pages/device_id.h"

#include "sgprobe/scsi/identify.h"
#include "sgprobe/transport/inquire.h"

namespace sgprobe::pages {

DeviceId device_id(const Sysfs& sysfs, const std::string& sg) {
    DeviceId id;
    const auto device = sysfs.device(sg);
    if (!device) return id;
    id.vendor = device->vendor;
    id.product = device->model;
    id.revision = device->revision;
    id.uas = device->host_driver == "uas";
    if (device->transport != "usb") return id;
    // The SCSI device lies below its target, its host, the USB interface and the USB device.
    const std::string usb = "/sys/class/scsi_generic/" + sg + "/device/../../../../";
    const auto number = [&](const char* name) -> std::optional<std::uint16_t> {
        const auto value = sysfs.number(usb + name, 16);
        if (!value || *value > 0xffff) return {};
        return static_cast<std::uint16_t>(*value);
    };
    id.usb_vendor = number("idVendor");
    id.usb_product = number("idProduct");
    id.usb_bcd = number("bcdDevice");
    return id;
}

DeviceId device_id(const scsi::Inquiry& inquiry) {
    DeviceId id;
    id.vendor = scsi::trimmed(inquiry.vendor.value_or(""));
    id.product = scsi::trimmed(inquiry.product.value_or(""));
    id.revision = scsi::trimmed(inquiry.revision.value_or(""));
    return id;
}

void add_ata_identity(Host& host, Drive& drive, DeviceId& id) {
    if (id.vendor != "ATA") return;
    const Reply reply = Inquirer(host, drive).identify();
    if (!reply) return;
    const scsi::Identify identify = scsi::parse_identify(reply.bytes).value;
    id.ata_model = scsi::trimmed(identify.model.value_or(""));
    id.ata_firmware = scsi::trimmed(identify.firmware.value_or(""));
}

}
