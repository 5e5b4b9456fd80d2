#include "sgprobe/scsi/identify.h"

#include <fmt/format.h>

#include <numeric>

#include "sgprobe/scsi/reader.h"

namespace sgprobe::scsi {
namespace {
constexpr std::size_t identify_bytes = 512;

class Words {
public:
    explicit Words(ByteView bytes) : data_(bytes) {}
    std::optional<std::uint16_t> operator[](std::size_t word) const {
        const auto value = data_.little_endian(2 * word, 2);
        if (!value) return {};
        return static_cast<std::uint16_t>(*value);
    }
    std::uint16_t raw(std::size_t word) const { return (*this)[word].value_or(0); }
    bool bit(std::size_t word, unsigned bit_) const { return (raw(word) >> bit_ & 1) != 0; }
    bool valid01(std::size_t word) const { return raw(word) >> 14 == 1; }      // bits 15:14 are 01b
    bool says(std::size_t word) const { return raw(word) != 0 && raw(word) != 0xffff; }
    std::optional<std::uint64_t> number(std::size_t word, std::size_t count) const { return data_.little_endian(2 * word, 2 * count); }
    std::optional<std::string> text(std::size_t word, std::size_t count) const {   // the first character is the upper byte
        std::string out;
        for (std::size_t i = word; i < word + count; ++i) {
            const auto value = (*this)[i];
            if (!value) return {};
            out += static_cast<char>(*value >> 8);
            out += static_cast<char>(*value & 0xff);
        }
        return out;
    }
    std::size_t size() const { return data_.size(); }
private:
    Reader data_;
};

std::optional<Feature> feature(const Words& w, std::size_t supported, std::size_t enabled, unsigned bit, bool valid) {
    if (!valid) return {};
    return Feature{w.bit(supported, bit), w.bit(enabled, bit)};
}

void take_features(const Words& w, Identify& out) {
    const bool supports = w.valid01(83), enables = supports && w.valid01(87);
    out.smart = feature(w, 82, 85, 0, enables);
    out.security = feature(w, 82, 85, 1, enables);
    out.write_cache = feature(w, 82, 85, 5, enables);
    out.look_ahead = feature(w, 82, 85, 6, enables);
    out.apm = feature(w, 83, 86, 3, enables);
    out.aam = feature(w, 83, 86, 9, enables);
    out.lba48 = feature(w, 83, 86, 10, enables);
    out.fua = feature(w, 84, 87, 6, enables && w.valid01(84));
    if (out.apm && out.apm->enabled && w[91]) out.apm_level = static_cast<std::uint8_t>(w.raw(91) & 0xff);
    if (out.aam && out.aam->enabled && w[94]) out.aam_level = static_cast<std::uint8_t>(w.raw(94) & 0xff);
    if (enables && w.bit(87, 8)) {
        std::uint64_t wwn = 0;
        for (std::size_t i = 108; i < 112; ++i) wwn = wwn << 16 | w.raw(i);
        if (w[111] && wwn != 0) out.wwn = wwn;
    }
}

void take_serial_ata(const Words& w, Parsed<Identify>& out) {
    Identify& value = out.value;
    if (w.says(76) && !w.bit(76, 0)) {
        value.ncq = w.bit(76, 8);
        value.sata_generations = w.raw(76) >> 1 & 7;
        if (const unsigned now = w.raw(77) >> 1 & 7; w.says(77) && now != 0) value.sata_current = now;
    }
    const bool tcq = w.valid01(83) && w.bit(83, 1);
    if (!w[75]) return;
    if (value.ncq == true || tcq) value.queue_depth = (w.raw(75) & 0x1f) + 1U;
    else if ((w.raw(75) & 0x1f) != 0)
        out.notes.push_back(fmt::format("word 75 holds {:04X}h, but neither NCQ nor TCQ is supported: it is no queue depth", w.raw(75)));
}

void take_geometry(const Words& w, Parsed<Identify>& out) {
    Identify& value = out.value;
    if (w.valid01(106)) {
        if (w.bit(106, 12)) {
            const auto words = w.number(117, 2);
            if (words && *words >= 256) value.logical_sector_bytes = *words * 2;
            else out.problems.push_back("word 106 says that words 117-118 hold the logical sector size, and they hold none");
        }
        value.physical_sector_bytes = value.logical_sector_bytes << (w.bit(106, 13) ? w.raw(106) & 0xf : 0);
    } else if (w.says(106)) {
        out.notes.push_back(fmt::format("word 106 holds {:04X}h without its validity bits: 512-byte sectors are assumed", w.raw(106)));
    }
    if (w.valid01(209)) value.alignment_offset = static_cast<std::uint16_t>(w.raw(209) & 0x3fff);
    if (const auto n = w.number(60, 2); n && *n != 0) value.sectors_28 = n;
    if (w.valid01(83) && w.bit(83, 10))
        if (const auto n = w.number(100, 4); n && *n != 0) value.sectors_48 = n;
    if (const auto n = w.number(230, 4); w.says(69) && w.bit(69, 3) && n && *n != 0 && *n != ~std::uint64_t{0}) value.sectors = n;
    else value.sectors = value.sectors_48 ? value.sectors_48 : value.sectors_28;
    constexpr Blocks saturated = 0x0fffffff;
    if (value.sectors_28 == saturated && !value.sectors_48) out.notes.push_back("words 60-61 are saturated at 0FFFFFFFh and no 48-bit count is given");
    if (value.sectors_28 && value.sectors_48 && *value.sectors_28 < saturated && *value.sectors_28 != *value.sectors_48 && *value.sectors_48 < saturated)
        out.problems.push_back(fmt::format("words 60-61 count {} sectors and words 100-103 {}", *value.sectors_28, *value.sectors_48));
}

void take_medium(const Words& w, Parsed<Identify>& out) {
    Identify& value = out.value;
    if (const std::uint16_t rate = w.raw(217); rate == 1 || (rate > 0x400 && rate < 0xffff)) value.rotation_rpm = rate;
    else if (w.says(217)) out.notes.push_back(fmt::format("word 217 holds {:04X}h, which is no rotation rate", rate));
    if (const auto form = w.raw(168) & 0xf; w.says(168) && form != 0) value.form_factor = static_cast<std::uint8_t>(form);
    if (w[169]) value.trim = w.says(169) && w.bit(169, 0);
    if (value.trim == true && w.says(69)) {
        value.deterministic_after_trim = w.bit(69, 14);
        value.zero_after_trim = w.bit(69, 14) && w.bit(69, 5);
    }
    if (w.says(80)) {
        unsigned version = 0;
        for (unsigned i = 1; i < 15; ++i) if (w.bit(80, i)) version = i;
        if (version > 0) value.major_version = version;
    }
}
}

bool ata_checksum_good(ByteView bytes) {
    return bytes.size() == identify_bytes && std::accumulate(bytes.begin(), bytes.end(), 0U) % 256 == 0;
}

Parsed<Identify> parse_identify(ByteView bytes) {
    Parsed<Identify> out;
    const ByteView data = Reader(bytes).some(0, identify_bytes);
    const Words w(data);
    out.used = data.size();
    if (data.size() < identify_bytes) out.problems.push_back(fmt::format("IDENTIFY data is 512 bytes, {} arrived", bytes.size()));
    if (bytes.size() > identify_bytes) out.notes.push_back(fmt::format("{} bytes follow the IDENTIFY data", bytes.size() - identify_bytes));
    if (data.empty()) return out;
    if (std::all_of(data.begin(), data.end(), [&](std::uint8_t byte) { return byte == data.front(); })) {
        out.problems.push_back(fmt::format("all bytes are {:02X}h: this is no IDENTIFY data", data.front()));
        return out;
    }
    out.value.ata = w[0] && !w.bit(0, 15);
    out.value.serial = w.text(10, 10);
    out.value.firmware = w.text(23, 4);
    out.value.model = w.text(27, 20);
    take_features(w, out.value);
    take_serial_ata(w, out);
    take_geometry(w, out);
    take_medium(w, out);
    if (w[255] && (w.raw(255) & 0xff) == 0xa5) {   // ACS-3 7.12.7.93
        out.value.checksum_good = ata_checksum_good(data);
        if (!*out.value.checksum_good) out.problems.push_back("the checksum of the IDENTIFY data is wrong");
    }
    return out;
}

std::optional<ByteVector> identify_in_byte_order(ByteView bytes) {
    ByteVector straight(bytes.begin(), bytes.end()), swapped = straight;
    for (std::size_t i = 0; i + 1 < swapped.size(); i += 2) std::swap(swapped[i], swapped[i + 1]);
    const auto likeness = [](const ByteVector& data) {
        const Words w(data);
        int score = 0;
        for (const std::size_t word : {83, 84, 87}) score += w.valid01(word);
        score += 2 * (w.bit(49, 9) && w.bit(49, 8) && (w.raw(49) & 0xff) == 0);
        score += 3 * ((w.raw(255) & 0xff) == 0xa5);
        return score;
    };
    const int as_is = likeness(straight), other = likeness(swapped);
    if (as_is == 0 && other == 0) return {};
    return other > as_is ? swapped : straight;
}

}
