// tcmu-serve DEVICE SIMULATED-DRIVE [STRETCH]: a simulated drive behind target_core_user's ring DEVICE ("/dev/uio0"), in real
// time, every virtual second lasting STRETCH real ones. Runs until it is killed.
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "sgprobe/sim/sim.h"
#include "tcmu_server.h"

int main(int argc, char** argv) try {
    if (argc < 3) {
        std::fprintf(stderr, "tcmu-serve DEVICE SIMULATED-DRIVE [STRETCH]\n");
        return 1;
    }
    using namespace sgprobe;
    const auto target = sim::make_target(DriveSpec::parse(argv[2]));
    kernel::Ring ring(argv[1]);
    kernel::Server server(ring, *target, argc > 3 ? std::atof(argv[3]) : 1.0);
    for (;;) server.step();
} catch (const std::exception& failure) {
    std::fprintf(stderr, "tcmu-serve: %s\n", failure.what());
    return 1;
}
