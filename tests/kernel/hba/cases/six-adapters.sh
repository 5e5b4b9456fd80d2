# The machine is the one that the other cases believe in: six adapters, and a disk behind each.
. tests/kernel/guest.sh
set -- virtio_scsi sym53c8xx mptsas megaraid_sas ahci usb-storage
for number in 0 1 2 3 4 5; do
    sg_readcap /dev/sg$number
    host=$(readlink -f /sys/class/scsi_generic/sg$number/device | sed 's|.*/\(host[0-9]*\)/.*|\1|')
    [ "$(cat /sys/class/scsi_host/"$host"/proc_name)" = "$1" ]
    shift
done
