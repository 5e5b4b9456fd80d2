// A second process that puts a drive's settings back when this one dies without doing so, SIGKILL included.
//
// Forked before any thread. In its own session, so that no terminal reaches it; deaf to INT, HUP and TERM; it keeps the drive's lock
// and opens the drive for itself. It wakes when the pipe from its parent ends: on a word from the parent it goes away quietly, else it works.
#pragma once
#include <sys/types.h>

#include <functional>

namespace sgprobe::pages {

class Guardian {
public:
    // `work` runs in the guardian; its result is the guardian's exit status.
    Guardian(int lock_fd, std::function<int()> work);
    ~Guardian();                                  // dismisses it, and waits for it
    Guardian(const Guardian&) = delete;
    Guardian& operator=(const Guardian&) = delete;
    void dismiss();
    pid_t pid() const { return pid_; }
private:
    pid_t pid_ = -1;
    int pipe_ = -1;
};

}
