#include "sgprobe/pages/editor.h"

#include <doctest/doctest.h>

#include "sgprobe/transport/failure.h"

using namespace sgprobe;
using namespace sgprobe::pages;

namespace {
ByteVector bytes(std::string_view hex) {
    ByteVector out;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 3) out.push_back(static_cast<std::uint8_t>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
    return out;
}
const Catalogue& catalogue() {
    static const Catalogue all;
    return all;
}
std::vector<Field> caching(ByteView page) { return fields_of(*catalogue().find({8, 0}, page, ""), page); }
std::uint64_t value(std::string_view key, ByteView page) {
    const auto fields = caching(page);
    const Field* field = find_field(fields, key);
    REQUIRE(field);
    return read_field(*field, page).value();
}
void put(std::string_view key, ByteVector& page, std::uint64_t to) {
    const auto fields = caching(page);
    REQUIRE(write_field(*find_field(fields, key), page, to));
}
}

TEST_CASE("editor: a hybrid SAS drive's caching page, all four page controls different (A04)") {
    const ByteVector current = bytes("88 12 14 00 ff ff 00 00 ff ff ff ff 91 20 00 00 00 00 00 00");
    const ByteVector mask = bytes("88 12 a5 00 00 00 ff ff ff ff 00 00 21 00 00 00 00 00 00 00");
    const ByteVector defaults = bytes("88 12 10 00 ff ff 00 00 ff ff ff ff 90 20 00 00 00 00 00 00");
    CHECK(value("WCE", current) == 1);
    CHECK(value("DISC", current) == 1);
    CHECK(value("RCD", current) == 0);
    CHECK(value("FSW", current) == 1);
    CHECK(value("NV_DIS", current) == 1);
    CHECK(value("NCS", current) == 32);
    CHECK(value("WCE", defaults) == 0);
    std::vector<std::string> changing;
    for (const Field& field : caching(current))
        if (changeable(field, mask) == Changeable::yes) changing.push_back(field.key);
    CHECK(changing == std::vector<std::string>{"IC", "CAP", "WCE", "RCD", "MIPF", "MAPF", "DRA", "NV_DIS"});
    ByteVector wanted = current;
    put("WCE", wanted, 0);
    CHECK(mode_select_list(wanted, false) == bytes("00 00 00 00 08 12 10 00 ff ff 00 00 ff ff ff ff 91 20 00 00 00 00 00 00"));
    CHECK(mode_select_list(wanted, true) == bytes("00 00 00 00 00 00 00 00 08 12 10 00 ff ff 00 00 ff ff ff ff 91 20 00 00 00 00 00 00"));
}

TEST_CASE("editor: scsi_debug's masks: a short one stands for zeros (A06)") {
    const ByteVector current = bytes("08 12 14 00 ff ff 00 00 ff ff ff ff 80 14 00 00 00 00 00 00");
    const ByteVector mask = bytes("00 00 04 00");
    for (const Field& field : caching(current)) CHECK(changeable(field, mask) == (field.key == "WCE" ? Changeable::yes : Changeable::no));
    ByteVector wanted = current;
    put("WCE", wanted, 0);
    CHECK(wanted == bytes("08 12 10 00 ff ff 00 00 ff ff ff ff 80 14 00 00 00 00 00 00"));
    const ByteVector control = bytes("0a 0a 02 00 00 80 00 00 00 00 02 4b"), control_mask = bytes("0a 0a 06 00 00 00 00 00 00 00 00 00");
    std::vector<std::string> changing;
    for (const Field& field : fields_of(*catalogue().find({0x0a, 0}, control, ""), control))
        if (changeable(field, control_mask) != Changeable::no) changing.push_back(field.key);
    CHECK(changing == std::vector<std::string>{"D_SENSE", "GLTSD"});
}

TEST_CASE("editor: block descriptors of both header sizes are read alike, odd block lengths are warned of (A11)") {
    CHECK(block_descriptor_warning(bytes("00 00 00 08 00 00 00 00 00 00 02 00"), false, 512) == "");
    CHECK(block_descriptor_warning(bytes("00 00 00 00 00 00 00 08 00 00 00 00 00 00 02 00"), true, 512) == "");
    CHECK(block_descriptor_warning(bytes("00 00 00 08 00 00 00 00 00 00 04 00"), false, 512).find("1024") != std::string::npos);
    CHECK(block_descriptor_warning(bytes("00 00 00 08 00 00 00 00 00 00 04 00"), false, {}) == "");
    CHECK(block_descriptor_warning(bytes("00 00 00 08 00 00 00 00 00 01 02 01"), false, 512).find("66049 bytes is no multiple of 512") != std::string::npos);
    CHECK(block_descriptor_warning(bytes("00 00 00 10 00 00 00 00 00 00 02 00"), false, 512).find("past the end") != std::string::npos);
    const ByteVector descriptor = bytes("00 00 00 00 00 00 02 00");
    CHECK(mode_select_list({}, false, descriptor) == bytes("00 00 00 08 00 00 00 00 00 00 02 00"));
    CHECK(mode_select_list({}, true, descriptor) == bytes("00 00 00 00 00 00 00 08 00 00 00 00 00 00 02 00"));
}

