#include "pipe_process.h"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sgprobe/transport/failure.h"
#include "sgprobe/transport/signals.h"

extern char** environ;

namespace sgprobe {
namespace {

// A model that has died must not kill us with SIGPIPE: it is held back around the write and taken away if this write raised it.
ssize_t write_without_sigpipe(int fd, const char* data, std::size_t size) {
    sigset_t pipe, before, pending;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    const ssize_t written = write(fd, data, size);
    const int error = errno;
    if (written < 0 && error == EPIPE && !sigismember(&pending, SIGPIPE)) {
        const timespec at_once{};
        sigtimedwait(&pipe, nullptr, &at_once);
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = error;
    return written;
}

int spawn_shell(pid_t& pid, const std::string& command, int input, int output) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);   // the terminal's Ctrl-C is ours to handle, and the whole group can be ended
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    std::string text = command;
    std::string shell = "sh", option = "-c";
    char* const arguments[] = {shell.data(), option.data(), text.data(), nullptr};
    const int error = posix_spawn(&pid, "/bin/sh", &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

void close_once(int& fd) {
    if (fd >= 0) close(fd);
    fd = -1;
}

}

PipeProcess::PipeProcess(const std::string& command) {
    int input[2], output[2];
    if (pipe2(input, O_CLOEXEC) != 0) throw Failure::os(errno, "pipe");
    if (pipe2(output, O_CLOEXEC) != 0) {
        const int error = errno;
        close(input[0]);
        close(input[1]);
        throw Failure::os(error, "pipe");
    }
    const int error = spawn_shell(pid_, command, input[0], output[1]);
    close(input[0]);
    close(output[1]);
    to_ = input[1];
    from_ = output[0];
    if (error != 0) {
        close_once(to_);
        close_once(from_);
        throw Failure::os(error, "/bin/sh");
    }
    fcntl(to_, F_SETFL, O_NONBLOCK);
    fcntl(from_, F_SETFL, O_NONBLOCK);
    pid_fd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
}

PipeProcess::~PipeProcess() {
    close_once(to_);
    close_once(from_);
    if (pid_ > 0) {
        kill(-pid_, SIGKILL);   // the leader is not reaped yet, so the group's number is still its own
        waitpid(pid_, nullptr, 0);
    }
    close_once(pid_fd_);
}

PipeProcess::Got PipeProcess::exchange(std::string& out, std::string_view& line, std::size_t greatest, std::chrono::nanoseconds silence,
                                       Signals* signals) {
    in_.erase(0, taken_);
    taken_ = searched_ = 0;
    auto last_moved = std::chrono::steady_clock::now();
    for (;;) {
        const std::size_t end = in_.find('\n', searched_);
        searched_ = in_.size();
        if (end != in_.npos && end <= greatest) {
            line = std::string_view(in_).substr(0, end);
            taken_ = end + 1;
            return Got::line;
        }
        if (in_.size() > greatest) {
            line = in_;
            return Got::too_long;
        }
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(last_moved + silence - std::chrono::steady_clock::now());
        if (left.count() <= 0) return Got::silence;
        pollfd wanted[3] = {{from_, POLLIN, 0}, {out.empty() ? -1 : to_, POLLOUT, 0}, {signals ? signals->fd() : -1, POLLIN, 0}};
        poll(wanted, 3, static_cast<int>(std::min<std::int64_t>(left.count(), 1'000'000)));
        if (signals && signals->arrived()) return Got::interrupted;
        const std::size_t before = in_.size() + written_;
        if (wanted[0].revents != 0 && !read_some()) return Got::ended;
        if (wanted[1].revents != 0) write_some(out, written_);
        if (in_.size() + written_ != before) last_moved = std::chrono::steady_clock::now();
    }
}

bool PipeProcess::read_some() {
    constexpr std::size_t piece_bytes = 65536;
    const std::size_t before = in_.size();
    in_.resize(before + piece_bytes);
    const ssize_t got = read(from_, in_.data() + before, piece_bytes);
    in_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

void PipeProcess::write_some(std::string& out, std::size_t& written) {
    const ssize_t got = write_without_sigpipe(to_, out.data() + written, out.size() - written);
    if (got > 0) written += static_cast<std::size_t>(got);
    const bool lost = got < 0 && errno != EAGAIN && errno != EINTR;   // it will be seen at the end of its output, or as silence
    if (!lost && written < out.size()) return;
    out.clear();
    written = 0;
}

bool PipeProcess::ended_within(std::chrono::milliseconds patience) {
    pollfd wanted{pid_fd_, POLLIN, 0};
    return pid_fd_ >= 0 && poll(&wanted, 1, static_cast<int>(patience.count())) == 1;
}

void PipeProcess::part(std::string_view farewell, std::chrono::milliseconds patience) {
    if (to_ >= 0) [[maybe_unused]] const ssize_t said = write_without_sigpipe(to_, farewell.data(), farewell.size());
    close_once(to_);
    ended_within(patience);
}

std::string PipeProcess::how_it_ended() {
    siginfo_t info{};
    if (!ended_within(std::chrono::seconds(1)) || waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) {
        return "closed its output";
    }
    if (info.si_code == CLD_EXITED) return fmt::format("ended with exit status {}", info.si_status);
    return fmt::format("was killed by signal {} ({})", info.si_status, strsignal(info.si_status));
}

}
