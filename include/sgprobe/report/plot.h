// Curves with their intervals as a gnuplot script: to be read on paper, in black and white, and by eyes that tell no red from green.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sgprobe/measure/result.h"

namespace sgprobe::report {

struct PlotPoint { double x = 0, median = 0, low = 0, high = 0; };
struct PlotSeries { std::string label; std::vector<PlotPoint> points; };
struct PlotMark { double x = 0; std::string label; };        // a vertical line: a cliff

struct Plot {
    std::string title, subtitle;                             // not yet escaped, like every text here
    std::string x_label, y_label = "MB/s";
    bool x_in_bytes = false;                                 // tics are sizes: 64K, 1M
    std::vector<PlotSeries> series;
    std::vector<PlotMark> marks;
};

Plot plot_of(const measure::Result&);
Plot overlaid(const std::vector<Plot>&);                     // several drives in one picture; those of other axes than the first's are left out

enum class PlotKind : std::uint8_t { svg, png, pdf, terminal };
std::optional<PlotKind> plot_kind(std::string_view file);    // by its ending; "-" is the terminal
std::string gnuplot_script(const Plot&, PlotKind, unsigned columns = 80, unsigned rows = 24);

}
