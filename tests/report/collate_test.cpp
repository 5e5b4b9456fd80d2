#include "sgprobe/report/collate.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "sgprobe/report/posting.h"

using namespace sgprobe;
using namespace sgprobe::report;
using measure::Verdict;

namespace {

struct Published { std::string vendor, product, revision; std::vector<std::pair<int, double>> rates; };

std::vector<Published> published_sizes() {
    std::ifstream file("tests/data/request-size.csv");
    REQUIRE(file);
    std::vector<Published> drives;
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
        std::istringstream fields(line);
        std::string vendor, product, revision, size, rate;
        std::getline(fields, vendor, ',');
        std::getline(fields, product, ',');
        std::getline(fields, revision, ',');
        std::getline(fields, size, ',');
        std::getline(fields, rate, ',');
        if (drives.empty() || drives.back().revision != revision) drives.push_back({vendor, product, revision, {}});
        drives.back().rates.emplace_back(std::stoi(size), std::stod(rate));
    }
    REQUIRE(drives.size() == 4);
    return drives;
}

Collated collate(const std::string& text) {
    Collation collation(0.10);
    std::istringstream in(text);
    collation.add(in, "mail");
    return collation.finish();
}

std::string comma(std::string text) {
    std::replace(text.begin(), text.end(), '.', ',');
    return text;
}

void check_published(const Collated& c) {
    REQUIRE(c.rows.size() == 4);
    CHECK(c.rows[0].product == "MAXTOR STM316021");
    CHECK(c.rows[0].verdict == Verdict::clean);
    for (std::size_t i = 1; i < 4; ++i) {
        INFO(c.rows[i].revision);
        CHECK(c.rows[i].verdict == Verdict::cliff);
        CHECK(c.rows[i].last_good == 256 * 1024);
        CHECK(c.rows[i].first_bad == 320 * 1024);
        CHECK(c.rows[i].after_mb_s < 0.6 * c.rows[i].before_mb_s);
    }
}

std::string report_json(const std::string& revision, const std::string& serial, const std::string& verdict, int last_good, const std::string& transport = "sas",
                        const std::string& settings = "{\"WCE\":1}") {
    const std::string cliffs = last_good ? fmt::format(R"({{"axis":"transfer_blocks","pattern":"seq-read","last_good":{},"first_bad":{},"before_mb_s":96.0,"after_mb_s":47.0,"drop":0.51,"p_value":0,"mechanism":"","settings":{{}}}})", last_good, last_good + 1) : "";
    return fmt::format(R"({{"schema":"sgprobe/1","probe":"size","device":{{"vendor":"MAXTOR","product":"ATLAS","revision":"{}","serial":"{}","block_bytes":512,"transport":"{}"}},)"
                       R"("samples":[{{"pattern":"seq-read","transfer_bytes":65536,"depth":1,"rate_mb_s":{{"median":96.0}}}},{{"pattern":"seq-read","transfer_bytes":524288,"depth":1,"rate_mb_s":{{"median":60.0}}}}],)"
                       R"("verdict":"{}","reason":"r","cliffs":[{}],"settings_before":{}}})", revision, serial, transport, verdict, cliffs, settings) + "\n";
}

}

TEST_CASE("collate: the published tables as CSV give the published truth") {
    std::ifstream file("tests/data/request-size.csv");
    Collation collation(0.10);
    collation.add(file, "request-size.csv");
    check_published(collation.finish());
}

TEST_CASE("collate: the published tables as mail, in one column or three, comma or point, quoted or not") {
    for (const bool with_comma : {false, true})
        for (const std::string quote : {"", "> ", "> > ", "\t"})
            for (const std::size_t columns : {1, 2, 3}) {
                std::string mail = "Hi, here is what I get with 2.6.24:\n\n";
                for (const Published& drive : published_sizes()) {
                    mail += fmt::format("{}{:<8} {:<16} {}\n", quote, drive.vendor, drive.product, drive.revision);
                    const std::size_t rows = (drive.rates.size() + columns - 1) / columns;
                    for (std::size_t row = 0; row < rows; ++row) {
                        mail += quote;
                        for (std::size_t i = row; i < drive.rates.size(); i += rows) {
                            const std::string rate = fmt::format("{:.1f}", drive.rates[i].second);
                            mail += fmt::format("{:>4} kB: {} MB/s   ", drive.rates[i].first, with_comma ? comma(rate) : rate);
                        }
                        mail += "\n";
                    }
                    mail += "\n-- \nJohn\n\n";
                }
                INFO(mail.substr(0, 400));
                check_published(collate(mail));
            }
}

