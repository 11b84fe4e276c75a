# shellcheck shell=bash
# How each suite is run and counted; shared by test/run and test/mutants/run, which source it after lib.sh.

build_options=(WERROR=1 ASSERTIONS=1)

# Each of these prints "passed failed" for the log of one suite.

count_gtest() {
    # A test that never reported, or was skipped, has not passed.
    awk '/^\[==========\] Running/ { ran += $3 }
         /^\[  PASSED  \]/        { passed += $4 }
         END                      { print passed + 0, ran - passed }' "$1"
}

# From PostgreSQL 16 on pg_regress speaks TAP.
count_regress() {
    awk '/^test .* \.\.\. +ok/ || /^ok [0-9]/         { passed++ }
         /^test .* \.\.\. +FAILED/ || /^not ok [0-9]/ { failed++ }
         END                                          { print passed + 0, failed + 0 }' "$1"
}

count_tap() {
    awk '/^ok [0-9]/     { passed++ }
         /^not ok [0-9]/ { failed++ }
         END             { print passed + 0, failed + 0 }' "$1"
}

# True if a file of the copy matches the pattern.
have() {
    compgen -G "$tree/$1" >/dev/null
}

make_here() {
    as_tester make --no-print-directory "$@"
}

# A program of tests on all processors, each with its share of them; their reports one behind the other.
run_shards() {
    local shards i status=0 running=()
    shards=$(nproc)
    for ((i = 0; i < shards; i++)); do
        as_tester env GTEST_TOTAL_SHARDS="$shards" GTEST_SHARD_INDEX="$i" "$@" >"$scratch/logs/shard.$i" 2>&1 &
        running+=($!)
    done
    for ((i = 0; i < shards; i++)); do
        wait "${running[i]}" || status=1
        cat "$scratch/logs/shard.$i"
    done
    return "$status"
}

# Builds one C++ suite and runs it, or what a filter of GoogleTest leaves of it.
run_cpp() {
    make_here -s -j"$(nproc)" "${build_options[@]}" "build/$1" && run_shards "build/$1" --gtest_filter="${2:-*}"
}

run_client() {
    make_here -s -j"$(nproc)" "${build_options[@]}" build/client && on_server -- build/client --gtest_filter="${1:-*}"
}

# One suite of installcheck each; the other two are switched off by name.
run_sql() {
    on_server "$@" -- make --no-print-directory installcheck ISOLATION= TAP_TESTS=
}

# Beside other extensions, and a library whose hooks demand what theirs may: files of sql/ by a server that has loaded all of
# them. Debian has them for its own version of PostgreSQL; of others those are loaded that are there.
beside_libraries=(pgaudit pg_cron hypopg set_user plpgsql_check pg_stat_statements pg_stat_kcache pg_qualstats auto_explain)
if [ "${pg_version:-}" = 15 ]; then
    extra_packages+=(postgresql-15-{pgaudit,repack,cron,hypopg,pg-qualstats,pg-stat-kcache,set-user,plpgsql-check})
fi

# run_beside audited file...: pgaudit.NAME=VALUE says what pgaudit is to log.
run_beside() {
    local audited=$1 library setting libraries=$tree/build/beside/demanding settings=() folder
    shift
    folder=$("$pg_bin/pg_config" --pkglibdir)
    for library in "${beside_libraries[@]}"; do
        [ ! -e "$folder/$library.so" ] || libraries+=,$library
    done
    for setting in "$audited" pgaudit.log_rows=on pg_stat_statements.track=all pg_stat_kcache.track=all \
        pg_qualstats.sample_rate=1 auto_explain.log_min_duration=0 auto_explain.log_analyze=on \
        auto_explain.log_nested_statements=on auto_explain.log_level=debug1 compute_query_id=regress \
        logging_collector=on log_rotation_size=0; do
        settings+=(-o "$setting")
    done
    make_here -s "${build_options[@]}" build/beside/demanding.so &&
        on_server -o "shared_preload_libraries=$libraries,dp_rdr" "${settings[@]}" -- test/beside/run "$@"
}

# The files of sql/ but for those that match, while pgaudit logs every statement. No file is tried that tells what dp_audit says of
# such settings, nor one that auto_explain makes take minutes.
run_sql_beside() {
    local files
    mapfile -t files < <(find "$tree/sql" -name '*.sql' -printf '%f\n' | sed 's/\.sql$//' | LC_ALL=C sort |
        grep -Evx "setup|audit|caller_settings|$1")
    run_beside pgaudit.log=all "${files[@]}"
}
# Matches files that take long and meet no other hooks than the rest.
long_beside='total|differential|leave_one_out|groups_memory|memory_limits|risk_(family|groups|memory)'

