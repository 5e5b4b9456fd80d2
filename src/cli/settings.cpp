#include "sgprobe/cli/settings.h"

#include <cstdlib>

namespace sgprobe::cli {
namespace {

constexpr Option settings_rows[] = {
    {"journal", 0, "DIR", "keep the journal of changed settings in DIR (see sgprobe-journal(5))", "/var/lib/sgprobe"},
    {"modepages", 0, "DIR", "read mode page files of DIR too; they take the place of built-in ones (see sgprobe-modepage(5))"},
};

}

constinit const OptionGroup settings_options{"Settings", settings_rows};

SettingsOptions SettingsOptions::from(const Arguments& a) { return {a.text("journal").value_or(""), a.text("modepages").value_or("")}; }

std::string journal_folder(const DriveSpec& spec, const SettingsOptions& options) {
    const char* variable = std::getenv("SGPROBE_JOURNAL");
    const std::string said = !options.journal.empty() ? options.journal : variable ? variable : "";
    const auto state = spec.options.find("state");
    if (spec.scheme == "sg") return said.empty() ? "/var/lib/sgprobe" : said;
    if (spec.scheme == "sim") return state == spec.options.end() ? "" : said.empty() ? state->second + ".sgprobe" : said;
    // A model's death is a power cycle; whether it keeps anything over one, only its owner knows.
    return spec.scheme == "pipe" ? said : "";
}

pages::TransactionOptions transaction_options(const Context& context, const DriveSpec& spec, const SettingsOptions& options) {
    pages::TransactionOptions out;
    out.journal_folder = journal_folder(spec, options);
    out.kernel = pages::KernelView::of(spec);
    out.force = context.options().force;
    SharedOptions fresh;
    fresh.timeout = context.options().timeout;
    fresh.host_overhead = context.options().host_overhead;
    out.reopen = [fresh, name = spec.text](const std::function<void(Host&, Drive&)>& work) {
        Context other(fresh);
        OpenDrives open = other.open({name});
        work(*open.host, *open.drives.front());
    };
    return out;
}

}
