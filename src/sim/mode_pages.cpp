#include "sgprobe/sim/mode_pages.h"

#include <algorithm>

#include "sgprobe/scsi/cdb.h"
#include "sgprobe/scsi/reader.h"

namespace sgprobe::sim {
namespace {
constexpr SenseCode invalid_in_cdb{scsi::SenseKey::illegal_request, 0x24, 0x00};
constexpr SenseCode invalid_in_list{scsi::SenseKey::illegal_request, 0x26, 0x00};
constexpr SenseCode list_length{scsi::SenseKey::illegal_request, 0x1a, 0x00};
constexpr SenseCode no_saving{scsi::SenseKey::illegal_request, 0x39, 0x00};

// SBC-4 6.5.6 (caching) and SPC-5 7.5.13 (control): in the pages' own coordinates.
constexpr ModeField fields[] = {
    {"IC", 8, 2, 7, 1},    {"ABPF", 8, 2, 6, 1},   {"CAP", 8, 2, 5, 1},    {"DISC", 8, 2, 4, 1},  {"SIZE", 8, 2, 3, 1},
    {"WCE", 8, 2, 2, 1},   {"MF", 8, 2, 1, 1},     {"RCD", 8, 2, 0, 1},    {"DRRP", 8, 3, 7, 4},  {"WRP", 8, 3, 3, 4},
    {"DPTL", 8, 4, 7, 16}, {"MIPF", 8, 6, 7, 16},  {"MAPF", 8, 8, 7, 16},  {"MAPFC", 8, 10, 7, 16},
    {"FSW", 8, 12, 7, 1},  {"LBCSS", 8, 12, 6, 1}, {"DRA", 8, 12, 5, 1},   {"NV_DIS", 8, 12, 0, 1},
    {"NCS", 8, 13, 7, 8},  {"CSS", 8, 14, 7, 16},
    {"TST", 10, 2, 7, 3},  {"D_SENSE", 10, 2, 2, 1}, {"GLTSD", 10, 2, 1, 1}, {"RLEC", 10, 2, 0, 1},
    {"QAM", 10, 3, 7, 4},  {"QERR", 10, 3, 2, 2},  {"SWP", 10, 4, 3, 1},
};
}

std::span<const ModeField> mode_fields() { return fields; }

const ModeField* find_mode_field(std::string_view key, std::uint8_t page) {
    for (const ModeField& f : fields)
        if (f.key == key && f.page == page) return &f;
    return nullptr;
}

std::uint64_t field(ByteView page, const ModeField& f) {
    const scsi::Reader reader(page);
    if (f.width < 8) return reader.bits(f.byte, f.bit, f.width).value_or(0);
    return reader.big_endian(f.byte, f.width / 8U).value_or(0);
}

void set_field(std::span<std::uint8_t> page, const ModeField& f, std::uint64_t value) {
    if (f.width >= 8) return scsi::put(page, f.byte, f.width / 8U, value);
    if (f.byte >= page.size()) return;
    const unsigned shift = f.bit + 1U - f.width, mask = ((1U << f.width) - 1) << shift;
    page[f.byte] = static_cast<std::uint8_t>((page[f.byte] & ~mask) | (static_cast<unsigned>(value) << shift & mask));
}

ModePages::ModePages(const Model& model) : blocks_(model.media.blocks), block_bytes_(model.media.block_bytes), ata_(model.identity.ata) {
    for (const PageModel& page : model.pages) {
        pages_.push_back({page, page.saved, page.defaults});
        pages_.back().model.ignored.resize(page.defaults.size());
        pages_.back().model.refused.resize(page.defaults.size());
        pages_.back().model.not_kept.resize(page.defaults.size());
    }
    power_on();
}

void ModePages::power_on() {
    for (Page& page : pages_) {
        page.current = page.model.saved;
        for (std::size_t i = 0; i < page.current.size(); ++i)
            page.obeyed[i] = static_cast<std::uint8_t>((page.current[i] & ~page.model.ignored[i]) | (page.model.defaults[i] & page.model.ignored[i]));
    }
}

ModePages::Page* ModePages::find(std::uint8_t code, std::uint8_t subpage) {
    for (Page& page : pages_)
        if (page.model.code == code && page.model.subpage == subpage) return &page;
    return nullptr;
}

std::optional<SenseCode> ModePages::sense(ByteView bytes, ByteVector& reply) const {
    const scsi::Reader cdb(bytes);
    const bool ten = cdb.u8(0) == 0x5a;
    const bool dbd = cdb.flag(1, 3), long_lba = ten && cdb.flag(1, 4);
    const auto control = static_cast<scsi::PageControl>(cdb.bits(2, 7, 2).value_or(0));
    const unsigned code = cdb.bits(2, 5, 6).value_or(0), subpage = cdb.u8(3).value_or(0);
    if (control == scsi::PageControl::saved && std::none_of(pages_.begin(), pages_.end(), [](const Page& p) { return p.model.savable; }))
        return no_saving;
    const std::size_t header = ten ? 8 : 4, descriptor = dbd ? 0 : long_lba ? 16 : 8;
    reply.assign(header + descriptor, 0);
    scsi::put_flag(reply, ten ? 3 : 2, 4, true);   // DPOFUA
    if (ten) {
        scsi::put_flag(reply, 4, 0, long_lba && !dbd);
        scsi::put(reply, 6, 2, descriptor);
    } else {
        scsi::put(reply, 3, 1, descriptor);
    }
    if (!dbd && long_lba) {
        scsi::put(reply, header, 8, blocks_);
        scsi::put(reply, header + 12, 4, block_bytes_);
    } else if (!dbd) {
        scsi::put(reply, header, 4, std::min<Blocks>(blocks_, 0xffffffff));
        scsi::put(reply, header + 5, 3, block_bytes_);
    }
    bool found = false;
    for (const Page& page : pages_) {
        const bool asked = (code == 0x3f || page.model.code == code) && (subpage == 0xff || page.model.subpage == subpage);
        if (!asked) continue;
        found = true;
        const ByteVector& values = control == scsi::PageControl::changeable ? page.model.changeable
                                 : control == scsi::PageControl::defaults   ? page.model.defaults
                                 : control == scsi::PageControl::saved      ? page.model.saved
                                                                            : page.current;
        const std::size_t at = reply.size();
        reply.insert(reply.end(), values.begin(), values.end());
        scsi::put(reply, at, 1, (page.first_byte() & 0x7f) | (page.model.savable ? 0x80 : 0));
    }
    if (!found) return invalid_in_cdb;
    scsi::put(reply, 0, ten ? 2 : 1, reply.size() - (ten ? 2 : 1));
    return {};
}

// A page that was sent: its length, and that no bit differs from the current one but where it may.
std::optional<SenseCode> ModePages::check(const Page& page, ByteView wanted) const {
    if (wanted.size() != page.current.size()) return invalid_in_list;
    for (std::size_t i = page.model.subpage ? 4 : 2; i < wanted.size(); ++i) {
        const auto differs = static_cast<std::uint8_t>(wanted[i] ^ page.current[i]);
        if (differs & (~page.model.changeable[i] | page.model.refused[i])) return invalid_in_list;
    }
    return {};
}

std::optional<SenseCode> ModePages::select(ByteView bytes, ByteView data, bool& changed) {
    const scsi::Reader cdb(bytes);
    const bool ten = cdb.u8(0) == 0x55, save = cdb.flag(1, 0);
    const std::size_t length = ten ? cdb.u16(7).value_or(0) : cdb.u8(4).value_or(0);
    if (length == 0) return {};
    if (data.size() < length) return list_length;
    const scsi::Reader list(data.first(length));
    const std::size_t header = ten ? 8 : 4;
    if (length < header) return list_length;
    const std::size_t descriptor = ten ? *list.u16(6) : *list.u8(3);
    if (!list.has(header, descriptor)) return list_length;
    if (descriptor != 0 && descriptor != 8 && !(ten && descriptor == 16)) return invalid_in_list;
    if (descriptor) {                                // another block length would need FORMAT UNIT
        const auto block = descriptor == 8 ? list.big_endian(header + 5, 3) : list.big_endian(header + 12, 4);
        if (*block != block_bytes_) return invalid_in_list;
    }
    std::vector<std::pair<Page*, ByteView>> wanted;
    for (std::size_t at = header + descriptor; at < length;) {
        const auto first = list.u8(at);
        const bool sub = *first & 0x40;
        const std::size_t start = sub ? 4 : 2;
        if (!list.has(at, start)) return list_length;
        const std::size_t size = start + (sub ? *list.u16(at + 2) : *list.u8(at + 1));
        Page* page = find(*first & 0x3f, sub ? *list.u8(at + 1) : 0);
        if (!page) return invalid_in_list;
        if (!list.has(at, size)) return size == page->current.size() ? list_length : invalid_in_list;
        if (save && !page->model.savable) return invalid_in_cdb;
        if (auto wrong = check(*page, list.some(at, size))) return wrong;
        wanted.emplace_back(page, list.some(at, size));
        at += size;
    }
    for (auto& [page, values] : wanted) {
        for (std::size_t i = page->model.subpage ? 4 : 2; i < values.size(); ++i) {
            const auto kept = static_cast<std::uint8_t>((values[i] & ~page->model.not_kept[i]) | (page->current[i] & page->model.not_kept[i]));
            changed = changed || kept != page->current[i];
            page->current[i] = kept;
            page->obeyed[i] = static_cast<std::uint8_t>((kept & ~page->model.ignored[i]) | (page->obeyed[i] & page->model.ignored[i]));
            if (save) page->model.saved[i] = kept;
        }
    }
    return {};
}

std::uint64_t ModePages::obeyed(std::string_view key, std::uint8_t code, std::uint64_t otherwise) const {
    const ModeField* f = find_mode_field(key, code);
    for (const Page& page : pages_)
        if (f && page.model.code == code && page.model.subpage == 0 && f->byte < page.obeyed.size()) return field(page.obeyed, *f);
    return otherwise;
}

std::uint64_t ModePages::obeyed(std::string_view key) const {
    return find_mode_field(key, 8) ? obeyed(key, 8, 0) : obeyed(key, 10, 0);
}

bool ModePages::force(std::string_view key, std::uint64_t value) {
    Page* page = find(8, 0);
    const ModeField* f = find_mode_field(key, 8);
    if (!page || !f || field(page->obeyed, *f) == value) return false;
    set_field(page->current, *f, value);
    set_field(page->obeyed, *f, value);
    return true;
}

Settings ModePages::settings() const {
    Settings s;
    s.write_cache = obeyed("WCE", 8, 0);
    s.read_ahead = !obeyed("DRA", 8, 0);
    if (ata_) return s;
    s.read_cache = !obeyed("RCD", 8, 0);
    s.discontinuity = obeyed("DISC", 8, 1);
    s.abort_prefetch = obeyed("ABPF", 8, 0);
    s.multiply = obeyed("MF", 8, 0);
    s.disable_length = obeyed("DPTL", 8, 65535);
    s.minimum = obeyed("MIPF", 8, 0);
    s.maximum = obeyed("MAPF", 8, 65535);
    s.ceiling = obeyed("MAPFC", 8, 65535);
    s.segments = obeyed("SIZE", 8, 0) ? 0 : static_cast<unsigned>(obeyed("NCS", 8, 0));   // SIZE: the length counts in place of the number
    return s;
}

bool ModePages::descriptor_sense() const { return obeyed("D_SENSE", 10, 0); }

}
