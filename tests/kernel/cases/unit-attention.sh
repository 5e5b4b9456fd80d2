# The capacity changes during the run, several times a second: unit attentions are absorbed, the samples that they spoil redone.
. tests/kernel/guest.sh
new_drive ndelay=300000 fake_rw=1 virtual_gb=16
disturb() {
    while sleep 0.3; do
        echo 18 > /sys/bus/pseudo/drivers/scsi_debug/virtual_gb
        sleep 0.3
        echo 17 > /sys/bus/pseudo/drivers/scsi_debug/virtual_gb
    done
}
disturb &
run '0|6' build/sgprobe size --json --budget 6s --sizes 64k,128k --rounds 30 /dev/sg0
kill $!
if [ $status -eq 6 ]; then complains 'unit attention'; else says 'unit attentions spoiled samples'; fi
