# Every 40th read is a short one (resid): it must not count as a fast one.
. tests/kernel/guest.sh
new_drive delay=0 virtual_gb=16
inject 0x100 40
run '0|97|99' build/sgprobe size --json --budget 3s --sizes 64k,128k /dev/sg0
if [ $status -eq 0 ]; then says '"errors": *[1-9]|[1-9][0-9]* cut short'; else complains 'short'; fi
