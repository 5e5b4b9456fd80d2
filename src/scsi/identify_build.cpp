#include <numeric>

#include "sgprobe/scsi/identify.h"
#include "sgprobe/scsi/reader.h"

namespace sgprobe::scsi {
namespace {
void put_word(ByteVector& data, std::size_t word, std::uint64_t value, std::size_t words = 1) {
    for (std::size_t i = 0; i < 2 * words; ++i) put(data, 2 * word + i, 1, value >> (8 * i) & 0xff);
}
void put_swapped_text(ByteVector& data, std::size_t word, std::size_t words, std::string_view text) {
    ByteVector straight(2 * words);
    put_text(straight, 0, straight.size(), text);
    for (std::size_t i = 0; i < words; ++i) put_word(data, word + i, *Reader(straight).u16(2 * i));
}
}

ByteVector build_identify(const IdentifyFacts& facts) {
    ByteVector data(512);
    const std::uint64_t cache_bits = std::uint64_t{facts.write_cache} << 5 | std::uint64_t{facts.look_ahead} << 6;
    put_word(data, 0, 0x0040);
    put_swapped_text(data, 10, 10, facts.serial);
    put_swapped_text(data, 23, 4, facts.firmware);
    put_swapped_text(data, 27, 20, facts.model);
    put_word(data, 49, 0x0f00);                                              // LBA, DMA
    put_word(data, 60, std::min<Blocks>(facts.sectors, 0x0fffffff), 2);
    if (facts.queue_depth > 1) put_word(data, 75, facts.queue_depth - 1);
    put_word(data, 76, facts.queue_depth > 1 ? 0x0106 : 0x0006);             // 1.5 and 3 Gb/s, NCQ
    put_word(data, 80, 0x01f0);                                              // to ATA8-ACS
    put_word(data, 82, 0x0061);                                              // SMART, write cache, look-ahead
    put_word(data, 83, 0x7400);                                              // valid, FLUSH CACHE (EXT), 48-bit
    put_word(data, 84, 0x4140);                                              // valid, WWN, FUA
    put_word(data, 85, 0x0001 | cache_bits);
    put_word(data, 86, 0x3400);
    put_word(data, 87, facts.wwn != 0 ? 0x4140 : 0x4040);
    put_word(data, 100, facts.sectors, 4);
    if (facts.logical_per_physical_exponent > 0) put_word(data, 106, 0x6000U | (facts.logical_per_physical_exponent & 0xf));
    for (unsigned i = 0; i < 4; ++i) put_word(data, 108 + i, facts.wwn >> (48 - 16 * i) & 0xffff);
    if (facts.logical_per_physical_exponent > 0) put_word(data, 209, 0x4000);
    put_word(data, 217, facts.rotation_rpm);
    put_word(data, 222, 0x103f);                                             // serial transport
    put(data, 510, 1, 0xa5);
    put(data, 511, 1, (0U - std::accumulate(data.begin(), data.end(), 0U)) & 0xff);
    return data;
}

}
