#include "sgprobe/measure/diagnose.h"

#include <fmt/format.h>

#include <algorithm>

#include "sgprobe/measure/depth.h"
#include "sgprobe/measure/experiment.h"
#include "sgprobe/measure/run_clock.h"
#include "sgprobe/measure/size.h"
#include "sgprobe/measure/subject.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::measure {
namespace {

constexpr Bytes depth_bytes = 120'000'000, settings_bytes = 60'000'000;   // what these parts are seen to read, at most

std::string percent(double fraction) { return fmt::format("{:.0f} %", 100 * fraction); }

// For a table's cell; the reasons stand below it.
std::string in_short(const Result& r) {
    if (r.probe == "experiment") return "effects measured";
    std::string text;
    for (const Cliff& c : r.cliffs)
        text += fmt::format("{}{}: {} less past {}{}", text.empty() ? "" : ", ", c.pattern, percent(c.drop), c.axis == "depth" ? "depth " : "", c.last_good) + (c.axis == "depth" ? "" : " blocks");
    if (text.empty()) text = r.verdict == Verdict::clean ? "no cliff" : "inconclusive";
    return text;
}

class Diagnosis {
public:
    Diagnosis(Host& host, Drive& drive, const DiagnoseOptions& options, const Progress& progress)
        : host_(host), drive_(drive), options_(options), progress_(progress), began_(host.now()) {}
    Result run();

private:
    bool look(const std::string& what, Bytes needs, const std::function<Result()>&);   // false: the rest is not looked at
    void look_at_size();
    void look_at_depth();
    void look_at_settings();
    std::vector<Factor> factors(Response&) const;
    Nanoseconds left() const { return options_.budget - (host_.now() - began_); }
    Progress part_progress(double from, double to) const;
    const Result* part(std::string_view probe) const;
    void cure(const std::string& settings);
    std::string full_note() const;
    std::string healthy() const;
    void conclude();

