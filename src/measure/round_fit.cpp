#include <algorithm>
#include <cmath>

#include "sgprobe/measure/statistics.h"

namespace sgprobe::measure {
namespace {

// Median polish: effects of cells and rounds, each the median of what the other leaves.
void polish(std::span<const Observation> all, std::vector<double>& cells, std::vector<double>& rounds) {
    std::vector<std::vector<double>> by_cell(cells.size()), by_round(rounds.size());
    for (int pass = 0; pass < 8; ++pass) {
        for (auto& v : by_cell) v.clear();
        for (const Observation& o : all) by_cell[o.cell].push_back(o.value - rounds[o.round]);
        for (std::size_t i = 0; i < cells.size(); ++i) if (!by_cell[i].empty()) cells[i] = median(by_cell[i]);
        for (auto& v : by_round) v.clear();
        for (const Observation& o : all) by_round[o.round].push_back(o.value - cells[o.cell]);
        for (std::size_t i = 0; i < rounds.size(); ++i) if (!by_round[i].empty()) rounds[i] = median(by_round[i]);
    }
    const double middle = median(rounds);
    for (double& r : rounds) r -= middle;
    for (double& c : cells) c += middle;
}

// What neighbours in time have in common: the running median of the residuals, each one's own left out.
std::vector<double> disturbance(const std::vector<double>& residuals, std::size_t reach) {
    std::vector<double> common(residuals.size());
    std::vector<double> window;
    for (std::size_t i = 0; i < residuals.size(); ++i) {
        window.clear();
        const std::size_t first = i > reach ? i - reach : 0, last = std::min(i + reach, residuals.size() - 1);
        for (std::size_t j = first; j <= last; ++j) if (j != i) window.push_back(residuals[j]);
        common[i] = median(window);
    }
    return common;
}

}

RoundFit fit_rounds(std::span<const Observation> all, std::size_t cell_count, double tolerance, double least_sigma) {
    RoundFit fit;
    fit.cells.resize(cell_count);
    if (all.empty()) return fit;
    std::size_t round_count = 0;
    for (const Observation& o : all) round_count = std::max(round_count, o.round + 1);
    std::vector<double> cells(cell_count, 0.0);
    fit.rounds.assign(round_count, 0.0);
    polish(all, cells, fit.rounds);

    std::vector<double> residuals;
    for (const Observation& o : all) residuals.push_back(o.value - cells[o.cell] - fit.rounds[o.round]);
    const double before = spread(residuals);
    std::vector<double> common(all.size(), 0.0);
    if (all.size() >= 24) {
        const std::vector<double> local = disturbance(residuals, 4);
        std::vector<double> rest(all.size());
        for (std::size_t i = 0; i < all.size(); ++i) rest[i] = residuals[i] - local[i];
        if (spread(rest) < 0.85 * before) common = local;   // else it would only add its own noise
    }
    for (std::size_t i = 0; i < all.size(); ++i) residuals[i] -= common[i];
    // Cells and rounds were fitted to these same values: the scale of what is left is too small by the freedom they took.
    const double freedom = static_cast<double>(all.size()) - static_cast<double>(cell_count + round_count - 1);
    // The root mean square of what is no outlier: a median would not see that some samples hold commands of another kind.
    const double cut = std::max(4.685 * spread(residuals), tolerance);
    double squares = 0, kept = 0;
    for (const double r : residuals) {
        if (std::abs(r) > cut) continue;
        squares += r * r;
        kept += 1;
    }
    fit.outliers = 1 - kept / static_cast<double>(residuals.size());
    const double scale = std::sqrt(static_cast<double>(all.size()) / std::max(freedom, 1.0));
    fit.sigma_all = std::sqrt(squares / std::max(kept, 1.0)) * scale;
    fit.sigma = spread(residuals) * scale;
    fit.sigma = std::max(fit.sigma, least_sigma);

    std::vector<std::vector<double>> by_cell(cell_count);
    for (std::size_t i = 0; i < all.size(); ++i) {
        fit.cleaned.push_back(all[i].value - fit.rounds[all[i].round] - common[i]);
        by_cell[all[i].cell].push_back(fit.cleaned.back());
    }
    for (std::size_t i = 0; i < cell_count; ++i) fit.cells[i] = biweight(by_cell[i], tolerance, fit.sigma, 6);
    return fit;
}

}
