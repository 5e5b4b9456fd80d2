// A simulated drive as a Target: the queue, and the time that commands take.
#pragma once
#include <deque>
#include <memory>

#include "sgprobe/sim/disk.h"
#include "sgprobe/sim/logical_unit.h"
#include "sgprobe/sim/random.h"
#include "sgprobe/sim/sim.h"

namespace sgprobe::sim {

class SimTarget : public Target {
public:
    SimTarget(Model, std::shared_ptr<Bus>);
    unsigned depth() const override { return model_.controller.depth; }
    Bytes max_transfer_bytes() const override { return model_.controller.max_transfer_bytes; }
    void submit(const TargetCommand&) override;
    TargetEvent wait(Nanoseconds now, Nanoseconds deadline) override;
    void abort(std::uint64_t id, Nanoseconds time) override;
    void idle(Nanoseconds) override {}
    const Model& model() const { return model_; }

private:
    struct Task {
        std::uint64_t id = 0;
        double time_ns = 0;
        LogicalUnit::Reply reply;
        Bytes length = 0;
        double done_ns = 0;
    };
    void serve(Task&);
    double overhead_ns(const LogicalUnit::Reply&);

    Model model_;
    LogicalUnit unit_;
    std::unique_ptr<Disk> disk_;
    std::shared_ptr<Bus> bus_;
    Random random_;
    std::vector<Task> waiting_;                   // in order of arrival
    std::vector<Task> finishing_;                 // in order of completion
    double free_ns_ = 0;                          // when the next command may start
    double jitter_, slow_probability_;
};

}
