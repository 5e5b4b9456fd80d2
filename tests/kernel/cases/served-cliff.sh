# The planted cliff, through the real sg driver and in real time: past 512 blocks on the Atlas; none on the clean drive.
# A virtual second lasts four real ones, so that what the guest adds to a command counts for less beside what the drive takes.
. tests/kernel/guest.sh
. tests/kernel/tcmu.sh
measure() { run 0 build/sgprobe size --json --budget 60s --sizes 128k,256k,320k,512k /dev/sg0; }
serve sim:atlas15k2-hpm5 4
measure
equal verdict "$(value 'r["verdict"]')" cliff
equal "last good, of cliffs" "$(value 'r["cliffs"][0]["last_good"], len(r["cliffs"])')" "(512, 1)"
serve sim:stm316021 4
measure
equal verdict "$(value 'r["verdict"]')" clean
