#include "sgprobe/cli/quantity.h"

#include <doctest/doctest.h>

#include "sgprobe/transport/failure.h"

using namespace sgprobe::cli;
using sgprobe::Failure;

TEST_CASE("a size is read as sg3_utils reads it") {
    struct { const char* text; std::uint64_t value; } rows[] = {
        {"512", 512}, {"64k", 65536}, {"64K", 65536}, {"64KiB", 65536}, {"64kB", 64000}, {"1M", 1048576}, {"1MB", 1000000}, {"0x200", 512},
        {"0X1f", 31}, {"200h", 512}, {"2b", 1024}, {"8x512", 4096}, {"2x3k", 6144}, {"3G", 3221225472}, {"0", 0}, {"18446744073709551615", UINT64_MAX},
    };
    for (const auto& row : rows) {
        CAPTURE(row.text);
        CHECK(parse_number(row.text) == row.value);
    }
    for (const char* bad : {"", "k", "-1", "1.5k", "0x", "h", "12q", " 1", "1 ", "18446744073709551616", "17179869184G", "0xg", "1x", "x1"}) {
        CAPTURE(bad);
        CHECK_THROWS_AS(parse_number(bad), Failure);
    }
}

TEST_CASE("lists and ranges rise and hold nothing twice") {
    CHECK(parse_numbers("4k,8k,4k") == std::vector<std::uint64_t>{4096, 8192});
    CHECK(parse_numbers("1-4") == std::vector<std::uint64_t>{1, 2, 3, 4});
    CHECK(parse_numbers("64k:256k:64k") == std::vector<std::uint64_t>{65536, 131072, 196608, 262144});
    CHECK(parse_numbers("1:10:4") == std::vector<std::uint64_t>{1, 5, 9});
    CHECK(parse_numbers("5,1-2,100:200:100") == std::vector<std::uint64_t>{1, 2, 5, 100, 200});
    for (const char* bad : {"", ",", "1,", "5-1", "1:2:0", "1:2:3:4", "0-18446744073709551615", "-4", "a-b"}) {
        CAPTURE(bad);
        CHECK_THROWS_AS(parse_numbers(bad), Failure);
    }
}

TEST_CASE("a time without a unit is in seconds") {
    using namespace std::chrono_literals;
    CHECK(parse_time("60") == 60s);
    CHECK(parse_time("90s") == 90s);
    CHECK(parse_time("2m") == 120s);
    CHECK(parse_time("1h30m") == 5400s);
    CHECK(parse_time("20us") == 20us);
    CHECK(parse_time("1.5ms") == 1500us);
    CHECK(parse_time("0") == 0s);
    for (const char* bad : {"", "s", "-1", "5x", "1e9", "nan", "inf", "1h30", "99999999999d"}) {
        CAPTURE(bad);
        CHECK_THROWS_AS(parse_time(bad), Failure);
    }
}

TEST_CASE("a fraction is a number or a percentage between 0 and 1") {
    CHECK(parse_fraction("0.1") == doctest::Approx(0.1));
    CHECK(parse_fraction("15%") == doctest::Approx(0.15));
    for (const char* bad : {"", "0", "1", "100%", "150%", "-0.1", "nan", "x"}) {
        CAPTURE(bad);
        CHECK_THROWS_AS(parse_fraction(bad), Failure);
    }
}
