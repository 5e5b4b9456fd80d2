# The longest read that `limits` finds works, and one block more fails, by another program's word; the kernel is named, not the drive.
. tests/kernel/guest.sh
. tests/kernel/tcmu.sh
edge_is_real() { # OPCODE CDB-BYTES
    equal "$1 layer" "$(value "r['limits']['$1']['layer']")" host
    longest=$(value "r['limits']['$1']['max_blocks_ok']")
    equal "$1 first_failing" "$(value "r['limits']['$1']['first_failing']")" $((longest + 1))
    sg_dd if=/dev/sg0 of=/dev/null bs=512 bpt="$longest" count="$longest" cdbsz="$2"
    ! sg_dd if=/dev/sg0 of=/dev/null bs=512 bpt=$((longest + 1)) count=$((longest + 1)) cdbsz="$2" verbose=1
}
new_drive delay=0 dev_size_mb=64
run 0 build/sgprobe limits --json --opcodes read6,read10 /dev/sg0
value 'r["limits"]'
equal "READ(6)" "$(value 'r["limits"]["READ(6)"]["max_blocks_ok"]') $(value 'r["limits"]["READ(6)"]["layer"]')" "256 cdb"
edge_is_real 'READ(10)' 10
serve sim:atlas15k2-hpm5,noise=0
run 0 build/sgprobe limits --json --opcodes read10 /dev/sg0
value 'r["limits"]'
edge_is_real 'READ(10)' 10
