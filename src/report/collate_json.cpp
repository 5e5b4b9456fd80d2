#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <simdjson.h>

#include "sgprobe/report/collate.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::report {

namespace {

using simdjson::dom::element;

std::string_view text(element object, std::string_view key) {
    std::string_view value;
    return object[key].get_string().get(value) == simdjson::SUCCESS ? value.substr(0, 256) : std::string_view{};
}
double number(element object, std::string_view key, double fallback = 0) {
    double value = 0;
    return object[key].get_double().get(value) == simdjson::SUCCESS && std::isfinite(value) ? value : fallback;
}

// The settings that a rate depends on. A run under others is another measurement (sgprobe(8), COLLATE).
std::string settings_of(element root) {
    element settings;
    std::string out;
    if (root["settings_before"].get(settings) != simdjson::SUCCESS) return out;
    for (const char* key : {"WCE", "RCD", "DRA", "DISC", "DPTL", "MIPF", "MAPF", "MAPFC", "IC", "NCS", "CSS", "look_ahead", "write_cache"}) {
        std::int64_t value = 0;
        if (settings[key].get_int64().get(value) == simdjson::SUCCESS) out += fmt::format("{}{}={}", out.empty() ? "" : " ", key, value);
    }
    return out;
}

measure::Verdict verdict_of(std::string_view name) {
    if (name == "cliff") return measure::Verdict::cliff;
    if (name == "clean") return measure::Verdict::clean;
    if (name == "inconclusive") return measure::Verdict::inconclusive;
    throw Failure(ExitStatus::malformed, "verdict is none of cliff, clean, inconclusive");
}

}

std::vector<Finding> findings_of_json(std::string_view object, const std::string& source) {
    thread_local simdjson::dom::parser parser(4 * 1024 * 1024 + 64);
    element root;
    if (const auto error = parser.parse(object.data(), object.size()).get(root); error != simdjson::SUCCESS)
        throw Failure(ExitStatus::malformed, simdjson::error_message(error));
    if (text(root, "schema") != "sgprobe/1")
        throw Failure(ExitStatus::malformed, "a JSON object of another schema than sgprobe/1");
    const std::string_view probe = text(root, "probe");
    if (probe != "size" && probe != "depth") return {};
    element device;
    simdjson::dom::array samples, cliffs;
    if (root["device"].get(device) != simdjson::SUCCESS || root["samples"].get_array().get(samples) != simdjson::SUCCESS ||
        root["cliffs"].get_array().get(cliffs) != simdjson::SUCCESS)
        throw Failure(ExitStatus::malformed, "device, samples or cliffs is missing");
    const bool by_depth = probe == "depth";
    const double block_bytes = number(device, "block_bytes", 512);
    Finding base;
    base.vendor = text(device, "vendor");
    base.product = text(device, "product");
    base.revision = text(device, "revision");
    base.serial = text(device, "serial");
    base.transport = text(device, "transport");
    base.axis = by_depth ? "depth" : "transfer_bytes";
    base.settings = settings_of(root);
    base.source = source;
    base.layout = "sgprobe/1";
    base.reason = text(root, "reason");
    const measure::Verdict verdict = verdict_of(text(root, "verdict"));

    std::vector<Finding> findings;
    const auto finding_for = [&](std::string_view pattern) -> Finding& {
        for (Finding& f : findings)
            if (f.pattern == pattern) return f;
        Finding& f = findings.emplace_back(base);
        f.pattern = pattern;
        // A cliff belongs to the pattern it names; the others of the same run are what the run says of them: none found.
        f.verdict = verdict == measure::Verdict::cliff ? measure::Verdict::clean : verdict;
        return f;
    };
    for (const element sample : samples) {
        if (findings.size() > 8) throw Failure(ExitStatus::malformed, "more patterns than there are");
        Finding& f = finding_for(text(sample, "pattern"));
        element rate;
        const double x = number(sample, by_depth ? "depth" : "transfer_bytes");
        if (sample["rate_mb_s"].get(rate) != simdjson::SUCCESS || !(x > 0) || f.curve.size() >= 4096) continue;
        if (const double median = number(rate, "median"); median > 0) f.curve.emplace_back(x, static_cast<float>(median));
    }
    for (const element cliff : cliffs) {
        if ((text(cliff, "axis") == "depth") != by_depth) continue;
        Finding& f = finding_for(text(cliff, "pattern"));
        if (f.verdict == measure::Verdict::cliff) continue;   // the first along the axis decides what helps
        const double unit = by_depth ? 1 : block_bytes;
        f.last_good = number(cliff, "last_good") * unit;
        f.first_bad = number(cliff, "first_bad") * unit;
        f.before_mb_s = number(cliff, "before_mb_s");
        f.after_mb_s = number(cliff, "after_mb_s");
        if (!(f.last_good > 0) || !(f.first_bad > f.last_good))
            throw Failure(ExitStatus::malformed, "a cliff whose last_good and first_bad contradict each other");
        f.verdict = measure::Verdict::cliff;
    }
    if (verdict == measure::Verdict::cliff && std::none_of(findings.begin(), findings.end(), [](const Finding& f) { return f.last_good > 0; }))
        throw Failure(ExitStatus::malformed, "verdict is cliff, and no cliff is there");
    for (Finding& f : findings) {
        std::sort(f.curve.begin(), f.curve.end());
        if (f.verdict != measure::Verdict::cliff)
            for (const auto& [x, rate] : f.curve) f.before_mb_s = f.after_mb_s = std::max<double>(f.before_mb_s, rate);
    }
    return findings;
}

}
