# 4096-byte blocks: transfers are counted in blocks of that size.
. tests/kernel/guest.sh
new_drive delay=0 fake_rw=1 virtual_gb=16 sector_size=4096
run 0 build/sgprobe size --json --budget 6s --sizes 4k,64k,512k,1M /dev/sg0
says '"block_bytes": *4096[,}]'
says '"transfer_blocks": *256[,}]'
says '"verdict": *"(clean|inconclusive)"'
run '1|5' build/sgprobe size --sizes 6k /dev/sg0
complains '4096'
