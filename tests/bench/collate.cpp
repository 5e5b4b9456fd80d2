// make bench: 100,000 generated reports through the collation. Prints reports a second, the same as a ratio to merely reading the
// bytes and finding the ends of lines (a peer in the same run), and the memory that the process grew to.
//   collate [N [SEED]]            the benchmark
//   collate generate N [SEED]     the reports on standard output, one JSON object a line, for `sgprobe collate -`
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <string_view>

#include "sgprobe/measure/result.h"
#include "sgprobe/report/collate.h"
#include "sgprobe/report/format.h"

using namespace sgprobe;

namespace {

// What `sgprobe size --json` says of one of 40 models with a few firmwares each; a quarter of them have a cliff.
std::string report_text(std::mt19937_64& random, std::size_t number) {
    const unsigned model = static_cast<unsigned>(random() % 40), firmware = static_cast<unsigned>(random() % 3);
    const bool cliff = model % 4 == 0 && firmware != 2;
    std::normal_distribution<double> noise(1, 0.01);
    measure::Result result;
    result.probe = "size";
    result.started = "2026-01-02T03:04:05Z";
    result.device = {.path = "/dev/sg0", .vendor = "VENDOR", .product = fmt::format("MODEL{:02}", model), .revision = fmt::format("FW0{}", firmware),
                     .serial = fmt::format("S{:07}", number), .blocks = 286749488, .block_bytes = 512, .physical_block_bytes = 512, .rotation_rpm = 15000,
                     .transport = "sas", .queue_depth = 64};
    const double base = (60 + model) * noise(random);
    for (const unsigned kib : {4u, 8u, 16u, 32u, 64u, 128u, 192u, 256u, 320u, 384u, 448u, 512u, 576u, 640u, 704u, 768u, 832u, 896u, 960u, 1024u}) {
        measure::SampleResult sample;
        sample.pattern = "seq-read";
        sample.transfer_bytes = kib * 1024;
        sample.transfer_blocks = kib * 2;
        const double rate = base * noise(random) * (cliff && kib > 256 ? 0.55 : 1) * (kib < 32 ? 0.8 : 1);
        sample.rate_mb_s = {rate, rate * 0.99, rate * 1.01, rate * 1.02};
        sample.latency_us = {100, 120, 150, 400};
        sample.commands = 12;
        result.samples.push_back(sample);
    }
    result.verdict = cliff ? measure::Verdict::cliff : measure::Verdict::clean;
    result.reason = cliff ? "past 512 blocks" : "no loss";
    if (cliff) {
        measure::Cliff c;
        c.pattern = "seq-read";
        c.last_good = 512;
        c.first_bad = 513;
        c.before_mb_s = base;
        c.after_mb_s = base * 0.55;
        c.drop = 0.45;
        c.p_value = 1e-9;
        result.cliffs.push_back(c);
    }
    result.settings_before = {{"WCE", 1}, {"RCD", 0}, {"DPTL", 512}};
    return report::json(report::to_value(result, {}), false);
}

// Of the processor, so that what else runs on the machine does not count: the goal is for one core.
std::chrono::nanoseconds cpu_time() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

class Generated : public std::streambuf {   // the reports as a stream, so that they need no room anywhere
public:
    Generated(std::size_t count, std::uint64_t seed) : random_(seed), count_(count) {}
    std::size_t bytes = 0;
    std::chrono::nanoseconds spent{0};      // on making them, which is not collate's
protected:
    int_type underflow() override {
        if (next_ == count_) return traits_type::eof();
        const auto start = cpu_time();
        text_.clear();
        for (; next_ < count_ && text_.size() < 1 << 20; ++next_) text_ += report_text(random_, next_);
        bytes += text_.size();
        setg(text_.data(), text_.data(), text_.data() + text_.size());
        spent += cpu_time() - start;
        return traits_type::to_int_type(text_[0]);
    }
private:
    std::mt19937_64 random_;
    std::size_t count_, next_ = 0;
    std::string text_;
};

double seconds(std::chrono::nanoseconds d) { return std::chrono::duration<double>(d).count(); }

}

int main(int argc, char** argv) {
    const bool generate = argc > 1 && std::string_view(argv[1]) == "generate";
    const char* count_text = argc > 1 + generate ? argv[1 + generate] : "100000";
    const std::size_t count = std::strtoull(count_text, nullptr, 10);
    const std::uint64_t seed = argc > 2 + generate ? std::strtoull(argv[2 + generate], nullptr, 10) : 1;
    if (generate) {
        std::mt19937_64 random(seed);
        for (std::size_t i = 0; i < count; ++i) std::fputs(report_text(random, i).c_str(), stdout);
        return 0;
    }
    Generated peer(count, seed);
    std::istream peer_in(&peer);
    auto start = cpu_time();
    std::size_t lines = 0;
    for (std::string line; std::getline(peer_in, line);) ++lines;
    const double reading = seconds(cpu_time() - start - peer.spent);
    Generated reports(count, seed);
    std::istream in(&reports);
    report::Collation collation(0.10);
    start = cpu_time();
    collation.add(in, "generated");
    const report::Collated collated = collation.finish();
    const double taken = seconds(cpu_time() - start - reports.spent);
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::size_t cliffs = 0;
    for (const auto& row : collated.rows) cliffs += row.verdict == measure::Verdict::cliff;
    fmt::print("collate: {} reports ({:.0f} MB) into {} rows, {} with a cliff: {:.0f} reports a second (goal: 20000), {:.2f}x the time of reading lines, {} MB of memory (goal: 200)\n",
               collated.reports, static_cast<double>(reports.bytes) / 1e6, collated.rows.size(), cliffs, static_cast<double>(count) / taken, taken / reading, usage.ru_maxrss / 1024);
    return lines == count && collated.reports == count && cliffs == 20 ? 0 : 1;
}
