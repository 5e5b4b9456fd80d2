#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sgprobe/report/escape.h"
#include "sgprobe/report/plot.h"

namespace sgprobe::report {
namespace {

// Okabe and Ito's colours, told apart by every kind of eye; each also has a dash and a mark of its own.
constexpr std::string_view colours[] = {"#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#000000"};
constexpr std::string_view cliff_colour = "#D55E00";
constexpr unsigned point_types[] = {7, 5, 9, 11, 13, 4};

// One text, quoted; long ones are cut.
std::string quoted(std::string_view text, std::size_t most = 100) {
    std::string clean = for_gnuplot(text);
    if (clean.size() > most) {
        clean.resize(most);
        while (!clean.empty() && (clean.back() & 0xc0) == 0x80) clean.pop_back();
        if (!clean.empty() && (clean.back() & 0x80)) clean.pop_back();
        clean += "...";
    }
    return fmt::format("'{}'", clean);
}

std::string tic(double bytes) {
    if (bytes >= 1 << 20) return fmt::format("{:g} MiB", bytes / (1 << 20));
    return bytes >= 1024 ? fmt::format("{:g}", bytes / 1024) : fmt::format("{:g} B", bytes);
}

std::string terminal(PlotKind kind, unsigned columns, unsigned rows) {
    switch (kind) {
        case PlotKind::svg: return "set terminal svg size 960,560 font 'Helvetica,14' background '#ffffff' noenhanced\n";
        case PlotKind::png: return "set terminal pngcairo size 1200,700 font 'Sans,14' noenhanced\n";
        case PlotKind::pdf: return "set terminal pdfcairo size 24cm,14cm font 'Sans,11' noenhanced\n";
        case PlotKind::terminal: break;
    }
    return fmt::format("set terminal dumb size {},{} noenhanced\n", columns, rows);
}

std::string tics(const Plot& plot, double least, double greatest) {
    if (!plot.x_in_bytes) return "set xtics\n";
    std::string out;
    double first = std::pow(2, std::floor(std::log2(least)));
    const double step = greatest / first > 4096 ? 4 : 2;
    for (double x = first; x <= greatest * 1.01; x *= step) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", quoted(tic(x)), x);
    return fmt::format("set xtics ({})\n", out);
}

}

std::optional<PlotKind> plot_kind(std::string_view file) {
    if (file == "-") return PlotKind::terminal;
    if (file.ends_with(".svg")) return PlotKind::svg;
    if (file.ends_with(".png")) return PlotKind::png;
    if (file.ends_with(".pdf")) return PlotKind::pdf;
    return {};
}

std::string gnuplot_script(const Plot& plot, PlotKind kind, unsigned columns, unsigned rows) {
    double least = INFINITY, greatest = 0, top = 0;
    for (const auto& series : plot.series)
        for (const auto& p : series.points) least = std::min(least, p.x), greatest = std::max(greatest, p.x), top = std::max({top, p.median, p.high});
    if (!(least > 0) || !(top > 0) || !std::isfinite(top)) least = 1, greatest = 2, top = 1;
    const bool on_terminal = kind == PlotKind::terminal;

    std::string out = "set encoding utf8\n" + terminal(kind, columns, rows);
    // One title line on a terminal; the second one is smaller elsewhere.
    out += fmt::format("set title {}\n", on_terminal ? quoted(plot.title) : fmt::format("{} . \"\\n\" . {}", quoted(plot.title), quoted(plot.subtitle, 140)));
    out += fmt::format("set xlabel {}\nset ylabel {}\n", quoted(plot.x_in_bytes ? plot.x_label + " (KiB)" : plot.x_label), quoted(plot.y_label));
    out += fmt::format("set xrange [{}:{}]\nset yrange [0:{}]\n", plot.x_in_bytes ? least / 1.15 : least - 0.5, plot.x_in_bytes ? greatest * 1.15 : greatest + 0.5, top * 1.18);
    if (plot.x_in_bytes) out += "set logscale x 2\n";
    out += tics(plot, least, greatest);
    const bool named = std::any_of(plot.series.begin(), plot.series.end(), [](const PlotSeries& s) { return !s.label.empty(); });
    out += named ? "set key outside below height 1.5 noenhanced\n" : "unset key\n";
    if (!on_terminal) out += "set grid ytics linecolor rgb '#d8d8d8' linetype 1 linewidth 0.5\nset border 3\nset tics nomirror out\n";
    else out += "set tics nomirror\n";

    int tag = 0;
    for (const auto& mark : plot.marks) {
        tag++;
        const double x = plot.x_in_bytes ? mark.x * 1.01 : mark.x + 0.5;
        const bool right = plot.x_in_bytes ? std::log2(x / least) > 0.55 * std::log2(greatest / least) : x - least > 0.55 * (greatest - least);
        out += fmt::format("set arrow {} from {},graph 0 to {},graph 1 nohead linewidth 2 dashtype 2 linecolor rgb '{}' front\n", tag, x, x, cliff_colour);
        out += fmt::format("set label {} {} at {},graph {:.2f} {} offset {},0 front{}\n", tag, quoted(mark.label), x, 0.96 - 0.07 * ((tag - 1) % 4),
                           right ? "right" : "left", right ? -1 : 1, on_terminal ? "" : fmt::format(" textcolor rgb '{}'", "#A04000"));
    }

    for (std::size_t i = 0; i < plot.series.size(); i++) {
        out += fmt::format("$s{} << END\n", i);
        for (const auto& p : plot.series[i].points) out += fmt::format("{:.9g} {:.6g} {:.6g} {:.6g}\n", p.x, p.median, p.low, p.high);
        out += "END\n";
    }
    std::string parts;
    const auto part = [&](const std::string& text) { parts += (parts.empty() ? "plot " : ", \\\n     ") + text; };
    for (std::size_t i = 0; i < plot.series.size() && !on_terminal; i++)
        part(fmt::format("$s{} using 1:3:4 with filledcurves linecolor rgb '{}' fillstyle transparent solid 0.25 noborder notitle", i, colours[i % std::size(colours)]));
    for (std::size_t i = 0; i < plot.series.size(); i++) {
        const std::string title = plot.series[i].label.empty() ? "notitle" : fmt::format("title {}", quoted(plot.series[i].label, 60));
        if (on_terminal) part(fmt::format("$s{} using 1:2 with points pointtype '{}' {}", i, "*o+x#@"[i % 6], title));
        else part(fmt::format("$s{} using 1:2 with linespoints linecolor rgb '{}' linewidth 2 dashtype {} pointtype {} pointsize 0.9 {}", i,
                              colours[i % std::size(colours)], i % 5 + 1, point_types[i % std::size(point_types)], title));
    }
    return out + (parts.empty() ? "plot 0 notitle" : parts) + '\n';
}

}
