#include "sgprobe/pages/transaction.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "sgprobe/transport/describe.h"
#include "sgprobe/transport/failure.h"
#include "transaction_parts.h"

namespace sgprobe::pages {

std::string describe(const Change& change) {
    using enum Change::Outcome;
    const std::string what = change.place.starts_with("page") ? fmt::format("{} of {}", change.key, change.place) : fmt::format("{} ({})", change.key, change.place);
    switch (change.outcome) {
    case planned: return fmt::format("{}: {} -> {}", what, change.before, change.wanted);
    case unchanged: return fmt::format("{}: is {} already", what, change.before);
    case held: return fmt::format("{}: {} -> {}", what, change.before, change.held);
    case altered: return fmt::format("{}: the drive took {} and holds {} ({} before)", what, change.wanted, change.held, change.before);
    case ignored: return fmt::format("{}: the drive took {} with GOOD status and ignored it; it is still {}", what, change.wanted, change.held);
    case refused: return fmt::format("{}: the drive refuses {}: {}", what, change.wanted, change.answer);
    case page_refused: return fmt::format("{}: not settable this way: the drive, or what stands before it, refuses this page even unchanged: {}", what, change.answer);
    }
    return what;
}

Transaction::Transaction(Host& host, Drive& drive, const Catalogue& catalogue, TransactionOptions options)
    : identity_(identify(host, drive)), mode_(host, drive, catalogue, identity_.vendor, options.six_byte_first), ata_(host, drive), options_(std::move(options)) {}

Transaction::~Transaction() {
    try {
        if (!changed()) { end(); return; }
        for (const std::string& line : restore().failed)
            std::fprintf(stderr, "sgprobe: %s: NOT put back: %s\n", mode_.drive().name().c_str(), line.c_str());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "sgprobe: %s: settings NOT put back: %s; sgprobe restore tries again\n", mode_.drive().name().c_str(), error.what());
    }
}

void Transaction::begin() {
    if (options_.journal_folder.empty() || file_) return;
    auto file = std::make_unique<JournalFile>(options_.journal_folder, identity_, mode_.drive().name(), options_.patience);
    if (const auto left = file->read())
        throw Failure(ExitStatus::other, fmt::format("{}: {} holds settings that an earlier run changed and did not put back; run \"sgprobe restore\" first", mode_.drive().name(), file->path()));
    if (!identity_.distinct()) notes_.push_back("the drive has neither serial number nor designator: its journal cannot tell it from another of its kind");
    file_ = std::move(file);
    if (!options_.reopen) return;
    guardian_ = std::make_unique<Guardian>(file_->lock_fd(), [this] {
        const auto journal = file_->read();
        if (!journal) return 0;
        RestoreReport report;
        options_.reopen([&](Host& host, Drive& drive) { report = restore_from(host, drive, mode_.catalogue(), options_.kernel, *file_, *journal); });
        for (const std::string& line : report.restored) std::fprintf(stderr, "sgprobe guardian: %s: put back %s\n", journal->device.c_str(), line.c_str());
        for (const std::string& line : report.left) std::fprintf(stderr, "sgprobe guardian: %s: %s\n", journal->device.c_str(), line.c_str());
        for (const std::string& line : report.failed) std::fprintf(stderr, "sgprobe guardian: %s: NOT put back: %s\n", journal->device.c_str(), line.c_str());
        return report.complete() ? 0 : 99;
    });
}

void Transaction::write_journal() {
    if (file_) file_->write(journal_);
}

void Transaction::record(const Plan& plan) {
    journal_.drive = identity_;
    journal_.device = mode_.drive().name();
    journal_.begun_s = static_cast<std::uint64_t>(std::time(nullptr));
    journal_.pid = static_cast<std::uint64_t>(::getpid());
    const auto page_entry = [&](PageId id, const ByteVector& current, const ByteVector& saved) {
        auto at = std::find_if(journal_.pages.begin(), journal_.pages.end(), [&](const JournalPage& page) { return page.id == id; });
        if (at == journal_.pages.end()) at = journal_.pages.insert(at, {id, false, current, saved});
        at->save = at->save || options_.save;
    };
    const auto field_entry = [&](PageId id, const Field& field, std::uint64_t before, std::uint64_t wanted) {
        for (JournalField& other : journal_.fields)
            if (other.id == id && other.field.byte == field.byte && other.field.bit == field.bit) {
                other.wanted = wanted;
                other.held.reset();
                return;
            }
        journal_.fields.push_back({id, field, before, wanted, {}});
    };
    for (const PagePlan& page : plan.pages) {
        if (!page.changes(options_.save)) continue;
        page_entry(page.id, page.before, page.saved);
        for (const PlannedField& field : page.fields) field_entry(page.id, field.field, field.before, field.wanted);
        if (!options_.save || !page.format) continue;
        for (const Field& field : fields_of(*page.format, page.before)) {   // SP makes current and saved one
            const auto current = *read_field(field, page.wanted);
            if (read_field(field, page.saved) != current && read_field(field, page.before) == current) field_entry(page.id, field, current, current);
        }
    }
    for (const PageValues& other : plan.others) page_entry(other.id, other.current, other.saved);
    for (const PlannedFeature& feature : plan.features) {
        const auto at = std::find_if(journal_.features.begin(), journal_.features.end(), [&](const JournalFeature& f) { return f.name == feature.row->key; });
        if (at != journal_.features.end()) { at->wanted = feature.wanted; at->held = false; }
        else if (feature.before != feature.wanted) journal_.features.push_back({std::string(feature.row->key), feature.before, feature.wanted, false});
    }
    for (const JournalKernel& attribute : plan.kernel) {
        const auto at = std::find_if(journal_.kernel.begin(), journal_.kernel.end(), [&](const JournalKernel& k) { return k.name == attribute.name; });
        if (at != journal_.kernel.end()) at->wanted = attribute.wanted;
        else if (attribute.before != attribute.wanted) journal_.kernel.push_back(attribute);
    }
    write_journal();
}

