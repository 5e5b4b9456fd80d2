#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiment_run.h"

namespace sgprobe::measure {

namespace {

// The chance of any false effect in a whole experiment, all responses together; and the least change worth telling.
constexpr double significance = 0.002, least_effect = 0.02;

}

double ExperimentRun::rate(const MeasuredResponse& r, std::size_t t) const {
    return r.time_us[t] > 0 ? static_cast<double>(r.spec.size_bytes) / r.time_us[t] : 0;
}

Interval ExperimentRun::interval(const MeasuredResponse& r, std::size_t t) const {
    const double e = 1.96 * r.value_error[t];
    if (r.spec.what == Response::What::retries) return {r.value[t], std::max(0.0, r.value[t] - e), r.value[t] + e, r.value[t]};
    const double middle = r.spec.what == Response::What::rate ? rate(r, t) : std::exp(r.value[t]);
    return {middle, middle * std::exp(-e), middle * std::exp(e), middle};
}

// contrast: a weight for each treatment, of sum 0. Independent cells: variances add.
void ExperimentRun::add_effect(std::string factor, std::vector<std::string> levels, const MeasuredResponse& r, const std::vector<double>& contrast) {
    double sum = 0, variance = 0;
    for (std::size_t t = 0; t < contrast.size(); ++t) {
        if (contrast[t] == 0) continue;
        if (r.cells[t].samples.empty() || r.value_error[t] <= 0) return;   // a treatment that was never reached
        sum += contrast[t] * r.value[t];
        variance += contrast[t] * contrast[t] * r.value_error[t] * r.value_error[t];
    }
    const double error = std::sqrt(variance);
    Effect e{.factor = std::move(factor), .levels = std::move(levels), .response = r.name};
    const auto shown = [&](double x) { return r.spec.what == Response::What::retries ? x : std::exp(x) - 1; };
    e.effect = shown(sum);
    e.low = shown(sum - 1.96 * error);
    e.high = shown(sum + 1.96 * error);
    e.p_value = 2 * normal_tail(std::abs(sum) / std::max(error, 1e-9));
    out_.effects.push_back(std::move(e));
}

void ExperimentRun::find_effects() {
    const std::size_t n = factors_.size();
    const auto find = [&](const std::vector<std::size_t>& levels) {
        for (std::size_t t = 0; t < out_.treatments.size(); ++t)
            if (out_.treatments[t].levels == levels) return t;
        return out_.treatments.size();
    };
    std::size_t all = 1;
    for (const Factor& f : factors_) all *= f.levels.size();
    const bool full = all == out_.treatments.size() && !halving_;
    if (options_.design == Design::together && n > 1) {
        std::string keys;
        std::vector<std::string> from, to;
        for (const Factor& f : factors_) keys += (keys.empty() ? "" : "+") + f.key, from.push_back(f.levels.front()), to.push_back(f.levels.back());
        for (const MeasuredResponse& r : responses_) add_effect(keys, {from.front(), to.back()}, r, {-1, 1});
    }
    // The settings of the other factors over which an effect is averaged: all in a full design, the base alone in the others.
    const auto others = [&](std::size_t f, std::size_t g) {
        std::vector<std::vector<std::size_t>> list;
        if (!full) return std::vector<std::vector<std::size_t>>{std::vector<std::size_t>(n, 0)};
        for (const Treatment& t : out_.treatments)
            if (t.levels[f] == 0 && (g == n || t.levels[g] == 0)) list.push_back(t.levels);
        return list;
    };
    const auto add = [&](std::vector<double>& contrast, std::vector<std::size_t> levels, double weight) {
        const std::size_t t = find(levels);
        if (t == out_.treatments.size()) return false;
        contrast[t] += weight;
        return true;
    };
    for (const MeasuredResponse& r : responses_) {
        for (std::size_t f = 0; f < n; ++f)
            for (std::size_t l = 1; l < factors_[f].levels.size(); ++l) {
                std::vector<double> contrast(out_.treatments.size(), 0);
                const auto base = others(f, n);
                bool there = true;
                for (std::vector<std::size_t> levels : base) {
                    there = add(contrast, levels, -1.0 / static_cast<double>(base.size())) && there;
                    levels[f] = l;
                    there = add(contrast, levels, 1.0 / static_cast<double>(base.size())) && there;
                }
                if (there) add_effect(factors_[f].key, {factors_[f].levels[0], factors_[f].levels[l]}, r, contrast);
            }
        for (std::size_t f = 0; f < n; ++f)
            for (std::size_t g = f + 1; g < n; ++g)
                for (std::size_t l = 1; l < factors_[f].levels.size(); ++l)
                    for (std::size_t k = 1; k < factors_[g].levels.size(); ++k) {
                        std::vector<double> contrast(out_.treatments.size(), 0);
                        const auto base = others(f, g);
                        bool there = true;
                        for (const auto& levels : base) {
                            const double w = 1.0 / static_cast<double>(base.size());
                            auto left = levels, right = levels, both = levels;
                            left[f] = both[f] = l;
                            right[g] = both[g] = k;
                            there = add(contrast, both, w) && add(contrast, left, -w) && add(contrast, right, -w) && add(contrast, levels, w) && there;
                        }
                        if (there)
                            add_effect(factors_[f].key + " x " + factors_[g].key, {factors_[f].levels[l], factors_[g].levels[k]}, r, contrast);
                    }
    }
    const double looked_at = static_cast<double>(std::max<std::size_t>(1, out_.effects.size()));
    for (Effect& e : out_.effects) {
        e.p_value = std::min(1.0, e.p_value * looked_at);
        e.matters = e.p_value < significance && std::abs(e.effect) >= std::max(least_effect, options_.threshold / 2);
    }
    std::stable_sort(out_.effects.begin(), out_.effects.end(), [](const Effect& a, const Effect& b) {
        if (a.matters != b.matters) return a.matters;
        return a.matters && std::abs(a.effect) > std::abs(b.effect);
    });
}

void ExperimentRun::choose_best() {
    const MeasuredResponse& main = responses_.front();
    const double sign = main.spec.what == Response::What::rate ? 1 : -1;
    const auto known = [&](std::size_t t) { return main.value_error[t] > 0; };
    if (!known(0)) return;
    std::size_t best = 0;
    for (std::size_t t = 1; t < out_.treatments.size(); ++t)
        if (known(t) && sign * main.value[t] > sign * main.value[best]) best = t;
    // Among those that cannot be told from it, the one that changes fewest settings.
    const auto changes = [&](std::size_t t) { return std::count_if(out_.treatments[t].levels.begin(), out_.treatments[t].levels.end(), [](std::size_t l) { return l != 0; }); };
    std::size_t simplest = best;
    for (std::size_t t = 0; t < out_.treatments.size(); ++t) {
        if (!known(t)) continue;
        const double behind = sign * (main.value[best] - main.value[t]), error = std::hypot(main.value_error[best], main.value_error[t]);
        const double nothing = main.spec.what == Response::What::retries ? 0.001 : 0.015;
        if (behind < std::max(nothing, 2 * error) && behind < options_.threshold / 3 && changes(t) < changes(simplest)) simplest = t;
    }
    const double gain = sign * (main.value[simplest] - main.value[0]), error = std::hypot(main.value_error[simplest], main.value_error[0]);
    const double tries = static_cast<double>(out_.treatments.size());
    const double least = main.spec.what == Response::What::retries ? 0.005 : std::log(1 + std::max(least_effect, options_.threshold / 2));
    if (simplest != 0 && gain >= least && 2 * tries * normal_tail(gain / std::max(error, 1e-9)) < significance) out_.best = simplest;

    if (main.spec.what != Response::What::rate) return;
    const MeasuredResponse& reference = responses_[reference_];
    reference_rate_ = rate(reference, 0);
    reference_error_ = reference.value_error[0];
    if (reference_rate_ <= 0) return;
    const std::size_t t = out_.best.value_or(0);
    const double behind = std::log(reference_rate_ / rate(main, t)), spread = 2 * std::hypot(reference_error_, main.value_error[t]), line = -std::log(1 - options_.threshold);
    if (behind + spread < line) out_.restored = true;
    else if (behind - spread > line) out_.restored = false;
    else if (behind < line / 2) out_.restored = true;
}

}
