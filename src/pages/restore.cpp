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

struct PageBack {
    ModeAccess& mode;
    const Journal& journal;
    const JournalPage& page;
    RestoreReport& report;
    bool first_round;

    // A page with the fields of `now` that are ours set to what `wanted_of` says; whether that differs from `now`.
    template <class Wanted>
    bool target(ByteVector& now, ByteView saved_before, Wanted&& wanted_of, bool tell) {
        bool differs = false;
        for (const JournalField& field : journal.fields) {
            if (field.id != page.id) continue;
            const auto value = read_field(field.field, now);
            const auto wanted = wanted_of(field);
            if (!value || !wanted || *value == *wanted) continue;
            if (!ours(field, *value, saved_before)) {
                if (tell) report.left.push_back(fmt::format("{} is {}, which is neither its former value {} nor what was set, {}: somebody changed it since, and it is left",
                                                            named(field), *value, *wanted, field.held.value_or(field.wanted)));
                continue;
            }
            write_field(field.field, now, *wanted);
            differs = true;
        }
        return differs;
    }

    // The saved values, by MODE SELECT with SP, which also makes them the current ones. False where it has to be done over.
    bool saved_back(std::string& answer) {
        if (!page.save || page.saved.empty()) return true;
        const ByteVector now = mode.settled(page.id, scsi::PageControl::saved);
        if (now.size() != page.saved.size()) { answer = "the saved page is not the one it was"; return false; }
        ByteVector wanted = now;
        const bool has_fields = std::any_of(journal.fields.begin(), journal.fields.end(), [&](const JournalField& f) { return f.id == page.id; });
        const bool differs = has_fields ? target(wanted, {}, [&](const JournalField& f) { return read_field(f.field, page.saved); }, false)
                                        : std::equal(now.begin() + 1, now.end(), page.current.begin() + 1, page.current.end()) && now != page.saved;
        if (!differs) return true;
        const ByteVector current = mode.settled(page.id);
        answer = mode.select(has_fields ? wanted : page.saved, true).answer;
        if (!current.empty()) mode.select(current, false);   // SP made the saved values the current ones of every field
        if (first_round) report.restored.push_back(fmt::format("saved values of page {}", label(page.id)));
        return false;                              // looked at again in the next round
    }

    bool current_back(std::string& answer, std::vector<std::string>& done) {
        ByteVector now = mode.settled(page.id);
        if (now.empty()) { answer = "the page is not there any more"; return false; }
        if (now.size() != page.current.size()) { answer = "the page has another length than before"; return false; }
        const ByteVector found = now;
        const std::size_t left_before = report.left.size();
        if (!target(now, page.saved, [](const JournalField& f) { return std::optional(f.before); }, true)) return true;
        report.left.resize(left_before);           // told in the last look alone
        answer = mode.select(now, false).answer;
        for (const JournalField& field : journal.fields) {
            const auto from = read_field(field.field, found), to = read_field(field.field, now);
            if (field.id == page.id && from != to) done.push_back(fmt::format("{}: {} -> {}", named(field), *from, *to));
        }
        return false;
    }
};

void page_back(ModeAccess& mode, const Journal& journal, const JournalPage& page, RestoreReport& report) {
    std::string answer;
    std::vector<std::string> done;
    try {
        for (int round = 0; round < 4; ++round) {
            PageBack back{mode, journal, page, report, round == 0};
            const bool saved = back.saved_back(answer);
            const bool current = back.current_back(answer, done);
            if (!saved || !current) continue;
            std::sort(done.begin(), done.end());
            done.erase(std::unique(done.begin(), done.end()), done.end());
            for (const std::string& line : done) report.restored.push_back(line);
            for (const JournalField& field : journal.fields) report.already += field.id == page.id && done.empty() ? 1u : 0u;
            return;
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
    for (auto page = journal.pages.rbegin(); page != journal.pages.rend(); ++page) page_back(mode, journal, *page, report);
    for (const JournalKernel& attribute : journal.kernel)
        if (!attribute.before.starts_with("write back")) kernel_back(kernel, attribute, report);
    std::sort(report.left.begin(), report.left.end());
    report.left.erase(std::unique(report.left.begin(), report.left.end()), report.left.end());
    return report;
}

}
