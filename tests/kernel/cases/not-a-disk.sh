# A tape drive is no disk.
. tests/kernel/guest.sh
new_drive delay=0 ptype=1
run '5|15|99' build/sgprobe size /dev/sg0
complains '/dev/sg0.*(disk|block)'
