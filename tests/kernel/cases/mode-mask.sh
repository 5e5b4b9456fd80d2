# scsi_debug lets only WCE be changed, and silently keeps what else it is sent: nothing else may be sent.
. tests/kernel/guest.sh
export SGPROBE_JOURNAL=/run/journal
new_drive delay=0 dev_size_mb=64
until_true 10 test -b /dev/sda
kernels_view() { cat /sys/class/scsi_generic/sg0/device/scsi_disk/*/cache_type; }
bytes() { sg_modes -6 -p 8 -H /dev/sg0 | tail -n 2; }
bytes > /run/before
run 5 build/sgprobe mode --set DPTL=512 /dev/sg0
complains 'DPTL.*cannot be changed'
run 5 build/sgprobe mode --set DRA=1,WCE=0 /dev/sg0
complains 'DRA.*cannot be changed'
bytes > /run/after
cmp /run/before /run/after
run 0 build/sgprobe mode --set WCE=0 /dev/sg0
equal "WCE by sdparm" "$(sdparm --get=WCE --quiet /dev/sg0 | awk '{ print $2 }')" 0
equal "the kernel's cache_type" "$(kernels_view)" "write through"
# Its unit attention 2A/01 is ours to absorb.
run 0 build/sgprobe size --sizes 64k,128k --rounds 2 /dev/sg0
says '"clean|128 KiB'
run 0 build/sgprobe mode --set WCE=1 /dev/sg0
equal "the kernel's cache_type" "$(kernels_view)" "write back"
bytes > /run/after
cmp /run/before /run/after
[ ! -e /run/journal ] || equal "journals left" "$(ls /run/journal | grep -c journal)" 0
