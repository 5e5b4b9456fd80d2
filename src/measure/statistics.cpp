#include "sgprobe/measure/statistics.h"

#include <algorithm>
#include <cmath>

namespace sgprobe::measure {

double quantile(std::vector<double> values, double fraction) {
    if (values.empty()) return 0;
    const double place = fraction * static_cast<double>(values.size() - 1);
    const auto low = static_cast<std::size_t>(place);
    const auto nth = values.begin() + static_cast<std::ptrdiff_t>(low);
    std::nth_element(values.begin(), nth, values.end());
    if (low + 1 >= values.size()) return *nth;
    const double next = *std::min_element(nth + 1, values.end());
    return *nth + (place - static_cast<double>(low)) * (next - *nth);
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

double spread(std::span<const double> values) {
    const double middle = median({values.begin(), values.end()});
    std::vector<double> deviations;
    deviations.reserve(values.size());
    for (const double v : values) deviations.push_back(std::abs(v - middle));
    return 1.4826 * median(std::move(deviations));
}

Location biweight(std::span<const double> values, double tolerance, double prior_sigma, double prior_weight) {
    Location result;
    result.count = values.size();
    if (values.empty()) return result;
    double middle = median({values.begin(), values.end()});
    const double cut = std::max({4.685 * spread(values), tolerance, 4.685 * prior_sigma});
    double weights = 0, squares = 0, kept = 0;
    for (int pass = 0; pass < 6; ++pass) {
        double sum = 0;
        weights = squares = kept = 0;
        for (const double v : values) {
            const double d = std::abs(v - middle);
            if (d >= cut) continue;
            // Full weight near the middle: inside the tolerance this is the mean.
            const double u = d <= tolerance ? 0 : (d - tolerance) / std::max(cut - tolerance, 1e-12);
            const double w = (1 - u * u) * (1 - u * u);
            sum += w * v;
            weights += w;
            squares += w * w * (v - middle) * (v - middle);
            kept += 1;
        }
        if (weights <= 0) break;
        middle = sum / weights;
    }
    result.value = middle;
    const double n = std::max(weights, 1.0);
    const double variance = (prior_weight * prior_sigma * prior_sigma + squares) / std::max(prior_weight + kept - 1, 1.0);
    result.error = std::sqrt(variance / n);
    return result;
}

double normal_tail(double z) { return 0.5 * std::erfc(z / std::sqrt(2.0)); }

double normal_deviate(double tail) {
    double low = -10, high = 40;
    for (int i = 0; i < 100; ++i) {
        const double middle = (low + high) / 2;
        (normal_tail(middle) > tail ? low : high) = middle;
    }
    return (low + high) / 2;
}

double binomial_tail(std::size_t count, std::size_t trials, double p) {
    if (count == 0) return 1;
    if (count > trials) return 0;
    const double n = static_cast<double>(trials);
    double sum = 0;
    for (std::size_t k = count; k <= trials; ++k) {
        const double kk = static_cast<double>(k);
        const double term = std::exp(std::lgamma(n + 1) - std::lgamma(kk + 1) - std::lgamma(n - kk + 1) +
                                     kk * std::log(p) + (n - kk) * std::log1p(-p));
        sum += term;
        if (term < sum * 1e-12) break;
    }
    return std::min(sum, 1.0);
}

Line fit_line(std::span<const Point> points) {
    double w = 0, wx = 0, wy = 0;
    for (const Point& p : points) {
        const double weight = 1 / std::max(p.error * p.error, 1e-30);
        w += weight;
        wx += weight * p.x;
        wy += weight * p.y;
    }
    const double mean_x = wx / w, mean_y = wy / w;
    double xx = 0, xy = 0;
    for (const Point& p : points) {
        const double weight = 1 / std::max(p.error * p.error, 1e-30);
        xx += weight * (p.x - mean_x) * (p.x - mean_x);
        xy += weight * (p.x - mean_x) * (p.y - mean_y);
    }
    Line line;
    line.b = xy / xx;
    line.a = mean_y - line.b * mean_x;
    line.var_b = 1 / xx;
    line.var_a = 1 / w + mean_x * mean_x / xx;
    line.cov = -mean_x / xx;
    return line;
}

}
