#include "sgprobe/report/format.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "example_result.h"
#include "sgprobe/report/escape.h"
#include "sgprobe/report/table.h"

using namespace sgprobe;
using namespace sgprobe::report;

TEST_CASE("the table of a cliff is read at a glance") {
    CHECK(text(example_result(), {.unicode = false, .width = 80, .anonymous = false}) ==
          "sim:x: MAXTOR ATLAS15K2_146WLS HPM5, 147 GB, 512-byte blocks, 15,000 rpm, simulated\n"
          "600 commands, 188 MB in 4.1 s of the drive's (virtual) time\n"
          "\n"
          "seq-read\n"
          "     size  blocks  MB/s  95 % interval\n"
          "   64 KiB     128  96.1    95.9 - 96.3  ##################################\n"
          "  256 KiB     512  96.1    95.9 - 96.3  ##################################\n"
          "  ---- cliff: 512 blocks (256 KiB) are good, 513 are 55 % slower\n"
          "  320 KiB     640  43.1    42.9 - 43.3  ###############\n"
          "    1 MiB   2,048  43.1    42.9 - 43.3  ###############\n"
          "\n"
          "Cliff: past 512 blocks (256 KiB) the rate falls from 96.1 to 43.1 MB/s (55 %\n"
          "less): about one revolution is lost on each request.\n"
          "  echo 256 > /sys/block/sdX/queue/max_sectors_kb\n");
}

TEST_CASE("the JSON has the schema's names in the schema's order") {
    const auto j = nlohmann::ordered_json::parse(json(to_value(example_result(), {}), false));
    CHECK(j["schema"] == "sgprobe/1");
    CHECK(j["verdict"] == "cliff");
    CHECK(j["virtual_time_s"] == 4.125);
    CHECK(j["host"].is_null());
    CHECK(j["device"]["serial"] == "B20AAAAA");
    CHECK(j["samples"][1]["transfer_blocks"] == 512);
    CHECK(j["samples"][1]["rate_mb_s"]["median"] == 96.1);
    CHECK(j["cliffs"][0]["last_good"] == 512);
    CHECK(j["cliffs"][0]["settings"]["DPTL"] == 512);
    std::vector<std::string> keys;
    for (const auto& [key, value] : j.items()) keys.push_back(key);
    CHECK(keys == std::vector<std::string>{"schema", "version", "probe", "started", "elapsed_s", "virtual_time_s", "device", "host", "parameters", "samples",
                                           "verdict", "reason", "cliffs", "advice", "bytes_transferred", "commands", "settings_before", "settings_after",
                                           "notes", "interrupted"});
}

TEST_CASE("JSON is one line unless a terminal reads it, and --anonymous takes the serial number out") {
    const std::string line = json(to_value(example_result(), {.unicode = false, .width = 80, .anonymous = true}), false);
    CHECK(line.find('\n') == line.size() - 1);
    CHECK(line.find("B20AAAAA") == line.npos);
    CHECK(line.find("serial") == line.npos);
}

TEST_CASE("numbers that JSON cannot hold are null, and nobody is shown sixteen digits") {
    measure::Value value;
    value.set("nan", 0.0 / 0.0 + 0).set("inf", 1e308 * 10).set("rate", 96.1 * 1.1).set("big", 286749488.25).set("tiny", 1.23456789e-12).set("zero", 0.0);
    CHECK(json(value, false) == "{\"nan\":null,\"inf\":null,\"rate\":105.71,\"big\":286749488.0,\"tiny\":1.23457e-12,\"zero\":0.0}\n");
}

TEST_CASE("the classic posting is what older ones look like") {
    CHECK(list(example_result(), {}) == "MAXTOR ATLAS15K2_146WLS HPM5\n64 kB: 96.1 MB/s\n256 kB: 96.1 MB/s\n320 kB: 43.1 MB/s\n1024 kB: 43.1 MB/s\n");
}

TEST_CASE("CSV has one line a sample, as many fields in each as the header") {
    const std::string out = csv(example_result(), {});
    std::vector<std::size_t> commas(1);
    for (char c : out) {
        if (c == ',') commas.back()++;
        if (c == '\n') commas.push_back(0);
    }
    CHECK(commas == std::vector<std::size_t>{commas[0], commas[0], commas[0], commas[0], commas[0], 0});
    CHECK(out.starts_with("probe,path,vendor,product,revision,pattern,transfer_blocks,"));
    CHECK(out.find("\nsize,sim:x,MAXTOR,ATLAS15K2_146WLS,HPM5,seq-read,512,262144,1,1,12,3145728,96.1,95.9,96.3,96.4,") != out.npos);
}

