#include "sgprobe/sim/rules.h"

#include <algorithm>

namespace sgprobe::sim {

Rules::Rules(const Model& model) : model_(model) {
    for (const Rule& rule : model.rules) states_.push_back({&rule});
}

void Rules::obey(const ModePages& modes) {
    auto holds = [&](const FieldValue& wanted) { return modes.obeyed(wanted.key) == wanted.value; };
    for (State& s : states_) {
        const Rule& r = *s.rule;
        s.in_force = std::all_of(r.settings.begin(), r.settings.end(), holds)
                  && (r.unless.empty() || !std::all_of(r.unless.begin(), r.unless.end(), holds));
    }
}

bool Rules::matches(const Rule& r, std::uint8_t opcode, const LogicalUnit::Reply& reply, unsigned depth, double time_s, bool sequential) const {
    if (r.opcodes.empty() ? !reply.moves_blocks : std::find(r.opcodes.begin(), r.opcodes.end(), opcode) == r.opcodes.end()) return false;
    if (reply.moves_blocks) {
        if (reply.blocks <= r.over_blocks && r.over_blocks) return false;
        if (reply.blocks > r.up_to_blocks) return false;
        if (reply.lba + reply.blocks <= r.from_lba || reply.lba > r.to_lba) return false;
        if (r.sequential && *r.sequential != sequential) return false;
    }
    if (depth <= r.over_depth && r.over_depth) return false;
    return depth <= r.up_to_depth && time_s >= r.after_s && (r.until_s == 0 || time_s < r.until_s);
}

// Bytes that are not what the media hold, although the status says so.
void Rules::spoil(const Rule& r, const TargetCommand& command, const LogicalUnit::Reply& reply, Random& random) const {
    const std::size_t from = std::min<std::size_t>(r.data_from_block * model_.media.block_bytes, command.data_in.size());
    const auto data = command.data_in.subspan(from);
    if (r.data == Rule::Data::zero) std::fill(data.begin(), data.end(), std::uint8_t{0});
    if (r.data == Rule::Data::garbage)
        for (std::uint8_t& byte : data) byte = static_cast<std::uint8_t>(random.bits() >> 32);
    if (r.data == Rule::Data::stale) {               // what the command before it read
        const std::size_t block = model_.media.block_bytes;
        for (std::size_t at = 0; at < data.size(); at += block)
            fill_block(model_.media.content, last_lba_ + r.data_from_block + at / block, data.subspan(at, std::min(block, data.size() - at)));
    }
    (void)reply;
}

Effect Rules::apply(const TargetCommand& command, LogicalUnit::Reply& reply, unsigned depth, Random& random) {
    Effect effect;
    const std::uint8_t opcode = command.cdb.empty() ? 0 : command.cdb.front();
    const bool sequential = reply.moves_blocks && reply.lba == last_end_;
    const double time_s = static_cast<double>(command.time.count()) / 1e9;
    for (State& s : states_) {
        const Rule& r = *s.rule;
        if (!s.in_force || !matches(r, opcode, reply, depth, time_s, sequential)) continue;
        ++s.matched;
        if (s.matched <= r.after_commands || (r.every && (s.matched - r.after_commands) % r.every)) continue;
        if (r.probability < 1 && !random.chance(r.probability)) continue;
        effect.extra_ns += (r.extra_us + r.extra_us_per_block * static_cast<double>(reply.blocks)) * 1e3;
        effect.extra_turns += r.extra_turns;
        effect.no_prefetch |= r.no_prefetch;
        effect.stop_prefetch |= r.stop_prefetch;
        effect.never |= r.never;
        effect.reset |= r.reset;
        effect.gone |= r.gone;
        if (r.attention) effect.attention = r.attention;
        if (r.data != Rule::Data::intact) spoil(r, command, reply, random);
        if (r.transfer_blocks) reply.transferred = std::min<Bytes>(reply.transferred, *r.transfer_blocks * model_.media.block_bytes);
        if (r.sense || r.status) {
            reply.work = LogicalUnit::Work::none;
            reply.transferred = 0;
            reply.status = r.status ? static_cast<scsi::Status>(*r.status) : scsi::Status::check_condition;
            if (r.sense) reply.sense = {static_cast<scsi::SenseKey>(*r.sense >> 16 & 0xf), static_cast<std::uint8_t>(*r.sense >> 8), static_cast<std::uint8_t>(*r.sense)};
        }
    }
    if (reply.moves_blocks) {
        last_lba_ = reply.lba;
        last_end_ = reply.lba + reply.blocks;
    }
    return effect;
}

}
