# No such device, no right to it, something that is no drive: one clear line that names it, status 15.
. tests/kernel/guest.sh
new_drive delay=0
run 15 build/sgprobe size /dev/sg9
complains '/dev/sg9.*no such'
run 15 setpriv --reuid=65534 --regid=65534 --clear-groups build/sgprobe size /dev/sg0
complains '/dev/sg0.*permission'
run 15 build/sgprobe size /dev/null
complains '/dev/null'
[ ! -s $out ]
