#include "sgprobe/cli/new_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sgprobe/transport/failure.h"

namespace sgprobe::cli {

NewFile::NewFile(const std::string& path, bool force) : path_(path) {
    constexpr int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    fd_ = ::open(path.c_str(), flags | O_EXCL, 0666);
    created_ = fd_ >= 0;
    if (fd_ < 0 && errno == EEXIST && force) fd_ = ::open(path.c_str(), flags & ~O_CREAT, 0666);
    if (fd_ < 0) {
        const int error = errno;
        if (error == EEXIST)
            throw Failure(ExitStatus::file_error, fmt::format("{} exists: it is not overwritten without --force", path));
        if (error == ELOOP)
            throw Failure(ExitStatus::file_error, fmt::format("{} is a symbolic link: it is not written through", path));
        throw Failure(ExitStatus::file_error, fmt::format("{} cannot be written: {}", path, std::strerror(error)));
    }
    struct stat status {};
    if (::fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink != 1) {
        ::close(fd_);
        fd_ = -1;
        throw Failure(ExitStatus::file_error, fmt::format("{} is no ordinary file: it is not written to", path));
    }
}

NewFile::~NewFile() {
    if (fd_ < 0) return;
    if (created_ && !begun_) ::unlink(path_.c_str());
    ::close(fd_);
}

void NewFile::begin() {
    // What is replaced goes only now: a run that fails before it has anything to say leaves the old file as it was.
    if (!begun_ && !created_ && ::ftruncate(fd_, 0) != 0)
        throw Failure(ExitStatus::file_error, fmt::format("{} cannot be written: {}", path_, std::strerror(errno)));
    begun_ = true;
}

void NewFile::write(std::string_view text) {
    begin();
    while (!text.empty()) {
        const ssize_t written = ::write(fd_, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) throw Failure(ExitStatus::file_error, fmt::format("{} cannot be written: {}", path_, std::strerror(errno)));
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

void NewFile::finish() {
    if (fd_ < 0) return;
    begin();
    const int failed = ::close(fd_);
    fd_ = -1;
    if (failed) throw Failure(ExitStatus::file_error, fmt::format("{} cannot be written: {}", path_, std::strerror(errno)));
}

}
