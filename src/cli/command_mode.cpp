// sgprobe mode: mode pages and ATA features, shown and changed.
#include <fmt/format.h>

#include <optional>

#include "sgprobe/cli/settings.h"
#include "sgprobe/cli/subcommand.h"
#include "sgprobe/pages/editor.h"
#include "sgprobe/report/escape.h"
#include "sgprobe/report/mode_pages.h"
#include "sgprobe/transport/describe.h"
#include "sgprobe/transport/escape.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::cli {
namespace {

std::vector<pages::Assignment> assignments(const std::vector<std::string>& lists, bool clear) {
    std::string joined;
    for (const std::string& list : lists) joined += (joined.empty() ? "" : ",") + list;
    if (joined.empty()) return {};
    auto parsed = pages::parse_assignments(joined);
    for (auto& one : parsed) {
        if (clear && !one.given) { one.given = true; one.value = 0; }
    }
    return parsed;
}

bool interrupted(Host& host) { return host.wait(host.now()).kind == Event::Kind::interrupted; }

class Mode : public Command {
    std::optional<std::string> name_;
    std::vector<std::string> page_names_;
    std::vector<pages::Assignment> get_, set_;
    SettingsOptions settings_;
    bool all_ = false, defaults_ = false, save_ = false, six_ = false, enumerate_ = false;

    void setup(const Arguments& a) override {
        if (!a.positionals().empty()) name_ = a.positionals().front();
        page_names_ = a.texts("page");
        get_ = assignments(a.texts("get"), false);
        set_ = assignments(a.texts("set"), false);
        const auto clear = assignments(a.texts("clear"), true);
        set_.insert(set_.end(), clear.begin(), clear.end());
        all_ = a.has("all");
        defaults_ = a.has("defaults");
        save_ = a.has("save");
        six_ = a.has("six");
        enumerate_ = a.has("enumerate");
        settings_ = SettingsOptions::from(a);
        if (!name_ && !enumerate_) throw Failure(ExitStatus::syntax, "mode: which drive? sgprobe list shows those of this machine");
        if (!get_.empty() && (!set_.empty() || defaults_)) throw Failure(ExitStatus::contradiction, "--get shows and --set changes: one at a time");
        if (defaults_ && !set_.empty()) throw Failure(ExitStatus::contradiction, "--defaults changes whole pages, --set and --clear fields: one at a time");
        if (defaults_ && page_names_.empty() && !all_) throw Failure(ExitStatus::syntax, "--defaults: of which page? --page PAGE, or --all for every one");
        if (save_ && set_.empty() && !defaults_) throw Failure(ExitStatus::syntax, "--save: nothing is changed that could be saved; say --set, --clear or --defaults");
        if (page_names_.size() == 1)
            for (auto* list : {&get_, &set_})
                for (pages::Assignment& one : *list)
                    if (one.page.empty() && !pages::ata_feature(one.key) && !pages::same_text(one.key, "queue_depth")) one.page = page_names_.front();
    }

    std::vector<pages::PageId> page_ids(const pages::Catalogue& catalogue) const {
        std::vector<pages::PageId> ids;
        for (const std::string& name : page_names_) {
            const auto id = catalogue.page_named(name);
            if (!id) throw Failure(ExitStatus::syntax, fmt::format("\"{}\" is no mode page; sgprobe mode --enumerate lists them", escaped(name)));
            ids.push_back(*id);
        }
        return ids;
    }

    std::vector<pages::PageValues> read_pages(pages::ModeAccess& mode) const {
        std::vector<pages::PageValues> pages;
        for (const pages::PageId id : page_ids(mode.catalogue())) {
            if (id.code == 0x3f) return mode.read_all();
            auto page = mode.read(id);
            if (!page) throw Failure(ExitStatus::illegal_request, fmt::format("{}: the drive has no mode page {}; without --page all that it has are shown", mode.drive().name(), label(id)));
            pages.push_back(std::move(*page));
        }
        return page_names_.empty() ? mode.read_all() : pages;
    }

    int enumerate(Context& context, const pages::Catalogue& catalogue) const {
        const auto ids = page_ids(catalogue);
        std::string out;
        for (const pages::PageFormat& page : catalogue.pages())
            if (ids.empty() || std::find(ids.begin(), ids.end(), pages::PageId{page.code, page.subpage}) != ids.end()) out += report::rows_text(page);
        if (ids.empty()) {
            out += "ATA features\n";
            for (const auto& row : pages::ata_feature_rows()) out += fmt::format("  {:<10} 0 to {}  {}\n", row.key, row.greatest, row.name);
            out += "The kernel\n  queue_depth  Commands that the kernel has outstanding\n";
        }
        context.print_text(out);
        return 0;
    }

