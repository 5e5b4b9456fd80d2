// One line of posted text taken apart, for hex_text.cpp alone.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sgprobe/scsi/types.h"

namespace sgprobe::scsi {

struct HexToken {
    std::string digits;            // without 0x, h and separators
    std::size_t column = 0, end = 0;
    bool prefixed = false;         // had 0x
};

struct HexLine {
    std::string label;             // words before the bytes, or the whole line where it holds none
    std::vector<HexToken> tokens;  // the bytes or words, and before them perhaps an offset
    std::optional<std::string> offset;   // digits that are surely an offset: "0010:", "000-015:", " 10     "
    bool repeat = false;           // "*": the line before, again
    bool blank = false;
    bool hex() const { return !tokens.empty() || offset; }
};

HexLine read_hex_line(std::string_view line);
ByteVector token_bytes(const std::vector<HexToken>&, std::size_t from);
bool word_token(const HexToken&);

}
