// folders: scsi
#include <string_view>

#include "fuzz.h"
#include "sgprobe/scsi/hex_text.h"

using namespace sgprobe::scsi;

FUZZ(data) {
    const std::string_view text(reinterpret_cast<const char*>(data.data()), data.size());
    for (const auto& section : read_hex_text(text)) demand(!section.bytes.empty() && section.bytes.size() <= (1u << 20) + 4096);
}
