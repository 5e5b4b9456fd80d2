#include <doctest/doctest.h>

#include "sgprobe/scsi/sense.h"
#include "workload.h"

using namespace sgprobe;
using namespace sgprobe::sim;
using namespace sgprobe::sim::test;
using std::chrono::microseconds;

namespace {
Model with_rule(const std::string& rule, const std::string& drive = "sim:atlas15k2-hpm5,noise=0") {
    const DriveSpec spec = DriveSpec::parse(drive);
    for (const BuiltinDrive& builtin : builtin_drives())
        if (builtin.name == spec.rest) return parse_model(std::string(builtin.content) + "\n[[rule]]\n" + rule, "rule.toml", spec.options);
    FAIL("no such drive");
    return {};
}
scsi::Sense sense(const Completion& done) { return scsi::parse_sense(done.sense.view()).value; }
}

TEST_CASE("a rule may refuse, cut short, delay or spoil what is larger than a size, for some commands only") {
    Bench refuses(with_rule("commands = [\"READ(10)\"]\nover_blocks = 128\nsense = \"5/24/00\""));
    CHECK(refuses.move(scsi::RwOpcode::read10, 0, 128).outcome.good());
    CHECK(sense(refuses.move(scsi::RwOpcode::read10, 0, 129)).is(scsi::SenseKey::illegal_request, 0x24, 0x00));
    CHECK(refuses.move(scsi::RwOpcode::read16, 0, 129).outcome.good());

    Bench cuts(with_rule("over_blocks = 64\ntransfer_blocks = 64"));
    CHECK(cuts.read(0, 100).resid == 36 * 512);

    Bench slow(with_rule("over_blocks = 256\nextra_us = 5000"));
    CHECK(slow.rate_mb_s(257, 20'000'000) == doctest::Approx(257 * 512 / (257 * 512 / 96.19 + 5000)).epsilon(0.02));
    CHECK(slow.rate_mb_s(256, 20'000'000, 1'000'000) > 95);

    Bench spoils(with_rule("over_blocks = 8\ndata = \"garbage\"\ndata_from_block = 8"));
    Bench clean("sim:atlas15k2-hpm5");
    const Completion bad = spoils.read(50, 9, true), again = spoils.read(50, 9, true), good = clean.read(50, 9, true);
    CHECK(bad.outcome.good());
    CHECK(std::equal(good.data().begin(), good.data().begin() + 4096, bad.data().begin()));
    CHECK_FALSE(std::equal(good.data().begin(), good.data().end(), bad.data().begin()));
    CHECK_FALSE(std::equal(again.data().begin(), again.data().end(), bad.data().begin()));

    Bench stale(with_rule("over_blocks = 8\ndata = \"stale\""));
    const Completion before = stale.read(1000, 4, true), late = stale.read(2000, 16, true);
    CHECK(std::equal(before.data().begin(), before.data().end(), late.data().begin()));
}

TEST_CASE("a command that is never answered times out, and the drive is back when it was aborted") {
    Bench bench(with_rule("over_blocks = 1024\nnever = true"));
    CHECK(bench.read(0, 1024).outcome.good());
    CHECK(bench.read(0, 1025).outcome.kind == Outcome::Kind::time_out);
    CHECK(bench.read(0, 1024).outcome.good());
}

TEST_CASE("a drive may answer after more than a minute, go away, or reset") {
    Bench late(with_rule("over_blocks = 1024\nextra_us = 70e6"));
    CHECK(late.read(0, 1025).outcome.kind == Outcome::Kind::time_out);
    CHECK(late.read(0, 8).outcome.good());
    Bench leaves(with_rule("over_blocks = 128\ngone = true"));
    CHECK(leaves.read(0, 128).outcome.good());
    CHECK(leaves.read(0, 129).outcome.kind == Outcome::Kind::gone);
    CHECK_FALSE(leaves.drive->gone().empty());
    Bench resets(with_rule("over_blocks = 128\nreset = true"));
    resets.set("DPTL", 100);
    CHECK(resets.read(0, 129).outcome.good());
    CHECK(sense(resets.read(0, 1)).is(scsi::SenseKey::unit_attention, 0x29, 0x02));
    CHECK(resets.get("DPTL") == 512);
}

TEST_CASE("rules are in force while settings are so: a pair cures only together") {
    const char* rule = "over_blocks = 256\nextra_turns = 1\nunless = {DPTL = 65535, MAPF = 65535}";
    Bench bench(with_rule(rule));
    auto rate = [&, at = Lba{0}]() mutable { return bench.rate_mb_s(300, 20'000'000, at += 1'000'000); };
    CHECK(rate() < 45);
    bench.set("DPTL", 65535);
    CHECK(rate() < 45);
    bench.set("MAPF", 65535);
    CHECK(rate() > 95);
    bench.set("DPTL", 512);
    CHECK(rate() < 45);
}

TEST_CASE("rules count, and happen by chance, at the rate that is written") {
    Bench third(with_rule("every = 3\nsense = \"b/00/00\""));
    unsigned failed = 0;
    for (int i = 0; i < 30; ++i) failed += !third.read(0, 8).outcome.good();
    CHECK(failed == 10);
    Bench chance(with_rule("probability = 0.05\nsense = \"b/00/00\""));
    failed = 0;
    for (int i = 0; i < 4000; ++i) failed += !chance.read(0, 8).outcome.good();
    CHECK(failed > 150);
    CHECK(failed < 250);
    Bench status(with_rule("over_blocks = 8\nstatus = 8"));
    CHECK(status.read(0, 9).outcome.status == scsi::Status::busy);
}

