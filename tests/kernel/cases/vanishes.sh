# The drive is taken away in the middle of a run: one clear line and a status, soon, and what was measured.
. tests/kernel/guest.sh
new_drive ndelay=300000 fake_rw=1 virtual_gb=16 no_uld=1
take_away() { echo 1 > /sys/class/scsi_generic/sg0/device/delete; }
after_requests 200 take_away &
run '35|55|56|69' timeout 60 build/sgprobe size --json --budget 40s --rounds 1000 /dev/sg0
complains '^sgprobe: /dev/sg0: .*(gone|no such device)'
says '"verdict": *"inconclusive"'
