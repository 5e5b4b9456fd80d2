#include "sgprobe/transport/describe.h"

#include <doctest/doctest.h>

#include "sgprobe/scsi/sense.h"

using namespace sgprobe;

namespace {

Completion failed(scsi::SenseKey key, std::uint8_t asc, std::uint8_t ascq) {
    Completion c;
    c.command.cdb = *scsi::build({.opcode = scsi::RwOpcode::read10, .lba = 4096, .blocks = 128});
    c.command.length = c.resid = 65536;
    c.outcome.status = scsi::Status::check_condition;
    c.sense = SenseBytes(scsi::build_fixed_sense(key, asc, ascq));
    return c;
}

}

TEST_CASE("a failed command is told by name, address, sense in words and sense in bytes") {
    const Completion c = failed(scsi::SenseKey::medium_error, 0x11, 0x00);
    CHECK(describe(c.command.cdb) == "READ(10) of 128 blocks at 4096");
    CHECK(describe(c).starts_with("CHECK CONDITION: Medium Error, 11h/00h"));
    CHECK(raw(c).find("CDB 28 00 00 00 10 00 00 00 80 00; 0 of 65536 bytes; status 02; sense 70 00 03") == 0);
}

TEST_CASE("a failed command ends the program with sg3_utils' status for it") {
    using scsi::SenseKey;
    struct { SenseKey key; std::uint8_t asc; int status; } rows[] = {
        {SenseKey::not_ready, 0x3a, 2}, {SenseKey::medium_error, 0x11, 3}, {SenseKey::hardware_error, 0x44, 3}, {SenseKey::illegal_request, 0x24, 5},
        {SenseKey::unit_attention, 0x29, 6}, {SenseKey::data_protect, 0x27, 7}, {SenseKey::illegal_request, 0x20, 9},
        {SenseKey::aborted_command, 0x4b, 11}, {SenseKey::recovered_error, 0x5d, 0},
    };
    for (const auto& row : rows) {
        CAPTURE(row.status);
        CHECK(static_cast<int>(exit_status(failed(row.key, row.asc, 0))) == row.status);
    }
    Completion c;
    c.outcome.status = scsi::Status::busy;
    CHECK(exit_status(c) == ExitStatus::busy);
    c.outcome.status = scsi::Status::task_set_full;
    CHECK(exit_status(c) == ExitStatus::task_set_full);
    c.outcome.status = scsi::Status::reservation_conflict;
    CHECK(exit_status(c) == ExitStatus::reservation_conflict);
    c.outcome.kind = Outcome::Kind::time_out;
    CHECK(exit_status(c) == ExitStatus::timeout);
    c.outcome.kind = Outcome::Kind::host_error;
    CHECK(exit_status(c) == ExitStatus::transport_error);
    c.outcome.kind = Outcome::Kind::os_refusal;
    c.outcome.os_errno = 22;
    CHECK(static_cast<int>(exit_status(c)) == 50 + 22);
}
