#include "sgprobe/transport/virtual_host.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <csignal>

#include "scripted_target.h"
#include "sgprobe/transport/failure.h"
#include "sgprobe/transport/signals.h"

using namespace sgprobe;
using namespace sgprobe::tests;
using namespace std::chrono_literals;

namespace {

struct Bench {
    VirtualHost host;
    ScriptedTarget* target;
    std::unique_ptr<Drive> drive;
    explicit Bench(ScriptedTarget::Script script, unsigned depth = 1, VirtualHostOptions options = {}) : host(options) {
        auto owned = std::make_unique<ScriptedTarget>(std::move(script), depth);
        target = owned.get();
        drive = host.attach(std::move(owned), "sim:scripted");
    }
    Completion run(Bytes length = 4096) { return execute(host, *drive, read_command(length)); }
};

Answer good(const TargetCommand&, std::uint64_t) { return {}; }

}

TEST_CASE("virtual host: a completion moves the clock to the drive's time and by one turnaround") {
    Bench bench(good);
    const Completion first = bench.run();
    CHECK(first.outcome.good());
    CHECK(first.submitted == 0us);
    CHECK(first.finished == 1ms);
    CHECK(bench.host.now() == 1020us);
    const Completion second = bench.run();
    CHECK(second.latency() == 1ms);
    CHECK(bench.host.now() == 2040us);
}

TEST_CASE("virtual host: the turnaround can be set") {
    Bench bench(good, 1, {.turnaround = 0ns});
    bench.run();
    CHECK(bench.host.now() == 1ms);
}

TEST_CASE("virtual host: a command without an answer times out and is aborted, the clock at submit + timeout") {
    Bench bench([](const TargetCommand&, std::uint64_t i) { return Answer{.never = i == 1}; });
    bench.run();
    const Nanoseconds before = bench.host.now();
    const Completion lost = bench.run();
    CHECK(lost.outcome.kind == Outcome::Kind::time_out);
    CHECK(lost.resid == 4096);
    CHECK(lost.data().empty());
    CHECK(bench.host.now() == before + 60s);
    REQUIRE(bench.target->aborted.size() == 1);
    CHECK(bench.target->aborted[0] == std::pair<std::uint64_t, Nanoseconds>(2, before + 60s));
    CHECK(bench.run().outcome.good());
}

TEST_CASE("virtual host: a command's own timeout goes before the host's") {
    Bench bench([](const TargetCommand&, std::uint64_t) { return Answer{.never = true}; });
    Command command = read_command(4096);
    command.timeout = 5s;
    CHECK(execute(bench.host, *bench.drive, std::move(command)).outcome.kind == Outcome::Kind::time_out);
    CHECK(bench.host.now() == 5s);
}

TEST_CASE("virtual host: an answer exactly at the timeout counts") {
    Bench bench([](const TargetCommand&, std::uint64_t) { return Answer{.takes = 60s}; });
    CHECK(bench.run().outcome.good());
    Bench late([](const TargetCommand&, std::uint64_t) { return Answer{.takes = 60s + 1ns}; });
    CHECK(late.run().outcome.kind == Outcome::Kind::time_out);
}

TEST_CASE("virtual host: a transfer past the limit is refused with EINVAL and never reaches the drive") {
    Bench bench(good);
    CHECK(bench.drive->limits().max_transfer_bytes == 32u << 20);
    CHECK(bench.run(32u << 20).outcome.good());
    const Completion refused = bench.run((32u << 20) + 512);
    CHECK(refused.outcome.kind == Outcome::Kind::os_refusal);
    CHECK(refused.outcome.os_errno == EINVAL);
    CHECK(refused.transferred() == 0);
    CHECK(bench.target->commands() == 1);
}

TEST_CASE("virtual host: a target's smaller limit holds, a greater one does not") {
    VirtualHost host;
    auto small = std::make_unique<ScriptedTarget>(good), great = std::make_unique<ScriptedTarget>(good);
    small->set_max_transfer_bytes(65536);
    great->set_max_transfer_bytes(1u << 30);
    CHECK(host.attach(std::move(small), "sim:a")->limits().max_transfer_bytes == 65536);
    CHECK(host.attach(std::move(great), "sim:b")->limits().max_transfer_bytes == 32u << 20);
}

