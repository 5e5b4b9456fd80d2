// The parts of run_experiment(): experiment_design.cpp, experiment_run.cpp, experiment_effects.cpp, experiment_result.cpp.
#pragma once
#include <random>

#include "sgprobe/measure/cells.h"
#include "sgprobe/measure/experiment.h"
#include "sgprobe/measure/subject.h"

namespace sgprobe::measure {

struct MeasuredResponse {
    Response spec;
    Blocks blocks = 0;
    std::string name;
    std::vector<Cell> cells;                       // by treatment
    std::vector<double> time_us, error;            // of a command, and the relative error: filled by estimate()
    std::vector<double> value, value_error;        // what is compared: log time, log latency, or retries a command
};

class ExperimentRun {
public:
    ExperimentRun(Host&, Drive&, pages::Transaction&, const ExperimentOptions&, const Progress&);
    ExperimentResult run();

private:
    void find_baseline();                          // the size probe: where the cliff is, and what rate is to be reached
    void choose_responses();
    void resolve_levels();
    void try_level(std::size_t factor, const std::string& level);
    void make_treatments();
    void add_treatment(std::vector<std::size_t> levels);
    std::vector<pages::Assignment> assignments(const std::vector<std::size_t>& levels) const;
    std::string text_of(const std::vector<std::size_t>& levels) const;

    void measure_blocks();
    void measure_halving();
    bool measure_treatment(std::size_t treatment); // false: the run ends (interrupted, gone, budget)
    bool sample(MeasuredResponse&, std::size_t treatment);
    void estimate();
    bool sure() const;
    bool budget_spent() const { return host_.now() - began_ >= options_.budget; }

    void find_effects();
    void add_effect(std::string factor, std::vector<std::string> levels, const MeasuredResponse&, const std::vector<double>& contrast);
    void choose_best();
    void say();
    void finish();
    double rate(const MeasuredResponse&, std::size_t treatment) const;
    Interval interval(const MeasuredResponse&, std::size_t treatment) const;

    Host& host_;
    Drive& drive_;
    pages::Transaction& settings_;
    const ExperimentOptions& options_;
    const Progress& progress_;
    std::mt19937_64 random_;
    Nanoseconds began_{0};
    Subject subject_;
    std::optional<Addresses> addresses_;
    Result baseline_;
    std::vector<Factor> factors_;                  // with the levels that can be set
    std::vector<MeasuredResponse> responses_;      // the main one first, then the reference, then the price
    std::size_t reference_ = 0;                    // index of the reference response
    double reference_rate_ = 0, reference_error_ = 0;
    bool halving_ = false;
    std::size_t block_ = 0, order_ = 0, redone_ = 0;
    std::uint64_t commands_ = 0;
    Bytes bytes_ = 0;
    std::string stop_;                             // why it ended early
    bool interrupted_ = false;
    ExperimentResult out_;
};

}
