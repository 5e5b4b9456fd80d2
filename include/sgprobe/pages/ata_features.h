// The settings of an ATA drive behind a SCSI/ATA translation: IDENTIFY DEVICE and SET FEATURES through ATA PASS-THROUGH (16), or (12)
// where that is not known. SAT-4 12.2, ACS-3 7.45.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sgprobe/scsi/identify.h"
#include "sgprobe/transport/drive.h"

namespace sgprobe::pages {

struct AtaFeatureRow {                            // the one list
    std::string_view key, name;
    std::uint8_t on, off;                         // subcommands of SET FEATURES
    bool levels;                                  // on takes a level in the count register
    std::uint64_t greatest;                       // 0 is off
    std::optional<scsi::Feature> scsi::Identify::* state;
    std::optional<std::uint8_t> scsi::Identify::* level;
};
std::span<const AtaFeatureRow> ata_feature_rows();
const AtaFeatureRow* ata_feature(std::string_view key);

class AtaFeatures {
public:
    AtaFeatures(Host& host, Drive& drive) : host_(host), drive_(drive) {}
    // IDENTIFY data that two readings agree on; nothing where the drive does not take ATA PASS-THROUGH. Throws Failure without an answer.
    std::optional<scsi::Identify> identify();
    static std::optional<std::uint64_t> value(const AtaFeatureRow&, const scsi::Identify&);   // nothing where not supported or not said
    std::optional<std::uint64_t> current(const AtaFeatureRow&);                                 // of IDENTIFY data read now
    struct Set { bool accepted = false; std::string answer; };
    Set set(const AtaFeatureRow&, std::uint64_t value);
    // Whether it is worth asking: INQUIRY says ATA, or the ATA Information page is there.
    static bool likely(Host&, Drive&, std::string_view vendor);
private:
    Completion send(const scsi::AtaCommand&, Bytes length);
    std::optional<ByteVector> identify_once();
    Host& host_;
    Drive& drive_;
    bool twelve_ = false, proven_ = false;
};

}
