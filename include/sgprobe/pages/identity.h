// Which drive this is: enough to tell it from another one in the same slot.
#pragma once
#include <string>

#include "sgprobe/transport/drive.h"

namespace sgprobe::pages {

struct DriveIdentity {
    std::string vendor, product, revision, serial, designator;   // trimmed; empty where the drive does not say. Not escaped
    bool distinct() const { return !serial.empty() || !designator.empty(); }
    bool same_drive(const DriveIdentity&) const;                 // serial and designator agree; firmware may have changed
    std::string text() const;                                    // escaped, for messages
};

DriveIdentity identify(Host&, Drive&);                           // throws Failure where INQUIRY brings nothing

}
