#include "sgprobe/transport/failure.h"

#include <scsi/sg_lib.h>

#include <system_error>

namespace sgprobe {

Failure Failure::os(int os_errno, const std::string& what) {
    const int status = os_errno > 0 ? sg_convert_errno(os_errno) : static_cast<int>(ExitStatus::other);
    return Failure(static_cast<ExitStatus>(status), what + ": " + std::system_category().message(os_errno));
}

}
