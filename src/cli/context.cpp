#include "sgprobe/cli/context.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "sgprobe/cli/gnuplot.h"
#include "sgprobe/cli/new_file.h"
#include "sgprobe/cli/terminal.h"
#include "sgprobe/report/escape.h"
#include "sgprobe/report/format.h"
#include "sgprobe/transport/failure.h"
#include "sgprobe/transport/signals.h"

namespace sgprobe::cli {

struct Context::Output {
    std::optional<NewFile> file;      // else standard output
    std::optional<NewFile> plot;
};

SharedOptions shared_options(const Arguments& a) {
    SharedOptions o;
    a.exclusive({"json", "csv", "format"});
    if (const auto format = a.text("format")) {
        // The words are those of the option's row; only the name of the format is taken apart here.
        if (*format == "text") o.format = Format::text;
        else if (*format == "json") o.format = Format::json;
        else if (*format == "csv") o.format = Format::csv;
        else if (*format == "list") o.format = Format::list;
        else if (*format == "openmetrics") o.format = Format::openmetrics;
        else throw Failure(ExitStatus::syntax, fmt::format("--format: \"{}\" is none of text, json, csv, list, openmetrics", *format));
    }
    if (a.has("json")) o.format = Format::json;
    if (a.has("csv")) o.format = Format::csv;
    o.output = a.text("output");
    o.plot = a.text("plot");
    o.trace = a.text("trace");
    o.force = a.has("force");
    o.anonymous = a.has("anonymous");
    o.dry_run = a.has("dry-run");
    o.check = a.has("check");
    o.verbosity = a.count("verbose");
    o.budget = a.time("budget");
    o.timeout = a.time("timeout");
    o.host_overhead = a.time("host-overhead");
    if (o.timeout && *o.timeout <= Nanoseconds(0)) throw Failure(ExitStatus::syntax, "--timeout: it must be longer than 0");
    if (o.plot && !report::plot_kind(*o.plot))
        throw Failure(ExitStatus::syntax, fmt::format("--plot: \"{}\" does not end in .svg, .png or .pdf, and is not -", *o.plot));
    if (o.plot == "-" && o.format != Format::text && !o.output)
        throw Failure(ExitStatus::contradiction, "--plot=- draws among the text: with another format, give --output or a file to draw into");
    if (o.output && o.plot && *o.output == *o.plot) throw Failure(ExitStatus::contradiction, "--output and --plot name the same file");
    return o;
}

Context::Context(SharedOptions options) : options_(std::move(options)), output_(std::make_unique<Output>()) {
    // An --output that cannot be written is said before the drive is made to work, not after.
    if (options_.output && *options_.output != "-") output_->file.emplace(*options_.output, options_.force);
    if (options_.plot && *options_.plot != "-") output_->plot.emplace(*options_.plot, options_.force);
}

Context::~Context() = default;

bool Context::to_terminal() const { return !output_->file && ::isatty(STDOUT_FILENO); }

void Context::print_text(std::string_view text) {
    clear_progress();
    if (output_->file) output_->file->write(text);
    else std::fwrite(text.data(), 1, text.size(), stdout);
}

void Context::print(const measure::Value& value) {
    if (options_.dry_run) return;
    print_text(options_.format == Format::json ? report::json(value, to_terminal()) : report::text(value));
}

void Context::print(const measure::Result& found) {
    if (options_.dry_run) return;
    measure::Result result = found;
    add_host_facts(result);
    if (result.started.empty()) {
        const std::time_t seconds = std::chrono::system_clock::to_time_t(opened_);
        std::tm utc{};
        ::gmtime_r(&seconds, &utc);
        result.started = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
    }
    if (result.elapsed_s <= 0) result.elapsed_s = std::chrono::duration<double>(std::chrono::system_clock::now() - opened_).count();
    const report::Style style{.unicode = utf8_locale(), .width = 80, .anonymous = options_.anonymous};
    switch (options_.format) {
        case Format::json: print_text(report::json(report::to_value(result, style), to_terminal())); break;
        case Format::csv: print_text(report::csv(result, style)); break;
        case Format::list: print_text(report::list(result, style)); break;
        case Format::openmetrics: metrics_.push_back(result); break;
        case Format::text: print_text(report::text(result, style)); break;
    }
    add_plot(report::plot_of(result));
}

void Context::add_plot(report::Plot plot) {
    if (options_.plot && !options_.dry_run) plots_.push_back(std::move(plot));
}

void Context::draw() {
    if (plots_.empty()) return;
    const auto kind = *report::plot_kind(*options_.plot);
    const std::string drawn = run_gnuplot(report::gnuplot_script(report::overlaid(plots_), kind));
    plots_.clear();
    if (!output_->plot) {
        std::fwrite(drawn.data(), 1, drawn.size(), stdout);
        return;
    }
    output_->plot->write(drawn);
    output_->plot->finish();
}

void Context::print_udev(const measure::Result& result) {
    bool any = false;
    for (const auto& advice : result.advice) {
        if (advice.udev_rule.empty()) continue;
        print_text(advice.udev_rule + (advice.udev_rule.ends_with('\n') ? "" : "\n"));
        any = true;
    }
    if (!any) note(fmt::format("{}: no rule is needed: {}", result.device.path, result.reason));
}

void Context::note(std::string_view complaint) {
    clear_progress();
    fmt::print(stderr, "sgprobe: {}\n", report::for_terminal(complaint));
}

measure::Progress Context::progress() {
    return [](double fraction, Nanoseconds left, const std::string& what) { show_progress(fraction, left, what); };
}

int Context::exit_status(const measure::Result& result) const {
    ExitStatus status = ExitStatus::good;
    if (result.interrupted) status = ExitStatus::interrupted;
    else if (result.exit_status != 0) return result.exit_status;
    else if (options_.check && result.verdict == measure::Verdict::cliff) status = ExitStatus::cliff_found;
    else if (options_.check && result.verdict == measure::Verdict::inconclusive) status = ExitStatus::inconclusive;
    return static_cast<int>(status);
}

void Context::finish() {
    if (!metrics_.empty()) print_text(report::openmetrics(metrics_));
    metrics_.clear();
    if (!plan_.empty()) print_text(plan_);
    plan_.clear();
    clear_progress();
    if (trace_) trace_->finish();
    if (output_->file) output_->file->finish();
    else if (std::fflush(stdout) != 0 && errno != EPIPE)
        throw Failure(ExitStatus::file_error, fmt::format("standard output cannot be written: {}", std::strerror(errno)));
    draw();                                    // last: where that fails, the rest of the result is complete
    std::fflush(stdout);
}

}
