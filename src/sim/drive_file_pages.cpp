// The mode pages of a drive's file: those that every such drive has, then what the file says of them.
#include <algorithm>
#include <cmath>

#include "drive_file_parts.h"
#include "sgprobe/scsi/reader.h"
#include "sgprobe/sim/mode_pages.h"
#include "sgprobe/sim/sim.h"

namespace sgprobe::sim {
namespace {
using scsi::put;

PageModel blank(std::uint8_t code, std::size_t size) {
    PageModel page;
    page.code = code;
    for (ByteVector* bytes : {&page.defaults, &page.changeable, &page.saved, &page.ignored, &page.refused, &page.not_kept}) bytes->assign(size, 0);
    for (ByteVector* bytes : {&page.defaults, &page.changeable, &page.saved}) {
        put(*bytes, 0, 1, code);
        put(*bytes, 1, 1, size - 2);
    }
    return page;
}

PageModel* find(Model& model, unsigned code, unsigned subpage) {
    for (PageModel& page : model.pages)
        if (page.code == code && page.subpage == subpage) return &page;
    return nullptr;
}

void each_field(TomlTable& t, std::string_view key, const PageModel& page, ByteVector& mask) {
    for (const std::string& name : t.strings(key)) {
        if (name == "all") {
            for (const ModeField& f : mode_fields())
                if (f.page == page.code) set_field(mask, f, ~std::uint64_t{0});
            continue;
        }
        const ModeField* f = find_mode_field(name, page.code);
        if (!f) t.fail(key, fmt::format("`{}` is no field of this page", name));
        set_field(mask, *f, ~std::uint64_t{0});
    }
}

void resize(PageModel& page, std::size_t size) {
    for (ByteVector* bytes : {&page.defaults, &page.changeable, &page.saved, &page.ignored, &page.refused, &page.not_kept}) bytes->resize(size);
    for (ByteVector* bytes : {&page.defaults, &page.changeable, &page.saved}) put(*bytes, 1, 1, size - 2);
}

// [mode.caching], [mode.control]: values by sdparm's keys, and lists of the fields that can be changed, or only seem so.
void read_named(TomlTable t, PageModel& page) {
    std::size_t size = page.defaults.size();
    t.read("size", size, 3, 255);
    resize(page, size);
    for (const ModeField& f : mode_fields()) {
        if (f.page != page.code || !t.has(f.key)) continue;
        std::uint64_t value = 0;
        t.read(f.key, value, 0, std::ldexp(1.0, f.width) - 1);
        if (f.byte + (f.width + 7U) / 8 > size) t.fail(f.key, "lies past the page's end");
        set_field(page.defaults, f, value);
    }
    each_field(t, "changeable", page, page.changeable);
    each_field(t, "ignored", page, page.ignored);
    each_field(t, "refused", page, page.refused);
    each_field(t, "not_kept", page, page.not_kept);
    page.saved = page.defaults;
    for (TomlTable& saved : t.tables("saved")) {
        for (const ModeField& f : mode_fields()) {
            if (f.page != page.code || !saved.has(f.key)) continue;
            std::uint64_t value = 0;
            saved.read(f.key, value, 0, std::ldexp(1.0, f.width) - 1);
            set_field(page.saved, f, value);
        }
        saved.refuse_unknown();
    }
    t.read("savable", page.savable);
    t.refuse_unknown();
}

ByteVector hex(TomlTable& t, std::string_view key) {
    std::string text;
    t.require(key, text);
    ByteVector bytes;
    unsigned value = 0, digits = 0;
    for (const char c : text) {
        if (c == ' ' || c == '\n') continue;
        const char* all = "0123456789abcdef";
        const char* found = std::find(all, all + 16, static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
        if (found == all + 16) t.fail(key, "wants hexadecimal bytes");
        value = value << 4 | static_cast<unsigned>(found - all);
        if (++digits % 2 == 0) bytes.push_back(static_cast<std::uint8_t>(value));
    }
    if (digits % 2) t.fail(key, "has an odd number of digits");
    return bytes;
}

// [[mode.page]]: any page, as bytes, header included.
void read_raw(TomlTable t, Model& model) {
    PageModel page;
    page.defaults = hex(t, "bytes");
    const bool sub = !page.defaults.empty() && page.defaults[0] & 0x40;
    const std::size_t header = sub ? 4 : 2, size = page.defaults.size();
    if (size <= header) t.fail("bytes", "is shorter than a page");
    const scsi::Reader bytes(page.defaults);
    if ((sub ? *bytes.u16(2) : *bytes.u8(1)) + header != size) t.fail("bytes", fmt::format("has {} bytes, but its length field says otherwise", size));
    page.code = page.defaults[0] & 0x3f;
    page.subpage = sub ? page.defaults[1] : 0;
    page.changeable.assign(size, 0);
    if (t.has("changeable")) page.changeable = hex(t, "changeable");
    page.saved = page.defaults;
    if (t.has("saved")) page.saved = hex(t, "saved");
    if (page.changeable.size() != size) t.fail("changeable", "is not as long as `bytes`");
    if (page.saved.size() != size) t.fail("saved", "is not as long as `bytes`");
    for (ByteVector* mask : {&page.ignored, &page.refused, &page.not_kept}) mask->assign(size, 0);
    std::copy_n(page.defaults.begin(), header, page.changeable.begin());
    t.read("savable", page.savable);
    t.refuse_unknown();
    if (PageModel* known = find(model, page.code, page.subpage)) *known = page;
    else model.pages.push_back(page);
}
}

// SPC-5 7.5 and SBC-4 6.5: what any drive of the kind shows.
void add_usual_pages(Model& model) {
    PageModel recovery = blank(0x01, 12);
    put(recovery.defaults, 2, 1, 0xc0);              // AWRE, ARRE
    put(recovery.defaults, 3, 1, 0x20);              // read retries
    put(recovery.defaults, 8, 1, 0x20);
    put(recovery.changeable, 2, 1, 0xff);
    put(recovery.changeable, 3, 1, 0xff);
    put(recovery.changeable, 8, 1, 0xff);
    model.pages.push_back(recovery);
    PageModel disconnect = blank(0x02, 16);
    put(disconnect.changeable, 2, 2, 0xffff);
    put(disconnect.changeable, 10, 2, 0xffff);
    model.pages.push_back(disconnect);
    if (model.media.rotating && !model.identity.ata) {
        std::uint64_t cylinders = 0;
        for (const Zone& zone : model.media.zones) cylinders += zone.cylinders;
        const Zone& outer = model.media.zones.front();
        PageModel format = blank(0x03, 24);
        put(format.defaults, 2, 2, model.media.heads);
        put(format.defaults, 10, 2, outer.blocks_per_track);
        put(format.defaults, 12, 2, model.media.block_bytes);
        put(format.defaults, 14, 2, 1);
        auto skew = [&](double us) { return static_cast<std::uint64_t>(std::lround(us * model.media.rpm / 60e6 * outer.blocks_per_track)); };
        put(format.defaults, 16, 2, skew(outer.head_skew_us));
        put(format.defaults, 18, 2, skew(outer.cylinder_skew_us));
        put(format.defaults, 20, 1, 0x40);           // HSEC
        model.pages.push_back(format);
        PageModel geometry = blank(0x04, 24);
        put(geometry.defaults, 2, 3, cylinders);
        put(geometry.defaults, 5, 1, model.media.heads);
        put(geometry.defaults, 20, 2, static_cast<std::uint64_t>(std::lround(model.media.rpm)));
        model.pages.push_back(geometry);
    }
    model.pages.push_back(blank(0x08, 20));
    PageModel control = blank(0x0a, 12);
    if (!model.identity.ata) {
        put(control.changeable, 2, 1, 0x04);         // D_SENSE
        put(control.changeable, 3, 1, 0xf0);         // QUEUE ALGORITHM MODIFIER
    }
    model.pages.push_back(control);
    PageModel exceptions = blank(0x1c, 12);
    put(exceptions.changeable, 2, 2, 0xff0f);
    model.pages.push_back(exceptions);
    for (PageModel& page : model.pages) page.saved = page.defaults;
}

void read_pages(TomlTable& root, Model& model) {
    add_usual_pages(model);
    for (TomlTable& mode : root.tables("mode")) {
        for (TomlTable& raw : mode.tables("page")) read_raw(raw, model);
        for (TomlTable& caching : mode.tables("caching")) read_named(caching, *find(model, 0x08, 0));
        for (TomlTable& control : mode.tables("control")) read_named(control, *find(model, 0x0a, 0));
        for (const std::string& code : mode.strings("without"))
            std::erase_if(model.pages, [&](const PageModel& p) { return fmt::format("{:02x}", p.code) == code; });
        mode.refuse_unknown();
    }
    std::stable_sort(model.pages.begin(), model.pages.end(), [](const PageModel& a, const PageModel& b) {
        return std::pair(a.code, a.subpage) < std::pair(b.code, b.subpage);
    });
}

}
