# shellcheck shell=bash disable=SC2034,SC2154
# Runs suites, one after the other or in lanes, and adds up what they say; sourced by test/run and test/asserts/run after suites.sh.

# shellcheck source=test/failures.sh
source "$checkout/test/failures.sh"

passed_total=0
failed_total=0
table=''

# suite name format command...: runs the command, counts its results in the given format, adds a line to the table.
suite() {
    local name=$1 format=$2 log status=0 passed failed begun=$SECONDS
    shift 2
    log="$scratch/logs/$(basename "$tree").${name//[^a-z]/_}" # lanes may run suites of one name
    echo "== $name"
    "$@" </dev/null >"$log" 2>&1 || status=$?
    read -r passed failed < <("count_$format" "$log")
    # A suite that ran nothing, or ended badly without naming a failure, has failed.
    if [ "$failed" = 0 ] && { [ "$passed" = 0 ] || [ "$status" != 0 ]; }; then
        failed=1
    fi
    [ "$failed" = 0 ] || show_failure "$name" "$format" "$log"
    passed_total=$((passed_total + passed))
    failed_total=$((failed_total + failed))
    table+=$(printf '%-28s %7d %7d %6d s' "$name" "$passed" "$failed" $((SECONDS - begun)))$'\n'
}

# lanes function...: functions that run suites, each in a process of its own at the same time as the others, on a copy of
# what is built and with servers on a port of its own. Most suites wait as much as they compute.
lanes() {
    local lane i=0
    for lane in "$@"; do
        i=$((i + 1))
        cp -a "$scratch/tree" "$scratch/tree.$i"
        set -m # a group of processes, which remove_scratch() ends
        run_lane "$i" "$lane" &
        lane_groups+=($!)
        set +m
    done
    for ((i = 1; i <= $#; i++)); do
        wait "${lane_groups[i - 1]}" || true
        add_lane "$i"
    done
    lane_groups=()
}

run_lane() { # number function
    tree=$scratch/tree.$1
    server_port=$((54320 + $1))
    passed_total=0 failed_total=0 table='' headlines=''
    "$2"
    printf '%s' "$table" >"$scratch/lane.$1.table"
    printf '%s' "$headlines" >"$scratch/lane.$1.headlines"
    echo "$passed_total $failed_total" >"$scratch/lane.$1.tally"
}

add_lane() { # number
    local passed=0 failed=1
    if [ -s "$scratch/lane.$1.tally" ]; then
        read -r passed failed <"$scratch/lane.$1.tally"
        table+=$(<"$scratch/lane.$1.table")$'\n'
        headlines+=$(<"$scratch/lane.$1.headlines")
        headlines+=${headlines:+$'\n'}
    else
        table+="lane $1                       ended early"$'\n'
    fi
    passed_total=$((passed_total + passed))
    failed_total=$((failed_total + failed))
}

# The headlines come last but for the tally: often only the end of a long output is shown.
summary() {
    printf '\n%-28s %7s %7s %8s\n%s\n' suite passed failed time "$table"
    show_headlines
    echo "$passed_total passed, $failed_total failed"
}
