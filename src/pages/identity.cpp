#include "sgprobe/pages/device_id.h"
#include "sgprobe/pages/identity.h"

#include <fmt/format.h>

#include "sgprobe/scsi/inquiry.h"
#include "sgprobe/scsi/sense.h"
#include "sgprobe/transport/describe.h"
#include "sgprobe/transport/escape.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::pages {
namespace {

// The reply, or nothing where the drive refuses. A unit attention, a time-out or a reset is tried over.
std::optional<Completion> inquire(Host& host, Drive& drive, const scsi::Cdb& cdb) {
    for (int i = 0;; ++i) {
        Command command;
        command.cdb = cdb;
        command.direction = scsi::Direction::in;
        command.length = 252;
        command.data = drive.buffer(252, BufferKind::indirect);
        Completion completion = execute(host, drive, std::move(command));
        if (completion.outcome.good()) return completion;
        const bool refused = completion.outcome.check_condition() && scsi::parse_sense(completion.sense.view()).value.is(scsi::SenseKey::illegal_request);
        if (refused || !forbidden(drive.precautions(), completion.command.cdb).empty()) return {};
        if (i >= 3 || completion.outcome.kind == Outcome::Kind::gone || completion.outcome.kind == Outcome::Kind::os_refusal)
            throw failure(completion, "cannot tell which drive this is");
    }
}

DriveIdentity read_once(Host& host, Drive& drive) {
    DriveIdentity identity;
    const auto standard = inquire(host, drive, scsi::inquiry(252));
    if (!standard) throw Failure(ExitStatus::malformed, fmt::format("{}: refuses INQUIRY, which every drive must answer", drive.name()));
    const scsi::Inquiry inquiry = scsi::parse_inquiry(standard->data()).value;
    obey(drive, device_id(inquiry));
    identity.vendor = scsi::trimmed(inquiry.vendor.value_or(""));
    identity.product = scsi::trimmed(inquiry.product.value_or(""));
    identity.revision = scsi::trimmed(inquiry.revision.value_or(""));
    if (const auto reply = inquire(host, drive, scsi::inquiry_vpd(0x80, 252))) {
        const auto serial = scsi::parse_vpd_serial(reply->data());
        if (serial.ok()) identity.serial = scsi::trimmed(serial.value);
    }
    if (const auto reply = inquire(host, drive, scsi::inquiry_vpd(0x83, 252))) {
        const auto list = scsi::parse_vpd_designators(reply->data());
        for (const scsi::Designator& designator : list.value)
            if (list.ok() && designator.association == 0 && identity.designator.empty()) identity.designator = designator.text();
    }
    return identity;
}

}

bool DriveIdentity::same_drive(const DriveIdentity& other) const {
    return vendor == other.vendor && product == other.product && serial == other.serial && designator == other.designator;
}

std::string DriveIdentity::text() const {
    return escaped(fmt::format("{} {}{}{}", vendor, product, serial.empty() ? ", no serial number" : ", serial ", serial));
}

// Two readings must agree: this decides whether a drive is restored, and where its journal lies.
DriveIdentity identify(Host& host, Drive& drive) {
    DriveIdentity before = read_once(host, drive);
    for (int i = 0; i < 4; ++i) {
        DriveIdentity again = read_once(host, drive);
        if (again.same_drive(before)) return again;
        before = std::move(again);
    }
    throw Failure(ExitStatus::malformed, fmt::format("{}: answers INQUIRY differently each time", drive.name()));
}

}
