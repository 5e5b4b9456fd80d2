// folders: scsi
#include "fuzz.h"
#include "sgprobe/scsi/sense.h"

using namespace sgprobe::scsi;

FUZZ(data) {
    const auto parsed = parse_sense(data);
    one_line(parsed.value);
    exit_status(parsed.value);
    if (data.empty()) demand(!parsed.ok());
    if (parsed.value.information) demand(parsed.value.valid);
    std::size_t held = 0;
    for (const auto& descriptor : parsed.value.descriptors) held += descriptor.bytes.size();
    demand(held <= data.size());
}
