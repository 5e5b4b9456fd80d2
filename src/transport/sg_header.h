// A command as the sg driver takes it, and its answer as the driver gives it.
#pragma once
#include <scsi/sg.h>

#include <array>

#include "sgprobe/transport/command.h"

namespace sgprobe {

// The sense buffer must outlive the command.
void fill_header(sg_io_hdr&, Command&, Nanoseconds timeout, std::array<std::uint8_t, 252>& sense);
void decode_header(const sg_io_hdr&, Completion&);     // outcome, sense, resid; command.length must be right
Outcome outcome_of_refusal(int os_errno);              // what write() or SG_IO failed with

}
