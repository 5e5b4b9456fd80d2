// sgprobe decode: posted hex in the words of the standards.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>

#include "sgprobe/cli/subcommand.h"
#include "sgprobe/report/decode.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::cli {
namespace {

constexpr std::size_t longest_text = 16u << 20;

std::string read_all(std::istream& from, const std::string& name) {
    std::string text(longest_text + 1, '\0');
    from.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(from.gcount()));
    if (from.bad()) throw Failure(ExitStatus::file_error, fmt::format("{}: cannot be read: {}", name, std::strerror(errno)));
    if (text.size() > longest_text) throw Failure(ExitStatus::malformed, fmt::format("{}: longer than 16 MiB, so no posted reply of a device", name));
    return text;
}

class Decode : public Command {
    std::optional<report::DecodeKind> kind_;
    std::string file_ = "-", folder_;

    void setup(const Arguments& a) override {
        const std::string& kind = a.positionals().front();
        kind_ = report::decode_kind_named(kind);
        if (!kind_ && kind != "auto") {
            std::string all;
            for (const std::string_view name : report::decode_kind_names()) all += fmt::format("{} ", name);
            throw Failure(ExitStatus::syntax, fmt::format("{}: no KIND; there are {}and auto", kind, all));
        }
        if (a.positionals().size() > 1) file_ = a.positionals()[1];
        if (const auto folder = a.text("modepages")) folder_ = *folder;
    }

    int run(Context& context) override {
        if (context.options().format != Format::text && context.options().format != Format::json)
            throw Failure(ExitStatus::contradiction, "decode prints text or JSON");
        std::string text;
        const std::string where = file_ == "-" ? "(standard input)" : file_;
        if (file_ == "-") {
            text = read_all(std::cin, where);
        } else {
            errno = 0;
            std::ifstream file(file_, std::ios::binary);
            if (!file) throw Failure(ExitStatus::file_error, fmt::format("{}: {}", file_, std::strerror(errno)));
            text = read_all(file, file_);
        }
        const report::Decoded decoded = report::decode_text(kind_, text, where, pages::Catalogue(folder_));
        if (context.options().format == Format::json) context.print(report::to_value(decoded));
        else context.print_text(report::text(decoded));
        return report::has_problems(decoded) ? static_cast<int>(ExitStatus::malformed) : 0;
    }
};

}

extern const Subcommand decode_subcommand;
const Subcommand decode_subcommand{
    .name = "decode",
    .summary = "replies of drives as people post them, in hexadecimal, in the words of the standards",
    .description =
        "KIND is inquiry, vpd, sense, mode6, mode10, identify, readcap10, readcap16, log or cdb, or auto where it can be told. Without FILE, or "
        "with -, standard input is read.\n\n"
        "The bytes may be posted in any layout: with or without offsets, with an ASCII gutter, as 0x00 or 00h, with commas, as 16-bit words in either "
        "order, as sg3_utils prints and reads them (--hex, --inhex), as hdparm --Istdout and smartctl -r ioctl print them, in the kernel's log, in "
        "quoted mail. Of a text that holds several replies those of the KIND are decoded.\n\n"
        "What contradicts itself or is cut short is told as a problem, with what could be told still told, and the exit status is 97. A value that "
        "means \"not reported\" is shown as - (null in JSON), and a field whose bytes did not arrive not at all.",
    .positionals = {"KIND [FILE|-]", 1, 2},
    .options = {
        {"modepages", 0, "DIR", "read the mode page files of this folder over the built-in ones"},
    },
    .groups = {&output_options},
    .make = make_command<Decode>};

}
