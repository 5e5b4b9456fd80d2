#include <doctest/doctest.h>

#include <functional>

#include "sgprobe/measure/steps.h"

using namespace sgprobe::measure;

namespace {
// The default grid in blocks, errors of 0.3 %.
std::vector<Point> curve(const std::function<double(double)>& time_us) {
    std::vector<Point> points;
    for (const double n : {8., 16., 32., 64., 128., 256., 384., 512., 640., 768., 896., 1024., 1152., 1280., 1408., 1536., 1664., 1792., 1920., 2048.})
        points.push_back({n, time_us(n), 0.003 * time_us(n)});
    return points;
}
std::vector<double> cliffs(const std::vector<Point>& points) {
    std::vector<double> at;
    for (const Step& s : analyse_curve(points, 0.10).steps)
        if (s.state == StepState::suspect && s.lasts) at.push_back(points[s.left].x);
    return at;
}
bool sure(const std::vector<Point>& points) {
    for (const Step& s : analyse_curve(points, 0.10).steps) if (s.state == StepState::unsure) return false;
    return true;
}
}

TEST_CASE("steps: the slope of a fixed overhead is no cliff") {
    for (const double overhead : {0., 20., 200., 2000.}) {
        const auto points = curve([&](double n) { return overhead + 5.2 * n; });
        CHECK(cliffs(points).empty());
        CHECK(sure(points));
    }
}

TEST_CASE("steps: the bend where overhead gives way to the media rate is no cliff") {
    for (const double bend : {20., 50., 100., 300., 700.}) {
        const auto points = curve([&](double n) { return std::max(300 + n, (300 + bend) / bend * n); });
        CHECK(cliffs(points).empty());
    }
}

TEST_CASE("steps: a lost revolution past 512 blocks is found, once") {
    CHECK(cliffs(curve([](double n) { return 20 + 5.3 * n + (n > 512 ? 4000 : 0); })) == std::vector<double>{512});
}

TEST_CASE("steps: a loss of 15 % is suspected wherever it lies, and 4 % nowhere") {
    for (double at = 9; at < 2047; at += 7) {
        for (const double overhead : {0., 100., 2000.}) {
            const auto time = [&](double n) { return overhead + 5.2 * n; };
            const auto added = curve([&](double n) { return time(n) + (n > at ? 0.15 / 0.85 * time(at) : 0); });
            CHECK_MESSAGE(cliffs(added).size() == 1, "added at " << at << " overhead " << overhead);
            const auto scaled = curve([&](double n) { return time(n) * (n > at ? 1 / 0.85 : 1); });
            CHECK_MESSAGE(cliffs(scaled).size() == 1, "scaled at " << at << " overhead " << overhead);
            if (at < 128) continue;   // between doubled sizes only bisection can tell
            const auto small = curve([&](double n) { return time(n) * (n > at ? 1 / 0.96 : 1); });
            CHECK_MESSAGE(cliffs(small).empty(), "4 % at " << at << " overhead " << overhead);
        }
    }
}

TEST_CASE("steps: two cliffs two grid steps apart are both found") {
    for (double at = 129; at < 1720; at += 13) {
        const double second = at + 257;
        const auto points = curve([&](double n) { return (50 + 5.2 * n) * (n > at ? 1 / 0.8 : 1) * (n > second ? 1 / 0.85 : 1); });
        CHECK_MESSAGE(cliffs(points).size() == 2, "at " << at);
    }
}

TEST_CASE("steps: one slow size among good ones is a dip, several are a band, neither is a cliff") {
    for (const double slow : {256., 1024., 1920.}) {
        const auto points = curve([&](double n) { return (50 + 5.2 * n) * (n == slow ? 1.4 : 1); });
        CHECK(cliffs(points).empty());
        CHECK(analyse_curve(points, 0.10).dips.size() == 1);
    }
    const auto band = curve([](double n) { return (50 + 5.2 * n) * (n >= 640 && n <= 1024 ? 1.4 : 1); });
    CHECK(cliffs(band).empty());
    CHECK(analyse_curve(band, 0.10).bands.size() == 1);
}

TEST_CASE("steps: requests that get faster past some size are no cliff") {
    CHECK(cliffs(curve([](double n) { return 50 + 5.2 * n + (n <= 512 ? 4000 : 0); })).empty());
}
