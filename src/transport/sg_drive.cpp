#include "sg_drive.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sg_header.h"
#include "sgprobe/transport/escape.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe {
namespace {

int open_node(const std::string& node) {
    return ::open(node.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
}

std::string why_not_opened(int error) {
    switch (error) {
        case ENOENT: return "there is no such device";
        case EACCES:
        case EPERM: return "permission denied: run as root";
        case EBUSY: return "another program has it open for itself alone";
        case ENXIO:
        case ENODEV: return "there is no device behind it any more";
        default: return std::strerror(error);
    }
}

constexpr Bytes huge_page_bytes = 2u << 20;

}

SgDrive::SgDrive(SgHost& host, const DriveSpec& spec, const std::string& sg)
    : host_(host), spec_(spec), sg_(sg), node_(host.options_.sysfs.root() + "/dev/" + sg) {
    const auto cannot = [&](const std::string& why) {
        const std::string mapped = spec.rest == "/dev/" + sg ? "" : " (" + node_ + ")";
        return Failure(ExitStatus::file_error, fmt::format("{}{} cannot be opened: {}", escaped(spec.text, 200), mapped, why));
    };
    SgFile& first = open_file();
    if (first.fd < 0) throw cannot(why_not_opened(errno));
    int version = 0;
    if (ioctl(first.fd, SG_GET_VERSION_NUM, &version) != 0 || version < 30000) {
        close(first.fd);
        throw cannot("it is not a node of the sg driver, version 3");
    }
    const auto device = host.options_.sysfs.device(sg);
    limits_.depth = greatest_depth;
    if (device) {
        if (device->can_queue.value_or(0) > 0) limits_.depth = static_cast<unsigned>(std::min<std::uint64_t>(greatest_depth, *device->can_queue));
        limits_.max_transfer_bytes = device->queue.max_hw_sectors_kb.value_or(0) * 1024;
    }
    limits_.buffer_kinds = {BufferKind::indirect, BufferKind::mmap};
    if (host.options_.sysfs.direct_io_allowed()) limits_.buffer_kinds.insert(limits_.buffer_kinds.end(), {BufferKind::direct, BufferKind::huge});
    host.drives_.push_back(this);
}

SgDrive::~SgDrive() {
    drain();
    std::erase(host_.drives_, this);
    for (const auto& file : files_) {
        std::erase(host_.readable_, file.get());
        if (file->fd >= 0) close(file->fd);
    }
    host_.next_readable_ = 0;
    std::erase_if(host_.at_hand_, [&](const Completion& c) { return c.drive == this; });
}

// The kernel completes every command by its timeout; until then its buffer must stay.
void SgDrive::drain() {
    if (host_.staged_ == this) host_.staged_ = nullptr;
    Nanoseconds give_up = host_.now();
    unsigned sent = 0;
    for (const auto& slot : slots_) {
        if (slot->file) give_up = std::max(give_up, slot->submitted + Nanoseconds(std::chrono::milliseconds(slot->header.timeout)) + std::chrono::seconds(60));
    }
    for (const auto& file : files_) sent += file->sent;
    Completion ignored;
    while (sent > 0 && host_.now() < give_up) {
        unsigned left = 0;
        for (const auto& file : files_) {
            while (file->sent > 0 && read_from(*file, ignored)) {}
            left += file->sent;
        }
        if (left == sent) usleep(1000);
        sent = left;
    }
    host_.sent_ -= sent;
}

SgFile& SgDrive::open_file() {
    SgFile& file = *files_.emplace_back(std::make_unique<SgFile>());
    file.drive = this;
    file.fd = open_node(node_);
    if (file.fd < 0) return file;
    int reserved = 0;
    if (ioctl(file.fd, SG_GET_RESERVED_SIZE, &reserved) == 0) file.reserved = static_cast<Bytes>(std::max(0, reserved));
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = &file;
    epoll_ctl(host_.epoll_, EPOLL_CTL_ADD, file.fd, &event);
    return file;
}

Buffer SgDrive::buffer(Bytes bytes, BufferKind kind) {
    switch (kind) {
        case BufferKind::indirect:
        case BufferKind::direct: return Buffer::allocate(bytes, kind);
        case BufferKind::huge: {
            const Bytes rounded = (bytes + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
            void* memory = ::mmap(nullptr, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_POPULATE, -1, 0);
            if (memory == MAP_FAILED) return {};
            return Buffer(static_cast<std::uint8_t*>(memory), bytes, kind, [](std::uint8_t* data, Bytes size) {
                munmap(data, (size + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes);
            });
        }
        case BufferKind::mmap: break;
    }
    SgFile& file = open_file();
    if (file.fd < 0) return {};
    reserve(file, bytes);
    int reserved = 0;
    void* memory = MAP_FAILED;
    if (ioctl(file.fd, SG_GET_RESERVED_SIZE, &reserved) == 0 && static_cast<Bytes>(std::max(reserved, 0)) >= bytes) {
        memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd, 0);
    }
    if (memory == MAP_FAILED) {
        close(file.fd);
        files_.pop_back();
        return {};
    }
    // A buffer that was given back may have stood at this address: its descriptor must not be taken for this one.
    for (const auto& other : files_) if (other->mapped == memory) other->mapped = nullptr;
    file.mapped = static_cast<std::uint8_t*>(memory);
    return Buffer(file.mapped, bytes, kind, [](std::uint8_t* data, Bytes size) { munmap(data, size); });
}

void SgDrive::reserve(SgFile& file, Bytes bytes) {
    if (bytes <= file.reserved || file.sent > 0 || file.mapped) return;
    int wanted = static_cast<int>(std::min<Bytes>(bytes, 0x7fffffff));
    ioctl(file.fd, SG_SET_RESERVED_SIZE, &wanted);
    file.reserved = bytes;
}

SgFile* SgDrive::file_for(const Command& command) {
    SgFile* best = nullptr;
    for (const auto& file : files_) {
        if (command.data && command.data.kind() == BufferKind::mmap) {
            if (file->mapped == command.data.bytes().data()) return file.get();
        } else if (!file->mapped && file->sent < per_file && (!best || file->sent < best->sent)) {
            best = file.get();
        }
    }
    if (best || (command.data && command.data.kind() == BufferKind::mmap)) return best;
    SgFile& fresh = open_file();
    if (fresh.fd >= 0) return &fresh;
    const int error = errno;
    files_.pop_back();
    errno = error;
    return nullptr;
}

std::uint32_t SgDrive::take_slot() {
    if (free_slots_.empty()) {
        free_slots_.push_back(static_cast<std::uint32_t>(slots_.size()));
        slots_.push_back(std::make_unique<Slot>());
    }
    const std::uint32_t slot = free_slots_.back();
    free_slots_.pop_back();
    return slot;
}

void SgDrive::submit(Command&& command) {
    const std::uint32_t index = take_slot();
    Slot& slot = *slots_[index];
    slot.command = std::move(command);
    slot.submitted = host_.last_;   // until it is sent
    slot.file = nullptr;
    ++outstanding_;
    const bool unfit = slot.command.data && slot.command.length > slot.command.data.size();
    const bool nothing_to_send = slot.command.direction == scsi::Direction::out && slot.command.length > 0 && !slot.command.data;
    if (unfit || slot.command.length > 0x7fffffff) return refuse(index, EINVAL);
    if (nothing_to_send) return refuse(index, EFAULT);
    const Nanoseconds timeout = slot.command.timeout > Nanoseconds(0) ? slot.command.timeout : host_.options_.timeout;
    fill_header(slot.header, slot.command, timeout, slot.sense);
    if (const auto most = precautions().max_sense_bytes) slot.header.mx_sb_len = static_cast<unsigned char>(std::min<unsigned>(slot.header.mx_sb_len, *most));
    slot.header.pack_id = static_cast<int>(index);
    SgDrive* const other = host_.staged_;
    if (!other && host_.sent_ == 0) {
        host_.staged_ = this;
        staged_slot_ = index;
        return;
    }
    if (other) other->send_staged();
    host_.staged_ = this;
    staged_slot_ = index;
    send_staged();
}

void SgDrive::send_staged() {
    host_.staged_ = nullptr;
    Slot& slot = *slots_[staged_slot_];
    SgFile* const file = file_for(slot.command);
    if (!file) return refuse(staged_slot_, slot.command.data && slot.command.data.kind() == BufferKind::mmap ? EINVAL : errno);
    reserve(*file, slot.command.length);
    slot.submitted = host_.last_ = host_.now();
    ssize_t written = 0;
    do written = write(file->fd, &slot.header, sizeof slot.header);
    while (written < 0 && errno == EINTR);
    if (written < 0) return refuse(staged_slot_, errno);
    slot.file = file;
    ++file->sent;
    ++host_.sent_;
}

Completion SgDrive::run_staged() {
    host_.staged_ = nullptr;
    Slot& slot = *slots_[staged_slot_];
    SgFile* const file = file_for(slot.command);
    Completion completion;
    int error = 0;
    if (file) {
        reserve(*file, slot.command.length);
        slot.submitted = host_.now();
        if (ioctl(file->fd, SG_IO, &slot.header) != 0) error = errno;
    } else {
        error = EINVAL;
    }
    host_.last_ = host_.now();
    completion.finished = host_.last_;
    finish(staged_slot_, completion);
    if (error != 0) {
        completion.outcome = outcome_of_refusal(error);
        completion.resid = completion.command.length;
        completion.sense.size = 0;
        note_gone(completion.outcome);
    }
    return completion;
}

bool SgDrive::read_from(SgFile& file, Completion& completion) {
    sg_io_hdr header{};
    header.interface_id = 'S';
    ssize_t got = 0;
    do got = read(file.fd, &header, sizeof header);
    while (got < 0 && errno == EINTR);
    const int error = errno;
    host_.last_ = host_.now();
    if (got < 0 && error == ENODEV) {
        lose_file(file);
        return false;
    }
    if (got < 0) return false;
    const auto index = static_cast<std::uint32_t>(header.pack_id);
    if (index >= slots_.size() || slots_[index]->file != &file) return false;   // not ours: nothing that we sent
    slots_[index]->header = header;
    completion.finished = host_.last_;
    --file.sent;
    --host_.sent_;
    finish(index, completion);
    return true;
}

void SgDrive::finish(std::uint32_t index, Completion& completion) {
    Slot& slot = *slots_[index];
    completion.drive = this;
    completion.command = std::move(slot.command);
    completion.submitted = slot.submitted;
    decode_header(slot.header, completion);
    note_gone(completion.outcome);
    slot.file = nullptr;
    free_slots_.push_back(index);
}

void SgDrive::refuse(std::uint32_t index, int os_errno) {
    Completion& completion = host_.at_hand_.emplace_back();
    finish(index, completion);
    completion.outcome = outcome_of_refusal(os_errno);
    completion.sense.size = 0;
    completion.resid = completion.command.length;
    completion.finished = std::max(completion.submitted, host_.last_);
    note_gone(completion.outcome);
}

void SgDrive::wait_for_lost(SgFile& file) {
    constexpr Nanoseconds greatest_wait = std::chrono::minutes(3);
    if (host_.now() - file.hung_up > greatest_wait) return lose_file(file);
    usleep(1000);   // poll() does not wait on a descriptor that has hung up
}

// The kernel has removed the device, and says that nothing more comes on this descriptor.
void SgDrive::lose_file(SgFile& file) {
    for (std::uint32_t index = 0; index < slots_.size(); ++index) {
        if (slots_[index]->file != &file) continue;
        --host_.sent_;
        refuse(index, ENODEV);
    }
    file.sent = 0;
}

void SgDrive::note_gone(const Outcome& outcome) {
    if (outcome.kind != Outcome::Kind::gone || !gone_.empty()) return;
    gone_ = outcome.os_errno ? std::string("the kernel says: ") + std::strerror(outcome.os_errno)
                             : fmt::format("nothing answers at its address (host status {:02x}h)", outcome.host_status);
}

}