TEST_CASE("collate: one column a drive under a line of their names") {
    const auto drives = published_sizes();
    std::string mail = "  kB   HPM5   HPM7   BP00   STM316021\n";
    for (std::size_t i = 0; i < drives[0].rates.size(); ++i) {
        mail += fmt::format("{:>4}", drives[0].rates[i].first);
        for (const Published& drive : drives) mail += fmt::format("  {:>5.1f}", drive.rates[i].second);
        mail += "\n";
    }
    const Collated c = collate(mail);
    REQUIRE(c.rows.size() == 4);
    for (const CollatedRow& row : c.rows) {
        INFO(row.product);
        CHECK(row.verdict == (row.product == "STM316021" ? Verdict::clean : Verdict::cliff));
        if (row.verdict == Verdict::cliff) CHECK(row.last_good == 256 * 1024);
    }
}

TEST_CASE("collate: a depth table has its cliff past depth 2, in every layout") {
    const std::string id = "WDC WD740ADFD-00NLR5 21.07QR5\n";
    for (const std::string& mail : {
             id + "depth rate\n1 84\n2 84\n3 46\n5 39\n10 39\n20 44\n31 36\n",
             id + "> queue depth   MB/s\n> 1   84\n> 2   84\n> 3   46\n> 5   39\n> 10   39\n> 20   44\n> 31   36\n",
             id + "1 84\n2 84\n3 46\n5 39\n10 39\n20 44\n31 36\n",
             id + "QD 1: 84 MB/s\nQD 2: 84 MB/s\nQD 3: 46 MB/s\nQD 5: 39 MB/s\nQD 10: 39 MB/s\nQD 20: 44 MB/s\nQD 31: 36 MB/s\n",
             std::string("model,depth,rate_mb_s\nWD740,1,84\nWD740,2,84\nWD740,3,46\nWD740,5,39\nWD740,10,39\nWD740,20,44\nWD740,31,36\n"),
             id + "depth;rate\n1;84,0\n2;84,0\n3;46,0\n5;39,0\n10;39,0\n20;44,0\n31;36,0\n"}) {
        INFO(mail);
        const Collated c = collate(mail);
        REQUIRE(c.rows.size() == 1);
        CHECK(c.rows[0].axis == "depth");
        CHECK(c.rows[0].verdict == Verdict::cliff);
        CHECK(c.rows[0].last_good == 2);
        CHECK(c.rows[0].first_bad == 3);
    }
}

TEST_CASE("collate: the block size by threads matrix says that queueing gains nothing") {
    std::ifstream csv("tests/data/ncq-matrix.csv");
    REQUIRE(csv);
    std::string line, mail = "SEAGATE ST3250620AS 3.AAE\nBlkSz Trd linRd rndRd linWr rndWr  rndR/W\n";
    std::getline(csv, line);
    while (std::getline(csv, line)) {
        if (line.find("noop") == line.npos) continue;
        std::vector<std::string> f(1);
        for (const char ch : line) ch == ',' ? f.emplace_back() : f.back() += ch, void();
        REQUIRE(f.size() == 11);
        mail += fmt::format("{:>5} {:>3} {:>5} {:>5} {:>5} {:>5} {:>4}/{:>4}\n", f[4] == "1" ? f[3] + "k" : "", f[4], f[5], f[6], f[7], f[8], f[9], f[10]);
    }
    const Collated c = collate(mail);
    std::size_t depth_rows = 0;
    for (const CollatedRow& row : c.rows) {
        INFO(row.axis, " ", row.pattern);
        CHECK(row.verdict != Verdict::cliff);
        if (row.axis != "depth") continue;
        ++depth_rows;
        CHECK(row.verdict == Verdict::clean);
        CHECK(row.gain < 1.05);
    }
    CHECK(depth_rows == 4);
}

TEST_CASE("collate: a knee with a flat top and a percent of wiggle is no cliff") {
    const Collated c = collate("Intel SSD P3600 8DV1\ndepth MiB/s\n1 1563\n2 2477\n4 2948\n8 3012\n16 3004\n32 2983\n64 2987\n128 3015\n");
    REQUIRE(c.rows.size() == 1);
    CHECK(c.rows[0].verdict == Verdict::clean);
    CHECK(c.rows[0].gain == doctest::Approx(3015.0 / 1563).epsilon(0.001));
    CHECK(c.rows[0].before_mb_s == doctest::Approx(3015 * 1.048576));
}

