#include "sgprobe/transport/sg_host.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>
#include <stdexcept>

#include "sg_drive.h"
#include "sgprobe/transport/failure.h"
#include "sgprobe/transport/signals.h"

namespace sgprobe {

SgHost::SgHost(const SgHostOptions& options, Signals* signals) : options_(options), signals_(signals), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    if (epoll_ < 0) throw Failure::os(errno, "epoll_create1");
    if (!signals) return;
    epoll_event event{};
    event.events = EPOLLIN;   // no pointer: it is the signals
    epoll_ctl(epoll_, EPOLL_CTL_ADD, signals->fd(), &event);
}

SgHost::~SgHost() {
    close(epoll_);
}

std::unique_ptr<Drive> SgHost::open(const DriveSpec& spec) {
    return std::make_unique<SgDrive>(*this, spec, options_.sysfs.sg_name_of(spec.rest));
}

Nanoseconds SgHost::now() const {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC_RAW, &time);
    return std::chrono::seconds(time.tv_sec) + Nanoseconds(time.tv_nsec);
}

bool SgHost::signal_arrived(Event& event) {
    int signal = take_held_signal();
    if (signal == 0 && signals_ && (signal_ready_ ? signals_->arrived() : signals_->arrived_lately(last_))) signal = *signals_->take();
    signal_ready_ = false;
    if (signal == 0) return false;
    event.kind = Event::Kind::interrupted;
    event.signal = signal;
    return true;
}

Event SgHost::wait(Nanoseconds deadline) {
    constexpr Nanoseconds alone_may_overrun = std::chrono::milliseconds(100);
    Event event;
    for (;;) {
        if (signal_arrived(event)) return event;
        if (!at_hand_.empty()) {
            event.kind = Event::Kind::completion;
            event.completion = std::move(at_hand_.front());
            at_hand_.pop_front();
            static_cast<SgDrive*>(event.completion.drive)->taken(event.completion);
            return event;
        }
        if (staged_) {
            if (sent_ == 0 && (deadline == never || deadline - now() > alone_may_overrun)) {
                SgDrive* const drive = staged_;
                event.kind = Event::Kind::completion;
                event.completion = drive->run_staged();
                drive->taken(event.completion);
                return event;
            }
            staged_->send_staged();
            continue;
        }
        if (read_one(event)) return event;
        if (!at_hand_.empty()) continue;
        if (deadline == never && sent_ == 0) throw std::logic_error("waiting for a completion where nothing is outstanding");
        if (readable_.empty()) {
            last_ = now();
            if (last_ >= deadline) return event;
            poll_files(deadline == never ? never : deadline - last_);
        }
    }
}

bool SgHost::read_one(Event& event) {
    // Descriptors take turns, and those that were not readable at the last poll get theirs.
    if (++reads_since_poll_ > 16 + 2 * readable_.size() && sent_ > 1) poll_files(Nanoseconds(0));
    while (!readable_.empty()) {
        next_readable_ %= readable_.size();
        SgFile* const file = readable_[next_readable_];
        if (file->sent > 0 && file->drive->read_from(*file, event.completion)) {
            ++next_readable_;
            event.kind = Event::Kind::completion;
            file->drive->taken(event.completion);
            return true;
        }
        if (file->hung_up > Nanoseconds(0) && file->sent > 0) file->drive->wait_for_lost(*file);
        file->readable = false;
        readable_.erase(readable_.begin() + static_cast<std::ptrdiff_t>(next_readable_));
    }
    return false;
}

void SgHost::poll_files(Nanoseconds timeout) {
    std::array<epoll_event, 64> events;
    reads_since_poll_ = 0;
    timespec until{};
    const auto whole = std::chrono::floor<std::chrono::seconds>(timeout);
    until.tv_sec = whole.count();
    until.tv_nsec = (timeout - whole).count();
    int count = epoll_pwait2(epoll_, events.data(), events.size(), timeout == never ? nullptr : &until, nullptr);
    if (count < 0 && errno == ENOSYS) {   // before Linux 5.11
        const auto ms = std::chrono::ceil<std::chrono::milliseconds>(std::min<Nanoseconds>(timeout, std::chrono::hours(1)));
        count = epoll_wait(epoll_, events.data(), events.size(), static_cast<int>(ms.count()));
    }
    for (int i = 0; i < count; ++i) {
        auto* const file = static_cast<SgFile*>(events[static_cast<std::size_t>(i)].data.ptr);
        if (!file) {
            signal_ready_ = true;
            continue;
        }
        if (file->sent == 0) {   // the device went away while we had nothing there: the next command will be told
            epoll_ctl(epoll_, EPOLL_CTL_DEL, file->fd, nullptr);
            continue;
        }
        if (events[static_cast<std::size_t>(i)].events & EPOLLHUP && file->hung_up == Nanoseconds(0)) file->hung_up = std::max(last_, Nanoseconds(1));
        if (!file->readable) readable_.push_back(file);
        file->readable = true;
    }
}

}
