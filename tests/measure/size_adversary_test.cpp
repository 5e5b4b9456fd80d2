// Drives made to mislead: each must get a true verdict.
#include <doctest/doctest.h>

#include "model_drive.h"
#include "sgprobe/measure/size.h"
#include "sgprobe/transport/failure.h"
#include "sgprobe/transport/virtual_host.h"

using namespace sgprobe;
using namespace sgprobe::measure;
using At = std::vector<std::uint64_t>;

namespace {
Result run(const model::Parameters& p, const SizeOptions& options = {}) {
    VirtualHost host;
    const auto drive = host.attach(std::make_unique<model::Drive>(p), "model");
    return measure_size(host, *drive, options, {});
}
At places(const Result& r) {
    At at;
    for (const Cliff& c : r.cliffs) at.push_back(c.last_good);
    return at;
}
TargetDone failed(Nanoseconds time, scsi::SenseKey key, std::uint8_t asc, std::uint8_t ascq) {
    TargetDone done;
    done.time = time + std::chrono::microseconds(300);
    done.status = scsi::Status::check_condition;
    done.sense = SenseBytes(scsi::build_fixed_sense(key, asc, ascq));
    return done;
}
}

TEST_CASE("size: cliffs at the edges of the grid and within its small sizes are found to the block") {
    for (const Blocks at : {9u, 20u, 33u, 64u, 100u, 127u, 128u, 1919u, 1920u, 1921u, 2040u, 2047u}) {
        model::Parameters p;
        p.cliffs = {{at, 4000}};
        p.seed = at;
        const Result r = run(p);
        CHECK_MESSAGE(places(r) == At{at}, "planted at " << at << ": " << r.reason);
    }
}

TEST_CASE("size: two cliffs within one interval of the grid are told apart") {
    model::Parameters p;
    p.cliffs = {{1050, 3000}, {1110, 4000}};
    CHECK(places(run(p)) == At{1050, 1110});
}

TEST_CASE("size: only one command in four loses time past the cliff, and the rate falls all the same") {
    model::Parameters p;
    p.cliffs = {{512, 8000, 1, 0.25}};
    CHECK(places(run(p)) == At{512});
}

TEST_CASE("size: a dip of one size, also the last, is no cliff") {
    for (const Blocks at : {256u, 1024u, 2048u}) {
        model::Parameters p;
        p.dips = {{at, 1.5}};
        const Result r = run(p);
        CHECK_MESSAGE(r.verdict == Verdict::clean, "at " << at << ": " << r.reason);
        bool noted = false;
        for (const SampleResult& s : r.samples) noted = noted || (s.transfer_blocks == at && s.note == "dip");
        CHECK_MESSAGE(noted, "at " << at);
    }
}

TEST_CASE("size: a rate that declines little by little has no cliff") {
    model::Parameters p;
    p.bend = [](Blocks n, double us) { return us * (1 + 0.4 * static_cast<double>(n) / 2048); };
    CHECK(run(p).verdict == Verdict::clean);
}

TEST_CASE("size: a bend between the overhead and the media rate is no cliff, wherever it lies") {
    for (const double bus : {101., 110., 150., 400.}) {
        for (const double overhead : {0., 100., 700., 2000.}) {
            model::Parameters p;
            p.bus_mb_s = bus;
            p.overhead_us = overhead;
            const Result r = run(p);
            CHECK_MESSAGE(r.verdict == Verdict::clean, "bus " << bus << " overhead " << overhead << ": " << r.reason);
        }
    }
}

TEST_CASE("size: requests that are faster past some size are no cliff") {
    model::Parameters p;
    p.bend = [](Blocks n, double us) { return n > 700 ? us : us + 4000; };
    CHECK(run(p).verdict == Verdict::clean);
}