TEST_CASE("a hostile drive forges nothing in any format") {
    auto r = example_result();
    r.device.vendor = "A\x1b[2J";
    r.device.product = "x\",verdict=\"clean\n1 kB: 9 MB/s";
    r.device.revision = "`id`$(id)\xff\xc2\x9b";
    r.device.path = "=cmd|' /C calc'!A0";
    r.cliffs[0].mechanism = "\r\nClean: no cliff";
    r.notes = {"two\nlines", "right\u202eleft"};
    r.samples[0].note = "\x07";
    for (const std::string& out : {text(r, {}), csv(r, {}), list(r, {}), json(to_value(r, {}), false), json(to_value(r, {}), true)}) {
        for (unsigned char c : out) CHECK((c == '\n' || (c >= 0x20 && c != 0x7f)));
        CHECK(out.find("\xc2\x9b") == out.npos);
        CHECK(out.find("\u202e") == out.npos);
        CHECK(out.find("\n1 kB: 9 MB/s") == out.npos);
        CHECK(out.find("\nClean") == out.npos);
    }
    CHECK(nlohmann::json::parse(json(to_value(r, {}), false))["device"]["product"] == r.device.product);
    CHECK(csv(r, {}).find("\nsize,\"=") == std::string::npos);
    CHECK(csv(r, {}).find("\nsize,=") == std::string::npos);
}

TEST_CASE("metrics stand by family, and end as the format wants it") {
    auto r = example_result();
    r.device.product = "a\"b\\c\nsgprobe_cliff{} 1";
    const std::string out = openmetrics({r, r});
    CHECK(out.find("# TYPE sgprobe_cliff gauge\n") == 0);
    CHECK(out.find("product=\"a\\\"b\\\\c\\\\x0asgprobe_cliff{} 1\"") != out.npos);
    CHECK(out.find("transfer_bytes=\"262144\",depth=\"1\"} 9.61e+07\n") != out.npos);
    CHECK(out.ends_with("\n# EOF\n"));
    CHECK(out.find("# TYPE sgprobe_rate_bytes_per_second gauge") > out.rfind("\nsgprobe_last_good{"));
}

TEST_CASE("escaping keeps good text as it is, and is not done twice") {
    for (const char* good : {"", "plain", "K\u00f6ln \u6f22\u5b57 \U0001f600", "a b\\x1b"}) CHECK(for_terminal(good) == good);
    CHECK(for_terminal(for_terminal("\x1b[m\xfe")) == for_terminal("\x1b[m\xfe"));
    CHECK(for_terminal(std::string_view("a\0b", 3)) == "a\\x00b");
    CHECK(for_terminal("\xed\xa0\x80") == "\\xed\\xa0\\x80");        // a surrogate
    CHECK(for_terminal("\xc0\xaf") == "\\xc0\\xaf");                // an overlong slash
    CHECK(for_terminal("\xe2\x80") == "\\xe2\\x80");                // cut short
    CHECK(for_udev("A\"*[x]\\\nB") == "A???x???B");
    CHECK(for_gnuplot("a'b\"c`d\\e\n") == "a\u2019b\u2019c\u2019d/e/x0a");
    CHECK(for_shell("it's") == "'it'\\''s'");
    CHECK(for_shell("/dev/sg0") == "/dev/sg0");
    CHECK(for_shell("") == "''");
    CHECK(for_openmetrics("a\"b\\c\n") == "a\\\"b\\\\c\\\\x0a");
    CHECK(for_csv("a,b\"c") == "\"a,b\"\"c\"");
    CHECK(for_csv("-1+1") == "'-1+1");
}

TEST_CASE("sizes, rates and bars as people read them") {
    CHECK(binary_size(262144) == "256 KiB");
    CHECK(binary_size(262656) == "256.5 KiB");
    CHECK(binary_size(262657) == "262,657 B");
    CHECK(binary_size(4608) == "4.5 KiB");
    CHECK(binary_size(1 << 20) == "1 MiB");
    CHECK(binary_size(520) == "520 B");
    CHECK(decimal_size(146'815'737'856) == "147 GB");
    CHECK(decimal_size(4'000'000'000'000) == "4 TB");
    CHECK(decimal_size(0) == "0 B");
    CHECK(grouped(1'234'567) == "1,234,567");
    CHECK(grouped(999) == "999");
    CHECK(bar(1, 2, 8, false) == "####");
    CHECK(bar(3, 2, 4, true) == "████");
    CHECK(bar(1.1, 2, 4, true) == "██▎");
    CHECK(bar(1, 0, 8, false).empty());
}
