// Numbers and units in posted text: "96,1 MB/s", "64 kB", "1,024 KiB", "16M".
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sgprobe::report {

enum class UnitKind : std::uint8_t { none, size, rate, other };

struct Unit {
    UnitKind kind = UnitKind::none;
    double factor = 1;          // bytes, or bytes a second; where it is open: the reading that the rule takes
    bool open = false;          // kB, MB: may stand for powers of two or of ten
    std::string text;           // as written, lower case
};

struct PostedNumber {
    double value = 0;
    double resolution = 1;      // one unit of the last digit
    bool grouped = false;       // three digits after one mark ("1,024", "1.024"): the mark may part thousands
    Unit unit;                  // what follows, at once or after a blank
    std::size_t length = 0;     // characters read, unit included
};

// The number at the front of the text, decimal comma or point. Nothing where there is none, or where it has no finite value.
std::optional<PostedNumber> read_number(std::string_view);

Unit unit_of(std::string_view word);   // kind none where it is no unit

}
