// WRITE commands of n blocks within a range that the user gave away. What stood there is read first and put back at the end.
#pragma once
#include "sgprobe/measure/limit_probe.h"

namespace sgprobe::measure {

class LimitWriteProbe {
public:
    // `read_blocks`: the longest READ that may be trusted; at least 1.
    LimitWriteProbe(LimitDrive&, Lba first, Blocks blocks, Blocks read_blocks);
    ~LimitWriteProbe() { restore(); }
    LimitWriteProbe(const LimitWriteProbe&) = delete;
    LimitWriteProbe& operator=(const LimitWriteProbe&) = delete;

    Attempt send(const LimitOpcode&, Blocks, BufferKind);
    const std::string& what(Blocks length) const;
    int refusal(Blocks length) const;
    // Puts back what was there, in small commands, and reads it again. False where some of it could not be: `complaint` says what.
    bool restore();
    const std::string& complaint() const { return complaint_; }

private:
    struct Failed { std::string what; int os_errno = 0; };
    bool save(Blocks);                          // originals up to there are known
    std::optional<ByteVector> read(Lba, Blocks);
    void fill(std::span<std::uint8_t>, Blocks);
    std::optional<std::string> difference(ByteView written, Blocks);
    Attempt fail(const Completion&, Blocks, Failing, std::string what);

    LimitDrive& drive_;
    Lba first_;
    Blocks blocks_, read_blocks_, touched_ = 0;
    ByteVector originals_;
    std::map<Blocks, Failed> failures_;
    std::string complaint_;
    std::uint64_t generation_ = 0;
};

}
