#include "sgprobe/transport/inquire.h"

#include <fmt/format.h>

#include "inquire_question.h"
#include "sgprobe/scsi/sense.h"
#include "sgprobe/transport/describe.h"

namespace sgprobe {
namespace {
constexpr int most_attempts = 4;

bool illegal_request(const Completion& c) {
    return c.outcome.check_condition() && scsi::parse_sense(c.sense.view()).value.is(scsi::SenseKey::illegal_request);
}

bool another_commands(const Completion& c) {
    if (!c.outcome.check_condition()) return false;
    const scsi::Sense sense = scsi::parse_sense(c.sense.view()).value;
    return sense.deferred || sense.is(scsi::SenseKey::unit_attention);
}
}

Inquirer::Inquirer(Host& host, Drive& drive) : host_(host), drive_(drive) {}

Completion Inquirer::ask(const scsi::Cdb& cdb, Bytes allocation) {
    for (int attempt = 1;; ++attempt) {
        Command command;
        command.cdb = cdb;
        command.direction = scsi::Direction::in;
        command.length = allocation;
        command.data = drive_.buffer(allocation, BufferKind::indirect);
        std::ranges::fill(command.data.bytes(), std::uint8_t{0});
        Completion completion = execute(host_, drive_, std::move(command));
        if (attempt == most_attempts || !another_commands(completion)) return completion;
    }
}

void Inquirer::judge(const Question& question, Bytes allocation, ByteView arrived, Reply& reply) {
    const auto wrong = [&](std::string text) {
        reply.state = Reply::State::malformed;
        reply.problems.push_back(std::move(text));
    };
    if (arrived.empty()) return wrong(question.kind + ": GOOD status, but no data came");
    if (const std::string signature = transport_signature(arrived); !signature.empty()) return wrong(question.kind + ": " + signature);
    if (last_kind_ != question.kind && arrived.size() >= 16 && std::ranges::equal(arrived, last_bytes_))
        return wrong(fmt::format("{}: the reply to the command before ({}) came again", question.kind, last_kind_));
    last_kind_ = question.kind;
    last_bytes_.assign(arrived.begin(), arrived.end());

    const auto declared = question.declared(arrived);
    if (!declared) return wrong(fmt::format("{}: {} bytes came, fewer than its header", question.kind, arrived.size()));
    const ByteView own = arrived.first(std::min(*declared, arrived.size()));
    if (*declared > arrived.size() && arrived.size() < allocation)
        reply.problems.push_back(fmt::format("{} says that it has {} bytes, only {} came where {} were allowed", question.kind, *declared, arrived.size(), allocation));
    if (const ByteView tail = arrived.subspan(own.size()); std::ranges::any_of(tail, [](std::uint8_t byte) { return byte != 0; }))
        reply.notes.push_back(fmt::format("{} bytes that mean nothing follow {}", tail.size(), question.kind));
    const std::size_t before = reply.problems.size();
    if (question.check) question.check(own, reply);
    if (reply.problems.size() > before) return void(reply.state = Reply::State::malformed);
    reply.state = Reply::State::present;
    reply.bytes.assign(own.begin(), own.end());
}

Reply Inquirer::once(const Question& question, Bytes allocation) {
    Reply reply;
    const Completion completion = ask(question.cdb(allocation), allocation);
    if (completion.outcome.good()) {
        // A bridge that lies about what it moved (or did not) is believed only in the length that the reply itself says.
        const ByteView arrived = drive_.precautions().residue_unreliable ? completion.command.data.bytes() : completion.data();
        judge(question, allocation, arrived, reply);
        if (reply.state == Reply::State::malformed) reply.exit_status = static_cast<int>(ExitStatus::malformed);
        return reply;
    }
    reply.state = illegal_request(completion) ? Reply::State::absent : Reply::State::failed;
    reply.exit_status = static_cast<int>(sgprobe::exit_status(completion));
    reply.reason = describe(completion);
    return reply;
}

// The usual allocation first; where that fails, the header alone, and then just what the header says. Some devices fail any
// request longer than the page, and are lost where the page is then called absent.
Reply Inquirer::fetch(const Question& question) {
    Reply reply = once(question, question.first);
    Bytes asked = question.first;
    if (!reply && reply.state != Reply::State::malformed && question.header < question.first && drive_.gone().empty()) {
        Reply small = once(question, question.header);
        if (small) {
            reply = std::move(small);
            asked = question.header;
            reply.notes.push_back(fmt::format("{} failed with an allocation of {} bytes and answered to {}", question.kind, question.first, question.header));
        }
    }
    if (!reply) return reply;
    const auto declared = question.declared(reply.bytes);
    if (declared && *declared > asked && asked < question.most) {
        Reply whole = once(question, std::min<Bytes>(*declared, question.most));
        for (std::string& note : reply.notes) whole.notes.push_back(std::move(note));
        if (whole || asked == question.header) return whole;
        reply.notes.push_back(fmt::format("{} has {} bytes, and only the first {} could be read: {}", question.kind, *declared, asked, whole.reason));
    }
    return reply;
}

std::string transport_signature(ByteView bytes) {
    const scsi::Reader data(bytes);
    // USB mass storage 5.2: a command status wrapper is 13 bytes that begin with "USBS"; a command wrapper begins with "USBC".
    if (data.u32(0) == 0x55534253u) return "a USB status wrapper (USBS) came in place of the data";
    if (data.u32(0) == 0x55534243u) return "a USB command wrapper (USBC) came in place of the data";
    return {};
}

}
