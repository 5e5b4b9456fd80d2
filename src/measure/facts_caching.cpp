// The caching mode page: what each field holds, whether it can be changed, what it would be by default.
#include <fmt/format.h>

#include "facts_parts.h"
#include "sgprobe/pages/editor.h"
#include "sgprobe/scsi/mode.h"

namespace sgprobe::measure {

void add_caching(Facts& facts, Inquirer& inquirer, const pages::Catalogue& catalogue) {
    using scsi::PageControl;
    constexpr std::uint8_t caching = 0x08;
    const auto page = [&](PageControl control) -> ByteVector {
        const ModeReply reply = inquirer.mode({.page = caching, .subpage = 0, .control = control, .dbd = true, .llbaa = false});
        if (control == PageControl::current) keep_problems(facts, reply, "caching page");
        const scsi::ModePage* found = reply ? reply.data.find(caching) : nullptr;
        return found ? found->bytes : ByteVector{};
    };
    const ByteVector current = page(PageControl::current);
    if (current.empty()) return;
    const auto* format = catalogue.find({caching, 0}, current, facts.device.vendor);
    if (!format) return;
    const ByteVector mask = page(PageControl::changeable), defaults = page(PageControl::defaults), saved = page(PageControl::saved);
    FactGroup g{"caching", "Caching page (sgprobe mode shows all of them)", {}};
    for (const pages::Field& field : pages::fields_of(*format, current)) {
        const auto value = pages::read_field(field, current);
        if (field.reserved() || !value) continue;
        const bool changeable = pages::changeable(field, mask) == pages::Changeable::yes;
        Value row(ValueMap{{"current", *value}, {"changeable", changeable}});
        std::string shown = fmt::format("{}{}", *value, changeable ? ", changeable" : "");
        for (const auto& [bytes, name] : {std::pair(&defaults, "default"), std::pair(&saved, "saved")}) {
            const auto other = pages::read_field(field, *bytes);
            if (!other) continue;
            row.set(name, *other);
            if (*other != *value) shown += fmt::format(", {} {}", name, *other);
        }
        g.add(field.key, fmt::format("{} {}", field.key, field.name), std::move(row), shown);
    }
    facts.groups.push_back(std::move(g));
}

}
