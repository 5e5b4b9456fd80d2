// `sgprobe collate`: many results, ours or posted, into one table by vendor, model and firmware.
//
// The outcome does not depend on the order of what is added. Memory grows by some hundred bytes a report; one report may be
// 4 MiB long at most. What cannot be read is named, counted and passed over.
#pragma once
#include <istream>
#include <memory>
#include <string>
#include <vector>

#include "sgprobe/measure/result.h"
#include "sgprobe/measure/value.h"

namespace sgprobe::report {

// One curve of one report, with the verdict on it.
struct Finding {
    std::string vendor, product, revision, serial, transport;
    std::string axis;                       // "transfer_bytes" or "depth"
    std::string pattern, settings;          // what decides whether it can be compared with another
    std::string source, layout;             // "results.jsonl:17", "sgprobe/1"
    measure::Verdict verdict = measure::Verdict::inconclusive;
    std::string reason;
    double last_good = 0, first_bad = 0;    // bytes or commands; 0 without a cliff
    double before_mb_s = 0, after_mb_s = 0; // at last_good and first_bad; without a cliff both the greatest rate
    std::vector<std::pair<double, float>> curve;   // x, MB/s; ascending
    std::vector<std::string> notes;
};

struct CollatedRow {
    std::string vendor, product, revision, transport, axis, pattern, settings;
    std::size_t reports = 0, drives = 0, without_serial = 0;
    std::size_t cliff = 0, clean = 0, inconclusive = 0;
    measure::Verdict verdict = measure::Verdict::inconclusive;
    double last_good = 0, first_bad = 0;    // the commonest among those with a cliff
    std::size_t at_limit = 0, drives_at_limit = 0;   // reports and independent drives that say just that
    double before_mb_s = 0, after_mb_s = 0; // medians
    double gain = 1;                        // along depth: the greatest rate over the shallowest one's, median of the reports
    double agreement = 0;                   // share of the conclusive reports that say what the row says
    std::string reason;                     // the commonest, where the row is inconclusive
    std::vector<std::string> outliers;      // sources with what they say; 20 at most
    std::size_t more_outliers = 0;
    std::vector<std::pair<double, double>> curve;   // medians
};

struct Collated {
    std::vector<CollatedRow> rows;          // by vendor, product, revision, axis, pattern, transport, settings
    std::vector<std::string> not_compared;  // which rows stand apart, and why
    std::vector<std::string> malformed;     // what could not be read, and why; 100 at most
    std::size_t files = 0, reports = 0, duplicates = 0, malformed_count = 0, without_verdict = 0;
    std::vector<std::string> notes;         // units taken, by how many tables
};

class Collation {
public:
    explicit Collation(double threshold);
    ~Collation();
    void add(std::istream&, const std::string& name);   // one file: JSON objects, posted text, or both mixed
    void unreadable(const std::string& name, const std::string& why);
    Collated finish();
private:
    struct State;
    std::unique_ptr<State> state_;
};

std::vector<Finding> findings_of_json(std::string_view object, const std::string& source);   // throws Failure (97)
Finding judge_posted(const struct PostedTable&, double threshold);

std::string text(const Collated&, unsigned width);
std::string csv(const Collated&);
measure::Value to_value(const Collated&);
std::string kernel_quirks(const Collated&, unsigned confirm);     // table entries and udev rules, or why there are none
std::string openmetrics(const Collated&);

}
