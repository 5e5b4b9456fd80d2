#include <fmt/format.h>
#include <utility>

#include "sgprobe/report/posted_column.h"
#include "sgprobe/report/posted_record.h"

namespace sgprobe::report {

namespace {

constexpr std::size_t line_limit = 4096, record_limit = 100000, column_limit = 64;

bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string_view unquote(std::string_view line) {
    for (;;) {
        while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
        if (line.empty() || (line.front() != '>' && line.front() != '|')) break;
        line.remove_prefix(1);
    }
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '|')) line.remove_suffix(1);
    return line;
}

using Role = ColumnRole;
using Column = PostedColumn;

class TextReader {
public:
    void line(std::string_view raw, std::size_t number) {
        number_ = number;
        const std::string_view text = unquote(raw);
        if (text.empty() || records_.size() >= record_limit) return;
        if (tool_line(text) || pairs(text) || csv_row(text) || heading(text) || row(text)) return;
        context(text);
        if (const auto id = read_identity(text, identity_)) identity(*id, text);
    }
    std::vector<PostedRecord> take() { return std::move(records_); }

private:
    void add(PostedRecord record) {
        record.section = section_;
        record.line = number_;
        if (record.identity.empty()) record.identity = identity_;
        records_.push_back(std::move(record));
        rows_in_section_ = true;
    }
    void new_section() {
        if (rows_in_section_) ++section_, identity_line_used_ = true;
        rows_in_section_ = false;
        seen_.clear();
    }
    void identity(const PostedIdentity& id, std::string_view text) {
        new_section();
        columns_.clear();
        csv_ = 0;
        identity_ = id;
        identity_line_ = std::string(text);
        identity_line_used_ = false;
    }

    // dd's and hdparm's own lines.
    bool tool_line(std::string_view text) {
        PostedRecord record;
        if (const auto at = text.find("disk reads:"); at != text.npos && text.find("Timing") != text.npos) {
            const auto equals = text.rfind('=');
            if (equals == text.npos) return true;
            std::string_view rest = text.substr(equals + 1);
            while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
            const auto rate = read_number(rest);
            if (!rate) return true;
            record.rate = *rate;
            record.rate.unit.factor = rate->unit.text.starts_with('k') ? 1024 : 1024 * 1024;   // hdparm.c divides by 2^20
            record.layout = "hdparm";
            record.page_cache = text.find("O_DIRECT") == text.npos;
            record.size = label_size_;
            record.depth = label_depth_;
            add(record);
            return true;
        }
        if (text.find(" copied, ") != text.npos && text.find(" bytes") != text.npos) {
            const auto comma = text.rfind(", ");
            if (comma == text.npos) return true;
            const auto rate = read_number(text.substr(comma + 2));
            if (!rate || !label_size_) return true;
            record.rate = *rate;
            record.layout = "dd";
            record.size = label_size_;
            record.depth = label_depth_;
            record.page_cache = !direct_;
            add(record);
            return true;
        }
        return text.find("records in") != text.npos || text.find("records out") != text.npos;
    }

    // What a command line around the numbers says: bs=64k, iflag=direct, max_sectors_kb, queue_depth.
    void context(std::string_view text) {
        const auto number_near = [&](std::string_view word, bool before) -> std::optional<PostedNumber> {
            const auto at = text.find(word);
            if (at == text.npos) return {};
            std::string_view rest = text.substr(at + word.size());
            if (const auto after = rest.find_first_of("0123456789"); after != rest.npos && after <= 4) return read_number(rest.substr(after));
            if (before)   // echo 64 > .../max_sectors_kb
                if (const auto first = text.find_first_of("0123456789"); first < at) return read_number(text.substr(first));
            return {};
        };
        if (const auto bs = number_near("bs=", false)) {
            label_size_ = bs;
            direct_ = text.find("direct") != text.npos;
            if (bs->unit.kind == UnitKind::none) label_size_->unit = unit_of("b");
            if (text.find("kB") != text.npos) label_size_->unit.factor = 1000;   // dd: kB is 1000, k and KiB are 1024
        }
        if (const auto limit = number_near("max_sectors_kb", true)) {
            label_size_ = limit;
            label_size_->unit = unit_of("kib");
        }
        if (const auto depth = number_near("queue_depth", true); depth && depth->value >= 1 && depth->value <= 65536)
            label_depth_ = static_cast<unsigned>(depth->value);
    }

