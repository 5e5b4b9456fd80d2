# Ten blocks in the way cannot be read: the run goes on and counts the errors. Where nothing can be read it ends with status 3.
. tests/kernel/guest.sh
new_drive delay=0 dev_size_mb=64 medium_error_start=1000 medium_error_count=10
inject 2 0
run 0 build/sgprobe size --json --budget 3s --sizes 64k,128k /dev/sg0
says '"errors": *[1-9]|[1-9][0-9]* commands? failed'
new_drive delay=0 dev_size_mb=64 medium_error_start=0 medium_error_count=131072
inject 2 0
run 3 build/sgprobe size --budget 3s --sizes 64k,128k /dev/sg0
complains '^sgprobe: /dev/sg0: .*medium error'
