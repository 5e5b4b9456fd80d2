#include "sgprobe/transport/describe.h"

#include <fmt/format.h>
#include <scsi/sg_lib.h>

#include <array>
#include <cctype>
#include <system_error>

#include "sgprobe/scsi/sense.h"
#include "sgprobe/transport/drive.h"
#include "sgprobe/transport/escape.h"

namespace sgprobe {
namespace {

std::string seconds(Nanoseconds time) { return fmt::format("{:.3g} s", std::chrono::duration<double>(time).count()); }

// SG_LIB_CAT_* of a status and its sense data, by libsgutils2.
int category(const Completion& c) {
    switch (c.outcome.status) {
        case scsi::Status::good: return SG_LIB_CAT_CLEAN;
        case scsi::Status::check_condition: {
            std::array<std::uint8_t, 252> sense = c.sense.bytes;
            return sg_err_category_sense(sense.data(), c.sense.size);
        }
        case scsi::Status::condition_met: return SG_LIB_CAT_CONDITION_MET;
        case scsi::Status::busy: return SG_LIB_CAT_BUSY;
        case scsi::Status::reservation_conflict: return SG_LIB_CAT_RES_CONFLICT;
        case scsi::Status::task_set_full: return SG_LIB_CAT_TS_FULL;
        case scsi::Status::aca_active: return SG_LIB_CAT_ACA_ACTIVE;
        case scsi::Status::task_aborted: return SG_LIB_CAT_TASK_ABORTED;
    }
    return SG_LIB_CAT_OTHER;
}

}

std::string describe(const scsi::Cdb& cdb) {
    if (const auto rw = scsi::decode_read_write(cdb.view())) return fmt::format("{} of {} blocks at {}", name(rw->opcode), rw->blocks, rw->lba);
    std::array<char, 128> text{};
    std::array<std::uint8_t, 32> bytes = cdb.bytes;
    const bool service_action = bytes[0] == 0x9e || bytes[0] == 0x9f || bytes[0] == 0xa3 || bytes[0] == 0xa4 || bytes[0] == 0x7f;
    if (service_action) sg_get_opcode_sa_name(bytes[0], bytes[0] == 0x7f ? bytes[9] : bytes[1] & 0x1f, 0, text.size(), text.data());
    else sg_get_opcode_name(bytes[0], 0, text.size(), text.data());
    if (!text[0]) return fmt::format("operation code {:02x}h", bytes[0]);
    std::string words = escaped(text.data());
    for (char& c : words) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));   // as the standards write them
    return words;
}

std::string describe(const Completion& c) {
    using Kind = Outcome::Kind;
    switch (c.outcome.kind) {
        case Kind::status: break;
        case Kind::time_out: return fmt::format("time-out after {}", seconds(c.latency()));
        case Kind::host_error: return fmt::format("host error (host status {:02x}h, driver status {:02x}h)", c.outcome.host_status, c.outcome.driver_status);
        case Kind::os_refusal:
            if (const std::string why = c.drive ? forbidden(c.drive->precautions(), c.command.cdb) : std::string(); !why.empty()) return why;
            return fmt::format("refused by the system: {}", c.outcome.os_errno ? std::system_category().message(c.outcome.os_errno) : "no reason given");
        case Kind::gone: {
            const std::string why = c.drive ? c.drive->gone() : "";
            return fmt::format("the drive is gone{}{}", why.empty() ? "" : ": ", why);
        }
    }
    if (c.outcome.status != scsi::Status::check_condition) {
        const auto value = static_cast<unsigned>(c.outcome.status);
        return fmt::format("{} ({:02x}h)", name(c.outcome.status), value);
    }
    if (c.sense.size == 0) return "CHECK CONDITION without sense data";
    return fmt::format("CHECK CONDITION: {}", one_line(scsi::parse_sense(c.sense.view()).value));
}

std::string raw(const Completion& c) {
    std::string text = fmt::format("CDB {}; {} of {} bytes", hex(c.command.cdb.view(), " "), c.transferred(), c.command.length);
    if (c.outcome.kind == Outcome::Kind::status) text += fmt::format("; status {:02x}", static_cast<unsigned>(c.outcome.status));
    if (c.outcome.kind == Outcome::Kind::host_error) text += fmt::format("; host {:02x} driver {:02x}", c.outcome.host_status, c.outcome.driver_status);
    if (c.outcome.os_errno) text += fmt::format("; errno {}", c.outcome.os_errno);
    if (c.outcome.check_condition()) text += fmt::format("; sense {}", c.sense.size ? hex(c.sense.view(), " ") : "none");
    return text;
}

ExitStatus exit_status(const Completion& c) {
    using Kind = Outcome::Kind;
    switch (c.outcome.kind) {
        case Kind::status: break;
        case Kind::time_out: return ExitStatus::timeout;
        case Kind::host_error: return ExitStatus::transport_error;
        case Kind::os_refusal: return static_cast<ExitStatus>(sg_convert_errno(c.outcome.os_errno));
        case Kind::gone: return c.outcome.os_errno ? static_cast<ExitStatus>(sg_convert_errno(c.outcome.os_errno)) : ExitStatus::transport_error;
    }
    const int status = category(c);
    if (status == SG_LIB_CAT_RECOVERED || status == SG_LIB_CAT_NO_SENSE || status == SG_LIB_CAT_CONDITION_MET) return ExitStatus::good;
    return status < 0 || status > 255 ? ExitStatus::other : static_cast<ExitStatus>(status);
}

Failure failure(const Completion& c, const std::string& tried, const std::string& advice) {
    const std::string name = c.drive ? c.drive->name() : "drive";
    const ExitStatus status = exit_status(c);
    // Well, and yet a failure: what came back was no answer.
    return Failure(status == ExitStatus::good ? ExitStatus::malformed : status,
                   fmt::format("{}: {}: {} came back with {}{}{}", escaped(name), tried, describe(c.command.cdb), describe(c), advice.empty() ? "" : "; ", advice));
}

}
