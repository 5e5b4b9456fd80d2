#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiment_run.h"
#include "sgprobe/measure/advice.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::measure {

namespace {

std::string percent(double relative) { return fmt::format("{:+.0f} %", 100 * relative); }

std::string amount(const Effect& e) {
    return e.response.starts_with("retries") ? fmt::format("{:+.3f} a command", e.effect) : percent(e.effect);
}

}

void ExperimentRun::say() {
    std::vector<std::string> unusable;
    for (const LevelState& l : out_.levels)
        if (l.state != "set") unusable.push_back(fmt::format("{}={}: {}: {}", l.factor, l.level, l.state, l.why));
    Result& r = out_.result;
    for (const std::string& what : unusable) r.notes.push_back(what);
    if (factors_.empty()) {
        out_.sentence = fmt::format("none of the {} settings can be varied on this drive, so nothing was measured", options_.factors.size());
        r.reason = out_.sentence;
        return;
    }
    if (responses_.empty() || responses_.front().value.empty()) {
        out_.sentence = r.reason = interrupted_ ? "interrupted before anything was measured" : "nothing was measured";
        return;
    }
    const MeasuredResponse& main = responses_.front();
    const std::size_t n = factors_.size();
    const std::string none = n == 1 ? std::string("this setting does not restore the rate") : fmt::format("no combination of these {} settings restores the rate", n);
    const bool any = std::any_of(out_.effects.begin(), out_.effects.end(), [&](const Effect& e) { return e.matters && e.response == main.name; });
    if (main.spec.what == Response::What::rate && reference_ != 0 && out_.restored == false) {
        if (out_.best)
            out_.sentence = fmt::format("{}; best is {:.0f} MB/s of {:.0f}, with {}", none, rate(main, *out_.best), reference_rate_, out_.treatments[*out_.best].text);
        else
            out_.sentence = fmt::format("{}: {:.0f} MB/s of {:.0f}, and {} {}", none, rate(main, 0), reference_rate_, n == 1 ? "it" : "none of them", any ? "is no better than what is set" : "has an effect on it");
        if (!out_.best && n == 1 && !any) out_.sentence = fmt::format("{}: {:.0f} MB/s of {:.0f}, and it has no effect on it", none, rate(main, 0), reference_rate_);
    } else if (out_.best) {
        const std::size_t t = *out_.best;
        if (main.spec.what == Response::What::rate)
            out_.sentence = reference_ != 0 && out_.restored == true
                                ? fmt::format("{} restores the rate: {:.0f} MB/s of {:.0f}, where it was {:.0f}", out_.treatments[t].text, rate(main, t), reference_rate_, rate(main, 0))
                                : fmt::format("best is {:.0f} MB/s, with {}, where it was {:.0f}{}", rate(main, t), out_.treatments[t].text, rate(main, 0),
                                              reference_ != 0 ? "; whether that is the rate of smaller requests cannot be told" : "");
        else
            out_.sentence = fmt::format("best is {:.4g}, with {}, where it was {:.4g} ({})", interval(main, t).median, out_.treatments[t].text, interval(main, 0).median, main.name);
    } else if (any) {
        const auto worst = std::find_if(out_.effects.begin(), out_.effects.end(), [&](const Effect& e) { return e.matters && e.response == main.name; });
        out_.sentence = fmt::format("nothing is better than the settings as they are; {}={} is worse ({})", worst->factor, worst->levels.back(), amount(*worst));
    } else {
        out_.sentence = fmt::format("{} ({})", n == 1 ? "this setting has no effect on it" : fmt::format("none of these {} settings has an effect on it", n), main.name);
    }
    // The price: where the best is worse elsewhere.
    if (out_.best)
        for (std::size_t i = 1; i < responses_.size(); ++i) {
            const MeasuredResponse& other = responses_[i];
            const double sign = other.spec.what == Response::What::rate ? 1 : -1;
            const double change = sign * (other.value[*out_.best] - other.value[0]), error = std::hypot(other.value_error[*out_.best], other.value_error[0]);
            if (-change > std::max(3.3 * error, options_.threshold / 2))
                r.notes.push_back(fmt::format("the price: {} is {} with {}", other.name, percent(std::exp(sign * change) - 1), out_.treatments[*out_.best].text));
        }
    if (out_.restored == false && !baseline_.advice.empty()) {
        out_.sentence += fmt::format("; {} {} does", baseline_.advice.front().what, baseline_.advice.front().value);
        r.advice.push_back(baseline_.advice.front());
    }
    r.reason = out_.sentence;
    if (!stop_.empty()) r.notes.push_back("ended early: " + stop_);
    // RCD, DRA: a drive that obeys them must read sequentially slower.
    for (const Factor& f : factors_) {
        const bool effect = std::any_of(out_.effects.begin(), out_.effects.end(), [&](const Effect& e) { return e.matters && e.factor.find(f.key) != std::string::npos; });
        if (!effect && (f.key == "RCD" || f.key == "DRA"))
            r.notes.push_back(fmt::format("{} is stored, and ignored: sequential reads without {} must be slower, and are not", f.key, f.key == "RCD" ? "a read cache" : "read-ahead"));
        else if (!effect && !halving_)
            r.notes.push_back(fmt::format("{} is held by the drive, and has no effect on anything that was measured", f.key));
    }
    if (redone_) r.notes.push_back(fmt::format("{} samples were spoiled and taken again", redone_));
}

