# A simulated drive behind the real sg driver is the drive that it simulates, and another can take its place.
. tests/kernel/guest.sh
. tests/kernel/tcmu.sh
serve sim:atlas15k2-hpm5
run 0 sg_inq /dev/sg0
says ATLAS15K2
run 0 sg_readcap /dev/sg0
says 287132440
run 0 sg_dd if=/dev/sg0 of=/dev/null bs=512 bpt=512 count=5120
serve sim:stm316021
run 0 sg_inq /dev/sg0
says STM316021
end_serving
