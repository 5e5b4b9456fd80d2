#include <fmt/format.h>
#include <scsi/sg_lib.h>

#include "sgprobe/scsi/sense.h"

namespace sgprobe::scsi {

std::string additional_sense_text(std::uint8_t asc, std::uint8_t ascq) {
    char buffer[160] = {};
    sg_get_asc_ascq_str(asc, ascq, sizeof buffer, buffer);
    // The library says "Additional sense: TEXT", or "ASC=80, ASCQ=00 (hex)" where it knows none.
    const std::string_view text(buffer);
    constexpr std::string_view lead = "Additional sense: ";
    return std::string(text.starts_with(lead) ? text.substr(lead.size()) : "vendor specific or unknown");
}

std::string one_line(const Sense& sense) {
    std::string text = sense.deferred ? "deferred: " : "";
    if (!sense.key) return text + "no sense key arrived";
    text += name(*sense.key);
    if (sense.asc && sense.ascq) text += fmt::format(", {:02X}h/{:02X}h ({})", *sense.asc, *sense.ascq, additional_sense_text(*sense.asc, *sense.ascq));
    else if (sense.asc) text += fmt::format(", additional sense code {:02X}h", *sense.asc);
    if (sense.information) text += fmt::format(", information {}", *sense.information);
    if (sense.field_pointer) {
        text += fmt::format(", byte {} of the {}", sense.field_pointer->byte, sense.field_pointer->in_command ? "CDB" : "parameter list");
        if (sense.field_pointer->bit) text += fmt::format(", bit {}", *sense.field_pointer->bit);
    }
    if (sense.retry_count) text += fmt::format(", {} retries", *sense.retry_count);
    if (sense.progress) text += fmt::format(", {:.0f} % done", *sense.progress * 100);
    if (sense.ata) text += fmt::format(", ATA status {:02X}h error {:02X}h", sense.ata->status, sense.ata->error);
    return text;
}

int exit_status(const Sense& sense) {
    if (!sense.key) return SG_LIB_CAT_SENSE;
    switch (*sense.key) {
    case SenseKey::no_sense: case SenseKey::completed: return SG_LIB_CAT_NO_SENSE;
    case SenseKey::recovered_error: return SG_LIB_CAT_RECOVERED;
    case SenseKey::not_ready: return SG_LIB_CAT_NOT_READY;
    case SenseKey::medium_error: case SenseKey::hardware_error: case SenseKey::blank_check: return SG_LIB_CAT_MEDIUM_HARD;
    case SenseKey::illegal_request: return sense.asc == 0x20 && sense.ascq == 0x00 ? SG_LIB_CAT_INVALID_OP : SG_LIB_CAT_ILLEGAL_REQ;
    case SenseKey::unit_attention: return SG_LIB_CAT_UNIT_ATTENTION;
    case SenseKey::data_protect: return SG_LIB_CAT_DATA_PROTECT;
    case SenseKey::copy_aborted: return SG_LIB_CAT_COPY_ABORTED;
    case SenseKey::aborted_command: return SG_LIB_CAT_ABORTED_COMMAND;
    case SenseKey::miscompare: return SG_LIB_CAT_MISCOMPARE;
    default: return SG_LIB_CAT_SENSE;
    }
}

}
