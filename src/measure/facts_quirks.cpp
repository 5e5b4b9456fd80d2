// What is known of the device beside what it says itself: src/pages/quirks/known_limits.tsv.
#include "facts_parts.h"
#include "sgprobe/pages/device_id.h"

namespace sgprobe::measure {

void add_quirks(Facts& facts, Drive& drive, const std::optional<KernelDevice>& kernel) {
    pages::DeviceId id = kernel ? pages::device_id(Sysfs(), kernel->sg) : pages::DeviceId();
    id.vendor = facts.device.vendor;
    id.product = facts.device.product;
    id.revision = facts.device.revision;
    for (const FactGroup& group : facts.groups)
        for (const Fact& fact : group.facts) {
            const auto* text = std::get_if<std::string>(&fact.value.held);
            if (group.key == "ata" && text && fact.key == "model") id.ata_model = *text;
            if (group.key == "ata" && text && fact.key == "firmware") id.ata_firmware = *text;
        }
    pages::obey(drive, id);
    const std::vector<std::string> known = pages::sentences(id);
    FactGroup group{"quirks", "Known quirks", {}};
    group.add_lines("known", "known", Value(known), known);
    facts.groups.push_back(std::move(group));
}

}
