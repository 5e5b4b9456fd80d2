// Drives a simulated drive for tests: VirtualHost, one drive, reads in a row.
#pragma once
#include <string>
#include <vector>

#include "sgprobe/sim/sim.h"
#include "sgprobe/transport/virtual_host.h"

namespace sgprobe::sim::test {

class Bench {
public:
    explicit Bench(const std::string& spec) : Bench(load_model(DriveSpec::parse(spec))) {}
    explicit Bench(const Model&);
    Completion send(const scsi::Cdb&, scsi::Direction = scsi::Direction::none, Bytes length = 0, bool with_data = true);
    ByteVector ask(const scsi::Cdb&, Bytes length = 4096);       // data of a command that must be GOOD
    Completion move(scsi::RwOpcode, Lba, Blocks, bool with_data = false);
    Completion read(Lba lba, Blocks n, bool with_data = false) { return move(scsi::RwOpcode::read16, lba, n, with_data); }
    double rate_mb_s(Blocks n, Bytes total, Lba start = 0);      // sequential reads, one after the other
    scsi::Status set(const std::string& key, std::uint64_t value, bool save = false);   // a field of the caching page
    std::uint64_t get(const std::string& key, scsi::PageControl = scsi::PageControl::current);
    double now_us() const { return static_cast<double>(host.now().count()) / 1e3; }

    Model model;
    VirtualHost host;
    std::unique_ptr<Drive> drive;
};

// The rows of one of the tables in tests/data/, fields split at commas.
std::vector<std::vector<std::string>> published(const std::string& file);

}
