// Bytes for tests, written as hexadecimal digits with blanks anywhere.
#pragma once
#include <cctype>
#include <string_view>

#include "sgprobe/scsi/types.h"

inline sgprobe::ByteVector from_hex(std::string_view text) {
    sgprobe::ByteVector out;
    int digits = 0;
    unsigned value = 0;
    for (const char c : text) {
        if (!std::isxdigit(static_cast<unsigned char>(c))) continue;
        value = value << 4 | static_cast<unsigned>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
        if (++digits == 2) {
            out.push_back(static_cast<std::uint8_t>(value));
            digits = 0;
            value = 0;
        }
    }
    return out;
}
