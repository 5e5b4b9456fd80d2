# The disk behind ahci: IDENTIFY through SAT, the write cache off and on by SET FEATURES, and by name what it does not support.
. tests/kernel/guest.sh
export SGPROBE_JOURNAL=/run/journal
disk=$(behind ahci)
# IDENTIFY word 85, bit 5 (ACS-4 A.11.6.2): the write cache is enabled.
enabled() { echo $((0x$(sg_sat_identify --raw $disk | od -An -tx2 -j170 -N2 | tr -d ' ') >> 5 & 1)); }
equal "enabled, at first" "$(enabled)" 1
run 0 build/sgprobe info $disk
says 'QEMU HARDDISK'
run 0 build/sgprobe mode --set ATA_WC=0 $disk
equal "enabled, by IDENTIFY" "$(enabled)" 0
run 0 build/sgprobe mode --get ATA_WC $disk
says '^ATA_WC +0'
run 0 build/sgprobe mode --set ATA_WC=1 $disk
equal "enabled, put back" "$(enabled)" 1
run 5 build/sgprobe mode --set ATA_APM=128 $disk
complains 'ATA_APM.*not supported'
run 5 build/sgprobe mode --set DRA=1 $disk
complains 'DRA.*cannot be changed'
