// MODE SENSE in both forms, and the page that was asked for among what came back.
#include <fmt/format.h>

#include "inquire_question.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe {
namespace {
std::string page_name(std::uint8_t code, std::uint8_t subpage) {
    return subpage == 0 ? fmt::format("mode page {:02X}h", code) : fmt::format("mode page {:02X}h/{:02X}h", code, subpage);
}
}

ModeReply Inquirer::mode_of_form(const scsi::ModeSense& asked, bool ten_byte) {
    const std::size_t width = ten_byte ? 2 : 1;
    Question question;
    question.kind = fmt::format("MODE SENSE({}) of {}", ten_byte ? 10 : 6, page_name(asked.page, asked.subpage));
    question.cdb = [&](Bytes allocation) {
        return ten_byte ? scsi::mode_sense_10(asked, static_cast<std::uint16_t>(allocation)) : scsi::mode_sense_6(asked, static_cast<std::uint8_t>(allocation));
    };
    question.header = ten_byte ? 8 : 4;
    question.most = ten_byte ? 65535 : 255;
    question.declared = [width](ByteView bytes) -> std::optional<std::size_t> {
        const auto length = scsi::Reader(bytes).big_endian(0, width);
        if (!length) return {};
        return static_cast<std::size_t>(*length) + width;
    };
    ModeReply reply;
    static_cast<Reply&>(reply) = fetch(question);
    reply.ten_byte = ten_byte;
    if (!reply) return reply;

    scsi::Parsed<scsi::ModeData> parsed = ten_byte ? scsi::parse_mode_10(reply.bytes) : scsi::parse_mode_6(reply.bytes);
    const auto wrong = [&](std::string text) {
        reply.state = Reply::State::malformed;
        reply.exit_status = static_cast<int>(ExitStatus::malformed);
        reply.problems.push_back(std::move(text));
    };
    for (std::string& note : parsed.notes) reply.notes.push_back(std::move(note));
    for (std::string& problem : parsed.problems) wrong(question.kind + ": " + problem);
    if (!reply) return reply;
    reply.data = std::move(parsed.value);
    if (reply.data.pages.empty()) {
        reply.state = Reply::State::absent;
        reply.reason = "GOOD status, but a header without a page";
    } else if (asked.page != 0x3f) {
        const auto fits = [&](const scsi::ModePage& page) { return page.code == asked.page && (asked.subpage == 0xff || page.subpage == asked.subpage); };
        if (std::ranges::none_of(reply.data.pages, fits)) {
            const scsi::ModePage& came = reply.data.pages.front();
            wrong(fmt::format("{}: {} came in its place", question.kind, page_name(came.code, came.subpage)));
            reply.data.pages.clear();
        }
    }
    return reply;
}

ModeReply Inquirer::mode(const scsi::ModeSense& asked) {
    if (drive_.precautions().no_mode_sense) {
        ModeReply reply;
        reply.state = Reply::State::skipped;
        reply.reason = "MODE SENSE is known to break this device";
        return reply;
    }
    const bool first = mode_ten_byte_.value_or(true);
    ModeReply reply = mode_of_form(asked, first);
    if (!reply && !mode_ten_byte_ && drive_.gone().empty()) {
        ModeReply other = mode_of_form(asked, !first);
        if (other) reply = std::move(other);
    }
    if (reply) mode_ten_byte_ = reply.ten_byte;
    return reply;
}

}
