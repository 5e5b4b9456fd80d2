#include "sgprobe/transport/command_queue.h"

#include <doctest/doctest.h>

#include "scripted_target.h"
#include "sgprobe/transport/virtual_host.h"

using namespace sgprobe;
using namespace sgprobe::tests;
using namespace std::chrono_literals;

namespace {

// A drive that takes `room` commands, 1 ms each in order, and answers TASK SET FULL at once to more.
struct FullTarget : ScriptedTarget {
    unsigned room, at_drive = 0, most = 0;
    explicit FullTarget(unsigned r) : ScriptedTarget([](auto&, auto) { return Answer{}; }, 256), room(r) {}
    std::deque<TargetDone> refused;
    void submit(const TargetCommand& command) override {
        if (at_drive < room) {
            most = std::max(most, ++at_drive);
            return ScriptedTarget::submit(command);
        }
        TargetDone full;
        full.id = command.id;
        full.time = command.time;
        full.status = scsi::Status::task_set_full;
        refused.push_back(full);
    }
    TargetEvent wait(Nanoseconds now, Nanoseconds deadline) override {
        TargetEvent event;
        if (!refused.empty()) {
            event.done = refused.front();
            event.done->time = event.time = std::max(now, refused.front().time);
            refused.pop_front();
            return event;
        }
        event = ScriptedTarget::wait(now, deadline);
        if (event.done) --at_drive;
        return event;
    }
};

}

TEST_CASE("command queue: every command comes out once, with its own tag, at the depth asked for") {
    VirtualHost host({.turnaround = 0ns});
    auto drive = host.attach(std::make_unique<ScriptedTarget>([](auto&, auto) { return Answer{}; }, 32), "sim:x");
    CommandQueue queue(host);
    std::vector<int> seen(100);
    std::uint64_t next = 0;
    while (next < 8) queue.submit(*drive, read_command(512, next++));
    while (queue.outstanding() > 0) {
        const Event event = queue.wait(Host::never);
        REQUIRE(event.kind == Event::Kind::completion);
        ++seen[event.completion.command.tag];
        if (next < 100) queue.submit(*drive, read_command(512, next++));
    }
    CHECK(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; }));
    CHECK(queue.counts(*drive).most_at_drive == 8);
    CHECK(queue.counts(*drive).mean_at_drive == doctest::Approx(8).epsilon(0.05));
    CHECK(host.now() == 100ms);
}

TEST_CASE("command queue: a full task set is flow control: counted, sent again, nothing lost, the drive kept full") {
    VirtualHost host({.turnaround = 0ns});
    auto owned = std::make_unique<FullTarget>(8);
    FullTarget& target = *owned;
    auto drive = host.attach(std::move(owned), "sim:full");
    CommandQueue queue(host);
    std::uint64_t next = 0, done = 0;
    while (next < 12) queue.submit(*drive, read_command(512, next++));
    while (queue.outstanding() > 0) {
        const Event event = queue.wait(Host::never);
        CHECK(event.completion.outcome.good());
        ++done;
        if (next < 1000) queue.submit(*drive, read_command(512, next++));
    }
    CHECK(done == 1000);
    CHECK(target.most == 8);
    const FlowCounts counts = queue.counts(*drive);
    CHECK(counts.task_set_full >= 4);
    CHECK(counts.task_set_full < 100);
    CHECK(counts.mean_at_drive > 7.5);
    CHECK(host.now() < 1010ms);
}

TEST_CASE("command queue: a drive that is BUSY for a while with nothing outstanding is asked again, ever less often") {
    VirtualHost host({.turnaround = 0ns});
    auto drive = host.attach(std::make_unique<ScriptedTarget>([](auto&, std::uint64_t i) {
        return Answer{.status = i < 10 ? scsi::Status::busy : scsi::Status::good};
    }), "sim:busy");
    CommandQueue queue(host);
    queue.submit(*drive, read_command(512, 5));
    const Event event = queue.wait(Host::never);
    CHECK(event.completion.outcome.good());
    CHECK(event.completion.submitted == 0ns);
    CHECK(event.completion.command.tag == 5);
    CHECK(queue.counts(*drive).busy == 10);
    CHECK(host.now() == 11ms + 127ms + 300ms);
}

TEST_CASE("command queue: flow control that outlasts the timeout comes out as what it is") {
    VirtualHost host;
    auto drive = host.attach(std::make_unique<ScriptedTarget>([](auto&, auto) { return Answer{.status = scsi::Status::busy}; }), "sim:busy");
    CommandQueue queue(host);
    Command command = read_command(512);
    command.timeout = 2s;
    queue.submit(*drive, std::move(command));
    CHECK(queue.wait(500ms).kind == Event::Kind::deadline);
    CHECK(host.now() == 500ms);
    const Event event = queue.wait(Host::never);
    CHECK(event.completion.outcome.status == scsi::Status::busy);
    CHECK(host.now() <= 2s);
}

TEST_CASE("command queue: a queue that ends takes what is outstanding with it") {
    VirtualHost host({.turnaround = 0ns});
    auto drive = host.attach(std::make_unique<ScriptedTarget>([](auto&, auto) { return Answer{}; }, 4), "sim:x");
    {
        CommandQueue queue(host);
        for (int i = 0; i < 4; ++i) queue.submit(*drive, read_command(512));
    }
    CHECK(drive->outstanding() == 0);
    CHECK(execute(host, *drive, read_command(512, 9)).command.tag == 9);
}
