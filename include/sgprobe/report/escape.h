// The one place where strings that nobody vouches for (from a drive, a model, a file, a command line) are made fit to print. Each
// result holds no control byte, nothing that ends a quotation, and nothing that its reader would execute.
#pragma once
#include <string>
#include <string_view>

namespace sgprobe::report {

std::string for_terminal(std::string_view);   // control bytes, newlines, invalid UTF-8 and direction overrides as \xNN or \u{NNNN}
std::string for_csv(std::string_view);        // one field: for_terminal, quoted where needed, never a spreadsheet's formula
std::string for_udev(std::string_view);       // inside "" of a udev match: what is special there becomes ?, which matches any one
std::string for_gnuplot(std::string_view);    // inside '' of a gnuplot script: plain text without quotes, backticks and backslashes
std::string for_shell(std::string_view);      // one word of a command that a person copies: in '' where needed
std::string for_openmetrics(std::string_view);   // inside "" of a label's value

}
