#include "tcmu_ring.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>

namespace sgprobe::kernel {

namespace {

constexpr std::uint16_t out_of_order = 1, short_reads = 2;   // what the mailbox's flags promise
constexpr std::uint8_t read_bytes_valid = 2;                 // a user flag of an entry

// SPC-5 4.2.5.1: the group code in the opcode's top three bits gives the length; 7Fh carries its own.
std::size_t cdb_bytes(const std::uint8_t* cdb) {
    static constexpr std::size_t by_group[] = {6, 10, 10, 0, 16, 12, 16, 16};
    return cdb[0] == 0x7f ? std::size_t{8} + cdb[7] : by_group[cdb[0] >> 5];
}

[[noreturn]] void fail(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

}

Bytes RingCommand::length() const {
    Bytes sum = 0;
    for (const auto& piece : pieces) sum += piece.size();
    return sum;
}

ByteVector RingCommand::gather() const {
    ByteVector data;
    for (const auto& piece : pieces) data.insert(data.end(), piece.begin(), piece.end());
    return data;
}

void RingCommand::scatter(ByteView data) const {
    for (const auto& piece : pieces) {
        const auto count = std::min(piece.size(), data.size());
        std::copy_n(data.begin(), count, piece.begin());
        data = data.subspan(count);
    }
}

Ring::Ring(const std::string& device) {
    std::ifstream size("/sys/class/uio/" + device.substr(device.rfind('/') + 1) + "/maps/map0/size");
    if (!(size >> std::hex >> map_bytes_)) throw std::runtime_error(device + ": its map has no size in sysfs");
    descriptor_ = ::open(device.c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor_ < 0) fail(device);
    void* map = ::mmap(nullptr, map_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
    if (map == MAP_FAILED) fail(device + ": mmap");
    map_ = static_cast<std::uint8_t*>(map);
    mailbox_ = reinterpret_cast<RingMailbox*>(map_);
    if (mailbox_->version != 2 || !(mailbox_->flags & out_of_order))
        throw std::runtime_error(device + ": not a ring of version 2 that may be answered out of order");
    read_ = mailbox_->tail;
}

Ring::~Ring() {
    if (map_) ::munmap(map_, map_bytes_);
    if (descriptor_ >= 0) ::close(descriptor_);
}

RingEntry* Ring::entry(std::uint32_t position) const {
    return reinterpret_cast<RingEntry*>(map_ + mailbox_->ring_offset + position);
}

std::optional<RingCommand> Ring::next() {
    while (read_ != __atomic_load_n(&mailbox_->head, __ATOMIC_ACQUIRE)) {
        const RingEntry& from = *entry(read_);
        read_ = (read_ + from.length()) % mailbox_->ring_bytes;
        if (!from.is_command()) continue;
        RingCommand command;
        command.id = from.id;
        const std::uint8_t* cdb = map_ + from.request.cdb_offset;
        command.cdb.assign(cdb, cdb + cdb_bytes(cdb));
        const auto* pieces = reinterpret_cast<const iovec*>(&from.request + 1);
        for (const iovec& piece : std::span(pieces, from.request.pieces))
            command.pieces.emplace_back(map_ + reinterpret_cast<std::uintptr_t>(piece.iov_base), piece.iov_len);
        return command;
    }
    skip_tail_padding();
    return {};
}

void Ring::advance_tail(std::uint32_t length) {
    __atomic_store_n(&mailbox_->tail, (mailbox_->tail + length) % mailbox_->ring_bytes, __ATOMIC_RELEASE);
}

void Ring::skip_tail_padding() {
    while (mailbox_->tail != read_ && !entry(mailbox_->tail)->is_command()) advance_tail(entry(mailbox_->tail)->length());
}

// The oldest entry's place takes the answer, whichever command it is for: what stood there was copied by next().
void Ring::complete(const RingCommand& command, scsi::Status status, ByteView sense, std::optional<Bytes> read_bytes) {
    skip_tail_padding();
    RingEntry& to = *entry(mailbox_->tail);
    to.id = command.id;
    to.user_flags = 0;
    to.response = {};
    to.response.status = static_cast<std::uint8_t>(status);
    std::copy_n(sense.begin(), std::min(sense.size(), sizeof to.response.sense), to.response.sense);
    if (read_bytes && (mailbox_->flags & short_reads)) {
        to.user_flags = read_bytes_valid;
        to.response.read_bytes = static_cast<std::uint32_t>(*read_bytes);
    }
    advance_tail(to.length());
    const std::uint32_t kick = 0;
    if (::write(descriptor_, &kick, sizeof kick) != sizeof kick) fail("telling the kernel of a completion");
}

// As few system calls as will do: each is a few context switches in User Mode Linux.
void Ring::wait(std::optional<Nanoseconds> time) {
    if (time) {
        pollfd poll{descriptor_, POLLIN, 0};
        timespec limit{};
        limit.tv_sec = *time / std::chrono::seconds(1);
        limit.tv_nsec = (*time % std::chrono::seconds(1)).count();
        if (::ppoll(&poll, 1, &limit, nullptr) <= 0) return;
    }
    std::uint32_t events = 0;
    if (::read(descriptor_, &events, sizeof events) < 0 && errno != EINTR) fail("waiting for the kernel's commands");
}

}
