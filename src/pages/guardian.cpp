#include "sgprobe/pages/guardian.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>

#include "sgprobe/transport/failure.h"

namespace sgprobe::pages {
namespace {

// Everything inherited goes, above all the descriptors through which a drive model would otherwise not see its own end of file.
void close_all_but(int first, int second) {
    const unsigned low = static_cast<unsigned>(first < second ? first : second), high = static_cast<unsigned>(first < second ? second : first);
    if (low > 3) ::close_range(3, low - 1, 0);
    if (high > low + 1) ::close_range(low + 1, high - 1, 0);
    ::close_range(high + 1, ~0u, 0);
    const int null = ::open("/dev/null", O_RDWR);
    ::dup2(null, 0);
    ::dup2(null, 1);                              // whoever reads our standard output must see it end with our parent
    if (null > 2 && null != first && null != second) ::close(null);
}

[[noreturn]] void guard(int pipe, int lock_fd, const std::function<int()>& work) {
    ::setsid();
    for (const int number : {SIGINT, SIGHUP, SIGTERM, SIGPIPE, SIGQUIT, SIGTSTP}) std::signal(number, SIG_IGN);
    ::prctl(PR_SET_NAME, "sgprobe-guard");
    close_all_but(pipe, lock_fd);
    char word = 0;
    ssize_t got;
    do got = ::read(pipe, &word, 1); while (got < 0 && errno == EINTR);
    if (got == 1) ::_exit(0);
    int status = 99;
    try {
        status = work();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "sgprobe guardian: %s\n", error.what());
    }
    ::_exit(status);
}

}

Guardian::Guardian(int lock_fd, std::function<int()> work) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw Failure::os(errno, "cannot make the guardian's pipe, so no setting is changed");
    std::fflush(nullptr);
    pid_ = ::fork();
    if (pid_ < 0) {
        const int error = errno;
        ::close(ends[0]);
        ::close(ends[1]);
        throw Failure::os(error, "cannot start the guardian, so no setting is changed");
    }
    if (pid_ == 0) {
        ::close(ends[1]);
        guard(ends[0], lock_fd, work);
    }
    ::close(ends[0]);
    pipe_ = ends[1];
}

void Guardian::dismiss() {
    if (pipe_ < 0) return;
    // A guardian that is dead already must not take us with it: SIGPIPE.
    const auto before = std::signal(SIGPIPE, SIG_IGN);
    [[maybe_unused]] const ssize_t wrote = ::write(pipe_, "q", 1);
    std::signal(SIGPIPE, before);
    ::close(pipe_);
    pipe_ = -1;
    int status;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {}
}

Guardian::~Guardian() { dismiss(); }

}
