// folders: scsi
#include "fuzz.h"
#include "sgprobe/scsi/cdb.h"

using namespace sgprobe::scsi;

FUZZ(data) {
    const auto command = decode_read_write(data);
    if (!command) return;
    const auto cdb = build(*command);
    demand(cdb.has_value());
    const auto back = decode_read_write(cdb->view());
    demand(back && back->lba == command->lba && back->blocks == command->blocks && back->fua == command->fua);
}
