// A simulated drive as a Target: the task set, the order in which commands are served, and the time that they take.
//
// Two things are busy with commands: the controller, which takes one after the other, and the medium, which says when it is
// free again. A command is chosen when the medium is free, among those that have come by then. Its completion is when its
// data have moved over the bus; several may be on their way there.
#pragma once
#include <memory>

#include "sgprobe/sim/background.h"
#include "sgprobe/sim/logical_unit.h"
#include "sgprobe/sim/medium.h"
#include "sgprobe/sim/random.h"
#include "sgprobe/sim/rules.h"
#include "sgprobe/sim/sim.h"

namespace sgprobe::sim {

class SimTarget : public Target {
public:
    SimTarget(const Model&, std::shared_ptr<Bus>);
    unsigned depth() const override { return model_.queue.depth; }
    Bytes max_transfer_bytes() const override { return model_.controller.max_transfer_bytes; }
    void submit(const TargetCommand&) override;
    TargetEvent wait(Nanoseconds now, Nanoseconds deadline) override;
    void abort(std::uint64_t id, Nanoseconds time) override;
    void idle(Nanoseconds) override {}
    std::optional<std::string> gone() const override;
    const Model& model() const { return model_; }

private:
    struct Task {
        std::uint64_t id = 0;
        double time_ns = 0, done_ns = 0;
        Bytes length = 0;
        TaskAttribute attribute = TaskAttribute::simple;
        LogicalUnit::Reply reply;
        Effect effect;
        unsigned depth = 1;
        bool turned_away = false;                    // TASK SET FULL or BUSY: it takes up no place
    };
    unsigned task_count() const { return static_cast<unsigned>(waiting_.size() + finishing_.size() + hung_.size()); }
    bool full(double now_ns) const;
    void obey_settings();
    std::size_t choose(double now_ns) const;
    void serve(Task&, double now_ns);
    void move(Task&, double ready_ns, double start_ns);
    void finish(const Task&);
    void reset(double now_ns);
    TargetDone done(const Task&) const;

    Model model_;
    LogicalUnit unit_;
    std::unique_ptr<Medium> medium_;
    std::shared_ptr<Bus> bus_;
    Rules rules_;
    BackgroundWork background_;
    Random random_;
    std::vector<Task> waiting_;                      // in order of arrival
    std::vector<Task> finishing_;                    // in order of completion, the next one last
    std::vector<std::uint64_t> hung_;                // commands that are never answered: nothing is served until they are aborted
    double controller_free_ns_ = 0, medium_free_ns_ = 0, bus_block_ns_, bus_write_block_ns_;
    double jitter_, rate_jitter_, slow_probability_;
    bool write_cache_ = false;
    std::optional<double> gone_ns_;
};

}
