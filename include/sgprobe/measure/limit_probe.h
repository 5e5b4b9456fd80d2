// One command of n blocks, sent and judged: the bridge from a drive to the search for its limits.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>

#include "sgprobe/measure/limit_content.h"
#include "sgprobe/measure/limit_drive.h"

namespace sgprobe::measure {

// A command whose limit is looked for.
struct LimitOpcode {
    std::string_view name;                 // key in the JSON
    std::optional<scsi::RwOpcode> scsi;    // empty: an ATA command by ATA PASS-THROUGH(16)
    std::uint8_t ata_command = 0;
    Blocks greatest = 0;                   // blocks that the CDB's field can ask for
    Lba greatest_lba = 0;
    bool write = false;
};
std::span<const LimitOpcode> limit_opcodes();              // the one list, in the order in which they are tried
const LimitOpcode* find_limit_opcode(std::string_view name);
std::optional<scsi::Cdb> build(const LimitOpcode&, Lba, Blocks, Bytes block_bytes);

class LimitProbe {
public:
    LimitProbe(LimitDrive&, const LimitsOptions&);

    void choose_place(Blocks room);        // a stretch whose content tells; throws Failure where no block can be read
    Lba start() const { return content_.start(); }
    Blocks room() const;                   // blocks from start() to the end of the disk
    bool telling(Blocks blocks) const { return content_checks_ && content_.telling(blocks); }

    Attempt send(const LimitOpcode&, Blocks, BufferKind);
    const std::string& what(Blocks) const; // what came back when so many blocks failed
    bool out_of_range(Blocks) const;       // ... and it was LOGICAL BLOCK ADDRESS OUT OF RANGE
    int refusal(Blocks) const;             // ... the errno of a host's refusal; 0: something else
    bool adapter(Blocks) const;            // ... and the host adapter said so (DID_*)
    void begin_opcode() { failures_.clear(); }
    bool residual_lies() const { return residual_lies_; }
    const std::vector<std::string>& notes() const { return notes_; }
    std::optional<Lba> bad_block() const { return bad_block_; }

private:
    struct Failed { std::string what; bool out_of_range = false; int os_errno = 0; bool adapter = false; };

    bool learn(Blocks);                    // content up to there, in pieces that are known to work
    bool go_round(Lba, Blocks);
    std::optional<ByteVector> piece(Lba, Blocks);
    Buffer& buffer(Bytes, BufferKind);
    Attempt judge(Completion&, Blocks, Blocks shift);
    Attempt judge_data(Completion&, Blocks, Blocks shift);
    Attempt fail(Completion&, Blocks, Failing, std::string what);

    LimitDrive& drive_;
    const LimitsOptions& options_;
    LimitContent content_;
    const LimitOpcode* piece_opcode_ = nullptr;
    Blocks piece_blocks_ = 1;
    bool content_checks_ = true, residual_lies_ = false;
    std::vector<std::string> notes_;
    std::optional<Lba> bad_block_, real_end_;      // real_end_: where the drive says that it ends, before its capacity does
    bool past_end_ = false;
    Blocks room_wanted_ = 0;
    unsigned moves_ = 0, sent_ = 0;
    Buffer buffer_;
    std::map<Blocks, Failed> failures_;
};

}
