// The SCSI side of a simulated drive: parses CDBs, answers everything that needs no media, and says what the rest asks of it.
#pragma once
#include "sgprobe/scsi/cdb.h"
#include "sgprobe/sim/content.h"
#include "sgprobe/sim/flash.h"
#include "sgprobe/sim/mode_pages.h"
#include "sgprobe/sim/model.h"
#include "sgprobe/transport/target.h"

namespace sgprobe::sim {

class LogicalUnit {
public:
    explicit LogicalUnit(const Model&);

    enum class Work : std::uint8_t { none, read, write, flush };   // what the media has to do before the command is done
    struct Reply {
        Work work = Work::none;
        bool moves_blocks = false;                // a READ or WRITE, whatever became of it: lba and blocks are its own
        Lba lba = 0;
        Blocks blocks = 0;
        bool force_media = false;                 // FUA
        bool settings_changed = false;
        Bytes transferred = 0;
        scsi::Status status = scsi::Status::good;
        SenseCode sense{};
        std::optional<std::uint64_t> information{};
        std::optional<scsi::AtaRegisters> ata{};  // in the sense data
    };
    Reply execute(const TargetCommand&);          // fills data_in; data written is kept where there is any
    SenseBytes sense_bytes(const Reply&) const;
    void attention(std::uint8_t asc, std::uint8_t ascq);   // reported with the next command that may report one
    void power_on();
    Settings settings() const { return modes_.settings(); }
    const ModePages& modes() const { return modes_; }
    Mapping& mapping() { return mapping_; }

private:
    Reply read_write(const TargetCommand&, const scsi::ReadWrite&);
    Reply inquiry(const TargetCommand&);
    Reply request_sense(const TargetCommand&);
    Reply read_capacity_10(const TargetCommand&);
    Reply service_action_in(const TargetCommand&);
    Reply mode_sense(const TargetCommand&);
    Reply mode_select(const TargetCommand&);
    Reply log_sense(const TargetCommand&);
    Reply report_luns(const TargetCommand&);
    Reply start_stop(const TargetCommand&);
    Reply synchronize(const TargetCommand&);
    Reply lba_status(const TargetCommand&) const;
    Reply unmap(const TargetCommand&);
    void blank_unmapped(Lba, std::span<std::uint8_t>) const;
    Reply ata_pass_through(const TargetCommand&);
    Reply ata_set_features(std::uint16_t feature, std::uint16_t count, bool& known);
    ByteVector identify() const;
    ByteVector smart_data(bool thresholds) const;
    void ata_information(ByteVector& data) const;
    void keep_state() const;
    static Reply refused(SenseCode);
    Reply give(const TargetCommand&, ByteView data, Bytes allocation) const;   // data cut to what was asked for
    bool vital_product_data(std::uint8_t page, ByteVector& data) const;
    bool log_page(std::uint8_t page, std::uint8_t subpage, ByteVector& data) const;

    const Model& model_;
    ModePages modes_;
    Mapping mapping_;
    bool started_ = true, smart_ = true;
    std::uint8_t apm_ = 0, aam_ = 0;              // ATA power and noise management: 0 is off
    std::optional<SenseCode> attention_;
    Content content_;
    struct Counts { std::uint64_t reads = 0, writes = 0, read_bytes = 0, written_bytes = 0; } counts_;
};

}
