// sgprobe limits: the largest transfer each opcode takes, what happens past it, and which layer says no.
#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "sgprobe/cli/quantity.h"
#include "sgprobe/cli/run_each.h"
#include "sgprobe/cli/subcommand.h"
#include "sgprobe/measure/limit_probe.h"
#include "sgprobe/measure/limits.h"
#include "sgprobe/measure/run_clock.h"
#include "sgprobe/measure/subject.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::cli {
namespace {

// "read10", "read-dma-ext" for READ(10), READ DMA EXT.
std::string word_of(std::string_view opcode) {
    std::string word;
    for (const char c : opcode)
        if (std::isalnum(static_cast<unsigned char>(c))) word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        else if (c == ' ') word += '-';
    return word;
}

std::vector<std::string> opcodes_of(const std::string& list) {
    std::vector<std::string> names;
    std::string known;
    for (const auto& opcode : measure::limit_opcodes())
        if (!opcode.write) known += (known.empty() ? "" : ", ") + word_of(opcode.name);
    for (std::size_t from = 0; from <= list.size();) {
        const std::size_t comma = std::min(list.find(',', from), list.size());
        const std::string word = list.substr(from, comma - from);
        const auto rows = measure::limit_opcodes();
        const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& opcode) { return !opcode.write && word_of(opcode.name) == word; });
        if (found == rows.end()) throw Failure(ExitStatus::syntax, fmt::format("--opcodes: \"{}\" is none of {}", word, known));
        names.emplace_back(found->name);
        from = comma + 1;
    }
    return names;
}

measure::HostFacts host_facts(const DriveSpec& spec) {
    measure::HostFacts facts;
    const auto kernel = kernel_device(spec);
    if (!kernel) return facts;
    const Sysfs sysfs;
    facts.max_hw_sectors_kb = kernel->queue.max_hw_sectors_kb;
    facts.max_sectors_kb = kernel->queue.max_sectors_kb;
    facts.max_segments = kernel->queue.max_segments;
    facts.max_segment_bytes = kernel->queue.max_segment_bytes;
    facts.sg_tablesize = kernel->sg_tablesize;
    facts.scatter_element_bytes = sysfs.number("/sys/module/sg/parameters/scatter_elem_sz");
    facts.reserved_bytes = sysfs.number("/sys/module/sg/parameters/def_reserved_size");
    if (const long page = ::sysconf(_SC_PAGESIZE); page > 0) facts.page_bytes = static_cast<Bytes>(page);
    facts.driver = kernel->host_driver;
    return facts;
}

// The rules for writing: a range that the user gave away, and a drive that is what the user thinks it is and that nobody uses.
void allow_writing(const Drive& drive, const std::string& serial_given, const std::string& serial) {
    if (drive.spec().scheme == "sim") return;
    if (serial_given.empty()) throw Failure(ExitStatus::contradiction, fmt::format("{}: --write needs the drive's serial number as well (--serial)", drive.name()));
    if (serial_given != serial) throw Failure(ExitStatus::contradiction, fmt::format("{}: its serial number is not the one given with --serial: nothing is written", drive.name()));
    const auto kernel = kernel_device(drive.spec());
    if (!kernel) return;
    if (kernel->in_use()) throw Failure(ExitStatus::contradiction, fmt::format("{}: it is mounted, or in use by swap, md, dm or LVM: nothing is written", drive.name()));
    if (kernel->block.empty()) return;
    // O_EXCL on a block device fails where somebody else holds it exclusively.
    const int fd = ::open(("/dev/" + kernel->block).c_str(), O_RDONLY | O_EXCL | O_CLOEXEC);
    if (fd < 0 && errno == EBUSY) throw Failure(ExitStatus::contradiction, fmt::format("{}: another program holds it exclusively: nothing is written", drive.name()));
    if (fd >= 0) ::close(fd);
}

class Limits : public Command {
    std::vector<std::string> names_;
    measure::LimitsOptions options_;
    std::string serial_;

