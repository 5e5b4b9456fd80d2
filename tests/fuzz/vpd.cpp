// folders: scsi
#include "fuzz.h"
#include "sgprobe/scsi/identify.h"
#include "sgprobe/scsi/inquiry.h"

using namespace sgprobe::scsi;

FUZZ(data) {
    demand(parse_vpd_supported(data).value.size() <= data.size());
    demand(parse_vpd_serial(data).value.size() <= data.size());
    for (const auto& designator : parse_vpd_designators(data).value) designator.text();
    const auto limits = parse_vpd_block_limits(data);
    if (data.size() < 12) demand(!limits.value.max_transfer);   // a page that declares itself so short is no contradiction
    parse_vpd_block_characteristics(data);
    parse_vpd_provisioning(data);
    const auto ata = parse_vpd_ata_information(data);
    if (!ata.value.identify.empty()) parse_identify(ata.value.identify);
}
