#include "workload.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>

namespace sgprobe::sim::test {
namespace {
Command command(Drive& drive, const Step& s, unsigned block_bytes, std::uint64_t tag, std::vector<Buffer>& spare) {
    Command c;
    c.tag = tag;
    const scsi::ReadWrite rw{.opcode = s.write ? scsi::RwOpcode::write16 : scsi::RwOpcode::read16, .lba = s.lba, .blocks = s.blocks};
    c.cdb = *scsi::build(rw);
    c.direction = rw.direction();
    c.length = s.blocks * block_bytes;
    if (!s.write) return c;
    if (!spare.empty() && spare.back().size() >= c.length) {
        c.data = std::move(spare.back());
        spare.pop_back();
    } else {
        c.data = drive.buffer(c.length, BufferKind::indirect);
    }
    return c;
}
}

Moved run(Bench& bench, unsigned threads, unsigned split, unsigned blocks, const std::function<Step(Random&)>& next) {
    Random random(99);
    std::vector<Step> steps(threads * split);
    std::vector<unsigned> left(threads, 0);
    std::vector<Buffer> spare;
    unsigned started = 0;
    std::deque<std::uint64_t> held;                  // turned away: they go first, one for each that completes
    auto send = [&](std::uint64_t tag) {
        if (!held.empty()) return held.push_back(tag);
        bench.drive->submit(command(*bench.drive, steps[tag], bench.model.media.block_bytes, tag, spare));
    };
    auto send_held = [&] {
        if (held.empty()) return;
        const std::uint64_t tag = held.front();
        held.pop_front();
        bench.drive->submit(command(*bench.drive, steps[tag], bench.model.media.block_bytes, tag, spare));
    };
    auto start = [&](std::uint64_t worker) {
        if (started++ >= blocks) return;
        Step s = next(random);
        s.blocks /= split;
        for (unsigned i = 0; i < split; ++i, s.lba += s.blocks) {
            steps[worker * split + i] = s;
            send(worker * split + i);
        }
        left[worker] = split;
    };
    const Nanoseconds begin = bench.host.now();
    Moved moved;
    double read = 0, written = 0, latency = 0;
    for (std::uint64_t worker = 0; worker < threads; ++worker) start(worker);
    while (bench.drive->outstanding()) {
        Event event = bench.host.wait(Host::never);
        Completion& c = event.completion;
        const double us = static_cast<double>(c.latency().count()) / 1e3;
        const double bytes = static_cast<double>(c.transferred());
        if (c.command.data) spare.push_back(std::move(c.command.data));
        if (c.outcome.flow_control()) {
            ++moved.task_set_full;
            held.insert(std::upper_bound(held.begin(), held.end(), c.command.tag, [&](auto a, auto b) { return steps[a].lba < steps[b].lba; }), c.command.tag);
            if (bench.drive->outstanding() == 0) send_held();
            continue;
        }
        moved.errors += !c.outcome.good();
        (c.command.direction == scsi::Direction::in ? read : written) += bytes;
        ++moved.commands;
        latency += us;
        moved.worst_latency_us = std::max(moved.worst_latency_us, us);
        send_held();
        if (--left[c.command.tag / split] == 0) start(c.command.tag / split);
    }
    const double ns = static_cast<double>((bench.host.now() - begin).count());
    moved.read_mb_s = read / ns * 1e3;
    moved.write_mb_s = written / ns * 1e3;
    moved.mean_latency_us = moved.commands ? latency / static_cast<double>(moved.commands) : 0;
    return moved;
}

std::vector<double> run_together(std::vector<Model> models, bool write, Blocks n, double seconds) {
    VirtualHost host;
    Buses buses;
    std::vector<std::unique_ptr<Drive>> drives;
    std::vector<Lba> at(models.size());
    std::vector<double> bytes(models.size());
    std::vector<Buffer> spare;
    for (const Model& m : models) drives.push_back(host.attach(make_target(m, &buses), "sim:" + m.name));
    auto send = [&](std::uint64_t i) {
        drives[i]->submit(command(*drives[i], {write, at[i], n}, models[i].media.block_bytes, i, spare));
        at[i] += n;
    };
    for (std::uint64_t i = 0; i < drives.size(); ++i) send(i);
    const Nanoseconds end(static_cast<std::int64_t>(seconds * 1e9));
    while (host.now() < end) {
        Event event = host.wait(Host::never);
        REQUIRE(event.completion.outcome.good());
        if (event.completion.command.data) spare.push_back(std::move(event.completion.command.data));
        bytes[event.completion.command.tag] += static_cast<double>(event.completion.transferred());
        send(event.completion.command.tag);
    }
    for (double& b : bytes) b = b / static_cast<double>(host.now().count()) * 1e3;
    return bytes;
}

std::function<Step(Random&)> sequential(bool write, Blocks n, Lba start) {
    return [=, lba = start](Random&) mutable {
        const Step s{write, lba, n};
        lba += n;
        return s;
    };
}

std::function<Step(Random&)> random_all_over(double write_share, Blocks n, Blocks capacity) {
    return [=](Random& random) { return Step{random.chance(write_share), random.below(capacity / n) * n, n}; };
}

}
