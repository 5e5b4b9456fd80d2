#include "sgprobe/sim/logical_unit.h"

#include <algorithm>

#include "sgprobe/scsi/capacity.h"
#include "sgprobe/scsi/reader.h"
#include "sgprobe/sim/state_file.h"

namespace sgprobe::sim {
namespace {
using scsi::SenseKey;
constexpr SenseCode invalid_opcode{SenseKey::illegal_request, 0x20, 0x00};
constexpr SenseCode out_of_range{SenseKey::illegal_request, 0x21, 0x00};
constexpr SenseCode invalid_in_cdb{SenseKey::illegal_request, 0x24, 0x00};
constexpr SenseCode stopped{SenseKey::not_ready, 0x04, 0x02};
}

LogicalUnit::Reply LogicalUnit::refused(SenseCode why) {
    Reply reply;
    reply.status = scsi::Status::check_condition;
    reply.sense = why;
    return reply;
}

void LogicalUnit::keep_state() const {
    if (!model_.state_file.empty()) store_state(modes_, model_.state_file);
}

LogicalUnit::LogicalUnit(const Model& model)
    : model_(model), modes_(model), mapping_(model.flash, model.media.blocks), content_(model.media.content, model.media.block_bytes) {
    power_on();
    if (!model.state_file.empty()) load_state(modes_, model.state_file);
}

void LogicalUnit::power_on() {
    modes_.power_on();
    started_ = true;
    attention_.reset();
    if (model_.attention_after_power_on) attention(0x29, 0x00);
}

void LogicalUnit::attention(std::uint8_t asc, std::uint8_t ascq) { attention_ = SenseCode{SenseKey::unit_attention, asc, ascq}; }

SenseBytes LogicalUnit::sense_bytes(const Reply& reply) const {
    if (reply.status != scsi::Status::check_condition) return {};
    const auto [key, asc, ascq] = reply.sense;
    if (reply.ata) {                                 // SAT-4 12.2.2.6: one ATA Status Return descriptor, whatever D_SENSE says
        ByteVector bytes = scsi::build_descriptor_sense(key, asc, ascq);
        bytes.resize(8 + 14);
        scsi::put(bytes, 7, 1, 14);
        scsi::put(bytes, 8, 4, 0x090c0000u | (reply.ata->extend ? 0x100u : 0u) | reply.ata->error);
        const std::uint64_t lba = reply.ata->lba;
        scsi::put(bytes, 12, 2, reply.ata->count);
        for (unsigned i = 0; i < 3; ++i) scsi::put(bytes, 14 + 2 * i, 2, (lba >> (24 + 8 * i) & 0xff) << 8 | (lba >> 8 * i & 0xff));
        scsi::put(bytes, 20, 2, reply.ata->device * 256u + reply.ata->status);
        return SenseBytes(bytes);
    }
    if (modes_.descriptor_sense()) return SenseBytes(scsi::build_descriptor_sense(key, asc, ascq, reply.information));
    std::optional<std::uint32_t> information;
    if (reply.information && *reply.information <= 0xffffffff) information = static_cast<std::uint32_t>(*reply.information);
    return SenseBytes(scsi::build_fixed_sense(key, asc, ascq, information));
}

LogicalUnit::Reply LogicalUnit::execute(const TargetCommand& command) {
    if (command.cdb.empty()) return refused(invalid_opcode);
    const std::uint8_t opcode = command.cdb[0];
    if (attention_ && opcode != 0x12 && opcode != 0xa0 && opcode != 0x03) {   // SPC-5 5.14: these do not report it
        const SenseCode what = *attention_;
        attention_.reset();
        return refused(what);
    }
    if (const auto rw = scsi::decode_read_write(command.cdb)) return read_write(command, *rw);
    switch (opcode) {
        case 0x00: return started_ ? Reply{} : refused(stopped);
        case 0x03: return request_sense(command);
        case 0x12: return inquiry(command);
        case 0x15: case 0x55: return mode_select(command);
        case 0x1a: case 0x5a: return mode_sense(command);
        case 0x1b: return start_stop(command);
        case 0x25: return read_capacity_10(command);
        case 0x35: case 0x91: return synchronize(command);
        case 0x42: return unmap(command);
        case 0x85: case 0xa1: return model_.identity.ata ? ata_pass_through(command) : refused(invalid_opcode);
        case 0x4d: return log_sense(command);
        case 0x9e: return service_action_in(command);
        case 0xa0: return report_luns(command);
        default: return refused(invalid_opcode);
    }
}

LogicalUnit::Reply LogicalUnit::read_write(const TargetCommand& command, const scsi::ReadWrite& rw) {
    Reply reply;
    reply.moves_blocks = true;
    reply.lba = rw.lba;
    reply.blocks = rw.blocks;
    auto refuse = [&reply](SenseCode why) {
        reply.status = scsi::Status::check_condition;
        reply.sense = why;
        return reply;
    };
    if (!started_) return refuse(stopped);
    if (model_.media.protection_type == 2 && command.cdb.size() < 32) return refuse(invalid_opcode);   // SBC-4 4.21.2.4: the 32-byte forms alone
    if (rw.protect) return refuse(invalid_in_cdb);
    if (rw.lba >= model_.media.blocks || rw.blocks > model_.media.blocks - rw.lba) {
        reply.information = std::max(rw.lba, model_.media.blocks);
        return refuse(out_of_range);
    }
    const Bytes block = model_.media.block_bytes;
    reply.work = rw.blocks == 0 ? Work::none : rw.write() ? Work::write : Work::read;
    reply.force_media = rw.fua;
    reply.transferred = std::min(rw.blocks * block, command.length);
    if (rw.write()) {
        ++counts_.writes;
        counts_.written_bytes += reply.transferred;
        content_.write(rw.lba, command.data_out.first(std::min<std::size_t>(command.data_out.size(), reply.transferred)));
        return reply;
    }
    ++counts_.reads;
    counts_.read_bytes += reply.transferred;
    const auto data = command.data_in.first(std::min<std::size_t>(command.data_in.size(), reply.transferred));
    content_.read(rw.lba, data);
    if (model_.flash.provisioned && !data.empty()) blank_unmapped(rw.lba, data);
    return reply;
}

LogicalUnit::Reply LogicalUnit::give(const TargetCommand& command, ByteView data, Bytes allocation) const {
    Reply reply;
    reply.transferred = std::min<Bytes>({data.size(), allocation, command.length});
    const auto count = std::min<std::size_t>(command.data_in.size(), reply.transferred);
    std::copy_n(data.begin(), count, command.data_in.begin());
    return reply;
}

LogicalUnit::Reply LogicalUnit::request_sense(const TargetCommand& command) {
    const scsi::Reader cdb(command.cdb);
    const SenseCode what = attention_.value_or(started_ ? SenseCode{SenseKey::no_sense, 0, 0} : stopped);
    if (attention_) attention_.reset();
    const ByteVector data = cdb.flag(1, 0) ? scsi::build_descriptor_sense(what.key, what.asc, what.ascq)
                                           : scsi::build_fixed_sense(what.key, what.asc, what.ascq);
    return give(command, data, cdb.u8(4).value_or(0));
}

LogicalUnit::Reply LogicalUnit::read_capacity_10(const TargetCommand& command) {
    scsi::Capacity capacity;
    capacity.blocks = model_.media.declared_blocks.value_or(model_.media.blocks);
    capacity.block_bytes = model_.media.block_bytes;
    return give(command, scsi::build_capacity_10(capacity), 8);
}

LogicalUnit::Reply LogicalUnit::service_action_in(const TargetCommand& command) {
    const scsi::Reader cdb(command.cdb);
    const Bytes allocation = cdb.u32(10).value_or(0);
    const unsigned action = cdb.bits(1, 4, 5).value_or(0);
    if (action == 0x10) {
        scsi::Capacity capacity;
        capacity.blocks = model_.media.declared_blocks.value_or(model_.media.blocks);
        capacity.block_bytes = model_.media.block_bytes;
        capacity.physical_exponent = model_.media.physical_exponent;
        capacity.protection_enabled = model_.media.protection_type != 0;
        capacity.protection_type = model_.media.protection_type;
        capacity.lbpme = capacity.lbprz = model_.flash.provisioned;
        return give(command, scsi::build_capacity_16(capacity), allocation);
    }
    if (action == 0x12) return lba_status(command);
    return refused(invalid_in_cdb);
}


LogicalUnit::Reply LogicalUnit::mode_sense(const TargetCommand& command) {
    const scsi::Reader cdb(command.cdb);
    ByteVector data;
    if (const auto why = modes_.sense(command.cdb, data)) return refused(*why);
    return give(command, data, cdb.u8(0) == 0x5a ? cdb.u16(7).value_or(0) : cdb.u8(4).value_or(0));
}

LogicalUnit::Reply LogicalUnit::mode_select(const TargetCommand& command) {
    bool changed = false;
    if (const auto why = modes_.select(command.cdb, command.data_out, changed)) return refused(*why);
    keep_state();
    if (changed && model_.attention_after_select) attention(0x2a, 0x01);
    Reply reply;
    reply.settings_changed = changed;
    reply.transferred = command.length;
    return reply;
}

LogicalUnit::Reply LogicalUnit::report_luns(const TargetCommand& command) {
    ByteVector data(16);
    scsi::put(data, 0, 4, 8);
    return give(command, data, scsi::Reader(command.cdb).u32(6).value_or(0));
}

LogicalUnit::Reply LogicalUnit::start_stop(const TargetCommand& command) {
    const scsi::Reader cdb(command.cdb);
    if (cdb.bits(4, 7, 4) == 0) started_ = cdb.flag(4, 0);
    return {};
}

LogicalUnit::Reply LogicalUnit::synchronize(const TargetCommand& command) {
    const scsi::Reader cdb(command.cdb);
    Reply reply;
    if (!cdb.flag(1, 1)) reply.work = Work::flush;   // IMMED
    return reply;
}

}
