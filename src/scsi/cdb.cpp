#include "sgprobe/scsi/cdb.h"
