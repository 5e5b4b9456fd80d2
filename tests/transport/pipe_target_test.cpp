#include "sgprobe/transport/pipe_target.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "scripted_target.h"
#include "sgprobe/transport/describe.h"
#include "sgprobe/transport/failure.h"
#include "sgprobe/transport/signals.h"
#include "sgprobe/transport/virtual_host.h"

using namespace sgprobe;
using namespace sgprobe::tests;
using namespace std::chrono_literals;

namespace {

const std::string python_model = "pipe:/usr/bin/python3 tests/transport/models/model.py";

struct PipeBench {
    VirtualHost host;
    std::unique_ptr<Drive> drive;
    explicit PipeBench(const std::string& name, Nanoseconds silence = 10s, Signals* signals = nullptr) : host({}, signals) {
        host.add_scheme("pipe", [=](const DriveSpec& spec) { return open_pipe(spec, {silence, signals}); });
        drive = host.open(DriveSpec::parse(name));
    }
    Completion run(Bytes length = 4096, bool keep = true) {
        Command command = read_command(length);
        if (keep) command.data = drive->buffer(length, BufferKind::indirect);
        return execute(host, *drive, std::move(command));
    }
};

// A model in shell: `say` answers the n-th line that came.
std::string shell(const std::string& script) { return "pipe:say() { printf '%s\\n' \"$*\"; }; hear() { read -r a b c d; }; " + script; }
std::string after_hello(const std::string& script) { return shell("hear; say hello 1; hear; hear; " + script); }

// How opening fails: status and message.
std::pair<int, std::string> refusal(const std::string& name, Nanoseconds silence = 5s) {
    try {
        PipeBench bench(name, silence);
    } catch (const Failure& failure) {
        return {failure.status(), failure.what()};
    }
    return {0, "was taken"};
}

std::string gone_after(const std::string& script, Nanoseconds silence = 5s) {
    PipeBench bench(after_hello(script), silence);
    CHECK(bench.run(512).outcome.kind == Outcome::Kind::gone);
    CHECK(bench.run(512).outcome.kind == Outcome::Kind::gone);
    return bench.drive->gone();
}

bool contains(const std::string& text, const std::string& part) {
    if (text.find(part) != text.npos) return true;
    MESSAGE(text);
    return false;
}

}

TEST_CASE("pipe: a Python model answers, and time and data are its own") {
    PipeBench bench(python_model + " depth=4 max_transfer=1048576 data");
    CHECK(bench.drive->limits().depth == 4);
    CHECK(bench.drive->limits().max_transfer_bytes == 1048576);
    const Completion done = bench.run(4096);
    CHECK(done.outcome.good());
    CHECK(done.latency() == 50000ns + 40960ns);
    REQUIRE(done.data().size() == 4096);
    CHECK(done.data()[512 + 7] == 1);
    CHECK(bench.host.now() == 50000ns + 40960ns + 20us);
}

TEST_CASE("pipe: sense and residual come through, and unread data is not kept") {
    PipeBench bench(python_model);
    Command command = read_command(512);
    command.cdb.bytes[2] = 0xff;
    const Completion done = execute(bench.host, *bench.drive, std::move(command));
    CHECK(done.outcome.check_condition());
    CHECK(done.resid == 512);
    CHECK(contains(describe(done), "Illegal Request, 21h/00h"));
    CHECK(bench.run(65536, false).outcome.good());
}

TEST_CASE("pipe: the lines that a model gets are those of the protocol") {
    char folder[] = "/tmp/sgprobe-pipe-XXXXXX";
    REQUIRE(mkdtemp(folder) != nullptr);
    const std::string log = std::string(folder) + "/log";
    {
        PipeBench bench(python_model + " log=" + log);
        bench.run(512);
        bench.host.wait(1ms);
        Command write = read_command(4);
        write.direction = scsi::Direction::out;
        write.data = bench.drive->buffer(4, BufferKind::indirect);
        write.data.bytes()[3] = 0xfe;
        write.timeout = 1ns;
        execute(bench.host, *bench.drive, std::move(write));
    }
    std::ifstream file(log);
    std::stringstream text;
    text << file.rdbuf();
    CHECK(text.str() ==
          "hello 1\n"
          "submit 1 0 28000000000000000100 in 512\n"
          "wait 0 60000000000\n"
          "idle 1000000\n"
          "submit 2 1000000 28000000000000000000 out 4 000000fe\n"
          "wait 1000000 1000001\n"
          "abort 2 1000001\n"
          "bye\n");
    std::filesystem::remove_all(folder);
}

TEST_CASE("pipe: a model that never starts, dies, babbles or keeps silent at hello is refused with a clear message") {
    auto [status, message] = refusal("pipe:/no/such/model 2>/dev/null");
    CHECK(status == 15);
    CHECK(contains(message, "the model ended with exit status 127 before it answered \"hello 1\""));
    std::tie(status, message) = refusal(shell("hear; kill -9 $$"));
    CHECK(status == 15);
    CHECK(contains(message, "was killed by signal 9 (Killed)"));
    std::tie(status, message) = refusal(shell("hear; say 'hi \"there\"'; hear"));
    CHECK(status == 97);
    CHECK(contains(message, "the model answered \"hi \\x22there\\x22\" where \"hello 1 [depth=N] [max_transfer=BYTES]\" was expected"));
    std::tie(status, message) = refusal(shell("hear; sleep 60"), 50ms);
    CHECK(status == 33);
    CHECK(contains(message, "the model said nothing for 0.05 s after \"hello 1\""));
    for (const std::string hello : {"hello 2", "hello 1 depth=0", "hello 1 depth=x", "hello 1  depth=2", "hello 1 max_transfer=4 depth=2", "hello 1 depth=2 x=1",
                                    "hello 1 depth=-1", "hello", "", "HELLO 1"}) {
        CAPTURE(hello);
        CHECK(refusal(shell("hear; say '" + hello + "'; hear")).first == 97);
    }
}

