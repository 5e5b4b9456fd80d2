#include "sgprobe/measure/steps.h"

#include <algorithm>
#include <cmath>

namespace sgprobe::measure {
namespace {

constexpr double sure_of_none = 2.5;     // standard errors between an estimate and the least step that would matter
constexpr double sure_of_some = 3.0;     // and between a suspected step and none: bisection confirms it or not
constexpr std::size_t reach = 5;         // points on either side that a slope is taken from

double misfit(const std::vector<Point>& points, const Line& line) {
    if (points.size() < 3) return 0;
    double sum = 0;
    for (const Point& p : points) sum += std::pow((p.y - line.at(p.x)) / p.error, 2);
    return sum / static_cast<double>(points.size() - 2);
}

// A side of a gap: the line through the points next to it, as many as lie on one line.
Line side(const std::vector<Point>& nearest_first) {
    for (std::size_t count = std::min(reach, nearest_first.size()); count > 2; --count) {
        const std::vector<Point> some(nearest_first.begin(), nearest_first.begin() + static_cast<std::ptrdiff_t>(count));
        const Line line = fit_line(some);
        if (misfit(some, line) < 3) return line;
    }
    return fit_line(std::vector<Point>(nearest_first.begin(), nearest_first.begin() + 2));
}

struct Jump { double value = 0, error = 0, left_slope = 0, right_slope = 0; bool known = false, both = false; double bend = 0, bend_error = 0; };

// From point i to the next: sign +1 finds steps up, -1 steps down. Walls are gaps that a slope must not be taken across.
Jump jump_at(const std::vector<Point>& p, std::size_t i, const std::vector<bool>& walls, double sign, std::size_t window) {
    std::vector<Point> left, right;
    for (std::size_t j = i;; --j) {
        left.push_back(p[j]);
        if (j == 0 || walls[j - 1] || left.size() == window) break;
    }
    for (std::size_t j = i + 1;; ++j) {
        right.push_back(p[j]);
        if (j + 1 >= p.size() || walls[j] || right.size() == window) break;
    }
    Jump least;
    const Point& before = p[i];
    const Point& after = p[i + 1];
    if (left.size() >= 2) {
        const Line line = side(left);
        least.value = sign * (after.y - line.at(after.x));
        least.error = std::sqrt(after.error * after.error + line.variance_at(after.x));
        least.known = true;
        least.bend = least.value;
        least.bend_error = least.error;
        least.left_slope = line.b;
    }
    if (right.size() >= 2) {
        const Line line = side(right);
        const double value = sign * (line.at(before.x) - before.y);
        const double error = std::sqrt(before.error * before.error + line.variance_at(before.x));
        least.right_slope = line.b;
        if (!least.known || value > least.bend) {
            least.bend = value;
            least.bend_error = error;
        }
        if (!least.known || value < least.value) {
            least.value = value;
            least.error = error;
        }
        if (!least.known) least.left_slope = line.b;
        least.both = least.known;
        least.known = true;
    }
    if (right.size() < 2) least.right_slope = least.left_slope;
    if (i + 2 == p.size() && left.size() >= 3) least.both = true;     // the grid ends there: bends are among the small sizes
    // A straight line through the origin is the steepest that a side without a slope can have; and no step down can be told.
    if (!least.known && sign < 0) return {.error = 1e30};
    if (!least.known) {
        least.left_slope = least.right_slope = before.y / before.x;
        least.value = sign * (after.y - before.y * after.x / before.x);
        least.error = std::hypot(after.error, before.error * after.x / before.x);
    }
    return least;
}

double least_that_matters(const Point& before, double threshold) { return threshold / (1 - threshold) * before.y; }

// Where a slope must not be taken across: the plainest step first, then what the steps found so far leave. Two steps up with two
// sizes between them look like a step down there, as long as nobody knows of them: so steps up come before steps down.
std::vector<bool> find_walls(const std::vector<Point>& p, double threshold) {
    std::vector<bool> walls(p.size(), false);
    if (p.size() < 3) return walls;
    for (const double sign : {1.0, -1.0}) {
        while (true) {
            std::size_t strongest = p.size();
            double most = 4;
            for (std::size_t i = 0; i + 1 < p.size(); ++i) {
                if (walls[i]) continue;
                const Jump j = jump_at(p, i, walls, sign, 2);
                if (j.value <= most * j.error || j.value <= 0.4 * least_that_matters(p[i], threshold)) continue;
                strongest = i;
                most = j.value / j.error;
            }
            if (strongest == p.size()) break;
            walls[strongest] = true;
        }
    }
    return walls;
}

// The worst single slow size: well above the line between its neighbours and above the one before it, to which the next returns.
std::size_t worst_dip(const std::vector<Point>& p, const std::vector<bool>& single, double threshold) {
    std::size_t worst = p.size();
    double most = 0;
    for (std::size_t i = 1; i + 1 < p.size(); ++i) {
        if (!single[i]) continue;
        const Point &before = p[i - 1], &after = p[i + 1];
        const double f = (p[i].x - before.x) / (after.x - before.x);
        const double level = before.y + f * (after.y - before.y);
        const double excess = p[i].y - level;
        const double error = std::hypot(p[i].error, std::hypot((1 - f) * before.error, f * after.error));
        if (excess < 4 * error || excess < 0.5 * least_that_matters({p[i].x, level, 0}, threshold)) continue;
        std::vector<Point> left, right;
        for (std::size_t j = i; j-- > 0 && left.size() < reach;) left.push_back(p[j]);
        for (std::size_t j = i + 1; j < p.size() && right.size() < reach; ++j) right.push_back(p[j]);
        double here = 0, next = 0;
        if (left.size() >= 2) {
            const Line line = side(left);
            here = p[i].y - line.at(p[i].x);
            next = after.y - line.at(after.x);
        } else if (right.size() >= 2) {
            const Line line = side(right);
            here = p[i].y - line.at(p[i].x);
            next = line.at(before.x) - before.y;
        }
        if (here < 0.5 * excess || next > 0.35 * here) continue;
        if (excess / level > most) {
            most = excess / level;
            worst = i;
        }
    }
    return worst;
}

Step judge(const Jump& up, double least) {
    Step step;
    step.jump = up.value;
    step.error = up.error;
    step.bend = up.bend;
    step.both_sides = up.both;
    step.bend_error = up.bend_error;
    step.left_slope = std::max(up.left_slope, 0.0);
    step.right_slope = std::max(up.right_slope, 0.0);
    if (up.value + sure_of_none * up.error < least) step.state = StepState::none;
    else if (up.value > sure_of_some * up.error && up.value > 0.5 * least) step.state = StepState::suspect;
    else step.state = StepState::unsure;
    return step;
}

}

Step step_down_between(const std::vector<Point>& points, std::size_t left, double threshold) {
    Step step = judge(jump_at(points, left, std::vector<bool>(points.size(), false), -1, reach), least_that_matters(points[left], threshold));
    step.left = left;
    step.right = left + 1;
    return step;
}

bool is_dip(const std::vector<Point>& points, std::size_t at, double threshold) {
    std::vector<bool> only(points.size(), false);
    only[at] = true;
    return worst_dip(points, only, threshold) == at;
}

Step step_between(const std::vector<Point>& points, std::size_t left, double threshold) {
    Step step = judge(jump_at(points, left, std::vector<bool>(points.size(), false), 1, reach), least_that_matters(points[left], threshold));
    step.left = left;
    step.right = left + 1;
    return step;
}

Curve analyse_curve(const std::vector<Point>& all, double threshold) {
    Curve curve;
    std::vector<Point> points = all;
    std::vector<std::size_t> index(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) index[i] = i;
    // No curve is a straight line to better than this, whatever its errors.
    for (Point& p : points) p.error = std::hypot(p.error, 0.002 * p.y);
    std::vector<bool> single(all.size(), true);     // no neighbour of a dip is one
    for (int i = 0; i < 4; ++i) {
        const std::size_t dip = worst_dip(points, single, threshold);
        if (dip == points.size()) break;
        curve.dips.push_back(index[dip]);
        single[dip - 1] = single[dip + 1] = false;
        single.erase(single.begin() + static_cast<std::ptrdiff_t>(dip));
        points.erase(points.begin() + static_cast<std::ptrdiff_t>(dip));
        index.erase(index.begin() + static_cast<std::ptrdiff_t>(dip));
    }
    std::sort(curve.dips.begin(), curve.dips.end());
    const std::vector<bool> walls = find_walls(points, threshold);
    std::vector<Jump> down(points.size());
    for (std::size_t i = 0; i + 1 < points.size(); ++i) {
        std::vector<bool> others = walls;
        others[i] = false;
        down[i] = jump_at(points, i, others, -1, reach);
        Step step = judge(jump_at(points, i, others, 1, reach), least_that_matters(points[i], threshold));
        step.left = index[i];
        step.right = index[i + 1];
        curve.steps.push_back(step);
    }
    // A step that a later one takes back is a slow band: past it time is again what the slope before it asks. (A bend alone looks
    // like a step down to whom knows only the steeper slope past it.)
    for (std::size_t i = 0; i < curve.steps.size(); ++i) {
        if (curve.steps[i].state != StepState::suspect) continue;
        for (std::size_t j = i + 1; j < curve.steps.size(); ++j) {
            const double level = points[i].y + curve.steps[i].left_slope * (points[j + 1].x - points[i].x);
            if (down[j].value > 4 * down[j].error && down[j].value > 0.6 * curve.steps[i].jump && points[j + 1].y - level < 0.5 * curve.steps[i].jump) {
                curve.steps[i].lasts = false;
                curve.bands.emplace_back(curve.steps[i].right, curve.steps[j].left);
                break;
            }
        }
    }
    return curve;
}

}
