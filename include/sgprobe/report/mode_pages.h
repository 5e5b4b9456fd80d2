// Mode pages and settings as strings and values. A formatter returns text and never prints; what comes from the drive is escaped.
#pragma once
#include <string>
#include <vector>

#include "sgprobe/measure/value.h"
#include "sgprobe/pages/mode_access.h"
#include "sgprobe/pages/transaction.h"

namespace sgprobe::report {

// All four page controls side by side; `whole` also shows the fields that are 0 everywhere and cannot be changed.
std::string text(const pages::PageValues&, bool whole);
measure::Value to_value(const pages::PageValues&);
measure::Value to_value(const pages::Change&);
measure::Value to_value(const pages::RestoreReport&);
std::string setting_line(const pages::SettingInfo&);            // "WCE           1  [cha: y, def: 1, sav: 1]", as sdparm writes it
measure::Value to_value(const pages::SettingInfo&);
std::string rows_text(const pages::PageFormat&);                // the rows of the catalogue: KEY byte:bit:width name
measure::Value identity_value(const pages::DriveIdentity&, const std::string& path, bool anonymous);

}
