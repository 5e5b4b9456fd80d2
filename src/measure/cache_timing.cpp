// Hits told from misses, the cost of a command, the bus, the rotation.
#include <algorithm>
#include <cmath>

#include "sgprobe/measure/cache_drive.h"
#include "sgprobe/measure/statistics.h"

namespace sgprobe::measure {

// The widest gap between sorted latencies, in proportion, parts those that are mostly re-reads from those that are mostly first reads.
void split_hits_and_misses(CacheDrive& drive, CacheFinding& finding) {
    struct One { double latency_us; bool again; };
    std::vector<One> all;
    for (int i = 0; i < 40; ++i) {
        const Lba at = drive.fresh();
        all.push_back({drive.read(at, 8).latency_us, false});
        all.push_back({drive.read(at, 8).latency_us, true});
    }
    for (const One& one : all) (one.again ? finding.hits_us : finding.misses_us).push_back(one.latency_us);
    std::sort(all.begin(), all.end(), [](const One& a, const One& b) { return a.latency_us < b.latency_us; });
    double widest = 0;
    std::size_t at = 0;
    for (std::size_t i = all.size() / 8; i + all.size() / 8 < all.size(); ++i) {
        const double gap = all[i].latency_us / std::max(all[i - 1].latency_us, 1e-3);
        if (gap > widest) { widest = gap; at = i; }
    }
    const auto again_below = std::count_if(all.begin(), all.begin() + std::ptrdiff_t(at), [](const One& one) { return one.again; });
    const double pure = double(again_below) / double(std::max<std::size_t>(at, 1));
    if (widest < 1.3 || pure < 0.8 || again_below < 20)
        return cannot_tell(finding, "hit_miss_threshold_us", "us", "blocks read again take as long as blocks read for the first time: no read cache shows, or every read is equally fast");
    drive.threshold_us = std::sqrt(all[at - 1].latency_us * all[at].latency_us);
    add_item(finding, "hit_miss_threshold_us", "us", *drive.threshold_us, all[at - 1].latency_us, all[at].latency_us);
}

void measure_overhead(CacheDrive& drive, CacheFinding& finding) {
    const auto none = [&](const std::string& why) {
        cannot_tell(finding, "command_overhead_us", "us", why);
        cannot_tell(finding, "bus_rate_mb_s", "MB/s", why);
    };
    if (!drive.threshold_us) return none("there are no cached re-reads to time");
    const Lba at = drive.fresh();
    Blocks longest = 0;
    for (const Blocks n : {256, 128, 64, 32, 16}) {
        drive.read(at, n);
        drive.idle(50e3);                           // the prefetch is over by then
        const double first = drive.read(at, n).latency_us, second = drive.read(at, n).latency_us;
        // A hit grows with its length as the bus has it; a miss costs a seek or a turn on top.
        if (std::max(first, second) < *drive.threshold_us * 3) { longest = n; break; }
    }
    if (longest == 0) return none("not even 16 blocks are served from the cache when they are read again");
    std::vector<Blocks> lengths;
    for (Blocks n = 1; n <= longest; n *= 2) lengths.push_back(n);
    std::vector<std::vector<double>> times(lengths.size());
    for (int round = 0; round < 30; ++round)
        for (std::size_t i = 0; i < lengths.size(); ++i) times[i].push_back(drive.read(at, lengths[i]).latency_us);
    std::vector<Point> points;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        // Delays only ever add: the lower quarter is nearer the truth than the middle.
        const double x = double(lengths[i]), y = quantile(times[i], 0.25);
        points.push_back({x, y, std::max(0.05, (quantile(times[i], 0.5) - y) / 2)});
    }
    const Line line = fit_line(points);
    // From here on a hit is what takes no longer than these did: a read of the media that is quick by chance is told from them.
    drive.threshold_us = std::min(*drive.threshold_us, std::max(1.2 * quantile(times[0], 0.95), line.a + 20));
    const double error_a = 2 * std::sqrt(std::max(line.var_a, 0.0)) + 0.005 * line.a, error_b = 2 * std::sqrt(std::max(line.var_b, 0.0)) + 0.005 * line.b;
    add_item(finding, "command_overhead_us", "us", line.a, line.a - error_a, line.a + error_a);
    if (line.b <= 3 * error_b) return cannot_tell(finding, "bus_rate_mb_s", "MB/s", "the time of a cached read does not grow with its length enough to be told from noise");
    const auto rate = [&](double us_per_block) { return double(drive.block_bytes()) / us_per_block; };
    drive.bus_us_per_block = line.b;
    add_item(finding, "bus_rate_mb_s", "MB/s", rate(line.b), rate(line.b + error_b), rate(line.b - error_b));
}

