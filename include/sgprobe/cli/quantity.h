// Numbers, sizes, times and lists as users write them. All throw Failure (syntax) with what was written and what would do.
#pragma once
#include <string_view>
#include <vector>

#include "sgprobe/scsi/types.h"

namespace sgprobe::cli {

// As sg3_utils takes them: 512, 0x200, 200h, 2x512, and multipliers c=1 w=2 b=512 k=1024 K kB=1000 M MB G GB T TB, KiB, MiB...
std::uint64_t parse_number(std::string_view);
std::int64_t parse_signed(std::string_view);                         // the same, or with a minus before it
std::vector<std::uint64_t> parse_numbers(std::string_view);          // "A,B,C", "FIRST:LAST:STEP", "FIRST-LAST", and mixtures; in order, none twice
Nanoseconds parse_time(std::string_view);                            // "60" or "60s", "500ms", "20us", "2m", "1h30m", "1d"
double parse_fraction(std::string_view);                             // "0.1" or "10%"

}
