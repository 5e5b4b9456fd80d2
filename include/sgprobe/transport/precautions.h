// What the program leaves undone, or does in a smaller way, on a device that is known to break. Made from the list of known
// quirks (pages/quirks.h) and kept by the drive (Drive::set_precautions); nothing is set for a device that nothing is known of.
#pragma once
#include <optional>
#include <string>

#include "sgprobe/scsi/cdb.h"
#include "sgprobe/scsi/types.h"

namespace sgprobe {

struct Precautions {
    bool no_mode_sense = false;             // neither form: write protect and cache state stay unknown
    bool no_vpd = false;
    bool no_short_vpd = false;              // the first request for a VPD page is no shorter than 252 bytes
    bool no_report_opcodes = false;
    bool no_report_luns = false;
    bool no_read_capacity_16 = false, needs_read_capacity_16 = false;
    bool no_ata_pass_through = false;
    bool no_log_directory = false;          // ATA general purpose log directory
    bool no_fua = false;
    bool no_synchronize_cache = false;      // it ejects the medium
    bool no_ncq = false;
    bool residue_unreliable = false;        // what the device says about how much it moved means nothing
    bool capacity_one_too_large = false;
    bool first_read_bad = false;            // the first READ(10) after power-on fails: sent again
    std::optional<unsigned> max_inquiry_bytes{};
    std::optional<unsigned> max_sense_bytes{};
    std::optional<Blocks> last_blocks_single{};   // these many at the end are read one at a time or not at all
    std::optional<Bytes> max_transfer_bytes{};    // what the kernel limits the model to
};

// Why a command must not be sent to a device of which this is known: a text, else empty. execute() sends no such command.
struct Command;
void shorten(const Precautions&, Command&);     // INQUIRY and REQUEST SENSE to what the device bears
std::string forbidden(const Precautions&, const scsi::Cdb&);

}
