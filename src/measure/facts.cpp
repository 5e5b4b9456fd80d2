#include "sgprobe/measure/facts.h"

#include "sgprobe/transport/failure.h"

namespace sgprobe::measure {

Fact& FactGroup::add(std::string fact_key, std::string label, Value value, std::string shown) {
    return facts.emplace_back(Fact{std::move(fact_key), std::move(label), std::move(value), std::move(shown), {}});
}

void FactGroup::add_lines(std::string fact_key, std::string label, Value value, std::vector<std::string> lines) {
    if (lines.empty()) return;
    Fact& fact = add(std::move(fact_key), std::move(label), std::move(value), lines.front());
    fact.more.assign(lines.begin() + 1, lines.end());
}

Facts gather_facts(Host& host, Drive& drive, const pages::Catalogue& catalogue, const std::optional<KernelDevice>& kernel, bool anonymous) {
    Facts facts;
    facts.device.path = drive.name();
    Inquirer inquirer(host, drive);
    add_identity(facts, inquirer, anonymous);
    add_capacity(facts, inquirer);
    add_medium(facts, inquirer);
    add_ata(facts, inquirer, anonymous);
    add_quirks(facts, drive, kernel);
    add_caching(facts, inquirer, catalogue);
    add_host(facts, drive, kernel, kernel ? Sysfs().kernel_release() : "");
    std::erase_if(facts.groups, [](const FactGroup& group) { return group.facts.empty(); });
    return facts;
}

}
