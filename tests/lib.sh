# For suites in shell. `expect NAME STATUS COMMAND...` passes when the command exits with that status; `check NAME COMMAND...` wants 0.
expect() {
    name=$1 want=$2
    shift 2
    "$@"
    got=$?
    if [ "$got" -eq "$want" ]; then
        echo "pass $name" >> "$RESULTS"
    else
        echo "fail $name (exit status $got, expected $want)" >> "$RESULTS"
        echo "FAILED: $name: $* (exit status $got, expected $want)"
    fi
}
check() { check_name=$1; shift; expect "$check_name" 0 "$@"; }
