// The terminal: whether it shows UTF-8, and the one line of progress on standard error, where that is a terminal.
#pragma once
#include <string>
#include <string_view>

#include "sgprobe/scsi/types.h"

namespace sgprobe::cli {

bool utf8_locale();                                        // by LC_ALL, LC_CTYPE, LANG
std::string progress_line(double fraction, Nanoseconds left, std::string_view what, unsigned columns, bool unicode);
void show_progress(double fraction, Nanoseconds left, std::string_view what);
void clear_progress();

}
