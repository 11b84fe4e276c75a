#!/usr/bin/env python3
"""Queries of TPC-H on the server that PG* points to, where this tree is installed: how long the plain query takes, how long the
answer, and how far it is off at epsilon 0.8, or why there is none. Nothing is asserted.

    run.py [--customers N]
"""
import argparse
import pathlib
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
for folder in ("attacks", "questions"):
    sys.path.insert(0, str(HERE.parent / folder))

from answers import keys_of, numbers_of, table_of  # noqa: E402
from libpq import Connection  # noqa: E402

DATABASE = "dp_tpch"
ROLE = "dp_tpch_analyst"
ROUNDS = 3


def prepare(customers):
    postgres = Connection(dbname="postgres")
    postgres.send(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
    postgres.send(f"DROP ROLE IF EXISTS {ROLE}")
    postgres.must(f"CREATE ROLE {ROLE}")
    postgres.must(f"CREATE DATABASE {DATABASE}")
    postgres.must(f"ALTER DATABASE {DATABASE} SET session_preload_libraries = 'dp_rdr'")
    postgres.close()
    owner = Connection(dbname=DATABASE)
    owner.must("CREATE EXTENSION dp_rdr")
    subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-v", f"customers={customers}", "-o", "/dev/null", "-d", DATABASE, "-f", HERE / "load.sql"],
                   check=True)
    owner.must("SELECT dp_set_odometer('tpch_rows.customer', 'none', delta_total => 0.9)")
    owner.must(f"GRANT USAGE ON SCHEMA tpch TO {ROLE}")
    owner.must(f"GRANT SELECT ON ALL TABLES IN SCHEMA tpch TO {ROLE}")
    owner.must(f"SELECT dp_grant(c.oid, '{ROLE}', tau => 0, candidates => '{{0.8}}', delta => 1e-6)"
               " FROM pg_class c WHERE relnamespace = 'tpch'::regnamespace AND relkind = 'v'")
    return owner


def timed(connection, sql):
    """Milliseconds, the median of some, and the last reply."""
    taken = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        reply = connection.send(sql)
        taken.append(1000 * (time.perf_counter() - begin))
    return statistics.median(taken), reply


def error_of_answer(rows, reference):
    """The median error of its numbers, relative to them."""
    keys = keys_of(reference)
    answer, plain = table_of(rows, keys), table_of(reference, keys)
    errors = []
    for key, row in plain.rows.items():
        for expected, got in zip(row, answer.rows.get(key, ())):
            ours, theirs = numbers_of(got or ""), numbers_of(expected or "")
            if ours and theirs and theirs[0] != 0:
                errors.append(abs(ours[0] - theirs[0]) / abs(theirs[0]))
    missing = sum(key not in answer.rows for key in plain.rows)
    return f"{100 * statistics.median(errors):.2f} %" + (f", {missing} groups withheld" if missing else "") if errors else "nothing to compare"


def main():
    parser = argparse.ArgumentParser(description="Queries of TPC-H")
    parser.add_argument("--customers", type=int, default=15000)
    options = parser.parse_args()
    owner = prepare(options.customers)
    owner.must("SET search_path = tpch_rows, tpch")
    analyst = Connection(dbname=DATABASE)
    analyst.must(f"SET ROLE {ROLE}")
    analyst.must("SET search_path = tpch, public")
    print(f"{options.customers} customers, epsilon 0.8: query, plain and private milliseconds, median error")
    for part in (HERE / "queries.sql").read_text(encoding="utf-8").split("\n\n")[1:]:
        head, _, sql = part.strip().partition("\n")
        plain, reference = timed(owner, sql)
        private, reply = timed(analyst, sql)
        if reply.sqlstate():
            error = next(result for result in reply.results if result.error)
            print(f"{head[3:]}: {plain:.0f}, refused: {error.field('C')} {error.field('M')}")
        else:
            print(f"{head[3:]}: {plain:.0f}, {private:.0f}, {error_of_answer(reply.results[-1].rows, reference.results[-1].rows)}")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
