# A simulated drive behind the kernel's own SCSI stack: target_core_user hands each command to tcmu-serve, tcm_loop makes it /dev/sg0.
target=/sys/kernel/config/target
core=$target/core/user_0/drive
fabric=$target/loopback/naa.5001405000000001
server=build/release/tcmu-serve

# serve SIMULATED-DRIVE [STRETCH]: takes the served drive away, if there is one, and brings a new one, /dev/sg0.
serve() {
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
    $server /dev/uio0 "$@" 2> /run/tcmu-serve.err &
    server_pid=$!
    mkdir -p $fabric/tpgt_1/lun/lun_0
    echo naa.5001405000000002 > $fabric/tpgt_1/nexus
    ln -s $core $fabric/tpgt_1/lun/lun_0/drive
    until_true 20 served_or_dead
    cat /run/tcmu-serve.err >&2
    test -c /dev/sg0
}

served_or_dead() { test -c /dev/sg0 || ! kill -0 $server_pid; }

end_serving() {
    [ -d $core ] || return 0
    rm -f $fabric/tpgt_1/lun/lun_0/drive
    [ ! -d $fabric ] || { rmdir $fabric/tpgt_1/lun/lun_0 $fabric/tpgt_1 $fabric; }
    kill "$server_pid" 2> /dev/null && wait "$server_pid" || :
    rmdir $core
}
