// Sense data, fixed and descriptor format. SPC-5 4.4; ATA registers in it: SAT-4 12.2.2.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "sgprobe/scsi/parsed.h"
#include "sgprobe/scsi/types.h"

namespace sgprobe::scsi {

enum class SenseKey : std::uint8_t {
    no_sense = 0, recovered_error = 1, not_ready = 2, medium_error = 3, hardware_error = 4, illegal_request = 5,
    unit_attention = 6, data_protect = 7, blank_check = 8, vendor_specific = 9, copy_aborted = 0xa, aborted_command = 0xb,
    reserved = 0xc, volume_overflow = 0xd, miscompare = 0xe, completed = 0xf,
};

struct AtaRegisters {
    std::uint8_t error = 0, status = 0, device = 0;
    std::uint16_t count = 0;
    std::uint64_t lba = 0;
    bool lba_known = true;      // the older kernels' fixed layout ends where 18 bytes of sense data end: no LBA, no EXTEND
    bool extend = false;
    bool upper_lost = false;    // fixed format: upper bytes of count or LBA are not zero, and there is no room for them
};

struct FieldPointer {
    bool in_command = false;                    // C/D: the CDB, else the parameter list
    std::uint16_t byte = 0;
    std::optional<std::uint8_t> bit{};            // with BPV
};
struct SegmentPointer { bool in_descriptor = false; std::uint16_t byte = 0; std::optional<std::uint8_t> bit; };
struct SenseDescriptor { std::uint8_t type = 0; ByteVector bytes; };   // whole, header included

struct Sense {
    std::uint8_t response_code = 0;             // 70h-73h
    bool descriptor_format = false, deferred = false;
    std::optional<SenseKey> key{};                // the key, ASC and ASCQ are empty where their bytes did not arrive
    std::optional<std::uint8_t> asc{}, ascq{};
    bool valid = false;                         // the information field means something
    std::optional<std::uint64_t> information{};
    std::optional<std::uint64_t> command_specific{};
    std::optional<std::uint8_t> fru{};
    bool filemark = false, eom = false, ili = false, sdat_ovfl = false;
    std::optional<AtaRegisters> ata{};
    std::optional<FieldPointer> field_pointer{};               // sense-key-specific, where SKSV is set: illegal request,
    std::optional<std::uint16_t> retry_count{};                // recovered, medium and hardware error,
    std::optional<double> progress{};                          // no sense and not ready, 0 to 1,
    std::optional<SegmentPointer> segment_pointer{};           // copy aborted,
    std::optional<bool> attention_overflow{};                  // unit attention
    std::optional<double> another_progress{};
    std::vector<SenseDescriptor> descriptors{};                // all of them, in the order they came; descriptor format
    std::vector<Sense> forwarded{};                            // sense of another device, at most two deep
    bool is(SenseKey k, int asc_ = -1, int ascq_ = -1) const {   // -1: any
        return key == k && (asc_ < 0 || asc == asc_) && (ascq_ < 0 || ascq == ascq_);
    }
};

Parsed<Sense> parse_sense(ByteView);
std::string_view descriptor_name(std::uint8_t type);          // "information"; "vendor specific", "reserved"
std::string_view name(SenseKey);                              // "Medium Error"
std::string additional_sense_text(std::uint8_t asc, std::uint8_t ascq);   // libsgutils2's
std::string one_line(const Sense&);                           // "Medium Error, 11h/00h (Unrecovered read error), information 4660"
int exit_status(const Sense&);                                // as sg3_utils has it, e.g. 3 for a medium error
ByteVector build_fixed_sense(SenseKey, std::uint8_t asc, std::uint8_t ascq, std::optional<std::uint32_t> information = {}, bool deferred = false);
ByteVector build_descriptor_sense(SenseKey, std::uint8_t asc, std::uint8_t ascq, std::optional<std::uint64_t> information = {}, bool deferred = false);

}
