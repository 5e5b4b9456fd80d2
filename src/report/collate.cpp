#include "sgprobe/report/collate.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <set>
#include <unordered_set>

#include "sgprobe/report/escape.h"
#include "sgprobe/report/posted_record.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::report {

namespace {

constexpr std::size_t object_limit = 4 * 1024 * 1024, outlier_limit = 20, malformed_limit = 100;
using measure::Verdict;

struct Entry {
    double last_good, first_bad;
    float before, after, gain;
    Verdict verdict;
    std::uint32_t file;
    std::uint64_t serial;                      // hash; 0: none
    std::uint32_t source;                      // into State::sources
};
struct CurvePoint { float x, rate; };
struct Group {
    std::vector<Entry> entries;
    std::vector<CurvePoint> curve;
    std::map<std::string, std::size_t> reasons;
};
struct BaseKey {
    std::string vendor, product, revision, axis, pattern;
    auto operator<=>(const BaseKey&) const = default;
};
struct Conditions {                            // what must be alike where two are compared
    bool told = false;                         // posted text does not say
    std::string transport, settings;
    auto operator<=>(const Conditions&) const = default;
};

std::string one_space(std::string_view text) {
    std::string out;
    for (const char c : text)
        if (c != ' ' || (!out.empty() && out.back() != ' ')) out += c;
    while (!out.empty() && out.back() == ' ') out.pop_back();
    return out;
}

template <class T>
double middle(std::vector<T> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const std::size_t n = values.size();
    return (static_cast<double>(values[(n - 1) / 2]) + static_cast<double>(values[n / 2])) / 2;
}

// The limit that most reports contain in last_good <= limit < first_bad; of several the greatest, which the finest report gave.
std::pair<double, double> common_limit(const std::vector<Entry>& entries) {
    std::vector<double> starts, ends;
    for (const Entry& e : entries)
        if (e.verdict == Verdict::cliff) starts.push_back(e.last_good), ends.push_back(e.first_bad);
    std::sort(starts.begin(), starts.end());
    std::sort(ends.begin(), ends.end());
    std::size_t best = 0;
    double limit = 0;
    for (const double start : starts) {
        const auto begun = std::upper_bound(starts.begin(), starts.end(), start) - starts.begin();
        const auto over = std::upper_bound(ends.begin(), ends.end(), start) - ends.begin();
        if (const auto count = static_cast<std::size_t>(begun - over); count >= best) best = count, limit = start;
    }
    double first_bad = 0;
    for (const Entry& e : entries)
        if (e.verdict == Verdict::cliff && e.last_good <= limit && limit < e.first_bad && (first_bad == 0 || e.first_bad < first_bad)) first_bad = e.first_bad;
    return {limit, first_bad};
}

// Of queueing: the greatest rate over the one at the least depth.
float gain_of(const Finding& finding) {
    float most = 0;
    for (const auto& [x, rate] : finding.curve) most = std::max(most, rate);
    return finding.curve.empty() || finding.curve.front().second <= 0 ? 1 : most / finding.curve.front().second;
}

std::string conditions_text(const Conditions& c) {
    if (!c.told) return "conditions that were not told";
    return fmt::format("{}{}{}", c.transport.empty() ? "a transport not told" : c.transport, c.settings.empty() ? "" : " with ", c.settings);
}

}

struct Collation::State {
    double threshold;
    Collated out;
    std::map<BaseKey, std::map<Conditions, Group>> groups;
    std::unordered_set<std::size_t> seen;
    std::vector<std::string> sources;
    std::map<std::string, std::size_t> notes;
    std::multiset<std::string> malformed;      // the first 100 in the alphabet, whatever order they came in
    std::map<std::string, std::vector<PostedRecord>> fio;   // by what was read; one series may be spread over many files

    void bad(const std::string& source, const std::string& why) {
        ++out.malformed_count;
        malformed.insert(fmt::format("{}: {}", source, why));
        if (malformed.size() > malformed_limit) malformed.erase(std::prev(malformed.end()));
    }

