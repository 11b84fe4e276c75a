"""How long a charge takes and how many answers a second there are, with one client and with many.

From outside a charge cannot be told from the rest of an answer: the keepers count how long theirs take, from the wait for
their turn until what is committed is durable (dp_rdr.charge_times).
"""
import math
import os
import pathlib
import re
import subprocess
import tempfile
import time

import libpq
from machine import percentile

CLIENTS = (1, 4, 16, 64)
LOGINS = 4
DATABASE = "bench_small"

SETUP = """
CREATE EXTENSION dp_rdr;
CREATE TABLE one AS SELECT 1 AS x;
CREATE TABLE hundred AS SELECT g AS x FROM generate_series(1, 100) g;
CREATE TABLE plain AS TABLE hundred;
ANALYZE;
CREATE ROLE bench_asker;
GRANT SELECT ON plain TO bench_asker;
SELECT dp_protect('one', 'one_dp'), dp_protect('hundred', 'hundred_dp');
SELECT dp_set_odometer('one', 'none'), dp_set_odometer('hundred', 'none');
SELECT dp_grant('one_dp', 'bench_asker', tau => 0.95), dp_grant('hundred_dp', 'bench_asker', tau => 0.95);
""" + "".join(f"CREATE ROLE bench_login_{i} LOGIN PASSWORD :'password' IN ROLE bench_asker;\n" for i in range(LOGINS))

ASK = "SELECT * FROM dp_query('SELECT count(*) FROM {}_dp') AS (n bigint);"
SCRIPTS = {"answer on one row": ASK.format("one"), "answer on 100 rows": ASK.format("hundred"),
           "dp_explain": "SELECT * FROM dp_explain('SELECT count(*) FROM one_dp');",
           "plain count of 100 rows": "SELECT count(*) FROM plain;"}


def run(script, clients, seconds):
    """(milliseconds of each transaction, transactions a second, clients that met an error)."""
    logins = min(clients, LOGINS)
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "script"
        path.write_text(script + "\n")
        running = []
        for i in range(logins):
            command = ["pgbench", "-n", "-c", str(clients // logins), "-j", "1", "-T", str(seconds), "-f", str(path),
                       "-l", f"--log-prefix={directory}/log{i}", DATABASE]
            environment = {**os.environ, "PGUSER": f"bench_login_{i}"}
            running.append(subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE,
                                            stderr=subprocess.STDOUT))
        said = "".join(process.communicate()[0] for process in running)
        took = [int(line.split()[2]) / 1000 for log in pathlib.Path(directory).glob("log*")
                for line in log.read_text().splitlines()]
    rate = sum(float(tps) for tps in re.findall(r"^tps = ([\d.]+)", said, re.MULTILINE))
    return took, rate, said.count(" aborted in command")


def charge_times(admin):
    """microseconds -> charges that took up to so many, since the keepers' memory was made."""
    return {float(limit): int(charges) for limit, charges in
            admin.must("SELECT microseconds, charges FROM dp_rdr.charge_times()")}


def charge_percentile(before, after, share):
    """Milliseconds within which this share, in percent, of the charges in between were made; NaN if there were none."""
    counts = {limit: n - before.get(limit, 0) for limit, n in sorted(after.items())}
    wanted, seen = sum(counts.values()) * share / 100, 0
    for limit, n in counts.items():
        seen += n
        if n and seen >= wanted:
            return limit / 1000
    return math.nan


