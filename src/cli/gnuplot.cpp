#include "sgprobe/cli/gnuplot.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "sgprobe/transport/failure.h"

namespace sgprobe::cli {
namespace {

struct MemoryFile {
    int fd = ::memfd_create("gnuplot", MFD_CLOEXEC);
    MemoryFile() {
        if (fd < 0) throw Failure::os(errno, "no memory for a plot");
    }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    ~MemoryFile() { ::close(fd); }
    std::string content() const {
        std::string all;
        std::array<char, 65536> part;
        for (ssize_t n; (n = ::pread(fd, part.data(), part.size(), static_cast<off_t>(all.size()))) > 0;) all.append(part.data(), static_cast<std::size_t>(n));
        return all;
    }
};

[[noreturn]] void missing() {
    throw Failure(ExitStatus::file_error, "nothing was drawn: gnuplot is not here (install gnuplot-nox); the rest of the result is complete");
}

}

bool gnuplot_here() {
    const char* path = std::getenv("PATH");
    for (std::string_view rest = path ? path : "/usr/bin:/bin"; !rest.empty();) {
        const std::string_view folder = rest.substr(0, rest.find(':'));
        if (!folder.empty() && ::access(fmt::format("{}/gnuplot", folder).c_str(), X_OK) == 0) return true;
        rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    }
    return false;
}

std::string run_gnuplot(const std::string& script) {
    if (!gnuplot_here()) missing();
    const MemoryFile in, out, complaints;
    if (::pwrite(in.fd, script.data(), script.size(), 0) != static_cast<ssize_t>(script.size())) throw Failure::os(errno, "a plot's script cannot be written");

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in.fd, 0);
    posix_spawn_file_actions_adddup2(&actions, out.fd, 1);
    posix_spawn_file_actions_adddup2(&actions, complaints.fd, 2);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);             // ours are blocked while a drive is open
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    const char* arguments[] = {"gnuplot", "--default-settings", "-", nullptr};
    pid_t child = 0;
    const int error = ::posix_spawnp(&child, "gnuplot", &actions, &attributes, const_cast<char* const*>(arguments), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error == ENOENT) missing();
    if (error != 0) throw Failure::os(error, "gnuplot cannot be started");
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}

    std::string drawn = out.content();
    if (status != 0 || drawn.empty()) {
        std::string why = complaints.content();
        why.erase(0, why.find_first_not_of(" \n\r\t"));
        throw Failure(ExitStatus::other, fmt::format("nothing was drawn: gnuplot says: {}; the rest of the result is complete", why.empty() ? "nothing" : why.substr(0, 300)));
    }
    return drawn;
}

}
