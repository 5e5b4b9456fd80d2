# The longest read that `limits` finds on a served drive works, and one block more fails, by another program's word; the kernel is
# named for it, not the drive.
. tests/kernel/guest.sh
. tests/kernel/tcmu.sh
serve sim:atlas15k2-hpm5,noise=0
run 0 build/sgprobe limits --json --opcodes read10 /dev/sg0
value 'r["limits"]'
equal layer "$(value 'r["limits"]["READ(10)"]["layer"]')" host
longest=$(value 'r["limits"]["READ(10)"]["max_blocks_ok"]')
[ "$longest" -ge 2048 ]
equal "first failing" "$(value 'r["limits"]["READ(10)"]["first_failing"]')" $((longest + 1))
run 0 sg_dd if=/dev/sg0 of=/dev/null bs=512 bpt="$longest" count="$longest"
! sg_dd if=/dev/sg0 of=/dev/null bs=512 bpt=$((longest + 1)) count=$((longest + 1)) verbose=1
