// Headings of posted tables: which column is the request's size, the depth, a rate, the drive's name.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sgprobe/report/posted_number.h"

namespace sgprobe::report {

enum class ColumnRole { ignored, vendor, product, revision, serial, size, depth, rate, text };
struct PostedColumn {
    ColumnRole role = ColumnRole::text;
    std::string name;
    std::string pattern;        // of a rate; empty: the row's own, or a sequential read
    Unit unit;                  // of a size or a rate, from its heading
};

PostedColumn column_of(std::string_view heading);

// Fields between any of the separators; with keep_empty as CSV has them, quotes taken off.
std::vector<std::string> split_fields(std::string_view line, std::string_view separators, bool keep_empty);
std::string lower_case(std::string_view);

}