TEST_CASE("pipe: a model that fails in the middle of a run is gone, and the message quotes what came") {
    CHECK(contains(gone_after("exit 3"), "the model ended with exit status 3 before it answered \"wait\""));
    CHECK(contains(gone_after("exec >/dev/null; sleep 20", 3s), "the model closed its output before it answered \"wait\""));
    CHECK(contains(gone_after("sleep 60", 50ms), "the model said nothing for 0.05 s after \"wait\""));
    CHECK(contains(gone_after("say 'dune 1'; hear"), "the model answered \"dune 1\" where \"done ID"));
    CHECK(contains(gone_after("say 'done 9 5 0 0 - -'; hear"), "it answered command 9, which is not outstanding"));
    CHECK(contains(gone_after("say 'done 1 5 0 513 - -'; hear"), "it left 513 bytes of command 1, which asked for 512"));
    CHECK(contains(gone_after("say 'done 1 99000000000 0 0 - -'; hear"), "past the deadline"));
    CHECK(contains(gone_after("say 'done 1 5 0 0 - 00ff'; hear"), "4 hexadecimal digits of data for command 1, where LENGTH-RESID is 512 bytes"));
}

TEST_CASE("pipe: a line longer than any answer in form is cut off, not swallowed") {
    const std::string why = gone_after("yes | tr -d '\\n'");
    CHECK(contains(why, "with a line longer than any in form: \"yyyy"));
    CHECK(why.size() < 300);
}

TEST_CASE("pipe: data that is not hexadecimal makes the model gone where the data is read") {
    PipeBench bench(after_hello("say 'done 1 5 0 510 - 00fg'; hear"));
    CHECK(bench.run(512).outcome.kind == Outcome::Kind::gone);
    CHECK(contains(bench.drive->gone(), "not hexadecimal: \"00fg\""));
}

TEST_CASE("pipe: nothing of a model outlives the drive, children of the model included") {
    char folder[] = "/tmp/sgprobe-pipe-XXXXXX";
    REQUIRE(mkdtemp(folder) != nullptr);
    const std::string file = std::string(folder) + "/pid";
    {
        PipeBench bench(shell("sleep 1000 & echo $! >" + file + "; hear; say hello 1; hear"));
        CHECK(std::filesystem::exists(file));
    }
    pid_t child = 0;
    std::ifstream(file) >> child;
    REQUIRE(child > 1);
    for (int i = 0; i < 200 && kill(child, 0) == 0; ++i) {   // it is killed at once; whoever adopted it may take a moment to reap it
        std::ifstream stat("/proc/" + std::to_string(child) + "/stat");
        std::string text;
        std::getline(stat, text);
        if (text.find(") Z") != text.npos) break;
        usleep(1000);
    }
    std::ifstream stat("/proc/" + std::to_string(child) + "/stat");
    std::string text;
    std::getline(stat, text);
    CHECK((text.empty() || text.find(") Z") != text.npos));
    CHECK(waitpid(-1, nullptr, WNOHANG) == -1);   // no child of ours is left, not even a zombie
    std::filesystem::remove_all(folder);
}

TEST_CASE("pipe: a signal interrupts a run that waits for a slow model, and the answer still comes") {
    Signals signals;
    PipeBench bench(after_hello("kill -INT $PPID; sleep 0.2; say 'done 1 5000 0 0 - -'; hear"), 10s, &signals);
    bench.drive->submit(read_command(512));
    const Event event = bench.host.wait(Host::never);
    CHECK(event.kind == Event::Kind::interrupted);
    CHECK(event.signal == SIGINT);
    const Event later = bench.host.wait(Host::never);
    REQUIRE(later.kind == Event::Kind::completion);
    CHECK(later.completion.outcome.good());
    CHECK(later.completion.finished == 5us);
}

TEST_CASE("pipe: a second signal ends a model that keeps silent") {
    Signals signals;
    PipeBench bench(after_hello("kill -INT $PPID; sleep 0.1; kill -INT $PPID; sleep 60"), 10s, &signals);
    bench.drive->submit(read_command(512));
    CHECK(bench.host.wait(Host::never).kind == Event::Kind::interrupted);
    Event event = bench.host.wait(Host::never);
    if (event.kind == Event::Kind::interrupted) event = bench.host.wait(Host::never);
    CHECK(event.completion.outcome.kind == Outcome::Kind::gone);
    CHECK(contains(bench.drive->gone(), "interrupted while the model had not answered"));
}

TEST_CASE("pipe: a model that dies while much is written to it does not kill us") {
    PipeBench bench(shell("hear; say hello 1; exit 0"));
    Command write = read_command(1 << 20);
    write.direction = scsi::Direction::out;
    write.data = bench.drive->buffer(1 << 20, BufferKind::indirect);
    CHECK(execute(bench.host, *bench.drive, std::move(write)).outcome.kind == Outcome::Kind::gone);
    CHECK(contains(bench.drive->gone(), "ended with exit status 0"));
}

TEST_CASE("pipe: a megabyte goes to a model and comes back") {
    PipeBench bench(python_model + " data");
    const Completion done = bench.run(1 << 20);
    CHECK(done.outcome.good());
    REQUIRE(done.data().size() == 1 << 20);
    CHECK(done.data()[(1 << 20) - 1] == 0xff);
    CHECK(done.data()[(1 << 20) - 2] == 0x07);
}
