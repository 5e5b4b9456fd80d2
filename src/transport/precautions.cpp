#include "sgprobe/transport/precautions.h"

#include "sgprobe/scsi/reader.h"
#include "sgprobe/transport/command.h"

namespace sgprobe {

void shorten(const Precautions& p, Command& command) {
    const scsi::Reader cdb(command.cdb.view());
    const auto cut = [&](std::optional<unsigned> most, std::size_t at, std::size_t width) {
        if (!most || cdb.big_endian(at, width).value_or(0) <= *most) return;
        scsi::put(command.cdb.bytes, at, width, *most);
        command.length = std::min<Bytes>(command.length, *most);
    };
    if (command.cdb.opcode() == 0x12 && !cdb.flag(1, 0)) cut(p.max_inquiry_bytes, 3, 2);
    if (command.cdb.opcode() == 0x03) cut(p.max_sense_bytes, 4, 1);
}

std::string forbidden(const Precautions& p, const scsi::Cdb& command) {
    const scsi::Reader cdb(command.view());
    const std::uint8_t opcode = cdb.u8(0).value_or(0), action = cdb.bits(1, 4, 5).value_or(0);
    const auto known = [](bool quirk, const char* what) { return quirk ? std::string("not sent: ") + what + " is known to break this device" : std::string(); };
    switch (opcode) {
    case 0x1a: case 0x5a: return known(p.no_mode_sense, "MODE SENSE");
    case 0x12:
        if (cdb.flag(1, 0)) return known(p.no_vpd, "INQUIRY for a VPD page");
        return {};
    case 0xa0: return known(p.no_report_luns, "REPORT LUNS");
    case 0xa3: return known(p.no_report_opcodes && action == 0x0c, "REPORT SUPPORTED OPERATION CODES");
    case 0x9e: return known(p.no_read_capacity_16 && action == 0x10, "READ CAPACITY(16)");
    case 0x35: case 0x91: return known(p.no_synchronize_cache, "SYNCHRONIZE CACHE");
    case 0x85: case 0xa1: return known(p.no_ata_pass_through, "ATA PASS-THROUGH");
    default: break;
    }
    if (const auto rw = scsi::decode_read_write(command.view()); rw && rw->fua) return known(p.no_fua, "FUA");
    return {};
}

}
