#include "sgprobe/measure/limit_write.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sgprobe/transport/describe.h"

namespace sgprobe::measure {
namespace {
constexpr Blocks small_write = 8;

Completion send_write(LimitDrive& drive, const scsi::Cdb& cdb, Buffer&& data, Bytes length) {
    Command command;
    command.cdb = cdb;
    command.direction = scsi::Direction::out;
    command.length = length;
    command.data = std::move(data);
    return drive.run(std::move(command));
}
}

LimitWriteProbe::LimitWriteProbe(LimitDrive& drive, Lba first, Blocks blocks, Blocks read_blocks)
    : drive_(drive), first_(first), blocks_(blocks), read_blocks_(std::clamp<Blocks>(read_blocks, 1, 1024)) {}

const std::string& LimitWriteProbe::what(Blocks length) const {
    static const std::string nothing;
    const auto found = failures_.find(length);
    return found == failures_.end() ? nothing : found->second.what;
}

int LimitWriteProbe::refusal(Blocks length) const {
    const auto found = failures_.find(length);
    return found == failures_.end() ? 0 : found->second.os_errno;
}

std::optional<ByteVector> LimitWriteProbe::read(Lba lba, Blocks blocks) {
    const Bytes length = blocks * drive_.facts().block_bytes;
    const char* opcode = lba + blocks > (Lba{1} << 32) ? "READ(16)" : "READ(10)";
    for (int attempt = 0; attempt < 6 && !drive_.lost(); ++attempt) {
        Command command;
        command.cdb = *build(*find_limit_opcode(opcode), lba, blocks, drive_.facts().block_bytes);
        command.direction = scsi::Direction::in;
        command.length = length;
        command.data = drive_.drive().buffer(length, BufferKind::indirect);
        const Completion completion = drive_.run(std::move(command));
        if (completion.data().size() >= length) return ByteVector(completion.data().begin(), completion.data().begin() + std::ptrdiff_t(length));
        if (completion.outcome.kind != Outcome::Kind::status) drive_.come_back(completion);
    }
    return {};
}

bool LimitWriteProbe::save(Blocks blocks) {
    const Bytes block = drive_.facts().block_bytes;
    while (originals_.size() < blocks * block) {
        const Blocks known = originals_.size() / block;
        const auto piece = read(first_ + known, std::min({small_write, read_blocks_, blocks - known}));
        if (!piece) return false;
        originals_.insert(originals_.end(), piece->begin(), piece->end());
    }
    return true;
}

// Every block of every attempt differs from every other, so that one that was left out or misplaced shows.
void LimitWriteProbe::fill(std::span<std::uint8_t> bytes, Blocks blocks) {
    const Bytes block = drive_.facts().block_bytes;
    ++generation_;
    for (Blocks i = 0; i < blocks; ++i) {
        std::uint64_t word = (generation_ * 0x9e3779b97f4a7c15ull) ^ ((first_ + i + 1) * 0xbf58476d1ce4e5b9ull);
        for (Bytes at = 0; at + 8 <= block; at += 8, word += 0x94d049bb133111ebull) std::memcpy(bytes.data() + i * block + at, &word, 8);
    }
}

std::optional<std::string> LimitWriteProbe::difference(ByteView written, Blocks blocks) {
    const Bytes block = drive_.facts().block_bytes;
    for (Blocks at = 0; at < blocks;) {
        const Blocks count = std::min(read_blocks_, blocks - at);
        const auto now = read(first_ + at, count);
        if (!now) return drive_.over() ? std::optional<std::string>() : fmt::format("block {} cannot be read back", first_ + at);
        const ByteView wanted = written.subspan(at * block, count * block);
        if (!std::equal(now->begin(), now->end(), wanted.begin())) {
            const auto different = std::mismatch(now->begin(), now->end(), wanted.begin()).first - now->begin();
            return fmt::format("GOOD, but from block {} of {} on something else was written", at + Bytes(different) / block, blocks);
        }
        at += count;
    }
    return {};
}

Attempt LimitWriteProbe::fail(const Completion& completion, Blocks length, Failing failing, std::string what) {
    failures_[length] = {std::move(what), completion.outcome.kind == Outcome::Kind::os_refusal ? completion.outcome.os_errno : 0};
    if (failing == Failing::time_out || failing == Failing::disconnect || failing == Failing::adapter) drive_.come_back(completion);
    return {failing, drive_.lost()};
}

Attempt LimitWriteProbe::send(const LimitOpcode& opcode, Blocks length, BufferKind kind) {
    const Bytes block = drive_.facts().block_bytes, bytes = length * block;
    if (drive_.over() || length > blocks_ || !save(length)) return {Failing::none, true, false};
    const auto cdb = build(opcode, first_, length, block);
    if (!cdb) return {Failing::none, true, false};
    Buffer data = drive_.drive().buffer(bytes, kind);
    if (!data) return {Failing::host};
    fill(data.bytes(), length);
    touched_ = std::max(touched_, length);
    const Completion completion = send_write(drive_, *cdb, std::move(data), bytes);
    using Kind = Outcome::Kind;
    switch (completion.outcome.kind) {
    case Kind::time_out: return fail(completion, length, Failing::time_out, describe(completion));
    case Kind::gone: return fail(completion, length, Failing::disconnect, describe(completion));
    case Kind::os_refusal: return fail(completion, length, Failing::host, describe(completion));
    case Kind::host_error: return fail(completion, length, Failing::adapter, describe(completion));
    case Kind::status: break;
    }
    if (!completion.outcome.good()) return fail(completion, length, Failing::sense, describe(completion));
    if (const auto wrong = difference(std::as_const(completion.command.data).bytes(), length)) return fail(completion, length, Failing::corruption, *wrong);
    return {};
}

bool LimitWriteProbe::restore() {
    const Bytes block = drive_.facts().block_bytes;
    const Blocks saved = std::min(touched_, Blocks(originals_.size() / block));
    touched_ = 0;
    const LimitOpcode& opcode = *find_limit_opcode(first_ + saved > (Lba{1} << 32) ? "WRITE(16)" : "WRITE(10)");
    for (Blocks at = 0; at < saved && !drive_.lost();) {
        const Blocks count = std::min(small_write, saved - at);
        const ByteView wanted = ByteView(originals_).subspan(at * block, count * block);
        bool back = false;
        for (int attempt = 0; attempt < 8 && !back && !drive_.lost(); ++attempt) {
            // One block at a time where the drive takes no more.
            const Blocks step = attempt < 3 ? count : 1;
            for (Blocks done = 0; done < count; done += step) {
                Buffer data = drive_.drive().buffer(step * block, BufferKind::indirect);
                std::copy_n(wanted.begin() + std::ptrdiff_t(done * block), step * block, data.bytes().begin());
                const Completion completion = send_write(drive_, *build(opcode, first_ + at + done, step, block), std::move(data), step * block);
                if (completion.outcome.kind != Outcome::Kind::status) drive_.come_back(completion);
            }
            const auto now = read(first_ + at, std::min(count, read_blocks_));
            back = now && std::equal(now->begin(), now->end(), wanted.begin());
        }
        if (!back && complaint_.empty()) complaint_ = fmt::format("blocks {} to {} could not be put back", first_ + at, first_ + at + count - 1);
        at += count;
    }
    if (drive_.lost() && saved > 0 && complaint_.empty()) complaint_ = fmt::format("the drive went away before blocks {} to {} were put back", first_, first_ + saved - 1);
    return complaint_.empty();
}

}
