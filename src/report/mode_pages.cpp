#include "sgprobe/report/mode_pages.h"

#include <fmt/format.h>

#include "sgprobe/pages/editor.h"
#include "sgprobe/report/escape.h"
#include "sgprobe/transport/escape.h"

namespace sgprobe::report {
namespace {

using pages::Field;
using pages::PageValues;

std::optional<std::uint64_t> value(const Field& field, ByteView page) { return pages::read_field(field, page); }

std::string shown(const std::optional<std::uint64_t>& number) { return number ? std::to_string(*number) : "-"; }

std::string_view mask_word(pages::Changeable changeable) {
    using enum pages::Changeable;
    return changeable == no ? "no" : changeable == yes ? "yes" : "partly";
}

struct Row { const Field* field; std::optional<std::uint64_t> current, defaults, saved; pages::Changeable changeable; bool differs() const {
    return (defaults && current != defaults) || (saved && current != saved); } };

std::vector<Row> rows_of(const PageValues& page, const std::vector<Field>& fields) {
    std::vector<Row> rows;
    for (const Field& field : fields)
        rows.push_back({&field, value(field, page.current), value(field, page.defaults), value(field, page.saved), pages::changeable(field, page.changeable)});
    return rows;
}

std::string hex_lines(const PageValues& page) {
    std::string out;
    const std::pair<const char*, const ByteVector*> sets[] = {{"current", &page.current}, {"changeable", &page.changeable}, {"default", &page.defaults}, {"saved", &page.saved}};
    for (const auto& [name, bytes] : sets) {
        for (std::size_t at = 0; at < bytes->size(); at += 16) {
            const std::size_t count = std::min<std::size_t>(16, bytes->size() - at);
            out += fmt::format("  {:<10} {:>3}: {}\n", at == 0 ? name : "", at, hex(ByteView(*bytes).subspan(at, count), " "));
        }
    }
    return out;
}

std::string outcome_word(pages::Change::Outcome outcome) {
    using enum pages::Change::Outcome;
    switch (outcome) {
    case planned: return "planned";
    case unchanged: return "unchanged";
    case held: return "held";
    case altered: return "altered";
    case ignored: return "ignored";
    case refused: return "refused";
    case page_refused: return "page refused";
    }
    return "";
}

measure::Value optional_value(const std::optional<std::uint64_t>& number) { return number ? measure::Value(*number) : measure::Value(); }

}

std::string text(const PageValues& page, bool whole) {
    const std::string label = pages::label(page.id);
    std::string out = page.format ? fmt::format("{} [{}], page {} ({} {})", page.format->name, page.format->acronym, label, page.format->standard, page.format->clause)
                                  : fmt::format("Unknown page {}", label);
    out += fmt::format(", {} bytes, {}{}\n", page.current.size(), page.savable ? "savable" : "not savable", page.truncated ? ", cut short by the drive" : "");
    const auto fields = page.format ? pages::fields_of(*page.format, page.current) : std::vector<Field>{};
    const auto rows = rows_of(page, fields);
    unsigned hidden = 0;
    if (!rows.empty()) out += "    key            current    default      saved  change  name\n";
    for (const Row& row : rows) {
        if (!whole && row.changeable == pages::Changeable::no && !row.differs() && row.current == 0u) {
            ++hidden;
            continue;
        }
        const std::string_view meaning = row.current ? row.field->meaning(*row.current) : std::string_view{};
        out += fmt::format("  {} {:<11} {:>10} {:>10} {:>10}  {:<6}  {}{}{}\n", row.differs() ? '*' : ' ', row.field->key, shown(row.current), shown(row.defaults), shown(row.saved),
                           mask_word(row.changeable), row.field->name, meaning.empty() ? "" : ": ", meaning);
    }
    if (hidden) out += fmt::format("    ({} fields are 0 and cannot be changed: --all shows them)\n", hidden);
    return out + hex_lines(page);
}

measure::Value to_value(const PageValues& page) {
    measure::Value out;
    out.set("code", page.id.code).set("subpage", page.id.subpage);
    if (page.format) out.set("name", page.format->name).set("acronym", page.format->acronym).set("standard", page.format->standard).set("clause", page.format->clause);
    out.set("length", page.current.size()).set("ps", page.savable).set("truncated", page.truncated);
    measure::Value bytes = measure::Value::object();
    const auto put = [&](const char* name, const ByteVector& set) { bytes.set(name, set.empty() ? measure::Value() : measure::Value(hex(set))); };
    put("current", page.current);
    put("changeable", page.changeable);
    put("default", page.defaults);
    put("saved", page.saved);
    out.set("hex", bytes);
    measure::Value fields = measure::Value::object();
    const auto list = page.format ? pages::fields_of(*page.format, page.current) : std::vector<Field>{};
    for (const Row& row : rows_of(page, list)) {
        measure::Value field;
        field.set("current", optional_value(row.current)).set("changeable", row.changeable == pages::Changeable::yes);
        if (row.changeable == pages::Changeable::partly) field.set("changeable_mask", optional_value(value(*row.field, page.changeable)));
        field.set("default", optional_value(row.defaults)).set("saved", optional_value(row.saved)).set("name", row.field->name);
        if (row.current && !row.field->meaning(*row.current).empty()) field.set("meaning", row.field->meaning(*row.current));
        fields.set(row.field->key, field);
    }
    return out.set("fields", fields);
}

measure::Value to_value(const pages::Change& change) {
    measure::Value out;
    out.set("key", change.key).set("place", change.place).set("before", change.before).set("wanted", change.wanted).set("held", change.held);
    return out.set("outcome", outcome_word(change.outcome)).set("detail", pages::describe(change));
}

measure::Value to_value(const pages::RestoreReport& report) {
    measure::Value out;
    out.set("restored", report.restored).set("left", report.left).set("failed", report.failed);
    return out.set("already", report.already);
}

std::string setting_line(const pages::SettingInfo& info) {
    std::string more = fmt::format("cha: {}", info.changeable == pages::Changeable::no ? 'n' : 'y');
    if (info.defaults) more += fmt::format(", def: {:>2}", *info.defaults);
    if (info.saved) more += fmt::format(", sav: {:>2}", *info.saved);
    return fmt::format("{:<12} {:>2}  [{}]\n", info.key, info.current, more);
}

measure::Value to_value(const pages::SettingInfo& info) {
    measure::Value out;
    out.set("place", info.place).set("current", info.current).set("changeable", info.changeable != pages::Changeable::no);
    return out.set("default", optional_value(info.defaults)).set("saved", optional_value(info.saved)).set("name", info.name);
}

std::string rows_text(const pages::PageFormat& page) {
    std::string out = fmt::format("{} [{}: {:#04x}{}] ({} {})\n", page.name, page.acronym, page.code, page.subpage ? fmt::format(",{:#04x}", page.subpage) : "", page.standard, page.clause);
    const auto add = [&](const Field& field, unsigned first) {
        if (!field.reserved()) out += fmt::format("  {:<10} {:#04x}:{}:{}  {}\n", field.key, field.byte + first, field.bit, field.width, field.name);
    };
    for (const Field& field : page.fields) add(field, 0);
    if (page.descriptors)
        for (const Field& field : page.descriptors->fields) add(field, page.descriptors->first);
    return out;
}

measure::Value identity_value(const pages::DriveIdentity& identity, const std::string& path, bool anonymous) {
    measure::Value out;
    out.set("path", path).set("vendor", identity.vendor).set("product", identity.product).set("revision", identity.revision);
    if (!anonymous) out.set("serial", identity.serial);
    return out;
}

}
