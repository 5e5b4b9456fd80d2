// The kernel's side of a user-space SCSI target: the command ring of target_core_user (Documentation/target/tcmu-design.rst).
// Commands may be completed in any order; the kernel finds them by their id. One thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sgprobe/transport/target.h"

namespace sgprobe::kernel {

struct RingCommand {
    std::uint16_t id = 0;
    ByteVector cdb;
    std::vector<std::span<std::uint8_t>> pieces;   // the command's data in the shared area; valid until complete()
    Bytes length() const;
    ByteVector gather() const;
    void scatter(ByteView) const;
};

// The layout of <linux/target_core_user.h>, which is not C++.
struct RingMailbox {
    std::uint16_t version, flags;
    std::uint32_t ring_offset, ring_bytes;
    std::uint32_t head;                            // the kernel's: where it puts the next entry
    alignas(64) std::uint32_t tail;                // ours: the oldest entry not answered
};
struct RingEntry {
    std::uint32_t length_and_operation;            // the operation in the three lowest bits
    std::uint16_t id;
    std::uint8_t kernel_flags, user_flags;
    struct Request {
        std::uint32_t pieces, bidirectional_pieces, protection_pieces;
        std::uint64_t cdb_offset, padding[2];      // iovec[pieces] follows
    };
    struct Response {
        std::uint8_t status, padding[3];
        std::uint32_t read_bytes;
        std::uint8_t sense[96];
    };
    union {
        Request request;
        Response response;
    };
    std::uint32_t length() const { return length_and_operation & ~7u; }
    bool is_command() const { return (length_and_operation & 7u) == 1; }
};
static_assert(offsetof(RingMailbox, tail) == 64 && offsetof(RingEntry, request.cdb_offset) == 24);
static_assert(offsetof(RingEntry, response.sense) == 16 && offsetof(RingEntry, request) + sizeof(RingEntry::Request) == 48);

class Ring {
public:
    explicit Ring(const std::string& device);      // "/dev/uio0"; throws std::system_error
    Ring(const Ring&) = delete;
    ~Ring();
    std::optional<RingCommand> next();             // what has arrived and was not handed out yet
    void complete(const RingCommand&, scsi::Status, ByteView sense, std::optional<Bytes> read_bytes);
    void wait(std::optional<Nanoseconds>);         // until something arrives, or for so long
private:
    RingEntry* entry(std::uint32_t position) const;
    void advance_tail(std::uint32_t length);
    void skip_tail_padding();
    int descriptor_ = -1;
    Bytes map_bytes_ = 0;
    std::uint8_t* map_ = nullptr;
    RingMailbox* mailbox_ = nullptr;
    std::uint32_t read_ = 0;                       // position of the next entry to hand out
};

}
