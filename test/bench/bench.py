#!/usr/bin/env python3
"""What answers cost in time and memory, beside PostgreSQL's own plain queries, on the server that PG* points to.

For each size of Adult and each query of questions.py: the plain query, a plain GROUP BY of the columns that it reads
(the floor of everything that looks at each distinct record), the same in ordinary SQL on the restricted view, by
dp_query, under a policy with tau_var (`released`, two charges), dp_risk and dp_find_epsilon. The calls take turns, so
that a slow minute of the machine hits all of them alike; the first round warms up and is thrown away; the rest are
medians. A call that has used its share of time (--budget) is not repeated, one that exceeds --limit is given up. Memory
is measured afterwards, each call once in a connection of its own. Nothing is asserted: the numbers are for reading.

Every number is also a line of the file --csv.
"""
import argparse
import csv
import math
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/attacks"))

import charges  # noqa: E402
import libpq  # noqa: E402
import machine  # noqa: E402
from questions import CALLS, QUERIES, SETUP, statement  # noqa: E402

DATABASE = "bench"
CALL_NAMES = tuple(CALLS)


def psql(database, script):
    password = os.environ.get("PGPASSWORD", "")
    command = ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-v", f"password={password}", "-d", database]
    subprocess.run(command, input=script, text=True, stdout=subprocess.DEVNULL, check=True)


class Record:
    """The lines of the CSV file."""
    FIELDS = ("section", "rows", "query", "call", "clients", "metric", "value", "unit")

    def __init__(self):
        self.lines = []

    def __call__(self, section, **fields):
        self.lines.append({"section": section, **fields})

    def write(self, path):
        with open(path, "w", newline="", encoding="utf-8") as file:
            out = csv.DictWriter(file, self.FIELDS)
            out.writeheader()
            out.writerows(self.lines)


# ---- time -----------------------------------------------------------------------------------------------------------


def connect(call, limit):
    connection = libpq.Connection(dbname=DATABASE)
    connection.must(f"SET statement_timeout = '{limit}s'")
    connection.must("SET client_min_messages = error")
    # Without preloading the first statement on a view loads the library and is refused.
    connection.must("LOAD 'dp_rdr'")
    if CALLS[call] is not None:
        connection.must(f"SET ROLE {CALLS[call]}")
    return connection


def attempt(connection, sql):
    """Milliseconds, or why there are none."""
    begun = time.perf_counter()
    reply = connection.send(sql)
    took = (time.perf_counter() - begun) * 1000
    failed = reply.sqlstate()
    return (None, failed + " " + reply.results[-1].field("M")) if failed else (took, "")


def measure(options):
    """{(query, call): median in ms}, and of those that failed the reason."""
    connections = {call: connect(call, options.limit) for call in CALLS}
    times = {(query.name, call): [] for query in QUERIES for call in CALLS}
    reasons = {}
    for _ in range(options.repeat + 1):
        for query in QUERIES:
            for call in CALLS:
                key = (query.name, call)
                if key in reasons or (len(times[key]) > 1 and sum(times[key]) > options.budget * 1000):
                    continue
                took, reason = attempt(connections[call], statement(query, call))
                if reason:
                    reasons[key] = reason
                else:
                    times[key].append(took)
    for connection in connections.values():
        connection.close()
    return {key: statistics.median(took[1:] or took) for key, took in times.items() if took}, reasons


# ---- memory ---------------------------------------------------------------------------------------------------------


def peaks(query, call, limit):
    """Megabytes of the connection's process, and the most of one that reads rows for it; None if there is none."""
    admin = libpq.Connection(dbname=DATABASE)
    connection = connect(call, limit)
    pid = int(connection.must("SELECT pg_backend_pid()")[0][0])
    before = machine.keepers(admin)
    for process in [pid, *before]:
        machine.forget_peak(process)
    _, reason = attempt(connection, statement(query, call))
    mine = None if reason else machine.private_peak(pid)
    theirs = [machine.private_peak(keeper) or 0 for keeper in machine.keepers(admin)]
    connection.close()
    admin.close()
    return mine, max(theirs, default=None)


# ---- what is printed ------------------------------------------------------------------------------------------------


def cell(value, form):
    return format(value, form) if value is not None and not math.isnan(value) else "-"


def table(title, values, form, calls=CALL_NAMES):
    """Queries down, calls across."""
    print(f"\n{title}")
    print(f"{'':>8}" + "".join(f"{call:>16}" for call in calls))
    for query in QUERIES:
        cells = (cell(values.get((query.name, call)), form) for call in calls)
        print(f"{query.name:>8}" + "".join(f"{text:>16}" for text in cells), flush=True)


