#include "sgprobe/measure/limit_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "sgprobe/scsi/sense.h"
#include "sgprobe/transport/describe.h"

namespace sgprobe::measure {
namespace {
constexpr Blocks small_piece = 128;
constexpr std::uint16_t did_no_connect = 0x01, did_time_out = 0x03, did_bad_target = 0x04;

Command read_command(const scsi::Cdb& cdb, Bytes length, Buffer&& data) {
    Command command;
    command.cdb = cdb;
    command.direction = scsi::Direction::in;
    command.length = length;
    command.data = std::move(data);
    return command;
}
}

LimitProbe::LimitProbe(LimitDrive& drive, const LimitsOptions& options)
    : drive_(drive), options_(options), content_(0, drive.facts().block_bytes) {}

Blocks LimitProbe::room() const { return drive_.facts().blocks - start(); }

const std::string& LimitProbe::what(Blocks length) const {
    static const std::string nothing;
    const auto found = failures_.find(length);
    return found == failures_.end() ? nothing : found->second.what;
}

bool LimitProbe::out_of_range(Blocks length) const {
    const auto found = failures_.find(length);
    return found != failures_.end() && found->second.out_of_range;
}

int LimitProbe::refusal(Blocks length) const {
    const auto found = failures_.find(length);
    return found == failures_.end() ? 0 : found->second.os_errno;
}

bool LimitProbe::adapter(Blocks length) const {
    const auto found = failures_.find(length);
    return found != failures_.end() && found->second.adapter;
}

Buffer& LimitProbe::buffer(Bytes length, BufferKind kind) {
    if (!buffer_ || buffer_.size() < length || buffer_.kind() != kind) {
        buffer_ = Buffer();
        buffer_ = drive_.drive().buffer(length, kind);
    }
    return buffer_;
}

// Content is learnt with whatever one-block READ works, a few times over where it fails: nothing is concluded from its failures.
std::optional<ByteVector> LimitProbe::piece(Lba lba, Blocks blocks) {
    const Bytes length = blocks * drive_.facts().block_bytes;
    for (unsigned attempt = 0; attempt < 6 && !drive_.over(); ++attempt) {
        const auto cdb = build(*piece_opcode_, lba, blocks, drive_.facts().block_bytes);
        if (!cdb) return {};
        Completion completion = drive_.run(read_command(*cdb, length, drive_.drive().buffer(length, BufferKind::indirect)));
        if (completion.outcome.good()) return ByteVector(completion.command.data.bytes().begin(), completion.command.data.bytes().begin() + std::ptrdiff_t(length));
        past_end_ = completion.outcome.check_condition() && scsi::parse_sense(completion.sense.view()).value.asc == 0x21;
        if (past_end_) return {};
        if (completion.outcome.kind == Outcome::Kind::status) continue;
        const bool costly = completion.outcome.kind == Outcome::Kind::time_out || completion.outcome.kind == Outcome::Kind::gone;
        drive_.come_back(completion);
        if (costly) return {};
    }
    return {};
}

void LimitProbe::choose_place(Blocks room_wanted) {
    room_wanted_ = room_wanted;
    const LimitFacts& facts = drive_.facts();
    for (const char* opcode : {"READ(10)", "READ(16)", "READ(12)", "READ(6)"}) {
        piece_opcode_ = find_limit_opcode(opcode);
        if (piece(options_.start.value_or(0), 1) || drive_.over()) break;
        if (options_.start && *options_.start > piece_opcode_->greatest_lba) continue;
    }
    if (options_.start) { content_ = LimitContent(*options_.start, facts.block_bytes); return; }
    // READ(6) reaches 2^21 blocks: a place below them serves every opcode.
    const Lba reach = std::min<Lba>(facts.blocks, Lba{1} << 21);
    const Lba last = facts.blocks > room_wanted ? std::min(reach - 1, facts.blocks - room_wanted) : 0;
    Lba best = 0;
    unsigned best_telling = 0;
    for (unsigned candidate = 0; candidate < 8 && best_telling < 7 && !drive_.over(); ++candidate) {
        const Lba start = last / 8 * candidate;
        if (candidate > 0 && start == 0) break;
        std::set<ByteVector> different;
        for (unsigned i = 0; i < 8; ++i) {
            const Lba at = start + std::min(room_wanted, facts.blocks - start) / 8 * i;
            auto block = piece(at, 1);
            if (!block) { different.clear(); break; }
            if (std::adjacent_find(block->begin(), block->end(), std::not_equal_to<>()) != block->end()) different.insert(std::move(*block));
        }
        if (different.size() > best_telling) { best = start; best_telling = unsigned(different.size()); }
    }
    content_ = LimitContent(best, facts.block_bytes);
}

// A block that cannot be read in a command of its own is a fault of the medium and no limit: the stretch is laid elsewhere.
bool LimitProbe::go_round(Lba from, Blocks count) {
    std::optional<Lba> bad;
    for (Lba lba = from; lba < from + count && !bad && !drive_.over(); ++lba)
        if (!piece(lba, 1)) bad = lba;
    if (drive_.over()) return false;
    if (bad && past_end_) { real_end_ = bad; return true; }
    const Blocks wanted = std::min<Blocks>(room_wanted_, drive_.facts().blocks);
    if (bad && !options_.start && ++moves_ <= 8 && *bad + 1 + wanted <= drive_.facts().blocks) {
        notes_.push_back(fmt::format("block {} cannot be read: a fault of the medium; longer commands were tried behind it", *bad));
        content_ = LimitContent(*bad + 1, drive_.facts().block_bytes);
        return true;
    }
    if (bad) bad_block_ = bad;
    else content_checks_ = false;
    notes_.push_back(bad ? fmt::format("block {} cannot be read: a fault of the medium; nothing longer could be tried", *bad)
                         : fmt::format("blocks {} to {} cannot be read reliably in small commands: content is not checked", from, from + count - 1));
    return true;
}

bool LimitProbe::learn(Blocks blocks) {
    const auto readable = [&] { return std::min(blocks, real_end_.value_or(drive_.facts().blocks) - start()); };
    while (content_checks_ && !bad_block_ && content_.known() < readable()) {
        const Lba at = start() + content_.known();
        const Blocks count = std::min(piece_blocks_, readable() - content_.known());
        const auto once = piece(at, count);
        const auto twice = once ? piece(at, count) : once;
        if (drive_.over()) return false;
        if (!twice) {
            if (!go_round(at, count)) return false;
        } else if (*once != *twice) {
            content_checks_ = false;
            notes_.push_back(fmt::format("block {} reads differently each time even in small commands: content cannot be checked", at));
        } else {
            content_.append(*once);
        }
    }
    return !bad_block_ || start() + blocks <= *bad_block_;
}

Attempt LimitProbe::fail(Completion& completion, Blocks length, Failing failing, std::string what) {
    const auto sense = completion.outcome.check_condition() ? scsi::parse_sense(completion.sense.view()).value : scsi::Sense{};
    failures_[length] = {std::move(what), sense.asc == 0x21, completion.outcome.kind == Outcome::Kind::os_refusal ? completion.outcome.os_errno : 0,
                         completion.outcome.kind == Outcome::Kind::host_error};
    piece_blocks_ = std::max<Blocks>(1, std::min(piece_blocks_, length / 2));
    const bool shaken = failing == Failing::time_out || failing == Failing::disconnect || completion.outcome.kind == Outcome::Kind::host_error ||
        sense.is(scsi::SenseKey::not_ready) || sense.is(scsi::SenseKey::unit_attention);
    if (shaken) drive_.come_back(completion);
    return {failing, drive_.lost()};
}

Attempt LimitProbe::judge_data(Completion& completion, Blocks length, Blocks shift) {
    const Bytes block = drive_.facts().block_bytes;
    const ByteView data = std::as_const(completion.command.data).bytes().first(length * block);
    const Blocks known = std::min(length, content_.known() - std::min(content_.known(), shift));
    const auto different = content_.first_difference(data.first(known * block), shift);
    if (different) {
        // Somebody may have written there: the blocks are read again in small pieces before anything is said.
        const Blocks count = std::min(piece_blocks_, known - *different);
        const auto now = piece(start() + shift + *different, count);
        if (now && std::equal(now->begin(), now->end(), data.begin() + std::ptrdiff_t(*different * block))) {
            content_.replace(shift + *different, *now);
            return {};
        }
        return fail(completion, length, Failing::corruption,
                    fmt::format("GOOD, but from block {} of {} on {}", *different, length, content_.describe(data, *different)));
    }
    if (completion.resid > 0) {
        if (known == length && content_.telling(length)) residual_lies_ = true;      // all of it arrived, whatever the count says
        else return fail(completion, length, Failing::corruption, fmt::format("GOOD, but {} of {} bytes did not arrive", completion.resid, length * block));
    }
    if (known >= length && length > piece_blocks_) {
        Blocks power = piece_blocks_;
        while (power * 2 <= std::min(length, small_piece)) power *= 2;
        piece_blocks_ = power;
    }
    return {};
}

Attempt LimitProbe::judge(Completion& completion, Blocks length, Blocks shift) {
    using Kind = Outcome::Kind;
    const Outcome& outcome = completion.outcome;
    switch (outcome.kind) {
    case Kind::time_out: return fail(completion, length, Failing::time_out, describe(completion));
    case Kind::gone: return fail(completion, length, Failing::disconnect, describe(completion));
    case Kind::os_refusal: return fail(completion, length, Failing::host, describe(completion));
    case Kind::host_error:
        if (outcome.host_status == did_time_out) return fail(completion, length, Failing::time_out, describe(completion));
        if (outcome.host_status == did_no_connect || outcome.host_status == did_bad_target)
            return fail(completion, length, Failing::disconnect, describe(completion));
        return fail(completion, length, Failing::adapter, describe(completion));
    case Kind::status: break;
    }
    if (outcome.good()) return judge_data(completion, length, shift);
    if (outcome.check_condition()) {
        const auto sense = scsi::parse_sense(completion.sense.view()).value;
        if (sense.is(scsi::SenseKey::recovered_error) || sense.is(scsi::SenseKey::no_sense)) return {};
        if (sense.deferred) return {};                     // of an earlier command
    }
    if (outcome.flow_control()) return fail(completion, length, Failing::time_out, describe(completion));
    return fail(completion, length, Failing::sense, describe(completion));
}

Attempt LimitProbe::send(const LimitOpcode& opcode, Blocks length, BufferKind kind) {
    // No two commands in a row read the same blocks at the same place of the transfer: what a drive serves from the command before
    // would else look right.
    Blocks shift = 8 * (sent_++ % 8);
    if (start() + shift + length > real_end_.value_or(drive_.facts().blocks)) shift = 0;
    if (drive_.over() || !learn(length + shift)) return {Failing::none, true, false};
    if (start() + shift + length > real_end_.value_or(drive_.facts().blocks)) shift = 0;
    const Bytes bytes = length * drive_.facts().block_bytes;
    const auto cdb = build(opcode, start() + shift, length, drive_.facts().block_bytes);
    if (!cdb) return {Failing::none, true, false};
    Buffer data;
    std::swap(data, buffer(bytes, kind));
    if (!data || data.size() < bytes) {
        failures_[length] = {"no memory for such a buffer", false, ENOMEM, false};
        return {Failing::host};
    }
    LimitContent::poison(data.bytes().first(bytes));
    Completion completion = drive_.run(read_command(*cdb, bytes, std::move(data)));
    const Attempt attempt = judge(completion, length, shift);
    if (completion.drive == &drive_.drive()) buffer_ = std::move(completion.command.data);
    return attempt;
}

}
