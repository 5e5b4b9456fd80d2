# A disk of 512-byte blocks without a cliff: the default sweep through the real sg driver finds none.
. tests/kernel/guest.sh
new_drive delay=0 fake_rw=1 virtual_gb=16 inq_vendor=SEAGATE inq_product=EXAMPLE_DISK_512 inq_rev=0001
run 0 build/sgprobe size --json --budget 10s /dev/sg0
says '"block_bytes": *512[,}]'
says '"revision": *"0001"'
says '"transfer_bytes": *1048576[,}]'
says '"verdict": *"(clean|inconclusive)"'
run 0 build/sgprobe size --budget 3s /dev/sg0
says EXAMPLE
