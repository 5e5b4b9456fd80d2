// Quantities and byte ranges that every folder uses. KiB and MiB are powers of two; MB/s are powers of ten.
#pragma once
#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

namespace sgprobe {

using Bytes = std::uint64_t;                    // a count of bytes
using Blocks = std::uint64_t;                   // a count of logical blocks
using Lba = std::uint64_t;                      // the address of a logical block
using Nanoseconds = std::chrono::nanoseconds;   // a duration, or a point on a Host's clock
using ByteView = std::span<const std::uint8_t>;
using ByteVector = std::vector<std::uint8_t>;

}
