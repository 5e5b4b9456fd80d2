# sdparm and sg_modes agree with every value that `mode` shows, on scsi_debug and on a served drive.
. tests/kernel/guest.sh
. tests/kernel/tcmu.sh
new_drive delay=0 dev_size_mb=64
run 0 python3 tests/kernel/agree.py /dev/sg0
serve sim:atlas15k2-hpm5
run 0 python3 tests/kernel/agree.py /dev/sg0
