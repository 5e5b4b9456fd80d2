#include "sgprobe/pages/transaction.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "settings_target.h"
#include "sgprobe/transport/failure.h"
#include "sgprobe/transport/virtual_host.h"

using namespace sgprobe;
using namespace sgprobe::pages;
using namespace sgprobe::tests;

namespace {
const Catalogue& catalogue() {
    static const Catalogue all;
    return all;
}
struct Bench {
    SettingsState state;
    VirtualHost host;
    std::unique_ptr<Drive> drive;
    TransactionOptions options;
    explicit Bench(SettingsState s = hybrid_drive()) : state(std::move(s)) { drive = host.attach(std::make_unique<SettingsTarget>(state), "test:drive"); }
    Transaction open() { return Transaction(host, *drive, catalogue(), options); }
    std::string refusal(const std::string& list, int status = 5) {
        const auto selects = state.selects.size();
        Transaction t(host, *drive, catalogue(), options);
        try {
            t.set(parse_assignments(list));
        } catch (const Failure& failure) {
            CHECK(failure.status() == status);
            CHECK(state.selects.size() == selects);
            return failure.what();
        }
        return "";
    }
};
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
}

TEST_CASE("transaction: a change is read back, and restored to the values found, not to the defaults (A04)") {
    Bench b;
    const SettingsState before = b.state;
    {
        Transaction t(b.host, *b.drive, catalogue(), b.options);
        const auto changes = t.set(parse_assignments("WCE=0"));
        REQUIRE(changes.size() == 1);
        CHECK(changes[0].outcome == Change::Outcome::held);
        REQUIRE(b.state.selects.size() == 1);
        CHECK(b.state.selects[0] == from_hex("55 10 00 00 00 00 00 00 1c 00  00 00 00 00 00 00 00 00  08 12 10 00 ff ff 00 00 ff ff ff ff 91 20 00 00 00 00 00 00"));
        const auto report = t.restore();
        CHECK(report.restored == std::vector<std::string>{"WCE of page 08h: 0 -> 1"});
        CHECK(report.complete());
    }
    CHECK(b.state.pages[{8, 0}].current == before.pages.at({8, 0}).current);
    CHECK(b.state.pages[{8, 0}].saved == before.pages.at({8, 0}).saved);
}

TEST_CASE("transaction: what was not kept is put back when it goes out of sight") {
    Bench b;
    const ByteVector before = b.state.pages[{8, 0}].current;
    {
        Transaction t(b.host, *b.drive, catalogue(), b.options);
        t.set(parse_assignments("DPTL=0,MAPF=5"));
        CHECK(b.state.pages[{8, 0}].current != before);
        t.set(parse_assignments("DPTL=7,QAM=0"));   // more of it: back to the first values all the same
        CHECK(t.drifted().empty());
        b.state.pages[{8, 0}].current[5] = 9;
        CHECK(t.drifted().size() == 1);
        b.state.pages[{8, 0}].current[5] = 7;
    }
    CHECK(b.state.pages[{8, 0}].current == before);
    CHECK(b.state.pages[{0x0a, 0}].current[3] == 0x10);
}

TEST_CASE("transaction: what the drive does not let change is refused by name, and nothing is sent") {
    Bench b;
    CHECK(has(b.refusal("FSW=0"), "FSW (Force sequential write) of mode page 08h cannot be changed"));
    CHECK(has(b.refusal("WCE=0,NCS=1"), "NCS"));
    CHECK(has(b.refusal("DISC=1"), "DISC"));                       // even to the value that it has
    CHECK(has(b.refusal("TPZ=1"), "no mode page 03h"));
    CHECK(has(b.refusal("NONSENSE=1", 1), "NONSENSE"));
    CHECK(has(b.refusal("DPTL=65536", 1), "greatest value is 65535"));
    CHECK(has(b.refusal("ATA_LA=0"), "no ATA drive"));
    CHECK(has(b.refusal("queue_depth=4"), "no kernel"));
    CHECK(has(b.refusal("T2CDLU=1", 1), "more than one page"));
    b.options.save = true;
    CHECK(has(b.refusal("DEXCPT=1"), "PS is 0"));                  // A14
    CHECK(has(b.refusal("DEXCPT=1"), "lasts until the next reset or power cycle"));
    b.state.pages[{8, 0}].changeable = from_hex("88 02 04 00");    // A06: a short mask stands for zeros
    b.options.save = false;
    CHECK(has(b.refusal("DPTL=0"), "DPTL"));
    CHECK(b.refusal("WCE=0") == "");
}

