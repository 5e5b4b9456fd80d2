// MODE SENSE and MODE SELECT to one drive: the 6- and 10-byte forms with the fallback in both directions, drives that ignore or
// refuse DBD, unit attentions, answers that differ from one time to the next. Throws Failure where the drive gives no answer at all.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sgprobe/pages/catalogue.h"
#include "sgprobe/scsi/cdb.h"
#include "sgprobe/scsi/sense.h"
#include "sgprobe/transport/drive.h"

namespace sgprobe::pages {

struct PageValues {                              // as sent, header included; empty where the drive does not give them
    PageId id;
    bool savable = false;                        // PS
    bool truncated = false;                      // cut short by the drive: shown, never changed
    ByteVector current, changeable, defaults, saved;
    const PageFormat* format = nullptr;          // none: unknown page
};

class ModeAccess {
public:
    ModeAccess(Host&, Drive&, const Catalogue&, std::string vendor, bool six_first = false);

    std::optional<PageValues> read(PageId);      // nothing where the drive has no such page
    std::vector<PageValues> read_all();          // subpages too where the drive lists them
    // Current values that two readings agree on; empty where there is no such page.
    ByteVector settled(PageId, scsi::PageControl = scsi::PageControl::current);

    struct Selected {
        bool accepted = false;
        bool refused = false;                    // ILLEGAL REQUEST: the parameter list was not taken; else it is not known what became of it
        std::string answer;                      // in words
        Completion completion;
    };
    Selected select(ByteView page, bool save);
    ByteVector select_list(ByteView page) const; // the bytes that select() sends
    scsi::Cdb select_cdb(ByteView page, bool save) const;

    unsigned resets() const { return resets_; }  // unit attentions 29h seen so far: current values may be lost
    unsigned changed() const { return changed_; }   // unit attentions 2Ah: somebody changed parameters (ourselves too)
    const std::vector<std::string>& notes() const { return notes_; }
    Host& host() { return host_; }
    Drive& drive() { return drive_; }
    const Catalogue& catalogue() const { return catalogue_; }
    const std::string& vendor() const { return vendor_; }

private:
    struct Reply { bool there = false; scsi::ModeData data; };
    Completion send(const scsi::Cdb&, scsi::Direction, Bytes, ByteView out);
    Reply sense(PageId, scsi::PageControl);
    Completion sense_once(PageId, scsi::PageControl);
    std::optional<scsi::ModePage> page(PageId, scsi::PageControl);
    void note(const std::string&);

    Host& host_;
    Drive& drive_;
    const Catalogue& catalogue_;
    std::string vendor_;
    bool sense_six_, select_six_, sense_proven_ = false, select_proven_ = false;
    bool dbd_ = true, dbd_proven_ = false, send_descriptors_ = false, longlba_ = false;
    ByteVector descriptors_;                     // as the drive sent them last
    unsigned resets_ = 0, changed_ = 0;
    std::vector<std::string> notes_;
};

}
