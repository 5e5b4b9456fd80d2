// Command descriptor blocks: builders, and the decoder that simulated targets use. SPC-5, SBC-4.
#pragma once
#include <array>
#include <optional>
#include <string_view>

#include "sgprobe/scsi/types.h"

namespace sgprobe::scsi {

enum class Direction : std::uint8_t { none, in, out };   // as seen from the host

struct Cdb {
    std::array<std::uint8_t, 32> bytes{};
    std::uint8_t size = 0;

    ByteView view() const { return ByteView(bytes).first(size); }
    std::uint8_t opcode() const { return bytes[0]; }
};

// The commands that move logical blocks. The value is the operation code.
enum class RwOpcode : std::uint8_t {
    read6 = 0x08, write6 = 0x0a, read10 = 0x28, write10 = 0x2a, read12 = 0xa8, write12 = 0xaa, read16 = 0x88, write16 = 0x8a,
};

struct ReadWrite {
    RwOpcode opcode;
    Lba lba = 0;
    Blocks blocks = 0;          // for READ(6) and WRITE(6) 0 in the CDB means 256: here it is 256
    bool dpo = false, fua = false;
    std::uint8_t protect = 0;   // RDPROTECT or WRPROTECT
    bool write() const;
    Direction direction() const { return write() ? Direction::out : Direction::in; }
};

std::string_view name(RwOpcode);                    // "READ(10)"
Lba greatest_lba(RwOpcode);                         // greatest starting address that the CDB's field holds
Blocks greatest_transfer(RwOpcode);                 // greatest transfer length in blocks (256 for the 6-byte forms)

std::optional<Cdb> build(const ReadWrite&);         // nothing where a field does not fit
std::optional<ReadWrite> decode_read_write(ByteView cdb);   // nothing where it is another command or cut short

Cdb test_unit_ready();
Cdb request_sense(std::uint8_t allocation, bool descriptor = false);
Cdb inquiry(std::uint16_t allocation);
Cdb inquiry_vpd(std::uint8_t page, std::uint16_t allocation);
Cdb read_capacity_10();
Cdb read_capacity_16(std::uint32_t allocation = 32);

enum class PageControl : std::uint8_t { current = 0, changeable = 1, defaults = 2, saved = 3 };
struct ModeSense {
    std::uint8_t page = 0x3f, subpage = 0;
    PageControl control = PageControl::current;
    bool dbd = false, llbaa = false;
};
Cdb mode_sense_6(const ModeSense&, std::uint8_t allocation);
Cdb mode_sense_10(const ModeSense&, std::uint16_t allocation);
Cdb mode_select_6(std::uint8_t length, bool save_pages);    // PF is set
Cdb mode_select_10(std::uint16_t length, bool save_pages);
Cdb log_sense(std::uint8_t page, std::uint8_t subpage, std::uint16_t allocation, std::uint16_t parameter = 0);
Cdb synchronize_cache_10(std::uint32_t lba, std::uint16_t blocks, bool immediate);   // blocks 0: to the end
Cdb start_stop_unit(bool start, bool immediate, std::uint8_t power_condition = 0);
Cdb get_lba_status(Lba, std::uint32_t allocation);
Cdb report_luns(std::uint32_t allocation, std::uint8_t select = 0);
Cdb report_supported_opcodes(std::uint8_t opcode, std::uint32_t allocation);         // one command, no service action

// An ATA command through SAT-4 12.2.2. Registers in the words of ACS; `extend` is a 48-bit command.
enum class AtaProtocol : std::uint8_t { non_data = 3, pio_in = 4, pio_out = 5, dma = 6, udma_in = 10, udma_out = 11, fpdma = 12, return_response = 15 };
struct AtaCommand {
    AtaProtocol protocol = AtaProtocol::non_data;
    std::uint8_t command = 0, device = 0;
    std::uint16_t feature = 0, count = 0;
    std::uint64_t lba = 0;
    bool extend = false;
    bool ck_cond = false;       // give the registers back as sense data even where all went well
    Direction direction() const;
};
std::optional<Cdb> ata_pass_through_12(const AtaCommand&);   // nothing where a field needs the 16-byte form
Cdb ata_pass_through_16(const AtaCommand&);
AtaCommand ata_identify_device();
AtaCommand ata_smart_read_data();
AtaCommand ata_set_features(std::uint8_t subcommand, std::uint8_t count = 0);   // AAh/55h look-ahead, 02h/82h write cache

}
