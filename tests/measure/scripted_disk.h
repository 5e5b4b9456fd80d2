// A disk of a few rules behind the seam, for tests of the limit search: content that follows from the address, one limit, one way
// to fail past it, and now and then a failure of no cause.
#pragma once
#include <cstring>
#include <random>
#include <set>

#include "sgprobe/measure/limit_search.h"
#include "sgprobe/scsi/capacity.h"
#include "sgprobe/scsi/cdb.h"
#include "sgprobe/scsi/inquiry.h"
#include "sgprobe/scsi/sense.h"
#include "sgprobe/transport/target.h"

namespace sgprobe::testing {

enum class Damage : std::uint8_t { zeros, nothing_arrives, wraps, shifts, one_byte, short_count };

struct DiskRules {
    Blocks blocks = 1u << 20;
    Blocks capacity_lie = 0;                    // blocks less than the capacity says
    Bytes block_bytes = 512;
    Blocks limit = 0;                           // 0: none
    measure::Failing failing = measure::Failing::sense;
    Damage damage = Damage::zeros;
    double rate = 1, stray = 0;                 // past the limit; at any length
    measure::Failing stray_failing = measure::Failing::sense;
    Nanoseconds late{0};                        // time-outs: it answers after so long, 0: never
    bool reset_after = false;                   // fails with a reset: unit attention 29h
    bool blank = false;                         // no varied content
    bool comes_back = true;
    Blocks declared = 0;                        // VPD B0h; 0: no such page
    bool read_6_12_16 = true;
    Lba bad_block = ~0ull;                      // medium error
    Lba crosses_badly = 0;                      // commands across this address fail (not a medium error)
    bool ata = false;
    Bytes max_transfer_bytes = 0;
    std::uint64_t seed = 1;
};

class ScriptedDisk : public Target {
public:
    explicit ScriptedDisk(DiskRules rules) : rules_(rules), random_(rules.seed) {}
    unsigned depth() const override { return 1; }
    Bytes max_transfer_bytes() const override { return rules_.max_transfer_bytes; }
    std::optional<std::string> gone() const override { return gone_ ? std::optional<std::string>("it disconnected") : std::nullopt; }
    void idle(Nanoseconds) override {}
    void abort(std::uint64_t id, Nanoseconds) override { if (done_ && done_->id == id) done_.reset(); }
    TargetEvent wait(Nanoseconds, Nanoseconds deadline) override {
        if (!done_ || done_->time > deadline) return {.done = {}, .time = deadline};
        TargetEvent event{.done = std::move(done_), .time = {}};
        done_.reset();
        return event;
    }
    void submit(const TargetCommand& command) override {
        done_.emplace();
        done_->id = command.id;
        done_->time = command.time + std::chrono::microseconds(100);
        if (const auto rw = decode(command)) return move(command, *rw);
        answer(command);
    }

private:
    std::optional<scsi::ReadWrite> decode(const TargetCommand& command) const {
        if (const auto rw = scsi::decode_read_write(command.cdb)) {
            if (!rules_.read_6_12_16 && rw->opcode != scsi::RwOpcode::read10) return {};
            return rw;
        }
        if (!rules_.ata || command.cdb[0] != 0x85) return {};
        scsi::ReadWrite rw{.opcode = scsi::RwOpcode::read16};
        const auto at = [&](std::size_t i) { return Lba{command.cdb[i]}; };
        rw.lba = at(8) | at(10) << 8 | at(12) << 16 | at(7) << 24 | at(9) << 32 | at(11) << 40;
        rw.blocks = command.cdb[14] == 0x60 ? at(3) << 8 | at(4) : at(5) << 8 | at(6);
        if (rw.blocks == 0) rw.blocks = 65536;
        return rw;
    }

    void fill(std::span<std::uint8_t> out, Lba lba) const {
        for (Bytes at = 0; at + rules_.block_bytes <= out.size(); at += rules_.block_bytes, ++lba) {
            std::uint64_t word = rules_.blank ? 0 : (lba + 1) * 0x9e3779b97f4a7c15ull;
            for (Bytes i = 0; i + 8 <= rules_.block_bytes; i += 8, word += rules_.blank ? 0 : 0x1234567) std::memcpy(out.data() + at + i, &word, 8);
            if (const auto found = written_.find(lba); found != written_.end()) std::copy(found->second.begin(), found->second.end(), out.begin() + std::ptrdiff_t(at));
        }
    }

    bool chance(double p) { return p >= 1 || (p > 0 && std::uniform_real_distribution<double>(0, 1)(random_) < p); }

    void sense(scsi::SenseKey key, std::uint8_t asc, std::uint8_t ascq) {
        done_->status = scsi::Status::check_condition;
        done_->sense = SenseBytes(scsi::build_fixed_sense(key, asc, ascq));
    }

