// Changing a drive's settings so that whatever happens they can be put back: mode page fields, ATA features, the kernel's queue_depth.
//
//     Transaction settings(host, drive, catalogue, options);
//     settings.set(parse_assignments("DPTL=-1,MAPF=-1"));     // journal first, then MODE SELECT, then read back
//     ...
//     settings.restore();                                     // or keep(); the destructor restores what is neither
//
// set() may be called again with other values: what is put back is always what was found at first. While changes are in force a
// guardian process stands by, and the journal is on stable storage, where options.journal_folder says so. Virtual drives without a
// state that outlives them need neither. Throws Failure for what is refused before anything is sent, and where the drive gives no answer.
#pragma once
#include <chrono>
#include <functional>
#include <memory>

#include "sgprobe/pages/ata_features.h"
#include "sgprobe/pages/editor.h"
#include "sgprobe/pages/guardian.h"
#include "sgprobe/pages/journal.h"
#include "sgprobe/pages/restore.h"

namespace sgprobe::pages {

// Opens the drive afresh in another process and works with it.
using Reopen = std::function<void(const std::function<void(Host&, Drive&)>&)>;

struct TransactionOptions {
    std::string journal_folder;                   // empty: no journal, no lock, no guardian
    Reopen reopen;                                // for the guardian; empty: none
    KernelView kernel;
    bool save = false, force = false, six_byte_first = false;
    std::chrono::milliseconds patience{5000};     // for another program's lock
};

// One setting that was asked for, and what became of it.
struct Change {
    enum class Outcome : std::uint8_t { planned, unchanged, held, altered, ignored, refused, page_refused };
    std::string key, place;                       // "DPTL", "page 08h"
    std::uint64_t before = 0, wanted = 0, held = 0;
    Outcome outcome = Outcome::planned;           // altered: another value than asked for; ignored: GOOD, and as before;
    std::string answer;                           // refused: this value; page_refused: the page even unchanged. The drive's words
    bool good() const { return outcome == Outcome::held || outcome == Outcome::unchanged; }
};
std::string describe(const Change&);              // a sentence, without the drive's name

// A setting as it stands, for display and for levels such as "default".
struct SettingInfo {
    std::string key, place, name;
    std::uint64_t current = 0, greatest = 1;
    std::optional<std::uint64_t> defaults, saved;
    Changeable changeable = Changeable::no;
};

class Transaction {
public:
    Transaction(Host&, Drive&, const Catalogue&, TransactionOptions);
    ~Transaction();                               // restores what was not kept; complaints go to standard error
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;

    const DriveIdentity& identity() const { return identity_; }
    ModeAccess& mode() { return mode_; }
    AtaFeatures* ata();                           // null where the drive is no ATA drive

    SettingInfo look_up(const Assignment&);       // throws Failure where there is no such setting on this drive
    struct Sent { scsi::Cdb cdb; ByteVector data; };
    // Checks everything that set() would, and sends no change. `sent`: the commands that set() would send.
    std::vector<Change> plan(const std::vector<Assignment>&, std::vector<Sent>* sent = nullptr);
    std::vector<Change> set(const std::vector<Assignment>&);
    std::vector<std::string> drifted();           // settings that are no longer as set() left them
    RestoreReport restore();
    void keep();                                  // the changes stay; the journal goes
    bool changed() const { return !journal_.empty(); }
    const std::vector<std::string>& notes() const { return notes_; }
    pid_t guardian_pid() const { return guardian_ ? guardian_->pid() : -1; }

private:
    struct PagePlan;
    struct Plan;
    Plan make_plan(const std::vector<Assignment>&);
    void plan_page_field(Plan&, const Assignment&);
    void check_cache(Plan&);
    void begin();                                 // the lock, the guardian
    void record(const Plan&);
    void write_journal();
    void apply_page(PagePlan&, std::vector<Change>&);
    void look_at_refusal(PagePlan&, const std::string& answer, std::vector<Change>&);
    void repair_other_saved(const PagePlan&);
    void end();

    DriveIdentity identity_;
    ModeAccess mode_;
    AtaFeatures ata_;
    std::optional<bool> ata_there_;
    TransactionOptions options_;
    std::unique_ptr<JournalFile> file_;
    std::unique_ptr<Guardian> guardian_;
    Journal journal_;
    std::vector<std::string> notes_;
};

// What `sgprobe restore` and the guardian do with one drive and its journal, whose lock is held. Removes the journal when all is back.
RestoreReport restore_from(Host&, Drive&, const Catalogue&, const KernelView&, JournalFile&, const Journal&);

}
