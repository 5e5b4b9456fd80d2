// folders: scsi
#include "fuzz.h"
#include "sgprobe/scsi/mode.h"

using namespace sgprobe::scsi;

FUZZ(data) {
    for (const auto& parsed : {parse_mode_6(data), parse_mode_10(data)}) {
        std::size_t held = parsed.value.header_bytes + parsed.value.descriptor_bytes.size();
        for (const auto& page : parsed.value.pages) {
            held += page.bytes.size();
            demand(page.truncated || page.bytes.size() == page.declared_length);
        }
        demand(parsed.value.pages.empty() || held <= data.size());
    }
}
