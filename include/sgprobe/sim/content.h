// What a drive's blocks hold. Unwritten ones follow from the model's number and their address; written ones are kept in
// extents, and an extent of one repeated word costs no more than the word.
#pragma once
#include <map>

#include "sgprobe/scsi/types.h"

namespace sgprobe::sim {

// What a block holds before anything is written to it: the same for every run of a drive, different in every block.
void fill_block(std::uint64_t content, Lba, std::span<std::uint8_t> block);

class Content {
public:
    Content(std::uint64_t content, unsigned block_bytes) : content_(content), block_bytes_(block_bytes) {}
    void read(Lba, std::span<std::uint8_t> to) const;
    void write(Lba, ByteView data);                  // whole blocks
private:
    struct Extent { Lba end; std::uint64_t word; ByteVector bytes; };   // bytes: empty where it is the word over and over
    void cut(Lba);                                   // no extent reaches across this address
    std::map<Lba, Extent> extents_;
    std::uint64_t content_;
    unsigned block_bytes_;
};

}