    int show(Context& context, pages::Transaction& settings) const {
        const auto pages = read_pages(settings.mode());
        const auto kernel = pages::KernelView::of(settings.mode().drive().spec());
        pages::AtaFeatures* ata = page_names_.empty() ? settings.ata() : nullptr;
        const auto identify = ata ? ata->identify() : std::nullopt;
        if (context.options().format == Format::json) {
            measure::Value out;
            out.set("schema", "sgprobe/1").set("probe", "mode");
            out.set("device", report::identity_value(settings.identity(), settings.mode().drive().name(), context.options().anonymous));
            measure::Value list = measure::Value::list();
            for (const auto& page : pages) list.add(report::to_value(page));
            out.set("pages", list);
            if (identify) {
                measure::Value features = measure::Value::object();
                for (const auto& row : pages::ata_feature_rows())
                    if (const auto value = pages::AtaFeatures::value(row, *identify)) features.set(std::string(row.key), *value);
                out.set("ata_features", features);
            }
            for (const char* name : {"queue_depth", "cache_type"})
                if (const auto value = kernel.read(name)) out.set(std::string("kernel_") + name, *value);
            out.set("notes", settings.mode().notes());
            context.print(out);
            return 0;
        }
        const auto& identity = settings.identity();
        std::string out = report::for_terminal(fmt::format("{}: {} {} {}", settings.mode().drive().name(), identity.vendor, identity.product, identity.revision)) + "\n";
        for (const auto& page : pages) out += report::text(page, all_ || !page_names_.empty());
        if (identify) {
            out += "ATA features (IDENTIFY DEVICE, SET FEATURES)\n";
            for (const auto& row : pages::ata_feature_rows()) {
                const auto value = pages::AtaFeatures::value(row, *identify);
                out += fmt::format("    {:<11} {:>10}  {}\n", row.key, value ? std::to_string(*value) : "-", row.name);
            }
        }
        for (const char* name : {"queue_depth", "cache_type"})
            if (const auto value = kernel.read(name)) out += report::for_terminal(fmt::format("kernel {}: {}", name, *value)) + "\n";
        if (pages.empty()) out += "the drive has no mode pages\n";
        for (const std::string& note : settings.mode().notes()) out += "note: it " + note + "\n";
        context.print_text(out);
        return 0;
    }

    int get(Context& context, pages::Transaction& settings) const {
        std::string out;
        measure::Value fields = measure::Value::object();
        for (const auto& assignment : get_) {
            const auto info = settings.look_up(assignment);
            out += report::setting_line(info);
            fields.set(info.key, report::to_value(info));
        }
        if (context.options().format != Format::json) { context.print_text(out); return 0; }
        measure::Value all;
        all.set("schema", "sgprobe/1").set("probe", "mode");
        all.set("device", report::identity_value(settings.identity(), settings.mode().drive().name(), context.options().anonymous));
        all.set("settings", fields);
        context.print(all);
        return 0;
    }

    // What --defaults comes to: each changeable field whose default is another than its current value.
    std::vector<pages::Assignment> to_defaults(Context& context, pages::ModeAccess& mode) const {
        std::vector<pages::Assignment> out;
        for (const auto& page : read_pages(mode)) {
            if (!page.format || page.defaults.size() != page.current.size()) {
                if (page.changeable.size() > 2) context.note(fmt::format("{}: page {} is left as it is: {}", mode.drive().name(), label(page.id), page.format ? "the drive gives no default values" : "its fields are not known"));
                continue;
            }
            if (save_ && !page.savable && page_names_.empty()) continue;
            for (const pages::Field& field : pages::fields_of(*page.format, page.current)) {
                ByteVector mask = page.changeable;
                mask.resize(page.current.size());
                const auto bits = *pages::read_field(field, mask), now = *pages::read_field(field, page.current), standard = *pages::read_field(field, page.defaults);
                const std::uint64_t wanted = (now & ~bits) | (standard & bits);
                if (bits == 0 || (wanted == now && !save_)) continue;
                out.push_back({fmt::format("{:#04x},{:#04x}", page.id.code, page.id.subpage), field.key, wanted, true, field.key});
            }
        }
        return out;
    }