    void add(Finding finding, std::size_t file) {
        const BaseKey key{one_space(finding.vendor), one_space(finding.product), one_space(finding.revision), finding.axis, finding.pattern};
        const bool told = finding.layout == "sgprobe/1";
        Group& group = groups[key][{told, finding.transport, finding.settings}];
        sources.push_back(finding.source);
        group.entries.push_back({finding.last_good, finding.first_bad, static_cast<float>(finding.before_mb_s), static_cast<float>(finding.after_mb_s), gain_of(finding),
                                 finding.verdict, static_cast<std::uint32_t>(file),
                                 finding.serial.empty() ? 0 : std::hash<std::string>{}(finding.serial) | 1, static_cast<std::uint32_t>(sources.size() - 1)});
        for (const auto& [x, rate] : finding.curve) group.curve.push_back({static_cast<float>(x), rate});
        if (finding.verdict == Verdict::inconclusive) ++group.reasons[finding.reason.substr(0, 200)];
        for (const std::string& note : finding.notes) ++notes[note];
    }

    void object(std::string_view json, const std::string& source, std::size_t file) {
        try {
            if (json.substr(0, 4096).find("\"fio version\"") != json.npos) {
                for (PostedRecord& record : read_fio(json)) {
                    record.line = 0;
                    fio[record.setting].push_back(std::move(record));
                }
                return;
            }
            if (!seen.insert(std::hash<std::string_view>{}(json)).second) { ++out.duplicates; return; }
            std::vector<Finding> findings = findings_of_json(json, source);
            ++out.reports;
            if (findings.empty()) ++out.without_verdict;
            for (Finding& finding : findings) add(std::move(finding), file);
        } catch (const Failure& failure) {
            bad(source, failure.what());
        }
    }
    void tables(const std::vector<PostedTable>& found, std::size_t file) {
        for (const PostedTable& table : found) {
            ++out.reports;
            add(judge_posted(table, threshold), file);
        }
    }

    CollatedRow row(const BaseKey& key, const Conditions& conditions, const Group& group) const;
};

CollatedRow Collation::State::row(const BaseKey& key, const Conditions& conditions, const Group& group) const {
    CollatedRow row;
    row.vendor = key.vendor;
    row.product = key.product;
    row.revision = key.revision;
    row.axis = key.axis;
    row.pattern = key.pattern;
    row.transport = conditions.transport;
    row.settings = conditions.settings;
    row.reports = group.entries.size();
    for (const Entry& e : group.entries) {
        row.cliff += e.verdict == Verdict::cliff;
        row.clean += e.verdict == Verdict::clean;
        row.inconclusive += e.verdict == Verdict::inconclusive;
        row.without_serial += e.serial == 0;
    }
    // A drive is known by its serial number. Reports without one count once a file: they may be of one drive.
    const auto drives = [&](auto&& chosen) {
        std::set<std::uint64_t> ids;
        for (const Entry& e : group.entries)
            if (chosen(e)) ids.insert(e.serial ? e.serial : (static_cast<std::uint64_t>(e.file) + 1) << 1);
        return ids.size();
    };
    row.drives = drives([](const Entry&) { return true; });
    const std::size_t conclusive = row.cliff + row.clean;
    const std::size_t most = std::max(row.cliff, row.clean);
    const auto [limit, first_bad] = common_limit(group.entries);
    const auto at_limit = [limit = limit](const Entry& e) { return e.verdict == Verdict::cliff && e.last_good <= limit && limit < e.first_bad; };
    row.at_limit = static_cast<std::size_t>(std::count_if(group.entries.begin(), group.entries.end(), at_limit));
    if (conclusive == 0) {
        std::size_t count = 0;
        for (const auto& [reason, n] : group.reasons)
            if (n > count) count = n, row.reason = reason;
    } else if (3 * most < 2 * conclusive) {
        row.reason = fmt::format("the reports contradict one another: {} found a cliff, {} did not", row.cliff, row.clean);
    } else if (row.cliff > row.clean && 2 * row.at_limit <= row.cliff) {
        row.reason = fmt::format("{} reports found a cliff, and no place has more than half of them", row.cliff);
    } else row.verdict = row.cliff > row.clean ? Verdict::cliff : Verdict::clean;
    const auto agrees = [&](const Entry& e) { return row.verdict == Verdict::cliff ? at_limit(e) : e.verdict == row.verdict; };
    if (conclusive > 0 && row.verdict != Verdict::inconclusive)
        row.agreement = static_cast<double>(row.verdict == Verdict::cliff ? row.at_limit : row.clean) / static_cast<double>(conclusive);
    if (row.verdict == Verdict::cliff) {
        row.last_good = limit;
        row.first_bad = first_bad;
        row.drives_at_limit = drives(at_limit);
    }
    std::vector<float> before, after, gain;
    for (const Entry& e : group.entries)
        if (agrees(e)) before.push_back(e.before), after.push_back(e.after), gain.push_back(e.gain);
    if (!gain.empty()) row.gain = middle(gain);
    row.before_mb_s = middle(before);
    row.after_mb_s = middle(after);
    // A drive that is slower or faster than its siblings by far more than they scatter.
    std::vector<double> deviations;
    for (const float b : before) deviations.push_back(std::abs(std::log(std::max(1e-9, static_cast<double>(b) / std::max(1e-9, row.before_mb_s)))));
    const double allowed = std::max(0.10, 5 * 1.4826 * middle(deviations));
    std::multiset<std::string> outliers;
    for (const Entry& e : group.entries) {
        std::string what;
        if (row.verdict != Verdict::inconclusive && e.verdict != Verdict::inconclusive && !agrees(e))
            what = e.verdict == Verdict::cliff ? fmt::format("a cliff past {:.0f}", e.last_good) : "clean";
        else if (agrees(e) && row.verdict != Verdict::inconclusive && std::abs(std::log(std::max(1e-9, e.before / std::max(1e-9, row.before_mb_s)))) > allowed)
            what = fmt::format("{:.1f} MB/s where the median is {:.1f}", e.before, row.before_mb_s);
        if (what.empty()) continue;
        outliers.insert(fmt::format("{}: {}", sources[e.source], what));
        if (outliers.size() > outlier_limit) outliers.erase(std::prev(outliers.end())), ++row.more_outliers;
    }
    row.outliers.assign(outliers.begin(), outliers.end());
    std::vector<CurvePoint> points = group.curve;
    std::sort(points.begin(), points.end(), [](CurvePoint a, CurvePoint b) { return a.x != b.x ? a.x < b.x : a.rate < b.rate; });
    for (std::size_t i = 0, j; i < points.size(); i = j) {
        for (j = i; j < points.size() && points[j].x == points[i].x;) ++j;
        row.curve.emplace_back(points[i].x, (static_cast<double>(points[i + (j - i - 1) / 2].rate) + points[i + (j - i) / 2].rate) / 2);
    }
    return row;
}

