// Every command of every kind of run, met by every kind of fault: afterwards the drive has its former values, or the journal still
// has them and restoring brings them back. SGPROBE_FAULTS=full runs all (make faults), =short a seeded sample of 6 %, else 1 %.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <random>

#include "fault_host.h"
#include "settings_target.h"
#include "sgprobe/pages/transaction.h"
#include "sgprobe/transport/failure.h"
#include "sgprobe/transport/signals.h"
#include "sgprobe/transport/virtual_host.h"

using namespace sgprobe;
using namespace sgprobe::pages;
using namespace sgprobe::tests;

namespace {

const Catalogue& catalogue() {
    static const Catalogue all;
    return all;
}

struct Place {
    // In memory where there is such a place: thousands of fsyncs are not what is tested.
    std::filesystem::path folder = (std::filesystem::exists("/dev/shm") ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path()) / ("sgprobe-faults-" + std::to_string(::getpid()));
    std::string state() const { return (folder / "state").string(); }
    std::string journals() const { return (folder / "journal").string(); }
    std::string committed() const { return (folder / "committed").string(); }
};

// The drive as it is on the medium of its settings, for this process.
struct Bench {
    SettingsState state;
    std::unique_ptr<CampaignHost> host;
    std::unique_ptr<Drive> drive;
    bool reset_pending = false;
    Bench(const SettingsState& first, const Place& place, Mishap fault, unsigned index, CampaignHost::Deeds deeds, Signals* signals = nullptr) : state(first) {
        state.file = place.state();
        if (std::filesystem::exists(state.file)) state.load();
        auto within = std::make_unique<VirtualHost>(VirtualHostOptions{}, signals);
        within->add_scheme("sim", [this](const DriveSpec&) { return std::make_unique<SettingsTarget>(state); });
        if (!deeds.kill) deeds.kill = [](Mishap) {};
        deeds.reset = [this] {
            for (auto& [id, page] : state.pages) page.current = page.saved;
            state.store();
        };
        host = std::make_unique<CampaignHost>(std::move(within), fault, index, deeds);
        drive = host->open(DriveSpec::parse("sim:test"));
    }
};

struct Scenario {
    std::string name;
    bool save, ends_changed, needs_journal;
    std::function<void(Transaction&, Host&)> work;   // runs to its end or throws
};

TransactionOptions options_for(const Scenario& scenario, const SettingsState& first, const Place& place, Mishap fault) {
    TransactionOptions options;
    options.journal_folder = place.journals();
    options.save = scenario.save;
    options.reopen = [=](const std::function<void(Host&, Drive&)>& work) {
        if (fault == Mishap::gone) throw Failure(ExitStatus::file_error, "gone");
        Bench bench(first, place, fault == Mishap::refuse_from_here ? fault : Mishap::none, 0, {});
        work(*bench.host, *bench.drive);
    };
    return options;
}

void all_good(Transaction& t, std::string_view list) {
    for (const Change& change : t.set(parse_assignments(list)))
        if (!change.good()) throw Failure(ExitStatus::other, describe(change));
}

bool interrupted(Host& host) { return host.wait(host.now()).kind == Event::Kind::interrupted; }

const Scenario scenarios[] = {
    {"mode --set", false, true, false, [](Transaction& t, Host& host) {
        all_good(t, "WCE=0,DPTL=7,QAM=0");
        if (interrupted(host)) { t.restore(); return; }
        std::ofstream("committed");
        t.keep(); }},
    {"mode --set --save", true, true, false, [](Transaction& t, Host& host) {
        all_good(t, "WCE=0,MIPF=7");
        if (interrupted(host)) { t.restore(); return; }
        std::ofstream("committed");
        t.keep(); }},
    {"a run that varies settings", false, false, false, [](Transaction& t, Host& host) {
        for (const char* list : {"DPTL=0,MAPF=1", "DPTL=9,QAM=2", "ATA_LA=0", "DPTL=65535"}) {
            all_good(t, list);
            if (interrupted(host) || !t.drifted().empty()) break;
        }
        t.restore(); }},
    {"restore", false, false, true, {}},
    {"restore of a --save", true, false, true, {}},
};

SettingsState first_state(Mishap fault) {
    SettingsState state = hybrid_drive();
    state.ata = {{"wc", 1}, {"la", 1}};
    if (resets(fault))
        for (auto& [id, page] : state.pages) page.saved = page.current;
    return state;
}

// Leaves a drive as a crash would: changed, with its journal.
void leave_changed(const Scenario& scenario, const SettingsState& first, const Place& place) {
    const pid_t child = ::fork();
    if (child == 0) {
        Bench bench(first, place, Mishap::none, 0, {});
        TransactionOptions options = options_for(scenario, first, place, Mishap::none);
        options.reopen = {};
        Transaction t(*bench.host, *bench.drive, catalogue(), options);
        t.set(parse_assignments("WCE=0,MIPF=7,QAM=0"));
        ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
}

// What the program does, in a process of its own. Returns how many commands it sent where it lived to say so.
int program(const Scenario& scenario, const SettingsState& first, const Place& place, Mishap fault, unsigned index) {
    const int null = ::open("/dev/null", O_WRONLY);
    ::dup2(null, 2);
    if (::chdir(place.folder.c_str()) != 0) return 98;
    Signals signals;
    Transaction* transaction = nullptr;
    CampaignHost::Deeds deeds;
    deeds.kill = [&](Mishap f) {
        if (f == Mishap::terminate) ::raise(SIGTERM);
        if ((f == Mishap::kill_guardian || f == Mishap::kill_both || f == Mishap::kill_both_after) && transaction && transaction->guardian_pid() > 0) {
            ::kill(transaction->guardian_pid(), SIGKILL);
            ::waitpid(transaction->guardian_pid(), nullptr, 0);
        }
        if (kills_program(f)) ::raise(SIGKILL);
    };
    int status = 0;
    Bench bench(first, place, fault, index, deeds, &signals);
    try {
        if (scenario.needs_journal) {
            const DriveIdentity identity = identify(*bench.host, *bench.drive);
            JournalFile file(place.journals(), identity, "sim:test", std::chrono::milliseconds(0));
            const auto journal = file.read();
            if (journal && !restore_from(*bench.host, *bench.drive, catalogue(), {}, file, *journal).complete()) status = 99;
        } else {
            Transaction t(*bench.host, *bench.drive, catalogue(), options_for(scenario, first, place, fault));
            transaction = &t;
            scenario.work(t, *bench.host);
        }
    } catch (const Failure&) {
        status = 99;
    }
    if (fault == Mishap::none) std::ofstream("commands") << bench.host->commands();
    return status;
}

struct Tally { unsigned runs = 0, restored_later = 0, lost = 0; };

bool same_settings(const SettingsState& a, const SettingsState& b) {
    for (const auto& [id, page] : a.pages)
        if (page.current != b.pages.at(id).current || page.saved != b.pages.at(id).saved) return false;
    return a.ata == b.ata;
}

void run_one(const Scenario& scenario, Mishap fault, unsigned index, Tally& tally) {
    const Place place;
    std::filesystem::remove_all(place.folder);
    std::filesystem::create_directories(place.folder);
    const SettingsState first = first_state(fault);
    if (scenario.needs_journal) leave_changed(scenario, first, place);
    std::cout.flush();
    const pid_t child = ::fork();
    if (child == 0) ::_exit(program(scenario, first, place, fault, index));
    int status = 0;
    ::waitpid(child, &status, 0);
    ++tally.runs;
    // The guardian may still be at work: its lock tells when it is done. Then a healthy program restores what is left.
    std::string trouble;
    Bench after(first, place, Mishap::none, 0, {});
    try {
        const DriveIdentity identity = identify(*after.host, *after.drive);
        JournalFile file(place.journals(), identity, "sim:test", std::chrono::seconds(20));
        after.state.load();
        if (const auto journal = file.read()) {
            ++tally.restored_later;
            const auto report = restore_from(*after.host, *after.drive, catalogue(), {}, file, *journal);
            for (const std::string& line : report.failed) trouble += line + "; ";
            for (const std::string& line : report.left) trouble += line + "; ";
        }
    } catch (const Failure& failure) {
        trouble += failure.what();
    }
    const bool committed = std::filesystem::exists(place.committed());
    const bool former = same_settings(first, after.state);
    bool changed = false;
    if (scenario.ends_changed && committed) {
        SettingsState wanted = first;
        auto& caching = wanted.pages[{8, 0}];
        caching.current[2] = 0x10;
        caching.current[scenario.save ? 7 : 5] = 7;
        if (!scenario.save) caching.current[4] = 0, wanted.pages[{0x0a, 0}].current[3] = 0;
        if (scenario.save) caching.saved = caching.current;
        changed = same_settings(wanted, after.state);
    }
    if ((former || changed) && trouble.empty()) return;
    ++tally.lost;
    if (tally.lost > 5) return;
    std::string difference;
    for (const auto& [id, page] : first.pages) {
        const auto& now = after.state.pages.at(id);
        if (page.current != now.current || page.saved != now.saved)
            difference += "\n  page " + std::to_string(id.first) + " " + hex(page.current) + " / " + hex(page.saved) + "\n      now " + hex(now.current) + " / " + hex(now.saved);
    }
    MESSAGE(scenario.name << ": fault " << static_cast<int>(fault) << " at command " << index << ", exit " << status << (committed ? ", committed" : "") << ": " << trouble << difference);
}

unsigned commands_of(const Scenario& scenario, Mishap like) {
    const Place place;
    std::filesystem::remove_all(place.folder);
    std::filesystem::create_directories(place.folder);
    const SettingsState first = first_state(like);
    if (scenario.needs_journal) leave_changed(scenario, first, place);
    std::cout.flush();
    const pid_t child = ::fork();
    if (child == 0) ::_exit(program(scenario, first, place, Mishap::none, 0));
    ::waitpid(child, nullptr, 0);
    unsigned count = 0;
    std::ifstream(place.folder / "commands") >> count;
    return count;
}

}

TEST_CASE("faults: no setting is lost, whatever meets a change of settings and whenever") {
    const char* wish = std::getenv("SGPROBE_FAULTS");
    const bool full = wish && std::string_view(wish) == "full";
    const unsigned percent = full ? 100 : wish ? 6 : 1;
    std::mt19937_64 random(20260101);
    catalogue();                                   // read once, not in every process
    Tally all;
    for (const Scenario& scenario : scenarios) {
        Tally tally;
        const unsigned commands = commands_of(scenario, Mishap::none), reset_commands = commands_of(scenario, Mishap::bus_reset);
        REQUIRE(commands > 10);
        for (unsigned f = 1; f < static_cast<unsigned>(Mishap::end_); ++f) {
            const Mishap fault = static_cast<Mishap>(f);
            for (unsigned index = 0; index < (resets(fault) ? reset_commands : commands); ++index)
                if (random() % 100 < percent) run_one(scenario, fault, index, tally);
        }
        if (full) MESSAGE(scenario.name << ": " << commands << " commands, " << tally.runs << " runs, " << tally.restored_later << " left to restore, " << tally.lost << " lost");
        CHECK(tally.lost == 0);
        all.runs += tally.runs;
        all.restored_later += tally.restored_later;
        all.lost += tally.lost;
    }
    MESSAGE("faults: " << all.runs << " runs, " << all.restored_later << " left to sgprobe restore, " << all.lost << " lost");
    std::filesystem::remove_all(Place{}.folder);
}