    void setup(const Arguments& a) override {
        names_ = a.positionals();
        if (const auto list = a.text("opcodes")) options_.opcodes = opcodes_of(*list);
        options_.start = a.number("start");
        if (const auto count = a.number("max-timeouts")) {
            if (*count == 0 || *count > 1000) throw Failure(ExitStatus::syntax, "--max-timeouts: from 1 to 1000");
            options_.max_timeouts = static_cast<unsigned>(*count);
        }
        options_.spare_last_blocks = a.has("spare-last-blocks");
        options_.budget = a.time("budget");
        if (options_.budget && *options_.budget <= Nanoseconds(0)) throw Failure(ExitStatus::syntax, "--budget: no time is no measurement");
        if (const auto seed = a.number("seed")) options_.seed = *seed;
        options_.write = a.has("write");
        if (const auto range = a.text("range")) {
            const std::size_t colon = range->find(':');
            if (colon == std::string::npos) throw Failure(ExitStatus::syntax, "--range: FIRST:COUNT in blocks, as 1000000:65536");
            options_.write_first = parse_number(std::string_view(*range).substr(0, colon));
            options_.write_blocks = parse_number(std::string_view(*range).substr(colon + 1));
        }
        serial_ = a.text("serial").value_or("");
        if (options_.write && options_.write_blocks == 0) throw Failure(ExitStatus::contradiction, "--write needs --range FIRST:COUNT: the blocks that may be written over");
        if (!options_.write && (a.has("range") || a.has("serial"))) throw Failure(ExitStatus::contradiction, "--range and --serial are for --write");
    }

    int run(Context& context) override {
        return run_each(context, names_, [&](Host& host, Drive& drive) {
            measure::LimitsOptions options = options_;
            options.progress = context.progress();
            options.host = host_facts(drive.spec());
            if (const auto kernel = kernel_device(drive.spec())) {
                if (!kernel->block.empty()) options.block_node = "/dev/" + kernel->block;
                if (!kernel->address.empty()) options.bsg_node = "/dev/bsg/" + kernel->address;
            }
            if (options.write) allow_writing(drive, serial_, measure::identify(host, drive).identity.serial);
            const measure::RunClock clock(host);
            auto result = measure::limits_result(measure::measure_limits(host, drive, options));
            clock.stamp(result);
            add_host_facts(result);
            context.print(result);
            return context.exit_status(result);
        });
    }
};

}

extern const Subcommand limits_subcommand;
const Subcommand limits_subcommand{
    .name = "limits",
    .summary = "the largest transfer each opcode takes, what happens past it, and which layer says no",
    .description =
        "Reads with longer and longer commands of each opcode, finds the longest that works and the shortest that does not to the block, and "
        "says what the failure is: an error with sense data, a time-out, a disconnect, wrong data without an error, or a refusal by the host. "
        "What arrives is compared with the same blocks read in small commands. The answer names the layer that says no: the drive, the drive as "
        "it declares (VPD page B0h), the host and which of its limits, the transport, the CDB's transfer length field, or the end of the disk.\n\n"
        "After a time-out the drive is waited for, and only shorter commands are sent. Commands that fail now and then at any length are told "
        "from a limit. Nothing is written without --write, a range and the drive's serial number.",
    .positionals = {"DEV...", 1, many},
    .options = {
        {"opcodes", 0, "LIST", "only these: read6, read10, read12, read16, read-dma-ext, read-fpdma-queued", "every READ; ATA's where the drive is ATA"},
        {"start", 0, "LBA", "read from this block on", "a stretch below block 2,097,152 whose content tells"},
        {"max-timeouts", 0, "N", "time-outs and disconnects that may be spent", "12 in virtual time, 3 else"},
        {"spare-last-blocks", 0, "", "keep away from the last 8 blocks, for drives that crash there"},
        {"write", 0, "", "WRITE too, within --range; what was there is read first and put back"},
        {"range", 0, "FIRST:COUNT", "the blocks that may be written over"},
        {"serial", 0, "TEXT", "the drive's serial number, without which nothing is written"},
        {"seed", 0, "N", "the seed of the random lengths", "1"},
    },
    .groups = {&budget_options, &verdict_options, &output_options, &drive_options},
    .make = make_command<Limits>};

}
