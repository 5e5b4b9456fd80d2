#include <algorithm>
#include <fmt/format.h>

#include "sgprobe/measure/single_runs.h"
#include "sgprobe/report/collate.h"
#include "sgprobe/report/posting.h"

namespace sgprobe::report {

Finding judge_posted(const PostedTable& table, double threshold) {
    Finding finding;
    finding.vendor = table.vendor;
    finding.product = table.product;
    finding.revision = table.revision;
    finding.serial = table.serial;
    finding.axis = table.axis == PostedAxis::depth ? "depth" : "transfer_bytes";
    finding.pattern = table.pattern;
    finding.source = table.setting.empty() ? table.source : fmt::format("{} ({})", table.source, table.setting);
    finding.layout = table.layout;
    finding.notes = table.notes;
    std::vector<measure::SinglePoint> points;
    for (const PostedPoint& p : table.points) {
        points.push_back({p.x, p.rate_mb_s, p.resolution_mb_s});
        if (table.axis != PostedAxis::none) finding.curve.emplace_back(p.x, static_cast<float>(p.rate_mb_s));
    }
    if (table.axis == PostedAxis::none) {
        double least = 1e300, most = 0;
        for (const PostedPoint& p : table.points) least = std::min(least, p.rate_mb_s), most = std::max(most, p.rate_mb_s);
        finding.before_mb_s = finding.after_mb_s = most;
        finding.reason = fmt::format("one setting measured {} times ({:.1f} to {:.1f} MB/s): nothing that it could be compared with", points.size(), least, most);
        return finding;
    }
    const auto judged = measure::judge_single_runs(points, table.axis == PostedAxis::depth ? measure::SingleAxis::depth : measure::SingleAxis::transfer, threshold);
    finding.verdict = judged.verdict;
    finding.reason = judged.reason;
    finding.last_good = judged.last_good;
    finding.first_bad = judged.first_bad;
    finding.before_mb_s = judged.before;
    finding.after_mb_s = judged.after;
    if (table.page_cache) {
        // The kernel's read-ahead decides what the drive was sent, not the size that the reader asked for.
        finding.verdict = measure::Verdict::inconclusive;
        finding.reason = "page cache and read-ahead stood between reader and drive, so the size asked for is not the size the drive saw";
        finding.last_good = finding.first_bad = 0;
    }
    return finding;
}

}
