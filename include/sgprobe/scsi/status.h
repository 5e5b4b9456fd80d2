// SCSI status bytes, SAM-5 5.3.1.
#pragma once
#include <cstdint>
#include <string_view>

namespace sgprobe::scsi {

enum class Status : std::uint8_t {
    good = 0x00, check_condition = 0x02, condition_met = 0x04, busy = 0x08, reservation_conflict = 0x18,
    task_set_full = 0x28, aca_active = 0x30, task_aborted = 0x40,
};

std::string_view name(Status);   // "CHECK CONDITION"; "reserved status" for a value the standard does not define

}
