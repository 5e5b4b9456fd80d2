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

no_drive() { [ ! -d /sys/module/scsi_debug ] || until_true 10 rmmod scsi_debug; }

# new_drive PARAMETER...: takes scsi_debug's drive away, if there is one, and brings a new one, /dev/sg0.
new_drive() { no_drive && load scsi_debug "$@" && until_true 10 test -c /dev/sg0; }

# inject OPTS EVERY_NTH: scsi_debug's faults, for every Nth command; `inject 0 0` ends them.
inject() {
    echo "$2" > /sys/bus/pseudo/drivers/scsi_debug/every_nth
    echo "$1" > /sys/bus/pseudo/drivers/scsi_debug/opts
}
