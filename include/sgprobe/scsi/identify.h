// IDENTIFY DEVICE data, ACS-3 7.12.7: 256 little-endian words. A field whose validity bits are off, or that says that it
// does not say (0, FFFFh), is empty.
#pragma once
#include <optional>
#include <string>

#include "sgprobe/scsi/parsed.h"
#include "sgprobe/scsi/types.h"

namespace sgprobe::scsi {

struct Feature { bool supported = false, enabled = false; };

struct Identify {
    bool ata = false;                                  // word 0 bit 15 is clear; an ATAPI device sets it
    std::optional<std::string> serial{}, firmware{}, model{};   // as the drive says them, 20, 8 and 40 characters; use trimmed()
    std::optional<Blocks> sectors_28{}, sectors_48{};
    std::optional<Blocks> sectors{};                     // how many there are: 48-bit where supported
    Bytes logical_sector_bytes = 512, physical_sector_bytes = 512;
    std::optional<std::uint16_t> alignment_offset{};     // of logical sector 0 in its physical sector, in logical sectors
    std::optional<bool> ncq{};                           // word 76 bit 8; empty where no Serial ATA capabilities are given
    std::optional<unsigned> queue_depth{};               // 1 to 32; only with NCQ or TCQ
    std::optional<Feature> write_cache{}, look_ahead{}, apm{}, aam{}, smart{}, security{}, fua{}, lba48{};
    std::optional<std::uint8_t> apm_level{}, aam_level{};  // where they are enabled
    std::optional<bool> trim{}, zero_after_trim{}, deterministic_after_trim{};
    std::optional<std::uint16_t> rotation_rpm{};         // 1: not rotating
    std::optional<std::uint8_t> form_factor{};
    std::optional<std::uint64_t> wwn{};
    std::optional<unsigned> sata_generations{};          // bit 0: 1.5, bit 1: 3, bit 2: 6 Gb/s
    std::optional<unsigned> sata_current{};              // 1, 2, 3: the generation in use
    std::optional<unsigned> major_version{};             // greatest ATA/ATAPI or ACS number, e.g. 8 (ATA8-ACS), 9 (ACS-2)
    std::optional<bool> checksum_good{};                 // empty without the signature A5h: then there is no checksum
};
Parsed<Identify> parse_identify(ByteView);

// The 512 bytes with the bytes of every word swapped where they came in the other order (strings that read straight on).
// Told by the signature, the validity bits and the LBA capability; nothing where neither order looks like IDENTIFY data.
std::optional<ByteVector> identify_in_byte_order(ByteView);

bool ata_checksum_good(ByteView);                      // of a 512-byte ATA structure whose last byte makes the sum 0: SMART data and logs

struct IdentifyFacts {                                 // for simulated drives
    std::string serial{}, firmware{}, model{};
    Blocks sectors = 0;
    unsigned logical_per_physical_exponent = 0, queue_depth = 32;
    std::uint16_t rotation_rpm = 7200;
    std::uint64_t wwn = 0;
    bool write_cache = true, look_ahead = true;        // enabled; both are supported
};
ByteVector build_identify(const IdentifyFacts&);       // 512 bytes with a right checksum

}
