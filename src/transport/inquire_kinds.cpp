// The questions: what each asks, where its reply says its own length, and what its content must be.
#include <fmt/format.h>

#include "inquire_question.h"
#include "sgprobe/scsi/identify.h"
#include "sgprobe/scsi/inquiry.h"
#include "sgprobe/scsi/log.h"

namespace sgprobe {
namespace {
template <class T>
void take_problems(const scsi::Parsed<T>& parsed, Reply& reply) {
    reply.problems.insert(reply.problems.end(), parsed.problems.begin(), parsed.problems.end());
    reply.notes.insert(reply.notes.end(), parsed.notes.begin(), parsed.notes.end());
}

Reply skipped(const char* why) {
    Reply reply;
    reply.state = Reply::State::skipped;
    reply.reason = why;
    return reply;
}

std::optional<std::size_t> plus(std::optional<std::uint64_t> length, std::size_t more) {
    if (!length) return {};
    return static_cast<std::size_t>(*length) + more;
}
std::optional<std::size_t> four_and_length16(ByteView bytes) { return plus(scsi::Reader(bytes).u16(2), 4); }
}

Reply Inquirer::inquiry() {
    Question question;
    question.kind = "INQUIRY";
    question.cdb = [](Bytes allocation) { return scsi::inquiry(static_cast<std::uint16_t>(allocation)); };
    question.first = question.header = 36;
    question.most = drive_.precautions().max_inquiry_bytes.value_or(252);   // the one byte of length that SCSI-2 devices look at
    question.declared = [](ByteView bytes) { return plus(scsi::Reader(bytes).u8(4), 5); };
    question.check = [](ByteView bytes, Reply& reply) {
        if (bytes.size() >= 36 && std::ranges::all_of(bytes.subspan(8, 28), [&](std::uint8_t byte) { return byte == bytes.back() && byte != 0x20; }))
            reply.problems.push_back("INQUIRY: vendor, product and revision hold one byte repeated");
    };
    return fetch(question);
}

std::vector<std::uint8_t> Inquirer::vpd_pages() {
    if (!vpd_pages_) {
        vpd_pages_.emplace();
        if (const Reply reply = vpd(0x00)) vpd_pages_ = scsi::parse_vpd_supported(reply.bytes).value;
    }
    return *vpd_pages_;
}

Reply Inquirer::vpd(std::uint8_t page) {
    if (drive_.precautions().no_vpd) return skipped("VPD pages are known to break this device");
    Question question;
    question.kind = fmt::format("VPD page {:02X}h", page);
    question.cdb = [page](Bytes allocation) { return scsi::inquiry_vpd(page, static_cast<std::uint16_t>(allocation)); };
    question.header = drive_.precautions().no_short_vpd ? question.first : 4;
    question.declared = four_and_length16;
    question.check = [page, kind = question.kind](ByteView bytes, Reply& reply) {
        if (scsi::looks_like_inquiry(bytes)) reply.problems.push_back(kind + ": standard INQUIRY data came in its place");
        else if (scsi::Reader(bytes).u8(1) != page) reply.problems.push_back(fmt::format("{}: page {:02X}h came in its place", kind, *scsi::Reader(bytes).u8(1)));
        else if (page == 0x00 && bytes.size() == 4) reply.problems.push_back(kind + ": the list is empty, and does not even hold itself");
        else if (page == 0x89)
            if (const auto identify = scsi::parse_vpd_ata_information(bytes).value.identify; !identify.empty() && scsi::parse_identify(identify).value.checksum_good == false)
                reply.notes.push_back(kind + ": the checksum of its IDENTIFY data is wrong");
    };
    Reply reply = fetch(question);
    if (reply.state == Reply::State::malformed && scsi::looks_like_inquiry(last_bytes_)) reply.notes.push_back("the device does not look at EVPD");
    return reply;
}

Reply Inquirer::log(std::uint8_t page, std::uint8_t subpage) {
    Question question;
    question.kind = subpage == 0 ? fmt::format("log page {:02X}h", page) : fmt::format("log page {:02X}h/{:02X}h", page, subpage);
    question.cdb = [=](Bytes allocation) { return scsi::log_sense(page, subpage, static_cast<std::uint16_t>(allocation)); };
    question.declared = four_and_length16;
    question.check = [=, kind = question.kind](ByteView bytes, Reply& reply) {
        const auto parsed = scsi::parse_log_page(bytes);
        if (parsed.value.code != page || parsed.value.subpage != subpage)
            reply.problems.push_back(fmt::format("{}: page {:02X}h/{:02X}h came in its place", kind, parsed.value.code, parsed.value.subpage));
    };
    return fetch(question);
}

Reply Inquirer::ata_data_in(const scsi::AtaCommand& command, const std::string& what) {
    if (drive_.precautions().no_ata_pass_through) return skipped("ATA PASS-THROUGH is known to break this device");
    Question question;
    question.kind = what;
    question.first = question.header = question.most = 512;
    question.declared = [](ByteView bytes) { return bytes.size() < 512 ? std::optional<std::size_t>() : 512; };
    question.check = [&](ByteView bytes, Reply& reply) {
        if (command.command != 0xec) {
            if (!scsi::ata_checksum_good(bytes)) reply.problems.push_back(what + ": its checksum is wrong");
            return;
        }
        auto parsed = scsi::parse_identify(bytes);
        const bool unusable = parsed.value.checksum_good == false || !parsed.value.model;
        auto& where = unusable ? reply.problems : reply.notes;   // two counts that differ are worth saying, and all else stands
        where.insert(where.end(), parsed.problems.begin(), parsed.problems.end());
        reply.notes.insert(reply.notes.end(), parsed.notes.begin(), parsed.notes.end());
    };
    question.cdb = [&](Bytes) { return scsi::ata_pass_through_16(command); };
    Reply reply = fetch(question);
    const auto twelve = scsi::ata_pass_through_12(command);
    if (reply.state != Reply::State::absent || !twelve) return reply;
    question.cdb = [&](Bytes) { return *twelve; };
    return fetch(question);
}

Reply Inquirer::identify() { return ata_data_in(scsi::ata_identify_device(), "IDENTIFY DEVICE"); }
Reply Inquirer::smart_data() { return ata_data_in(scsi::ata_smart_read_data(), "SMART READ DATA"); }

CapacityReply Inquirer::capacity() {
    Question ten;
    ten.kind = "READ CAPACITY(10)";
    ten.first = ten.header = ten.most = 8;
    ten.cdb = [](Bytes) { return scsi::read_capacity_10(); };
    ten.declared = [](ByteView bytes) { return bytes.size() < 8 ? std::optional<std::size_t>() : 8; };
    ten.check = [](ByteView bytes, Reply& reply) { take_problems(scsi::parse_capacity_10(bytes), reply); };
    Question sixteen;
    sixteen.kind = "READ CAPACITY(16)";
    sixteen.first = 32;
    sixteen.header = sixteen.most = 32;
    sixteen.cdb = [](Bytes allocation) { return scsi::read_capacity_16(static_cast<std::uint32_t>(allocation)); };
    sixteen.declared = [](ByteView bytes) { return bytes.size() < 12 ? std::optional<std::size_t>() : std::min<std::size_t>(bytes.size(), 32); };
    sixteen.check = [](ByteView bytes, Reply& reply) { take_problems(scsi::parse_capacity_16(bytes), reply); };

    CapacityReply out;
    static_cast<Reply&>(out) = fetch(ten);
    if (out) out.capacity = scsi::parse_capacity_10(out.bytes).value;
    const bool ask_16 = !drive_.precautions().no_read_capacity_16 && out.state != Reply::State::failed;
    Reply wide = ask_16 ? fetch(sixteen) : skipped("READ CAPACITY(16) is known to break this device");
    if (wide) {
        const scsi::Capacity from_16 = scsi::parse_capacity_16(wide.bytes).value;
        if (out && !out.capacity.needs_16 && !drive_.precautions().needs_read_capacity_16 &&
            (out.capacity.blocks != from_16.blocks || out.capacity.block_bytes != from_16.block_bytes)) {
            out.problems.push_back(fmt::format("READ CAPACITY(10) says {} blocks of {} bytes, READ CAPACITY(16) says {} of {}", out.capacity.blocks.value_or(0),
                                               out.capacity.block_bytes.value_or(0), from_16.blocks.value_or(0), from_16.block_bytes.value_or(0)));
            // The smaller one is safe: nothing is read past it.
            if (from_16.block_bytes == out.capacity.block_bytes && from_16.blocks < out.capacity.blocks) out.capacity.blocks = from_16.blocks;
        } else {
            static_cast<Reply&>(out) = wide;
            out.capacity = from_16;
        }
    } else if (!out || out.capacity.needs_16) {
        static_cast<Reply&>(out) = wide;
    }
    if (out && drive_.precautions().capacity_one_too_large && out.capacity.blocks && *out.capacity.blocks > 1) {
        --*out.capacity.blocks;
        out.notes.push_back("this device is known to say one block too many: one was taken off");
    }
    return out;
}

}
