#include "sgprobe/scsi/status.h"

namespace sgprobe::scsi {

std::string_view name(Status status) {
    switch (status) {
    case Status::good: return "GOOD";
    case Status::check_condition: return "CHECK CONDITION";
    case Status::condition_met: return "CONDITION MET";
    case Status::busy: return "BUSY";
    case Status::reservation_conflict: return "RESERVATION CONFLICT";
    case Status::task_set_full: return "TASK SET FULL";
    case Status::aca_active: return "ACA ACTIVE";
    case Status::task_aborted: return "TASK ABORTED";
    }
    return "reserved status";
}

}
