// MODE SELECT lists made from pages of real drives (tests/cases A04, A06).
#include <doctest/doctest.h>

#include "../hex.h"
#include "sgprobe/pages/editor.h"

using namespace sgprobe;
using namespace sgprobe::pages;

namespace {
struct Caching {
    Catalogue catalogue;
    ByteVector page;
    std::vector<Field> fields;
    explicit Caching(const char* hex) : page(from_hex(hex)), fields(fields_of(*catalogue.find({0x08, 0}, page, "SEAGATE"), page)) {}
    bool can_change(const char* key, const ByteVector& mask) const { return changeable(*find_field(fields, key), mask) == Changeable::yes; }
};
}

TEST_CASE("clearing WCE of a savable page sends it with PS cleared, and changes nothing else") {
    Caching drive("88 12 14 00 ff ff 00 00 ff ff ff ff 91 20 00 00 00 00 00 00");
    const auto mask = from_hex("88 12 a5 00 00 00 ff ff ff ff 00 00 21 00 00 00 00 00 00 00");
    for (const char* key : {"IC", "CAP", "WCE", "RCD", "MIPF", "MAPF", "DRA", "NV_DIS"}) CHECK(drive.can_change(key, mask));
    for (const char* key : {"DISC", "DPTL", "FSW", "MAPFC"}) CHECK_FALSE(drive.can_change(key, mask));
    REQUIRE(write_field(*find_field(drive.fields, "WCE"), drive.page, 0));
    CHECK(mode_select_list(drive.page, true) == from_hex("00 00 00 00 00 00 00 00 08 12 10 00 ff ff 00 00 ff ff ff ff 91 20 00 00 00 00 00 00"));
}

TEST_CASE("a changeable mask that is too short stands for zeros") {
    Caching drive("08 12 14 00 ff ff 00 00 ff ff ff ff 80 14 00 00 00 00 00 00");
    const auto mask = from_hex("00 00 04 00");
    CHECK(drive.can_change("WCE", mask));
    for (const char* key : {"RCD", "DPTL", "MAPF", "DRA", "NCS"}) CHECK_FALSE(drive.can_change(key, mask));
    REQUIRE(write_field(*find_field(drive.fields, "WCE"), drive.page, 0));
    CHECK(drive.page == from_hex("08 12 10 00 ff ff 00 00 ff ff ff ff 80 14 00 00 00 00 00 00"));
}
