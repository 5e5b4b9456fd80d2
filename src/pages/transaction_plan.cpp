// What is asked, checked against the drive, before anything is changed.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sgprobe/transport/escape.h"
#include "sgprobe/transport/failure.h"
#include "transaction_parts.h"

namespace sgprobe::pages {
namespace {

std::string base_key(std::string_view key) { return std::string(key.substr(0, key.find('.'))); }

Failure refusal(const Drive& drive, ExitStatus status, const std::string& what) {
    return Failure(status, fmt::format("{}: {}; nothing was changed", drive.name(), what));
}

// The page that a key means on this drive. Several pages know it where the key is that of a list (T2CDLU): then the drive decides.
PageId page_of(ModeAccess& mode, const Assignment& assignment) {
    if (!assignment.page.empty()) {
        const auto id = mode.catalogue().page_named(assignment.page);
        if (!id) throw refusal(mode.drive(), ExitStatus::syntax, fmt::format("\"{}\" in {} is no mode page; sgprobe mode --enumerate lists them", escaped(assignment.page), escaped(assignment.text)));
        return *id;
    }
    const auto known = mode.catalogue().pages_with(base_key(assignment.key));
    if (known.empty()) throw refusal(mode.drive(), ExitStatus::syntax, fmt::format("{} is no setting that is known; sgprobe mode --enumerate lists them", escaped(assignment.key)));
    if (known.size() == 1) return known.front();
    std::vector<PageId> there;
    for (const PageId id : known)
        if (!mode.settled(id).empty()) there.push_back(id);
    if (there.size() == 1) return there.front();
    std::string choices;
    for (const PageId id : there.empty() ? known : there) choices += fmt::format("{}{:#04x}/{:02x}.{}", choices.empty() ? "" : ", ", id.code, id.subpage, assignment.key);
    throw refusal(mode.drive(), ExitStatus::syntax, fmt::format("{} is in more than one page; say which: {}", assignment.key, choices));
}

}

AtaFeatures* Transaction::ata() {
    if (!ata_there_) ata_there_ = AtaFeatures::likely(mode_.host(), mode_.drive(), identity_.vendor) && ata_.identify().has_value();
    return *ata_there_ ? &ata_ : nullptr;
}

void Transaction::plan_page_field(Plan& plan, const Assignment& assignment) {
    const PageId id = page_of(mode_, assignment);
    const Drive& drive = mode_.drive();
    auto at = std::find_if(plan.pages.begin(), plan.pages.end(), [&](const PagePlan& page) { return page.id == id; });
    if (at == plan.pages.end()) {
        PagePlan page;
        page.id = id;
        page.before = page.wanted = mode_.settled(id);
        if (page.before.empty()) throw refusal(drive, ExitStatus::illegal_request, fmt::format("{} cannot be changed: the drive has no mode page {}", assignment.key, label(id)));
        page.format = mode_.catalogue().find(id, page.before, identity_.vendor);
        page.mask = mode_.settled(id, scsi::PageControl::changeable);
        page.savable = (page.before[0] & 0x80) != 0;
        if (options_.save) {
            if (!page.savable)
                throw refusal(drive, ExitStatus::illegal_request, fmt::format("{} cannot be saved: the drive says (PS is 0) that it does not save page {}. Without --save the change lasts until the next reset or power cycle", assignment.key, label(id)));
            page.saved = mode_.settled(id, scsi::PageControl::saved);
            if (page.saved.size() != page.before.size()) throw refusal(drive, ExitStatus::illegal_request, fmt::format("{} cannot be saved: the drive shows no saved values of page {}", assignment.key, label(id)));
        }
        plan.pages.push_back(std::move(page));
        at = plan.pages.end() - 1;
    }
    const auto fields = at->format ? fields_of(*at->format, at->before) : std::vector<Field>{};
    const Field* field = find_field(fields, assignment.key);
    if (!field) throw refusal(drive, ExitStatus::illegal_request, fmt::format("{} is not in this drive's mode page {}, which has {} bytes", assignment.key, label(id), at->before.size()));
    PlannedField planned{*field, *read_field(*field, at->before), assignment.value_for(*field)};
    ByteVector mask = at->mask;
    mask.resize(std::max<std::size_t>(mask.size(), at->before.size()));
    const std::uint64_t bits = *read_field(*field, mask);
    if (bits == 0 || ((planned.before ^ planned.wanted) & ~bits) != 0)
        throw refusal(drive, ExitStatus::illegal_request, fmt::format("{} ({}) of mode page {} cannot be changed: the drive's changeable mask is {:#x} there{}", field->key, field->name, label(id), bits,
                                                                      bits ? fmt::format(", which does not allow {} -> {}", planned.before, planned.wanted) : ""));
    write_field(*field, at->wanted, planned.wanted);
    at->fields.push_back(planned);
}

// The kernel must know of a write cache before there is one, else file systems do not flush it.
void Transaction::check_cache(Plan& plan) {
    const auto before = options_.kernel.read("cache_type");
    if (!before) return;
    bool known = false, wce = false, rcd = false, was = false;
    for (const PagePlan& page : plan.pages) {
        if (page.id != PageId{8, 0} || !page.format) continue;
        const auto fields = fields_of(*page.format, page.before);
        const Field* w = find_field(fields, "WCE");
        const Field* r = find_field(fields, "RCD");
        if (!w || !r) continue;
        known = true;
        was = read_field(*w, page.before) == 1u;
        wce = read_field(*w, page.wanted) == 1u;
        rcd = read_field(*r, page.wanted) == 1u;
    }
    for (const PlannedFeature& feature : plan.features) {
        if (feature.row->key != "ATA_WC") continue;
        known = true;
        was = feature.before == 1;
        wce = feature.wanted == 1;
        rcd = before->find("none") != std::string::npos || before->find("no read") != std::string::npos;
    }
    if (!known) return;
    const std::string wanted = KernelView::cache_type(wce, rcd);
    if (wanted == *before) return;
    if (wce && !was && !before->starts_with("write back") && options_.kernel.mounted() && !options_.force)
        throw refusal(mode_.drive(), ExitStatus::contradiction, fmt::format("a file system is mounted from it, and the kernel takes its cache for \"{}\": turning the write cache on may lose data that was "
                                                                             "promised to be on the medium. Unmount it, or say --force", *before));
    plan.kernel.push_back({"cache_type", *before, wanted});
}

Transaction::Plan Transaction::make_plan(const std::vector<Assignment>& assignments) {
    Plan plan;
    for (const Assignment& assignment : assignments) {
        if (same_text(assignment.key, "queue_depth") && assignment.page.empty()) {
            const auto before = options_.kernel.read("queue_depth");
            if (!before) throw refusal(mode_.drive(), ExitStatus::illegal_request, "queue_depth is the kernel's, and no kernel stands before this drive");
            plan.kernel.push_back({"queue_depth", *before, std::to_string(assignment.value_for(Field{"queue_depth", "", 0, 7, 16, {}}))});
        } else if (const AtaFeatureRow* row = ata_feature(assignment.key)) {
            AtaFeatures* there = ata();
            if (!there) throw refusal(mode_.drive(), ExitStatus::illegal_request, fmt::format("{} is an ATA feature, and this is no ATA drive behind a SCSI/ATA translation", row->key));
            if (options_.save) throw refusal(mode_.drive(), ExitStatus::illegal_request, fmt::format("{} is an ATA feature, which cannot be saved: it lasts until the next power cycle", row->key));
            const auto before = there->current(*row);
            if (!before) throw refusal(mode_.drive(), ExitStatus::illegal_request, fmt::format("{} ({}) is not supported by this drive", row->key, row->name));
            const std::uint64_t wanted = assignment.given && !assignment.value ? row->greatest : assignment.value.value_or(1);
            if (wanted > row->greatest) throw refusal(mode_.drive(), ExitStatus::syntax, fmt::format("{} takes 0 to {}", row->key, row->greatest));
            plan.features.push_back({row, *before, wanted});
        } else {
            plan_page_field(plan, assignment);
        }
    }
    check_cache(plan);
    // SPC-5 6.14: SP saves all savable pages, those that are not sent too. Their saved values must survive.
    const bool saving = options_.save && std::any_of(plan.pages.begin(), plan.pages.end(), [](const PagePlan& page) { return page.changes(true); });
    if (saving)
        for (PageValues& other : mode_.read_all()) {
            const bool planned = std::any_of(plan.pages.begin(), plan.pages.end(), [&](const PagePlan& page) { return page.id == other.id; });
            if (planned || !other.savable) continue;
            other.current = mode_.settled(other.id);
            other.saved = mode_.settled(other.id, scsi::PageControl::saved);
            if (other.saved.size() == other.current.size() && other.saved != other.current) plan.others.push_back(std::move(other));
        }
    return plan;
}

std::vector<Change> Transaction::plan(const std::vector<Assignment>& assignments, std::vector<Sent>* sent) {
    const Plan plan = make_plan(assignments);
    std::vector<Change> changes;
    for (const PagePlan& page : plan.pages) {
        for (const PlannedField& f : page.fields)
            changes.push_back({f.field.key, "page " + label(page.id), f.before, f.wanted, f.before, f.before == f.wanted ? Change::Outcome::unchanged : Change::Outcome::planned, {}});
        if (sent && page.changes(options_.save)) sent->push_back({mode_.select_cdb(page.wanted, options_.save), mode_.select_list(page.wanted)});
    }
    for (const PlannedFeature& f : plan.features) {
        changes.push_back({std::string(f.row->key), "ATA feature", f.before, f.wanted, f.before, Change::Outcome::planned, {}});
        if (sent && f.before != f.wanted)
            sent->push_back({scsi::ata_pass_through_16(scsi::ata_set_features(f.wanted ? f.row->on : f.row->off, f.row->levels ? static_cast<std::uint8_t>(f.wanted) : std::uint8_t{0})), {}});
    }
    return changes;
}

SettingInfo Transaction::look_up(const Assignment& assignment) {
    SettingInfo info;
    if (same_text(assignment.key, "queue_depth") && assignment.page.empty()) {
        const auto now = options_.kernel.read("queue_depth");
        if (!now) throw refusal(mode_.drive(), ExitStatus::illegal_request, "queue_depth is the kernel's, and no kernel stands before this drive");
        info = {"queue_depth", "kernel", "Commands that the kernel has outstanding", 0, 0xffff, {}, {}, Changeable::yes};
        std::from_chars(now->data(), now->data() + now->size(), info.current);
        return info;
    }
    if (const AtaFeatureRow* row = ata_feature(assignment.key)) {
        const auto value = ata() ? ata()->current(*row) : std::nullopt;
        if (!value) throw refusal(mode_.drive(), ExitStatus::illegal_request, fmt::format("{} ({}) is not supported by this drive", row->key, row->name));
        return {std::string(row->key), "ATA feature", std::string(row->name), *value, row->greatest, {}, {}, Changeable::yes};
    }
    const PageId id = page_of(mode_, assignment);
    const auto values = mode_.read(id);
    if (!values) throw refusal(mode_.drive(), ExitStatus::illegal_request, fmt::format("the drive has no mode page {}, where {} belongs", label(id), assignment.key));
    const auto fields = values->format ? fields_of(*values->format, values->current) : std::vector<Field>{};
    const Field* field = find_field(fields, assignment.key);
    if (!field) throw refusal(mode_.drive(), ExitStatus::illegal_request, fmt::format("{} is not in this drive's mode page {}, which has {} bytes", assignment.key, label(id), values->current.size()));
    return {field->key, "page " + label(id), field->name, *read_field(*field, values->current), field->all_ones(), read_field(*field, values->defaults),
            read_field(*field, values->saved), pages::changeable(*field, values->changeable)};
}

}
