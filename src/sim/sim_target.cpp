#include "sgprobe/sim/sim_target.h"

#include <algorithm>
#include <cmath>

#include "sgprobe/sim/disk.h"
#include "sgprobe/sim/flash.h"

namespace sgprobe::sim {
namespace {
using Work = LogicalUnit::Work;
constexpr double never_ns = 9e18;
double ns(Nanoseconds t) { return static_cast<double>(t.count()); }
}

SimTarget::SimTarget(const Model& model, std::shared_ptr<Bus> bus)
    : model_(model), unit_(model_), bus_(std::move(bus)), rules_(model_), background_(model_), random_(model_.seed),
      bus_block_ns_(model_.media.block_bytes / model_.controller.bus_mb_s * 1e3),
      bus_write_block_ns_(model_.media.block_bytes / model_.controller.bus_write_mb_s * 1e3), jitter_(model_.noise.jitter * model_.noise.scale),
      rate_jitter_(model_.noise.rate_jitter * model_.noise.scale), slow_probability_(model_.noise.slow_probability * model_.noise.scale) {
    if (model_.media.rotating) medium_ = std::make_unique<Disk>(model_);
    else medium_ = std::make_unique<FlashMedium>(model_, unit_.mapping());
    obey_settings();
    waiting_.reserve(model_.queue.depth + 1);
    finishing_.reserve(model_.queue.depth + 1);
}

void SimTarget::obey_settings() {
    const Settings settings = unit_.settings();
    write_cache_ = settings.write_cache;
    medium_->obey(settings);
    rules_.obey(unit_.modes());
}

bool SimTarget::full(double now_ns) const {
    const Queue& q = model_.queue;
    const unsigned room = q.task_set_write_cache && write_cache_ ? q.task_set_write_cache : q.task_set;
    if (!room || task_count() < room) return false;
    auto gone = [=](const Task& t) { return t.turned_away || t.done_ns <= now_ns; };
    return task_count() - static_cast<unsigned>(std::count_if(finishing_.begin(), finishing_.end(), gone)) >= room;
}

void SimTarget::submit(const TargetCommand& command) {
    Task task;
    task.id = command.id;
    task.time_ns = ns(command.time);
    task.length = command.length;
    task.attribute = command.attribute;
    task.depth = task_count() + 1;
    if (full(task.time_ns)) {
        task.turned_away = true;
        task.reply.status = model_.queue.busy_when_full ? scsi::Status::busy : scsi::Status::task_set_full;
        task.done_ns = task.time_ns + model_.controller.other_overhead_us * 1e3;
        return finish(task);
    }
    task.reply = unit_.execute(command);
    if (!rules_.empty()) {
        task.effect = rules_.apply(command, task.reply, task.depth, random_);
        if (task.effect.attention) unit_.attention(static_cast<std::uint8_t>(*task.effect.attention >> 8), static_cast<std::uint8_t>(*task.effect.attention));
        if (task.effect.gone && !gone_ns_) gone_ns_ = task.time_ns;
    }
    if (task.reply.settings_changed) obey_settings();
    waiting_.push_back(task);
}

std::size_t SimTarget::choose(double now_ns) const {
    if (waiting_.size() == 1) return 0;
    std::size_t last = 0;                            // candidates: those that have come, up to the first ordered one
    for (std::size_t i = 0; i < waiting_.size() && waiting_[i].time_ns <= now_ns; ++i)
        if (waiting_[i].attribute == TaskAttribute::head_of_queue) return i;
    for (; last < waiting_.size() && waiting_[last].time_ns <= now_ns && last < model_.queue.window; ++last)
        if (waiting_[last].attribute == TaskAttribute::ordered) break;
    if (last <= 1 || model_.queue.policy == Queue::Policy::fifo) return 0;
    if (model_.queue.age_limit_us > 0 && now_ns - waiting_[0].time_ns > model_.queue.age_limit_us * 1e3) return 0;
    std::size_t best = 0;
    double least = never_ns;
    for (std::size_t i = 0; i < last; ++i) {
        const LogicalUnit::Reply& r = waiting_[i].reply;
        if (r.work != Work::read && r.work != Work::write) return i;
        const bool streams = r.work == Work::read && medium_->streaming_at(now_ns, r.lba);
        if (streams) return i;
        if (model_.queue.policy == Queue::Policy::stream_first) continue;
        const double reach = medium_->reach_ns(now_ns, r.lba);
        if (reach < least) {
            least = reach;
            best = i;
        }
    }
    return best;
}

void SimTarget::serve(Task& task, double now_ns) {
    const Controller& c = model_.controller;
    const Work work = task.reply.work;
    const double overhead_us = work == Work::read ? c.read_overhead_us : work == Work::write ? c.write_overhead_us : c.other_overhead_us;
    const double idle_since = std::max(medium_free_ns_, controller_free_ns_);
    controller_free_ns_ = std::max(task.time_ns, controller_free_ns_) + overhead_us * 1e3;
    double ready = std::max(now_ns, controller_free_ns_);
    medium_free_ns_ = std::max(medium_free_ns_, now_ns);
    task.done_ns = ready;
    if (task.effect.reset) reset(ready);
    if (!background_.none() && (work == Work::read || work == Work::write)) background_.meet(ready, idle_since, *medium_, random_);
    if (task.effect.extra_ns > 0) {
        medium_->stall(task.effect.extra_ns);
        ready += task.effect.extra_ns;
        task.done_ns = medium_free_ns_ = ready;
    }
    if (work == Work::read || work == Work::write) move(task, ready, now_ns);
    else if (work == Work::flush) task.done_ns = medium_free_ns_ = medium_->flush(ready);
}

void SimTarget::move(Task& task, double ready, double now_ns) {
    const LogicalUnit::Reply& r = task.reply;
    Access access{.start_ns = ready, .lba = r.lba, .blocks = r.blocks, .force_media = r.force_media, .turns = task.effect.extra_turns,
                  .may_prefetch = !task.effect.no_prefetch, .may_extend = task.depth <= model_.cache.extend_up_to_depth,
                  .stop_prefetch = task.effect.stop_prefetch};
    if (slow_probability_ > 0 && random_.chance(slow_probability_))
        access.turns += static_cast<unsigned>(random_.between(1, std::max(1u, model_.noise.slow_revolutions)));
    const double length = static_cast<double>(r.blocks) * (r.work == Work::read ? bus_block_ns_ : bus_write_block_ns_);
    Served served;
    if (r.work == Work::read) {
        served = medium_->read(access);
        const double earliest = std::max({ready, served.first_ns, served.hit ? ready : served.last_ns + bus_block_ns_ - length});
        task.done_ns = bus_->book(now_ns, earliest, length);
    } else {
        const double arrived = bus_->book(now_ns, ready, length);
        access.start_ns = model_.media.rotating ? ready : arrived;
        served = medium_->write(access);
        task.done_ns = std::max(arrived, served.last_ns);
    }
    const double own = task.done_ns - std::max(now_ns, task.time_ns);
    double still = 0;                                // time for which the media stand still too
    if (rate_jitter_ > 0) still += std::abs(random_.normal()) * rate_jitter_ * own;
    if (model_.noise.drift > 0) still += own * model_.noise.scale * model_.noise.drift * std::min(1.0, now_ns / (model_.noise.drift_s * 1e9));
    if (still > 0) medium_->stall(still);
    if (jitter_ > 0) task.done_ns += std::abs(random_.normal()) * jitter_ * own;
    task.done_ns += still;
    medium_free_ns_ = std::max(medium_free_ns_, served.free_ns + still);
}

void SimTarget::finish(const Task& task) {
    auto at = finishing_.end();
    while (at != finishing_.begin() && std::prev(at)->done_ns <= task.done_ns) --at;
    finishing_.insert(at, task);
}

// A reset: what is queued comes back as aborted, settings are the saved ones, the next command hears of it (SAM-5 6.3).
void SimTarget::reset(double now_ns) {
    medium_->reset(now_ns);
    unit_.power_on();
    obey_settings();
    unit_.attention(0x29, 0x02);
    for (Task& task : waiting_) {
        task.reply = {};
        task.reply.status = scsi::Status::task_aborted;
        task.done_ns = now_ns;
        finish(task);
    }
    waiting_.clear();
}

TargetDone SimTarget::done(const Task& task) const {
    TargetDone out;
    out.id = task.id;
    out.time = Nanoseconds(static_cast<std::int64_t>(std::ceil(task.done_ns)));
    out.status = task.reply.status;
    out.resid = task.length - std::min(task.length, task.reply.transferred);
    if (task.reply.status == scsi::Status::check_condition) out.sense = unit_.sense_bytes(task.reply);
    return out;
}

TargetEvent SimTarget::wait(Nanoseconds now, Nanoseconds deadline) {
    const double until = ns(deadline);
    TargetEvent event;
    event.time = deadline;
    if (gone_ns_) return event;
    while (!waiting_.empty() && hung_.empty()) {
        const double start = std::max(waiting_.front().time_ns, medium_free_ns_);
        if (start > until || (!finishing_.empty() && finishing_.back().done_ns <= start)) break;
        const std::size_t chosen = choose(start);
        Task task = waiting_[chosen];
        waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(chosen));
        if (task.effect.never) {
            hung_.push_back(task.id);
            break;
        }
        serve(task, start);
        finish(task);
    }
    if (finishing_.empty()) return event;
    if (std::ceil(finishing_.back().done_ns) > until) return event;
    event.done = done(finishing_.back());
    event.time = event.done->time = std::max(event.done->time, now);   // it was done, and is seen only now
    finishing_.pop_back();
    return event;
}

void SimTarget::abort(std::uint64_t id, Nanoseconds time) {
    auto same = [id](const Task& t) { return t.id == id; };
    std::erase_if(waiting_, same);
    const bool served = std::erase_if(finishing_, same) + std::erase(hung_, id) > 0;
    if (served) medium_free_ns_ = ns(time);          // whatever it was busy with, it is free now
}

std::optional<std::string> SimTarget::gone() const {
    if (!gone_ns_) return {};
    return "the simulated drive went away, as a rule of its file has it";
}

std::shared_ptr<Bus> Buses::find(const std::string& name) {
    std::shared_ptr<Bus>& bus = buses_[name];
    if (!bus) bus = std::make_shared<Bus>();
    else bus->share();
    return bus;
}

std::unique_ptr<Target> make_target(const Model& model, Buses* buses) {
    std::shared_ptr<Bus> bus;
    if (buses && !model.controller.bus.empty()) bus = buses->find(model.controller.bus);
    return std::make_unique<SimTarget>(model, bus ? bus : std::make_shared<Bus>());
}

std::unique_ptr<Target> make_target(const DriveSpec& spec, Buses* buses) { return make_target(load_model(spec), buses); }

}
