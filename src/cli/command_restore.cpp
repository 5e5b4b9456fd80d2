// sgprobe restore: what a crash left changed.
#include <fmt/format.h>

#include "sgprobe/cli/settings.h"
#include "sgprobe/cli/subcommand.h"
#include "sgprobe/report/escape.h"
#include "sgprobe/report/mode_pages.h"
#include "sgprobe/transport/escape.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::cli {
namespace {

class Restore : public Command {
    std::optional<std::string> name_;
    SettingsOptions settings_;

    void setup(const Arguments& a) override {
        if (!a.positionals().empty()) name_ = a.positionals().front();
        settings_ = SettingsOptions::from(a);
    }

    // One drive and its journal: 0 where all is back or nothing was changed.
    int restore(Context& context, const std::string& name, const std::string& folder, const std::string& only_path, measure::Value& drives) {
        OpenDrives open = context.open({name});
        Drive& drive = *open.drives.front();
        const pages::Catalogue catalogue(settings_.modepages);
        const auto identity = pages::identify(*open.host, drive);
        pages::JournalFile file(folder, identity, name, std::chrono::seconds(20));
        std::string lines;
        if (!only_path.empty() && file.path() != only_path) {
            const pages::Journal other = pages::parse_journal(pages::read_journal_text(only_path), only_path);
            context.note(fmt::format("{}: this is another drive now ({}) than the one whose settings were changed ({}), and is not touched; say \"sgprobe restore DEV\" with that one's present name, or remove {}",
                                     name, identity.text(), other.drive.text(), only_path));
            return static_cast<int>(ExitStatus::other);
        }
        const auto journal = file.read();
        measure::Value out;
        out.set("device", report::identity_value(identity, name, context.options().anonymous)).set("journal", file.path());
        if (!journal) {
            context.note(fmt::format("{}: nothing to put back", name));
            drives.add(out.set("restored", measure::Value::list()));
            return 0;
        }
        if (context.options().dry_run) {
            for (const auto& f : journal->fields) lines += fmt::format("{}: would put {} of page {} back to {}\n", escaped(name), escaped(f.field.key), label(f.id), f.before);
            for (const auto& f : journal->features) lines += fmt::format("{}: would put {} back to {}\n", escaped(name), escaped(f.name), f.before);
            for (const auto& k : journal->kernel) lines += fmt::format("{}: would put the kernel's {} back to {}\n", escaped(name), escaped(k.name), escaped(k.before));
            if (context.options().format != Format::json) context.print_text(lines);
            return 0;
        }
        const auto report = pages::restore_from(*open.host, drive, catalogue, pages::KernelView::of(drive.spec()), file, *journal);
        for (const std::string& line : report.restored) lines += fmt::format("{}: put back {}\n", escaped(name), escaped(line));
        if (report.restored.empty() && report.complete()) lines += fmt::format("{}: all had its former values already\n", escaped(name));
        for (const std::string& line : report.left) context.note(fmt::format("{}: {}", name, line));
        for (const std::string& line : report.failed) context.note(fmt::format("{}: NOT put back: {}; the journal {} is kept", name, line, file.path()));
        if (context.options().format != Format::json) context.print_text(lines);
        out.set("report", report::to_value(report));
        drives.add(out);
        return report.complete() ? 0 : static_cast<int>(ExitStatus::other);
    }

    int run(Context& context) override {
        measure::Value drives = measure::Value::list();
        int status = 0;
        if (name_) {
            const DriveSpec spec = DriveSpec::parse(*name_);
            const std::string folder = journal_folder(spec, settings_);
            if (folder.empty()) throw Failure(ExitStatus::syntax, fmt::format("{}: nothing of this drive outlives the program that uses it, so there is nothing to put back (state=FILE, or --journal DIR)", *name_));
            status = restore(context, *name_, folder, "", drives);
        } else {
            const std::string folder = journal_folder(DriveSpec::parse("/dev/sg0"), settings_);
            const auto paths = pages::journals_in(folder);
            for (const std::string& path : paths) {
                try {
                    const pages::Journal journal = pages::parse_journal(pages::read_journal_text(path), path);
                    status = std::max(status, restore(context, journal.device, folder, path, drives));
                } catch (const Failure& failure) {
                    context.note(failure.what());
                    status = std::max(status, failure.status());
                }
            }
            if (paths.empty()) context.note(fmt::format("{} holds no journal: nothing to put back", folder));
        }
        if (context.options().format == Format::json) context.print(measure::Value().set("schema", "sgprobe/1").set("probe", "restore").set("drives", drives));
        return status;
    }
};

}

extern const Subcommand restore_subcommand;
const Subcommand restore_subcommand{
    .name = "restore",
    .summary = "what a crash left changed",
    .description =
        "Puts back the settings that an interrupted run left changed, from its journal, and says what it did. Without DEV, those of every drive that has a journal.\n\n"
        "Only what sgprobe changed is put back, and only where the drive still holds what was set. A drive with another serial number is not touched. "
        "Where something cannot be put back the journal is kept and the exit status is not 0.",
    .positionals = {"[DEV]", 0, 1},
    .options = {},
    .groups = {&settings_options, &output_options, &drive_options},
    .make = make_command<Restore>};

}