namespace {
// The largest period of which all the intervals are whole multiples.
std::optional<double> common_period(std::vector<double> intervals) {
    std::sort(intervals.begin(), intervals.end());
    const double shortest = quantile({intervals.begin(), intervals.begin() + std::ptrdiff_t(intervals.size() / 8 + 1)}, 0.5);
    for (const int divisor : {1, 2, 3, 4, 5, 6}) {
        const double period = shortest / divisor;
        const auto near = std::count_if(intervals.begin(), intervals.end(), [&](double t) { return std::abs(t / period - std::round(t / period)) < 0.04; });
        if (double(near) > 0.9 * double(intervals.size())) return period;
    }
    return {};
}
}

void measure_rotation(CacheDrive& drive, const Subject& subject, CacheFinding& finding) {
    const auto claim = [&] {
        if (!subject.rotation_us) return;
        finding.items.back().claimed = *subject.rotation_us;
        finding.items.back().claimed_by = subject.rotation_source;
    };
    const auto none = [&](const std::string& why) { cannot_tell(finding, "rotation_period_us", "us", why); claim(); };
    if (subject.identity.rotation_rpm == 1u) return none("does not apply: the drive says that it does not rotate");
    if (!drive.threshold_us) return none("hits cannot be told from reads of the media");
    // Does FUA reach the media?
    const Lba at = drive.fresh();
    drive.read(at, 1);
    std::vector<double> probe;
    for (int i = 0; i < 9; ++i) probe.push_back(drive.read(at, 1, true).latency_us);
    drive.fua_reaches_media = median(probe) > *drive.threshold_us;
    if (!drive.can_read_media()) return none("a block cannot be read from the media again: FUA does not reach them, and how many reads push a block out of the cache is not known");
    std::vector<double> times;
    const int count = drive.fua_reaches_media ? 400 : 60;
    for (int i = 0; i < count; ++i) {
        // Pauses of random length: the same block comes round after different numbers of turns.
        if (drive.fua_reaches_media) drive.idle(double(drive.random()() % 6000));
        times.push_back(drive.media_read(at).finished_us);
    }
    std::vector<double> intervals;
    for (std::size_t i = 1; i < times.size(); ++i) intervals.push_back(times[i] - times[i - 1]);
    const auto rough = common_period(intervals);
    if (!rough || *rough < 1000) return none("re-reads of one block show no common period");
    // Count turns from read to read, refining the period as the span grows; then one line through all.
    double period = *rough;
    std::vector<double> turns(1, 0);
    for (std::size_t i = 1; i < times.size(); ++i) {
        turns.push_back(turns.back() + std::round((times[i] - times[i - 1]) / period));
        if (turns.back() > 20) {
            double sum_xx = 0, sum_xy = 0, mean_x = 0, mean_y = 0;
            for (std::size_t j = 0; j <= i; ++j) { mean_x += turns[j]; mean_y += times[j] - times[0]; }
            mean_x /= double(i + 1), mean_y /= double(i + 1);
            for (std::size_t j = 0; j <= i; ++j) { sum_xx += (turns[j] - mean_x) * (turns[j] - mean_x); sum_xy += (turns[j] - mean_x) * (times[j] - times[0] - mean_y); }
            period = sum_xy / sum_xx;
        }
    }
    std::vector<Point> points;
    std::vector<double> residuals;
    for (std::size_t i = 0; i < times.size(); ++i) residuals.push_back(times[i] - times[0] - turns[i] * period);
    const double middle = median(residuals), sigma = std::max(spread(residuals), 0.05);
    for (std::size_t i = 0; i < times.size(); ++i)
        if (std::abs(residuals[i] - middle) < 3.5 * sigma) points.push_back({turns[i], times[i] - times[0], sigma});
    if (points.size() * 4 < times.size() * 3) return none("re-reads of one block do not keep step with one period");
    const Line line = fit_line(points);
    const double error = 3 * std::sqrt(std::max(line.var_b, 0.0)) + 2e-6 * line.b;
    add_item(finding, "rotation_period_us", "us", line.b, line.b - error, line.b + error);
    claim();
    add_item(finding, "rotation_rpm", "rpm", 60e6 / line.b, 60e6 / (line.b + error), 60e6 / (line.b - error));
    if (subject.rotation_us) { finding.items.back().claimed = 60e6 / *subject.rotation_us; finding.items.back().claimed_by = subject.rotation_source; }
}

}
