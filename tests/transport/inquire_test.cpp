#include "sgprobe/transport/inquire.h"

#include <doctest/doctest.h>

#include "../hex.h"
#include "../scripted_target.h"
#include "sgprobe/scsi/identify.h"
#include "sgprobe/scsi/inquiry.h"
#include "sgprobe/transport/virtual_host.h"

using namespace sgprobe;
using namespace sgprobe::test;
using State = Reply::State;

namespace {
struct Bench {
    VirtualHost host;
    std::unique_ptr<Drive> drive;
    ScriptedTarget* target;
    Inquirer inquirer;
    explicit Bench(ScriptedTarget::Script script, const Precautions& precautions = {})
        : drive(attach(std::move(script))), inquirer(host, *drive) { drive->set_precautions(precautions); }
    std::unique_ptr<Drive> attach(ScriptedTarget::Script script) {
        auto made = std::make_unique<ScriptedTarget>(std::move(script));
        target = made.get();
        return host.attach(std::move(made), "scripted");
    }
};
ByteVector vpd_page(std::uint8_t code, std::size_t length, std::uint8_t fill = 0) {
    ByteVector page(length + 4, fill);
    page[0] = 0;
    page[1] = code;
    page[2] = static_cast<std::uint8_t>(length >> 8);
    page[3] = static_cast<std::uint8_t>(length);
    return page;
}
const ByteVector standard = scsi::build_inquiry({.device_type = 0, .removable = true, .version = 6, .response_format = 2, .vendor = "USB", .product = "Bridge", .revision = "1.00"});
std::string all(const std::vector<std::string>& texts) {
    std::string out;
    for (const auto& text : texts) out += text + "\n";
    return out;
}
}

TEST_CASE("a VPD page longer than the first allocation is read whole") {
    Bench bench([](ByteView, Bytes) { return good(vpd_page(0x83, 400, 1)); });
    const Reply reply = bench.inquirer.vpd(0x83);
    CHECK(reply);
    CHECK(reply.bytes.size() == 404);
}

TEST_CASE("a device that fails a large allocation is asked for four bytes before its page is called absent") {
    const auto page = vpd_page(0xb0, 0x3c);
    for (const bool hangs : {false, true}) {
        Bench bench([&](ByteView cdb, Bytes length) {
            if (cdb[4] > 64 || length > 64) return hangs ? Answer{.never = true} : unsupported();
            return good(page);
        });
        const Reply reply = bench.inquirer.vpd(0xb0);
        CHECK(reply);
        CHECK(reply.bytes == page);
        REQUIRE(bench.target->cdbs().size() == 3);
        CHECK(bench.target->cdbs()[1][4] == 4);
        CHECK(bench.target->cdbs()[2][4] == 64);
    }
}

TEST_CASE("a page that is refused in every size is absent, and the reason is what came back") {
    Bench bench([](ByteView, Bytes) { return unsupported(); });
    const Reply reply = bench.inquirer.vpd(0xb1);
    CHECK(reply.state == State::absent);
    CHECK(reply.reason.find("24h/00h") != std::string::npos);
    CHECK(reply.exit_status == 5);
}

TEST_CASE("standard INQUIRY data with GOOD status in place of a VPD page is caught") {
    Bench bench([](ByteView, Bytes) { return good(standard); });
    for (const std::uint8_t page : ByteVector{0x00, 0x80, 0x83, 0xb0}) {
        const Reply reply = bench.inquirer.vpd(page);
        CHECK(reply.state == State::malformed);
        CHECK(reply.bytes.empty());
        CHECK(reply.exit_status == 97);
    }
    CHECK(bench.inquirer.vpd_pages().empty());
}

TEST_CASE("another page than the one asked for is caught") {
    Bench bench([](ByteView, Bytes) { return good(vpd_page(0x80, 8, 'A')); });
    CHECK(bench.inquirer.vpd(0x80));
    CHECK(bench.inquirer.vpd(0x83).state == State::malformed);
}

TEST_CASE("a stale tail past the page's own length is left out") {
    auto page = vpd_page(0xb1, 0x3c);
    page.resize(252, 0xee);
    Bench bench([&](ByteView, Bytes) { return good(page); });
    const Reply reply = bench.inquirer.vpd(0xb1);
    CHECK(reply);
    CHECK(reply.bytes.size() == 64);
    CHECK(reply.notes.size() == 1);
}

TEST_CASE("the previous reply repeated is not the answer to this question") {
    const auto identify = scsi::build_identify({.serial = "S", .firmware = "F", .model = "M", .sectors = 1000});
    Bench bench([&](ByteView, Bytes) { return good(identify); });
    CHECK(bench.inquirer.identify());
    CHECK(bench.inquirer.smart_data().state == State::malformed);   // its checksum is right
}

TEST_CASE("a USB status wrapper in the data is caught") {
    Bench bench([](ByteView, Bytes) { return good(from_hex("55 53 42 53 01 00 00 00 00 00 00 00 00")); });
    const CapacityReply reply = bench.inquirer.capacity();
    CHECK(reply.state != State::present);
    CHECK_FALSE(reply.capacity.blocks);
    CHECK(all(reply.problems).find("USBS") != std::string::npos);
}

TEST_CASE("data that comes with CHECK CONDITION is dropped whatever the residual says") {
    Bench bench([](ByteView, Bytes) {
        Answer answer = check(scsi::SenseKey::medium_error, 0x11, 0);
        answer.data = vpd_page(0xb0, 0x3c);
        answer.resid = 0;
        return answer;
    });
    const Reply reply = bench.inquirer.vpd(0xb0);
    CHECK(reply.state == State::failed);
    CHECK(reply.bytes.empty());
    CHECK(reply.exit_status == 3);
}

