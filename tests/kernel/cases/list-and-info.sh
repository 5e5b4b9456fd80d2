# What `list` and `info` say of a drive agrees with the kernel.
. tests/kernel/guest.sh
new_drive delay=0 fake_rw=1 virtual_gb=16 num_tgts=2 inq_vendor=LISTED__ inq_product=DRIVE_0123456789 inq_rev=7777
until_true 10 test -b /dev/sda
until_true 10 test -b /dev/sdb
run 0 build/sgprobe list
says '/dev/sg0.*LISTED__.*DRIVE_0123456789'
says '/dev/sg1.*LISTED__.*DRIVE_0123456789'
says 'sda'
run 0 build/sgprobe info /dev/sg1
says LISTED__
says 7777
says scsi_debug
