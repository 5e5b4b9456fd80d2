#include "sgprobe/transport/sysfs.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "sgprobe/transport/failure.h"

using namespace sgprobe;
namespace fs = std::filesystem;

namespace {

// A machine as a folder: what a kernel shows of a SATA disk with two partitions (one in an LVM volume that is mounted, one swap), and more.
struct Machine {
    fs::path root;
    Machine() {
        char name[] = "/tmp/sgprobe-sysfs-XXXXXX";
        root = mkdtemp(name);
        const std::string ata = "sys/devices/pci0000:00/0000:00:1f.2/ata3/host2/target2:0:0/2:0:0:0/";
        for (const auto& [file, text] : {std::pair{"vendor", "ATA     "}, {"model", "ST3250620AS     "}, {"rev", "3.AA"}, {"type", "0"}, {"state", "running"},
                                         {"queue_depth", "31"}, {"queue_type", "simple"}, {"timeout", "30"}, {"iorequest_cnt", "0x1f"},
                                         {"iodone_cnt", "0x1e"}, {"ioerr_cnt", "0x3"}, {"ncq_prio_supported", "1"}}) {
            write(ata + file, text);
        }
        write(ata + "scsi_disk/2:0:0:0/cache_type", "write back");
        for (const auto& [file, text] : {std::pair{"max_hw_sectors_kb", "32767"}, {"max_sectors_kb", "1280"}, {"max_segments", "168"},
                                         {"logical_block_size", "512"}, {"scheduler", "none [mq-deadline] kyber"}, {"rotational", "1"}}) {
            write(ata + "block/sda/queue/" + file, text);
        }
        write(ata + "block/sda/size", "488397168");
        write(ata + "block/sda/dev", "8:0");
        for (const std::string part : {"1", "2"}) {
            write(ata + "block/sda/sda" + part + "/partition", part);
            write(ata + "block/sda/sda" + part + "/dev", "8:" + part);
            link("sys/class/block/sda" + part, ata + "block/sda/sda" + part);
        }
        write(ata + "block/sda/sda1/holders/dm-0", "");
        write("sys/devices/virtual/block/dm-0/dev", "253:0");
        link("sys/class/block/dm-0", "sys/devices/virtual/block/dm-0");
        link("sys/class/block/sda", ata + "block/sda");
        link(ata + "block/sda/device", ata);
        write(ata + "scsi_generic/sg0/dev", "21:0");
        link("sys/class/scsi_generic/sg0", ata + "scsi_generic/sg0");
        link(ata + "scsi_generic/sg0/device", ata);
        link("sys/class/scsi_device/2:0:0:0/device", ata);
        link(ata + "subsystem", "sys/bus/scsi");
        link(ata + "driver", "sys/bus/scsi/drivers/sd");
        write("sys/class/scsi_host/host2/proc_name", "ahci");
        write("sys/class/scsi_host/host2/can_queue", "32");
        for (const std::string sg : {"sg2", "sg10"}) write("sys/class/scsi_generic/" + sg + "/dev", "21:2");
        write("sys/devices/pci0000:00/nvme/nvme0/nvme0n1/dev", "259:0");
        link("sys/class/block/nvme0n1", "sys/devices/pci0000:00/nvme/nvme0/nvme0n1");
        write("proc/self/mountinfo",
              "22 1 0:5 / /proc rw - proc proc rw\n"
              "29 1 253:0 / /home\\040of\\040all rw,relatime shared:1 - ext4 /dev/mapper/vg-home rw\n"
              "30 1 0:45 / /srv rw shared:2 master:1 - btrfs /dev/sda2 rw\n");
        write("proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n/dev/sda2    partition 1 0 -2\n/dev/sdb1 partition 1 0 -3\n");
        for (const std::string node : {"sg0", "sda", "sda1", "nvme0n1", "null", "bsg/2:0:0:0"}) write("dev/" + node, "");
        link("dev/disk/by-id/ata-ST3250620AS_9QE1", "dev/sda");
        link("dev/disk/by-id/gone", "dev/sdz");
    }
    ~Machine() { fs::remove_all(root); }
    void write(const std::string& path, const std::string& text) {
        fs::create_directories((root / path).parent_path());
        std::ofstream(root / path) << text << '\n';
    }
    void link(const std::string& path, const std::string& to) {
        fs::create_directories((root / path).parent_path());
        fs::create_directories((root / to).parent_path());
        fs::create_symlink(root / (to.back() == '/' ? to.substr(0, to.size() - 1) : to), root / path);
    }
    Sysfs sysfs() const { return Sysfs(root.string()); }
};

std::string refusal(const Sysfs& sysfs, const std::string& path) {
    try {
        return "was taken as " + sysfs.sg_name_of(path);
    } catch (const Failure& failure) {
        CHECK(failure.status() == 15);
        return failure.what();
    }
}

}

