// Vital product data pages of block devices, SBC-4 6.6.
#include <fmt/format.h>

#include "vpd_page.h"

namespace sgprobe::scsi {
namespace {
template <class T>
std::optional<T> reported(std::optional<T> value) { return value == T{0} ? std::nullopt : value; }
std::optional<Blocks> blocks(const Reader& data, std::size_t at, std::size_t width = 4) { return reported(data.big_endian(at, width)); }

// Bridges fill these fields with FFFFh, or with what is no multiple of the granularity: no drive was ever tuned to that.
void judge_lengths(Parsed<BlockLimits>& out) {
    BlockLimits& value = out.value;
    const auto odd = [&](std::optional<Blocks> length, const char* what) {
        if (!length) return;
        if (*length == 0xffff || *length == 0xffffffff) {
            out.notes.push_back(fmt::format("{} {:X}h is all ones: a placeholder, not a measured value", what, *length));
        } else if (value.optimal_granularity && *length % *value.optimal_granularity != 0) {
            out.notes.push_back(fmt::format("{} {} is no multiple of the granularity {}: a placeholder", what, *length, *value.optimal_granularity));
        } else {
            return;
        }
        value.transfer_is_placeholder = true;
    };
    odd(value.optimal_transfer, "OPTIMAL TRANSFER LENGTH");
    if (value.max_transfer == Blocks{0xffffffff}) out.notes.push_back("MAXIMUM TRANSFER LENGTH is all ones: no limit is reported");
    else if (value.transfer_is_placeholder) odd(value.max_transfer, "MAXIMUM TRANSFER LENGTH");
    odd(value.max_prefetch, "MAXIMUM PREFETCH LENGTH");
    if (value.max_transfer && value.optimal_transfer && *value.optimal_transfer > *value.max_transfer)
        out.problems.push_back(fmt::format("OPTIMAL TRANSFER LENGTH {} is greater than MAXIMUM TRANSFER LENGTH {}", *value.optimal_transfer, *value.max_transfer));
}
}

Parsed<BlockLimits> parse_vpd_block_limits(ByteView bytes) {
    Parsed<BlockLimits> out;
    BlockLimits& value = out.value;
    const Reader data = vpd_page(bytes, 0xb0, out);
    value.wsnz = data.flag(4, 0);
    value.max_compare_and_write = blocks(data, 5, 1);
    value.optimal_granularity = blocks(data, 6, 2);
    value.max_transfer = blocks(data, 8);
    value.optimal_transfer = blocks(data, 12);
    value.max_prefetch = blocks(data, 16);
    value.max_unmap_blocks = blocks(data, 20);
    value.max_unmap_descriptors = reported(data.u32(24));
    value.unmap_granularity = blocks(data, 28);
    if (data.flag(32, 7) && data.u32(32)) value.unmap_alignment = *data.u32(32) & 0x7fffffff;   // UGAVALID
    value.max_write_same = blocks(data, 36, 8);
    value.max_atomic = blocks(data, 44);
    value.atomic_alignment = blocks(data, 48);
    value.atomic_granularity = blocks(data, 52);
    value.max_atomic_with_boundary = blocks(data, 56);
    value.max_atomic_boundary = blocks(data, 60);
    const ByteView unknown = data.rest(64);
    value.unknown.assign(unknown.begin(), unknown.end());
    if (!unknown.empty()) out.notes.push_back(fmt::format("the page goes on for {} bytes past the fields that SBC-4 gives it", unknown.size()));
    if (data.size() > 4 && !value.max_transfer && data.has(8, 4)) out.notes.push_back("MAXIMUM TRANSFER LENGTH is 0: no limit is reported");
    if (data.has(12, 4) && !value.optimal_transfer) out.notes.push_back("OPTIMAL TRANSFER LENGTH is 0: not reported");
    judge_lengths(out);
    return out;
}

Parsed<BlockCharacteristics> parse_vpd_block_characteristics(ByteView bytes) {
    Parsed<BlockCharacteristics> out;
    const Reader data = vpd_page(bytes, 0xb1, out);
    const auto rate = data.u16(4);
    if (rate == 1 || (rate && *rate > 0x400 && *rate < 0xffff)) out.value.rotation_rpm = rate;
    else if (rate == 0) out.notes.push_back("the rotation rate is 0: not reported");
    else if (rate) out.notes.push_back(fmt::format("rotation rate {:04X}h is reserved", *rate));
    out.value.product_type = data.u8(6);
    out.value.form_factor = reported(data.bits(7, 3, 4));
    out.value.zoned = data.bits(8, 5, 2);
    out.value.bocs = data.flag(8, 2);
    out.value.fuab = data.flag(8, 1);
    out.value.vbuls = data.flag(8, 0);
    return out;
}

Parsed<Provisioning> parse_vpd_provisioning(ByteView bytes) {
    Parsed<Provisioning> out;
    const Reader data = vpd_page(bytes, 0xb2, out);
    out.value.threshold_exponent = data.u8(4).value_or(0);
    out.value.lbpu = data.flag(5, 7);
    out.value.lbpws = data.flag(5, 6);
    out.value.lbpws10 = data.flag(5, 5);
    out.value.lbprz = data.bits(5, 4, 3).value_or(0);
    out.value.anc_sup = data.flag(5, 1);
    out.value.dp = data.flag(5, 0);
    out.value.type = data.bits(6, 2, 3).value_or(0);
    out.value.minimum_percentage = reported(data.bits(6, 7, 5));
    out.value.threshold_percentage = reported(data.u8(7));
    return out;
}

}
