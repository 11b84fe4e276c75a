# shellcheck shell=bash disable=SC2154
# Runs suites one after the other and adds up what they say; sourced by test/run and test/asserts/run after suites.sh.

# shellcheck source=test/failures.sh
source "$checkout/test/failures.sh"

passed_total=0
failed_total=0
table=''

# suite name format command...: runs the command, counts its results in the given format, adds a line to the table.
suite() {
    local name=$1 format=$2 log status=0 passed failed begun=$SECONDS
    shift 2
    log="$scratch/logs/${name//[^a-z]/_}"
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

summary() {
    show_headlines
    printf '\n%-28s %7s %7s %8s\n%s\n' suite passed failed time "$table"
    echo "$passed_total passed, $failed_total failed"
}
