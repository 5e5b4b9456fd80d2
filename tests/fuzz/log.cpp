// folders: scsi
#include "fuzz.h"
#include "sgprobe/scsi/log.h"

using namespace sgprobe::scsi;

FUZZ(data) {
    const auto parsed = parse_log_page(data);
    std::size_t held = 0;
    for (const auto& parameter : parsed.value.parameters) held += 4 + parameter.value.size();
    demand(held <= data.size());
    log_temperature(parsed.value);
}
