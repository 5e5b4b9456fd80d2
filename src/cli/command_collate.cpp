// sgprobe collate: many results, ours or posted, into one table by model and firmware.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "sgprobe/cli/subcommand.h"
#include "sgprobe/report/collate.h"
#include "sgprobe/report/compare.h"
#include "sgprobe/report/escape.h"
#include "sgprobe/report/format.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::cli {
namespace {

namespace fs = std::filesystem;

class Collate : public Command {
    std::vector<std::string> names_;
    double threshold_ = 0.10;
    unsigned confirm_ = 2;
    bool kernel_quirk_ = false, compare_ = false;

    void setup(const Arguments& a) override {
        names_ = a.positionals();
        if (const auto threshold = a.fraction("threshold")) threshold_ = *threshold;
        if (!(threshold_ > 0) || threshold_ >= 1) throw Failure(ExitStatus::syntax, "--threshold: a loss between 0 and 1");
        if (const auto confirm = a.number("confirm")) {
            if (*confirm == 0 || *confirm > 1'000'000) throw Failure(ExitStatus::syntax, "--confirm: from 1 to 1000000 drives");
            confirm_ = static_cast<unsigned>(*confirm);
        }
        kernel_quirk_ = a.has("kernel-quirk");
        compare_ = a.has("compare");
        a.exclusive({"kernel-quirk", "compare"});
        if (compare_ && names_.size() != 2) throw Failure(ExitStatus::syntax, fmt::format("--compare takes two files, each with one result, and {} {} named", names_.size(), names_.size() == 1 ? "is" : "are"));
        a.exclusive({"kernel-quirk", "json", "csv", "format"});
        if (a.has("confirm") && !kernel_quirk_) throw Failure(ExitStatus::contradiction, "--confirm goes with --kernel-quirk");
    }

    static void add(report::Collation& collation, const fs::path& path) {
        std::ifstream file(path, std::ios::binary);
        if (!file) collation.unreadable(path.string(), std::strerror(errno));
        else collation.add(file, path.string());
    }

    static std::string whole(const std::string& name) {
        std::ifstream file(name, std::ios::binary);
        if (!file) throw Failure(ExitStatus::file_error, fmt::format("{}: {}", name, std::strerror(errno)));
        std::string content(16 * 1024 * 1024 + 1, '\0');
        file.read(content.data(), static_cast<std::streamsize>(content.size()));
        content.resize(static_cast<std::size_t>(file.gcount()));
        if (content.size() > 16 * 1024 * 1024) throw Failure(ExitStatus::malformed, fmt::format("{}: longer than 16 MiB, so no result of one run", name));
        return content;
    }

    int compare(Context& context) {
        const report::Comparison c = report::compare_runs(whole(names_[0]), names_[0], whole(names_[1]), names_[1], threshold_);
        switch (context.options().format) {
            case Format::json: context.print(report::to_value(c)); break;
            case Format::csv: context.print_text(report::csv(c)); break;
            case Format::text: context.print_text(report::text(c)); break;
            default: throw Failure(ExitStatus::contradiction, "--compare is printed as text, JSON or CSV");
        }
        return 0;
    }

    int run(Context& context) override {
        if (compare_) return compare(context);
        if (context.options().format == Format::list) throw Failure(ExitStatus::contradiction, "--format=list is the posting of one drive; collate has none");
        report::Collation collation(threshold_);
        bool stdin_read = false;
        for (const std::string& name : names_) {
            std::error_code error;
            if (name == "-") {
                if (std::exchange(stdin_read, true)) throw Failure(ExitStatus::contradiction, "standard input (-) is named twice");
                collation.add(std::cin, "(standard input)");
            } else if (fs::is_directory(name, error)) {
                std::vector<fs::path> paths;
                // Links are not followed: a directory of reports may have come from anywhere.
                for (fs::recursive_directory_iterator entry(name, error), end; !error && entry != end; entry.increment(error))
                    if (entry->symlink_status(error).type() == fs::file_type::regular) paths.push_back(entry->path());
                if (error) collation.unreadable(name, error.message());
                std::sort(paths.begin(), paths.end());
                for (const fs::path& path : paths) add(collation, path);
            } else if (!fs::exists(name, error)) {
                throw Failure(ExitStatus::file_error, fmt::format("{}: no such file or directory", name));
            } else add(collation, name);
        }
        const report::Collated collated = collation.finish();
        for (const std::string& what : collated.malformed) context.note(what);
        if (collated.malformed_count > collated.malformed.size())
            context.note(fmt::format("and {} more that could not be read", collated.malformed_count - collated.malformed.size()));
        if (collated.reports == 0 && collated.duplicates == 0)
            throw Failure(ExitStatus::malformed, "nothing to collate: no result of sgprobe and no table of rates was found in what was given");
        if (kernel_quirk_) context.print_text(report::kernel_quirks(collated, confirm_));
        else if (context.options().format == Format::json) context.print(report::to_value(collated));
        else if (context.options().format == Format::csv) context.print_text(report::csv(collated));
        else if (context.options().format == Format::openmetrics) context.print_text(report::openmetrics(collated));
        else context.print_text(report::text(collated, width(context)));
        return 0;
    }

    static unsigned width(const Context& context) {
        winsize size{};
        return context.to_terminal() && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 60 ? size.ws_col : 120;
    }
};

}

extern const Subcommand collate_subcommand;
const Subcommand collate_subcommand{
    .name = "collate",
    .summary = "many results, ours or posted, into one table by model and firmware",
    .description =
        "Reads results of sgprobe (--json, one or many in a file) and what people post: lists of rates by request size or depth in one "
        "column or several, with decimal point or comma, quoted or not; CSV; the block size by threads matrix; fio's JSON output; loops of dd "
        "or hdparm -t. A directory is read with all that is below it; - is standard input.\n\n"
        "Each posted table is judged as a probe judges its own, with what certainty single runs allow, which is often inconclusive. The rule by "
        "which a unit was taken is told. Results under other settings or over another transport are never compared. What cannot be read is named, "
        "counted and passed over.",
    .positionals = {"FILE|DIR|-...", 1, many},
    .options = {
        {"compare", 0, "", "compare two results of one drive (two firmwares, two settings, two days) cell by cell"},
        {"threshold", 0, "FRACTION", "call no smaller loss a cliff", "10%"},
        {"kernel-quirk", 0, "", "print entries for the kernel's tables of quirks, and for udev's hardware database, of what is confirmed"},
        {"confirm", 0, "N", "what is confirmed: a cliff at one place on at least N independent drives", "2"},
    },
    .groups = {&output_options},
    .make = make_command<Collate>};

}
