// Between posted text and tables: one measured number, with all that the text around it said. Used by the readers of posting.h.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sgprobe/report/posted_number.h"
#include "sgprobe/report/posting.h"

namespace sgprobe::report {

struct PostedIdentity {
    std::string vendor, product, revision, serial;
    bool empty() const { return vendor.empty() && product.empty() && revision.empty(); }
    bool operator==(const PostedIdentity&) const = default;
};

struct PostedRecord {
    std::string layout, pattern = "seq-read", setting;
    PostedIdentity identity;
    unsigned section = 0;                 // grows where the text begins a table anew
    std::size_t line = 0;
    std::optional<PostedNumber> size;     // a unit of kind none: the text has none
    std::optional<unsigned> depth;
    PostedNumber rate;                    // likewise
    bool page_cache = false;
    bool guessed_axis = false;            // size (or depth) was told from the numbers alone
};

// The identity that a line states, if it states one: columns of lsscsi or /proc/scsi/scsi, hdparm -i, smartctl -i, or
// "VENDOR MODEL REVISION". `previous` is what smartctl's earlier lines said.
std::optional<PostedIdentity> read_identity(std::string_view line, const PostedIdentity& previous);

// The runs in one JSON object of fio's output (--output-format=json, or json+). Throws Failure (97) where it is none.
std::vector<PostedRecord> read_fio(std::string_view json);

// Decides units by rule, says which in the notes, and groups records into tables along one axis each.
std::vector<PostedTable> group_records(const std::vector<PostedRecord>&, const std::string& name);

}
