#include "sgprobe/scsi/anonymize.h"

#include <algorithm>
#include <numeric>

namespace sgprobe::scsi {
namespace {

using Data = std::span<std::uint8_t>;

// Bytes first..last of the data, as far as they are there.
void overwrite(Data data, std::size_t first, std::size_t last, std::uint8_t with) {
    for (std::size_t i = first; i <= last && i < data.size(); ++i) data[i] = with;
}

void from(Data data, std::size_t first, std::uint8_t with) {
    if (first < data.size()) overwrite(data, first, data.size() - 1, with);
}

// ACS-4 9.11 (words): serial number 10-19, world wide name 108-111, its extension 112-115, vendor specific 129-159, media serial number 176-205.
void blank_identify(Data data) {
    overwrite(data, 20, 39, 'X');
    overwrite(data, 216, 231, 0);
    overwrite(data, 258, 319, 0);
    overwrite(data, 352, 411, 0);
    constexpr std::size_t signature = 510, checksum = 511;
    if (data.size() <= checksum || data[signature] != 0xa5) return;
    data[checksum] = static_cast<std::uint8_t>(-std::accumulate(data.begin(), data.begin() + checksum, 0u));
}

// SPC-5 7.7.6. What says whose drive it is stays: the T10 vendor, the company in an NAA or EUI-64 name.
void blank_designators(Data data) {
    for (std::size_t at = 4; at + 4 <= data.size();) {
        const std::uint8_t code_set = data[at] & 0x0f, type = data[at + 1] & 0x0f;
        const std::size_t length = std::min<std::size_t>(data[at + 3], data.size() - at - 4);
        const Data name = data.subspan(at + 4, length);
        const std::uint8_t with = code_set == 1 ? 0 : 'X';
        if (type == 1) from(name, 8, with);                      // T10 vendor ID
        else if (type == 2) from(name, 3, 0);                    // EUI-64
        else if (type == 3 && code_set == 1) {                   // NAA
            if (name.size() > 3) name[3] &= 0xf0;
            from(name, 4, 0);
        } else if (type < 4 || type > 6) {                       // 4-6 number ports and groups
            from(name, 0, with);
        }
        at += 4 + data[at + 3];
    }
}

void blank_inquiry(ByteView cdb, Data data) {
    const bool vital = cdb[1] & 1;
    if (!vital) {
        overwrite(data, 36, 55, 0);                              // vendor specific: some keep the serial number there
        return from(data, 96, 0);
    }
    const std::uint8_t page = cdb[2];
    if (page == 0x80) return from(data, 4, 'X');
    if (page == 0x83) return blank_designators(data);
    if (page == 0x89) return data.size() > 60 ? blank_identify(data.subspan(60)) : void();
    // ASCII information, software interface identification, management addresses, ports, and those of vendors.
    if ((page >= 0x01 && page <= 0x7f) || page == 0x84 || page == 0x85 || page == 0x88 || page >= 0xc0) from(data, 4, 0);
}

void blank_ata(std::uint8_t command, std::uint8_t log, Data data) {
    constexpr std::uint8_t identify_device = 0xec, identify_packet_device = 0xa1, read_log_ext = 0x2f, read_log_dma_ext = 0x47;
    if (command == identify_device || command == identify_packet_device) blank_identify(data);
    // The IDENTIFY DEVICE data log repeats the serial number; logs from A0h on are the vendor's.
    if ((command == read_log_ext || command == read_log_dma_ext) && (log == 0x30 || log >= 0xa0)) from(data, 0, 0);
}

}

void anonymize(ByteView cdb, std::span<std::uint8_t> data) {
    if (cdb.size() < 6) return;
    const std::uint8_t service_action = cdb[1] & 0x1f;
    switch (cdb[0]) {
        case 0x12: return blank_inquiry(cdb, data);
        case 0x4d:                                               // LOG SENSE: pages of vendors
            if ((cdb[2] & 0x3f) >= 0x30) from(data, 4, 0);
            return;
        case 0x85: return cdb.size() > 14 ? blank_ata(cdb[14], cdb[8], data) : void();    // ATA PASS-THROUGH(16)
        case 0xa1: return cdb.size() > 9 ? blank_ata(cdb[9], cdb[5], data) : void();      // ATA PASS-THROUGH(12)
        case 0xa3: return service_action == 0x05 ? from(data, 4, 0) : void();             // REPORT IDENTIFYING INFORMATION
        case 0xab: return service_action == 0x01 ? from(data, 4, 'X') : void();           // READ MEDIA SERIAL NUMBER
        case 0x5e: return from(data, 8, 0);                                               // PERSISTENT RESERVE IN: keys and names of hosts
        default: return;
    }
}

}