TEST_CASE("sysfs: a SATA disk is told with its limits, driver and identity") {
    const Machine machine;
    const auto d = machine.sysfs().device("sg0");
    REQUIRE(d);
    CHECK(d->block == "sda");
    CHECK(d->address == "2:0:0:0");
    CHECK(d->transport == "sata");
    CHECK(d->host_driver == "ahci");
    CHECK(d->device_driver == "sd");
    CHECK(d->vendor == "ATA");
    CHECK(d->model == "ST3250620AS");
    CHECK(d->revision == "3.AA");
    CHECK(d->device_type == 0);
    CHECK(d->queue_depth == 31);
    CHECK(d->can_queue == 32);
    CHECK(d->blocks_512 == 488397168);
    CHECK(d->cache_type == "write back");
    CHECK(d->queue.max_hw_sectors_kb == 32767);
    CHECK(d->queue.max_sectors_kb == 1280);
    CHECK(d->queue.max_segments == 168);
    CHECK(d->queue.scheduler == "mq-deadline");
    CHECK_FALSE(d->queue.nr_requests);
    CHECK_FALSE(d->sg_tablesize);
}

TEST_CASE("sysfs: who uses a disk is found through partitions, holders, file systems with numbers of their own, and swap") {
    const Machine machine;
    const auto d = machine.sysfs().device("sg0");
    REQUIRE(d);
    CHECK(d->in_use());
    CHECK(d->partitions == std::vector<std::string>{"sda1", "sda2"});
    CHECK(d->holders == std::vector<std::string>{"dm-0"});
    REQUIRE(d->mounts.size() == 3);
    CHECK(d->mounts[0].source == "dm-0");
    CHECK(d->mounts[0].target == "/home of all");
    CHECK(d->mounts[0].type == "ext4");
    CHECK(d->mounts[1].source == "sda2");
    CHECK(d->mounts[1].type == "btrfs");
    CHECK(d->mounts[2].type == "swap");
}

TEST_CASE("sysfs: hidden counters are hexadecimal") {
    const Machine machine;
    const HiddenCounters c = machine.sysfs().counters("sg0");
    CHECK(c.available);
    CHECK(c.requests == 31);
    CHECK(c.done == 30);
    CHECK(c.errors == 3);
    CHECK(c.queue_depth == 31);
    CHECK_FALSE(machine.sysfs().counters("sg9").available);
}

TEST_CASE("sysfs: every name of a disk leads to its sg node") {
    const Machine machine;
    for (const std::string path : {"/dev/sg0", "/dev/sda", "/dev/disk/by-id/ata-ST3250620AS_9QE1", "/dev/bsg/2:0:0:0"}) {
        CAPTURE(path);
        CHECK(machine.sysfs().sg_name_of(path) == "sg0");
    }
}

TEST_CASE("sysfs: a name that leads to no drive is refused with what is wrong") {
    const Machine machine;
    const Sysfs sysfs = machine.sysfs();
    CHECK(refusal(sysfs, "/dev/sdq").find("there is no such device") != std::string::npos);
    CHECK(refusal(sysfs, "/dev/disk/by-id/gone").find("there is no such device") != std::string::npos);
    CHECK(refusal(sysfs, "/dev/sda1") == "/dev/sda1: is a partition: name the whole disk, /dev/sda");
    CHECK(refusal(sysfs, "/dev/nvme0n1").find("NVMe") != std::string::npos);
    CHECK(refusal(sysfs, "/dev/null") == "/dev/null: is not a SCSI device");
    fs::remove_all(machine.root / "sys/class/scsi_generic");
    fs::remove_all(machine.root / "sys/devices/pci0000:00/0000:00:1f.2/ata3/host2/target2:0:0/2:0:0:0/scsi_generic");
    CHECK(refusal(sysfs, "/dev/sda").find("modprobe sg") != std::string::npos);
    CHECK(refusal(Sysfs(), "/dev/null") == "/dev/null: is not a SCSI device");
    CHECK(refusal(Sysfs(), "/etc/passwd") == "/etc/passwd: is not a device");
}

TEST_CASE("sysfs: sg nodes are listed by number") {
    const Machine machine;
    CHECK(machine.sysfs().sg_names() == std::vector<std::string>{"sg0", "sg2", "sg10"});
    CHECK(Sysfs("/no/such/folder").sg_names().empty());
}