    // "64 kB: 96.1 MB/s", one or several a line; "QD 3: 46 MB/s".
    bool pairs(std::string_view text) {
        std::vector<PostedRecord> found;
        std::size_t at = 0;
        while (at < text.size() && found.size() < column_limit) {
            PostedRecord record;
            std::size_t start = at;
            bool depth_word = false;
            if (letter(text[at])) {
                std::size_t end = at;
                while (end < text.size() && (letter(text[end]) || text[end] == '_')) ++end;
                const std::string word = lower_case(text.substr(at, end - at));
                depth_word = word == "depth" || word == "qd" || word == "iodepth" || word == "queue_depth" || word == "tags" || word == "t";
                while (depth_word && end < text.size() && (text[end] == ' ' || text[end] == '=' || text[end] == ':')) ++end;
                start = end;
                if (!depth_word) { at = end; continue; }
            }
            auto x = read_number(text.substr(start));
            if (!x) {
                at = std::max(start, at);
                if (at >= text.size()) break;
                if (text[at] == ' ' || text[at] == '\t') ++at;
                else skip_token(text, at);
                continue;
            }
            std::size_t next = start + x->length;
            const std::size_t separator = next;
            while (next < text.size() && (text[next] == ' ' || text[next] == '\t' || text[next] == ':' || text[next] == '=' || text[next] == '-' || text[next] == '>')) ++next;
            const bool colon = text.substr(separator, next - separator).find(':') != text.npos;
            const auto rate = read_number(text.substr(next));
            const bool is_size = x->unit.kind == UnitKind::size;
            if (rate && rate->unit.kind != UnitKind::size && (rate->unit.kind == UnitKind::rate || (colon && is_size)) && (is_size || depth_word)) {
                record.rate = *rate;
                record.layout = "list";
                if (is_size) record.size = *x;
                else if (x->value >= 1 && x->value <= 65536 && x->resolution == 1) record.depth = static_cast<unsigned>(x->value);
                else { at = next; continue; }
                found.push_back(std::move(record));
                at = next + rate->length;
            } else at = std::max(next, start + 1);
        }
        if (found.empty()) return false;
        place(std::move(found));
        return true;
    }
    static void skip_token(std::string_view text, std::size_t& at) {
        while (at < text.size() && text[at] != ' ' && text[at] != '\t') ++at;
    }

    // One table wrapped into several columns, or a column a drive: then every place in the line has the same size.
    void place(std::vector<PostedRecord> found) {
        bool same = found.size() > 1;
        for (const PostedRecord& r : found)
            same = same && r.size.has_value() == found[0].size.has_value() &&
                   (r.size ? r.size->value == found[0].size->value : r.depth == found[0].depth);
        const auto key = [](const PostedRecord& r) { return r.size ? r.size->value * 2 : static_cast<double>(*r.depth) * 2 + 1; };
        if (!same && seen_.size() > 2 && key(found[0]) == seen_[0]) new_section();   // the list begins again: another run
        for (const PostedRecord& r : found) seen_.push_back(key(r));
        if (same) {
            const auto ids = identities(found.size());
            for (std::size_t i = 0; i < found.size(); ++i) {
                found[i].identity = ids[i];
                if (ids[i].empty() || ids[i] == identity_) found[i].setting = fmt::format("column {}", i + 1);
            }
        }
        for (PostedRecord& r : found) add(std::move(r));
    }
    // The line above the table, cut into as many identities as there are columns.
    std::vector<PostedIdentity> identities(std::size_t count) const {
        std::vector<PostedIdentity> ids(count, identity_);
        const auto words = split_fields(identity_line_, " \t", false);
        if (words.empty() || words.size() % count != 0) return ids;
        const std::size_t each = words.size() / count;
        for (std::size_t i = 0; i < count; ++i) {
            std::string part;
            for (std::size_t j = 0; j < each; ++j) part += words[i * each + j] + " ";
            if (const auto id = read_identity(part, {})) ids[i] = *id;
        }
        return ids;
    }