    int change(Context& context, pages::Transaction& settings, const std::vector<pages::Assignment>& wanted) const {
        Drive& drive = settings.mode().drive();
        const bool json = context.options().format == Format::json;
        measure::Value out;
        out.set("schema", "sgprobe/1").set("probe", "mode");
        out.set("device", report::identity_value(settings.identity(), drive.name(), context.options().anonymous));
        measure::Value list = measure::Value::list();
        std::string lines;
        if (context.options().dry_run) {
            std::vector<pages::Transaction::Sent> sent;
            for (const auto& change : settings.plan(wanted, &sent)) {
                lines += "would change " + pages::describe(change) + "\n";
                list.add(report::to_value(change));
            }
            measure::Value commands = measure::Value::list();
            for (const auto& one : sent) {
                lines += fmt::format("would send {}: {}\n", describe(one.cdb), hex(one.cdb.view(), " "));
                if (!one.data.empty()) lines += fmt::format("  with data: {}\n", hex(one.data, " "));
                commands.add(measure::Value().set("cdb", hex(one.cdb.view())).set("data", hex(one.data)));
            }
            if (sent.empty()) lines += "nothing would be sent: all has these values already\n";
            out.set("changes", list).set("commands", commands);
            json ? context.print(out) : context.print_text(lines);
            return 0;
        }
        const auto changes = settings.set(wanted);
        bool good = !interrupted(settings.mode().host());
        const bool stopped = !good;
        ExitStatus status = stopped ? ExitStatus::interrupted : ExitStatus::good;
        for (const auto& change : changes) {
            lines += pages::describe(change) + "\n";
            list.add(report::to_value(change));
            if (change.good()) continue;
            good = false;
            using enum pages::Change::Outcome;
            status = change.outcome == page_refused ? ExitStatus::invalid_opcode : change.outcome == refused ? ExitStatus::illegal_request : ExitStatus::other;
            context.note(fmt::format("{}: {}", drive.name(), pages::describe(change)));
        }
        out.set("changes", list);
        if (good) {
            settings.keep();
            bool pages = false, features = false;
            for (const auto& change : changes) (change.place.starts_with("page") ? pages : features) = true;
            if (!save_ && pages) lines += "this lasts until the next reset or power cycle of the drive; --save makes it last\n";
            if (features) lines += "ATA features last until the next power cycle, and what is the kernel's until the next boot\n";
        } else {
            const auto report = settings.restore();
            out.set("restore", report::to_value(report));
            for (const std::string& line : report.restored) lines += "put back: " + line + "\n";
            for (const std::string& line : report.failed) context.note(fmt::format("{}: NOT put back: {}", drive.name(), line));
            context.note(fmt::format("{}: {}; {}", drive.name(), stopped ? "interrupted" : "not all could be set", report.complete() ? "the former values are in force" : "run sgprobe restore"));
        }
        for (const std::string& note : settings.notes()) lines += "note: " + note + "\n";
        out.set("notes", settings.notes());
        json ? context.print(out) : context.print_text(lines);
        return static_cast<int>(status);
    }

    int run(Context& context) override {
        const pages::Catalogue catalogue(settings_.modepages);
        if (enumerate_) return enumerate(context, catalogue);
        OpenDrives open = context.open({*name_});
        Drive& drive = *open.drives.front();
        auto options = transaction_options(context, drive.spec(), settings_);
        options.save = save_;
        options.six_byte_first = six_;
        pages::Transaction settings(*open.host, drive, catalogue, std::move(options));
        if (!get_.empty()) return get(context, settings);
        if (defaults_) return change(context, settings, to_defaults(context, settings.mode()));
        return set_.empty() ? show(context, settings) : change(context, settings, set_);
    }
};

}

extern const Subcommand mode_subcommand;
const Subcommand mode_subcommand{
    .name = "mode",
    .summary = "mode pages and ATA features: show, get, set, save, defaults",
    .description =
        "Shows the mode pages of a drive with their current, default and saved values and what can be changed, side by side. A * marks what differs.\n\n"
        "A change is refused by name before anything is sent where the drive does not let it be made. Otherwise it is written to a journal first, read "
        "back afterwards, and taken back where the drive did not do as it was told. Fields are named as sdparm names them; KEY=-1 is all ones; "
        "PAGE.KEY where several pages have a key; KEY.1 for the second descriptor of a list. Settings of ATA drives are ATA_WC (write cache), ATA_LA "
        "(read look-ahead), ATA_APM and ATA_AAM; queue_depth is the kernel's.",
    .positionals = {"[DEV]", 0, 1},
    .options = {{"page", 'p', "PAGE", "this page alone: a number, an acronym or a name (8, 0xa,1, ca, caching)", {}, true},
                {"get", 'g', "LIST", "show these settings alone (WCE,DPTL)", {}, true},
                {"set", 's', "LIST", "change settings (WCE=0,DPTL=-1); without a value to 1", {}, true},
                {"clear", 'c', "LIST", "change settings to 0", {}, true},
                {"defaults", 'D', "", "change the page given with --page (or --all) to the drive's default values"},
                {"save", 'S', "", "save the change, so that it outlives a power cycle; only where the drive says that it saves the page"},
                {"all", 'a', "", "show all fields, also those that are 0 and cannot be changed"},
                {"six", '6', "", "try the 6-byte commands first"},
                {"enumerate", 'e', "", "list the known pages, fields and features; no drive is needed"}},
    .groups = {&settings_options, &output_options, &drive_options},
    .make = make_command<Mode>};

}
