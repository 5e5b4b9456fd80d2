// A drive that is being driven past its limits: every command counted, time-outs survived, the drive waited for or opened again.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "sgprobe/measure/limits.h"
#include "sgprobe/scsi/inquiry.h"

namespace sgprobe::measure {

struct LimitFacts {
    scsi::Inquiry inquiry;
    bool ata = false;                      // behind a SCSI/ATA translation
    Blocks blocks = 0;
    Bytes block_bytes = 0;
    std::string serial;
    std::optional<unsigned> rotation_rpm;
    DeclaredLimits declared;
};

class LimitDrive {
public:
    LimitDrive(Host&, Drive&, const LimitsOptions&, LimitsFinding& ledger);

    const LimitFacts& learn();             // INQUIRY, capacity, VPD pages; throws Failure where the drive cannot be measured
    const LimitFacts& facts() const { return facts_; }
    Host& host() { return host_; }
    Drive& drive() const { return *drive_; }
    unsigned max_timeouts() const { return max_timeouts_; }

    bool over();                           // interrupted, budget spent, time-outs spent, drive gone
    Completion run(Command&&);             // one command, as it comes back; unit attentions of others' doing are taken and it is sent again
    void come_back(const Completion&);     // after what may have shaken the drive: waits until it answers, opens it again where it had gone
    bool lost() const { return ledger_.gone.has_value(); }

private:
    Completion ask(const scsi::Cdb&, Bytes, const std::string& tried, bool needed);
    std::optional<ByteVector> page(std::uint8_t code);
    bool ready();                          // TEST UNIT READY, until GOOD or a minute has gone by
    bool same_drive();
    bool reopen();
    void pause(Nanoseconds);
    void declare(const std::optional<ByteVector>& block_limits);

    Host& host_;
    Drive* drive_;
    std::unique_ptr<Drive> reopened_;
    const LimitsOptions& options_;
    LimitsFinding& ledger_;
    LimitFacts facts_;
    ByteVector identity_;
    unsigned max_timeouts_;
    Nanoseconds end_;
    unsigned reopenings_ = 0;
};

bool unit_attention(const Completion&, bool reset_only = false);

}