std::vector<Change> Transaction::set(const std::vector<Assignment>& assignments) {
    Plan plan = make_plan(assignments);
    begin();
    record(plan);
    std::vector<Change> changes;
    const auto kernel = [&](bool write_back) {
        for (const JournalKernel& attribute : plan.kernel) {
            if (attribute.wanted.starts_with("write back") != write_back || attribute.before == attribute.wanted) continue;
            options_.kernel.write(attribute.name, attribute.wanted);
        }
    };
    kernel(true);
    // A reset between two pages undoes the first of them, whose reading back is past by then.
    for (int i = 0;; ++i) {
        const unsigned resets = mode_.resets();
        changes.clear();
        for (PagePlan& page : plan.pages) apply_page(page, changes);
        if (plan.pages.size() < 2 && mode_.resets() == resets) break;
        const auto lines = drifted();
        if (lines.empty()) break;
        if (i == 3) throw Failure(ExitStatus::other, fmt::format("{}: settings do not stay as they are set: {}", mode_.drive().name(), lines.front()));
    }
    for (const PlannedFeature& feature : plan.features) {
        Change change{std::string(feature.row->key), "ATA feature", feature.before, feature.wanted, feature.before, Change::Outcome::unchanged, {}};
        for (int i = 0; feature.before != feature.wanted && i < 3; ++i) {
            const auto set = ata_.set(*feature.row, feature.wanted);
            const auto now = ata_.current(*feature.row);
            if (!now) throw Failure(ExitStatus::malformed, fmt::format("{}: {} cannot be read any more after it was set ({})", mode_.drive().name(), feature.row->key, set.answer));
            change.held = *now;
            change.answer = set.answer;
            change.outcome = change.held == change.wanted ? Change::Outcome::held : !set.accepted ? Change::Outcome::refused
                           : change.held == change.before ? Change::Outcome::ignored : Change::Outcome::altered;
            if (change.outcome == Change::Outcome::held) break;
        }
        for (JournalFeature& entry : journal_.features)
            if (entry.name == feature.row->key) { entry.wanted = change.held; entry.held = true; }
        changes.push_back(std::move(change));
    }
    kernel(false);
    for (const JournalKernel& attribute : plan.kernel) {
        if (attribute.name != "queue_depth") continue;
        Change change{attribute.name, "kernel", std::stoull(attribute.before), std::stoull(attribute.wanted), std::stoull(options_.kernel.read(attribute.name).value_or("0")), Change::Outcome::held, {}};
        if (change.before == change.wanted) change.outcome = Change::Outcome::unchanged;
        else if (change.held != change.wanted) change.outcome = change.held == change.before ? Change::Outcome::ignored : Change::Outcome::altered;
        for (JournalKernel& entry : journal_.kernel)
            if (entry.name == attribute.name) entry.wanted = std::to_string(change.held);
        changes.push_back(std::move(change));
    }
    write_journal();
    return changes;
}

