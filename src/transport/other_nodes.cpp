#include "sgprobe/transport/other_nodes.h"

#include <fcntl.h>
#include <linux/bsg.h>
#include <scsi/sg.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>

#include "sg_header.h"

namespace sgprobe {

OtherNode::OtherNode(std::string path, bool bsg) : fd_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)), bsg_(bsg) {
    if (fd_ < 0 && bsg) fd_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
}

OtherNode::~OtherNode() { if (fd_ >= 0) ::close(fd_); }

Outcome OtherNode::read(const scsi::Cdb& cdb, std::span<std::uint8_t> into, Nanoseconds timeout) {
    scsi::Cdb sent = cdb;
    std::array<std::uint8_t, 252> sense{};
    const auto timeout_ms = static_cast<unsigned>(std::chrono::ceil<std::chrono::milliseconds>(timeout).count());
    Completion completion;
    completion.command.length = into.size();
    sg_io_hdr header{};
    header.interface_id = 'S';
    header.sbp = sense.data();
    if (bsg_) {
        sg_io_v4 v4{};
        v4.guard = 'Q';
        v4.protocol = BSG_PROTOCOL_SCSI;
        v4.subprotocol = BSG_SUB_PROTOCOL_SCSI_CMD;
        v4.request_len = sent.size;
        v4.request = reinterpret_cast<std::uintptr_t>(sent.bytes.data());
        v4.max_response_len = sense.size();
        v4.response = reinterpret_cast<std::uintptr_t>(sense.data());
        v4.din_xfer_len = static_cast<unsigned>(into.size());
        v4.din_xferp = reinterpret_cast<std::uintptr_t>(into.data());
        v4.timeout = timeout_ms;
        if (::ioctl(fd_, SG_IO, &v4) != 0) return outcome_of_refusal(errno);
        header.status = static_cast<unsigned char>(v4.device_status);
        header.host_status = static_cast<unsigned short>(v4.transport_status);
        header.driver_status = static_cast<unsigned short>(v4.driver_status);
        header.resid = v4.din_resid;
        header.sb_len_wr = static_cast<unsigned char>(v4.response_len);
    } else {
        header.cmd_len = sent.size;
        header.cmdp = sent.bytes.data();
        header.mx_sb_len = static_cast<unsigned char>(sense.size());
        header.timeout = timeout_ms;
        header.dxfer_direction = SG_DXFER_FROM_DEV;
        header.dxfer_len = static_cast<unsigned>(into.size());
        header.dxferp = into.data();
        if (::ioctl(fd_, SG_IO, &header) != 0) return outcome_of_refusal(errno);
    }
    decode_header(header, completion);
    return completion.outcome;
}

}
