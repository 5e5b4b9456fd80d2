#include "sgprobe/pages/restore.h"

#include <fmt/format.h>

#include <algorithm>

#include "sgprobe/pages/ata_features.h"
#include "sgprobe/pages/editor.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::pages {
namespace {

std::string named(const JournalField& field) { return fmt::format("{} of page {}", field.field.key, label(field.id)); }

bool ours(const JournalField& field, std::uint64_t value, ByteView saved) {
    return !field.held || value == *field.held || value == field.wanted || value == read_field(field.field, saved);
}

bool has_fields(const Journal& journal, const JournalPage& page) {
    return std::any_of(journal.fields.begin(), journal.fields.end(), [&](const JournalField& f) { return f.id == page.id; });
}

// `bytes` with those fields that are ours set to what `wanted_of` says; whether that changed anything. `left`: told of the others.
template <class Wanted>
bool aim(const Journal& journal, const JournalPage& page, ByteVector& bytes, ByteView saved_before, Wanted&& wanted_of, std::vector<std::string>* left) {
    bool differs = false;
    for (const JournalField& field : journal.fields) {
        if (field.id != page.id) continue;
        const auto value = read_field(field.field, bytes);
        const auto wanted = wanted_of(field);
        if (!value || !wanted || *value == *wanted) continue;
        if (ours(field, *value, saved_before)) {
            write_field(field.field, bytes, *wanted);
            differs = true;
        } else if (left) {
            left->push_back(fmt::format("{} is {}, which is neither its former value {} nor what was set, {}: somebody changed it since, and it is left",
                                        named(field), *value, *wanted, field.held.value_or(field.wanted)));
        }
    }
    return differs;
}

bool same_values(const ByteVector& a, const ByteVector& b) { return a.size() == b.size() && std::equal(a.begin() + 1, a.end(), b.begin() + 1); }

// What the saved values of a page should be, where they are not: nothing where all is well, or where it is not ours to say.
std::optional<ByteVector> wrong_saved(ModeAccess& mode, const Journal& journal, const JournalPage& page) {
    if (!page.save || page.saved.empty()) return {};
    ByteVector now = mode.settled(page.id, scsi::PageControl::saved);
    if (now.size() != page.saved.size()) return {};
    if (!has_fields(journal, page)) return same_values(now, page.current) && !same_values(now, page.saved) ? std::optional(page.saved) : std::nullopt;
    if (!aim(journal, page, now, {}, [&](const JournalField& f) { return read_field(f.field, page.saved); }, nullptr)) return {};
    return now;
}

// MODE SELECT with SP saves every savable page as it stands (SPC-5 6.14). So all pages of the journal are given their saved values for a
// moment, and the last one carries SP; their current values follow after.
void saved_back(ModeAccess& mode, const Journal& journal, RestoreReport& report) {
    try {
        std::string answer;
        for (int round = 0; round < 4; ++round) {
            std::vector<std::pair<PageId, ByteVector>> wrong;
            for (const JournalPage& page : journal.pages)
                if (auto saved = wrong_saved(mode, journal, page)) wrong.emplace_back(page.id, std::move(*saved));
            if (wrong.empty()) return;
            for (const JournalPage& page : journal.pages) {
                const bool listed = std::any_of(wrong.begin(), wrong.end(), [&](const auto& w) { return w.first == page.id; });
                if (page.save && !page.saved.empty() && !listed) mode.select(page.saved, false);
            }
            for (std::size_t i = 0; i < wrong.size(); ++i) answer = mode.select(wrong[i].second, i + 1 == wrong.size()).answer;
            if (round == 0)
                for (const auto& [id, bytes] : wrong) report.restored.push_back(fmt::format("the saved values of page {}", label(id)));
        }
        report.failed.push_back(fmt::format("saved values could not be put back: {}", answer));
    } catch (const Failure& failure) {
        report.failed.push_back(failure.what());
    }
}

void current_back(ModeAccess& mode, const Journal& journal, const JournalPage& page, RestoreReport& report) {
    std::string answer;
    std::vector<std::string> done;
    try {
        for (int round = 0; round < 4; ++round) {
            const ByteVector found = mode.settled(page.id);
            if (found.size() != page.current.size()) {
                report.failed.push_back(fmt::format("page {} could not be put back: it is not the page that it was", label(page.id)));
                return;
            }
            ByteVector target = found;
            std::vector<std::string> left;
            bool differs = aim(journal, page, target, page.saved, [](const JournalField& f) { return std::optional(f.before); }, &left);
            if (!has_fields(journal, page) && same_values(found, page.saved) && !same_values(found, page.current)) {
                target = page.current;
                differs = true;
            }
            if (!differs) {
                std::sort(done.begin(), done.end());
                done.erase(std::unique(done.begin(), done.end()), done.end());
                report.restored.insert(report.restored.end(), done.begin(), done.end());
                report.left.insert(report.left.end(), left.begin(), left.end());
                if (done.empty() && left.empty()) ++report.already;
                return;
            }
            answer = mode.select(target, false).answer;
            for (const JournalField& field : journal.fields) {
                const auto from = read_field(field.field, found), to = read_field(field.field, target);
                if (field.id == page.id && from != to) done.push_back(fmt::format("{}: {} -> {}", named(field), *from, *to));
            }
        }
        report.failed.push_back(fmt::format("page {} could not be put back: {}", label(page.id), answer));
    } catch (const Failure& failure) {
        report.failed.push_back(failure.what());
    }
}

void feature_back(AtaFeatures& ata, const JournalFeature& feature, RestoreReport& report) {
    const AtaFeatureRow* row = ata_feature(feature.name);
    if (!row) { report.failed.push_back(fmt::format("the ATA feature {} is not known", feature.name)); return; }
    std::string answer = "it does not take ATA PASS-THROUGH any more";
    bool sent = false;
    try {
        for (int i = 0; i < 4; ++i) {
            const auto identify = ata.identify();
            if (!identify) break;
            const auto now = AtaFeatures::value(*row, *identify);
            if (now == feature.before) {
                if (sent) report.restored.push_back(fmt::format("{}: {} -> {}", feature.name, feature.wanted, feature.before));
                else ++report.already;
                return;
            }
            if (now && *now != feature.wanted) {
                report.left.push_back(fmt::format("{} is {}, which is neither its former value {} nor what was set, {}: somebody changed it since, and it is left", feature.name, *now, feature.before, feature.wanted));
                return;
            }
            answer = ata.set(*row, feature.before).answer;
            sent = true;
        }
        report.failed.push_back(fmt::format("{} could not be put back to {}: {}", feature.name, feature.before, answer));
    } catch (const Failure& failure) {
        report.failed.push_back(failure.what());
    }
}

void kernel_back(const KernelView& kernel, const JournalKernel& attribute, RestoreReport& report) {
    const auto now = kernel.read(attribute.name);
    if (!now || *now == attribute.before) { ++report.already; return; }   // without the attribute there is nothing that was changed
    if (*now != attribute.wanted) {
        report.left.push_back(fmt::format("the kernel's {} is \"{}\", neither the former \"{}\" nor the \"{}\" that was set: it is left", attribute.name, *now, attribute.before, attribute.wanted));
        return;
    }
    try {
        kernel.write(attribute.name, attribute.before);
        report.restored.push_back(fmt::format("the kernel's {}: {} -> {}", attribute.name, attribute.wanted, attribute.before));
    } catch (const Failure& failure) {
        report.failed.push_back(failure.what());
    }
}

}

RestoreReport put_back(ModeAccess& mode, const KernelView& kernel, const Journal& journal) {
    RestoreReport report;
    // The last change first. The kernel's view of the cache comes last where the cache goes off, and first where it goes on; it is
    // never left believing in less caching than there is, so write back goes first.
    for (const JournalKernel& attribute : journal.kernel)
        if (attribute.before.starts_with("write back")) kernel_back(kernel, attribute, report);
    AtaFeatures ata(mode.host(), mode.drive());
    for (auto feature = journal.features.rbegin(); feature != journal.features.rend(); ++feature) feature_back(ata, *feature, report);
    saved_back(mode, journal, report);
    for (auto page = journal.pages.rbegin(); page != journal.pages.rend(); ++page) current_back(mode, journal, *page, report);
    for (const JournalKernel& attribute : journal.kernel)
        if (!attribute.before.starts_with("write back")) kernel_back(kernel, attribute, report);
    return report;
}

}
