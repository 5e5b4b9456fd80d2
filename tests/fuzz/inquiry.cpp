// folders: scsi
#include "fuzz.h"
#include "sgprobe/scsi/inquiry.h"

using namespace sgprobe::scsi;

FUZZ(data) {
    const auto parsed = parse_inquiry(data);
    if (data.size() < 36) demand(!parsed.value.revision && !parsed.ok());
    if (parsed.value.vendor) trimmed(*parsed.value.vendor);
    looks_like_inquiry(data);
}
