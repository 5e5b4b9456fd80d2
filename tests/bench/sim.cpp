// How many simulated commands a second go through the virtual host: sequential reads that nobody looks at, and a queue of 32.
#include <algorithm>
#include <ctime>
#include <cstdio>

#include "sgprobe/sim/random.h"
#include "sgprobe/sim/sim.h"
#include "sgprobe/transport/virtual_host.h"

using namespace sgprobe;

namespace {
double commands_per_second(const char* name, unsigned depth, bool random, unsigned commands) {
    VirtualHost host;
    const sim::Model model = sim::load_model(DriveSpec::parse(name));
    auto drive = host.attach(sim::make_target(model), name);
    sim::Random draw(1);
    const Blocks n = random ? 8 : 128;
    Lba next = 0;
    auto submit = [&] {
        Command command;
        const Lba lba = random ? draw.below(model.media.blocks / n) * n : next;
        next = (next + n) % (model.media.blocks / 2);
        command.cdb = *scsi::build({.opcode = scsi::RwOpcode::read10, .lba = lba, .blocks = n});
        command.direction = scsi::Direction::in;
        command.length = n * model.media.block_bytes;
        drive->submit(std::move(command));
    };
    const std::clock_t start = std::clock();   // of this process alone: other load on the machine does not count
    for (unsigned i = 0; i < depth; ++i) submit();
    for (unsigned done = 0; done < commands; ++done) {
        if (!host.wait(Host::never).completion.outcome.good()) return 0;
        submit();
    }
    return commands * static_cast<double>(CLOCKS_PER_SEC) / static_cast<double>(std::clock() - start);
}
}

int main() {
    struct Row { const char* drive; unsigned depth; bool random; double goal; };
    constexpr Row rows[] = {{"sim:atlas15k2-hpm5", 1, false, 1e6}, {"sim:atlas15k2-hpm5", 1, true, 0},
                            {"sim:atlas15k2-hpm5", 32, false, 3e5}, {"sim:atlas15k2-hpm5", 32, true, 3e5}};
    std::printf("%-20s %5s %-10s %14s %10s\n", "drive", "depth", "pattern", "commands/s", "goal");
    for (const Row& row : rows) {
        double best = 0;
        for (int i = 0; i < 3; ++i) best = std::max(best, commands_per_second(row.drive, row.depth, row.random, 300'000));
        std::printf("%-20s %5u %-10s %14.0f %10.0f\n", row.drive, row.depth, row.random ? "random" : "sequential", best, row.goal);
    }
}