    void fail(measure::Failing failing, const TargetCommand& command) {
        using measure::Failing;
        switch (failing) {
        case Failing::sense:
            done_->resid = command.length;
            if (rules_.reset_after) return sense(scsi::SenseKey::unit_attention, 0x29, 0x00);
            return sense(scsi::SenseKey::illegal_request, 0x24, 0x00);
        case Failing::time_out:
            if (rules_.late.count() > 0) done_->time += rules_.late; else done_.reset();
            if (rules_.reset_after) attention_ = true;
            return;
        case Failing::disconnect: gone_ = true; done_.reset(); return;
        case Failing::corruption: {
            if (command.direction == scsi::Direction::out) return store(command.data_out.first(rules_.limit * rules_.block_bytes));
            fill(command.data_in, lba_);
            const Bytes block = rules_.block_bytes, from = std::min<Bytes>(rules_.limit * block, command.length - block);
            const auto tail = command.data_in.subspan(from);
            switch (rules_.damage) {
            case Damage::zeros: std::fill(tail.begin(), tail.end(), std::uint8_t{0}); return;
            case Damage::nothing_arrives: std::fill(tail.begin(), tail.end(), poisoned_); return;
            case Damage::wraps: fill(tail, lba_); return;
            case Damage::shifts: fill(tail, lba_ + from / block + 1); return;
            case Damage::one_byte: tail[tail.size() / 2] ^= 0x10; return;
            case Damage::short_count: std::fill(tail.begin(), tail.end(), poisoned_); done_->resid = tail.size(); return;
            }
            return;
        }
        default: return;
        }
    }

    void store(ByteView data) {
        for (Blocks i = 0; i < data.size() / rules_.block_bytes; ++i) {
            const auto block = data.subspan(i * rules_.block_bytes, rules_.block_bytes);
            written_[lba_ + i] = ByteVector(block.begin(), block.end());
        }
    }

    void move(const TargetCommand& command, const scsi::ReadWrite& rw) {
        if (attention_) { attention_ = false; return sense(scsi::SenseKey::unit_attention, 0x29, 0x00); }
        lba_ = rw.lba;
        if (!command.data_in.empty()) poisoned_ = command.data_in.back();
        if (rw.lba + rw.blocks > rules_.blocks - rules_.capacity_lie) return sense(scsi::SenseKey::illegal_request, 0x21, 0x00);
        if (rules_.bad_block >= rw.lba && rules_.bad_block < rw.lba + rw.blocks) return sense(scsi::SenseKey::medium_error, 0x11, 0x00);
        if (rules_.crosses_badly && rw.lba <= rules_.crosses_badly && rw.lba + rw.blocks > rules_.crosses_badly + 1) return sense(scsi::SenseKey::aborted_command, 0, 0);
        if (rules_.limit && rw.blocks > rules_.limit && chance(rules_.rate)) return fail(rules_.failing, command);
        if (chance(rules_.stray)) return fail(rules_.stray_failing, command);
        if (rw.write()) {
            store(command.data_out);
        } else {
            fill(command.data_in, rw.lba);
        }
    }

    void give(const TargetCommand& command, const ByteVector& data) {
        const std::size_t count = std::min<std::size_t>(data.size(), command.data_in.size());
        std::copy_n(data.begin(), count, command.data_in.begin());
        done_->resid = command.length - count;
    }

    void answer(const TargetCommand& command) {
        if (attention_ && command.cdb[0] != 0x12) { attention_ = false; return sense(scsi::SenseKey::unit_attention, 0x29, 0x00); }
        switch (command.cdb[0]) {
        case 0x00: return;
        case 0x12: {
            if ((command.cdb[1] & 1) == 0) {
                scsi::Inquiry inquiry;
                inquiry.device_type = 0;
                inquiry.version = 5;
                inquiry.vendor = rules_.ata ? "ATA     " : "SCRIPTED";
                inquiry.product = "DISK            ";
                inquiry.revision = "0001";
                return give(command, scsi::build_inquiry(inquiry));
            }
            if (command.cdb[2] == 0x00) return give(command, rules_.declared ? ByteVector{0, 0, 0, 2, 0x00, 0xb0} : ByteVector{0, 0, 0, 1, 0x00});
            if (command.cdb[2] == 0xb0 && rules_.declared) {
                ByteVector page(64, 0);
                page[1] = 0xb0; page[3] = 60;
                for (int i = 0; i < 4; ++i) page[8 + std::size_t(i)] = static_cast<std::uint8_t>(rules_.declared >> (24 - 8 * i));
                return give(command, page);
            }
            return sense(scsi::SenseKey::illegal_request, 0x24, 0x00);
        }
        case 0x25: case 0x9e: {
            scsi::Capacity capacity;
            capacity.blocks = rules_.blocks;
            capacity.block_bytes = rules_.block_bytes;
            return give(command, command.cdb[0] == 0x25 ? scsi::build_capacity_10(capacity) : scsi::build_capacity_16(capacity));
        }
        default: return sense(scsi::SenseKey::illegal_request, 0x20, 0x00);
        }
    }

    DiskRules rules_;
    std::mt19937_64 random_;
    std::optional<TargetDone> done_;
    std::map<Lba, ByteVector> written_;
    Lba lba_ = 0;
    std::uint8_t poisoned_ = 0;
    bool gone_ = false, attention_ = false;
};

}