def many_clients(seconds, record):
    """Prints how answers do as clients get more, and hands each number to `record`."""
    print(f"\nmany clients, {LOGINS} logins, {seconds} s each; ms")
    print(f"{'':>24} {'clients':>8} {'p50':>9} {'p99':>9} {'charge p50':>11} {'charge p99':>11} {'per second':>11} "
          f"{'errors':>7}")
    admin = libpq.Connection(dbname=DATABASE)
    for name, script in SCRIPTS.items():
        for clients in CLIENTS:
            before = charge_times(admin)
            took, rate, errors = run(script, clients, seconds)
            after = charge_times(admin)
            p50, p99 = percentile(took, 50), percentile(took, 99)
            charge50, charge99 = (charge_percentile(before, after, share) for share in (50, 99))
            print(f"{name:>24} {clients:>8} {p50:>9.2f} {p99:>9.2f} {charge50:>11.2f} {charge99:>11.2f} {rate:>11.0f} "
                  f"{errors:>7}", flush=True)
            for metric, value, unit in (("p50", p50, "ms"), ("p99", p99, "ms"), ("charge p50", charge50, "ms"),
                                        ("charge p99", charge99, "ms"), ("rate", rate, "1/s"),
                                        ("errors", errors, "clients")):
                record("many clients", call=name, clients=clients, metric=metric, value=value, unit=unit)
    admin.close()


def timed(connection, sql):
    begun = time.perf_counter()
    connection.must(sql)
    return (time.perf_counter() - begun) * 1000


# Constants that take long to compute and look at no signal meanwhile, asked for by one login with little patience.
DEAR = ("SELECT * FROM dp_query($q$SELECT count(*) FROM hundred_dp "
        "WHERE x::text = translate(repeat('ab', 30000), repeat('x', 60000), 'y')$q$) AS (n bigint);")
HOSTILE, TARGET_MS = 3, 1000


def beside_constants(seconds, record):
    """Prints how long a login's answers take while another one asks for constants that take long."""
    def take(hostile):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "script"
            path.write_text(f"SET statement_timeout = 100;\nDO $d$ BEGIN PERFORM n FROM {DEAR[14:-1]}; "
                            "EXCEPTION WHEN query_canceled THEN NULL; END $d$;\n")
            others = [subprocess.Popen(["pgbench", "-n", "-c", "1", "-T", str(seconds), "-f", str(path), DATABASE],
                                       env={**os.environ, "PGUSER": "bench_login_0"}, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL) for _ in range(hostile)]
            client = libpq.Connection(dbname=DATABASE, user="bench_login_1")
            end, took = time.perf_counter() + seconds, []
            while time.perf_counter() < end:
                took.append(timed(client, SCRIPTS["answer on one row"]))
            client.close()
            for other in others:
                other.kill()
                other.wait()
        return took

    print(f"\na count beside {HOSTILE} clients of another login with dear constants; ms, target {TARGET_MS}")
    for hostile in (0, HOSTILE):
        took = take(hostile)
        print(f"{hostile:>3} clients: p50 {percentile(took, 50):>9.2f} worst {max(took):>9.2f} of {len(took)}")
        for metric, value in (("p50", percentile(took, 50)), ("worst", max(took))):
            record("beside constants", call="answer on one row", clients=hostile, metric=metric, value=value, unit="ms")


def first_answers(repeat, record):
    """How long a database that nobody uses takes to its first answer: a copy, made for each time."""
    ask = SCRIPTS["answer on 100 rows"]
    times = {"connect": [], "first in a quiet database": [], "second": [], "first of a later connection": []}
    admin = libpq.Connection(dbname="postgres")
    for _ in range(repeat):
        admin.must("CREATE DATABASE bench_cold TEMPLATE bench_small")
        begun = time.perf_counter()
        client = libpq.Connection(dbname="bench_cold", user="bench_login_0")
        times["connect"].append((time.perf_counter() - begun) * 1000)
        times["first in a quiet database"].append(timed(client, ask))
        times["second"].append(timed(client, ask))
        client.close()
        client = libpq.Connection(dbname="bench_cold", user="bench_login_0")
        times["first of a later connection"].append(timed(client, ask))
        client.close()
        admin.must("DROP DATABASE bench_cold WITH (FORCE)")
    admin.close()
    print(f"\nthe first answer, on 100 rows; medians of {repeat}, ms")
    for name, took in times.items():
        print(f"{name:>32} {percentile(took, 50):>9.2f}")
        record("first answer", call=name, metric="p50", value=percentile(took, 50), unit="ms")
