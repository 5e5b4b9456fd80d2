# A block device, a bsg node and a link to one are names of the same drive.
. tests/kernel/guest.sh
new_drive delay=0 fake_rw=1 virtual_gb=16 inq_product=NAMED_DRIVE_0001
until_true 10 test -b /dev/sda
mkdir -p /dev/disk/by-id
ln -sf ../../sda /dev/disk/by-id/scsi-example
for name in /dev/sg0 /dev/sda /dev/bsg/0:0:0:0 /dev/disk/by-id/scsi-example; do
    run 0 build/sgprobe mode --page ca "$name"
    says "^$name: .*NAMED_DRIVE_0001"
done
run 0 build/sgprobe size --sizes 64k,128k --rounds 2 /dev/sda
