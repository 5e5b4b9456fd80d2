# Every 40th command is answered B/4B/03, ABORTED COMMAND: counted, or status 11.
. tests/kernel/guest.sh
new_drive ndelay=100000 virtual_gb=16
inject 0x10 40
run '0|11' build/sgprobe size --json --budget 3s --sizes 64k,128k /dev/sg0
if [ $status -eq 11 ]; then complains 'aborted command'; else says '"errors": *[1-9]'; fi
