#include "sgprobe/pages/catalogue.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sgprobe/scsi/embedded.h"
#include "sgprobe/transport/failure.h"

using namespace sgprobe;
using namespace sgprobe::pages;

namespace {
std::string page_with(const std::string& rows, const std::string& more = "") {
    return "page = 0x2f\nname = \"Test\"\nacronym = \"tst\"\nstandard = \"none\"\nclause = \"1\"\nlength = 2\n" + more + "fields = [\n" + rows + "]\n";
}
std::string refusal(const std::string& text) {
    try {
        parse_page_format(text, "test.toml");
    } catch (const Failure& failure) {
        CHECK(failure.status() == 1);
        return failure.what();
    }
    return "";
}
}

TEST_CASE("catalogue: every built-in page file obeys sgprobe-modepage(5)") {
    std::vector<PageFormat> pages;
    for (const EmbeddedFile& file : embedded_files()) {
        if (!file.name.starts_with("modepages/") || file.name.find('/', 10) != std::string_view::npos) continue;
        CAPTURE(std::string(file.name));
        REQUIRE_NOTHROW(pages.push_back(parse_page_format(file.content, std::string(file.name))));
        CHECK(problems_of(pages.back()).empty());
        CHECK(!pages.back().fields.empty());
    }
    CHECK(pages.size() >= 35);
    CHECK(problems_between(pages).empty());
}

TEST_CASE("catalogue: the pages that the manual promises are there") {
    const Catalogue catalogue;
    const std::pair<int, int> promised[] = {{1, 0}, {2, 0}, {3, 0}, {4, 0}, {7, 0}, {8, 0}, {0xa, 0}, {0xa, 1}, {0xa, 2}, {0xa, 3}, {0xa, 4},
        {0xa, 5}, {0xa, 6}, {0xa, 7}, {0xa, 8}, {0xc, 0}, {0x18, 0}, {0x19, 0}, {0x19, 1}, {0x19, 2}, {0x19, 3}, {0x1a, 0}, {0x1a, 1}, {0x1a, 0xf1},
        {0x1c, 0}, {0x1c, 1}, {0x1c, 2}, {0, 0}};
    for (const auto& [code, subpage] : promised) {
        const PageId id{static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(subpage)};
        CAPTURE(label(id));
        bool found = false;
        for (const PageFormat& page : catalogue.pages()) found = found || PageId{page.code, page.subpage} == id;
        CHECK(found);
    }
}

TEST_CASE("catalogue: overlaps, gaps, disorder, duplicates and wrong widths are refused with their place") {
    CHECK(refusal(page_with("{ byte = 2, bit = 7, width = 8, key = \"A\", name = \"a\" },\n{ byte = 3, bit = 7, width = 8, reserved = true },\n")) == "");
    CHECK(refusal(page_with("{ byte = 2, bit = 7, width = 9, key = \"A\", name = \"a\" },\n{ byte = 3, bit = 7, width = 8, reserved = true },\n")).find("overlaps") != std::string::npos);
    CHECK(refusal(page_with("{ byte = 2, bit = 7, width = 7, key = \"A\", name = \"a\" },\n{ byte = 3, bit = 7, width = 8, reserved = true },\n")).find("no row from byte 2 bit 0") != std::string::npos);
    CHECK(refusal(page_with("{ byte = 3, bit = 7, width = 8, reserved = true },\n{ byte = 2, bit = 7, width = 8, key = \"A\", name = \"a\" },\n")).find("out of order") != std::string::npos);
    CHECK(refusal(page_with("{ byte = 2, bit = 7, width = 8, key = \"A\", name = \"a\" },\n{ byte = 3, bit = 7, width = 8, key = \"A\", name = \"a\" },\n")).find("twice") != std::string::npos);
    CHECK(refusal(page_with("{ byte = 2, bit = 7, width = 24, key = \"A\", name = \"a\" },\n")).find("past the end") != std::string::npos);
    CHECK(refusal(page_with("{ byte = 2, bit = 7, width = 8, key = \"A\", name = \"a\" },\n")).find("to the end") != std::string::npos);
    CHECK(refusal(page_with("{ byte = 2, bit = 7, width = 65, key = \"A\", name = \"a\" },\n")).find("'width'") != std::string::npos);
    CHECK(refusal(page_with("{ byte = 2, bit = 8, width = 8, key = \"A\", name = \"a\" },\n")).find("'bit'") != std::string::npos);
    CHECK(refusal(page_with("{ byte = 2, bit = 7, width = 16, key = \"a b\", name = \"a\" },\n")).find("no key") != std::string::npos);
    CHECK(refusal(page_with("{ byte = 2, bit = 7, width = 16, name = \"a\" },\n")).find("either a key or reserved") != std::string::npos);
    CHECK(refusal(page_with("{ byte = 2, bit = 7, width = 16, key = \"A\", name = \"a\", values = { 65536 = \"x\" } },\n")).find("no value of A") != std::string::npos);
    CHECK(refusal(page_with("", "surprise = 1\n")).find("'surprise' is not known") != std::string::npos);
    CHECK(refusal("page = \n").find("test.toml:") != std::string::npos);
}

