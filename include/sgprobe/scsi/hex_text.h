// Bytes out of text as people post it: hex dumps of any tool, with or without offsets and ASCII gutters, as bytes or 16-bit
// words, in quoted mail, in kernel logs, in excerpts of smartctl and sg3_utils.
//
// A text may hold several dumps; each is a section. What is no dump is passed over. Nothing is invented: a hole in the offsets
// ends the section and is named as a problem.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sgprobe/scsi/types.h"

namespace sgprobe::scsi {

struct HexSection {
    enum class Role : std::uint8_t { data, cdb, sense };
    Role role = Role::data;                  // as the words before it say
    std::string label;                       // those words, as they stood: untrusted text
    ByteVector bytes{};
    bool words = false;                      // printed as 16-bit words: which byte comes first is not known
    ByteVector cdb{};                        // of the command whose data or sense this is, where the text shows it
    std::vector<std::string> problems{};
};

std::vector<HexSection> read_hex_text(std::string_view);
ByteVector swapped_words(ByteView);          // the two bytes of every 16-bit word exchanged

}
