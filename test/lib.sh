# shellcheck shell=bash
# Shared by test/run, test/demo/run, test/bench/run and test/soak/run: packages, a scratch copy of the tree, and
# throwaway servers. Source it from a script that has set -euo pipefail.
#
# Everything runs in the scratch copy, as the user postgres when started by root: servers and the TAP suite refuse to run
# as root, and postgres may be unable to read the checkout. The checkout itself is never written to.

readonly pg_version=${PGVERSION:-15}
readonly pg_bin=/usr/lib/postgresql/$pg_version/bin
readonly packages=(
    g++ make
    "postgresql-$pg_version" "postgresql-server-dev-$pg_version" postgresql-common libpq-dev libicu-dev
    libboost-dev
    libgtest-dev nlohmann-json3-dev
    perl libipc-run-perl python3
)

extra_packages=()   # that only some suites need; a script that sources this may name them
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
scratch=''
lane_groups=()      # suites that run at the same time, by group of processes
tree=''             # the copy that commands run in; suites at the same time have one each (test/tally.sh)
server_port=''      # of throwaway servers; empty: the first that is free
build_options=()    # variables for make; a script that sources this may set them
time_limit=''       # seconds that a command may take; a script that sources this may set it

die() {
    echo "${0##*/}: $*" >&2
    exit 1
}

# Root, or by way of sudo.
as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif sudo -n true 2>/dev/null; then
        sudo -n "$@"
    else
        echo "${0##*/}: this step needs root, or a sudo that asks nothing: $*" >&2
        return 1
    fi
}

# The packages that are not installed, one per line.
missing_packages() {
    local package
    for package in "${packages[@]}" "${extra_packages[@]}"; do
        if [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" != installed ]; then
            echo "$package"
        fi
    done
}

ensure_packages() {
    local missing
    command -v dpkg-query >/dev/null || die "needs Debian, or its packages: ${packages[*]}"
    mapfile -t missing < <(missing_packages)
    [ ${#missing[@]} -gt 0 ] || return 0
    echo "== installing ${missing[*]}"
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends "${missing[@]}"
}

# The whole cleanup: servers end with the command that pg_virtualenv ran for us.
remove_scratch() {
    local group
    for group in "${lane_groups[@]}"; do
        kill -TERM -- "-$group" 2>/dev/null || true
    done
    [ -z "$scratch" ] || rm -rf "$scratch"
}

# scratch/tree: a copy of the checkout without its build products, owned by whoever runs the suites.
make_scratch() {
    umask 022
    scratch=$(mktemp -d /tmp/dp_rdr.XXXXXX)
    trap remove_scratch EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    tree=$scratch/tree
    mkdir "$tree" "$scratch/tmp" "$scratch/logs"
    tar -C "$checkout" -c --exclude-vcs --exclude=./build --exclude=./tmp_check --exclude='*.o' --exclude='*.d' \
        --exclude='*.so' . | tar -C "$tree" -x --no-same-owner
    if [ "$(id -u)" = 0 ]; then
        chown -R postgres: "$scratch"
    fi
}

# Runs a command in the copy as the unprivileged user. The environment is ours alone: neither PG* settings nor make's own
# variables of the caller may reach the suites.
as_tester() {
    local clean=(env -i -C "$tree" "PATH=$pg_bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin" "HOME=$scratch"
        "TMPDIR=$scratch/tmp" "LC_ALL=C.UTF-8" "TERM=${TERM:-dumb}" "TZ=UTC" "PAGER=cat" "PGVERSION=$pg_version")
    [ -z "$time_limit" ] || clean+=(timeout -k 10 "$time_limit")
    if [ "$(id -u)" = 0 ]; then
        runuser -u postgres -- "${clean[@]}" "$@"
    else
        "${clean[@]}" "$@"
    fi
}

# Builds in the copy and installs from there.
build_and_install() {
    echo '== build and install'
    as_tester make --no-print-directory -s -j"$(nproc)" "${build_options[@]}" all &&
        as_root make --no-print-directory -s -C "$tree" "PGVERSION=$pg_version" "${build_options[@]}" \
            install
}

# Says how far a build is, until build_and_install is through or the scratch copy is gone.
show_progress() {
    local files
    files=$(find "$tree/src" -name '*.cpp' | wc -l)
    while sleep 5 && [ -d "$tree" ]; do
        echo "   $(find "$tree/src" -name '*.o' | wc -l) of $files files compiled"
    done
}

# on_server [-o setting=value]... [--] command...: runs the command with PG* pointing to a new server, which is gone
# afterwards. pg_virtualenv turns fsync off for speed; a charge must be durable, so it is on here.
on_server() {
    as_tester pg_virtualenv -v "$pg_version" -c "--locale C.UTF-8 --encoding UTF8${server_port:+ -p $server_port}" -o fsync=on -o timezone=UTC \
        -o max_worker_processes=32 -o max_prepared_transactions=2 "$@"
}
