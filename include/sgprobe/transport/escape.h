// Makes a string from a drive, a model or a file safe to show: one line of printable ASCII that forges nothing.
#pragma once
#include <string>
#include <string_view>

#include "sgprobe/scsi/types.h"

namespace sgprobe {

// Control bytes, bytes past 7Eh, backslash, quotes and backtick become \n, \t, \r, \\ or \xNN; the rest stays.
// Past `greatest` input bytes it is cut, and "... (N bytes)" says so.
std::string escaped(std::string_view, std::size_t greatest = 4096);

std::string hex(ByteView, std::string_view separator = "");   // "2a00ff" or "2a 00 ff"

}
