# On the served Atlas six settings are set, saved and put back; sg_modes sees every step.
. tests/kernel/guest.sh
. tests/kernel/tcmu.sh
export SGPROBE_JOURNAL=/run/journal
serve sim:atlas15k2-hpm5
page() { sg_modes --control="$1" -p 8 -H /dev/sg0 | sed -n 's/^ 0[0-9] *//p; s/^ 10 *//p' | tr -d '\n' | tr -s ' '; }
sg_modes -p 8 -H /dev/sg0
before=$(page 0)
run 0 build/sgprobe mode --set DPTL=-1,MIPF=16,MAPF=-1,MAPFC=-1,DRA=1,WCE=1 /dev/sg0
equal current "$(sdparm --get=DPTL,MIPF,MAPF,MAPFC,DRA,WCE --quiet /dev/sg0 | awk '{ printf "%s=%s ", $1, $2 }')" \
    "DPTL=-1 MIPF=16 MAPF=-1 MAPFC=-1 DRA=1 WCE=1 "
run 0 build/sgprobe mode --get DPTL,MIPF,MAPF,MAPFC,DRA,WCE /dev/sg0
run 0 build/sgprobe mode --set DPTL=512,MIPF=0,MAPF=512,MAPFC=512,DRA=0,WCE=0 /dev/sg0
equal "current, put back" "$(page 0)" "$before"
saved=$(page 3)
run 0 build/sgprobe mode --save --set DPTL=1024 /dev/sg0
equal "saved DPTL" "$(sdparm --get=DPTL --quiet /dev/sg0 | sed 's/.*sav: *\([0-9-]*\).*/\1/')" 1024
run 0 build/sgprobe mode --save --set DPTL=512 /dev/sg0
equal "saved, put back" "$(page 3)" "$saved"
