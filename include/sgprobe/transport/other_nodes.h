// One command through another node of a device than its sg node: the block node (/dev/sdX) or the bsg node. Only to learn what
// such a node refuses; everything else goes through a Drive.
#pragma once
#include <string>

#include "sgprobe/transport/command.h"

namespace sgprobe {

class OtherNode {
public:
    OtherNode(std::string path, bool bsg);           // bsg: sg_io_v4, else sg_io_hdr
    ~OtherNode();
    OtherNode(const OtherNode&) = delete;
    OtherNode& operator=(const OtherNode&) = delete;
    bool opened() const { return fd_ >= 0; }
    Outcome read(const scsi::Cdb&, std::span<std::uint8_t> into, Nanoseconds timeout);

private:
    int fd_ = -1;
    bool bsg_;
};

}