def ratios(medians, floor):
    return {(query, call): took / medians[query, floor] for (query, call), took in medians.items()
            if (query, floor) in medians}


def report_size(rows, medians, reasons, record):
    table(f"{rows} rows: medians, ms", medians, ".1f")
    by_plain, by_groups = ratios(medians, "plain"), ratios(medians, "group by")
    table(f"{rows} rows: times the plain query", by_plain, ".2f", CALL_NAMES[2:])
    table(f"{rows} rows: times the plain GROUP BY of what is read", by_groups, ".2f", ("dp_risk", "dp_find_epsilon"))
    for (query, call), reason in reasons.items():
        print(f"  no {query} {call}: {reason}")
    for metric, values, unit in (("median", medians, "ms"), ("ratio to plain", by_plain, ""),
                                 ("ratio to group by", by_groups, "")):
        for (query, call), value in values.items():
            record("queries", rows=rows, query=query, call=call, metric=metric, value=value, unit=unit)


def report_memory(rows, options, record):
    mine, theirs = {}, {}
    for query in QUERIES:
        for call in CALLS:
            mine[query.name, call], theirs[query.name, call] = peaks(query, call, options.limit)
    table(f"{rows} rows: peak of the connection's process without shared memory, MB", mine, ".0f")
    if any(value is not None for value in theirs.values()):
        table(f"{rows} rows: highest peak of a dp_rdr keeper, MB", theirs, ".0f")
    for metric, values in (("peak of the backend", mine), ("peak of a keeper", theirs)):
        for (query, call), value in values.items():
            if value is not None:
                record("memory", rows=rows, query=query, call=call, metric=metric, value=value, unit="MB")


def report_growth(by_size, record):
    """The exponent e of time ~ rows^e, between each size and the next."""
    sizes = sorted(by_size)
    for small, large in zip(sizes, sizes[1:]):
        exponents = {key: math.log(by_size[large][key] / by_size[small][key]) / math.log(large / small)
                     for key in by_size[small] if key in by_size[large]}
        table(f"growth from {small} to {large} rows: exponent", exponents, ".2f")
        for (query, call), value in exponents.items():
            record("growth", rows=large, query=query, call=call, metric="exponent", value=value, unit="")


def report_environment(record):
    admin = libpq.Connection(dbname="postgres")
    print("environment")
    for name, value in machine.environment(admin):
        print(f"{name:>34}  {value}")
        record("environment", metric=name, value=value, unit="")
    flush, slow = machine.flush_times(admin.must("SHOW data_directory")[0][0])
    print(f"{'write and flush 8 kB':>34}  {flush:.3f} ms p50, {slow:.3f} ms p99", flush=True)
    record("environment", metric="flush p50", value=flush, unit="ms")
    record("environment", metric="flush p99", value=slow, unit="ms")
    admin.close()


def bench_sizes(options, record):
    by_size = {}
    for rows in options.rows:
        psql("postgres", f"SET client_min_messages = warning;\nDROP DATABASE IF EXISTS {DATABASE} WITH (FORCE);\n"
             f"DROP ROLE IF EXISTS bench_analyst, bench_selected;\nCREATE DATABASE {DATABASE};")
        psql(DATABASE, SETUP.format(rows=rows))
        by_size[rows], reasons = measure(options)
        report_size(rows, by_size[rows], reasons, record)
        report_memory(rows, options, record)
    report_growth(by_size, record)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=int, nargs="*", help="sizes of the table")
    parser.add_argument("--repeat", type=int, default=7, help="measurements of each call")
    parser.add_argument("--budget", type=float, default=20, help="seconds after which a call is not repeated")
    parser.add_argument("--limit", type=int, default=600, help="seconds after which a call is given up")
    parser.add_argument("--seconds", type=int, default=5, help="of each run with many clients; 0: none")
    parser.add_argument("--csv", default="build/bench.csv")
    options = parser.parse_args()

    record = Record()
    try:
        report_environment(record)
        if options.seconds:
            psql("postgres", f"CREATE DATABASE {charges.DATABASE}")
            psql(charges.DATABASE, charges.SETUP)
            charges.first_answers(5, record)
            charges.many_clients(options.seconds, record)
            charges.beside_constants(options.seconds, record)
        bench_sizes(options, record)
    finally:
        pathlib.Path(options.csv).parent.mkdir(exist_ok=True)
        record.write(options.csv)


if __name__ == "__main__":
    main()
