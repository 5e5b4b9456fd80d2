#include "../../src/transport/sg_header.h"

#include <doctest/doctest.h>

#include <cerrno>

#include "scripted_target.h"

using namespace sgprobe;
using namespace sgprobe::tests;
using namespace std::chrono_literals;
using Kind = Outcome::Kind;

namespace {

Completion decoded(int status, int host, int driver, int resid = 0, ByteVector sense = {}) {
    sg_io_hdr header{};
    header.status = static_cast<unsigned char>(status);
    header.host_status = static_cast<unsigned short>(host);
    header.driver_status = static_cast<unsigned short>(driver);
    header.resid = resid;
    header.sbp = sense.data();
    header.sb_len_wr = static_cast<unsigned char>(sense.size());
    Completion completion;
    completion.command = read_command(4096);
    decode_header(header, completion);
    return completion;
}

}

TEST_CASE("sg: what the driver answers becomes an outcome") {
    struct { int status, host, driver; Kind kind; } rows[] = {
        {0, 0, 0, Kind::status},     {2, 0, 8, Kind::status},      {0, 0, 8, Kind::status},     {8, 0, 0, Kind::status},
        {0, 3, 0, Kind::time_out},   {0, 0, 6, Kind::time_out},    {0, 1, 0, Kind::gone},       {0, 4, 0, Kind::gone},
        {0, 5, 0, Kind::host_error}, {0, 8, 0, Kind::host_error},  {0, 7, 0, Kind::host_error}, {0, 0, 4, Kind::host_error},
        {0x28, 0, 0, Kind::status},  {2, 3, 8, Kind::time_out},
    };
    for (const auto& row : rows) {
        CAPTURE(row.status);
        CAPTURE(row.host);
        CAPTURE(row.driver);
        const Completion c = decoded(row.status, row.host, row.driver);
        CHECK(c.outcome.kind == row.kind);
        CHECK(c.outcome.host_status == row.host);
        CHECK(c.resid == (row.kind == Kind::status ? 0 : 4096));
    }
    CHECK(decoded(0x28, 0, 0).outcome.status == scsi::Status::task_set_full);
}

TEST_CASE("sg: sense is kept, also with status GOOD") {
    CHECK(decoded(2, 0, 8, 4096, {0x70, 0, 3}).sense.view().size() == 3);
    CHECK(decoded(0, 0, 8, 0, {0x72, 1}).sense.view()[1] == 1);
}

TEST_CASE("sg: a residual outside the transfer is brought back into it") {
    CHECK(decoded(0, 0, 0, 512).transferred() == 3584);
    CHECK(decoded(0, 0, 0, -512).transferred() == 4096);
    CHECK(decoded(0, 0, 0, 99999).transferred() == 0);
}

TEST_CASE("sg: refusals of the system are values, and a device that is no more is gone") {
    for (const int error : {EINVAL, ENOMEM, EDOM, EPERM, EIO}) {
        CHECK(outcome_of_refusal(error).kind == Kind::os_refusal);
        CHECK(outcome_of_refusal(error).os_errno == error);
    }
    CHECK(outcome_of_refusal(ENODEV).kind == Kind::gone);
    CHECK(outcome_of_refusal(ENXIO).kind == Kind::gone);
}

TEST_CASE("sg: commands queue at the tail, unread data is not copied, time-outs are in ms and never 0") {
    std::array<std::uint8_t, 252> sense;
    sg_io_hdr header;
    Command command = read_command(4096);
    fill_header(header, command, 1500us, sense);
    CHECK(header.interface_id == 'S');
    CHECK(header.flags == 0x10);
    CHECK(header.dxferp == nullptr);
    CHECK(header.dxfer_direction == SG_DXFER_FROM_DEV);
    CHECK(header.dxfer_len == 4096);
    CHECK(header.timeout == 2);
    command.data = Buffer::allocate(4096);
    fill_header(header, command, 60s, sense);
    CHECK(header.dxferp == command.data.bytes().data());
    CHECK(header.timeout == 60000);
    command.data = Buffer::allocate(4096, BufferKind::direct);
    fill_header(header, command, 0s, sense);
    CHECK(header.flags == 0x11);
    CHECK(header.timeout == 1);
    command.direction = scsi::Direction::none;
    fill_header(header, command, 60s, sense);
    CHECK(header.dxfer_len == 0);
    CHECK(header.dxfer_direction == SG_DXFER_NONE);
}
