// Lines of words parted by one blank each, and the values in them: what the pipe protocol and traces have in common.
#pragma once
#include <array>
#include <charconv>
#include <limits>
#include <string_view>

#include "sgprobe/transport/pipe_protocol.h"

namespace sgprobe {

class LineWords {
public:
    explicit LineWords(std::string_view line) {
        for (;;) {
            const std::size_t blank = line.find(' ');
            if (count_ < words_.size()) words_[count_] = line.substr(0, blank);
            ++count_;
            if (blank == line.npos) return;
            line.remove_prefix(blank + 1);
        }
    }
    std::size_t count() const { return count_; }                  // also of those past the greatest number that a line in form has
    std::string_view operator[](std::size_t i) const { return words_[i]; }
private:
    std::array<std::string_view, 10> words_;
    std::size_t count_ = 0;
};

inline bool read_number(std::string_view text, std::uint64_t& value, std::uint64_t greatest = std::numeric_limits<std::uint64_t>::max()) {
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    return !text.empty() && error == std::errc() && stop == end && value <= greatest;
}

inline bool read_time(std::string_view text, Nanoseconds& value) {
    std::uint64_t ns = 0;
    if (!read_number(text, ns, std::numeric_limits<std::int64_t>::max())) return false;
    value = Nanoseconds(static_cast<std::int64_t>(ns));
    return true;
}

// A Cdb or SenseBytes: 1 byte and more, as many as it holds. For sense `-` is none.
template <class Counted>
bool read_hex(std::string_view text, Counted& into) {
    if (text == "-" && std::is_same_v<Counted, SenseBytes>) return true;
    if (text.empty() || text.size() % 2 != 0 || text.size() / 2 > into.bytes.size()) return false;
    into.size = static_cast<std::uint8_t>(text.size() / 2);
    return decode_hex(text, std::span(into.bytes).first(into.size));
}

}
