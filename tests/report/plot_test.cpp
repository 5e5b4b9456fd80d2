#include "sgprobe/report/plot.h"

#include <doctest/doctest.h>

#include "example_result.h"

using namespace sgprobe::report;

TEST_CASE("a plot names the drive, the units and the cliff") {
    const Plot plot = plot_of(example_result());
    CHECK(plot.title == "MAXTOR ATLAS15K2_146WLS HPM5");
    REQUIRE(plot.series.size() == 1);
    CHECK(plot.series[0].points.size() == 4);
    CHECK(plot.series[0].points[1].x == 262144);
    REQUIRE(plot.marks.size() == 1);
    CHECK(plot.marks[0].label == "cliff past 512 blocks (256 KiB): 55 % less");
    const std::string script = gnuplot_script(plot, PlotKind::svg);
    CHECK(script.find("'transfer length (KiB)'") != script.npos);
    CHECK(script.find("'MB/s'") != script.npos);
    CHECK(script.find("262144 96.1 95.9 96.3\n") != script.npos);
}

TEST_CASE("a plot of depths has depth on its axis") {
    auto r = example_result();
    for (std::size_t i = 0; i < r.samples.size(); i++) {
        r.samples[i].depth = 1u << i;
        r.samples[i].transfer_bytes = 65536;
    }
    r.cliffs[0].axis = "depth";
    r.cliffs[0].last_good = 2;
    const Plot plot = plot_of(r);
    CHECK_FALSE(plot.x_in_bytes);
    CHECK(plot.series[0].points.back().x == 8);
    CHECK(plot.marks[0].label == "cliff past depth 2: 55 % less");
}

TEST_CASE("nothing that a drive says leaves its quotes in a gnuplot script") {
    auto r = example_result();
    for (const char* hostile : {"`touch x`", "$(touch x)", "';system('touch x');'", "\"\nset output 'x'\n\"", "\\\nplot", "@macro", "a\x1b]0;b\x07", "'", "\\'", "END\nsystem 'touch x'\nEND"}) {
        r.device.vendor = r.device.product = r.device.path = hostile;
        r.samples[0].pattern = hostile;
        for (PlotKind kind : {PlotKind::svg, PlotKind::png, PlotKind::pdf, PlotKind::terminal}) {
            const std::string script = gnuplot_script(plot_of(r), kind);
            CAPTURE(script);
            // Outside '' only our own words remain, and every line closes what it opens.
            std::string outside;
            bool in = false;
            for (char c : script) {
                CHECK((c == '\n' || static_cast<unsigned char>(c) >= 0x20));
                if (c == '\n') CHECK_FALSE(in);
                if (c == '\'') in = !in;
                else if (!in) outside += c;
            }
            CHECK(script.find('`') == script.npos);
            for (const char* word : {"touch", "system", "set output", "macro"}) CHECK(outside.find(word) == outside.npos);
        }
    }
}

TEST_CASE("a plot of nothing is still a plot") {
    auto r = example_result();
    r.samples.clear();
    r.cliffs.clear();
    CHECK(gnuplot_script(plot_of(r), PlotKind::svg).find("plot 0 notitle") != std::string::npos);
    CHECK(gnuplot_script(overlaid({}), PlotKind::svg).find("plot 0 notitle") != std::string::npos);
}

TEST_CASE("the ending of a file's name tells what is drawn") {
    CHECK(plot_kind("a.svg") == PlotKind::svg);
    CHECK(plot_kind("a.b.png") == PlotKind::png);
    CHECK(plot_kind("-") == PlotKind::terminal);
    CHECK_FALSE(plot_kind("a.jpg"));
    CHECK_FALSE(plot_kind("svg"));
}
