// make bench: the queued data path on /dev/sgN against its peers, in one boot of the guest on scsi_debug, interleaved.
//   sg                                        boots the guest, runs tests/bench/sg-guest there, prints the table
//   sg ours|bare SIZE DEPTH SECONDS DEV...    inside it: commands a second and CPU time a command of our path, or of a bare loop of the
//                                             same system calls; DEPTH is that of each drive
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <scsi/sg.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <ctime>
#include <iostream>
#include <map>
#include <sstream>

#include "sgprobe/transport/command_queue.h"
#include "sgprobe/transport/sg_host.h"

using namespace sgprobe;

namespace {

constexpr Blocks wrap_blocks = 1 << 21;

double cpu_us() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto us = [](const timeval& t) { return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_usec); };
    return us(usage.ru_utime) + us(usage.ru_stime);
}

std::int64_t now_ns() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return t.tv_sec * 1'000'000'000 + t.tv_nsec;
}

struct Ran {
    std::uint64_t commands = 0;
    double seconds = 0, cpu = 0;
};

// The way that a probe goes: host, drives, queue; every latency looked at.
Ran ours(Bytes size, unsigned depth, double seconds, const std::vector<std::string>& names) {
    SgHost host(SgHostOptions{});
    std::vector<std::unique_ptr<Drive>> drives;
    for (const std::string& name : names) drives.push_back(host.open(DriveSpec::parse(name)));
    CommandQueue queue(host);
    const Blocks blocks = size / 512;
    Lba at = 0;
    Nanoseconds latency{0};
    const auto submit = [&](Drive& drive, Command&& command) {
        command.cdb = *scsi::build({.opcode = scsi::RwOpcode::read10, .lba = at, .blocks = blocks});
        at = (at + blocks) % wrap_blocks;
        command.direction = scsi::Direction::in;
        command.length = size;
        queue.submit(drive, std::move(command));
    };
    Ran ran;
    for (unsigned i = 0; i < depth; ++i) {
        for (const auto& drive : drives) submit(*drive, {});
    }
    const double cpu = cpu_us();
    const Nanoseconds began = host.now(), end = began + Nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
    Nanoseconds last = began;
    while (queue.outstanding() > 0) {
        Event event = queue.wait(Host::never);
        if (!event.completion.outcome.good()) std::exit(99);
        latency += event.completion.latency();
        ++ran.commands;
        last = event.completion.finished;
        if (last < end) submit(*event.completion.drive, std::move(event.completion.command));
    }
    ran.seconds = static_cast<double>((last - began).count()) / 1e9;
    ran.cpu = cpu_us() - cpu;
    return ran;
}

struct Bare {
    sg_io_hdr header{};
    std::uint8_t cdb[10] = {0x28}, sense[64];
    std::int64_t sent = 0;
};

void prepare(Bare& b, Lba& at, Bytes size) {
    const Blocks blocks = size / 512;
    b.cdb[3] = static_cast<std::uint8_t>(at >> 16), b.cdb[4] = static_cast<std::uint8_t>(at >> 8), b.cdb[5] = static_cast<std::uint8_t>(at);
    b.cdb[7] = static_cast<std::uint8_t>(blocks >> 8), b.cdb[8] = static_cast<std::uint8_t>(blocks);
    at = (at + blocks) % wrap_blocks;
    b.header = {};
    b.header.interface_id = 'S';
    b.header.dxfer_direction = SG_DXFER_FROM_DEV;
    b.header.cmd_len = 10;
    b.header.cmdp = b.cdb;
    b.header.sbp = b.sense;
    b.header.mx_sb_len = sizeof b.sense;
    b.header.dxfer_len = static_cast<unsigned>(size);
    b.header.timeout = 60000;
    b.header.flags = 0x10;
    b.header.usr_ptr = &b;
    b.sent = now_ns();
}

// The physical limit: nothing but the system calls and the two readings of the clock that a latency takes. One drive.
Ran bare(Bytes size, unsigned depth, double seconds, const std::string& name) {
    std::vector<pollfd> files;
    for (unsigned i = 0; i < (depth + 15) / 16; ++i) {
        const int fd = open(name.c_str(), O_RDWR | O_NONBLOCK);
        int reserve = static_cast<int>(size);
        if (fd < 0 || ioctl(fd, SG_SET_RESERVED_SIZE, &reserve) != 0) std::exit(15);
        files.push_back({fd, POLLIN, 0});
    }
    std::vector<Bare> commands(depth);
    std::vector<std::size_t> file_of(depth);
    Lba at = 0;
    std::int64_t latency = 0;
    Ran ran;
    const double cpu = cpu_us();
    const std::int64_t began = now_ns(), end = began + static_cast<std::int64_t>(seconds * 1e9);
    std::int64_t last = began;
    const auto count = [&](const Bare& b) {
        last = now_ns();
        latency += last - b.sent;
        ++ran.commands;
    };
    if (depth == 1) {
        while (last < end) {
            prepare(commands[0], at, size);
            if (ioctl(files[0].fd, SG_IO, &commands[0].header) != 0) std::exit(99);
            count(commands[0]);
        }
    } else {
        unsigned outstanding = 0;
        const auto send = [&](std::size_t i, std::size_t file) {
            prepare(commands[i], at, size);
            file_of[i] = file;
            if (write(files[file].fd, &commands[i].header, sizeof(sg_io_hdr)) < 0) std::exit(99);
            ++outstanding;
        };
        for (std::size_t i = 0; i < depth; ++i) send(i, i / 16);
        for (std::size_t file = 0; outstanding > 0;) {
            sg_io_hdr answer{};
            answer.interface_id = 'S';
            if (read(files[file].fd, &answer, sizeof answer) < 0) {
                if (++file == files.size()) {
                    file = 0;
                    poll(files.data(), files.size(), -1);
                }
                continue;
            }
            auto& b = *static_cast<Bare*>(answer.usr_ptr);
            count(b);
            --outstanding;
            const auto i = static_cast<std::size_t>(&b - commands.data());
            if (last < end) send(i, file_of[i]);
        }
    }
    ran.seconds = static_cast<double>(last - began) / 1e9;
    ran.cpu = cpu_us() - cpu;
    for (const pollfd& file : files) close(file.fd);
    return ran;
}

