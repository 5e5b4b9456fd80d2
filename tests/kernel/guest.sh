# What scripts inside the guest share. MODULES is where the guest kernel's modules are.
load() { modprobe -d "$MODULES" "$@"; }

# until_true SECONDS COMMAND...: waits for the command to succeed.
until_true() {
    tries=$(($1 * 20))
    shift
    until "$@"; do
        [ $((tries -= 1)) -gt 0 ] || { echo "waited in vain for: $*" >&2; return 1; }
        sleep 0.05
    done
}

# Whoever looks at a drive, such as sd that waits for it to become ready, must let go first.
no_drive() { [ ! -d /sys/module/scsi_debug ] || until_true 10 rmmod scsi_debug 2> /dev/null; }

# new_drive PARAMETER...: takes scsi_debug's drive away, if there is one, and brings a new one, /dev/sg0.
new_drive() { no_drive && load scsi_debug "$@" && until_true 10 test -c /dev/sg0; }

# inject OPTS EVERY_NTH: scsi_debug's faults, for every Nth command; `inject 0 0` ends them.
inject() {
    echo "$2" > /sys/bus/pseudo/drivers/scsi_debug/every_nth
    echo "$1" > /sys/bus/pseudo/drivers/scsi_debug/opts
}

# What the machine of `run` has.
bring_drives() {
    load -a sg sd_mod || return
    case $MACHINE,$DRIVE in
    hba,*) load -a virtio_scsi sym53c8xx mptsas megaraid_sas ahci xhci-pci usb-storage && until_true 60 test -c /dev/sg5 ;;
    uml,none) ;;
    uml,*) new_drive $DRIVE ;;
    esac
}

# run STATUS COMMAND...: keeps what the command prints in $out and $err, shows it, and fails where its exit status is another.
# STATUS may be several: "0|3".
out=/run/out err=/run/err
run() {
    wanted=$1 status=0
    shift
    echo "+ $*"
    "$@" > $out 2> $err || status=$?
    head -c 4000 $out
    head -c 4000 $err >&2
    case "|$wanted|" in
    *"|$status|"*) ;;
    *) echo "exit status $status, expected $wanted" >&2; return 1 ;;
    esac
}

# says PATTERN, complains PATTERN: the last `run` printed a line that matches (ERE, no matter the case) to its output, as its complaint.
says() { grep -qiE -e "$1" $out || { echo "the output has no line like: $1" >&2; return 1; }; }
complains() { grep -qiE -e "$1" $err || { echo "the complaint has no line like: $1" >&2; return 1; }; }

# value EXPRESSION: what the last `run` printed as JSON, r, by a Python expression: value 'r["verdict"]'.
value() { python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' $out "$1"; }

# equal WHAT ONE OTHER
equal() { [ "$2" = "$3" ] || { echo "$1: $2, expected $3" >&2; return 1; }; }

# after_requests N COMMAND...: runs the command when a sgprobe has started and /dev/sg0 has been sent N more requests than then.
requests() { echo $(($(cat /sys/class/scsi_generic/sg0/device/iorequest_cnt))); }
sgprobe_runs() { busybox pidof sgprobe > /run/sgprobe.pid; }
after_requests() {
    until_true 30 sgprobe_runs
    enough=$(($(requests) + $1))
    shift
    while [ "$(requests)" -lt $enough ]; do sleep 0.02; done
    "$@"
}

# behind DRIVER: the sg node of the disk behind that driver.
behind() {
    for sg in /sys/class/scsi_generic/sg*; do
        host=$(readlink -f "$sg/device" | sed 's|.*/\(host[0-9]*\)/.*|\1|')
        [ "$(cat /sys/class/scsi_host/"$host"/proc_name 2> /dev/null)" != "$1" ] || { echo "/dev/${sg##*/}"; return; }
    done
}
