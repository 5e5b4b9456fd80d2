# A simulated drive behind the kernel's own SCSI stack: target_core_user hands each command to tcmu-serve, tcm_loop makes it /dev/sg0.
target=/sys/kernel/config/target
core=$target/core/user_0/drive
fabric=$target/loopback/naa.5001405000000001

# serve SIMULATED-DRIVE [STRETCH]: takes the drive away that there is and brings this one, /dev/sg0.
serve() {
    no_drive
    end_serving
    if [ ! -d $target ]; then
        load configfs
        mount -t configfs configfs /sys/kernel/config
        load -a target_core_user tcm_loop
    fi
    mkdir -p $core
    # The size matters to nobody: the simulated drive answers READ CAPACITY itself.
    echo dev_config=sgprobe/drive,dev_size=1073741824,hw_block_size=512,hw_max_sectors=8192,max_data_area_mb=64 > $core/control
    echo 1 > $core/enable
    until_true 10 test -c /dev/uio0
    # In a session of its own: it outlives the case, whose end would otherwise leave the kernel waiting for answers.
    setsid build/release/tcmu-serve /dev/uio0 "$@" > /run/tcmu-serve.log 2>&1 &
    until_true 10 server
    mkdir -p $fabric/tpgt_1/lun/lun_0
    echo naa.5001405000000002 > $fabric/tpgt_1/nexus
    ln -s $core $fabric/tpgt_1/lun/lun_0/drive
    until_true 20 served_or_dead
    cat /run/tcmu-serve.log >&2
    test -c /dev/sg0
}

server() { busybox pidof tcmu-serve > /run/server; }
no_server() { ! server; }
served_or_dead() { test -c /dev/sg0 || no_server; }

end_serving() {
    [ -d $core ] || return 0
    rm -f $fabric/tpgt_1/lun/lun_0/drive
    [ ! -d $fabric ] || rmdir $fabric/tpgt_1/lun/lun_0 $fabric/tpgt_1 $fabric
    ! server || kill "$(cat /run/server)"
    until_true 10 no_server
    rmdir $core
}
