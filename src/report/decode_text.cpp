// Which bytes of a posted text are what.
#include <algorithm>

#include "decode_parts.h"
#include "sgprobe/scsi/capacity.h"
#include "sgprobe/scsi/identify.h"
#include "sgprobe/scsi/inquiry.h"
#include "sgprobe/scsi/log.h"
#include "sgprobe/scsi/mode.h"
#include "sgprobe/scsi/reader.h"
#include "sgprobe/scsi/sense.h"
#include "sgprobe/transport/escape.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::report {
namespace {
bool block_length(std::optional<std::uint32_t> bytes) { return bytes && *bytes >= 256 && *bytes <= 65536 && *bytes % 4 == 0; }

bool is_sense(ByteView bytes) {
    const scsi::Reader data(bytes);
    const auto code = data.bits(0, 6, 7);
    return bytes.size() >= 8 && *code >= 0x70 && *code <= 0x73 && *data.u8(7) <= 244 && *data.u8(7) + std::size_t{8} <= bytes.size() + 64;
}

bool is_cdb(ByteView bytes) {
    const auto opcode = scsi::Reader(bytes).u8(0);
    if (!opcode) return false;
    switch (bytes.size()) {
    case 6: return *opcode < 0x20;
    case 10: return *opcode >= 0x20 && *opcode < 0x60;
    case 12: return *opcode >= 0xa0 && *opcode < 0xc0;
    case 16: return *opcode >= 0x80 && *opcode < 0xa0;
    default: return false;
    }
}

bool is_vpd(ByteView bytes) {
    static constexpr std::uint8_t known[] = {0x00, 0x80, 0x83, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x8f, 0x90, 0x91, 0xb0, 0xb1, 0xb2, 0xb3, 0xb6};
    const scsi::Reader data(bytes);
    if (bytes.size() < 4 || std::ranges::find(known, *data.u8(1)) == std::end(known) || *data.u16(2) == 0 || *data.u16(2) > 0x1000) return false;
    if (*data.u8(1) != 0x00) return *data.u16(2) + std::size_t{4} <= bytes.size() + 512;
    // The list of VPD pages and that of log pages differ only in that log pages end at 3Fh.
    const ByteView list = data.some(4, *data.u16(2));
    return !list.empty() && list.front() == 0 && std::ranges::any_of(list, [](std::uint8_t page) { return page >= 0x80; });
}

bool is_mode(const scsi::Parsed<scsi::ModeData>& parsed) {
    return parsed.ok() && parsed.notes.empty() && (!parsed.value.pages.empty() || !parsed.value.descriptors.empty());
}
}

std::optional<DecodeKind> guess_kind(ByteView bytes) {
    const scsi::Reader data(bytes);
    if (bytes.size() >= 512 && scsi::identify_in_byte_order(data.some(0, 512)) && bytes.size() <= 520) return DecodeKind::identify;
    if (scsi::looks_like_inquiry(bytes)) return DecodeKind::inquiry;
    if (is_sense(bytes)) return DecodeKind::sense;
    if (is_vpd(bytes)) return DecodeKind::vpd;
    if (bytes.size() == 8 && block_length(data.u32(4))) return DecodeKind::readcap10;
    if ((bytes.size() == 32 || bytes.size() == 12) && block_length(data.u32(8))) return DecodeKind::readcap16;
    if (is_mode(scsi::parse_mode_10(bytes))) return DecodeKind::mode10;
    if (is_mode(scsi::parse_mode_6(bytes))) return DecodeKind::mode6;
    if (is_cdb(bytes)) return DecodeKind::cdb;
    if (const auto log = scsi::parse_log_page(bytes); log.ok() && bytes.size() > 4) return DecodeKind::log;
    if (const auto bare = scsi::parse_bare_mode_pages(bytes); bare.ok() && bare.value.pages.size() == 1 && bytes.size() >= 8) return DecodeKind::mode10;
    return {};
}