TEST_CASE("virtual host: a buffer shorter than the transfer, and a write without data, are refused") {
    Bench bench(good);
    Command command = read_command(4096);
    command.data = Buffer::allocate(512);
    CHECK(execute(bench.host, *bench.drive, std::move(command)).outcome.os_errno == EINVAL);
    Command write = read_command(4096);
    write.direction = scsi::Direction::out;
    CHECK(execute(bench.host, *bench.drive, std::move(write)).outcome.os_errno == EFAULT);
}

TEST_CASE("virtual host: data, residual and sense come through") {
    Bench bench([](const TargetCommand&, std::uint64_t i) {
        return i == 0 ? Answer{.resid = 4094, .data = {1, 2, 3}}
                      : Answer{.status = scsi::Status::check_condition, .resid = 4096, .sense = {0x70, 0, 5}};
    });
    Command command = read_command(4096, 77);
    command.data = bench.drive->buffer(4096, BufferKind::indirect);
    Completion done = execute(bench.host, *bench.drive, std::move(command));
    CHECK(done.command.tag == 77);
    CHECK(done.transferred() == 2);
    REQUIRE(done.data().size() == 2);
    CHECK(done.data()[1] == 2);
    done = execute(bench.host, *bench.drive, std::move(done.command));
    CHECK(done.outcome.check_condition());
    CHECK(done.sense.view().size() == 3);
    CHECK(done.data().empty());
}

TEST_CASE("virtual host: past the target's depth commands wait in the host") {
    Bench bench(good, 2, {.turnaround = 0ns});
    for (std::uint64_t tag = 0; tag < 5; ++tag) bench.drive->submit(read_command(512, tag));
    CHECK(bench.target->commands() == 2);
    CHECK(bench.drive->outstanding() == 5);
    for (std::uint64_t tag = 0; tag < 5; ++tag) {
        const Event event = bench.host.wait(Host::never);
        REQUIRE(event.kind == Event::Kind::completion);
        CHECK(event.completion.command.tag == tag);
        CHECK(event.completion.latency() == (tag + 1) * 1ms);
    }
    CHECK(bench.drive->outstanding() == 0);
}

TEST_CASE("virtual host: of several drives the earliest completion comes first") {
    VirtualHost host({.turnaround = 0ns});
    auto slow = host.attach(std::make_unique<ScriptedTarget>([](auto&, auto) { return Answer{.takes = 5ms}; }), "sim:slow");
    auto fast = host.attach(std::make_unique<ScriptedTarget>([](auto&, auto) { return Answer{.takes = 2ms}; }), "sim:fast");
    slow->submit(read_command(512));
    fast->submit(read_command(512));
    std::string order;
    for (int i = 0; i < 8; ++i) {
        Event event = host.wait(Host::never);
        order += event.completion.drive == slow.get() ? 's' : 'f';
        event.completion.drive->submit(std::move(event.completion.command));
    }
    CHECK(order == "ffsffsff");
}

TEST_CASE("virtual host: a deadline comes when nothing happens before, and idle drives are told") {
    Bench bench(good);
    CHECK(bench.host.wait(3ms).kind == Event::Kind::deadline);
    CHECK(bench.host.now() == 3ms);
    CHECK(bench.target->idled_to == 3ms);
    bench.drive->submit(read_command(512));
    CHECK(bench.host.wait(3500us).kind == Event::Kind::deadline);
    CHECK(bench.host.wait(1s).kind == Event::Kind::completion);
    CHECK(bench.host.now() == 4020us);
}

TEST_CASE("virtual host: waiting for nothing for ever is a mistake of the caller, not a hang") {
    Bench bench(good);
    CHECK_THROWS_AS(bench.host.wait(Host::never), std::logic_error);
}