    Host& host_;
    Drive& drive_;
    const DiagnoseOptions& options_;
    const Progress& progress_;
    Nanoseconds began_;
    Result out_;
    ResultTable table_{"What was looked at", {"part", "found", "MB read", "s"}, {}};
    std::vector<std::string> omitted_;
    std::string settings_sentence_;
    bool over_ = false, undecided_ = false;
};

Progress Diagnosis::part_progress(double from, double to) const {
    if (!progress_) return {};
    return [this, from, to](double fraction, Nanoseconds left_of_part, const std::string& what) { progress_(from + fraction * (to - from), left_of_part, what); };
}

const Result* Diagnosis::part(std::string_view probe) const {
    const auto it = std::find_if(out_.parts.begin(), out_.parts.end(), [&](const Result& r) { return r.probe == probe; });
    return it == out_.parts.end() ? nullptr : &*it;
}

bool Diagnosis::look(const std::string& what, Bytes needs, const std::function<Result()>& measure) {
    if (over_) { omitted_.push_back(what); return false; }
    if (out_.bytes_transferred + needs > options_.most_bytes || left() < options_.budget / 20) {
        omitted_.push_back(what + " (the budget was spent)");
        return false;
    }
    const Nanoseconds from = host_.now();
    const auto row = [&](const std::string& found, Bytes bytes) {
        table_.rows.push_back({what, found, fmt::format("{:.0f}", static_cast<double>(bytes) / 1e6), fmt::format("{:.1f}", static_cast<double>((host_.now() - from).count()) / 1e9)});
    };
    try {
        const RunClock clock(host_);
        Result r = measure();
        clock.stamp(r);
        row(in_short(r), r.bytes_transferred);
        out_.bytes_transferred += r.bytes_transferred;
        out_.commands += r.commands;
        out_.interrupted = out_.interrupted || r.interrupted;
        if (out_.exit_status == 0) out_.exit_status = r.exit_status;
        over_ = r.interrupted || r.exit_status != 0;
        if (r.probe != "experiment") {      // which repeats those of its baseline
            out_.cliffs.insert(out_.cliffs.end(), r.cliffs.begin(), r.cliffs.end());
            out_.advice.insert(out_.advice.end(), r.advice.begin(), r.advice.end());
        }
        for (const std::string& n : r.notes) out_.notes.push_back(what + ": " + n);
        undecided_ = undecided_ || (r.verdict == Verdict::inconclusive && r.probe != "experiment");
        out_.parts.push_back(std::move(r));
        return !over_;
    } catch (const Failure& failure) {
        if (out_.parts.empty()) throw;      // then there is nothing to tell
        row(std::string("could not be measured: ") + failure.what(), 0);
        if (out_.exit_status == 0) out_.exit_status = failure.status();
        undecided_ = over_ = true;
        return false;
    }
}

void Diagnosis::look_at_size() {
    look("transfer length", 0, [&] {
        SizeOptions options;
        options.budget = options_.budget / 2;
        options.most_bytes = options_.most_bytes - std::min(depth_bytes, options_.most_bytes / 2);
        options.threshold = options_.threshold;
        options.seed = options_.seed;
        return measure_size(host_, drive_, options, part_progress(0, 0.4));
    });
}

void Diagnosis::look_at_depth() {
    if (drive_.limits().depth < 2) {
        omitted_.push_back("queue depth (the drive or the system takes one command at a time)");
        return;
    }
    look("queue depth", depth_bytes, [&] {
        DepthOptions options;
        const unsigned deepest = std::min(drive_.limits().depth, 32u);
        for (const unsigned depth : {1u, 2u, 4u, 16u})
            if (depth < deepest) options.depths.push_back(depth);
        options.depths.push_back(deepest);
        options.budget = left() * 2 / 3;
        options.threshold = options_.threshold;
        options.seed = options_.seed;
        return measure_depth(host_, drive_, options, part_progress(0.4, 0.8));
    });
}

// The settings that could have to do with what was found, and what to judge them by. None: nothing was found that a setting explains.
std::vector<Factor> Diagnosis::factors(Response& response) const {
    std::vector<Factor> chosen;
    if (const Result* size = part("size"); size && !size->cliffs.empty()) {
        for (const char* key : {"DPTL", "MAPF", "MAPFC"})
            if (size->settings_before.contains(key)) chosen.push_back({key, {"current", "-1"}});
        if (!chosen.empty()) return chosen;
    }
    const Result* depth = part("depth");
    const bool full = depth && std::any_of(depth->samples.begin(), depth->samples.end(), [](const SampleResult& s) { return s.task_set_full + s.hidden_retries > 0; });
    const auto cache = out_.settings_before.find("WCE");
    if (full && cache != out_.settings_before.end() && cache->second == 1) {
        response = {Response::What::retries, "rand-read", 4096, std::min(drive_.limits().depth, 32u), 99};
        chosen.push_back({"WCE", {"current", "0"}});
    }
    return chosen;
}

void Diagnosis::look_at_settings() {
    Response response;
    const std::vector<Factor> chosen = factors(response);
    if (chosen.empty()) {
        omitted_.push_back("settings (nothing was found that they could explain)");
        return;
    }
    if (!options_.settings) {
        omitted_.push_back("settings");
        return;
    }
    const bool tried = look("settings", settings_bytes, [&] {
        ExperimentOptions options;
        options.name = "diagnose";
        options.factors = chosen;
        options.design = Design::together;
        if (response.what == Response::What::retries) options.response = response;
        options.budget = left();
        options.threshold = options_.threshold;
        options.seed = options_.seed;
        options.baseline = part("size");
        const std::unique_ptr<pages::Transaction> settings = options_.settings();
        ExperimentResult found = run_experiment(host_, drive_, *settings, options, part_progress(0.8, 1));
        settings_sentence_ = found.result.reason;
        if (response.what == Response::What::retries && found.best && found.treatments[*found.best].responses[0].median == 0)
            cure(found.treatments[*found.best].text);
        return std::move(found.result);
    });
    if (!tried) return;
    out_.settings_after = caching_settings(host_, drive_);
    if (out_.settings_after != out_.settings_before) out_.notes.push_back("the caching page is NOT as it was found: see sgprobe restore");
}

// A setting with which the drive takes what it is sent.
void Diagnosis::cure(const std::string& settings) {
    settings_sentence_ = "with " + settings + " it accepts all that is sent";
    std::string list = settings;
    std::replace(list.begin(), list.end(), ' ', ',');
    out_.advice.push_back({list.substr(0, list.find('=')), 0, fmt::format("sgprobe mode {} --set {}", drive_.name(), list), ""});
}

std::string Diagnosis::full_note() const {
    const Result* depth = part("depth");
    if (!depth) return {};
    std::string full;
    for (const std::string& note : depth->notes)      // the random one is the last: there the queue is not emptied by the cache
        if (note.find("TASK SET FULL beyond") != note.npos) full = note.substr(note.find(": ") + 2);
    return full;
}

// What a healthy drive does, in numbers.
std::string Diagnosis::healthy() const {
    std::string text = "nothing is wrong that was looked for";
    if (const Result* size = part("size"); size && !size->samples.empty()) {
        const auto best = std::max_element(size->samples.begin(), size->samples.end(), [](const auto& a, const auto& b) { return a.rate_mb_s.median < b.rate_mb_s.median; });
        text += fmt::format(": no transfer length is slower than a shorter one ({:.1f} MB/s)", best->rate_mb_s.median);
    }
    if (const Result* depth = part("depth"); depth && depth->verdict == Verdict::clean) text += "; " + depth->reason;
    return text;
}

void Diagnosis::conclude() {
    std::string sentence;
    for (const Cliff& c : out_.cliffs)
        sentence += fmt::format("{}{} past {} {} ({}, p < {:.1g})", sentence.empty() ? "" : "; ", c.pattern == "rand-read" ? "random reads lose" : "sequential reads lose",
                                c.axis == "depth" ? fmt::format("queue depth {}", c.last_good) : fmt::format("{} blocks a request", c.last_good), percent(c.drop),
                                c.exact ? "placed exactly" : "not placed exactly", std::max(c.p_value, 1e-15));
    out_.verdict = !out_.cliffs.empty() ? Verdict::cliff : undecided_ || out_.parts.empty() || out_.exit_status != 0 ? Verdict::inconclusive : Verdict::clean;
    if (out_.verdict == Verdict::inconclusive)
        for (const Result& r : out_.parts)
            if (r.verdict == Verdict::inconclusive && sentence.empty()) sentence = r.probe + ": " + r.reason;
    if (sentence.empty() && out_.verdict == Verdict::inconclusive) sentence = "not all could be measured";
    if (const std::string full = full_note(); !full.empty()) sentence += (sentence.empty() ? "" : "; ") + full + ", which is flow control and no slow drive";
    if (!settings_sentence_.empty()) sentence += "; " + settings_sentence_;
    if (out_.verdict == Verdict::clean) sentence = sentence.empty() ? healthy() : sentence + "; beside that, " + healthy();
    out_.reason = sentence;
    out_.sections.emplace_back("sentence", Value(sentence));
    for (const std::string& known : options_.known) out_.notes.insert(out_.notes.begin(), "known of this model: " + known);
    omitted_.push_back("transfers past 1 MiB (sgprobe limits), writes, what the cache does inside (sgprobe cache)");
    std::string omitted;
    for (const std::string& what : omitted_) omitted += (omitted.empty() ? "" : "; ") + what;
    out_.notes.push_back("not looked at: " + omitted);
    out_.tables.push_back(std::move(table_));
}

Result Diagnosis::run() {
    out_.probe = "diagnose";
    look_at_size();
    const Result& size = out_.parts.front();
    out_.device = size.device;
    out_.settings_before = size.settings_before;
    out_.settings_after = size.settings_after;
    look_at_depth();
    look_at_settings();
    conclude();
    out_.parameters = {{"budget_s", static_cast<double>(options_.budget.count()) / 1e9}, {"most_bytes", static_cast<std::int64_t>(options_.most_bytes)},
                       {"threshold", options_.threshold}, {"seed", static_cast<std::int64_t>(options_.seed)}};
    return std::move(out_);
}

}

Result diagnose(Host& host, Drive& drive, const DiagnoseOptions& options, const Progress& progress) { return Diagnosis(host, drive, options, progress).run(); }

}