void Transaction::apply_page(PagePlan& page, std::vector<Change>& changes) {
    const bool nothing = !page.changes(options_.save);
    ModeAccess::Selected selected;
    ByteVector now = page.before;
    const auto as_wanted = [&](ByteView bytes) {
        return std::all_of(page.fields.begin(), page.fields.end(), [&](const PlannedField& f) { return read_field(f.field, bytes) == f.wanted; });
    };
    for (int i = 0; !nothing && i < 3; ++i) {
        selected = mode_.select(page.wanted, options_.save);
        now = mode_.settled(page.id);
        if (as_wanted(now) && (!options_.save || as_wanted(mode_.settled(page.id, scsi::PageControl::saved)))) break;
        if (selected.refused) {
            const scsi::Sense sense = scsi::parse_sense(selected.completion.sense.view()).value;
            if (sense.field_pointer)
                selected.answer += "; it points at " + pointed_at(*sense.field_pointer, mode_.select_list(page.wanted), selected.completion.command.cdb.opcode() == 0x55, page.format);
            return look_at_refusal(page, selected.answer, changes);
        }
        if (i == 2 && !selected.accepted)
            throw failure(selected.completion, fmt::format("cannot change mode page {}", label(page.id)), "the former values are put back");
    }
    for (const PlannedField& f : page.fields) {
        Change change{f.field.key, "page " + label(page.id), f.before, f.wanted, read_field(f.field, now).value_or(0), Change::Outcome::held, selected.answer};
        if (change.held != f.wanted) change.outcome = change.held == f.before ? Change::Outcome::ignored : Change::Outcome::altered;
        else if (f.before == f.wanted) change.outcome = Change::Outcome::unchanged;
        changes.push_back(std::move(change));
    }
    if (nothing) return;
    for (JournalField& entry : journal_.fields)
        if (entry.id == page.id) entry.held = read_field(entry.field, now);
    for (const Field& field : page.format ? fields_of(*page.format, now) : std::vector<Field>{}) {
        const auto before = read_field(field, page.before), after = read_field(field, now);
        const bool known = std::any_of(journal_.fields.begin(), journal_.fields.end(), [&](const JournalField& e) { return e.id == page.id && e.field.byte == field.byte && e.field.bit == field.bit; });
        if (!before || before == after || known) continue;
        notes_.push_back(fmt::format("the drive changed {} of page {} as well: {} -> {}", field.key, label(page.id), *before, *after));
        journal_.fields.push_back({page.id, field, *before, *after, after});
    }
    write_journal();
    if (options_.save) repair_other_saved(page);
}

// The same page as it was read tells a value that the drive does not take from a page that it does not take at all.
void Transaction::look_at_refusal(PagePlan& page, const std::string& answer, std::vector<Change>& changes) {
    const auto unchanged = mode_.select(page.before, false);
    for (const PlannedField& f : page.fields)
        changes.push_back({f.field.key, "page " + label(page.id), f.before, f.wanted, f.before, unchanged.refused ? Change::Outcome::page_refused : Change::Outcome::refused, answer});
}

// SP saved the other pages too. Where that cannot be undone the whole change is given up.
void Transaction::repair_other_saved(const PagePlan& page) {
    for (const JournalPage& other : journal_.pages) {
        if (other.id == page.id || !other.save || other.saved.empty()) continue;
        const bool planned = std::any_of(journal_.fields.begin(), journal_.fields.end(), [&](const JournalField& f) { return f.id == other.id; });
        if (planned) continue;
        std::string answer;
        for (int i = 0;; ++i) {
            const bool saved = mode_.settled(other.id, scsi::PageControl::saved) == other.saved, current = mode_.settled(other.id) == other.current;
            if (saved && current) break;
            if (i == 4)
                throw Failure(ExitStatus::other, fmt::format("{}: the drive saved page {} as well, and its former values cannot be put back ({}); the change is given up", mode_.drive().name(), label(other.id), answer));
            if (!saved) answer = mode_.select(other.saved, true).answer;
            answer = mode_.select(other.current, false).answer;
            if (i == 0) notes_.push_back(fmt::format("the drive saved page {} as well; its former saved values were put back", label(other.id)));
        }
    }
}

std::vector<std::string> Transaction::drifted() {
    std::vector<std::string> lines;
    for (const JournalPage& page : journal_.pages) {
        const ByteVector now = mode_.settled(page.id);
        for (const JournalField& f : journal_.fields)
            if (f.id == page.id && f.held && read_field(f.field, now) != f.held)
                lines.push_back(fmt::format("{} of page {} is {} now, {} was set", f.field.key, label(f.id), read_field(f.field, now).value_or(0), *f.held));
    }
    for (const JournalFeature& feature : journal_.features) {
        const auto now = ata_.current(*ata_feature(feature.name));
        if (feature.held && now != feature.wanted) lines.push_back(fmt::format("{} is {} now, {} was set", feature.name, now.value_or(0), feature.wanted));
    }
    return lines;
}

RestoreReport Transaction::restore() {
    RestoreReport report = put_back(mode_, options_.kernel, journal_);
    journal_ = {};
    if (report.complete()) {
        end();
    } else {
        if (file_) report.failed.push_back(fmt::format("what is left to do stays in {}; sgprobe restore tries again", file_->path()));
        guardian_.reset();
        file_.reset();
    }
    return report;
}

void Transaction::keep() {
    journal_ = {};
    end();
}

void Transaction::end() {
    if (file_) file_->remove();
    guardian_.reset();
    file_.reset();
}

RestoreReport restore_from(Host& host, Drive& drive, const Catalogue& catalogue, const KernelView& kernel, JournalFile& file, const Journal& journal) {
    const DriveIdentity identity = identify(host, drive);
    if (!identity.same_drive(journal.drive)) {
        RestoreReport report;
        report.failed.push_back(fmt::format("this is another drive ({}) than the one whose settings were changed ({}); nothing was sent to it", identity.text(), journal.drive.text()));
        return report;
    }
    ModeAccess mode(host, drive, catalogue, identity.vendor);
    RestoreReport report = put_back(mode, kernel, journal);
    if (report.complete()) file.remove();
    return report;
}

}