TEST_CASE("transaction: an interface that refuses the page even unchanged is told as such, and nothing is put back (A13)") {
    Bench b;
    b.state.refuse_select = true;
    Transaction t(b.host, *b.drive, catalogue(), b.options);
    const auto changes = t.set(parse_assignments("WCE=0"));
    REQUIRE(changes.size() == 1);
    CHECK(changes[0].outcome == Change::Outcome::page_refused);
    CHECK(has(describe(changes[0]), "even unchanged"));
    CHECK(has(describe(changes[0]), "26h"));
    const auto selects = b.state.selects.size();
    CHECK(t.restore().restored.empty());
    CHECK(b.state.selects.size() == selects);
}

TEST_CASE("transaction: a value that is refused, ignored or rounded is told apart") {
    Bench b;
    b.state.twist = [](SettingsState&, ByteVector& page) { if (page[8] == 0 && page[9] > 100) page[9] = 100; };
    b.state.ignored = from_hex("00 00 00 00 ff ff");
    Transaction t(b.host, *b.drive, catalogue(), b.options);
    auto changes = t.set(parse_assignments("DPTL=3,MAPF=200"));
    CHECK(changes[0].outcome == Change::Outcome::ignored);
    CHECK(changes[1].outcome == Change::Outcome::altered);
    CHECK(changes[1].held == 100);
    CHECK(t.restore().complete());
    CHECK(b.state.pages[{8, 0}].current[9] == 0xff);
}

TEST_CASE("transaction: what the drive changes of its own accord beside what was asked goes back too") {
    Bench b;
    b.state.twist = [](SettingsState&, ByteVector& page) { if (page[5] == 1) page[7] = 44; };
    const ByteVector before = b.state.pages[{8, 0}].current;
    Transaction t(b.host, *b.drive, catalogue(), b.options);
    t.set(parse_assignments("DPTL=1"));
    CHECK(b.state.pages[{8, 0}].current[7] == 44);
    REQUIRE(t.notes().size() == 1);
    CHECK(has(t.notes()[0], "MIPF"));
    t.restore();
    CHECK(b.state.pages[{8, 0}].current == before);
}

TEST_CASE("transaction: somebody's later change is reported and left") {
    Bench b;
    Transaction t(b.host, *b.drive, catalogue(), b.options);
    t.set(parse_assignments("MAPF=1,MIPF=1"));
    b.state.pages[{8, 0}].current[9] = 77;
    const auto report = t.restore();
    CHECK(report.complete());
    REQUIRE(report.left.size() == 1);
    CHECK(has(report.left[0], "MAPF of page 08h is 77"));
    CHECK(b.state.pages[{8, 0}].current[9] == 77);
    CHECK(b.state.pages[{8, 0}].current[7] == 0);
}

TEST_CASE("transaction: --save changes the saved values of that page alone, although SP saves all pages") {
    Bench b;
    b.options.save = true;
    const ByteVector control_saved = b.state.pages[{0x0a, 0}].saved, control = b.state.pages[{0x0a, 0}].current;
    Transaction t(b.host, *b.drive, catalogue(), b.options);
    const auto changes = t.set(parse_assignments("MIPF=9"));
    CHECK(changes[0].good());
    CHECK(b.state.pages[{8, 0}].saved[7] == 9);
    CHECK(b.state.pages[{0x0a, 0}].saved == control_saved);
    CHECK(b.state.pages[{0x0a, 0}].current == control);
    t.keep();
    CHECK(b.state.pages[{8, 0}].current[7] == 9);
}

TEST_CASE("transaction: a --save that is taken back restores current and saved values, which differed") {
    Bench b;
    b.options.save = true;
    const SettingsState before = b.state;
    {
        Transaction t(b.host, *b.drive, catalogue(), b.options);
        t.set(parse_assignments("MIPF=9"));
        CHECK(t.restore().complete());
    }
    for (const auto& [id, page] : before.pages) {
        CAPTURE(id.first);
        CHECK(b.state.pages[id].current == page.current);
        CHECK(b.state.pages[id].saved == page.saved);
    }
}

