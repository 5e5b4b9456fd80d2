// How one kind of question is asked and its answer checked.
#pragma once
#include <functional>

#include "sgprobe/scsi/reader.h"
#include "sgprobe/transport/inquire.h"

namespace sgprobe {

struct Inquirer::Question {
    std::string kind;                                              // "VPD page B0h": names it in texts
    std::function<scsi::Cdb(Bytes allocation)> cdb;
    Bytes first = 252, header = 4, most = 65535;                   // allocation lengths: the first one tried, the least, the greatest
    std::function<std::optional<std::size_t>(ByteView)> declared;  // the reply's own length, from its header
    std::function<void(ByteView, Reply&)> check;                   // adds problems where the content is wrong
};

}
