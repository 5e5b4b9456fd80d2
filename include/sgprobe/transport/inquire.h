// Questions to a live device whose answers nobody vouches for: asked carefully, checked, and asked again in a smaller way before
// anything is called absent. GOOD status with the wrong content is caught here.
#pragma once
#include <string>
#include <vector>

#include "sgprobe/scsi/capacity.h"
#include "sgprobe/scsi/cdb.h"
#include "sgprobe/scsi/mode.h"
#include "sgprobe/transport/drive.h"
#include "sgprobe/transport/precautions.h"

namespace sgprobe {

struct Reply {
    enum class State : std::uint8_t {
        present,        // the bytes are what was asked for, as far as can be told
        absent,         // the device has no such thing, or a reply without it
        malformed,      // GOOD status, and the content is wrong: problems say how
        failed,         // no answer that can be used: time-out, host error, not ready...
        skipped,        // not asked: a known quirk of this device forbids it
    };
    State state = State::absent;
    ByteVector bytes;                       // cut to their own length; nothing is taken from a malformed reply
    std::vector<std::string> problems, notes;
    std::string reason;                     // why there are no bytes: "CHECK CONDITION: Illegal Request, 24h/00h (...)"
    int exit_status = 0;                    // as sg3_utils has it; 97 for malformed
    explicit operator bool() const { return state == State::present; }
};

struct ModeReply : Reply {
    bool ten_byte = true;                   // the form of MODE SENSE that answered, and so of MODE SELECT
    scsi::ModeData data;                    // parsed; with the page that was asked for among its pages
};

struct CapacityReply : Reply {
    scsi::Capacity capacity;
};

class Inquirer {
public:
    Inquirer(Host&, Drive&);                                // leaves undone what the drive's precautions say
    Drive& drive() { return drive_; }

    Reply inquiry();                                        // standard INQUIRY: 36 bytes, then as many as it says
    Reply vpd(std::uint8_t page);
    std::vector<std::uint8_t> vpd_pages();                  // page 00h; empty where it cannot be had
    ModeReply mode(const scsi::ModeSense&);                 // the 10-byte form, then the 6-byte one
    Reply log(std::uint8_t page, std::uint8_t subpage = 0);
    CapacityReply capacity();                               // READ CAPACITY(10), and (16) where that is needed or can be asked
    Reply identify();                                       // ATA IDENTIFY DEVICE through SAT, 16- then 12-byte form
    Reply smart_data();                                     // ATA SMART READ DATA

    // One data-in command, sent again after a unit attention and after a deferred error, which is another command's (SPC-5 4.4.6).
    Completion ask(const scsi::Cdb&, Bytes allocation);

private:
    struct Question;
    Reply fetch(const Question&);
    Reply once(const Question&, Bytes allocation);
    void judge(const Question&, Bytes allocation, ByteView arrived, Reply&);
    ModeReply mode_of_form(const scsi::ModeSense&, bool ten_byte);
    Reply ata_data_in(const scsi::AtaCommand&, const std::string& what);

    Host& host_;
    Drive& drive_;
    std::string last_kind_;                 // of the last reply, and its bytes: firmware that repeats itself is caught
    ByteVector last_bytes_;
    std::optional<std::vector<std::uint8_t>> vpd_pages_;
    std::optional<bool> mode_ten_byte_;     // the form of MODE SENSE that has answered
};

// Status blocks of a transport that ended up in the data: "USBS" of USB mass storage; a text, else empty.
std::string transport_signature(ByteView);

}