struct Rates {
    std::vector<double> per_s, cpu_us;
};

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

// ours/other, round by round: the middle one, the least and the greatest.
std::string ratio(const Rates& a, const Rates& b, double goal) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < std::min(a.per_s.size(), b.per_s.size()); ++i) ratios.push_back(a.per_s[i] / b.per_s[i]);
    if (ratios.empty()) return "-";
    const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
    const double middle = median(ratios);
    const std::string text = fmt::format("{:.2f} ({:.2f}-{:.2f})", middle, *low, *high);
    return goal > 0 ? fmt::format("{} goal {:.2f}{}", text, goal, middle >= goal ? "" : " MISSED") : text;
}

int table() {
    std::FILE* const guest = popen("tests/kernel/run -t 900 -d none sh tests/bench/sg-guest", "r");
    if (!guest) return 1;
    std::map<std::tuple<std::uint64_t, unsigned, unsigned>, std::map<std::string, Rates>> cells;   // size, drives, depth of each
    char line[256];
    while (std::fgets(line, sizeof line, guest)) {
        std::istringstream words(line);
        std::string mark, tool;
        std::uint64_t size = 0;
        unsigned depth = 0, drives = 0;
        double per_s = 0, cpu = 0;
        if (!(words >> mark >> tool >> size >> depth >> drives >> per_s >> cpu) || mark != "rate") {
            std::fputs(line, stderr);
            continue;
        }
        Rates& rates = cells[{size, drives, depth}][tool];
        rates.per_s.push_back(per_s);
        rates.cpu_us.push_back(cpu);
    }
    if (pclose(guest) != 0 || cells.empty()) return 1;
    fmt::print("/dev/sgN in User Mode Linux on scsi_debug (delay=0 fake_rw=1), commands a second; medians and ratios (least-greatest) of rounds\n");
    fmt::print("{:>8} {:>6} {:>5} {:>8} {:>8} {:>8} {:>8}  {:<26} {}\n", "bytes", "drives", "depth", "sgprobe", "bare", "fio", "sg_dd", "sgprobe/bare", "sgprobe/fio");
    for (auto& [where, tools] : cells) {
        const auto& [size, drives, depth] = where;
        const auto rate = [&](const std::string& tool) { return tools.contains(tool) ? fmt::format("{:.0f}", median(tools[tool].per_s)) : "-"; };
        const double fio_goal = size != 4096 || drives > 1 ? 0 : depth == 1 ? 2.0 : depth == 16 ? 1.5 : 0;
        fmt::print("{:>8} {:>6} {:>5} {:>8} {:>8} {:>8} {:>8}  {:<26} {}\n", size, drives, depth, rate("ours"), rate("bare"), rate("fio"), rate("sg_dd"),
                   ratio(tools["ours"], tools["bare"], drives > 1 ? 0 : 0.95), ratio(tools["ours"], tools["fio"], fio_goal));
    }
    const auto cpu = [&](unsigned drives, unsigned depth) { return median(cells[{4096, drives, depth}]["ours"].cpu_us); };
    const double one = cpu(1, 64), many = cpu(64, 1);
    fmt::print("CPU time a command at 4 KiB, 64 outstanding: 1 drive {:.1f} us, 8 drives {:.1f} us, 64 drives {:.1f} us: {:.2f} goal 1.10{}\n", one, cpu(8, 8), many,
               many / one, many <= 1.1 * one ? "" : " MISSED");
    return 0;
}

}

int main(int argc, char** argv) {
    if (argc < 6) return table();
    const std::vector<std::string> words(argv + 1, argv + argc), names(argv + 5, argv + argc);
    const Bytes size = std::stoull(words[1]);
    const auto depth = static_cast<unsigned>(std::stoul(words[2]));
    const double seconds = std::stod(words[3]);
    const Ran ran = words[0] == "ours" ? ours(size, depth, seconds, names) : bare(size, depth, seconds, names[0]);
    const auto n = static_cast<double>(ran.commands);
    fmt::print("rate {} {} {} {} {:.1f} {:.2f}\n", words[0], size, depth, names.size(), n / ran.seconds, ran.cpu / n);
}
