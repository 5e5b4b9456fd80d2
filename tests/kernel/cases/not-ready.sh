# A drive that is getting ready (2/04/01) is waited for.
. tests/kernel/guest.sh
new_drive delay=0 tur_ms_to_ready=4000 no_uld=1 virtual_gb=16
sg_turs /dev/sg0 && exit 1
run 0 build/sgprobe size --budget 2s --sizes 64k,128k /dev/sg0
says '128 KiB'
