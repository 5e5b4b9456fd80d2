// One run of `sgprobe size`: what its stages share. sampling: size_run.cpp; suspicions measured afresh: size_verify.cpp; search for the
// place of a cliff: size_search.cpp; what is said in the end: size_result.cpp.
#pragma once
#include <functional>
#include <random>

#include "sgprobe/measure/cells.h"
#include "sgprobe/measure/size.h"
#include "sgprobe/measure/steps.h"
#include "sgprobe/measure/subject.h"

namespace sgprobe::measure {

enum class Stop : std::uint8_t { none, budget, media, interrupted, gone, trouble };

// A few sizes measured against each other, in rounds of their own.
struct Panel {
    std::vector<Cell> cells;
    std::size_t rounds = 0;
    std::vector<std::vector<double>> logs;     // by cell and round: logarithm of the time of a command
};

struct FoundCliff {
    Blocks last_good = 0, first_bad = 0;
    bool exact = true;
    double before_us = 0, after_us = 0;        // of one command
    double drop = 0, z = 0;
    double extra_us = 0;                       // past what the slope asks
};

class SizeRun {
public:
    SizeRun(Host&, Drive&, const SizeOptions&, const Progress&);
    Result run();

private:
    void choose_sizes();
    void heed_host();                                                    // what the system refuses is not measured, and said
    void pilot();
    void plan_counts(double rate_mb_s);
    void sweep();
    bool sweep_round(const std::vector<std::size_t>& cells);
    bool take_sample(Cell&, std::size_t round, std::size_t warm_up);     // false: stop_ says why
    StreamRun stream(Blocks blocks, std::size_t commands);
    std::size_t counted_for(Blocks) const;
    std::size_t worthwhile_count(Blocks) const;
    void settle_warm_up();
    bool within(double share, const std::function<void()>&);
    void look_closer();
    bool unquiet() const;
    double media_us() const { return std::min(0.4 * jump_us_, 3000.0); }   // a track's or cylinder's switch takes less than a jump, and than this
    Curve analyse();
    std::vector<std::size_t> cells_in_doubt(const Curve&) const;
    bool time_is_up(double share) const;                                 // or the bytes are, where they are bounded
    bool read_all(double share = 0.4) const { return options_.most_bytes > 0 && static_cast<double>(bytes_moved_) >= share * static_cast<double>(options_.most_bytes); }
    void report_progress(double fraction, const std::string& what);

    bool measure(Panel&);                                                // one more round of it
    Panel panel(const std::vector<Blocks>&, double gap = 0) const;       // gap: of logarithms, that it has to resolve; 0: as fine as can be
    double sigma_of(const Panel&) const;
    Location of(const Panel&, std::size_t cell, std::size_t reference) const;
    struct Fresh { Panel panel; std::vector<Point> points; std::size_t least_rounds = 3; };
    std::vector<Blocks> sizes_around(std::size_t left, std::size_t right, std::size_t each_side) const;
    bool more_of(Fresh&);                                                // one more round; false: stop_ says why
    bool verify(Step&);                                                  // measured afresh, is the step still there?
    bool verify_band(const Step&);                                       // and the recovery from it?
    void verify_dip(std::size_t point);
    void look_into_bend(const Step&);                                    // is there a step beside it?
    struct Suspicion { Step step; bool verified = false; Blocks low = 0, high = 0; bool doubted = false; };   // between low and high, once it is verified; doubted: a search was led astray
    bool search(Suspicion&);
    bool search_between(Blocks low, Blocks high, const Step&, int level, Suspicion* progress);
    struct Care { double sureness; std::size_t least_rounds; };         // standard errors for one decision, and rounds
    enum class Side : std::uint8_t { good, bad, neither, unknown };
    struct Placed { Side side = Side::unknown; double before = 0, after = 0; };   // steps before and after, as logarithms of time
    Placed side_of(Blocks at, Blocks low, Blocks high, const Step&, const Care&);
    struct Bracket { Blocks low = 0, high = 0; bool sharp = true; Placed middle; Blocks at = 0; };
    std::optional<Bracket> bisect(Blocks low, Blocks high, const Step&, const Care&, Suspicion* progress);
    enum class Drop : std::uint8_t { material, immaterial, unsure };
    Drop confirm(Blocks low, Blocks high, const Step&, FoundCliff&);
    bool slow_beyond(const Step&);
    bool report_unplaced(const Suspicion&);
    void add(const FoundCliff&);

    void finish(Result&);
    std::string mechanism(const FoundCliff&, SettingValues&);
    void advise(Result&);
    Bytes bytes(Blocks n) const { return n * subject_.identity.block_bytes; }
    std::string size_text(Blocks) const;

    Host& host_;
    Drive& drive_;
    SizeOptions options_;
    const Progress& progress_;
    Subject subject_;
    Nanoseconds began_{0};
    double allowed_ = 1;                     // of the budget: what the question at hand may use
    Nanoseconds excused_{0};                 // of that time: waiting for commands that timed out
    std::optional<Addresses> addresses_;
    std::mt19937_64 random_;
    std::vector<Cell> cells_;
    std::vector<std::size_t> place_;             // of the points of the curve among the cells
    std::size_t warm_up_ = 1, rounds_ = 0, order_ = 0;
    Bytes counted_bytes_ = 768 << 10;
    std::size_t least_counted_ = 2;
    double jump_us_ = 0, about_mb_s_ = 0;        // what a sample costs before its first counted command; a rate to plan with
    Blocks greatest_ = 0;                        // transfer in force
    BufferKind buffer_ = BufferKind::indirect;   // the kind that carries the greatest transfer
    CellTimes times_;
    Curve curve_;
    double sample_sigma_ = 0.05;
    double step_time_us_ = 1;                    // of the size before the step that is searched
    std::vector<FoundCliff> cliffs_;
    std::vector<std::string> notes_;
    std::vector<Step> doubtful_;                 // steps that could not be settled
    Stop stop_ = Stop::none;
    std::string stop_why_;
    int stop_status_ = 0;
    unsigned timeouts_ = 0;
    Incidents incidents_;
    std::uint64_t commands_ = 0;
    Bytes bytes_moved_ = 0;
};

constexpr std::size_t most_rounds = 60;        // of one decision

}
