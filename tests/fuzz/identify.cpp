// folders: scsi
#include "fuzz.h"
#include "sgprobe/scsi/identify.h"

using namespace sgprobe::scsi;

FUZZ(data) {
    const auto parsed = parse_identify(data);
    if (data.size() < 512) demand(!parsed.ok() && !parsed.value.checksum_good);
    demand(parsed.value.logical_sector_bytes >= 512 && parsed.value.physical_sector_bytes >= 512);
    if (const auto ordered = identify_in_byte_order(data)) demand(ordered->size() == data.size());
}
