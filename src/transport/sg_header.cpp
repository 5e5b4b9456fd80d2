#include "sg_header.h"

#include <cerrno>
#include <cstring>

namespace sgprobe {
namespace {

// Not in every <scsi/sg.h>.
constexpr unsigned flag_direct_io = 1, flag_mmap_io = 4, flag_queue_at_tail = 0x10;

// include/scsi/scsi_status.h of the kernel; the driver byte is only made for us by today's sg.
enum HostByte { did_ok = 0, did_no_connect = 1, did_time_out = 3, did_bad_target = 4 };
enum DriverByte { driver_timeout = 6, driver_sense = 8 };

}

void fill_header(sg_io_hdr& header, Command& command, Nanoseconds timeout, std::array<std::uint8_t, 252>& sense) {
    const auto timeout_ms = std::chrono::ceil<std::chrono::milliseconds>(timeout).count();
    header = {};
    header.interface_id = 'S';
    header.cmd_len = command.cdb.size;
    header.cmdp = command.cdb.bytes.data();
    header.mx_sb_len = static_cast<unsigned char>(sense.size());
    header.sbp = sense.data();
    header.timeout = static_cast<unsigned>(std::clamp<std::int64_t>(timeout_ms, 1, 0x7fffffff));
    header.flags = flag_queue_at_tail;   // the driver's default is the head, which turns a backlog into LIFO
    header.dxfer_direction = SG_DXFER_NONE;
    if (command.direction == scsi::Direction::none || command.length == 0) return;
    header.dxfer_direction = command.direction == scsi::Direction::in ? SG_DXFER_FROM_DEV : SG_DXFER_TO_DEV;
    header.dxfer_len = static_cast<unsigned>(command.length);
    if (!command.data) return;           // a null pointer: the data moves, and is not copied to us
    switch (command.data.kind()) {
        case BufferKind::mmap: header.flags |= flag_mmap_io; return;
        case BufferKind::direct:
        case BufferKind::huge: header.flags |= flag_direct_io; break;
        case BufferKind::indirect: break;
    }
    header.dxferp = command.data.bytes().data();
}

void decode_header(const sg_io_hdr& header, Completion& completion) {
    Outcome& outcome = completion.outcome;
    outcome = {};
    outcome.status = static_cast<scsi::Status>(header.status & 0x7e);   // bit 0 was the link bit, bit 7 vendor specific
    outcome.host_status = header.host_status;
    outcome.driver_status = header.driver_status;
    completion.sense = SenseBytes(ByteView(header.sbp, header.sbp ? header.sb_len_wr : 0));
    const Bytes left = header.resid > 0 ? static_cast<Bytes>(header.resid) : 0;
    completion.resid = std::min(left, completion.command.length);
    const unsigned driver = header.driver_status & 0x0f;
    switch (header.host_status) {
        case did_ok: break;
        case did_time_out: outcome.kind = Outcome::Kind::time_out; break;
        case did_no_connect:
        case did_bad_target: outcome.kind = Outcome::Kind::gone; break;
        default: outcome.kind = Outcome::Kind::host_error; break;
    }
    if (header.host_status == did_ok && driver == driver_timeout) outcome.kind = Outcome::Kind::time_out;
    // Sense data with status GOOD is no error (a recovered error, ATA registers that were asked for); any other word of the driver is.
    else if (header.host_status == did_ok && outcome.status == scsi::Status::good && driver != 0 && driver != driver_sense) {
        outcome.kind = Outcome::Kind::host_error;
    }
    if (outcome.kind != Outcome::Kind::status) completion.resid = completion.command.length;   // nobody vouches for what moved
}

Outcome outcome_of_refusal(int os_errno) {
    Outcome outcome;
    const bool gone = os_errno == ENODEV || os_errno == ENXIO;
    outcome.kind = gone ? Outcome::Kind::gone : Outcome::Kind::os_refusal;
    outcome.os_errno = os_errno;
    return outcome;
}

}
