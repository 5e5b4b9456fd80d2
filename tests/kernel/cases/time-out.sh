# Every 300th command is never answered: the time-outs are counted, or end the run with status 33.
. tests/kernel/guest.sh
new_drive delay=0 virtual_gb=16
inject 4 300
run '0|33' build/sgprobe size --json --budget 6s --timeout 1s --sizes 64k,128k --rounds 12 /dev/sg0
if [ $status -eq 33 ]; then complains 'time-?out|timed out'; else says '[1-9][0-9]* time-?outs?'; fi
