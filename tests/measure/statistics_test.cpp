#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "sgprobe/measure/statistics.h"

using namespace sgprobe::measure;

TEST_CASE("statistics: a quarter of wild values does not move the location") {
    std::vector<double> values;
    for (int i = 0; i < 30; ++i) values.push_back(1.0 + 0.01 * (i % 5 - 2));
    for (int i = 0; i < 10; ++i) values.push_back(3.0);
    CHECK(biweight(values, 0.05).value == doctest::Approx(1.0).epsilon(0.01));
}

TEST_CASE("statistics: a cell with commands of two kinds close together is averaged, not voted on") {
    std::vector<double> values;
    for (int i = 0; i < 30; ++i) values.push_back(i % 3 == 0 ? 1.12 : 1.0);
    CHECK(biweight(values, 0.15).value == doctest::Approx(1.04).epsilon(0.002));
}

TEST_CASE("statistics: the interval holds the truth about as often as it says") {
    std::mt19937_64 random(7);
    std::normal_distribution<double> noise(0, 0.08);
    int inside = 0;
    for (int trial = 0; trial < 1000; ++trial) {
        std::vector<double> values;
        for (int i = 0; i < 20; ++i) values.push_back(noise(random));
        const Location l = biweight(values, 0.15);
        if (std::abs(l.value) < 1.96 * l.error) ++inside;
    }
    CHECK(inside > 910);
    CHECK(inside < 975);
}

TEST_CASE("statistics: drift of 25 % and a burst over part of two rounds do not look like an effect of a cell") {
    std::mt19937_64 random(3);
    std::normal_distribution<double> noise(0, 0.01);
    std::vector<Observation> all;
    std::vector<std::size_t> order(20);
    for (std::size_t i = 0; i < 20; ++i) order[i] = i;
    for (std::size_t round = 0; round < 10; ++round) {
        std::shuffle(order.begin(), order.end(), random);
        for (std::size_t place = 0; place < 20; ++place) {
            double y = 0.1 * static_cast<double>(order[place]) + 0.25 * (static_cast<double>(round) + static_cast<double>(place) / 20) / 10 + noise(random);
            if ((round == 3 && place > 8) || (round == 4 && place < 6)) y += 0.5;
            all.push_back({order[place], round, y});
        }
    }
    const RoundFit fit = fit_rounds(all, 20, 0.15);
    for (std::size_t i = 1; i < 20; ++i)
        CHECK(fit.cells[i].value - fit.cells[0].value == doctest::Approx(0.1 * static_cast<double>(i)).epsilon(0.02 / (0.1 * static_cast<double>(i))));
    CHECK(fit.sigma < 0.03);
}

TEST_CASE("statistics: tails and deviates agree with the tables") {
    CHECK(normal_tail(1.96) == doctest::Approx(0.025).epsilon(0.001));
    CHECK(normal_deviate(0.025) == doctest::Approx(1.96).epsilon(0.001));
    CHECK(binomial_tail(2, 12, 0.02) == doctest::Approx(0.0231).epsilon(0.02));
    CHECK(quantile({4, 1, 3, 2}, 0.5) == doctest::Approx(2.5));
    CHECK(quantile({}, 0.5) == 0);
}

TEST_CASE("statistics: a line through points of unequal worth follows the good ones") {
    const std::vector<Point> points{{1, 3, 0.01}, {2, 5, 0.01}, {3, 7, 0.01}, {4, 20, 100}};
    const Line line = fit_line(points);
    CHECK(line.at(10) == doctest::Approx(21).epsilon(0.001));
    CHECK(std::sqrt(line.variance_at(2)) < 0.01);
}