# pgaudit asks for permissions on behalf of a role, and logs nothing else.
run_sql_beside_role() {
    run_beside pgaudit.role=pg_read_all_data accepted explain find_epsilon general hook query requests semi_joins
}

run_isolation() {
    on_server -- make --no-print-directory installcheck REGRESS= TAP_TESTS=
}

# These start servers of their own. What a file says about a failure stays beside it in the log.
run_tap() {
    make_here installcheck REGRESS= ISOLATION= PROVE_FLAGS='--verbose --merge'
}

# The library with random bits from a file is built for this alone, and installed nowhere.
run_greybox() {
    make_here -s -j"$(nproc)" "${build_options[@]}" build/greybox/dp_rdr.so && on_server -- python3 test/greybox/run.py
}

# The same library: rows of one person against an account of their own.
run_neighbours() {
    make_here -s -j"$(nproc)" "${build_options[@]}" build/greybox/dp_rdr.so && on_server -- python3 test/neighbours/run.py
}

# The installed library on a server of its own, whose random bytes come from a seed.
run_seeded() {
    make_here -s "${build_options[@]}" build/seeded/bytes.so && as_tester env PG_BIN="$pg_bin" python3 test/seeded/run.py "$@" &&
        as_tester env PG_BIN="$pg_bin" python3 test/seeded/cells.py &&
        as_tester env PG_BIN="$pg_bin" python3 test/seeded/touched.py && as_tester env PG_BIN="$pg_bin" python3 test/seeded/course.py &&
        as_tester env PG_BIN="$pg_bin" python3 test/seeded/losses.py
}

# A hundred questions, and what becomes of them.
run_questions() {
    on_server -- python3 test/questions/run.py
}

# Lists of derived groups against all values that are permitted.
run_groups() {
    on_server -- python3 test/groups/run.py
    on_server -- python3 test/groups/conditions.py --sample 25
}
# The keys under all conditions.
run_conditions() {
    on_server -- python3 test/groups/conditions.py
}
# In all time zones, around the turns of their clocks.
run_zones() {
    on_server -- python3 test/groups/zones.py
}

# Several charges in one commit, by a library that is built for this alone.
run_batch() {
    make_here -s -j"$(nproc)" "${build_options[@]}" build/batch/batch.so && on_server -- python3 test/batch/run.py
}

# Hostile roles on two neighbouring databases; the server log is searched as well.
run_attacks() {
    on_server -o logging_collector=on -o log_rotation_size=0 -o autovacuum=off "$@"
}
watched='shared_preload_libraries=dp_rdr,pg_stat_statements,auto_explain'

run_fuzz() {
    run_attacks -o "$watched" -- python3 test/attacks/fuzz.py --statements 2000 --seconds 600
}

# Citus is in no archive of Debian: it is tried where somebody has built it for this server.
has_citus() {
    [ -e "$("$pg_bin/pg_config" --pkglibdir)/citus.so" ]
}
run_citus() {
    make_here -s "${build_options[@]}" build/seeded/bytes.so && as_tester env PG_BIN="$pg_bin" python3 test/citus/run.py "$@"
}

# A suite by name, or a part of it as name:part, for those who want to know only whether it passes.
run_suite() {
    local name=${1%%:*} part=''
    [ "$name" = "$1" ] || part=${1#*:}
    case $name in
        unit | statistics | audit) run_cpp "$name" "$part" ;;
        client) run_client "$part" ;;
        sql) on_server -- make --no-print-directory installcheck ISOLATION= TAP_TESTS= ${part:+REGRESS="setup ${part//+/ }"} ;;
        isolation) run_isolation ;;
        tap) make_here installcheck REGRESS= ISOLATION= PROVE_FLAGS=--verbose ${part:+PROVE_TESTS="test/t/$part*.pl"} ;;
        attacks) run_attacks -o "$watched" -- python3 test/attacks/run.py --only "${part:-shared}" ;;
        fuzz) run_fuzz ;;
        greybox) run_greybox ;;
        neighbours) run_neighbours ;;
        seeded) run_seeded ;;
        groups) run_groups ;;
        zones) run_zones ;;
        questions) run_questions ;;
        citus) run_citus ;;
        rooms) as_tester python3 test/docs/rooms.py ;;
        batch) run_batch ;;
        beside)
            # shellcheck disable=SC2086
            if [ -n "$part" ]; then run_beside pgaudit.log=all ${part//+/ }; else run_sql_beside none; fi
            ;;
        blackbox) on_server -- python3 test/blackbox/run.py ;;
        *) die "no suite is called $name" ;;
    esac
}

# The format in which it reports.
format_of() {
    case ${1%%:*} in
        unit | statistics | audit | client) echo gtest ;;
        sql | isolation | beside) echo regress ;;
        *) echo tap ;;
    esac
}
