#include <fmt/format.h>

#include <algorithm>

#include "experiment_run.h"
#include "sgprobe/measure/size.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::measure {

namespace {

constexpr std::size_t full_limit = 16, pairs_limit = 64, treatment_limit = 4096, level_limit = 64;

std::size_t combinations(const std::vector<Factor>& factors) {
    std::size_t n = 1;
    for (const Factor& f : factors) n = std::min(treatment_limit + 1, n * f.levels.size());
    return n;
}

}

std::string name(const Response& response, Bytes size_bytes) {
    const std::string cell = fmt::format("{} {:.4g} KiB{}", response.pattern, static_cast<double>(size_bytes) / 1024, response.depth > 1 ? fmt::format(" depth {}", response.depth) : "");
    if (response.what == Response::What::latency) return fmt::format("p{:.4g} latency, {}", response.percentile, cell);
    return fmt::format("{}, {}", response.what == Response::What::rate ? "rate" : "retries", cell);
}

void ExperimentRun::find_baseline() {
    if (options_.baseline) {
        baseline_ = *options_.baseline;
        return;
    }
    SizeOptions size;
    size.budget = options_.budget / 3;
    size.threshold = options_.threshold;
    size.seed = options_.seed;
    baseline_ = measure_size(host_, drive_, size, {});
    commands_ += baseline_.commands;
    bytes_ += baseline_.bytes_transferred;
    interrupted_ = baseline_.interrupted;
}

void ExperimentRun::choose_responses() {
    const Bytes block = subject_.identity.block_bytes;
    Bytes past = 0, before = 0, largest = 0;
    double best = 0;
    for (const SampleResult& s : baseline_.samples) {
        if (s.rate_mb_s.median <= 0) continue;
        largest = std::max(largest, s.transfer_bytes);
        const bool good = baseline_.cliffs.empty() || s.transfer_blocks <= baseline_.cliffs.front().last_good;
        // The reference is the size just before the cliff; without one, the fastest.
        if (good && (!baseline_.cliffs.empty() ? s.transfer_bytes > before : s.rate_mb_s.median > best)) before = s.transfer_bytes, best = s.rate_mb_s.median;
        // Twice the reference stands clear of the edge, where a revolution more or less decides.
        if (!good && (past == 0 || s.transfer_bytes <= 2 * before)) past = s.transfer_bytes;
    }
    if (largest == 0) throw Failure(ExitStatus::inconclusive, fmt::format("{}: no size could be measured: {}", drive_.name(), baseline_.reason));
    const Bytes reference = options_.reference_bytes ? options_.reference_bytes : before;
    Response main = options_.response.value_or(Response{});
    if (main.size_bytes == 0) main.size_bytes = past ? past : largest;
    std::vector<Response> all{main};
    all.push_back({Response::What::rate, "seq-read", reference, 1});
    reference_ = 1;
    if (options_.price.empty()) all.push_back({Response::What::rate, "rand-read", std::max<Bytes>(4096, block), 1});
    for (Response price : options_.price) {
        if (price.size_bytes == 0) price.size_bytes = main.size_bytes;
        all.push_back(price);
    }
    for (const Response& r : all) {
        if (r.size_bytes == 0 || r.size_bytes % block != 0)
            throw Failure(ExitStatus::syntax, fmt::format("{}: a request of {} bytes is no multiple of the block of {}", drive_.name(), r.size_bytes, block));
        MeasuredResponse m;
        m.spec = r;
        m.blocks = r.size_bytes / block;
        m.name = name(r, r.size_bytes);
        // The reference may be the main response itself (a clean drive, or one asked for so).
        if (std::any_of(responses_.begin(), responses_.end(), [&](const MeasuredResponse& other) { return other.name == m.name; })) {
            if (&r == &all[1]) reference_ = 0;
            continue;
        }
        responses_.push_back(std::move(m));
        out_.response_names.push_back(responses_.back().name);
    }
}

// One level: what value it stands for, whether the drive takes it, and whether it holds it.
void ExperimentRun::try_level(std::size_t f, const std::string& level) {
    const Factor& factor = options_.factors[f];
    LevelState state{.factor = factor.key, .level = level, .value = {}, .state = "set", .why = {}};
    auto parsed = pages::parse_assignments(factor.key);
    if (parsed.size() != 1) throw Failure(ExitStatus::syntax, fmt::format("\"{}\" is no one setting", factor.key));
    pages::Assignment assignment = parsed.front();
    const pages::SettingInfo info = settings_.look_up(assignment);
    assignment.given = true;
    if (level == "current") assignment.value = info.current;
    else if (level == "default" || level == "saved") {
        assignment.value = level == "default" ? info.defaults : info.saved;
        if (!assignment.value) state.state = "refused", state.why = fmt::format("the drive does not tell the {} value", level);
    } else assignment.value = pages::parse_assignments(factor.key + "=" + level).front().value;
    if (state.state == "set") {
        state.value = assignment.value.value_or(info.greatest);
        if (assignment.value != info.current) {
            try {
                const auto changes = settings_.set({assignment});
                for (const pages::Change& change : changes) {
                    if (change.good()) continue;
                    using Outcome = pages::Change::Outcome;
                    state.state = change.outcome == Outcome::altered ? "altered" : change.outcome == Outcome::ignored ? "ignored" : "refused";
                    state.why = pages::describe(change);
                    state.value = change.held;
                }
                pages::Assignment back = assignment;
                back.value = info.current;
                settings_.set({back});
            } catch (const Failure& failure) {
                if (failure.status() != static_cast<int>(ExitStatus::illegal_request) && failure.status() != static_cast<int>(ExitStatus::contradiction) &&
                    failure.status() != static_cast<int>(ExitStatus::syntax)) throw;
                state.state = "refused";
                state.why = failure.what();
            }
        }
    }
    // A rounded value is a level of its own; two levels of one value are one.
    const bool usable = state.state == "set" || state.state == "altered";
    if (usable) {
        const std::string value = state.value == info.greatest && level == "-1" ? "-1" : std::to_string(*state.value);
        const bool there = std::any_of(out_.levels.begin(), out_.levels.end(), [&](const LevelState& other) {
            return other.factor == state.factor && other.value == state.value && (other.state == "set" || other.state == "altered");
        });
        if (!there) factors_.back().levels.push_back(value);
    }
    out_.levels.push_back(std::move(state));
}