TEST_CASE("collate: two points, one slow end, or a sawtooth are inconclusive, each with its reason") {
    const auto reason = [](const std::string& table) {
        const Collated c = collate("MAXTOR ATLAS15K2_146WLS HPM5\n" + table);
        REQUIRE(c.rows.size() == 1);
        CHECK(c.rows[0].verdict == Verdict::inconclusive);
        return c.rows[0].reason;
    };
    CHECK(reason("64 kB: 96.1 MB/s\n512 kB: 47.3 MB/s\n").find("two sizes") != std::string::npos);
    CHECK(reason("64 kB: 96 MB/s\n128 kB: 96 MB/s\n192 kB: 96 MB/s\n256 kB: 50 MB/s\n").find("only the last") != std::string::npos);
    CHECK(reason("64 kB: 96 MB/s\n128 kB: 50 MB/s\n192 kB: 95 MB/s\n256 kB: 52 MB/s\n320 kB: 97 MB/s\n384 kB: 49 MB/s\n448 kB: 96 MB/s\n").find("up and down") != std::string::npos);
}

TEST_CASE("collate: hdparm -t and dd without direct went through the page cache, so sizes prove nothing") {
    const Collated c = collate(
        "MAXTOR ATLAS15K2_146WLS HPM5\n# echo 64 > /sys/block/sda/queue/max_sectors_kb\n Timing buffered disk reads:  290 MB in  3.01 seconds =  96.35 MB/sec\n"
        "# echo 128 > /sys/block/sda/queue/max_sectors_kb\n Timing buffered disk reads:  290 MB in  3.01 seconds =  96.10 MB/sec\n"
        "# echo 512 > /sys/block/sda/queue/max_sectors_kb\n Timing buffered disk reads:  150 MB in  3.01 seconds =  47.35 MB/sec\n");
    REQUIRE(c.rows.size() == 1);
    CHECK(c.rows[0].verdict == Verdict::inconclusive);
    CHECK(c.rows[0].reason.find("page cache") != std::string::npos);
    CHECK(c.rows[0].before_mb_s == doctest::Approx(96.35 * 1.048576).epsilon(0.001));
}

TEST_CASE("collate: a loop of dd with direct I/O is a table by size") {
    std::string log = "MAXTOR ATLAS15K2_146WLS HPM5\n";
    const std::pair<int, double> rates[] = {{64, 96.1}, {128, 95.9}, {192, 96.2}, {256, 96.4}, {320, 47.3}, {384, 47.5}, {448, 54.3}, {512, 61.6}};
    for (const auto& [size, rate] : rates)
        log += fmt::format("+ dd if=/dev/sda of=/dev/null bs={}k count=800 iflag=direct\n800+0 records in\n800+0 records out\n"
                           "52428800 bytes (52 MB) copied, 0.5 s, {} MB/s\n", size, rate);
    const Collated c = collate(log);
    REQUIRE(c.rows.size() == 1);
    CHECK(c.rows[0].verdict == Verdict::cliff);
    CHECK(c.rows[0].last_good == 256 * 1024);
}

TEST_CASE("collate: fio's JSON of a depth series, one file or many") {
    Collation collation(0.10);
    const std::pair<int, int> runs[] = {{1, 84}, {2, 84}, {3, 46}, {5, 39}, {10, 39}, {20, 44}, {31, 36}};
    for (const auto& [depth, rate] : runs) {
        std::istringstream in(fmt::format(
            R"({{ "fio version" : "fio-3.33", "global options" : {{"filename":"/dev/sg0","direct":"1","bs":"64k","rw":"read"}},)"
            "\n\"jobs\" : [ {{ \"jobname\" : \"j\", \"job options\" : {{ \"iodepth\" : \"{}\" }},\n\"read\" : {{ \"bw_bytes\" : {}, \"bw\" : 1 }}, \"write\" : {{ \"bw_bytes\" : 0 }} }} ] }}\n",
            depth, rate * 1000000));
        collation.add(in, fmt::format("fio-{}.json", depth));
    }
    const Collated c = collation.finish();
    REQUIRE(c.rows.size() == 1);
    CHECK(c.rows[0].axis == "depth");
    CHECK(c.rows[0].verdict == Verdict::cliff);
    CHECK(c.rows[0].last_good == 2);
}

TEST_CASE("collate: kB is told from a round decimal size, MiB from MB, thousands from decimals") {
    const auto read = [](const std::string& text) {
        PostingReader reader;
        std::istringstream in(text);
        std::string line;
        for (std::size_t n = 1; std::getline(in, line); ++n) reader.line(line, n);
        const auto tables = reader.finish("x");
        REQUIRE(tables.size() == 1);
        return tables[0];
    };
    CHECK(read("64 kB: 96.1 MB/s\n128 kB: 95 MB/s\n").points[0].x == 65536);
    CHECK(read("64 kB: 96.1 MB/s\n128 kB: 95 MB/s\n").points[0].rate_mb_s == doctest::Approx(96.1));
    CHECK(read("100 kB: 96.1 MB/s\n200 kB: 95 MB/s\n500 kB: 95 MB/s\n").points[0].x == 100000);
    CHECK(read("64 KiB: 96.1 MiB/s\n128 KiB: 95 MiB/s\n").points[0].rate_mb_s == doctest::Approx(96.1 * 1.048576));
    CHECK(read("960 kB: 73,6 MB/s\n1,024 kB: 73,2 MB/s\n").points[1].x == 1048576);
    CHECK(read("1 MB: 73,6 MB/s\n2 MB: 73,2 MB/s\n").points[1].x == 2 * 1048576);
}

