// Mode parameter header, block descriptors and mode pages as bytes, SPC-5 7.5. What fields a page has: pages/.
#pragma once
#include <optional>

#include "sgprobe/scsi/parsed.h"
#include "sgprobe/scsi/types.h"

namespace sgprobe::scsi {

struct ModeBlockDescriptor {
    std::optional<Blocks> blocks{};                 // empty where 0: not reported
    Bytes block_bytes = 0;
    std::uint8_t density = 0;
};

struct ModePage {
    std::uint8_t code = 0, subpage = 0;
    bool ps = false, spf = false;
    std::size_t declared_length = 0;              // of the whole page, header included, as it says itself
    bool truncated = false;                       // fewer bytes arrived
    ByteVector bytes{};                             // what arrived of it, header included
};

struct ModeData {
    std::size_t header_bytes = 4;                 // 4 for the 6-byte command, 8 for the 10-byte one
    std::optional<std::size_t> mode_data_length{};  // as sent
    std::optional<std::size_t> descriptor_length{};   // as sent
    std::uint8_t medium_type = 0, device_specific = 0;
    bool write_protected = false, dpofua = false, longlba = false;
    std::vector<ModeBlockDescriptor> descriptors{};
    ByteVector descriptor_bytes{};                  // as sent
    std::vector<ModePage> pages{};
    const ModePage* find(std::uint8_t code, std::uint8_t subpage = 0) const;
};
Parsed<ModeData> parse_mode_6(ByteView);
Parsed<ModeData> parse_mode_10(ByteView);

// A MODE SELECT parameter list: MODE DATA LENGTH is reserved there (SPC-5 6.14), so that only the list's end ends it.
Parsed<ModeData> parse_mode_select(ByteView, bool ten_byte);
// Pages as bytes without any header, as sdparm --hex and many a post show them.
Parsed<ModeData> parse_bare_mode_pages(ByteView);

}
