#include "sgprobe/transport/signals.h"

#include <csignal>
#include <ctime>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "sgprobe/transport/failure.h"

namespace sgprobe {
namespace {

sigset_t wanted() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
    return set;
}

}

Signals::Signals() {
    const sigset_t set = wanted();
    fd_ = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (fd_ < 0) throw Failure::os(errno, "signalfd");
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

Signals::~Signals() {
    while (arrived()) signal_.reset();   // what was read as an interruption must not kill the process now
    const sigset_t set = wanted();
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    close(fd_);
}

bool Signals::arrived() {
    signalfd_siginfo info;
    if (!signal_ && read(fd_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) signal_ = static_cast<int>(info.ssi_signo);
    return signal_.has_value();
}

bool Signals::arrived_lately() {
    timespec coarse;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &coarse);
    return arrived_lately(std::chrono::seconds(coarse.tv_sec) + std::chrono::nanoseconds(coarse.tv_nsec));
}

bool Signals::arrived_lately(std::chrono::nanoseconds now) {
    if (signal_) return true;
    if (now - looked_ < std::chrono::milliseconds(10)) return false;
    looked_ = now;
    return arrived();
}

std::optional<int> Signals::take() {
    return std::exchange(signal_, std::nullopt);
}

}
