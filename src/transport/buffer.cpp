#include <cstdlib>
#include <cstring>
#include <new>

#include "sgprobe/transport/command.h"

namespace sgprobe {

Buffer Buffer::allocate(Bytes size, BufferKind kind) {
    constexpr Bytes page_bytes = 4096;
    if (size == 0) return {};
    const Bytes rounded = (size + page_bytes - 1) / page_bytes * page_bytes;
    void* memory = rounded < size ? nullptr : std::aligned_alloc(page_bytes, rounded);
    if (!memory) throw std::bad_alloc();
    std::memset(memory, 0, rounded);   // what a drive does not fill must not be another command's secret
    return Buffer(static_cast<std::uint8_t*>(memory), size, kind,
                  [](std::uint8_t* data, Bytes) { std::free(data); });
}

SenseBytes::SenseBytes(ByteView from) : size(static_cast<std::uint8_t>(std::min(from.size(), sizeof bytes))) {
    if (size > 0) std::memcpy(bytes.data(), from.data(), size);
}

SenseBytes& SenseBytes::operator=(const SenseBytes& other) {
    size = other.size;
    if (size > 0) std::memmove(bytes.data(), other.bytes.data(), size);
    return *this;
}

}
