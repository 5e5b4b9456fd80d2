// The one place that turns the names of drives into a host of the right kind.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "sgprobe/cli/context.h"
#include "sgprobe/cli/watching.h"
#include "sgprobe/pages/device_id.h"
#include "sgprobe/sim/sim.h"
#include "sgprobe/transport/failure.h"
#include "sgprobe/transport/pipe_target.h"
#include "sgprobe/transport/sg_host.h"
#include "sgprobe/transport/signals.h"
#include "sgprobe/transport/virtual_host.h"

namespace sgprobe::cli {
namespace {

std::unique_ptr<Host> virtual_host(const SharedOptions& options, Signals& signals) {
    VirtualHostOptions o;
    if (options.timeout) o.timeout = *options.timeout;
    if (options.host_overhead) o.turnaround = *options.host_overhead;
    auto host = std::make_unique<VirtualHost>(o, &signals);
    const auto buses = std::make_shared<sim::Buses>();        // drives that name the same bus share it
    host->add_scheme("sim", [buses](const DriveSpec& spec) { return sim::make_target(spec, buses.get()); });
    host->add_scheme("pipe", [&signals](const DriveSpec& spec) { return open_pipe(spec, {.signals = &signals}); });
    return host;
}

std::unique_ptr<Host> this_machine(const SharedOptions& options, Signals& signals) {
    SgHostOptions o;
    if (options.timeout) o.timeout = *options.timeout;
    return std::make_unique<SgHost>(o, &signals);
}

}

OpenDrives Context::open(const std::vector<std::string>& names) {
    std::vector<DriveSpec> specs;
    std::set<std::string> kinds;
    for (const std::string& name : names) {
        specs.push_back(DriveSpec::parse(name));
        const std::string& scheme = specs.back().scheme;
        kinds.insert(scheme == "sim" || scheme == "pipe" ? "simulated and modelled drives (sim:, pipe:)"
                     : scheme == "trace" ? "recorded runs (trace:)" : "drives of this machine");
    }
    if (kinds.size() > 1)
        throw Failure(ExitStatus::contradiction, fmt::format("{} do not share a clock: measure them in separate runs", fmt::join(kinds, " and ")));
    if (options_.host_overhead && specs.front().scheme == "sg")
        throw Failure(ExitStatus::contradiction, fmt::format("--host-overhead is for simulated drives and models: {} has a host of its own", names.front()));

    if (!signals_) signals_ = std::make_unique<Signals>();
    opened_ = std::chrono::system_clock::now();
    OpenDrives open;
    const std::string& scheme = specs.front().scheme;
    open.host = scheme == "trace" ? replayed(specs) : scheme == "sg" ? this_machine(options_, *signals_) : virtual_host(options_, *signals_);
    if (options_.trace) open.host = recorded(std::move(open.host));
    if (options_.dry_run) open.host = std::make_unique<DryRunHost>(std::move(open.host), plan_);
    if (options_.verbosity) open.host = std::make_unique<WatchingHost>(std::move(open.host), options_.verbosity, [this](const std::string& line) { note(line); });
    for (const DriveSpec& spec : specs) {
        open.drives.push_back(open.host->open(spec));
        // What the kernel knows of a device tells its quirks before anything is sent to it.
        if (spec.scheme == "sg") pages::obey(*open.drives.back(), pages::device_id(Sysfs(), Sysfs().sg_name_of(spec.rest)));
    }
    return open;
}

std::optional<KernelDevice> kernel_device(const DriveSpec& spec) {
    if (spec.scheme != "sg") return {};
    const Sysfs sysfs;
    return sysfs.device(sysfs.sg_name_of(spec.rest));
}

void add_host_facts(measure::Result& result) {
    std::optional<KernelDevice> k;
    try {
        k = kernel_device(DriveSpec::parse(result.device.path));
    } catch (const Failure&) {   // the drive went away during the run, and its name with it: what was measured is still told
        return;
    }
    if (!k) return;
    if (!result.host)
        result.host = measure::HostIdentity{Sysfs().kernel_release(), k->host_driver, k->queue.max_hw_sectors_kb, k->queue.max_sectors_kb, k->queue.max_segments};
    if (result.device.transport.empty()) result.device.transport = k->transport;
    if (k->queue_depth) result.device.queue_depth = static_cast<unsigned>(*k->queue_depth);
    for (measure::Advice& advice : result.advice)
        if (const auto at = advice.command.find("/sys/block/sdX/"); at != std::string::npos && !k->block.empty()) advice.command.replace(at + 11, 3, k->block);
}

}
