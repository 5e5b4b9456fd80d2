// What main hands to a subcommand's run(): the shared options, drives opened as they say, and the way out for what was found.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sgprobe/cli/arguments.h"
#include "sgprobe/measure/progress.h"
#include "sgprobe/measure/result.h"
#include "sgprobe/measure/value.h"
#include "sgprobe/report/plot.h"
#include "sgprobe/transport/drive.h"
#include "sgprobe/transport/sysfs.h"

namespace sgprobe { class Signals; }

namespace sgprobe::cli {

// One host and the drives on it, in the order in which they were named. Drives go before their host.
struct OpenDrives {
    std::unique_ptr<Host> host;
    std::vector<std::unique_ptr<Drive>> drives;
};

class NewFile;

enum class Format : std::uint8_t { text, json, csv, list, openmetrics };

struct SharedOptions {
    Format format = Format::text;
    std::optional<std::string> output, plot, trace;
    std::string run;                                            // the command line, for a trace
    bool force = false, anonymous = false, dry_run = false, check = false;
    unsigned verbosity = 0;
    std::optional<Nanoseconds> budget, timeout, host_overhead;
};
SharedOptions shared_options(const Arguments&);

std::optional<KernelDevice> kernel_device(const DriveSpec&);    // what the kernel knows of it; empty for sim: and pipe:
void add_host_facts(measure::Result&);                          // kernel, driver and limits of the result's drive, where there is a kernel

class Context {
public:
    explicit Context(SharedOptions);
    ~Context();                                                 // what goes to --output is complete only after finish()
    const SharedOptions& options() const { return options_; }
    bool to_terminal() const;                                   // data goes to a terminal

    OpenDrives open(const std::vector<std::string>& names);     // device.cpp: the one place that knows the kinds of host

    void print_text(std::string_view text);                         // data: standard output or --output; text is already escaped
    void print(const measure::Result&);                         // in the format asked for; and the plot where one is asked for. Nothing
    void print_udev(const measure::Result&);                    // its rules alone, or a note that none is needed
    void print(const measure::Value&);                          // one JSON object, or indented text.         in a dry run: it is fiction
    void add_plot(report::Plot);                                // for --plot; print(Result) does so itself
    void note(std::string_view complaint);                      // standard error, with "sgprobe: " before it, escaped
    measure::Progress progress();                               // a line on standard error, only where that is a terminal
    int exit_status(const measure::Result&) const;              // 0; 130 interrupted; with --check 36 and 39
    void finish();                                              // closes and checks what was written; main calls it

private:
    struct Output;
    void draw();
    std::unique_ptr<Host> replayed(const std::vector<DriveSpec>&);                  // trace:FILE
    std::unique_ptr<Host> recorded(std::unique_ptr<Host>);                          // --trace FILE
    SharedOptions options_;
    std::unique_ptr<Output> output_;
    std::chrono::system_clock::time_point opened_ = std::chrono::system_clock::now();   // when the last drive was opened
    std::vector<measure::Result> metrics_;                      // finish() prints them, where the format is openmetrics
    std::vector<report::Plot> plots_;                           // finish() draws them into one picture
    std::string plan_;                                          // of a dry run; finish() prints it
    std::shared_ptr<NewFile> trace_;                            // from the first open() on; finish() closes it
    std::map<std::string, unsigned> replayed_;                  // how many recordings of a trace were opened before
    std::unique_ptr<Signals> signals_;                          // from the first open() on
};

}