TEST_CASE("stream-first scheduling starves random reads beside a sequential stream, and an age limit ends that") {
    for (const bool limited : {false, true}) {
        Model model = Bench("sim:tcq-15k,noise=0").model;
        model.queue.policy = Queue::Policy::stream_first;
        model.queue.age_limit_us = limited ? 50'000 : 0;
        Bench bench(model);
        Lba next = 0;
        auto read = [&](Lba lba, Blocks n, std::uint64_t tag) {
            Command c;
            c.tag = tag;
            c.cdb = *scsi::build({.opcode = scsi::RwOpcode::read16, .lba = lba, .blocks = n});
            c.direction = scsi::Direction::in;
            c.length = n * 512;
            bench.drive->submit(std::move(c));
        };
        for (int i = 0; i < 2; ++i, next += 128) read(next, 128, 0);
        read(100'000'000, 8, 1);
        Nanoseconds random_done{0};
        for (int i = 0; i < 1000 && random_done == Nanoseconds{0}; ++i) {
            const Event event = bench.host.wait(Host::never);
            if (event.completion.command.tag == 1) random_done = event.completion.latency();
            else read(next, 128, 0), next += 128;
        }
        CHECK((random_done != Nanoseconds{0}) == limited);
        if (limited) CHECK(random_done < microseconds(70'000));
    }
}

TEST_CASE("ordered commands wait for those before them, head-of-queue ones for nobody") {
    Model model = Bench("sim:tcq-15k,noise=0").model;
    Bench bench(model);
    Random random(3);
    auto send = [&](std::uint64_t tag, TaskAttribute attribute) {
        Command c;
        c.tag = tag;
        c.attribute = attribute;
        c.cdb = *scsi::build({.opcode = scsi::RwOpcode::read16, .lba = random.below(100'000'000), .blocks = 8});
        c.direction = scsi::Direction::in;
        c.length = 4096;
        bench.drive->submit(std::move(c));
    };
    for (std::uint64_t i = 0; i < 8; ++i) send(i, TaskAttribute::simple);
    send(100, TaskAttribute::ordered);
    for (std::uint64_t i = 8; i < 16; ++i) send(i, TaskAttribute::simple);
    send(200, TaskAttribute::head_of_queue);
    std::vector<std::uint64_t> order;
    while (bench.drive->outstanding()) order.push_back(bench.host.wait(Host::never).completion.command.tag);
    REQUIRE(order.size() == 18);
    auto place = [&](std::uint64_t tag) { return std::find(order.begin(), order.end(), tag) - order.begin(); };
    CHECK(place(200) <= 1);
    for (std::uint64_t i = 0; i < 8; ++i) CHECK(place(i) < place(100));
    for (std::uint64_t i = 8; i < 16; ++i) CHECK(place(i) > place(100));
    bool reordered = false;
    for (std::uint64_t i = 1; i < 8; ++i) reordered = reordered || place(i) < place(i - 1);
    CHECK(reordered);
}

TEST_CASE("past its task set a drive answers TASK SET FULL, or BUSY, and takes commands again when some are done") {
    for (const bool busy : {false, true}) {
        Model model = Bench("sim:tcq-15k").model;
        model.queue.task_set = 8;
        model.queue.busy_when_full = busy;
        Bench within(model), past(model);
        CHECK(run(within, 8, 1, 500, random_all_over(0, 8, model.media.blocks)).task_set_full == 0);
        const Moved moved = run(past, 12, 1, 500, random_all_over(0, 8, model.media.blocks));
        CHECK(moved.task_set_full > 0);
        CHECK(moved.commands == 500);
    }
}

TEST_CASE("recalibration, other hosts' bursts and idle scans cost what the file says, when it says") {
    auto with = [](Background b) {
        Model m = Bench("sim:atlas15k2-hpm5,noise=0").model;
        m.background.push_back(b);
        return m;
    };
    Bench recalibrates(with({10, 0, 0, 300'000, 1, true}));
    double worst = 0;
    unsigned slow = 0;
    for (Lba at = 0; recalibrates.now_us() < 35e6; at += 512) {
        const double us = static_cast<double>(recalibrates.read(at, 512).latency().count()) / 1e3;
        worst = std::max(worst, us);
        slow += us > 200'000;
    }
    CHECK(slow == 3);
    CHECK(worst > 300'000);
    Bench scans(with({0, 0, 0.5, 50'000, 1, true}));
    const double streaming = scans.rate_mb_s(128, 50'000'000);
    CHECK(streaming > 95);
    scans.host.wait(scans.host.now() + std::chrono::seconds(1));
    CHECK(scans.read(3'000'000, 8).latency() > microseconds(4'000));
}

TEST_CASE("drift slows every command by its share, streaming ones too") {
    Model model = Bench("sim:atlas15k2-hpm5,noise=0").model;
    model.noise.scale = 1;
    model.noise.jitter = model.noise.slow_probability = 0;
    model.noise.drift = 0.25;
    model.noise.drift_s = 5;
    Bench bench(model);
    CHECK(bench.rate_mb_s(512, 20'000'000) > 94);
    bench.host.wait(bench.host.now() + std::chrono::seconds(6));
    CHECK(bench.rate_mb_s(512, 50'000'000, 10'000'000) == doctest::Approx(96.2 / 1.25).epsilon(0.03));
}
