// INQUIRY, the vital product data pages and LOG SENSE of a simulated drive.
#include <algorithm>

#include "sgprobe/scsi/inquiry.h"
#include "sgprobe/scsi/reader.h"
#include "sgprobe/sim/logical_unit.h"

namespace sgprobe::sim {
namespace {
using scsi::put;
using scsi::put_text;
constexpr SenseCode invalid_in_cdb{scsi::SenseKey::illegal_request, 0x24, 0x00};
}

LogicalUnit::Reply LogicalUnit::inquiry(const TargetCommand& command) {
    const scsi::Reader cdb(command.cdb);
    const std::uint8_t page = cdb.u8(2).value_or(0);
    const Bytes allocation = cdb.u16(3).value_or(0);
    if (cdb.flag(1, 0)) {
        ByteVector data(4);
        if (!vital_product_data(page, data)) return refused(invalid_in_cdb);
        put(data, 1, 1, page);
        put(data, 2, 2, data.size() - 4);
        return give(command, data, allocation);
    }
    if (page) return refused(invalid_in_cdb);
    scsi::Inquiry inquiry;
    inquiry.device_type = 0;
    inquiry.version = model_.identity.version;
    inquiry.response_format = 2;
    inquiry.protect = model_.media.protection_type != 0;
    inquiry.cmdque = model_.identity.queues;
    inquiry.vendor = model_.identity.vendor;
    inquiry.product = model_.identity.product;
    inquiry.revision = model_.identity.revision;
    return give(command, scsi::build_inquiry(inquiry), allocation);
}

// `data` comes with room for the header; says whether there is such a page. SPC-5 7.7, SBC-4 6.6.
bool LogicalUnit::vital_product_data(std::uint8_t page, ByteVector& data) const {
    const Identity& id = model_.identity;
    std::vector<std::uint8_t> pages{0x00, 0x80};
    if (id.naa) pages.push_back(0x83);
    if (id.ata) pages.push_back(0x89);
    if (model_.block_pages) pages.insert(pages.end(), {0xb0, 0xb1});
    if (model_.block_pages && !model_.media.rotating) pages.push_back(0xb2);
    if (std::find(pages.begin(), pages.end(), page) == pages.end()) return false;
    switch (page) {
        case 0x00: data.insert(data.end(), pages.begin(), pages.end()); break;
        case 0x80: data.insert(data.end(), id.serial.begin(), id.serial.end()); break;
        case 0x83:
            data.resize(16);
            put(data, 4, 4, 0x01030008);             // binary, NAA, of the logical unit, 8 bytes
            put(data, 8, 8, id.naa);
            break;
        case 0x89: ata_information(data); break;
        case 0xb0:
            data.resize(64);
            put(data, 8, 4, model_.controller.declared_max_blocks);
            put(data, 12, 4, model_.controller.declared_optimal_blocks);
            if (model_.flash.provisioned) {
                put(data, 20, 4, 0xffffff);          // blocks an UNMAP may name, and descriptors
                put(data, 24, 4, 64);
                put(data, 28, 4, model_.flash.page_blocks);
            }
            break;
        case 0xb1:
            data.resize(64);
            put(data, 4, 2, model_.media.rotating ? static_cast<std::uint64_t>(model_.media.rpm + 0.5) : 1);
            break;
        default:                                     // B2h
            data.resize(8);
            if (model_.flash.provisioned) put(data, 5, 1, 0x84);   // LBPU, LBPRZ
            break;
    }
    return true;
}

LogicalUnit::Reply LogicalUnit::log_sense(const TargetCommand& command) {
    const scsi::Reader cdb(command.cdb);
    ByteVector data(4);
    const std::uint8_t page = cdb.bits(2, 5, 6).value_or(0);
    if (!log_page(page, cdb.u8(3).value_or(0), data)) return refused(invalid_in_cdb);
    put(data, 0, 1, page);
    put(data, 2, 2, data.size() - 4);
    return give(command, data, cdb.u16(7).value_or(0));
}

// SPC-5 7.3: supported pages, write and read error counters, temperature, informational exceptions.
bool LogicalUnit::log_page(std::uint8_t page, std::uint8_t subpage, ByteVector& data) const {
    auto parameter = [&](unsigned code, std::size_t width, std::uint64_t value) {
        const std::size_t at = data.size();
        data.resize(at + 4 + width);
        put(data, at, 2, code);
        put(data, at + 2, 1, 0x03);                  // binary list
        put(data, at + 3, 1, width);
        put(data, at + 4, width, value);
    };
    if (subpage) return false;
    switch (page) {
        case 0x00: data.insert(data.end(), {0x00, 0x02, 0x03, 0x0d, 0x2f}); return true;
        case 0x02: parameter(5, 8, counts_.written_bytes); parameter(6, 8, 0); return true;
        case 0x03: parameter(5, 8, counts_.read_bytes); parameter(6, 8, 0); return true;
        case 0x0d: parameter(0, 2, 38); parameter(1, 2, 65); return true;
        case 0x2f: parameter(0, 4, 38 << 8); return true;
        default: return false;
    }
}

}
