// Journals on disk: names, locks, and writes that a crash cannot tear. sgprobe-journal(5), WRITING.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <thread>

#include "sgprobe/pages/journal.h"
#include "sgprobe/transport/escape.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::pages {
namespace {

struct Fd {
    int fd;
    ~Fd() { if (fd >= 0) ::close(fd); }
};

Failure os(const std::string& path, const std::string& what, int error = errno) {
    return Failure::os(error, fmt::format("{}: {}: nothing is changed on a drive without its journal (--journal DIR takes another folder)", escaped(path), what));
}

void make_folder(const std::string& folder) {
    std::string path;
    for (const auto& part : std::filesystem::path(folder)) {
        path = path.empty() ? part.string() : (std::filesystem::path(path) / part).string();
        if (!path.empty() && ::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) throw os(path, "cannot make the folder for journals");
    }
}

void sync_folder(const std::string& folder) {
    const Fd fd{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (fd.fd < 0 || ::fsync(fd.fd) != 0) throw os(folder, "cannot bring the folder to stable storage");
}

std::string readable(std::string_view text) {
    std::string out;
    for (const char c : text) out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    return out.substr(0, 40);
}

}

std::string journal_name(const DriveIdentity& drive) {
    // The checksum tells apart what the readable part does not.
    const std::string all = drive.vendor + '\n' + drive.product + '\n' + drive.serial + '\n' + drive.designator;
    return fmt::format("{}-{}-{}-{:08x}", readable(drive.vendor), readable(drive.product), readable(drive.serial), crc32(all));
}

std::vector<std::string> journals_in(const std::string& folder) {
    std::vector<std::string> paths;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error))
        if (entry.path().extension() == ".journal") paths.push_back(entry.path().string());
    if (error && error != std::errc::no_such_file_or_directory) throw os(folder, "cannot look for journals", error.value());
    std::sort(paths.begin(), paths.end());
    return paths;
}

std::string read_journal_text(const std::string& path) {
    const Fd fd{::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)};
    if (fd.fd < 0) throw os(path, "cannot read the journal");
    std::string text;
    char part[4096];
    for (;;) {
        const ssize_t got = ::read(fd.fd, part, sizeof part);
        if (got < 0) throw os(path, "cannot read the journal");
        if (got == 0) return text;
        text.append(part, static_cast<std::size_t>(got));
        if (text.size() > (16u << 20)) throw Failure(ExitStatus::malformed, fmt::format("{}: is too long for a journal, and was not applied", escaped(path)));
    }
}

JournalFile::JournalFile(const std::string& folder, const DriveIdentity& drive, const std::string& device, std::chrono::milliseconds patience)
    : folder_(folder), path_(folder + "/" + journal_name(drive) + ".journal") {
    make_folder(folder);
    const std::string lock_path = folder + "/" + journal_name(drive) + ".lock";
    lock_ = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (lock_ < 0) throw os(lock_path, "cannot make the lock");
    const auto give_up = std::chrono::steady_clock::now() + patience;
    while (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
        if (std::chrono::steady_clock::now() >= give_up) {
            char holder[24] = {};
            if (::pread(lock_, holder, sizeof holder - 1, 0) <= 0) std::strcpy(holder, "unknown");
            ::close(lock_);
            throw Failure(ExitStatus::busy, fmt::format("{}: another sgprobe (process {}) is changing settings of this drive ({}); wait until it is done", device, escaped(holder), escaped(lock_path)));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    const std::string pid = std::to_string(::getpid());
    if (::ftruncate(lock_, 0) != 0 || ::pwrite(lock_, pid.data(), pid.size(), 0) < 0) {
        ::close(lock_);
        throw os(lock_path, "cannot write the lock");
    }
}

// The lock is not taken off by LOCK_UN: the guardian shares it, and holds it for as long as it lives.
JournalFile::~JournalFile() { ::close(lock_); }

std::optional<Journal> JournalFile::read() const {
    struct stat status {};
    if (::lstat(path_.c_str(), &status) != 0) {
        if (errno == ENOENT) return {};
        throw os(path_, "cannot look for the journal");
    }
    return parse_journal(read_journal_text(path_), path_);
}

void JournalFile::write(const Journal& journal) {
    const std::string text = format_journal(journal), fresh = path_ + ".new";
    ::unlink(fresh.c_str());
    {
        const Fd fd{::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
        if (fd.fd < 0) throw os(fresh, "cannot write the journal");
        for (std::size_t done = 0; done < text.size();) {
            const ssize_t wrote = ::write(fd.fd, text.data() + done, text.size() - done);
            if (wrote < 0) throw os(fresh, "cannot write the journal");
            done += static_cast<std::size_t>(wrote);
        }
        if (::fsync(fd.fd) != 0) throw os(fresh, "cannot bring the journal to stable storage");
    }
    if (::rename(fresh.c_str(), path_.c_str()) != 0) throw os(path_, "cannot put the journal in place");
    sync_folder(folder_);
}

void JournalFile::remove() {
    if (::unlink(path_.c_str()) != 0 && errno != ENOENT) throw os(path_, "cannot remove the journal");
    sync_folder(folder_);
}

}
