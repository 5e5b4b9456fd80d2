// folders: scsi
#include "fuzz.h"
#include "sgprobe/scsi/capacity.h"

using namespace sgprobe::scsi;

FUZZ(data) {
    const auto ten = parse_capacity_10(data);
    if (data.size() < 8) demand(!ten.ok());
    demand(ten.value.block_bytes != sgprobe::Bytes{0});
    const auto sixteen = parse_capacity_16(data);
    if (data.size() >= 32 && sixteen.ok() && sixteen.value.blocks) {
        const auto back = parse_capacity_16(build_capacity_16(sixteen.value));
        demand(back.value.blocks == sixteen.value.blocks && back.value.block_bytes == sixteen.value.block_bytes);
    }
}