TEST_CASE("virtual host: a drive that vanishes fails what is outstanding and all that follows") {
    Bench bench(good, 4);
    bench.drive->submit(read_command(512));
    bench.drive->submit(read_command(512));
    bench.target->vanish("pulled out");
    for (int i = 0; i < 2; ++i) {
        const Event event = bench.host.wait(Host::never);
        CHECK(event.completion.outcome.kind == Outcome::Kind::gone);
        CHECK(event.completion.resid == 512);
    }
    CHECK(bench.drive->gone() == "pulled out");
    CHECK(bench.run().outcome.kind == Outcome::Kind::gone);
}

namespace {

// Answers the first command with whatever the test wants it to say.
struct LyingTarget : Target {
    TargetEvent answer;
    explicit LyingTarget(const TargetEvent& a) : answer(a) {}
    unsigned depth() const override { return 1; }
    Bytes max_transfer_bytes() const override { return 0; }
    void submit(const TargetCommand&) override {}
    TargetEvent wait(Nanoseconds, Nanoseconds) override { return answer; }
    void abort(std::uint64_t, Nanoseconds) override {}
    void idle(Nanoseconds) override {}
};

std::string gone_after(std::optional<TargetDone> done, Nanoseconds time = 0ns) {
    VirtualHost host;
    host.wait(1ms);
    auto drive = host.attach(std::make_unique<LyingTarget>(TargetEvent{done, time}), "sim:liar");
    CHECK(execute(host, *drive, read_command(512)).outcome.kind == Outcome::Kind::gone);
    return drive->gone();
}

}

TEST_CASE("virtual host: garbage from a target makes it gone, with the reason") {
    TargetDone done;
    done.id = 1;
    done.time = 2ms;
    done.id = 9;
    CHECK(gone_after(done) == "it answered command 9, which is not outstanding");
    done.id = 1;
    done.time = 1us;
    CHECK(gone_after(done) == "its time runs back: command 1 done at 1000 ns, after 1000000 ns");
    done.time = 1h;
    CHECK(gone_after(done).find("past the deadline") != std::string::npos);
    done.time = 2ms;
    done.resid = 513;
    CHECK(gone_after(done) == "it left 513 bytes of command 1, which asked for 512");
    CHECK(gone_after({}, 1us).find("runs back") != std::string::npos);
    CHECK(gone_after({}, 1500us) == "its time stands still");
}

TEST_CASE("execute: BUSY and TASK SET FULL are sent again with a growing pause") {
    Bench bench([](const TargetCommand&, std::uint64_t i) {
        return i == 0 ? Answer{.status = scsi::Status::busy} : i == 1 ? Answer{.status = scsi::Status::task_set_full} : Answer{};
    });
    CHECK(bench.run().outcome.good());
    CHECK(bench.target->commands() == 3);
    CHECK(bench.host.now() == 3 * 1020us + 1ms + 2ms);
}

TEST_CASE("execute: a drive that stays BUSY is given up at the command's timeout") {
    Bench bench([](const TargetCommand&, std::uint64_t) { return Answer{.status = scsi::Status::busy}; });
    const Completion done = bench.run();
    CHECK(done.outcome.status == scsi::Status::busy);
    CHECK(bench.host.now() <= 60s + 2ms);
    CHECK(bench.host.now() >= 59s);
}

TEST_CASE("execute: an interruption waits until the command is done") {
    Signals signals;
    VirtualHost host({}, &signals);
    auto drive = host.attach(std::make_unique<ScriptedTarget>(good), "sim:scripted");
    raise(SIGTERM);
    CHECK(execute(host, *drive, read_command(512)).outcome.good());
    const Event event = host.wait(Host::never);
    CHECK(event.kind == Event::Kind::interrupted);
    CHECK(event.signal == SIGTERM);
    CHECK(host.wait(1s).kind == Event::Kind::deadline);
}

TEST_CASE("virtual host: opening a scheme that nobody serves fails clearly") {
    VirtualHost host;
    CHECK_THROWS_WITH_AS(host.open(DriveSpec::parse("/dev/sg0")), "/dev/sg0: \"sg:\" cannot run in virtual time", Failure);
}