std::optional<DecodeKind> kind_of_cdb(ByteView bytes) {
    const scsi::Reader cdb(bytes);
    switch (cdb.u8(0).value_or(0)) {
    case 0x03: return DecodeKind::sense;
    case 0x12: return cdb.flag(1, 0) ? DecodeKind::vpd : DecodeKind::inquiry;
    case 0x15: case 0x1a: return DecodeKind::mode6;
    case 0x55: case 0x5a: return DecodeKind::mode10;
    case 0x25: return DecodeKind::readcap10;
    case 0x4d: return DecodeKind::log;
    case 0x9e: if (cdb.bits(1, 4, 5) == 0x10) return DecodeKind::readcap16; return {};
    case 0x85: if (cdb.u8(14) == 0xec || cdb.u8(14) == 0xa1) return DecodeKind::identify; return {};
    case 0xa1: if (cdb.u8(9) == 0xec || cdb.u8(9) == 0xa1) return DecodeKind::identify; return {};
    default: return {};
    }
}

namespace {
std::optional<DecodeKind> told_kind(const scsi::HexSection& section) {
    switch (section.role) {
    case scsi::HexSection::Role::cdb: return DecodeKind::cdb;
    case scsi::HexSection::Role::sense: return DecodeKind::sense;
    case scsi::HexSection::Role::data: break;
    }
    return section.cdb.empty() ? std::nullopt : kind_of_cdb(section.cdb);
}

Decoded decode_section(DecodeKind kind, const scsi::HexSection& section, const pages::Catalogue& catalogue) {
    Decoded out = decode(kind, section.bytes, catalogue);
    if (section.words && !out.problems.empty() && kind != DecodeKind::identify) {
        // Words are printed as the host's numbers by some tools and in the order of the bytes by others.
        Decoded swapped = decode(kind, scsi::swapped_words(section.bytes), catalogue);
        if (swapped.problems.size() < out.problems.size()) {
            out = std::move(swapped);
            out.notes.push_back("the dump is of 16-bit words of a little-endian host: the bytes of each were exchanged");
        }
    }
    out.problems.insert(out.problems.end(), section.problems.begin(), section.problems.end());
    return out;
}

std::optional<DecodeKind> kind_of(const scsi::HexSection& section) {
    if (const auto told = told_kind(section)) return told;
    const auto guessed = guess_kind(section.bytes);
    if (guessed || !section.words) return guessed;
    return guess_kind(scsi::swapped_words(section.bytes));
}
}

Decoded decode_text(std::optional<DecodeKind> kind, std::string_view text, const std::string& where, const pages::Catalogue& catalogue) {
    const std::vector<scsi::HexSection> sections = scsi::read_hex_text(text);
    const std::string from = escaped(where);
    if (sections.empty()) throw Failure(ExitStatus::malformed, from + ": no bytes in hexadecimal were found there; post them as sg_inq --hex, xxd or plain \"00 3a 00 08\" have them");
    std::vector<Decoded> found;
    const auto take = [&](auto&& fits) {
        for (const scsi::HexSection& section : sections)
            if (const auto as = fits(section)) found.push_back(decode_section(*as, section, catalogue));
    };
    if (!kind) {
        take([](const scsi::HexSection& section) { return kind_of(section); });
        if (found.empty()) throw Failure(ExitStatus::syntax, from + ": what these bytes are cannot be told; name a KIND in place of auto (sgprobe decode --help)");
        // Commands explain what follows them; they come first only where nothing else is there.
        std::ranges::stable_partition(found, [](const Decoded& one) { return one.kind != DecodeKind::cdb; });
    } else {
        take([&](const scsi::HexSection& section) { return told_kind(section) == kind ? kind : std::nullopt; });
        if (found.empty()) take([&](const scsi::HexSection& section) { return told_kind(section) ? std::nullopt : kind; });
        if (found.empty()) take([&](const scsi::HexSection&) { return kind; });
        // What the text holds besides (a serial number, a time) may look like a few bytes: the first without a problem is meant.
        const auto good = std::ranges::find_if(found, [](const Decoded& one) { return one.problems.empty(); });
        if (good != found.end()) std::rotate(found.begin(), good, good + 1);
    }
    Decoded out = std::move(found.front());
    for (std::size_t i = 1; i < found.size(); ++i) out.also.push_back(std::move(found[i]));
    return out;
}

}
