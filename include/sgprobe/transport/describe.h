// A command and what came back, in words: for every message about a drive, and for -v. Nothing here needs escaping.
#pragma once
#include <string>

#include "sgprobe/transport/command.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe {

std::string describe(const scsi::Cdb&);         // "READ(10) of 128 blocks at 4096"; "MODE SENSE(10)"; "operation code c1h"
std::string describe(const Completion&);        // what came back: "CHECK CONDITION: Medium Error, 11h/00h (Unrecovered read error)"; "time-out after 60 s"
std::string raw(const Completion&);             // for -v: CDB, length, status and sense bytes in hexadecimal
ExitStatus exit_status(const Completion&);      // as sg3_utils would exit for it; good for GOOD and recovered errors

// "sim:x: cannot read the capacity: READ CAPACITY(10) came back with ...; advice". Advice may be empty.
Failure failure(const Completion&, const std::string& tried, const std::string& advice = {});

}
