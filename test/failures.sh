# shellcheck shell=bash
# What a failed suite says about itself, in as few lines as tell it; sourced by test/tally.sh.
#
# blocks_FORMAT cuts the log of a suite into blocks, one for each result, and prints those that are about a failure: first a
# headline, then the lines that belong to it behind a bar.

readonly most_lines=40      # of a block, of a log
readonly most_headlines=12  # of all suites together
headlines=''

# Output of TAP, of one program or of several under prove, whose names are put before their headlines. A program that dies
# has no result to be a headline: what it said behind its last one is the block. Behind *** is the server's log.
blocks_tap() {
    awk -v most="$most_lines" '
        function end_block() {
            if (bad) print file headline block
            headline = block = ""
            bad = lines = traced = 0
        }
        /^\*\*\* |^Test Summary Report/ { exit }
        /^[^ ]+\.pl \.\.+ *$/           { end_block(); file = $1 ": "; next }
        /^ok( |$)/                      { end_block(); next }
        /^not ok /                      { end_block(); headline = $0; bad = 1; next }
        /^Traceback/                    { bad = traced = 1 }
        /^(Dubious|Bail out)/           { bad = 1 }
        headline == "" && (/^(Dubious|Bail out)/ || traced && /^[^ T]/) { headline = $0; next }
        NF && ++lines <= most           { block = block "\n    | " $0 }
        END                             { end_block() }' "$1"
}

# A test without an end was the last one.
blocks_gtest() {
    awk -v most="$most_lines" '
        /^\[ RUN      \]/           { open = 1; headline = $0; block = ""; lines = 0; next }
        /^\[       OK \]/           { open = 0 }
        /^\[  FAILED  \].* ms\)$/   { print $0 block; open = 0 }
        open && ++lines <= most     { block = block "\n    | " $0 }
        END                         { if (open) print headline " (it did not end)" block }' "$1"
}

# The names of the tests, and where each began to differ.
blocks_regress() {
    local diffs
    grep -E '^test .*FAILED|^not ok [0-9]' "$1"
    for diffs in "$tree"/regression.diffs "$tree"/test/regression.diffs; do
        [ ! -s "$diffs" ] || awk '/^diff / { lines = 0 } ++lines <= 20 { print "    | " $0 }' "$diffs"
    done
}

# Of the files of the TAP suite that failed, the ends of their own logs.
show_regress_logs() {
    local name log
    while read -r name; do
        log="$tree/tmp_check/log/regress_log_$name"
        [ -s "$log" ] || continue
        echo "-- $(basename "$log")"
        tail -n "$most_lines" "$log"
    done < <(sed -nE 's,^test/t/([^/]+)\.pl: .*,\1,p' "$1" | sort -u)
}

# Without a block the end of the log has to do: a build that failed, a suite that was ended.
no_block() {
    grep 'error: ' "$1" || echo 'it ended without naming a failure'
    tail -n "$most_lines" "$1" | sed 's/^/    | /'
}

# What the server's log says of its end.
crashes() {
    grep -m 3 -E 'TRAP: |PANIC: |was terminated by signal' "$1" || true
}

# The first lines in which a test of pg_regress differs from what was expected.
differing() {
    grep -m 4 -E '^    \| [-+]([^-+]|$)' "$1" || true
}

show_failure() { # suite format log
    local found="$3.failures"
    "blocks_$2" "$3" >"$found" || true
    [ -s "$found" ] || no_block "$3" >"$found"
    { cat "$found"; show_regress_logs "$found"; } | cut -c1-300
    headlines+=$({ grep -v '^    | ' "$found"; crashes "$3"; differing "$found"; } | sed "s/^/$1: /")$'\n'
    rm -rf "$tree"/{regression.diffs,test/regression.diffs,tmp_check}
}

# The first of each suite come last.
show_headlines() {
    [ -n "$headlines" ] || return 0
    grep . <<<"$headlines" | cut -c1-200 | awk -F: '{ print ++n[$1] "\t" $0 }' | sort -s -n -k1,1 |
        awk -v most="$most_headlines" 'NR <= most' | sort -s -r -n -k1,1 | cut -f2-
}
