#include "sgprobe/report/posted_column.h"

#include <array>

namespace sgprobe::report {

namespace {

using Role = ColumnRole;

bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

Unit unit_in(std::string_view word) {   // "size_kb", "rate_mb_s", "(MB/s)"
    std::string text = lower_case(word);
    for (const std::string_view tail : {"mb_s", "mib_s", "kb_s", "kib_s", "gb_s"})
        if (text.find(tail) != text.npos) return unit_of(std::string(tail.substr(0, tail.find('_'))) + "/s");
    std::string part;
    for (const char c : text + " ") {
        if (letter(c) || c == '/') { part += c; continue; }
        if (const Unit unit = unit_of(part); unit.kind != UnitKind::none && part.size() > 1) return unit;
        part.clear();
    }
    return {};
}

}

std::string lower_case(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
}

PostedColumn column_of(std::string_view heading) {
    struct Row { std::string_view name; Role role; std::string_view pattern; };
    static constexpr std::array rows{
        Row{"vendor", Role::vendor, ""}, Row{"model", Role::product, ""}, Row{"product", Role::product, ""},
        Row{"drive", Role::product, ""}, Row{"revision", Role::revision, ""}, Row{"rev", Role::revision, ""},
        Row{"firmware", Role::revision, ""}, Row{"fw", Role::revision, ""}, Row{"serial", Role::serial, ""},
        Row{"size", Role::size, ""}, Row{"bs", Role::size, ""}, Row{"blksz", Role::size, ""}, Row{"block", Role::size, ""},
        Row{"blocksize", Role::size, ""}, Row{"request", Role::size, ""}, Row{"req", Role::size, ""}, Row{"kb", Role::size, ""},
        Row{"kib", Role::size, ""}, Row{"bytes", Role::size, ""}, Row{"transfer", Role::size, ""}, Row{"transferbytes", Role::size, ""},
        Row{"maxsectors", Role::size, ""}, Row{"length", Role::size, ""}, Row{"xfer", Role::size, ""}, Row{"chunk", Role::size, ""},
        Row{"depth", Role::depth, ""}, Row{"qd", Role::depth, ""}, Row{"queue", Role::depth, ""}, Row{"queuedepth", Role::depth, ""},
        Row{"iodepth", Role::depth, ""}, Row{"trd", Role::depth, ""}, Row{"threads", Role::depth, ""}, Row{"thr", Role::depth, ""},
        Row{"tags", Role::depth, ""}, Row{"ncq", Role::depth, ""}, Row{"outstanding", Role::depth, ""},
        Row{"rate", Role::rate, ""}, Row{"speed", Role::rate, ""}, Row{"throughput", Role::rate, ""}, Row{"bandwidth", Role::rate, ""},
        Row{"bw", Role::rate, ""}, Row{"ratemedian", Role::rate, ""}, Row{"median", Role::rate, ""}, Row{"read", Role::rate, "seq-read"},
        Row{"linrd", Role::rate, "seq-read"}, Row{"seqread", Role::rate, "seq-read"}, Row{"rndrd", Role::rate, "rand-read"},
        Row{"randread", Role::rate, "rand-read"}, Row{"randomread", Role::rate, "rand-read"}, Row{"linwr", Role::rate, "seq-write"},
        Row{"seqwrite", Role::rate, "seq-write"}, Row{"write", Role::rate, "seq-write"}, Row{"rndwr", Role::rate, "rand-write"},
        Row{"randwrite", Role::rate, "rand-write"}, Row{"mixrd", Role::rate, "mixed-read"}, Row{"mixwr", Role::rate, "mixed-write"},
        Row{"pattern", Role::text, "pattern"},
    };
    PostedColumn column;
    column.name = std::string(heading);
    column.unit = unit_in(heading);
    std::string key;
    for (const char c : lower_case(heading))
        if (letter(c)) key += c;
    // The unit is no part of the name: "size_kb", "rate_mb_s (median)".
    const auto without = [](std::string text, std::string_view part) {
        if (const auto at = text.find(part); at != text.npos && text.size() > part.size()) text.erase(at, part.size());
        return text;
    };
    std::string bare = key;
    if (column.unit.kind == UnitKind::rate) bare = without(without(without(key, "mibs"), "mbs"), "mbsec");
    if (column.unit.kind == UnitKind::size) bare = without(without(without(key, "kib"), "kb"), "bytes");
    for (const Row& row : rows)
        if (row.name == key || row.name == bare) {
            column.role = row.role;
            column.pattern = row.pattern;
            if (column.role == Role::size && column.unit.kind == UnitKind::rate) column.role = Role::rate;
            return column;
        }
    if (column.unit.kind == UnitKind::rate) column.role = Role::rate;
    if (column.unit.kind == UnitKind::size && key.size() <= 8) column.role = Role::size;
    if (key == "min" || key == "max" || key == "low" || key == "high" || key == "best" || key == "iops" || key == "latency") column.role = Role::ignored;
    return column;
}

std::vector<std::string> split_fields(std::string_view line, std::string_view separators, bool keep_empty) {
    std::vector<std::string> fields;
    std::string field;
    bool quoted = false;
    for (const char c : line) {
        if (keep_empty && c == '"') quoted = !quoted;
        else if (!quoted && separators.find(c) != separators.npos) {
            if (keep_empty || !field.empty()) fields.push_back(field);
            field.clear();
        } else field += c;
    }
    if (keep_empty || !field.empty()) fields.push_back(field);
    return fields;
}

}
