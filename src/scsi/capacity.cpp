#include "sgprobe/scsi/capacity.h"

#include <fmt/format.h>

#include "sgprobe/scsi/reader.h"

namespace sgprobe::scsi {
namespace {
void take_block_bytes(Parsed<Capacity>& out, std::optional<std::uint32_t> bytes) {
    if (bytes == 0u) out.problems.push_back("the block length is 0");
    else if (bytes) out.value.block_bytes = *bytes;
}
}

Parsed<Capacity> parse_capacity_10(ByteView bytes) {
    Parsed<Capacity> out;
    const Reader data = Reader(bytes).first(8);
    out.used = data.size();
    if (data.size() < 8) out.problems.push_back(fmt::format("READ CAPACITY(10) data is 8 bytes, {} arrived", bytes.size()));
    if (const auto last = data.u32(0)) {
        if (*last == 0xffffffff) {
            out.value.needs_16 = true;
            out.notes.push_back("the last address is FFFFFFFFh: more blocks than READ CAPACITY(10) can say, ask READ CAPACITY(16)");
        } else {
            out.value.blocks = Blocks{*last} + 1;
        }
    }
    take_block_bytes(out, data.u32(4));
    if (bytes.size() > 8) out.notes.push_back(fmt::format("{} bytes follow the 8 of READ CAPACITY(10)", bytes.size() - 8));
    return out;
}

Parsed<Capacity> parse_capacity_16(ByteView bytes) {
    Parsed<Capacity> out;
    const Reader data = Reader(bytes).first(32);
    Capacity& value = out.value;
    out.used = data.size();
    // SBC-2 devices return 12 bytes, and all later ones 32 (SBC-4 5.21.2).
    if (data.size() < 12) out.problems.push_back(fmt::format("READ CAPACITY(16) data is 32 bytes, {} arrived", bytes.size()));
    else if (data.size() < 32) out.notes.push_back(fmt::format("{} of 32 bytes of READ CAPACITY(16) data arrived", bytes.size()));
    if (const auto last = data.u64(0)) {
        if (*last == ~std::uint64_t{0}) out.problems.push_back("the last address is FFFFFFFFFFFFFFFFh: no capacity is given");
        else value.blocks = *last + 1;
    }
    take_block_bytes(out, data.u32(8));
    value.protection_enabled = data.flag(12, 0);
    if (value.protection_enabled) {
        const auto type = data.bits(12, 3, 3).value_or(0);
        if (type > 2) out.problems.push_back(fmt::format("P_TYPE {} is reserved", type));
        value.protection_type = static_cast<std::uint8_t>(type + 1);
    }
    value.physical_exponent = data.bits(13, 3, 4).value_or(0);
    value.lbpme = data.flag(14, 7);
    value.lbprz = data.flag(14, 6);
    if (const auto aligned = data.u16(14)) value.lowest_aligned = static_cast<std::uint16_t>(*aligned & 0x3fff);
    if (bytes.size() > 32) out.notes.push_back(fmt::format("{} bytes follow the 32 of READ CAPACITY(16)", bytes.size() - 32));
    return out;
}

ByteVector build_capacity_10(const Capacity& capacity) {
    ByteVector out(8);
    const Blocks blocks = capacity.blocks.value_or(0);
    const bool fits = !capacity.needs_16 && blocks - 1 < 0xffffffff;
    put(out, 0, 4, fits ? blocks - 1 : 0xffffffff);
    put(out, 4, 4, capacity.block_bytes.value_or(0));
    return out;
}

ByteVector build_capacity_16(const Capacity& capacity) {
    ByteVector out(32);
    put(out, 0, 8, capacity.blocks.value_or(0) - 1);
    put(out, 8, 4, capacity.block_bytes.value_or(0));
    if (capacity.protection_enabled && capacity.protection_type > 0)
        put(out, 12, 1, static_cast<std::uint64_t>((capacity.protection_type - 1) << 1 | 1));
    put(out, 13, 1, capacity.physical_exponent & 0xf);
    put(out, 14, 2, capacity.lowest_aligned.value_or(0) & 0x3fff);
    put_flag(out, 14, 7, capacity.lbpme);
    put_flag(out, 14, 6, capacity.lbprz);
    return out;
}

}