TEST_CASE("a deferred error is another command's: the question is asked again") {
    int asked = 0;
    Bench bench([&](ByteView, Bytes) { return ++asked == 1 ? check(scsi::SenseKey::medium_error, 0x0c, 0, true) : good(vpd_page(0x80, 4, 'X')); });
    CHECK(bench.inquirer.vpd(0x80));
    CHECK(asked == 2);
}

TEST_CASE("a unit attention does not make a page absent, and one that never ends does not hang") {
    int asked = 0;
    Bench once([&](ByteView, Bytes) { return ++asked == 1 ? check(scsi::SenseKey::unit_attention, 0x29, 0) : good(vpd_page(0x80, 4, 'X')); });
    CHECK(once.inquirer.vpd(0x80));
    Bench always([](ByteView, Bytes) { return check(scsi::SenseKey::unit_attention, 0x29, 0); });
    CHECK(always.inquirer.vpd(0x80).state == State::failed);
}

TEST_CASE("a mode header without its page is absent, not a page of zeros") {
    Bench bench([](ByteView cdb, Bytes) { return cdb[0] == 0x1a ? good(from_hex("03 00 00 00")) : check(scsi::SenseKey::illegal_request, 0x20, 0); });
    const ModeReply reply = bench.inquirer.mode({.page = 0x08});
    CHECK_FALSE(reply);
    CHECK(reply.data.pages.empty());
}

TEST_CASE("a drive without MODE SENSE(10) is asked in the 6-byte form, and from then on at once") {
    const auto caching = from_hex("17 00 00 00 08 12 04 00 ff ff 00 00 ff ff ff ff 80 14 00 00 00 00 00 00");
    Bench bench([&](ByteView cdb, Bytes) { return cdb[0] == 0x5a ? check(scsi::SenseKey::illegal_request, 0x20, 0) : good(caching); });
    const ModeReply reply = bench.inquirer.mode({.page = 0x08});
    CHECK(reply);
    CHECK_FALSE(reply.ten_byte);
    REQUIRE(reply.data.find(0x08));
    const auto before = bench.target->cdbs().size();
    CHECK(bench.inquirer.mode({.page = 0x08, .control = scsi::PageControl::saved}));
    CHECK(bench.target->cdbs().size() == before + 1);
}

TEST_CASE("another mode page than the one asked for, or half of it, is malformed") {
    Bench other([](ByteView cdb, Bytes) { return cdb[0] == 0x5a ? good(from_hex("00 12 00 00 00 00 00 00 0a 0a 02 00 00 00 00 00 00 00 00 1e")) : unsupported(); });
    CHECK(other.inquirer.mode({.page = 0x08}).state == State::malformed);
    Bench half([](ByteView cdb, Bytes) { return cdb[0] == 0x5a ? good(from_hex("00 0e 00 00 00 00 00 00 08 12 04 00 ff ff 00 00")) : unsupported(); });
    const ModeReply reply = half.inquirer.mode({.page = 0x08});
    CHECK(reply.state == State::malformed);
    CHECK(reply.data.pages.empty());
}

TEST_CASE("what a quirk forbids is not asked") {
    Bench bench([](ByteView, Bytes) { return unsupported(); }, {.no_mode_sense = true, .no_vpd = true, .no_ata_pass_through = true});
    CHECK(bench.inquirer.mode({.page = 0x3f}).state == State::skipped);
    CHECK(bench.inquirer.vpd(0x00).state == State::skipped);
    CHECK(bench.inquirer.identify().state == State::skipped);
    CHECK(bench.target->cdbs().empty());
}

TEST_CASE("an IDENTIFY whose checksum is wrong is not used") {
    auto identify = scsi::build_identify({.serial = "S", .firmware = "F", .model = "M", .sectors = 1000});
    identify[200] = static_cast<std::uint8_t>(identify[200] ^ 0xff);
    Bench bench([&](ByteView, Bytes) { return good(identify); });
    CHECK(bench.inquirer.identify().state == State::malformed);
}

TEST_CASE("a capacity past 2^32 blocks is asked with READ CAPACITY(16), and two that differ are not mixed") {
    const scsi::Capacity large{.blocks = 0x200000000, .block_bytes = 512, .physical_exponent = 3};
    Bench bench([&](ByteView cdb, Bytes) { return good(cdb[0] == 0x25 ? scsi::build_capacity_10(large) : scsi::build_capacity_16(large)); });
    const CapacityReply reply = bench.inquirer.capacity();
    CHECK(reply);
    CHECK(reply.capacity.blocks == Blocks{0x200000000});
    CHECK(reply.capacity.physical_exponent == 3);
    Bench liar([&](ByteView cdb, Bytes) {
        return good(cdb[0] == 0x25 ? scsi::build_capacity_10({.blocks = 1000, .block_bytes = 512}) : scsi::build_capacity_16(large));
    });
    const CapacityReply contradiction = liar.inquirer.capacity();
    CHECK(contradiction.capacity.blocks == Blocks{1000});
    CHECK(contradiction.problems.size() == 1);
}

TEST_CASE("a device known to say one block too many is believed less by one") {
    Bench bench([&](ByteView cdb, Bytes) { return cdb[0] == 0x25 ? good(scsi::build_capacity_10({.blocks = 1001, .block_bytes = 512})) : unsupported(); },
                {.capacity_one_too_large = true});
    CHECK(bench.inquirer.capacity().capacity.blocks == Blocks{1000});
}