void ExperimentRun::finish() {
    Result& r = out_.result;
    // Everything back, or the best left, before the last word.
    if (options_.keep_best && out_.best && !interrupted_) {
        settings_.set(assignments(out_.treatments[*out_.best].levels));
        settings_.keep();
        r.notes.push_back(fmt::format("left as the best: {}", out_.treatments[*out_.best].text));
    } else {
        const pages::RestoreReport report = settings_.restore();
        for (const std::string& what : report.failed) r.notes.push_back("NOT put back: " + what);
        for (const std::string& what : report.left) r.notes.push_back("left as somebody else changed it: " + what);
        if (report.complete() && report.left.empty()) r.notes.push_back("all settings are as they were: put back, and read back to be sure");
        if (!report.complete()) throw Failure(ExitStatus::other, fmt::format("{}: settings could not be put back: {}; sgprobe restore will try again", drive_.name(), report.failed.front()));
    }
    r.probe = "experiment";
    r.device = subject_.identity;
    r.verdict = baseline_.verdict;
    r.cliffs = baseline_.cliffs;
    r.interrupted = interrupted_;
    r.settings_after = caching_settings(host_, drive_);
    r.commands = commands_;
    r.bytes_transferred = bytes_;
    r.parameters = {{"name", options_.name}, {"threshold", options_.threshold}, {"blocks", static_cast<std::int64_t>(block_)}, {"budget_s", static_cast<double>(options_.budget.count()) / 1e9},
                    {"seed", static_cast<std::int64_t>(options_.seed)}, {"design", halving_ ? std::string("successive halving") : std::string("blocks of all treatments")}};
    const bool measured = !responses_.empty() && !responses_.front().value.empty();
    for (std::size_t t = 0; t < out_.treatments.size() && measured; ++t)
        for (const MeasuredResponse& m : responses_) out_.treatments[t].responses.push_back(interval(m, t));

    Value levels = Value::list(), effects = Value::list(), treatments = Value::list();
    for (const LevelState& l : out_.levels) {
        Value row = Value::object();
        row.set("factor", l.factor).set("level", l.level).set("state", l.state).set("why", l.why);
        if (l.value) row.set("value", *l.value);
        levels.add(row);
    }
    ResultTable effect_table{"Effects, the largest first (* matters: significant and no less than half the threshold)", {"factor", "levels", "response", "effect", "95 %", "p", ""}, {}};
    for (const Effect& e : out_.effects) {
        effects.add(Value::object().set("factor", e.factor).set("levels", Value(e.levels)).set("response", e.response).set("effect", e.effect).set("low", e.low).set("high", e.high)
                        .set("p_value", e.p_value).set("matters", e.matters));
        const bool single = e.factor.find(" x ") == std::string::npos;
        const bool absolute = e.response.starts_with("retries");
        if (effect_table.rows.size() < 40)
            effect_table.rows.push_back({e.factor, single ? e.levels.front() + " -> " + e.levels.back() : e.levels.front() + ", " + e.levels.back(), e.response, amount(e),
                                         absolute ? fmt::format("{:.3f} to {:.3f}", e.low, e.high) : fmt::format("{:+.1f} to {:+.1f} %", 100 * e.low, 100 * e.high), fmt::format("{:.2g}", e.p_value), e.matters ? "*" : ""});
    }
    ResultTable treatment_table{"Treatments", {"settings"}, {}};
    for (const std::string& response : out_.response_names) treatment_table.columns.push_back(response);
    const auto cell_text = [&](const MeasuredResponse& m, const Interval& i) {
        return m.spec.what == Response::What::rate ? fmt::format("{:.1f} MB/s", i.median) : m.spec.what == Response::What::latency ? fmt::format("{:.0f} us", i.median) : fmt::format("{:.3f}", i.median);
    };
    for (const Treatment& t : out_.treatments) {
        if (t.responses.empty() || t.responses.front().median <= 0) continue;
        Value responses = Value::list();
        std::vector<std::string> row{t.text};
        for (std::size_t i = 0; i < t.responses.size(); ++i) {
            responses.add(Value::object().set("response", out_.response_names[i]).set("median", t.responses[i].median).set("low", t.responses[i].low).set("high", t.responses[i].high));
            row.push_back(cell_text(responses_[i], t.responses[i]));
        }
        Value settings = Value::object();
        for (std::size_t f = 0; f < factors_.size(); ++f) settings.set(factors_[f].key, factors_[f].levels[t.levels[f]]);
        treatments.add(Value::object().set("settings", settings).set("responses", responses));
        treatment_table.rows.push_back(std::move(row));
    }
    Value best = Value::object();
    if (measured) {
        const std::size_t t = out_.best.value_or(0);
        Value settings = Value::object();
        for (std::size_t f = 0; f < factors_.size(); ++f) settings.set(factors_[f].key, factors_[f].levels[out_.treatments[t].levels[f]]);
        best.set("settings", settings).set("better_than_base", out_.best.has_value()).set("response", responses_.front().name);
        best.set("value", interval(responses_.front(), t).median).set("base", interval(responses_.front(), 0).median).set("reference_mb_s", reference_rate_);
        best.set("restored", out_.restored ? Value(*out_.restored) : Value());
    }
    r.sections.emplace_back("levels", levels);
    r.sections.emplace_back("effects", effects);
    r.sections.emplace_back("treatments", treatments);
    r.sections.emplace_back("best", best);
    r.sections.emplace_back("sentence", Value(out_.sentence));
    r.tables = {treatment_table, effect_table};
    if (!r.interrupted && measured)
        for (const std::string& note : settings_.notes()) r.notes.push_back(note);
}

}
