// Bounded access to bytes that nobody vouches for. All parsers read through this; no other code indexes a buffer.
// A field that does not lie wholly inside what arrived is empty.
#pragma once
#include <algorithm>
#include <concepts>
#include <optional>
#include <string>

#include "sgprobe/scsi/types.h"

namespace sgprobe::scsi {

class Reader {
public:
    Reader() = default;
    explicit Reader(ByteView bytes) : bytes_(bytes) {}

    std::size_t size() const { return bytes_.size(); }
    bool has(std::size_t at, std::size_t count) const { return at <= size() && count <= size() - at; }
    ByteView all() const { return bytes_; }

    std::optional<std::uint8_t> u8(std::size_t at) const { return narrow<std::uint8_t>(big_endian(at, 1)); }
    std::optional<std::uint16_t> u16(std::size_t at) const { return narrow<std::uint16_t>(big_endian(at, 2)); }
    std::optional<std::uint32_t> u24(std::size_t at) const { return narrow<std::uint32_t>(big_endian(at, 3)); }
    std::optional<std::uint32_t> u32(std::size_t at) const { return narrow<std::uint32_t>(big_endian(at, 4)); }
    std::optional<std::uint64_t> u64(std::size_t at) const { return big_endian(at, 8); }
    std::optional<std::uint64_t> big_endian(std::size_t at, std::size_t width) const {
        if (width > 8 || !has(at, width)) return {};
        std::uint64_t value = 0;
        for (const std::uint8_t byte : bytes_.subspan(at, width)) value = value << 8 | byte;
        return value;
    }
    std::optional<std::uint64_t> little_endian(std::size_t at, std::size_t width) const {
        if (width > 8 || !has(at, width)) return {};
        std::uint64_t value = 0;
        for (std::size_t i = width; i-- > 0;) value = value << 8 | bytes_[at + i];
        return value;
    }
    // A field of `width` bits whose most significant bit is `bit` of byte `at`, within that byte.
    std::optional<std::uint8_t> bits(std::size_t at, unsigned bit, unsigned width) const {
        if (!has(at, 1) || bit > 7 || width == 0 || width > bit + 1) return {};
        return static_cast<std::uint8_t>(bytes_[at] >> (bit + 1 - width) & ((1U << width) - 1));
    }
    bool flag(std::size_t at, unsigned bit) const { return bits(at, bit, 1) == 1; }   // false too where it did not arrive

    ByteView some(std::size_t at, std::size_t count) const {      // as much of the range as there is
        const std::size_t from = std::min(at, size());
        return bytes_.subspan(from, std::min(count, size() - from));
    }
    ByteView rest(std::size_t at) const { return some(at, size()); }
    Reader first(std::size_t count) const { return Reader(some(0, count)); }
    Reader part(std::size_t at, std::size_t count) const { return Reader(some(at, count)); }
    std::optional<std::string> text(std::size_t at, std::size_t count) const {   // nothing where it is cut short
        if (!has(at, count)) return {};
        const ByteView range = some(at, count);
        return std::string(range.begin(), range.end());
    }

private:
    template <std::unsigned_integral T>
    static std::optional<T> narrow(std::optional<std::uint64_t> value) {
        if (!value) return {};
        return static_cast<T>(*value);
    }
    ByteView bytes_;
};

// Writes a big-endian field; bytes that lie outside are left out.
inline void put(std::span<std::uint8_t> to, std::size_t at, std::size_t width, std::uint64_t value) {
    for (std::size_t i = 0; i < width; ++i) {
        const std::size_t place = at + width - 1 - i;
        if (place < to.size()) to[place] = static_cast<std::uint8_t>(i < 8 ? value >> (8 * i) : 0);
    }
}
inline void put_flag(std::span<std::uint8_t> to, std::size_t at, unsigned bit, bool value) {
    if (at < to.size() && value) to[at] = static_cast<std::uint8_t>(to[at] | 1U << bit);
}
// Text padded with blanks, as INQUIRY and IDENTIFY pad it.
inline void put_text(std::span<std::uint8_t> to, std::size_t at, std::size_t width, std::string_view text) {
    for (std::size_t i = 0; i < width && at + i < to.size(); ++i)
        to[at + i] = static_cast<std::uint8_t>(i < text.size() ? text[i] : ' ');
}

}
