#include "sgprobe/transport/escape.h"

#include <fmt/format.h>

#include <iterator>

namespace sgprobe {

std::string escaped(std::string_view text, std::size_t greatest) {
    std::string out;
    for (const char c : text.substr(0, greatest)) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\n') out += "\\n";
        else if (c == '\t') out += "\\t";
        else if (c == '\r') out += "\\r";
        else if (c == '\\') out += "\\\\";
        else if (byte < 0x20 || byte > 0x7e || c == '"' || c == '\'' || c == '`') fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
        else out += c;
    }
    if (text.size() > greatest) fmt::format_to(std::back_inserter(out), "... ({} bytes)", text.size());
    return out;
}

std::string hex(ByteView bytes, std::string_view separator) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string out;
    out.reserve(bytes.size() * (2 + separator.size()));
    for (const std::uint8_t byte : bytes) {
        if (!out.empty()) out += separator;
        out += digits[byte >> 4];
        out += digits[byte & 15];
    }
    return out;
}

}
