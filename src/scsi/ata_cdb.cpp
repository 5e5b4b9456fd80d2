// ATA PASS-THROUGH (12) and (16), SAT-4 12.2.2.
#include "sgprobe/scsi/cdb.h"
#include "sgprobe/scsi/reader.h"

namespace sgprobe::scsi {
namespace {
std::uint8_t flags(const AtaCommand& command) {
    const Direction direction = command.direction();
    if (direction == Direction::none) return static_cast<std::uint8_t>(command.ck_cond << 5);
    // T_LENGTH 10b: the length is the COUNT field; BYT_BLOK: in blocks of 512 bytes.
    return static_cast<std::uint8_t>(0x06 | (direction == Direction::in) << 3 | command.ck_cond << 5);
}
std::uint8_t protocol(const AtaCommand& command) {
    return static_cast<std::uint8_t>(static_cast<unsigned>(command.protocol) << 1 | command.extend);
}
}

Direction AtaCommand::direction() const {
    switch (protocol) {
    case AtaProtocol::pio_out: case AtaProtocol::udma_out: return Direction::out;
    case AtaProtocol::pio_in: case AtaProtocol::udma_in: return Direction::in;
    // READ DMA (EXT), READ FPDMA QUEUED, READ LOG DMA EXT, IDENTIFY: the command code says which way the data goes.
    case AtaProtocol::dma: case AtaProtocol::fpdma:
        return command == 0x35 || command == 0xca || command == 0x3d || command == 0x61 || command == 0x57 || command == 0x06 ? Direction::out : Direction::in;
    default: return Direction::none;
    }
}

std::optional<Cdb> ata_pass_through_12(const AtaCommand& command) {
    if (command.extend || command.feature > 0xff || command.count > 0xff || command.lba > 0xffffff) return {};
    Cdb cdb{.bytes = {}, .size = 12};
    put(cdb.bytes, 0, 1, 0xa1);
    put(cdb.bytes, 1, 1, protocol(command));
    put(cdb.bytes, 2, 1, flags(command));
    put(cdb.bytes, 3, 1, command.feature);
    put(cdb.bytes, 4, 1, command.count);
    for (unsigned i = 0; i < 3; ++i) put(cdb.bytes, 5 + i, 1, command.lba >> (8 * i) & 0xff);
    put(cdb.bytes, 8, 1, command.device);
    put(cdb.bytes, 9, 1, command.command);
    return cdb;
}

Cdb ata_pass_through_16(const AtaCommand& command) {
    Cdb cdb{.bytes = {}, .size = 16};
    put(cdb.bytes, 0, 1, 0x85);
    put(cdb.bytes, 1, 1, protocol(command));
    put(cdb.bytes, 2, 1, flags(command));
    put(cdb.bytes, 3, 2, command.feature);
    put(cdb.bytes, 5, 2, command.count);
    for (unsigned i = 0; i < 3; ++i) {   // the previous (upper) and current bytes of each register stand side by side
        put(cdb.bytes, 7 + 2 * i, 1, command.lba >> (24 + 8 * i) & 0xff);
        put(cdb.bytes, 8 + 2 * i, 1, command.lba >> (8 * i) & 0xff);
    }
    put(cdb.bytes, 13, 1, command.device);
    put(cdb.bytes, 14, 1, command.command);
    return cdb;
}

AtaCommand ata_identify_device() {
    AtaCommand command;
    command.protocol = AtaProtocol::pio_in;
    command.command = 0xec;
    command.count = 1;
    return command;
}

AtaCommand ata_smart_read_data() {
    AtaCommand command = ata_identify_device();
    command.command = 0xb0;
    command.feature = 0xd0;
    command.lba = 0xc24f00;   // the signature that every SMART command carries, ACS-3 7.48
    return command;
}

AtaCommand ata_set_features(std::uint8_t subcommand, std::uint8_t count) {
    AtaCommand command;
    command.command = 0xef;
    command.feature = subcommand;
    command.count = count;
    return command;
}

}
