# The longest read through each adapter, as measured before with sg_dd in powers of two: the edge is the host's and lies between
# the last power that passed and the next; one block past it fails with the errno of that adapter.
. tests/kernel/guest.sh
edge() { # DRIVER LAST-KIB ERRNO
    node=$(behind "$1")
    run 0 build/sgprobe limits --json --opcodes read10 "$node"
    value 'r["limits"]["READ(10)"]'
    longest=$(value 'r["limits"]["READ(10)"]["max_blocks_ok"]')
    equal "$1 layer" "$(value 'r["limits"]["READ(10)"]["layer"]')" host || failed=1
    equal "$1 first failing" "$(value 'r["limits"]["READ(10)"]["first_failing"]')" $((longest + 1)) || failed=1
    [ "$longest" -ge $(($2 * 2)) ] && [ "$longest" -lt $(($2 * 4)) ] ||
        { echo "$1: $longest blocks, expected from $(($2 * 2)) on, below $(($2 * 4))" >&2; failed=1; }
    says "$3" || failed=1
}
failed=0
edge virtio_scsi 4096 'cannot allocate memory'
edge sym53c8xx 2048 'cannot allocate memory'
edge mptsas 4096 'cannot allocate memory'
edge megaraid_sas 64 'invalid argument'
edge ahci 64 'invalid argument'
edge usb-storage 1024 'invalid argument'
exit $failed
