# kill -9 between the journal and the end of a change: the guardian puts the former values back; where it is killed too, `restore` does.
# The drive is served a thousand times slower than it is, so that there is time between the two.
. tests/kernel/guest.sh
. tests/kernel/tcmu.sh
export SGPROBE_JOURNAL=/run/journal
mkdir -p $SGPROBE_JOURNAL
serve sim:atlas15k2-hpm5,noise=0 1000
settings() { sdparm --get=DPTL,MAPF --quiet /dev/sg0 | awk '{ printf "%s=%s ", $1, $2 }'; }
journal_is_there() { set -- $SGPROBE_JOURNAL/*.journal; [ -e "$1" ]; }
no_journal() { ! journal_is_there; }
# killed_while_changing [PROCESS-NAME]: kills a change between journal and end, that process first. Where it was too late, again.
killed_while_changing() {
    for attempt in 1 2 3 4 5 6; do
        build/sgprobe mode --set DPTL=-1,MAPF=-1 /dev/sg0 > /run/change 2>&1 &
        pid=$!
        until journal_is_there || ! [ -e /proc/$pid/exe ]; do :; done
        [ $# -eq 0 ] || kill -9 $(busybox pidof "$1") || :
        kill -9 $pid 2> /dev/null || :
        ended=0
        wait $pid || ended=$?
        [ $ended -ne 137 ] || return 0
        cat /run/change
        build/sgprobe mode --set DPTL=512,MAPF=512 /dev/sg0 > /dev/null
    done
    return 1
}
equal "at first" "$(settings)" "DPTL=512 MAPF=512 "
killed_while_changing
until_true 30 no_journal
equal "after the guardian" "$(settings)" "DPTL=512 MAPF=512 "
if killed_while_changing sgprobe-guard && journal_is_there; then
    run 0 build/sgprobe restore /dev/sg0
    no_journal
fi
equal "after restore" "$(settings)" "DPTL=512 MAPF=512 "
