#include "sgprobe/scsi/cdb.h"

#include <doctest/doctest.h>

TEST_CASE("a CDB starts empty") {
    CHECK(sgprobe::scsi::Cdb{}.view().empty());
}
