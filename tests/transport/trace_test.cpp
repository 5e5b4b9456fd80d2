#include <doctest/doctest.h>

#include <cerrno>

#include "scripted_target.h"
#include "sgprobe/scsi/sense.h"
#include "sgprobe/transport/failure.h"
#include "sgprobe/transport/trace_host.h"
#include "sgprobe/transport/trace_recorder.h"
#include "sgprobe/transport/virtual_host.h"

using namespace sgprobe;
using namespace sgprobe::tests;
using namespace std::chrono_literals;

namespace {

const DriveSpec scripted = DriveSpec::parse("sim:scripted,seed=1");

Answer varied(const TargetCommand& command, std::uint64_t i) {
    switch (i % 6) {
        case 1: return {.status = scsi::Status::check_condition, .resid = command.length, .sense = scsi::build_fixed_sense(scsi::SenseKey::medium_error, 0x11, 0, 5)};
        case 2: return {.resid = command.length - 4, .data = {0xde, 0xad, 0xbe, 0xef}};
        case 3: return {.never = true};
        case 4: return {.status = scsi::Status::task_set_full};
        default: return {.takes = 1ms + Nanoseconds(static_cast<std::int64_t>(i))};
    }
}

// What a run sees, in words: two replays are the same run if these are the same.
std::string run(Host& host, Drive& drive, unsigned commands = 12) {
    std::string seen = std::to_string(drive.limits().depth) + drive.spec().scheme + (host.is_virtual() ? "v" : "r");
    const auto tell = [&](const Event& event) {
        const Completion& c = event.completion;
        seen += "\n" + std::to_string(static_cast<int>(event.kind)) + " " + std::to_string(host.now().count());
        if (event.kind != Event::Kind::completion) return;
        for (const auto number : {c.command.tag, static_cast<std::uint64_t>(c.outcome.kind), static_cast<std::uint64_t>(c.outcome.status),
                                  static_cast<std::uint64_t>(c.outcome.os_errno), c.resid, static_cast<std::uint64_t>(c.submitted.count()),
                                  static_cast<std::uint64_t>(c.finished.count())}) {
            seen += " " + std::to_string(number);
        }
        for (const std::uint8_t byte : c.data()) seen += "," + std::to_string(byte);
        for (const std::uint8_t byte : c.sense.view()) seen += ";" + std::to_string(byte);
    };
    for (std::uint64_t tag = 0; tag < commands; tag += 2) {
        for (const std::uint64_t t : {tag, tag + 1}) {
            Command command = read_command(512 * (t + 1), t);
            command.data = drive.buffer(command.length, BufferKind::indirect);
            drive.submit(std::move(command));
        }
        while (drive.outstanding() > 0) tell(host.wait(host.now() + 10s));
        tell(host.wait(host.now() + 5ms));
    }
    return seen + drive.gone() + std::to_string(drive.counters().available);
}

struct Recorded {
    std::string file, seen;
    explicit Recorded(ScriptedTarget::Script script = varied, const TraceRecorderOptions& options = {}) {
        auto within = std::make_unique<VirtualHost>();
        within->add_scheme("sim", [=](const DriveSpec&) { return std::make_unique<ScriptedTarget>(script, 2); });
        TraceRecorder host(std::move(within), [this](std::string_view piece) { file += piece; }, options);
        const auto drive = host.open(scripted);
        seen = run(host, *drive);
    }
    std::string replayed() const { return replay(file); }
    static std::string replay(const std::string& file, unsigned commands = 12) {
        TraceHost host(file, "trace:x");
        const auto drive = host.open(DriveSpec::parse("trace:x"));
        CHECK(drive->name() == "trace:x");
        return run(host, *drive, commands);
    }
};

std::string gone_after(const std::string& file) {
    TraceHost host(file, "trace:x");
    const auto drive = host.open(DriveSpec::parse("trace:x"));
    run(host, *drive);
    return drive->gone();
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
    REQUIRE(text.find(what) != text.npos);
    return text.replace(text.find(what), what.size(), with);
}

}

TEST_CASE("trace: a run is replayed exactly: outcomes, sense, data, residuals, time-outs and every time") {
    const Recorded recorded;
    CHECK(recorded.seen.find("222,173") != std::string::npos);
    CHECK(recorded.replayed() == recorded.seen);
}

TEST_CASE("trace: the file is as its page says") {
    const Recorded recorded([](auto&, auto) { return Answer{}; }, {.run = "sgprobe size sim:x"});
    CHECK(recorded.file.starts_with(
        "sgprobe-trace 1\n"
        "run sgprobe size sim:x\n"
        "host virtual 60000000000 0\n"
        "drive 0 sim:scripted,seed=1 sim 2 33554432 indirect\n"
        "submit 0 0 28000000000000000100 in 512 0 simple kept -\n"
        "submit 0 1 28000000000000000200 in 1024 0 simple kept -\n"
        "now 1020000\n"
        "done 0 0 0 1000000 status:0 0 - -\n"));
    CHECK(recorded.file.ends_with("\ndeadline\ncounters 0 none\nend\n"));
}

