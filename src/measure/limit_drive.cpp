#include "sgprobe/pages/device_id.h"
#include "sgprobe/measure/limit_drive.h"

#include <fmt/format.h>

#include <algorithm>

#include "sgprobe/scsi/capacity.h"
#include "sgprobe/scsi/sense.h"
#include "sgprobe/transport/describe.h"

namespace sgprobe::measure {
namespace {
using namespace std::chrono_literals;
using scsi::SenseKey;

scsi::Sense sense_of(const Completion& completion) {
    return completion.outcome.check_condition() ? scsi::parse_sense(completion.sense.view()).value : scsi::Sense{};
}

bool direct_access(std::uint8_t type) { return type == 0x00 || type == 0x04 || type == 0x05 || type == 0x07 || type == 0x0e || type == 0x14; }
}

bool unit_attention(const Completion& completion, bool reset_only) {
    return sense_of(completion).is(SenseKey::unit_attention, reset_only ? 0x29 : -1);
}

LimitDrive::LimitDrive(Host& host, Drive& drive, const LimitsOptions& options, LimitsFinding& ledger)
    : host_(host), drive_(&drive), options_(options), ledger_(ledger),
      max_timeouts_(options.max_timeouts.value_or(host.is_virtual() ? 12 : 3)),
      end_(host.now() + options.budget.value_or(host.is_virtual() ? Nanoseconds(30min) : Nanoseconds(5min))) {}

bool LimitDrive::over() {
    if (!ledger_.interrupted && host_.wait(host_.now()).kind == Event::Kind::interrupted) ledger_.interrupted = true;
    if (host_.now() >= end_) ledger_.budget_spent = true;
    return ledger_.interrupted || ledger_.budget_spent || lost() || ledger_.time_outs >= std::max(1u, max_timeouts_) + 2;
}

void LimitDrive::pause(Nanoseconds time) {
    const Nanoseconds until = host_.now() + time;
    while (host_.now() < until && !ledger_.interrupted)
        if (host_.wait(until).kind == Event::Kind::interrupted) ledger_.interrupted = true;
}

Completion LimitDrive::run(Command&& command) {
    for (unsigned attention = 0;; ++attention) {
        Completion completion = execute(host_, *drive_, std::move(command));
        ++ledger_.commands;
        if (completion.outcome.good()) ledger_.bytes_transferred += completion.transferred();
        if (completion.outcome.kind == Outcome::Kind::time_out) ++ledger_.time_outs;
        const bool others = unit_attention(completion) && !unit_attention(completion, true);
        const bool becoming_ready = sense_of(completion).is(SenseKey::not_ready, 0x04);
        if (unit_attention(completion)) ++ledger_.unit_attentions;
        if (attention >= 20 || (!others && !becoming_ready) || ledger_.interrupted) return completion;
        if (becoming_ready) pause(1s);
        command = std::move(completion.command);
    }
}

Completion LimitDrive::ask(const scsi::Cdb& cdb, Bytes length, const std::string& tried, bool needed) {
    for (unsigned attempt = 0;; ++attempt) {
        Command command;
        command.cdb = cdb;
        if (length > 0) {
            command.direction = scsi::Direction::in;
            command.length = length;
            command.data = drive_->buffer(length, BufferKind::indirect);
        }
        Completion completion = run(std::move(command));
        if (completion.outcome.good()) return completion;
        const scsi::Sense sense = sense_of(completion);
        const bool final = sense.is(SenseKey::illegal_request) || completion.outcome.kind == Outcome::Kind::gone ||
            completion.outcome.kind == Outcome::Kind::os_refusal || completion.outcome.kind == Outcome::Kind::time_out || attempt >= 6;
        if (!final) continue;
        if (needed) throw failure(completion, tried);
        return completion;
    }
}

std::optional<ByteVector> LimitDrive::page(std::uint8_t code) {
    const Completion completion = ask(scsi::inquiry_vpd(code, 252), 252, "", false);
    const ByteView data = completion.data();
    if (data.size() < 4 || data[1] != code) return {};
    return ByteVector(data.begin(), data.end());
}

void LimitDrive::declare(const std::optional<ByteVector>& block_limits) {
    DeclaredLimits& declared = facts_.declared;
    if (const Bytes host = drive_->limits().max_transfer_bytes; host > 0) declared.host_max_blocks = host / facts_.block_bytes;
    if (!block_limits) {
        declared.vpd_b0_note = "the drive has no VPD page B0h: it declares nothing";
        return;
    }
    const auto parsed = scsi::parse_vpd_block_limits(*block_limits);
    declared.vpd_b0_max_blocks = parsed.value.max_transfer;
    declared.vpd_b0_optimal_blocks = parsed.value.optimal_transfer;
    declared.vpd_b0_granularity_blocks = parsed.value.optimal_granularity;
    std::string note;
    for (const auto& text : parsed.notes) note += (note.empty() ? "" : "; ") + text;
    if (!parsed.value.max_transfer && note.empty()) note = "no maximum transfer length is declared";
    if (!note.empty()) declared.vpd_b0_note = note;
}

const LimitFacts& LimitDrive::learn() {
    if (!ready()) {
        Command command;
        command.cdb = scsi::test_unit_ready();
        throw failure(run(std::move(command)), "waited for the drive to become ready", "is a medium in it, and is it spun up?");
    }
    const Completion inquiry = ask(scsi::inquiry(96), 96, "cannot read its identity", true);
    facts_.inquiry = scsi::parse_inquiry(inquiry.data()).value;
    pages::obey(*drive_, pages::device_id(facts_.inquiry));
    identity_.assign(inquiry.data().begin(), inquiry.data().begin() + std::min<std::ptrdiff_t>(36, std::ssize(inquiry.data())));
    if (!direct_access(facts_.inquiry.device_type))
        throw Failure(ExitStatus::contradiction, fmt::format("{}: not a disk (peripheral device type {:02x}h): it has no logical blocks to read", drive_->name(), facts_.inquiry.device_type));
    auto capacity = scsi::parse_capacity_10(ask(scsi::read_capacity_10(), 8, "cannot read its capacity", true).data()).value;
    if (capacity.needs_16) capacity = scsi::parse_capacity_16(ask(scsi::read_capacity_16(), 32, "cannot read its capacity", true).data()).value;
    facts_.blocks = capacity.blocks.value_or(0);
    facts_.block_bytes = capacity.block_bytes.value_or(0);
    if (facts_.blocks == 0 || facts_.block_bytes == 0)
        throw Failure(ExitStatus::malformed, fmt::format("{}: READ CAPACITY told {} blocks of {} bytes: nothing can be read from it", drive_->name(), facts_.blocks, facts_.block_bytes));
    facts_.ata = facts_.inquiry.vendor && scsi::trimmed(*facts_.inquiry.vendor) == "ATA";
    std::optional<ByteVector> block_limits;
    if (const auto list = page(0x00)) {
        const auto codes = scsi::parse_vpd_supported(*list).value;
        const auto has = [&](std::uint8_t code) { return std::find(codes.begin(), codes.end(), code) != codes.end(); };
        if (has(0xb0)) block_limits = page(0xb0);
        if (has(0x89)) facts_.ata = true;
        if (has(0x80)) if (const auto serial = page(0x80)) facts_.serial = scsi::trimmed(scsi::parse_vpd_serial(*serial).value);
        if (has(0xb1)) if (const auto b1 = page(0xb1)) facts_.rotation_rpm = scsi::parse_vpd_block_characteristics(*b1).value.rotation_rpm;
    }
    declare(block_limits);
    return facts_;
}

bool LimitDrive::ready() {
    const Nanoseconds until = host_.now() + 60s;
    while (host_.now() < until && !ledger_.interrupted) {
        Command command;
        command.cdb = scsi::test_unit_ready();
        command.timeout = 10s;
        const Completion completion = execute(host_, *drive_, std::move(command));
        ++ledger_.commands;
        if (completion.outcome.good()) return true;
        if (completion.outcome.kind == Outcome::Kind::gone) return false;
        const scsi::Sense sense = sense_of(completion);
        if (sense.is(SenseKey::not_ready, 0x3a)) return false;               // no medium: waiting brings none
        if (sense.is(SenseKey::unit_attention)) { ++ledger_.unit_attentions; continue; }
        if (sense.is(SenseKey::illegal_request)) return true;                // it knows no TEST UNIT READY, but it answers
        pause(1s);
    }
    return false;
}

bool LimitDrive::same_drive() {
    const Completion inquiry = ask(scsi::inquiry(96), 96, "", false);
    const ByteView data = inquiry.data();
    return data.size() >= identity_.size() && std::equal(identity_.begin(), identity_.end(), data.begin());
}

// A model that died stands for a power cycle; a drive that disconnected may come back under its name.
bool LimitDrive::reopen() {
    if (++reopenings_ > max_timeouts_ + 2) return false;
    const DriveSpec spec = drive_->spec();
    const Nanoseconds until = host_.now() + 15s;
    do {
        pause(1s);
        try {
            std::unique_ptr<Drive> again = host_.open(spec);
            reopened_ = std::move(again);
            drive_ = reopened_.get();
            if (ready() && same_drive()) return true;
        } catch (const Failure&) {
            // not there yet
        }
    } while (host_.now() < until && !ledger_.interrupted && !host_.is_virtual());
    return false;
}

void LimitDrive::come_back(const Completion& completion) {
    if (completion.outcome.kind == Outcome::Kind::gone) {
        const std::string why = describe(completion);
        if (!reopen()) ledger_.gone = why;
        return;
    }
    pause(1s);
    if (ready() && same_drive()) return;
    if (ledger_.interrupted) return;
    if (!drive_->gone().empty() && reopen()) return;
    ledger_.gone = "after " + describe(completion) + " the drive did not come back within a minute";
}

}