void ExperimentRun::resolve_levels() {
    if (options_.factors.empty()) throw Failure(ExitStatus::syntax, "an experiment varies at least one setting: --vary KEY=LEVEL,LEVEL");
    for (std::size_t f = 0; f < options_.factors.size(); ++f) {
        if (options_.factors[f].levels.size() > level_limit) throw Failure(ExitStatus::syntax, fmt::format("{}: more than {} levels", options_.factors[f].key, level_limit));
        factors_.push_back({options_.factors[f].key, {}});
        for (const std::string& level : options_.factors[f].levels) try_level(f, level);
        if (factors_.back().levels.size() < 2) factors_.pop_back();   // nothing to vary: told by its LevelStates
    }
}

std::vector<pages::Assignment> ExperimentRun::assignments(const std::vector<std::size_t>& levels) const {
    std::string text;
    for (std::size_t f = 0; f < factors_.size(); ++f) text += (f ? "," : "") + factors_[f].key + "=" + factors_[f].levels[levels[f]];
    return text.empty() ? std::vector<pages::Assignment>{} : pages::parse_assignments(text);
}

std::string ExperimentRun::text_of(const std::vector<std::size_t>& levels) const {
    std::string text;
    for (std::size_t f = 0; f < factors_.size(); ++f)
        if (levels[f] != 0) text += (text.empty() ? "" : " ") + factors_[f].key + "=" + factors_[f].levels[levels[f]];
    return text.empty() ? "as the base" : text;
}

void ExperimentRun::add_treatment(std::vector<std::size_t> levels) {
    for (const Treatment& t : out_.treatments)
        if (t.levels == levels) return;
    std::string text = text_of(levels);
    out_.treatments.push_back({std::move(levels), std::move(text), {}});
}

void ExperimentRun::make_treatments() {
    const std::size_t n = factors_.size(), all = combinations(factors_);
    std::size_t pairs = 1;
    for (std::size_t f = 0; f < n; ++f) {
        pairs += factors_[f].levels.size() - 1;
        for (std::size_t g = f + 1; g < n; ++g) pairs += (factors_[f].levels.size() - 1) * (factors_[g].levels.size() - 1);
    }
    Design design = options_.design;
    if (design == Design::automatic) design = all <= full_limit ? Design::full : pairs <= pairs_limit ? Design::pairs : Design::one_at_a_time;
    halving_ = options_.find_best && all > full_limit;
    if (options_.find_best && !halving_) design = Design::full;
    add_treatment(std::vector<std::size_t>(n, 0));
    if (design == Design::together) {
        std::vector<std::size_t> last;
        for (const Factor& f : factors_) last.push_back(f.levels.size() - 1);
        add_treatment(std::move(last));
        return;
    }
    if (design == Design::full || halving_) {
        if (all > treatment_limit && !halving_)
            throw Failure(ExitStatus::syntax, fmt::format("a full design of these settings has more than {} combinations: --find-best searches it within a budget", treatment_limit));
        // All of them, or as many drawn at random as the first round of halving can look at.
        if (all <= 512 || !halving_) {
            for (std::vector<std::size_t> levels(n, 0);;) {
                add_treatment(levels);
                std::size_t f = 0;
                while (f < n && ++levels[f] == factors_[f].levels.size()) levels[f++] = 0;
                if (f == n) break;
            }
        } else {
            for (int i = 0; i < 512; ++i) {
                std::vector<std::size_t> levels(n);
                for (std::size_t f = 0; f < n; ++f) levels[f] = std::uniform_int_distribution<std::size_t>(0, factors_[f].levels.size() - 1)(random_);
                add_treatment(std::move(levels));
            }
        }
        return;
    }
    for (std::size_t f = 0; f < n; ++f)
        for (std::size_t l = 1; l < factors_[f].levels.size(); ++l) {
            std::vector<std::size_t> levels(n, 0);
            levels[f] = l;
            add_treatment(levels);
            if (design != Design::pairs) continue;
            for (std::size_t g = f + 1; g < n; ++g)
                for (std::size_t k = 1; k < factors_[g].levels.size(); ++k) {
                    std::vector<std::size_t> both = levels;
                    both[g] = k;
                    add_treatment(std::move(both));
                }
        }
}

}
