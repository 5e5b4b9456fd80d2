# Every 40th command ends with 1/5D/00: its data is good, the run goes on and counts them.
. tests/kernel/guest.sh
new_drive delay=0 virtual_gb=16
inject 8 40
run 0 build/sgprobe size --json --budget 3s --sizes 64k,128k /dev/sg0
says '"verdict": *"(clean|inconclusive)"'
says '[1-9][0-9]* recovered'