TEST_CASE("size: zone borders inside the sweep are no cliff") {
    model::Parameters p;
    for (int i = 0; i < 60; ++i) p.zones.emplace_back(30'000 * i, 1 - 0.01 * i);
    CHECK(run(p).verdict == Verdict::clean);
}

TEST_CASE("size: a drive that prefetches only after ten commands in sequence is timed past them") {
    model::Parameters p;
    p.cold_commands = 10;
    p.cold_us = 8000;
    const Result clean = run(p);
    CHECK(clean.verdict == Verdict::clean);
    CHECK(clean.samples.back().rate_mb_s.median > 90);
    p.cliffs = {{777, 5000}};
    CHECK(places(run(p)) == At{777});
}

TEST_CASE("size: a revolution lost with every command is an overhead, no cliff") {
    model::Parameters p;
    p.overhead_us = 8333;
    CHECK(run(p).verdict == Verdict::clean);
}

TEST_CASE("size: tracks whose borders cost time are no cliff") {
    for (const double track : {600., 1000., 1024., 2100.}) {
        model::Parameters p;
        p.track_blocks = track;
        p.track_us = 1500;
        const Result r = run(p);
        CHECK_MESSAGE(r.verdict == Verdict::clean, "track " << track << ": " << r.reason);
    }
}

TEST_CASE("size: on a drive that emulates 512-byte blocks misalignment is not taken for the cliff") {
    model::Parameters p;
    p.physical_exponent = 3;
    p.misaligned_factor = 1.3;
    CHECK(run(p).verdict == Verdict::clean);
    p.cliffs = {{600, 6000}};
    CHECK(places(run(p)) == At{600});
    p.cliffs = {{603, 6000}};
    CHECK(places(run(p)) == At{603});
}

TEST_CASE("size: blocks of 4096 and of 520 bytes are measured in their own measure") {
    model::Parameters p;
    p.block_bytes = 4096;
    p.cliffs = {{77, 4000}};
    CHECK(places(run(p)) == At{77});
    p.block_bytes = 520;
    p.cliffs = {{513, 4000}};
    const Result r = run(p);
    CHECK(places(r) == At{513});
    CHECK(r.samples.front().transfer_bytes == 8 * 520);
}

TEST_CASE("size: a host that carries 64 KiB at most is measured up to that") {
    model::Parameters p;
    p.max_transfer_bytes = 65536;
    const Result clean = run(p);
    CHECK(clean.verdict == Verdict::clean);
    CHECK(clean.samples.back().transfer_blocks == 128);
    p.cliffs = {{50, 2000}};
    CHECK(places(run(p)) == At{50});
}

TEST_CASE("size: a tiny disk is no reason for a guess") {
    model::Parameters p;
    p.blocks = 16384;
    const Result r = run(p);
    CHECK(r.verdict == Verdict::inconclusive);
    CHECK(r.reason.find("media") != std::string::npos);
}

TEST_CASE("size: a slow bus takes no longer than the budget allows") {
    model::Parameters p;
    p.rate_mb_s = 1;
    const Result clean = run(p);
    CHECK(clean.verdict == Verdict::clean);
    CHECK(*clean.virtual_time_s < 63);
    p.cliffs = {{512, 400000}};
    const Result cliff = run(p);
    CHECK(cliff.verdict == Verdict::cliff);
    CHECK(*cliff.virtual_time_s < 63);
}

TEST_CASE("size: a budget too small for an answer is said to be") {
    SizeOptions options;
    options.budget = std::chrono::milliseconds(300);
    model::Parameters p;
    p.cliffs = {{512, 4000}};
    const Result r = run(p, options);
    CHECK(r.verdict == Verdict::inconclusive);
    CHECK(r.reason.find("budget") != std::string::npos);
    CHECK(*r.virtual_time_s < 0.6);
}

TEST_CASE("size: unit attentions, medium errors and aborted commands spoil samples, which are redone and counted") {
    model::Parameters p;
    p.cliffs = {{512, 4000}};
    p.fault = [](std::uint64_t n, const scsi::ReadWrite&, Nanoseconds t) -> std::optional<TargetDone> {
        if (n % 97 == 0) return failed(t, scsi::SenseKey::unit_attention, 0x29, 0x02);
        if (n % 89 == 0) return failed(t, scsi::SenseKey::medium_error, 0x11, 0x00);
        if (n % 83 == 0) return failed(t, scsi::SenseKey::aborted_command, 0x4b, 0x03);
        if (n % 79 == 0) return failed(t, scsi::SenseKey::unit_attention, 0x2a, 0x01);
        return {};
    };
    const Result r = run(p);
    CHECK(places(r) == At{512});
    std::uint64_t redone = 0, errors = 0;
    for (const SampleResult& s : r.samples) { redone += s.redone; errors += s.errors; }
    CHECK(redone > 0);
    CHECK(errors > 0);
    CHECK(r.notes.size() >= 2);
}

TEST_CASE("size: a size that the drive refuses is left out, and the rest is judged") {
    model::Parameters p;
    p.fault = [](std::uint64_t, const scsi::ReadWrite& rw, Nanoseconds t) -> std::optional<TargetDone> {
        if (rw.blocks > 1024) return failed(t, scsi::SenseKey::illegal_request, 0x24, 0x00);
        return {};
    };
    const Result r = run(p);
    CHECK(r.verdict == Verdict::clean);
    CHECK(r.samples.back().rate_mb_s.median == 0);
    CHECK(!r.samples.back().note.empty());
}

TEST_CASE("size: BUSY for a while is flow control, not a slow drive") {
    model::Parameters p;
    p.fault = [](std::uint64_t n, const scsi::ReadWrite& rw, Nanoseconds t) -> std::optional<TargetDone> {
        if (rw.blocks <= 512 || n % 3 != 0) return {};
        TargetDone done;
        done.time = t + std::chrono::microseconds(50);
        done.status = scsi::Status::task_set_full;
        return done;
    };
    const Result r = run(p);
    CHECK(r.verdict == Verdict::clean);
    CHECK(r.samples.back().task_set_full > 0);
}

TEST_CASE("size: commands that never end finish the run with what was measured") {
    model::Parameters p;
    p.fault = [](std::uint64_t n, const scsi::ReadWrite&, Nanoseconds t) -> std::optional<TargetDone> {
        if (n < 400) return {};
        TargetDone done;
        done.time = t + std::chrono::hours(1);
        return done;
    };
    const Result r = run(p);
    CHECK(r.verdict == Verdict::inconclusive);
    CHECK(r.reason.find("tim") != std::string::npos);
    CHECK(r.samples.size() == 20);
}

TEST_CASE("size: sizes that cannot be sent are refused in one line before anything is measured") {
    SizeOptions options;
    options.sizes_bytes = {1000};
    CHECK_THROWS_AS(run({}, options), Failure);
    options.sizes_bytes = {64u << 20};
    CHECK_THROWS_AS(run({}, options), Failure);
    options.sizes_bytes = {4096};
    options.start = Lba{1} << 40;
    CHECK_THROWS_AS(run({}, options), Failure);
    options.start = 0;
    options.opcode = scsi::RwOpcode::write10;
    CHECK_THROWS_AS(run({}, options), Failure);
}
