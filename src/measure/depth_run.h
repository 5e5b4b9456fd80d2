// One run of `sgprobe depth`: sampling in depth_run.cpp, what is said in depth_result.cpp.
#pragma once
#include <random>

#include "sgprobe/measure/addresses.h"
#include "sgprobe/measure/cells.h"
#include "sgprobe/measure/depth.h"
#include "sgprobe/measure/subject.h"

namespace sgprobe::measure {

struct DepthCell {
    unsigned depth = 1;
    bool unqueued = false;                  // the kernel's queue_depth is 1: no tag, no NCQ
    Cell cell;
    std::vector<std::vector<double>> logs;  // by round: logarithms of the time of a command, a value for each piece of the sample
    double reached = 0;
    std::uint64_t commands = 0, reordered = 0;
    double value = 0, error = 0;            // logarithm of the time of a command (us), fitted
    std::uint64_t flow() const { return cell.incidents.flow_control + cell.incidents.hidden_retries; }
};

struct DepthSeries {                        // one pattern
    std::string pattern;
    Bytes bytes = 0;
    Blocks blocks = 0;
    std::vector<DepthCell> cells;           // ascending in depth
    std::size_t rounds = 0;
    std::vector<Cliff> cliffs;
    std::optional<unsigned> accepts;        // deeper queues are answered with TASK SET FULL
    std::string in_doubt;                   // why nothing sure can be said
    std::string gain;                       // a sentence
};

class DepthRun {
public:
    DepthRun(Host&, Drive&, const DepthOptions&, const Progress&);
    Result run();

private:
    void choose_depths();
    void measure(DepthSeries&);
    bool round(DepthSeries&);
    bool sample(DepthSeries&, DepthCell&);
    void fit(DepthSeries&) const;
    bool decided(const DepthSeries&) const;
    void search(DepthSeries&);
    std::size_t insert(DepthSeries&, unsigned depth);
    void find_acceptance(DepthSeries&) const;
    void find_gain(DepthSeries&) const;
    bool lasts(const DepthSeries&, std::size_t before) const;
    bool budget_spent() const { return host_.now() - began_ >= share_; }
    double material() const;
    void finish(Result&);
    void report(const std::string&);

    Host& host_;
    Drive& drive_;
    const DepthOptions& options_;
    const Progress& progress_;
    std::mt19937_64 random_;
    Nanoseconds began_{0}, share_{0};
    Subject subject_;
    std::optional<Addresses> addresses_;
    std::vector<unsigned> depths_;
    std::vector<DepthSeries> series_;
    std::vector<std::string> notes_;
    Incidents incidents_;
    std::string stop_;
    bool interrupted_ = false, gone_ = false;
    int exit_status_ = 0;                    // of what ended the run before its time
    std::uint64_t commands_ = 0, redone_ = 0;
    Bytes bytes_ = 0;
};

}
