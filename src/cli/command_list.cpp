#include <fmt/format.h>

#include "sgprobe/cli/subcommand.h"
#include "sgprobe/report/escape.h"
#include "sgprobe/report/format.h"
#include "sgprobe/report/table.h"
#include "sgprobe/sim/sim.h"
#include "sgprobe/transport/sysfs.h"

namespace sgprobe::cli {
namespace {

using measure::Value;
using measure::ValueList;
using measure::ValueMap;

std::string kb(const std::optional<std::uint64_t>& value) { return value ? fmt::format("{}", *value) : "-"; }

Value row(const KernelDevice& k) {
    const auto number = [](const auto& value) { return value ? Value(*value) : Value(); };
    return ValueMap{{"sg", "/dev/" + k.sg}, {"block", k.block.empty() ? Value() : Value("/dev/" + k.block)}, {"address", k.address}, {"vendor", k.vendor},
                    {"product", k.model}, {"revision", k.revision}, {"device_type", number(k.device_type)},
                    {"bytes", k.blocks_512 ? Value(*k.blocks_512 * 512) : Value()}, {"transport", k.transport}, {"driver", k.host_driver},
                    {"queue_depth", number(k.queue_depth)}, {"max_hw_sectors_kb", number(k.queue.max_hw_sectors_kb)},
                    {"max_sectors_kb", number(k.queue.max_sectors_kb)}, {"state", k.state}, {"in_use", k.in_use()}};
}

class List : public Command {
    bool simulated_ = false;

    void setup(const Arguments& a) override { simulated_ = a.has("simulated"); }

    int run(Context& context) override {
        if (simulated_) return list_simulated(context);
        const Sysfs sysfs;
        std::vector<KernelDevice> devices;
        for (const std::string& name : sysfs.sg_names())
            if (auto device = sysfs.device(name)) devices.push_back(std::move(*device));
        const Format format = context.options().format;
        if (format == Format::json) {
            ValueList list;
            for (const auto& k : devices) list.push_back(row(k));
            context.print(Value(ValueMap{{"schema", "sgprobe/1"}, {"version", SGPROBE_VERSION}, {"probe", "list"}, {"devices", std::move(list)}}));
            return 0;
        }
        if (format == Format::csv) {
            context.print_text("sg,block,address,vendor,product,revision,bytes,transport,driver,queue_depth,max_hw_sectors_kb,max_sectors_kb,in_use\n");
            for (const auto& k : devices)
                context.print_text(fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", report::for_csv("/dev/" + k.sg), report::for_csv(k.block.empty() ? "" : "/dev/" + k.block),
                                               k.address, report::for_csv(k.vendor), report::for_csv(k.model), report::for_csv(k.revision),
                                               k.blocks_512 ? fmt::format("{}", *k.blocks_512 * 512) : "", k.transport, report::for_csv(k.host_driver), kb(k.queue_depth),
                                               kb(k.queue.max_hw_sectors_kb), kb(k.queue.max_sectors_kb), k.in_use() ? "yes" : "no"));
            return 0;
        }
        if (devices.empty()) {
            context.note(sysfs.entries("/sys/class/scsi_generic").empty() && sysfs.text("/sys/module/sg/initstate").empty() && sysfs.entries("/sys/module/sg").empty()
                             ? "this kernel has no SCSI generic driver loaded: try modprobe sg; sgprobe list --simulated shows drives that need none"
                             : "there is no SCSI drive here; sgprobe list --simulated shows drives that need none");
            return 0;
        }
        using report::Table;
        Table table;
        for (const char* heading : {"sg", "block", "drive", "rev"}) table.column(heading, Table::Align::left);
        table.column("size");
        for (const char* heading : {"transport", "driver"}) table.column(heading, Table::Align::left);
        table.column("depth"), table.column("max_hw kB"), table.column("max kB"), table.column("in use", Table::Align::left);
        for (const auto& k : devices)
            table.row({"/dev/" + report::for_terminal(k.sg), k.block.empty() ? "-" : "/dev/" + report::for_terminal(k.block), report::for_terminal(k.vendor + " " + k.model),
                       report::for_terminal(k.revision), k.blocks_512 ? report::decimal_size(*k.blocks_512 * 512) : "-", report::for_terminal(k.transport.empty() ? "-" : k.transport),
                       report::for_terminal(k.host_driver), kb(k.queue_depth), kb(k.queue.max_hw_sectors_kb), kb(k.queue.max_sectors_kb), k.in_use() ? "yes" : "no"});
        context.print_text(table.str(""));
        return 0;
    }

    static int list_simulated(Context& context) {
        report::Table table;
        table.column("name", report::Table::Align::left), table.column("drive", report::Table::Align::left), table.column("size"), table.column("rpm");
        ValueList list;
        for (const auto& drive : sim::builtin_drives()) {
            const sim::Model model = sim::parse_model(drive.content, std::string(drive.file));
            const auto& id = model.identity;
            const Bytes bytes = model.media.blocks * model.media.block_bytes;
            table.row({"sim:" + drive.name, report::for_terminal(fmt::format("{} {} {}", id.vendor, id.product, id.revision)), report::decimal_size(bytes),
                       model.media.rotating ? report::grouped(static_cast<std::uint64_t>(model.media.rpm)) : "-"});
            list.push_back(ValueMap{{"name", "sim:" + drive.name}, {"vendor", id.vendor}, {"product", id.product}, {"revision", id.revision}, {"bytes", bytes}});
        }
        if (context.options().format == Format::json)
            context.print(Value(ValueMap{{"schema", "sgprobe/1"}, {"version", SGPROBE_VERSION}, {"probe", "list"}, {"devices", std::move(list)}}));
        else context.print_text(table.str(""));
        return 0;
    }
};

}

extern const Subcommand list_subcommand;
const Subcommand list_subcommand{
    .name = "list",
    .summary = "which drives are here: nodes, identity, size, transport, driver, depth, limits",
    .description = "Reads what the kernel knows; no command is sent to a drive.",
    .positionals = {},
    .options = {{"simulated", 0, "", "list the simulated drives that are built in"}},
    .groups = {&output_options},
    .make = make_command<List>};

}
