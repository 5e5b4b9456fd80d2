// Measurements as people post them: tables of rates in mail, CSV, or the output of fio, dd and hdparm. sgprobe(8), COLLATE.
//
// Everything here was written by somebody else's program or hand: lines are cut at a bound, numbers are checked, and what
// cannot be told is left out and said so in `notes`.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sgprobe/scsi/types.h"

namespace sgprobe::report {

struct PostedPoint {
    double x = 0;               // bytes a request, or commands outstanding
    double rate_mb_s = 0;       // 10^6 bytes a second
    double resolution_mb_s = 0; // one unit of the last digit that was printed
};

enum class PostedAxis : std::uint8_t { transfer_bytes, depth, none };   // none: one setting measured again and again

struct PostedTable {
    std::string source;         // "mail.txt:12"
    std::string layout;         // "list", "rows", "csv", "matrix", "fio", "dd", "hdparm"
    std::string vendor, product, revision, serial;
    std::string pattern = "seq-read";
    std::string setting;        // what else tells it from its neighbours ("scheduler=noop")
    PostedAxis axis = PostedAxis::transfer_bytes;
    Bytes transfer_bytes = 0;   // along the depth axis: the request, where it is told
    unsigned depth = 0;         // along the size axis: the depth, where it is told
    bool page_cache = false;    // the numbers went through the kernel's page cache and read-ahead
    std::vector<PostedPoint> points;
    std::vector<std::string> notes;   // which units were taken, and by what rule
};

// Takes posted text line by line, in any layout, and gives the tables that were in it.
class PostingReader {
public:
    PostingReader();
    ~PostingReader();
    void line(std::string_view text, std::size_t number);   // without its newline; cut at 4096 characters
    std::vector<PostedTable> finish(const std::string& name);
private:
    struct State;
    std::unique_ptr<State> state_;
};

}
