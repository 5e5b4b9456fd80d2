#include "sgprobe/pages/journal.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sgprobe/transport/failure.h"

using namespace sgprobe;
using namespace sgprobe::pages;

namespace {
Journal sample() {
    Journal journal;
    journal.drive = {"SEAGATE", "ST 1200%MM", "", "S400 \n\x01", "naa.5000c500a1b2c3d4"};
    journal.device = "sim:x,state=/tmp/a b";
    journal.begun_s = 1790000000;
    journal.pid = 42;
    journal.pages.push_back({{8, 0}, true, {0x88, 2, 4, 0}, {0x88, 2, 0, 0}});
    journal.pages.push_back({{0x0a, 1}, false, {0x4a, 1, 0, 1, 7}, {}});
    journal.fields.push_back({{8, 0}, {"WCE", "", 2, 2, 1, {}}, 1, 0, {}});
    journal.fields.push_back({{0x0a, 1}, {"X", "", 4, 7, 8, {}}, 7, 255, 254});
    journal.features.push_back({"ATA_APM", 128, 1, false});
    journal.kernel.push_back({"cache_type", "write back, no read (daft)", "write through"});
    return journal;
}
std::string folder() { return (std::filesystem::temp_directory_path() / ("sgprobe-journal-" + std::to_string(::getpid()))).string(); }
}

TEST_CASE("journal: what is written is read again, byte for byte") {
    const std::string text = format_journal(sample());
    const Journal read = parse_journal(text, "x");
    CHECK(format_journal(read) == text);
    CHECK(read.drive.serial == "S400 \n\x01");
    CHECK(read.device == "sim:x,state=/tmp/a b");
    CHECK(read.fields[1].held == 254u);
    CHECK(!read.fields[0].held);
    CHECK(read.kernel[0].before == "write back, no read (daft)");
    for (const char c : text) CHECK((c == '\n' || (c >= 0x20 && c < 0x7f)));
}

TEST_CASE("journal: one that is cut short anywhere, or has any byte changed, is refused whole") {
    const std::string text = format_journal(sample());
    for (std::size_t n = 0; n < text.size(); ++n) CHECK_THROWS_AS(parse_journal(text.substr(0, n), "x"), Failure);
    for (std::size_t n = 0; n < text.size(); ++n)
        for (const int flip : {1, 4, 0x20}) {
            std::string other = text;
            other[n] = static_cast<char>(other[n] ^ flip);
            CHECK_THROWS_AS(parse_journal(other, "x"), Failure);
        }
    CHECK_THROWS_AS(parse_journal(text + "\n", "x"), Failure);
    CHECK_THROWS_AS(parse_journal(text + text, "x"), Failure);
}

TEST_CASE("journal: an alien file with a right checksum is refused all the same") {
    const auto alien = [](const std::string& lines, std::size_t count) {
        return lines + "end " + std::to_string(count) + " " + [&] { char crc[9]; std::snprintf(crc, sizeof crc, "%08x", crc32(lines)); return std::string(crc); }() + "\n";
    };
    CHECK_NOTHROW(parse_journal(alien("sgprobe-journal 1\n", 1), "x"));
    for (const char* lines : {"sgprobe-journal 2\n", "other 1\n", "sgprobe-journal 1\nfield 08 00 2 2 1 1 0 % WCE\n", "sgprobe-journal 1\npage 08 00 0 8a0200 %\n",
                              "sgprobe-journal 1\npage 08 00 0 880200 88\n", "sgprobe-journal 1\npage 08 00 0 88020 %\n", "sgprobe-journal 1\nsurprise\n",
                              "sgprobe-journal 1\nfeature ATA_WC 1\n", "sgprobe-journal 1\nbegun 1  2\n", "sgprobe-journal 1\npage 08 00 0 880200 %\nfield 08 00 2 7 16 1 0 % X\n",
                              "sgprobe-journal 1\npage 08 00 0 880200 %\nfield 08 00 2 7 8 256 0 % X\n", "sgprobe-journal 1\npage 08 00 0 880200 %\npage 08 00 0 880200 %\n"}) {
        CAPTURE(lines);
        const std::string text = lines;
        CHECK_THROWS_AS(parse_journal(alien(text, static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'))), "x"), Failure);
    }
}

TEST_CASE("journal: the file is locked, private, follows no link and is gone when it is done with") {
    std::filesystem::remove_all(folder());
    const DriveIdentity drive{"A", "B", "", "serial/../../x", ""};
    {
        JournalFile file(folder(), drive, "dev", std::chrono::milliseconds(0));
        CHECK(!file.read());
        CHECK_THROWS_AS(JournalFile(folder(), drive, "dev", std::chrono::milliseconds(0)), Failure);
        JournalFile other(folder(), {"A", "B", "", "another", ""}, "dev2", std::chrono::milliseconds(0));
        file.write(sample());
        struct stat status {};
        REQUIRE(::lstat(file.path().c_str(), &status) == 0);
        CHECK((status.st_mode & 0777) == 0600);
        CHECK(std::filesystem::path(file.path()).parent_path() == folder());
        CHECK(format_journal(*file.read()) == format_journal(sample()));
        CHECK(journals_in(folder()).size() == 1);
        file.remove();
        CHECK(!file.read());
        std::filesystem::create_symlink("/etc/passwd", file.path());
        CHECK_THROWS_AS(file.read(), Failure);
        std::filesystem::remove(file.path());
        std::ofstream(file.path()) << "torn";
        CHECK_THROWS_AS(file.read(), Failure);
    }
    JournalFile again(folder(), drive, "dev", std::chrono::milliseconds(0));
    std::filesystem::remove_all(folder());
}

TEST_CASE("journal: a folder that cannot be written stops the change before it is made") {
    CHECK_THROWS_AS(JournalFile("/proc/sgprobe", {"A", "B", "", "C", ""}, "dev", std::chrono::milliseconds(0)), Failure);
    CHECK(journals_in("/nowhere/at/all").empty());
}
