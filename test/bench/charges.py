"""How long a charge takes and how many answers a second there are, with one client and with many.

From outside a charge cannot be told from the rest of an answer. A table of one row gives nothing to read, so an answer
on it is parsing, checking, choosing, the charge, and one row of noise; dp_explain of the same query is the same without
the charge and the row. Their difference is a little more than a charge. """
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


def many_clients(seconds, record):
    """Prints how answers do as clients get more, and hands each number to `record`."""
    print(f"\nmany clients, {LOGINS} logins, {seconds} s each; ms")
    print(f"{'':>24} {'clients':>8} {'p50':>9} {'p99':>9} {'per second':>11} {'errors':>7}")
    alone = {}
    for name, script in SCRIPTS.items():
        for clients in CLIENTS:
            took, rate, errors = run(script, clients, seconds)
            p50, p99 = percentile(took, 50), percentile(took, 99)
            alone.setdefault(name, (p50, p99))
            print(f"{name:>24} {clients:>8} {p50:>9.2f} {p99:>9.2f} {rate:>11.0f} {errors:>7}", flush=True)
            for metric, value, unit in (("p50", p50, "ms"), ("p99", p99, "ms"), ("rate", rate, "1/s"),
                                        ("errors", errors, "clients")):
                record("many clients", call=name, clients=clients, metric=metric, value=value, unit=unit)
    charge = alone["answer on one row"][0] - alone["dp_explain"][0]
    print(f"a charge alone, as the answer on one row less its dp_explain (medians): {charge:.2f} ms")
    record("many clients", call="charge", clients=1, metric="p50 difference", value=charge, unit="ms")


def timed(connection, sql):
    begun = time.perf_counter()
    connection.must(sql)
    return (time.perf_counter() - begun) * 1000


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
