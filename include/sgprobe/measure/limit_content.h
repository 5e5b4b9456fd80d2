// What the blocks hold, learnt in small pieces, so that a large transfer's data can be judged.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sgprobe/scsi/types.h"

namespace sgprobe::measure {

class LimitContent {
public:
    LimitContent(Lba start, Bytes block_bytes) : start_(start), block_bytes_(block_bytes) {}
    Lba start() const { return start_; }
    Blocks known() const { return data_.size() / block_bytes_; }     // blocks from start() whose content is known
    void append(ByteView);
    void replace(Blocks offset, ByteView);
    ByteView blocks(Blocks offset, Blocks count) const;
    // Blocks that differ from each other and within themselves: were they exchanged, cut or zeroed, it would show.
    bool telling(Blocks count) const;

    // Before a read its buffer is filled with what is surely not there, so that bytes which never arrive show.
    static void poison(std::span<std::uint8_t>);
    std::optional<Blocks> first_difference(ByteView data, Blocks from) const;   // of data read from block start() + from on; offset in it
    std::string describe(ByteView data, Blocks offset) const;         // "nothing arrived", "zeros", "the blocks from offset 0 again"...

private:
    Lba start_;
    Bytes block_bytes_;
    ByteVector data_;
};

}