Collation::Collation(double threshold) : state_(std::make_unique<State>()) { state_->threshold = threshold; }
Collation::~Collation() = default;

void Collation::unreadable(const std::string& name, const std::string& why) { state_->bad(name, why); }

namespace {

// How many braces stay open after the text; strings are skipped. Nothing where more close than open.
struct Braces {
    long depth = 0;
    bool in_string = false, escaped = false;
    void feed(std::string_view text) {
        for (const char c : text) {
            if (in_string) {
                if (escaped) escaped = false;
                else if (c == '\\') escaped = true;
                else if (c == '"') in_string = false;
            } else if (c == '"') in_string = true;
            else if (c == '{') ++depth;
            else if (c == '}') --depth;
        }
    }
};

std::string_view without_quoting(std::string_view line) {
    while (!line.empty() && (line.front() == '>' || line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
    return line;
}

// Lines of any length, cut at the limit.
class Lines {
public:
    explicit Lines(std::istream& in) : in_(in), buffer_(1 << 16, '\0') {}
    bool next(std::string& line, bool& cut) {
        line.clear();
        cut = false;
        for (bool any = false;;) {
            if (at_ == end_) {
                in_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
                at_ = 0;
                end_ = static_cast<std::size_t>(in_.gcount());
                if (end_ == 0) return any;
            }
            any = true;
            const std::string_view rest(buffer_.data() + at_, end_ - at_);
            const std::size_t newline = rest.find('\n');
            const std::string_view part = rest.substr(0, newline);
            const std::size_t room = object_limit - std::min(object_limit, line.size());
            cut = cut || part.size() > room;
            line.append(part.substr(0, room));
            at_ += part.size() + (newline != rest.npos);
            if (newline != rest.npos) return true;
        }
    }
private:
    std::istream& in_;
    std::string buffer_;
    std::size_t at_ = 0, end_ = 0;
};

}

void Collation::add(std::istream& in, const std::string& name) {
    State& s = *state_;
    const std::size_t file = s.out.files++, before = s.out.reports + s.out.duplicates + s.out.malformed_count + s.fio.size();
    PostingReader posting;
    Lines lines(in);
    std::string line, object;
    Braces braces;
    std::size_t object_line = 0;
    bool too_long = false, cut = false;
    for (std::size_t number = 1; lines.next(line, cut); ++number) {
        std::string_view text = without_quoting(line);
        if (object_line == 0) {
            while (!text.empty() && (text.front() == '[' || text.front() == ',')) text.remove_prefix(1);
            if (text.empty() || text.front() != '{') {
                posting.line(line, number);
                continue;
            }
            braces = {};
            object_line = number;
            too_long = false;
        }
        braces.feed(text);
        too_long = too_long || cut || object.size() + text.size() > object_limit;
        const bool complete = braces.depth <= 0;
        if (complete && object.empty() && !too_long) {
            // The usual case, one object a line, is parsed where it stands.
            s.object(text.substr(0, text.rfind('}') + 1), fmt::format("{}:{}", name, object_line), file);
        } else if (!too_long) {
            object.append(text).push_back('\n');
            if (complete) s.object(std::string_view(object).substr(0, object.rfind('}') + 1), fmt::format("{}:{}", name, object_line), file);
        }
        if (complete || cut) {
            if (too_long) s.bad(fmt::format("{}:{}", name, object_line), "a JSON object of more than 4 MiB");
            object.clear();
            object_line = 0;
        }
    }
    if (object_line != 0) {
        // It never ended: a report cut short, or prose that opens a brace. The tables in it still count.
        s.bad(fmt::format("{}:{}", name, object_line), too_long ? "a JSON object of more than 4 MiB" : "a JSON object that does not end");
        std::size_t number = object_line;
        for (std::string_view rest = object; !rest.empty(); ++number) {
            const std::size_t newline = rest.find('\n');
            posting.line(rest.substr(0, newline), number);
            rest.remove_prefix(newline == rest.npos ? rest.size() : newline + 1);
        }
    }
    s.tables(posting.finish(name), file);
    if (s.out.reports + s.out.duplicates + s.out.malformed_count + s.fio.size() == before) s.bad(name, "no result and no table was recognised");
}

Collated Collation::finish() {
    State& s = *state_;
    for (auto& [what, records] : s.fio) {
        std::sort(records.begin(), records.end(), [](const PostedRecord& a, const PostedRecord& b) {
            return std::make_tuple(a.pattern, a.size ? a.size->value : 0, a.depth, a.rate.value) < std::make_tuple(b.pattern, b.size ? b.size->value : 0, b.depth, b.rate.value);
        });
        s.tables(group_records(records, "fio" + (what.empty() ? "" : " " + what)), s.out.files);
    }
    s.fio.clear();
    for (auto& [key, by_conditions] : s.groups) {
        // What posted text does not tell is no difference: it joins the one set of conditions that is told, if there is one.
        const Conditions untold{};
        const auto posted = by_conditions.find(untold);
        if (posted != by_conditions.end() && by_conditions.size() == 2) {
            Group moved = std::move(posted->second);
            by_conditions.erase(posted);
            Group& into = by_conditions.begin()->second;
            into.entries.insert(into.entries.end(), moved.entries.begin(), moved.entries.end());
            into.curve.insert(into.curve.end(), moved.curve.begin(), moved.curve.end());
            for (const auto& [reason, count] : moved.reasons) into.reasons[reason] += count;
        }
        if (by_conditions.size() > 1) {
            std::string apart;
            for (const auto& [conditions, group] : by_conditions)
                apart += fmt::format("{}{} ({})", apart.empty() ? "" : "; ", conditions_text(conditions), group.entries.size());
            s.out.not_compared.push_back(fmt::format("{} {} {} {} are not compared with one another, since what they were measured under differs: {}",
                                                     key.vendor, key.product, key.revision, key.pattern, apart));
        }
        for (auto& [conditions, group] : by_conditions) {
            s.out.rows.push_back(s.row(key, conditions, group));
            group = {};
        }
    }
    s.out.malformed.assign(s.malformed.begin(), s.malformed.end());
    for (const auto& [note, count] : s.notes) s.out.notes.push_back(count > 1 ? fmt::format("{} ({} tables)", note, count) : note);
    return std::move(s.out);
}

}
