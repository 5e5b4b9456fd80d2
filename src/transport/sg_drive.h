// One drive behind /dev/sgN.
#pragma once
#include <scsi/sg.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "sgprobe/transport/sg_host.h"

namespace sgprobe {

// A descriptor of the drive's node. The sg driver takes 16 commands on each (then EDOM), and each has a reserved buffer that one
// command at a time can use without the kernel allocating pages.
struct SgFile {
    SgDrive* drive = nullptr;
    int fd = -1;
    unsigned sent = 0;
    Bytes reserved = 0;                    // as last asked for; the driver may have given less
    std::uint8_t* mapped = nullptr;        // this descriptor serves one mmap'ed buffer alone
    bool readable = false;                 // stands in the host's list
    Nanoseconds hung_up{0};                // when the kernel said that the device is going away
};

class SgDrive : public Drive {
public:
    SgDrive(SgHost&, const DriveSpec&, const std::string& sg);   // throws Failure
    ~SgDrive() override;
    const DriveSpec& spec() const override { return spec_; }
    const Limits& limits() const override { return limits_; }
    Buffer buffer(Bytes, BufferKind) override;                   // empty where the kernel cannot give such a one
    void submit(Command&&) override;
    unsigned outstanding() const override { return outstanding_; }
    HiddenCounters counters() override { return host_.options_.sysfs.counters(sg_); }
    std::string gone() const override { return gone_; }

    // For SgHost.
    void send_staged();                                          // by write()
    Completion run_staged();                                     // by SG_IO
    bool read_from(SgFile&, Completion&);                        // false: nothing is ready there
    void wait_for_lost(SgFile&);                                 // a device that goes away still owes answers, for a while
    void taken(const Completion&) { --outstanding_; }            // it was handed out

private:
    struct Slot {
        sg_io_hdr header;
        Command command;
        Nanoseconds submitted{0};
        SgFile* file = nullptr;
        std::array<std::uint8_t, 252> sense;
    };
    SgFile& open_file();
    SgFile* file_for(const Command&);
    std::uint32_t take_slot();
    void reserve(SgFile&, Bytes);
    void finish(std::uint32_t slot, Completion&);
    void refuse(std::uint32_t slot, int os_errno);
    void lose_file(SgFile&);
    void note_gone(const Outcome&);
    void drain();

    static constexpr unsigned per_file = 16, greatest_depth = 256;
    SgHost& host_;
    DriveSpec spec_;
    std::string sg_, node_;
    Limits limits_;
    std::vector<std::unique_ptr<SgFile>> files_;
    std::vector<std::unique_ptr<Slot>> slots_;
    std::vector<std::uint32_t> free_slots_;
    unsigned outstanding_ = 0;             // staged, sent, and refused but not yet handed out
    std::uint32_t staged_slot_ = 0;        // while host_.staged_ == this
    std::string gone_;
};

}
