#include <fmt/format.h>
#include <simdjson.h>

#include "sgprobe/report/posted_record.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::report {

namespace {

using simdjson::dom::element;

// An option of the job, else of the whole run; fio prints every option as a string.
std::string option(element job, element global, std::string_view key) {
    for (const element& options : {job, global}) {
        std::string_view text;
        if (options[key].get_string().get(text) == simdjson::SUCCESS) return std::string(text);
    }
    return {};
}

std::string pattern_of(const std::string& rw, bool write) {
    if (rw == "read" || rw == "write" || rw.empty()) return write ? "seq-write" : "seq-read";
    if (rw == "randread" || rw == "randwrite") return write ? "rand-write" : "rand-read";
    return write ? "mixed-write" : "mixed-read";
}

std::optional<double> number(element object, std::string_view key) {
    double value = 0;
    if (object[key].get_double().get(value) == simdjson::SUCCESS) return value;
    return {};
}

}

std::vector<PostedRecord> read_fio(std::string_view json) {
    simdjson::dom::parser parser(4 * 1024 * 1024);
    element root;
    simdjson::dom::array jobs;
    if (parser.parse(simdjson::padded_string(json)).get(root) != simdjson::SUCCESS || root["jobs"].get_array().get(jobs) != simdjson::SUCCESS)
        throw Failure(ExitStatus::malformed, "not fio's JSON output: no list of jobs");
    element global;
    if (root["global options"].get(global) != simdjson::SUCCESS) global = root;
    std::vector<PostedRecord> records;
    for (const element job : jobs) {
        element options;
        if (job["job options"].get(options) != simdjson::SUCCESS) options = job;
        PostedRecord base;
        base.layout = "fio";
        base.setting = option(options, global, "filename");
        if (const std::string jobs_at_once = option(options, global, "numjobs"); !jobs_at_once.empty() && jobs_at_once != "1")
            base.setting += fmt::format("{}numjobs={}", base.setting.empty() ? "" : " ", jobs_at_once);
        const std::string direct = option(options, global, "direct"), engine = option(options, global, "ioengine");
        base.page_cache = direct != "1" && engine != "sg";
        if (auto size = read_number(option(options, global, "bs")); size || (size = read_number("4k"))) {
            if (size->unit.kind == UnitKind::none) size->unit = unit_of("b");
            size->unit.open = false;   // fio counts k as 1024 unless told otherwise (kb_base)
            base.size = size;
        }
        const auto depth = read_number(option(options, global, "iodepth"));
        base.depth = depth && depth->value >= 1 && depth->value <= 65536 ? static_cast<unsigned>(depth->value) : 1;
        for (const bool write : {false, true}) {
            element side;
            if (job[write ? "write" : "read"].get(side) != simdjson::SUCCESS) continue;
            auto bytes_per_s = number(side, "bw_bytes");
            if (!bytes_per_s)
                if (const auto kib = number(side, "bw")) bytes_per_s = *kib * 1024;
            if (!bytes_per_s || !(*bytes_per_s > 0)) continue;
            PostedRecord record = base;
            record.pattern = pattern_of(option(options, global, "rw"), write);
            record.rate.value = *bytes_per_s;
            record.rate.resolution = 1024;
            record.rate.unit = unit_of("b/s");
            records.push_back(std::move(record));
        }
    }
    return records;
}

}
