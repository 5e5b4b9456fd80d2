# More than the kernel carries: refused with the limit named, not measured as a cliff.
. tests/kernel/guest.sh
new_drive delay=0 fake_rw=1 virtual_gb=16
run '0|1|5|72' build/sgprobe size --json --budget 3s --sizes 1M,64M /dev/sg0
[ $status -eq 0 ] || complains '64M|67108864|65536|limit'
! says '"verdict": *"cliff"'
