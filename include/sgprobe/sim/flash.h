// Media without arms: pages looked up on several channels, one data path, and blocks that nobody ever wrote.
#pragma once
#include <map>
#include <vector>

#include "sgprobe/sim/medium.h"
#include "sgprobe/sim/model.h"

namespace sgprobe::sim {

// Which blocks are mapped to flash. All are, but for the ranges that were unmapped and not written since.
class Mapping {
public:
    Mapping(const Flash&, Blocks capacity);
    bool mapped(Lba) const;
    Blocks run(Lba) const;                           // blocks from here on that are in the same state
    void map(Lba, Blocks);
    void unmap(Lba, Blocks);
private:
    std::map<Lba, Lba> holes_;                       // first to end
    Blocks capacity_;
};

class FlashMedium : public Medium {
public:
    FlashMedium(const Model&, Mapping&);
    void obey(const Settings& settings) override { settings_ = settings; }
    Served read(const Access&) override;
    Served write(const Access&) override;
    double flush(double start_ns) override;
    void reset(double) override {}
    double reach_ns(double, Lba) override { return 0; }
    bool streaming_at(double, Lba) const override { return false; }
    void stall(double ns) override { path_free_ns_ += ns; }
    void disturb(double now_ns, double busy_ns, Lba) override;

private:
    double& channel();                               // the one that is free first
    Served serve(const Access&, double look_up_us, double rate_mb_s);

    Flash flash_;
    Mapping& mapping_;
    Settings settings_;
    std::vector<double> channels_;
    double path_free_ns_ = 0, written_ns_ = 0;
    unsigned block_bytes_;
};

}