TEST_CASE("transaction: drives of all manners can be changed and put back") {
    const std::pair<const char*, void (*)(SettingsState&)> manners[] = {
        {"only 6-byte commands", [](SettingsState& s) { s.no_ten = true; }},
        {"only 10-byte commands", [](SettingsState& s) { s.no_six = true; }},
        {"DBD refused", [](SettingsState& s) { s.refuse_dbd = true; }},
        {"DBD ignored", [](SettingsState& s) { s.ignore_dbd = true; }},
        {"block descriptors wanted", [](SettingsState& s) { s.ignore_dbd = s.want_descriptors = true; }},
        {"DBD refused, descriptors wanted, 6 bytes", [](SettingsState& s) { s.refuse_dbd = s.want_descriptors = s.no_ten = true; }},
        {"no saved values", [](SettingsState& s) { s.no_saved = true; }},
        {"no unit attention", [](SettingsState& s) { s.attention = false; }},
    };
    for (const auto& [name, manner] : manners)
        for (const bool six : {false, true}) {
            CAPTURE(name);
            CAPTURE(six);
            Bench b;
            manner(b.state);
            b.options.six_byte_first = six;
            const ByteVector before = b.state.pages[{8, 0}].current;
            Transaction t(b.host, *b.drive, catalogue(), b.options);
            CHECK(t.set(parse_assignments("WCE=0"))[0].outcome == Change::Outcome::held);
            CHECK(b.state.pages[{8, 0}].current[2] == 0x10);
            CHECK(t.restore().complete());
            CHECK(b.state.pages[{8, 0}].current == before);
        }
}

TEST_CASE("transaction: ATA features are set by SET FEATURES and put back, through the 16- and the 12-byte command") {
    for (const bool twelve : {false, true}) {
        Bench b;
        b.state.ata = {{"wc", 1}, {"la", 1}, {"apm", 128}};
        b.state.no_pass_through_16 = twelve;
        const auto before = b.state.ata;
        Transaction t(b.host, *b.drive, catalogue(), b.options);
        const auto changes = t.set(parse_assignments("ATA_LA=0,ATA_APM=1,ATA_WC=0"));
        REQUIRE(changes.size() == 3);
        for (const Change& change : changes) CHECK(change.good());
        CHECK(b.state.ata["la"] == 0);
        CHECK(b.state.ata["apm"] == 1);
        CHECK(has(b.refusal("ATA_AAM=128"), "not supported by this drive"));
        CHECK(t.restore().complete());
        CHECK(b.state.ata == before);
    }
}

TEST_CASE("transaction: the kernel's idea of the cache goes with WCE, and a mounted write-through disk is not given a cache") {
    const auto folder = std::filesystem::temp_directory_path() / ("sgprobe-kernel-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder / "scsi_disk" / "0:0:0:0");
    std::filesystem::create_directories(folder / "block" / "sda" / "sda1");
    const auto put = [&](const std::string& name, const std::string& text) { std::ofstream(folder / name) << text << '\n'; };
    const auto get = [&](const std::string& name) { std::string text; std::ifstream in(folder / name); std::getline(in, text); return text; };
    put("scsi_disk/0:0:0:0/cache_type", "write through");
    put("queue_depth", "31");
    put("block/sda/dev", "8:0");
    put("block/sda/sda1/dev", "8:1");
    put("block/sda/sda1/partition", "1");
    put("mountinfo", "29 1 8:1 / /home rw,relatime shared:1 - ext4 /dev/sda1 rw");
    Bench b;
    b.state.pages[{8, 0}].current[2] = 0x10;
    b.options.kernel = KernelView(folder.string(), (folder / "mountinfo").string());
    CHECK(has(b.refusal("WCE=1", 31), "--force"));
    b.options.force = true;
    {
        Transaction t(b.host, *b.drive, catalogue(), b.options);
        t.set(parse_assignments("WCE=1,queue_depth=4"));
        CHECK(get("scsi_disk/0:0:0:0/cache_type") == "temporary write back");
        CHECK(get("queue_depth") == "4");
        put("scsi_disk/0:0:0:0/cache_type", "write back");     // as the kernel then shows it
        put("queue_depth", "4");
        CHECK(t.restore().complete());
    }
    CHECK(get("scsi_disk/0:0:0:0/cache_type") == "temporary write through");
    CHECK(get("queue_depth") == "31");
    b.options.force = false;
    put("scsi_disk/0:0:0:0/cache_type", "write through");
    put("mountinfo", "29 1 8:17 / /home rw,relatime shared:1 - ext4 /dev/sdb1 rw");
    CHECK(b.refusal("WCE=1", 31) == "");
    std::filesystem::remove_all(folder);
}

TEST_CASE("transaction: --dry-run shows the exact bytes and sends none of them") {
    Bench b;
    b.options.save = true;
    Transaction t(b.host, *b.drive, catalogue(), b.options);
    std::vector<Transaction::Sent> sent;
    t.plan(parse_assignments("WCE=0"), &sent);
    REQUIRE(sent.size() == 1);
    CHECK(b.state.selects.empty());
    CHECK(sent[0].data == from_hex("00 00 00 00 00 00 00 00  08 12 10 00 ff ff 00 00 ff ff ff ff 91 20 00 00 00 00 00 00"));
    CHECK(hex(sent[0].cdb.view()) == "5511000000000000" "1c00");
}