TEST_CASE("trace: refusals, host errors and a drive that vanishes are replayed with the reason") {
    Recorded recorded;
    std::string file = replaced(recorded.file, "done 0 0 0 1000000 status:0 0 - -", "done 0 0 0 1000000 host:8:0 512 - -");
    CHECK(Recorded::replay(file).find(" 2 0 0 512 0 1000000") != std::string::npos);
    file = replaced(recorded.file, "done 0 0 0 1000000 status:0 0 - -", "done 0 0 0 1000000 refused:22 512 - -");
    CHECK(Recorded::replay(file).find(" 3 0 22 512 0 1000000") != std::string::npos);
    file = replaced(recorded.file, "done 0 0 0 1000000 status:0 0 - -", "gone 0 pulled%20out\ndone 0 0 0 1000000 gone:19 512 - -");
    CHECK(Recorded::replay(file).find("pulled out") != std::string::npos);
}

TEST_CASE("trace: a run that goes another way finds its drive gone, and the message shows both ways") {
    const Recorded recorded(varied, {.run = "sgprobe size --rounds=2 sim:x"});
    const std::string other = replaced(recorded.file, "submit 0 1 28000000000000000200", "submit 0 1 28000000000000001000");
    CHECK(gone_after(other) ==
          "line 6 of the trace: the recorded run went another way than this one, which sends READ(10) of 2 blocks at 0, where READ(10) of 16 "
          "blocks at 0 was recorded; it was recorded by: sgprobe size --rounds=2 sim:x");
    const std::string longer = Recorded::replay(recorded.file, 14);
    CHECK(longer.find("went another way") != std::string::npos);
}

TEST_CASE("trace: one that was cut short anywhere ends with the drive gone, never with a crash or a hang") {
    const Recorded recorded;
    const std::size_t last = recorded.file.find("counters");   // what follows it the run does not need
    for (std::size_t size = 0; size < last; size += 7) {
        try {
            const std::string why = gone_after(recorded.file.substr(0, size));
            CHECK(why != "");
        } catch (const Failure& failure) {
            CHECK((failure.status() == 97 || failure.status() == 31));
        }
    }
}

TEST_CASE("trace: lines out of form are refused with the line's number") {
    const Recorded recorded;
    for (const std::string bad : {"done 0 0 0 1000000 status:256 0 - -", "done 0 0 0 1000000 status:0 513 - -", "done 0 0 0 -1 status:0 0 - -",
                                  "done 0 7 0 1000000 status:0 0 - -", "done 0 0 0 1000000 status:0 0 - 00", "done 0 0 0 1000000 status:0 0 7 -",
                                  "done 0 0 0 1000000 ok 0 - -", "done 0 0 0 1000000 status:0 0 - - -", "dome", "interrupted x", "drive 0 a sim 0 0 mmap"}) {
        CAPTURE(bad);
        const std::string why = gone_after(replaced(recorded.file, "done 0 0 0 1000000 status:0 0 - -", bad));
        CHECK(why.starts_with("line 7"));
    }
    CHECK_THROWS_AS(TraceHost("", "trace:x"), Failure);
    CHECK_THROWS_AS(TraceHost("hello 1\n", "trace:x"), Failure);
    CHECK_THROWS_AS(TraceHost("sgprobe-trace 2\n", "trace:x"), Failure);
    CHECK_THROWS_AS(TraceHost("sgprobe-trace 1\nend\n", "trace:x"), Failure);
}

TEST_CASE("trace: more drives than were recorded are refused") {
    const Recorded recorded;
    TraceHost host(recorded.file, "trace:x");
    const auto one = host.open(DriveSpec::parse("trace:x"));
    CHECK_THROWS_WITH_AS(host.open(DriveSpec::parse("trace:x")), "trace:x: the recorded run had 1 drive, and this would be one more", Failure);
}

TEST_CASE("trace: an interruption during a command comes again where the run saw it") {
    std::string file =
        "sgprobe-trace 1\nhost virtual 60000000000 0\ndrive 0 x sim 1 0 indirect\nsubmit 0 0 28000000000000000100 in 512 0 simple unread -\n"
        "interrupted 2\nnow 20\ndone 0 0 0 10 status:0 0 - -\ninterrupted 2\nend\n";
    TraceHost host(file, "trace:x");
    const auto drive = host.open(DriveSpec::parse("trace:x"));
    CHECK(execute(host, *drive, read_command(512)).outcome.good());
    CHECK(host.wait(1s).signal == 2);
    CHECK(host.now() == 20ns);
}

TEST_CASE("trace: anonymous traces hold no name and no serial number, and the run itself sees them") {
    const std::string secret = "S3ECRET7";
    const auto serial = [&](const TargetCommand&, std::uint64_t) {
        const std::string page = std::string("\0\x80\0\x08", 4) + secret;
        return Answer{.data = ByteVector(page.begin(), page.end())};
    };
    std::string file;
    auto within = std::make_unique<VirtualHost>();
    within->add_scheme("sim", [=](const DriveSpec&) { return std::make_unique<ScriptedTarget>(serial); });
    {
        TraceRecorder host(std::move(within), [&](std::string_view piece) { file += piece; }, {.run = "", .anonymous = true});
        const auto drive = host.open(scripted);
        Command command;
        command.cdb = scsi::inquiry_vpd(0x80, 12);
        command.direction = scsi::Direction::in;
        command.length = 12;
        command.data = drive->buffer(12, BufferKind::indirect);
        const Completion done = execute(host, *drive, std::move(command));
        CHECK(std::equal(secret.begin(), secret.end(), done.data().begin() + 4));
    }
    CHECK(file.find("5333454352455437") == std::string::npos);
    CHECK(file.find("0080000858585858") != std::string::npos);
    CHECK(file.find("scripted") == std::string::npos);
}
