#include "sgprobe/sim/sim_target.h"

#include <algorithm>
#include <cmath>

namespace sgprobe::sim {

SimTarget::SimTarget(Model model, std::shared_ptr<Bus> bus)
    : model_(std::move(model)), unit_(model_), bus_(std::move(bus)), random_(model_.seed),
      jitter_(model_.noise.jitter * model_.noise.scale), slow_probability_(model_.noise.slow_probability * model_.noise.scale) {
    if (model_.media.rotating) {
        disk_ = std::make_unique<Disk>(model_);
        disk_->obey(unit_.settings());
    }
}

void SimTarget::submit(const TargetCommand& command) {
    Task task;
    task.id = command.id;
    task.time_ns = static_cast<double>(command.time.count());
    task.length = command.length;
    if (waiting_.size() + finishing_.size() >= model_.controller.depth) task.reply.status = scsi::Status::task_set_full;
    else task.reply = unit_.execute(command);
    if (task.reply.settings_changed && disk_) disk_->obey(unit_.settings());
    waiting_.push_back(task);
}

double SimTarget::overhead_ns(const LogicalUnit::Reply& reply) {
    using Work = LogicalUnit::Work;
    const Controller& c = model_.controller;
    const double us = reply.work == Work::read ? c.read_overhead_us : reply.work == Work::write ? c.write_overhead_us : c.other_overhead_us;
    return us * 1e3;
}

void SimTarget::serve(Task& task) {
    using Work = LogicalUnit::Work;
    const double start = std::max(task.time_ns, free_ns_);
    const double ready = start + overhead_ns(task.reply);
    double done = ready;
    free_ns_ = ready;
    const LogicalUnit::Reply& r = task.reply;
    if (r.work == Work::read || r.work == Work::write) {
        unsigned retries = 0;
        if (slow_probability_ > 0 && random_.chance(slow_probability_))
            retries = static_cast<unsigned>(random_.between(1, std::max(1u, model_.noise.slow_revolutions)));
        const Disk::Served served = r.work == Work::read ? disk_->read(ready, r.lba, r.blocks, r.force_media, retries)
                                                         : disk_->write(ready, r.lba, r.blocks, r.force_media);
        done = served.data_ns;
        free_ns_ = std::max(ready, served.media_ns);
    } else if (r.work == Work::flush) {
        done = free_ns_ = disk_->flush(ready);
    }
    if (jitter_ > 0) done += std::abs(random_.normal()) * jitter_ * (done - start);
    free_ns_ = std::max(free_ns_, done);
    task.done_ns = done;
}

TargetEvent SimTarget::wait(Nanoseconds, Nanoseconds deadline) {
    const auto until = static_cast<double>(deadline.count());
    while (finishing_.empty() && !waiting_.empty()) {
        Task task = waiting_.front();
        if (std::max(task.time_ns, free_ns_) > until) break;
        waiting_.erase(waiting_.begin());
        serve(task);
        finishing_.push_back(task);
    }
    TargetEvent event;
    event.time = deadline;
    if (finishing_.empty()) return event;
    const Task& task = finishing_.front();
    const double done = std::ceil(task.done_ns);
    if (done > until) return event;
    event.time = Nanoseconds(static_cast<std::int64_t>(done));
    TargetDone& out = event.done.emplace();
    out.id = task.id;
    out.time = event.time;
    out.status = task.reply.status;
    out.resid = task.length - std::min(task.length, task.reply.transferred);
    if (task.reply.status == scsi::Status::check_condition) out.sense = unit_.sense_bytes(task.reply);
    finishing_.erase(finishing_.begin());
    return event;
}

void SimTarget::abort(std::uint64_t id, Nanoseconds time) {
    auto same = [id](const Task& t) { return t.id == id; };
    std::erase_if(waiting_, same);
    if (std::erase_if(finishing_, same)) free_ns_ = static_cast<double>(time.count());
}

std::shared_ptr<Bus> Buses::find(const std::string& name) {
    std::shared_ptr<Bus>& bus = buses_[name];
    if (!bus) bus = std::make_shared<Bus>();
    return bus;
}

std::unique_ptr<Target> make_target(const Model& model, Buses* buses) {
    std::shared_ptr<Bus> bus;
    if (buses && !model.controller.bus.empty()) bus = buses->find(model.controller.bus);
    return std::make_unique<SimTarget>(model, bus ? bus : std::make_shared<Bus>());
}

std::unique_ptr<Target> make_target(const DriveSpec& spec, Buses* buses) { return make_target(load_model(spec), buses); }

}
