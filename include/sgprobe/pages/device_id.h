// Who a device is, as far as its known quirks go: from the kernel before anything is sent to it, and from the device itself.
#pragma once
#include "sgprobe/pages/quirks.h"
#include "sgprobe/scsi/inquiry.h"
#include "sgprobe/transport/sysfs.h"

namespace sgprobe::pages {

DeviceId device_id(const Sysfs&, const std::string& sg);    // no command is sent
DeviceId device_id(const scsi::Inquiry&);

// Adds what IDENTIFY DEVICE says where INQUIRY says that this is an ATA device (SAT-4 8.1); one command at most.
void add_ata_identity(Host&, Drive&, DeviceId&);

}
