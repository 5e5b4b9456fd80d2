// Standard INQUIRY data, SPC-5 6.7.2, and vital product data pages, SPC-5 7.7 and SBC-4 6.6.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "sgprobe/scsi/parsed.h"
#include "sgprobe/scsi/types.h"

namespace sgprobe::scsi {

struct Inquiry {
    std::uint8_t peripheral_qualifier = 0, device_type = 0x1f;   // 0: direct access block device
    bool removable = false;
    std::uint8_t version = 0;                                    // 05h: SPC-3, 06h: SPC-4 ...
    std::uint8_t response_format = 0;
    std::optional<std::uint8_t> additional_length{};
    bool protect = false, cmdque = false, encserv = false, multip = false, third_party_copy = false, sccs = false;
    bool normaca = false, hisup = false, lu_cong = false;
    bool wbus16 = false, sync = false;                           // SPC-3 and before, parallel SCSI
    std::uint8_t tpgs = 0;
    std::optional<std::string> vendor{}, product{}, revision{};        // as sent, 8, 16 and 4 characters; use trimmed()
    std::vector<std::uint16_t> version_descriptors{};
};
Parsed<Inquiry> parse_inquiry(ByteView);
ByteVector build_inquiry(const Inquiry&);                        // 96 bytes, for simulated targets and round trips

// Whether bytes are standard INQUIRY data by their look: what broken firmware returns in place of a VPD page.
bool looks_like_inquiry(ByteView);
std::string trimmed(std::string_view);                           // without leading and trailing blanks and NULs

Parsed<std::vector<std::uint8_t>> parse_vpd_supported(ByteView); // page 00h: the page codes
Parsed<std::string> parse_vpd_serial(ByteView);                  // page 80h

struct Designator {                                              // page 83h
    std::uint8_t code_set = 0, type = 0, association = 0;
    std::optional<std::uint8_t> protocol{};                        // with PIV
    ByteVector identifier{};
    std::string text() const;                                    // "naa.5000c500a1b2c3d4", "t10.ATA ...", hex otherwise
};
Parsed<std::vector<Designator>> parse_vpd_designators(ByteView);

struct AtaInformation {                                          // page 89h, SAT-4 12.4.2
    std::optional<std::string> sat_vendor{}, sat_product{}, sat_revision{};
    ByteVector signature{};                                        // the device signature FIS, 20 bytes, or empty
    std::optional<std::uint8_t> command_code{};
    ByteVector identify{};                                         // IDENTIFY data, 512 bytes, or empty
};
Parsed<AtaInformation> parse_vpd_ata_information(ByteView);

struct BlockLimits {                                             // page B0h; 0 is empty: not reported
    bool wsnz = false;
    std::optional<Blocks> max_compare_and_write{};
    std::optional<Blocks> optimal_granularity{}, max_transfer{}, optimal_transfer{}, max_prefetch{}, max_unmap_blocks{};
    std::optional<std::uint32_t> max_unmap_descriptors{};
    std::optional<Blocks> unmap_granularity{}, unmap_alignment{}, max_write_same{};
    std::optional<Blocks> max_atomic{}, atomic_alignment{}, atomic_granularity{}, max_atomic_with_boundary{}, max_atomic_boundary{};
    bool transfer_is_placeholder = false;                        // the lengths are no multiple of the granularity, or all at FFFFh
    ByteVector unknown{};                                          // bytes of the page past the fields known here
};
Parsed<BlockLimits> parse_vpd_block_limits(ByteView);

struct BlockCharacteristics {                                    // page B1h
    std::optional<std::uint16_t> rotation_rpm{};                   // empty: not reported; 1: not rotating
    std::optional<std::uint8_t> form_factor{}, zoned{};
    std::optional<std::uint8_t> product_type{};
    bool fuab = false, vbuls = false, bocs = false;
};
Parsed<BlockCharacteristics> parse_vpd_block_characteristics(ByteView);

struct Provisioning {                                            // page B2h
    bool lbpu = false, lbpws = false, lbpws10 = false, anc_sup = false;
    bool dp = false;
    std::uint8_t lbprz = 0, type = 0, threshold_exponent = 0;    // type 1: fully provisioned by resources, 2: thin
    std::optional<std::uint8_t> minimum_percentage{}, threshold_percentage{};
};
Parsed<Provisioning> parse_vpd_provisioning(ByteView);

}
