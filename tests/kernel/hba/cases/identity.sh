# Each disk behind its adapter is known by name, driver and the kernel's limits, and measured.
. tests/kernel/guest.sh
run 0 build/sgprobe list
for driver in virtio_scsi sym53c8xx mptsas megaraid_sas ahci usb-storage; do says "$driver"; done
for driver in virtio_scsi sym53c8xx mptsas megaraid_sas ahci usb-storage; do
    node=$(behind $driver)
    run 0 build/sgprobe info "$node"
    says QEMU
    says $driver
    run 0 build/sgprobe size --json --budget 4s --rounds 2 --sizes 4k,16k,64k "$node"
    equal "sizes measured" "$(value 'sum(1 for s in r["samples"] if s["commands"])')" 3
done