    bool heading(std::string_view text) {
        for (const std::string_view separators : {std::string_view(",;\t"), std::string_view("|\t"), std::string_view(" \t|")}) {
            const bool csv = separators[0] == ',' && text.find_first_of(",;") != text.npos;
            if (separators[0] == ',' && !csv) continue;
            std::vector<Column> columns;
            const char delimiter = csv ? (text.find(';') != text.npos ? ';' : ',') : 0;
            for (const std::string& field : csv ? split_fields(text, std::string(1, delimiter), true) : split_fields(text, separators, false)) {
                if (columns.size() >= column_limit) return false;
                std::string_view name = unquote(field);
                if (name == "rndR/W" || name == "rndRW" || name == "mix" || name == "rndR/rndW") {
                    columns.push_back(column_of("mixrd"));
                    columns.push_back(column_of("mixwr"));
                    continue;
                }
                Column column = column_of(name);
                if (!csv && !columns.empty() && column.role != Role::text) {   // "queue depth", "rate (MB/s)", "block size"
                    Column& last = columns.back();
                    const bool unit_alone = unit_of(name.starts_with('(') ? name.substr(1, name.size() - 2) : name).kind != UnitKind::none;
                    if ((last.role == column.role && (column.pattern.empty() || unit_alone)) ||
                        (unit_alone && ((last.role == Role::rate && column.unit.kind == UnitKind::rate) || (last.role == Role::size && column.unit.kind == UnitKind::size)))) {
                        if (column.unit.kind != UnitKind::none) last.unit = column.unit;
                        continue;
                    }
                }
                if (column.role == Role::text && read_number(name)) return false;
                columns.push_back(std::move(column));
            }
            bool axis = false, other = false, rate = false;
            for (const Column& c : columns) {
                axis = axis || c.role == Role::size || c.role == Role::depth;
                rate = rate || c.role == Role::rate;
            }
            for (Column& c : columns) {
                // A column of its own a drive: what heads it names the drive.
                if (axis && !rate && !csv && c.role == Role::text) c.role = Role::rate, c.pattern = "=" + c.name;
                other = other || c.role == Role::rate;
            }
            if (!axis || !other || columns.size() < 2) continue;
            new_section();
            columns_ = std::move(columns);
            csv_ = delimiter;
            last_size_.reset();
            return true;
        }
        return false;
    }

    bool csv_row(std::string_view text) {
        if (!csv_ || columns_.empty() || text.find(csv_) == text.npos) return false;
        const auto fields = split_fields(text, std::string(1, csv_), true);
        if (fields.size() != columns_.size()) return false;
        PostedRecord base;
        base.layout = "csv";
        bool rate = false;
        for (std::size_t i = 0; i < fields.size(); ++i) {
            const std::string_view field = unquote(fields[i]);
            const Column& c = columns_[i];
            const auto number = read_number(field);
            switch (c.role) {
            case Role::vendor: base.identity.vendor = field; break;
            case Role::product: base.identity.product = field; break;
            case Role::revision: base.identity.revision = field; break;
            case Role::serial: base.identity.serial = field; break;
            case Role::size:
                if (!number) return false;
                base.size = number;
                if (c.unit.kind == UnitKind::size) base.size->unit = c.unit;
                break;
            case Role::depth:
                if (!number || number->value < 1 || number->value > 65536) return false;
                base.depth = static_cast<unsigned>(number->value);
                break;
            case Role::text:
                if (c.pattern == "pattern") base.pattern = field;
                else if (!number && !field.empty()) base.setting += fmt::format("{}{}={}", base.setting.empty() ? "" : " ", c.name, field);
                break;
            case Role::rate: rate = rate || number; break;
            case Role::ignored: break;
            }
        }
        if (!rate) return false;
        rates(base, [&](std::size_t i) { return read_number(unquote(fields[i])); });
        return true;
    }

