// A table of text columns, and the quantities in it as people read them.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sgprobe/scsi/types.h"

namespace sgprobe::report {

class Table {
public:
    enum class Align : std::uint8_t { left, right };
    void column(std::string heading, Align align = Align::right);
    void row(std::vector<std::string> cells);        // already escaped; fewer cells than columns are filled up
    void rule(std::string text);                     // a line across the table
    std::string str(std::string_view indent = "  ") const;

private:
    struct Column { std::string heading; Align align; };
    struct Line { std::vector<std::string> cells; std::string rule; };
    std::vector<Column> columns_;
    std::vector<Line> lines_;
};

std::size_t columns_of(std::string_view utf8);       // on a terminal; everything but combining marks and wide letters
std::string bar(double value, double greatest, unsigned columns, bool unicode);
std::string binary_size(Bytes);                      // "256 KiB", "1 MiB", "256.5 KiB", "520 B"
std::string decimal_size(Bytes);                     // "147 GB", "188 MB"
std::string grouped(std::uint64_t);                  // "15,000"
std::string rate(double mb_s);                       // "96.4", "0.31", "1210"

}
