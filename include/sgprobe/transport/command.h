// What goes to a drive and what comes back. Results are values: no outcome of a command is ever thrown.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "sgprobe/scsi/cdb.h"
#include "sgprobe/scsi/status.h"
#include "sgprobe/scsi/types.h"

namespace sgprobe {

// Where a command's data lives: copied by the kernel, its reserved buffer mapped, user pages, or user huge pages.
enum class BufferKind : std::uint8_t { indirect, mmap, direct, huge };

// Memory for a command's data. Move-only; owned by the command while it is outstanding and handed back with its completion,
// so that a loop of commands allocates nothing.
class Buffer {
public:
    using Release = void (*)(std::uint8_t* data, Bytes size);
    Buffer() = default;
    Buffer(std::uint8_t* data, Bytes size, BufferKind kind, Release release)
        : data_(data), size_(size), release_(release), kind_(kind) {}
    Buffer(Buffer&& other) noexcept { swap(other); }
    Buffer& operator=(Buffer&& other) noexcept { Buffer(std::move(other)).swap(*this); return *this; }
    ~Buffer() { if (data_) release_(data_, size_); }
    std::span<std::uint8_t> bytes() { return {data_, size_}; }
    ByteView bytes() const { return {data_, size_}; }
    Bytes size() const { return size_; }
    BufferKind kind() const { return kind_; }
    explicit operator bool() const { return data_ != nullptr; }
    static Buffer allocate(Bytes size, BufferKind = BufferKind::indirect);   // page-aligned ordinary memory
private:
    void swap(Buffer& other) noexcept {
        std::swap(data_, other.data_); std::swap(size_, other.size_);
        std::swap(release_, other.release_); std::swap(kind_, other.kind_);
    }
    std::uint8_t* data_ = nullptr;
    Bytes size_ = 0;
    Release release_ = nullptr;
    BufferKind kind_ = BufferKind::indirect;
};

enum class TaskAttribute : std::uint8_t { simple, ordered, head_of_queue };   // SAM-5 8.6; the sg driver always sends simple

struct Command {
    std::uint64_t tag = 0;                 // the caller's own; comes back unchanged
    scsi::Cdb cdb;
    scsi::Direction direction = scsi::Direction::none;
    Bytes length = 0;                      // bytes to transfer; no more than data holds, unless data is left empty
    Buffer data;                           // empty on a read: nobody reads what arrives, so it need not be copied
    Nanoseconds timeout{0};                // 0: the host's own (60 s, --timeout)
    TaskAttribute attribute = TaskAttribute::simple;
};

// Sense data as it came, cut at the 252 bytes that SPC-5 4.4.1 allows.
struct SenseBytes {
    std::uint8_t size = 0;
    std::array<std::uint8_t, 252> bytes;
    SenseBytes() {}
    explicit SenseBytes(ByteView);
    SenseBytes(const SenseBytes& other) { *this = other; }
    SenseBytes& operator=(const SenseBytes&);   // copies what is used
    ByteView view() const { return ByteView(bytes).first(size); }
};

struct Outcome {
    enum class Kind : std::uint8_t {
        status,       // the drive answered: `status`
        time_out,     // no answer within the command's timeout; the host aborted it
        host_error,   // the HBA or its driver failed it: host_status (DID_*), driver_status; a bus reset is one of these
        os_refusal,   // the system would not take it, and no command reached a drive: os_errno (EINVAL, ENOMEM, EDOM, EIO...)
        gone,         // there is no drive any more: os_errno (ENODEV, ENXIO), or a model that died
    };
    Kind kind = Kind::status;
    scsi::Status status = scsi::Status::good;
    int os_errno = 0;
    std::uint16_t host_status = 0, driver_status = 0;
    bool good() const { return kind == Kind::status && status == scsi::Status::good; }
    bool check_condition() const { return kind == Kind::status && status == scsi::Status::check_condition; }
    bool flow_control() const {
        return kind == Kind::status && (status == scsi::Status::busy || status == scsi::Status::task_set_full);
    }
};

class Drive;

struct Completion {
    Drive* drive = nullptr;
    Command command;                       // handed back with its buffer
    Outcome outcome;
    SenseBytes sense;                      // what autosense brought; meaningful with CHECK CONDITION
    Bytes resid = 0;                       // bytes of command.length that did not move; never more than length
    Nanoseconds submitted{0}, finished{0}; // on the host's clock
    Nanoseconds latency() const { return finished - submitted; }
    Bytes transferred() const { return command.length - resid; }
    ByteView data() const {                // what arrived: nothing unless the status is GOOD (data after CHECK CONDITION is not trusted)
        const ByteView all = std::as_const(command.data).bytes();
        return outcome.good() ? all.first(static_cast<std::size_t>(std::min<Bytes>(transferred(), all.size()))) : ByteView{};
    }
};

}
