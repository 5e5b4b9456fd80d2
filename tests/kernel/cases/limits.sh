# The largest transfer that each opcode takes, and the layer that says no: scsi_debug refuses nothing, so the kernel does.
. tests/kernel/guest.sh
new_drive dev_size_mb=64 delay=0
build/sgprobe limits --opcodes read6,read10,read16 --json /dev/sg0 > /run/limits.json
cat /run/limits.json
grep -q '"READ(6)":{"max_blocks_ok":256,"first_failing":null,"failure":"none","layer":"cdb"' /run/limits.json
grep -q '"READ(10)":{"max_blocks_ok":16384,"first_failing":16385,"failure":"host","layer":"host"' /run/limits.json
grep -q '2,048 segments x 4,096 bytes' /run/limits.json
build/sgprobe limits --opcodes read10 --json /dev/sda > /run/limits.json
grep -q '"node":"block node"' /run/limits.json
grep -q '"node":"bsg"' /run/limits.json
# The end of a disk that is smaller than the host's limit.
new_drive dev_size_mb=4 delay=0
build/sgprobe limits --opcodes read10 --json /dev/sg0 | grep '"max_blocks_ok":8192,"first_failing":8193,"failure":"sense","layer":"capacity"'