TEST_CASE("collate: our own reports by model, agreement and outliers, whatever the order") {
    std::vector<std::string> reports;
    for (int i = 0; i < 8; ++i) reports.push_back(report_json("HPM5", fmt::format("S{}", i), "cliff", 512));
    reports.push_back(report_json("HPM5", "S8", "clean", 0));
    reports.push_back(report_json("HPM5", "S9", "cliff", 640));
    reports.push_back(report_json("HPM5", "S0", "cliff", 512) );   // the same report again
    std::string first, last;
    for (std::size_t i = 0; i < reports.size(); ++i) {
        first += reports[i];
        last += reports[reports.size() - 1 - i];
    }
    const Collated c = collate(first);
    REQUIRE(c.rows.size() == 1);
    CHECK(c.duplicates == 1);
    CHECK(c.rows[0].verdict == Verdict::cliff);
    CHECK(c.rows[0].last_good == 512 * 512);
    CHECK(c.rows[0].reports == 10);
    CHECK(c.rows[0].drives == 10);
    CHECK(c.rows[0].drives_at_limit == 8);
    CHECK(c.rows[0].agreement == doctest::Approx(0.8));
    CHECK(c.rows[0].outliers.size() == 2);
    CHECK(csv(c) == csv(collate(last)));
}

TEST_CASE("collate: other transports and other settings are not compared, and it says why") {
    const Collated c = collate(report_json("HPM5", "A", "cliff", 512) + report_json("HPM5", "B", "clean", 0, "usb") +
                               report_json("HPM5", "C", "clean", 0, "sas", "{\"WCE\":0}"));
    CHECK(c.rows.size() == 3);
    REQUIRE(c.not_compared.size() == 1);
    CHECK(c.not_compared[0].find("usb") != std::string::npos);
    CHECK(c.not_compared[0].find("WCE=0") != std::string::npos);
}

TEST_CASE("collate: hostile and broken reports are named, counted and passed over") {
    std::string deep(10000, '['), nested = "{\"a\":" + deep + std::string(10000, ']') + "}";
    const Collated c = collate(report_json("HPM5", "A", "cliff", 512) + nested + "\n" + "{\"schema\":\"sgprobe/1\",\"x\":1e400}\n" + "{\"schema\":\"other\"}\n" +
                               "{\"schema\":\"sgprobe/1\",\"probe\":\"size\",\"verdict\":\"cliff\"}\n" + report_json("HPM5", "B", "cliff", 0) +
                               report_json("HPM5", "C", "maybe", 0) + report_json("\\u001b[31m$(reboot)`x`", "D", "clean", 0));
    CHECK(c.malformed_count == 6);
    CHECK(c.rows.size() == 2);
    CHECK(text(c, 120).find('\x1b') == std::string::npos);
    CHECK(csv(c).find('\x1b') == std::string::npos);
    CHECK(openmetrics(c).find('\x1b') == std::string::npos);
}

TEST_CASE("collate: a line of a million columns, and an object that never ends, cost no memory") {
    std::string columns = "size";
    for (int i = 0; i < 1000000; ++i) columns += ",1";
    const Collated c = collate(columns + "\n{\"never\": \"ends\n64 kB: 96.1 MB/s\n128 kB: 96 MB/s\n");
    CHECK(c.malformed_count == 1);
    CHECK(c.rows.size() == 1);   // the table after the brace still counts
}

TEST_CASE("collate: an entry for the kernel only where enough independent drives confirm it") {
    std::string two = report_json("HPM5", "A", "cliff", 512) + report_json("HPM5", "B", "cliff", 512);
    CHECK(kernel_quirks(collate(two), 2).find("{\"MAXTOR\", \"ATLAS\", \"HPM5\", BLIST_MAX_512}") != std::string::npos);
    CHECK(kernel_quirks(collate(two), 2).find("SGPROBE_MAX_SECTORS_KB=256") != std::string::npos);
    CHECK(kernel_quirks(collate(two), 3).find("BLIST") == std::string::npos);
    const std::string same = report_json("HPM5", "A", "cliff", 512) + report_json("HPM5", "A", "cliff", 512, "sas", "{\"WCE\":1, \"X\":2}");
    CHECK(kernel_quirks(collate(same), 2).find("BLIST") == std::string::npos);   // one drive, twice
}
