// What a drive's settings were before we changed them, on stable storage. The format is sgprobe-journal(5).
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sgprobe/pages/catalogue.h"
#include "sgprobe/pages/identity.h"

namespace sgprobe::pages {

struct JournalPage { PageId id; bool save = false; ByteVector current, saved; };
struct JournalField {
    PageId id;
    Field field;                                  // byte, bit, width and key
    std::uint64_t before = 0, wanted = 0;
    std::optional<std::uint64_t> held;
};
struct JournalFeature { std::string name; std::uint64_t before = 0, wanted = 0; bool held = false; };   // held: not in the file
struct JournalKernel { std::string name, before, wanted; };

struct Journal {
    DriveIdentity drive;
    std::string device;
    std::uint64_t begun_s = 0, pid = 0;
    std::vector<JournalPage> pages;
    std::vector<JournalField> fields;
    std::vector<JournalFeature> features;
    std::vector<JournalKernel> kernel;
    bool empty() const { return pages.empty() && features.empty() && kernel.empty(); }
};

std::string format_journal(const Journal&);
Journal parse_journal(std::string_view text, const std::string& file);   // throws Failure (malformed): refused whole

// The journal and the lock of one drive. Nothing is left in the folder by one that never held anything but the lock.
class JournalFile {
public:
    // Takes the lock: waits for it up to `patience`, then throws Failure (busy) with the holder's process. Makes the folder.
    JournalFile(const std::string& folder, const DriveIdentity&, const std::string& device, std::chrono::milliseconds patience);
    ~JournalFile();
    JournalFile(const JournalFile&) = delete;
    JournalFile& operator=(const JournalFile&) = delete;

    std::optional<Journal> read() const;          // what is there; nothing where there is none. Throws Failure where it is damaged
    void write(const Journal&);                   // returns when it is on stable storage; throws Failure where it cannot be
    void remove();
    const std::string& path() const { return path_; }
    int lock_fd() const { return lock_; }

private:
    std::string folder_, path_;
    int lock_ = -1;
};

std::string journal_name(const DriveIdentity&);                                  // without .journal
std::vector<std::string> journals_in(const std::string& folder);                 // paths, in order; none where there is no folder
std::string read_journal_text(const std::string& path);                          // throws Failure; follows no link
std::uint32_t crc32(std::string_view);                                           // IEEE 802.3

}
