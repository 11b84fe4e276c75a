#!/usr/bin/env bash
# What a whole run says at its end, when all is well and when it is not: run on suites of one line each. The output is TAP.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# run_of function...: what lanes of these functions and the summary print, and how the run that has them ends.
run_of() {
    bash -c '
        set -euo pipefail
        checkout=$1 scratch=$(mktemp -d) lane_groups=() tree=""
        trap "rm -rf \"$scratch\"" EXIT
        mkdir "$scratch/tree" "$scratch/logs"
        source "$checkout/test/suites.sh"
        source "$checkout/test/tally.sh"
        good() { suite "good" tap printf "ok 1 - one\nok 2 - two\n"; }
        bad() { suite "bad" tap printf "ok 1 - one\nnot ok 2 - two\n"; }
        dead() { exit 3; }
        shift
        lanes "$@"
        summary
        [ "$failed_total" = 0 ]' bash "$here/.." "$@" 2>&1 && echo 'status 0' || echo "status $?"
}

count=0
expect() { # name pattern lines function...
    local name=$1 pattern=$2 lines=$3 output
    shift 3
    output=$(run_of "$@")
    count=$((count + 1))
    if [ "$(tail -n "$(wc -l <<<"$lines")" <<<"$output")" = "$lines" ] && grep -qE "$pattern" <<<"$output"; then
        echo "ok $count - $name"
    else
        echo "not ok $count - $name"
        echo "$output"
    fi
}

echo '1..4'
expect 'all passed' '^good +2 +0 ' $'4 passed, 0 failed\nstatus 0' good good
expect 'a failure in one lane' '^bad +1 +1 ' $'bad: not ok 2 - two\n3 passed, 1 failed\nstatus 1' good bad
expect 'failures in both lanes' '^bad +1 +1 ' $'bad: not ok 2 - two\nbad: not ok 2 - two\n2 passed, 2 failed\nstatus 1' bad bad
expect 'a lane that ended early' '^lane 2 +ended early$' $'2 passed, 1 failed\nstatus 1' good dead
