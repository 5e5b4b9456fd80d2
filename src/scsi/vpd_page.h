// What all VPD parsers begin with.
#pragma once
#include "sgprobe/scsi/inquiry.h"
#include "sgprobe/scsi/reader.h"

namespace sgprobe::scsi {

// The page cut to its own length, header included, once it is known to be the page that was asked for; else nothing.
Reader vpd_page(ByteView, std::uint8_t code, std::vector<std::string>& problems, std::vector<std::string>& notes);

template <class T>
Reader vpd_page(ByteView bytes, std::uint8_t code, Parsed<T>& out) {
    const Reader page = vpd_page(bytes, code, out.problems, out.notes);
    out.used = page.size();
    return page;
}

}
