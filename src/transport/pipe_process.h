// A command run by the shell in a process group of its own, with its input and output as lines. Nothing of it outlives this object.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>

namespace sgprobe {

class Signals;

class PipeProcess {
public:
    explicit PipeProcess(const std::string& command);   // throws Failure
    ~PipeProcess();                                     // kills what is left of the group, and reaps
    PipeProcess(const PipeProcess&) = delete;
    PipeProcess& operator=(const PipeProcess&) = delete;

    enum class Got { line, silence, ended, interrupted, too_long };
    // Writes `out` and reads until a whole line is at hand, which stays valid until the next call. Gives up after `silence` in which
    // nothing moved, when the line exceeds `greatest` bytes, or when a signal comes (`signals` may be null); may then be called again.
    Got exchange(std::string& out, std::string_view& line, std::size_t greatest, std::chrono::nanoseconds silence, Signals* signals);

    void part(std::string_view farewell, std::chrono::milliseconds patience);   // says it, closes the input, waits for the end
    std::string how_it_ended();                         // "ended with exit status 3", "was killed by signal 9 (Killed)"
private:
    bool ended_within(std::chrono::milliseconds);
    bool read_some();                                   // false at the end of its output
    void write_some(std::string& out, std::size_t& written);

    pid_t pid_ = -1;
    int pid_fd_ = -1, to_ = -1, from_ = -1;
    std::string in_;
    std::size_t taken_ = 0, searched_ = 0;              // taken_: bytes of in_ that the last line used up
    std::size_t written_ = 0;
};

}
