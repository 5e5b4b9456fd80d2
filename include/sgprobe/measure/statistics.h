// Robust statistics: what every probe decides with. Pure functions of numbers.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace sgprobe::measure {

double quantile(std::vector<double> values, double fraction);   // 0 of nothing; linear between order statistics
double median(std::vector<double> values);
double spread(std::span<const double> values);                  // 1.4826 x median absolute deviation: sigma of a normal

// Location and its standard error by Tukey's biweight, started from the median. Values within `tolerance` of the middle are
// never thrown out, however tight the rest lie: a cell whose commands come in two kinds is averaged, as a user's clock does.
// `prior_sigma` with weight `prior_weight` steadies the standard error of a few values (0: none).
struct Location { double value = 0, error = 0; std::size_t count = 0; };
Location biweight(std::span<const double> values, double tolerance, double prior_sigma = 0, double prior_weight = 0);

double normal_tail(double z);                                   // P(Z > z)
double normal_deviate(double tail);                             // the z with P(Z > z) = tail
// P(X >= count) for X binomial(trials, p).
double binomial_tail(std::size_t count, std::size_t trials, double p);

// One timed run of one cell: its logarithm, the round it belongs to. Given in the order of time.
struct Observation { std::size_t cell = 0, round = 0; double value = 0; };

// value = cell + round + local disturbance + noise, fitted robustly. Whole rounds shift with drift, contiguous stretches with
// bursts of other load; the fit takes both out, so that cells are compared as if measured at one moment.
struct RoundFit {
    std::vector<Location> cells;         // count 0: no observation
    std::vector<double> rounds;          // the shift of each round, median 0
    double sigma = 0;                    // of one observation, pooled: of the middle of them
    double sigma_all = 0;                // and root mean square of all but outliers: larger where samples are of several kinds
    double outliers = 0;                 // share of observations far from the rest
    std::vector<double> cleaned;         // each observation less its round and its disturbance
};
RoundFit fit_rounds(std::span<const Observation>, std::size_t cell_count, double tolerance, double least_sigma = 0);

// y = a + b * x by weighted least squares.
struct Line {
    double a = 0, b = 0, var_a = 0, var_b = 0, cov = 0;
    double at(double x) const { return a + b * x; }
    double variance_at(double x) const { return var_a + 2 * x * cov + x * x * var_b; }
};
struct Point { double x = 0, y = 0, error = 0; };
Line fit_line(std::span<const Point>);                          // two points or more of different x

}