    template <class NumberAt>
    void rates(const PostedRecord& base, NumberAt number_at) {
        bool first_plain = true;
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            const Column& c = columns_[i];
            if (c.role != Role::rate) continue;
            const bool plain = c.pattern.empty();
            if (plain && !std::exchange(first_plain, false)) continue;   // median, low, high: the first is the rate
            const auto number = number_at(i);
            if (!number) continue;
            PostedRecord record = base;
            record.rate = *number;
            if (number->unit.kind != UnitKind::rate) record.rate.unit = c.unit.kind == UnitKind::rate ? c.unit : Unit{};
            if (c.pattern.starts_with('=')) {
                record.identity = identity_line_used_ ? PostedIdentity{} : identity_;
                (record.identity.product.empty() ? record.identity.product : record.identity.revision) = c.pattern.substr(1);
            } else if (!plain) record.pattern = c.pattern;
            add(std::move(record));
        }
    }

    // A row of numbers, under a heading or without one.
    bool row(std::string_view text) {
        std::vector<std::optional<PostedNumber>> numbers;
        for (std::size_t at = 0; at < text.size();) {
            if (std::string_view(" \t|;:/=").find(text[at]) != std::string_view::npos) { ++at; continue; }
            if (numbers.size() >= column_limit) return false;
            if (text[at] == '-' && (at + 1 == text.size() || text[at + 1] == ' ' || text[at + 1] == '\t')) { numbers.push_back({}); ++at; continue; }
            const auto number = read_number(text.substr(at));
            if (!number) return false;
            numbers.push_back(number);
            at += number->length;
        }
        if (numbers.size() < 2 || !numbers[0]) return false;
        return columns_.empty() ? headless(numbers) : under_heading(numbers);
    }
    bool headless(const std::vector<std::optional<PostedNumber>>& numbers) {
        const PostedNumber& x = *numbers[0];
        std::vector<PostedRecord> found;
        for (std::size_t i = 1; i < numbers.size(); ++i) {
            if (!numbers[i]) continue;
            PostedRecord record;
            record.layout = "rows";
            record.rate = *numbers[i];
            record.guessed_axis = x.unit.kind == UnitKind::none;
            if (!seen_guess_ && record.guessed_axis) depth_guess_ = x.resolution == 1 && x.value <= 2, seen_guess_ = true;
            if (record.guessed_axis && depth_guess_) {
                if (x.resolution != 1 || x.value < 1 || x.value > 65536) return false;
                record.depth = static_cast<unsigned>(x.value);
            } else record.size = x;
            found.push_back(std::move(record));
        }
        if (found.empty()) return false;
        place(std::move(found));
        return true;
    }
    bool under_heading(const std::vector<std::optional<PostedNumber>>& numbers) {
        // Which columns are there: all of them; or those without the block size, or without the sequential columns, which
        // stand once for several rows of the block size x threads matrix.
        const auto is_size = [](const Column& c) { return c.role == Role::size; };
        const auto is_linear = [](const Column& c) { return c.role == Role::rate && (c.pattern == "seq-read" || c.pattern == "seq-write"); };
        std::vector<std::size_t> chosen;
        for (const int form : {0, 1, 2, 3}) {
            chosen.clear();
            for (std::size_t i = 0; i < columns_.size(); ++i)
                if (!((form & 1) && is_size(columns_[i])) && !((form & 2) && is_linear(columns_[i]))) chosen.push_back(i);
            if (chosen.size() == numbers.size() && (!(form & 1) || last_size_) && !((form & 1) && numbers[0]->unit.kind == UnitKind::size)) break;
            chosen.clear();
        }
        if (chosen.empty()) return false;
        std::vector<std::optional<PostedNumber>> by_column(columns_.size());
        for (std::size_t i = 0; i < chosen.size(); ++i) by_column[chosen[i]] = numbers[i];
        PostedRecord base;
        base.size = last_size_;
        bool matrix = false;
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            matrix = matrix || columns_[i].pattern == "rand-read";
            if (columns_[i].role == Role::size && by_column[i]) {
                base.size = by_column[i];
                if (base.size->unit.kind == UnitKind::none && columns_[i].unit.kind == UnitKind::size) base.size->unit = columns_[i].unit;
                last_size_ = base.size;
            }
            if (columns_[i].role == Role::depth && by_column[i]) {
                if (by_column[i]->value < 1 || by_column[i]->value > 65536) return false;
                base.depth = static_cast<unsigned>(by_column[i]->value);
            }
        }
        base.layout = matrix ? "matrix" : "rows";
        rates(base, [&](std::size_t i) { return by_column[i]; });
        return true;
    }

    std::size_t number_ = 0;
    unsigned section_ = 0;
    bool rows_in_section_ = false, identity_line_used_ = false, direct_ = false, seen_guess_ = false, depth_guess_ = false;
    char csv_ = 0;
    PostedIdentity identity_;
    std::string identity_line_;
    std::vector<Column> columns_;
    std::optional<PostedNumber> label_size_, last_size_;
    std::optional<unsigned> label_depth_;
    std::vector<double> seen_;
    std::vector<PostedRecord> records_;
};

}

struct PostingReader::State { TextReader reader; };
PostingReader::PostingReader() : state_(std::make_unique<State>()) {}
PostingReader::~PostingReader() = default;
void PostingReader::line(std::string_view text, std::size_t number) { state_->reader.line(text.substr(0, line_limit), number); }
std::vector<PostedTable> PostingReader::finish(const std::string& name) { return group_records(state_->reader.take(), name); }

}
