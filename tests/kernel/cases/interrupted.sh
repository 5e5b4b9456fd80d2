# Ctrl-C: what was measured is reported as partial, status 130. So with SIGTERM.
. tests/kernel/guest.sh
new_drive ndelay=300000 fake_rw=1 virtual_gb=16 no_uld=1
interrupt() { kill "-$1" "$(busybox pidof sgprobe)"; }
after_requests 200 interrupt INT &
run 130 timeout 60 build/sgprobe size --json --budget 40s --rounds 1000 /dev/sg0
says '"schema": *"sgprobe/1"'
says '"verdict": *"inconclusive"'
says 'interrupted|partial'
after_requests 200 interrupt TERM &
run 130 timeout 60 build/sgprobe size --budget 40s --rounds 1000 /dev/sg0
