// Takes out of the data of a command what identifies one drive among its likes.
#pragma once
#include <span>

#include "sgprobe/scsi/types.h"

namespace sgprobe::scsi {

// Overwrites serial numbers, world wide names and what vendors keep to themselves, with X in text and zeros elsewhere; structure, vendor,
// product and revision stay. Data of other commands stay as they are. Any bytes will do, also cut short.
void anonymize(ByteView cdb, std::span<std::uint8_t> data);

}
