# The guest itself: a disk of scsi_debug with its three nodes, and a medium error where one is asked for.
. tests/kernel/guest.sh
new_drive dev_size_mb=8 sector_size=4096 delay=0
until_true 10 test -b /dev/sda
test -c /dev/bsg/0:0:0:0
sg_readcap /dev/sg0 | grep "block length=4096 bytes"
new_drive dev_size_mb=8 delay=0
sg_dd if=/dev/sg0 of=/dev/null bs=512 skip=4000 count=2000
inject 2 1
! sg_dd if=/dev/sg0 of=/dev/null bs=512 skip=4000 count=2000