TEST_CASE("catalogue: --page takes a number, an acronym or a name") {
    const Catalogue catalogue;
    for (const char* text : {"8", "0x8", "8h", "08", "ca", "CA", "caching", "Caching", "cach"}) {
        CAPTURE(text);
        CHECK(catalogue.page_named(text) == PageId{8, 0});
    }
    for (const char* text : {"10", "0xa", "0a", "co", "control"}) CHECK(catalogue.page_named(text) == PageId{0x0a, 0});
    CHECK(catalogue.page_named("0xa,1") == PageId{0x0a, 1});
    CHECK(catalogue.page_named("0a/f1") == PageId{0x0a, 0xf1});
    CHECK(catalogue.page_named("0x3f,0xff") == PageId{0x3f, 0xff});
    CHECK(!catalogue.page_named("64"));
    CHECK(!catalogue.page_named("8,"));
    CHECK(!catalogue.page_named("8,256"));
    CHECK(!catalogue.page_named(""));
    CHECK(!catalogue.page_named("power"));      // two pages begin so
    CHECK(!catalogue.page_named("nonsense"));
}

TEST_CASE("catalogue: the variant of a page follows its protocol identifier and the vendor") {
    const Catalogue catalogue;
    const ByteVector sas{0x19, 0x0e, 0x06, 0, 0, 0, 0, 0}, odd{0x19, 0x06, 0x0e, 0};
    CHECK(catalogue.find({0x19, 0}, sas, "SEAGATE")->name == "Protocol Specific Port (SAS)");
    CHECK(catalogue.find({0x19, 0}, odd, "SEAGATE")->name == "Protocol Specific Port");
    CHECK(catalogue.find({0x00, 0}, {}, "SEAGATE ")->acronym == "ua");
    CHECK(catalogue.find({0x00, 0}, {}, "HGST")->acronym == "vup");
    CHECK(catalogue.find({0x00, 0}, {}, "LINUX") == nullptr);
    CHECK(catalogue.find({0x2f, 0}, {}, "SEAGATE") == nullptr);
}

TEST_CASE("catalogue: a folder's file takes the place of the built-in one, and a bad folder is refused") {
    const auto folder = std::filesystem::temp_directory_path() / ("sgprobe-catalogue-" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder);
    std::ofstream(folder / "mine.toml") << "page = 8\nname = \"Mine\"\nacronym = \"ca\"\nstandard = \"none\"\nclause = \"1\"\n"
                                           "fields = [ { byte = 2, bit = 7, width = 8, key = \"MINE\", name = \"mine\" } ]\n";
    const Catalogue catalogue(folder.string());
    CHECK(catalogue.find({8, 0}, {}, "")->name == "Mine");
    CHECK(catalogue.pages_with("DPTL").empty());
    CHECK(catalogue.pages_with("mine").size() == 1);
    std::ofstream(folder / "again.toml") << "page = 8\nname = \"Mine\"\nacronym = \"ca\"\nstandard = \"none\"\nclause = \"1\"\nfields = []\n";
    CHECK_THROWS_AS(Catalogue(folder.string()), Failure);
    std::filesystem::remove_all(folder);
    CHECK_THROWS_AS(Catalogue(folder.string()), Failure);
}
