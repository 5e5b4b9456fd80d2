#include "sgprobe/pages/quirks.h"

#include <doctest/doctest.h>

#include <set>

#include "../scripted_target.h"
#include "sgprobe/transport/describe.h"
#include "sgprobe/transport/failure.h"
#include "sgprobe/transport/inquire.h"
#include "sgprobe/transport/virtual_host.h"

using namespace sgprobe;
using namespace sgprobe::pages;

namespace {
Precautions of(const DeviceId& id) { return precautions(Quirks::built_in().of(id)); }
bool told(const DeviceId& id, std::string_view words) {
    for (const std::string& text : sentences(id))
        if (text.find(words) != std::string::npos) return true;
    return false;
}
DeviceId ata(const char* model, const char* firmware) { return {.vendor = "ATA", .product = std::string(model).substr(0, 16), .revision = {}, .ata_model = model, .ata_firmware = firmware, .usb_vendor = {}, .usb_product = {}, .usb_bcd = {}}; }
DeviceId usb(std::uint16_t vendor, std::uint16_t product, std::uint16_t bcd, bool uas = false) {
    return {.vendor = {}, .product = {}, .revision = {}, .ata_model = {}, .ata_firmware = {}, .usb_vendor = vendor, .usb_product = product, .usb_bcd = bcd, .uas = uas};
}
}

TEST_CASE("the list of known limits reads without a fault and says nothing twice") {
    std::set<std::string> seen;
    CHECK(Quirks::built_in().rows().size() > 200);
    for (const Quirk& row : Quirks::built_in().rows()) {
        CHECK(seen.insert(row.bus + row.pattern + row.firmware + row.limit).second);
        CHECK(sentence(row).find('{') == std::string::npos);
    }
    CHECK_THROWS_AS(Quirks("ata\tX\t*\tno_such_limit\t1\tflag\tfile\tcurrent\t\n"), Failure);
    CHECK_THROWS_AS(Quirks("usb\t12345:1\t*\tmax_sectors\t1\tflag\tfile\tcurrent\t\n"), Failure);
}

TEST_CASE("a model that corrupts data above 1024 sectors is told, and only with the firmware that does") {
    CHECK(told(ata("ST380013AS", "3.20"), "limits this model to 1024 sectors (512 KiB): silent corruption"));
    CHECK_FALSE(told(ata("ST380013AS", "3.18"), "1024"));
    CHECK(of(ata("LITEON CX1-JB256-HP", "x")).max_transfer_bytes == Bytes{1024 * 512});
    CHECK(of(ata("DELLBOSS VD", "MV.R00-0")).max_transfer_bytes == Bytes{8191 * 512});
}

TEST_CASE("the whole ATA firmware is matched, not the last four characters that INQUIRY has") {
    CHECK(told(ata("ST31500341AS", "SD17"), "NCQ"));
    CHECK_FALSE(told(ata("ST31500341AS", "SD1A"), "NCQ"));
    CHECK(told(ata("HTS541060G9SA00", "MB3OC60D"), "NCQ"));
    DeviceId inquiry_alone = ata("HTS541060G9SA00", "");
    inquiry_alone.ata_model.clear();
    inquiry_alone.revision = "C60D";
    CHECK_FALSE(told(inquiry_alone, "NCQ"));
    CHECK(told(ata("WDC WD740ADFD-00NLR1", "20.07P20"), "slow"));
}

TEST_CASE("a USB device is matched by its ids and a range of its release number") {
    CHECK(of(usb(0x0421, 0x047c, 0x0400)).max_transfer_bytes == Bytes{64 * 512});
    CHECK_FALSE(of(usb(0x0421, 0x047c, 0x0611)).max_transfer_bytes);
    CHECK(of(usb(0x090c, 0x3350, 0x0100)).max_sense_bytes == 18u);
    CHECK(of(usb(0x046b, 0xff40, 0x0100)).no_mode_sense);
    CHECK(of(usb(0x152d, 0x0578, 0x0001)).no_fua);
    CHECK_FALSE(of(usb(0x0bc2, 0x2312, 1)).no_ata_pass_through);
    CHECK(of(usb(0x0bc2, 0x2312, 1, true)).no_ata_pass_through);
}

TEST_CASE("the last sectors of any USB disk are read with care, and nothing is said of it") {
    CHECK(of(usb(0x1234, 0x5678, 1)).last_blocks_single == Blocks{8});
    CHECK(sentences(usb(0x1234, 0x5678, 1)).empty());
    CHECK_FALSE(of(ata("ST3500418AS", "CC38")).last_blocks_single);
}

TEST_CASE("a SCSI device is matched as the kernel does: the vendor whole, the model from its start") {
    CHECK(of({.vendor = "SEAGATE", .product = "ST900MM0006", .revision = "LS06", .ata_model = {}, .ata_firmware = {}, .usb_vendor = {}, .usb_product = {}, .usb_bcd = {}}).no_vpd);
    CHECK_FALSE(of({.vendor = "SEAGATE2", .product = "ST900MM0006", .revision = {}, .ata_model = {}, .ata_firmware = {}, .usb_vendor = {}, .usb_product = {}, .usb_bcd = {}}).no_vpd);
    CHECK(of({.vendor = "MSFT", .product = "Virtual HD", .revision = {}, .ata_model = {}, .ata_firmware = {}, .usb_vendor = {}, .usb_product = {}, .usb_bcd = {}}).max_transfer_bytes == Bytes{1024 * 512});
}

TEST_CASE("what the kernel once knew is told and not obeyed") {
    const DeviceId id = ata("HITACHI HDS7250SASUN500G 0726K9", "K2AOAJ0A");
    CHECK(told(id, "once"));
    CHECK_FALSE(of(id).no_ncq);
}

TEST_CASE("globs are the kernel's") {
    CHECK(glob("ST3640[36]23AS", "ST3640623AS"));
    CHECK_FALSE(glob("ST3640[36]23AS", "ST3640523AS"));
    CHECK(glob("SD1[5-9]", "SD15"));
    CHECK_FALSE(glob("SD1[5-9]", "SD1A"));
    CHECK(glob("*a*b", "xaxbxab"));
    CHECK_FALSE(glob("Maxtor", "Maxtor 7V300F0"));
    CHECK(glob("[!a]b", "cb"));
    CHECK(glob("[", "["));
}

TEST_CASE("a command that breaks the device is not sent, and the message says why") {
    VirtualHost host;
    auto made = std::make_unique<test::ScriptedTarget>([](ByteView, Bytes) { return test::good({}); });
    test::ScriptedTarget& target = *made;
    auto drive = host.attach(std::move(made), "scripted");
    obey(*drive, usb(0x046b, 0xff40, 0x0100));
    Command command;
    command.cdb = scsi::mode_sense_6({.page = 8}, 192);
    command.direction = scsi::Direction::in;
    command.length = 192;
    const Completion completion = execute(host, *drive, std::move(command));
    CHECK(target.cdbs().empty());
    CHECK_FALSE(completion.outcome.good());
    CHECK(describe(completion).find("MODE SENSE is known to break this device") != std::string::npos);
    Inquirer inquirer(host, *drive);
    CHECK(inquirer.mode({.page = 8}).state == Reply::State::skipped);
}