TEST_CASE("editor: a field pointer names the byte of the header that is at fault, not one of the page (A12)") {
    const auto sense = scsi::parse_sense(bytes("70 00 05 00 00 00 00 10 00 00 00 00 26 00 00 8b 00 03 00 00 00 00 00 00"));
    REQUIRE(sense.value.field_pointer);
    CHECK(!sense.value.field_pointer->in_command);
    CHECK(sense.value.field_pointer->byte == 3);
    CHECK(sense.value.field_pointer->bit == 3);
    const ByteVector page = bytes("08 12 14 00 ff ff 00 00 ff ff ff ff 80 14 00 00 00 00 00 00");
    const PageFormat* format = catalogue().find({8, 0}, page, "");
    CHECK(pointed_at(*sense.value.field_pointer, mode_select_list(page, true), true, format) == "byte 3, bit 3, of the parameter list: the device-specific parameter of the header, not the page");
    CHECK(pointed_at(*sense.value.field_pointer, mode_select_list(page, false), false, format).find("block descriptor length") != std::string::npos);
    CHECK(pointed_at({false, 10, 2}, mode_select_list(page, true), true, format).ends_with("WCE (Write cache enable) of page 08h"));
    CHECK(pointed_at({false, 13, {}}, mode_select_list(page, true), true, format).ends_with("DPTL (Disable pre-fetch transfer length (blocks)) of page 08h"));
    CHECK(pointed_at({false, 26, 1}, mode_select_list(page, true), true, format).ends_with("byte 18 of the page"));
    CHECK(pointed_at({false, 9, 1}, mode_select_list(page, true, bytes("00 00 00 00 00 00 02 00")), true, format).find("block descriptor") != std::string::npos);
    CHECK(pointed_at({true, 1, {}}, {}, true, format) == "byte 1 of the CDB");
}

TEST_CASE("editor: fields keep their neighbours, in every width and at every place") {
    for (const PageFormat& format : catalogue().pages()) {
        ByteVector page(format.header_bytes() + format.length.value_or(60));
        for (const Field& field : fields_of(format, page))
            for (const std::uint64_t to : {field.all_ones(), std::uint64_t{1}, field.all_ones() / 3}) {
                ByteVector zeros = page, ones(page.size(), 0xff);
                REQUIRE(write_field(field, zeros, to));
                REQUIRE(write_field(field, ones, to));
                CHECK(read_field(field, zeros) == to);
                CHECK(read_field(field, ones) == to);
                for (std::size_t i = 0; i < page.size(); ++i) ones[i] = static_cast<std::uint8_t>(~(ones[i] ^ zeros[i]));
                Field whole = field;
                ByteVector inside = page;
                write_field(whole, inside, whole.all_ones());
                CHECK(ones == inside);
            }
    }
}

TEST_CASE("editor: a short page has no fields past its end") {
    const ByteVector scsi2 = bytes("08 0a 04 00 ff ff 00 00 ff ff ff ff");
    CHECK(find_field(caching(scsi2), "MAPFC") != nullptr);
    CHECK(find_field(caching(scsi2), "FSW") == nullptr);
    CHECK(find_field(caching(scsi2), "NCS") == nullptr);
}

TEST_CASE("editor: descriptors are counted by the page, and lie inside it") {
    ByteVector page(8 + 2 * 48);
    page[0] = 0x59, page[1] = 0x01, page[3] = 100, page[5] = 6, page[7] = 2, page[8 + 48 + 32] = 0x89;
    const PageFormat& format = *catalogue().find({0x19, 1}, page, "");
    auto fields = fields_of(format, page);
    REQUIRE(find_field(fields, "PMILR.1"));
    CHECK(read_field(*find_field(fields, "PMILR.1"), page) == 8);
    CHECK(!find_field(fields, "PMILR.2"));
    page[7] = 200;   // a count that the page does not hold
    fields = fields_of(format, page);
    CHECK(!find_field(fields, "PMILR.2"));
    page.resize(70);
    for (const Field& field : fields_of(format, page)) CHECK(field.end_byte() <= 70);
    ByteVector phys(8 + 40);   // descriptors that say a length of 0
    phys[0] = 0x59, phys[1] = 3, phys[3] = 44, phys[5] = 6, phys[7] = 255;
    CHECK(fields_of(*catalogue().find({0x19, 3}, phys, ""), phys).size() < 200);
}

TEST_CASE("editor: assignments as hands write them") {
    const auto list = parse_assignments("WCE=0,ca.dptl=-1,PMILR.1=0x8,MAPF=200h,DISC,0xa/1.TCMOS");
    REQUIRE(list.size() == 6);
    CHECK(list[0].key == "WCE");
    CHECK(list[0].value == 0);
    CHECK(list[1].page == "ca");
    CHECK(list[1].key == "DPTL");
    CHECK(list[1].value_for(Field{"DPTL", "", 4, 7, 16, {}}) == 0xffff);
    CHECK(list[2].key == "PMILR.1");
    CHECK(list[3].value == 0x200);
    CHECK(!list[4].given);
    CHECK(list[4].value_for(Field{"DISC", "", 2, 4, 1, {}}) == 1);
    CHECK(list[5].page == "0xa/1");
    CHECK_THROWS_AS(list[3].value_for(Field{"NCS", "", 13, 7, 8, {}}), Failure);
    for (const char* text : {"", ",", "WCE=", "WCE=0x", "WCE=-2", "WCE=1,WCE=0", "W CE=1", "=1", ".WCE=1", "WCE=99999999999999999999"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(parse_assignments(text), Failure);
    }
}
