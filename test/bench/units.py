#!/usr/bin/env python3
"""Answers about people with many rows beside the same queries over the tables, on the server that PG* points to, where this
tree is installed: milliseconds from asking to the answer, the charge included, medians of turns about, and their ratio.

    units.py [--rows N] [--turns N] [--workers N]      N visits, of N / 10 people, and as many items of theirs
"""
import argparse
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "attacks"))

from libpq import Connection  # noqa: E402

DATABASE = "bench_units"
ROLE = "bench_units_analyst"

TABLES = """
CREATE SCHEMA dp;
CREATE TABLE person (pid integer PRIMARY KEY, age integer);
CREATE TABLE code (code integer PRIMARY KEY, chapter integer);
CREATE TABLE visit (vid integer PRIMARY KEY, pid integer NOT NULL, dept integer, ward integer, code integer, days integer);
CREATE TABLE item (iid integer PRIMARY KEY, vid integer NOT NULL, price integer);
INSERT INTO person SELECT p, p % 90 FROM generate_series(1, {people}) p;
INSERT INTO code SELECT c, c % 20 FROM generate_series(1, 2000) c;
INSERT INTO visit SELECT v, 1 + (v * 7919::bigint) % {people}, v % 10, v * 31::bigint % 1000, 1 + v * 17::bigint % 2000, v % 30
    FROM generate_series(1, {rows}) v;
INSERT INTO item SELECT i, 1 + (i * 104729::bigint) % {rows}, i % 100 FROM generate_series(1, {rows}) i;
ALTER TABLE visit ADD FOREIGN KEY (pid) REFERENCES person;
ALTER TABLE item ADD FOREIGN KEY (vid) REFERENCES visit;
CREATE INDEX ON visit (pid);
SELECT dp_protect('person', 'dp.person', unit => 'pid');
SELECT dp_protect('visit', 'dp.visit', unit => 'pid', max_rows => 20);
SELECT dp_protect('item', 'dp.item', unit => 'vid', max_rows => 40);
SELECT dp_set_public('code', 'visit');
SELECT dp_set_bounds('visit', 'days', 0, 30);
SELECT dp_set_bounds('item', 'price', 0, 100);
SELECT dp_set_groups('visit', 'dept', ARRAY(SELECT generate_series(0, 9)::text));
SELECT dp_set_groups('visit', 'ward', ARRAY(SELECT generate_series(0, 999)::text));
SELECT dp_set_odometer('person', 'none', delta_total => 0.9);
GRANT USAGE ON SCHEMA dp TO {role};
GRANT SELECT ON ALL TABLES IN SCHEMA dp TO {role};
GRANT SELECT ON code TO {role};
SELECT dp_grant(c.oid, '{role}', tau => 0, candidates => '{{1}}', delta => 1e-6)
FROM pg_class c WHERE relnamespace = 'dp'::regnamespace AND relkind = 'v';
"""

# What it is, the question, and what plain SQL does in its place where that is another query.
QUESTIONS = (
    ("people, one row each", "SELECT count(*) FROM {person}", None),
    ("no keys", "SELECT count(*), sum(days) FROM {visit}", None),
    ("  beside sums by person", "SELECT count(*), sum(days) FROM {visit}",
     "SELECT sum(n), sum(d) FROM (SELECT count(*) AS n, sum(days) AS d FROM {visit} GROUP BY pid) t"),
    ("10 keys", "SELECT dept, count(*), sum(days) FROM {visit} GROUP BY dept", None),
    ("1,000 keys", "SELECT ward, count(*), sum(days) FROM {visit} GROUP BY ward", None),
    ("a public table and 20 keys",
     "SELECT chapter, count(*), sum(days) FROM {visit} v JOIN code c ON v.code = c.code GROUP BY chapter", None),
    ("items, by visits to people", "SELECT count(*), sum(price) FROM {item}",
     "SELECT count(*), sum(price) FROM {item} i JOIN {visit} v ON i.vid = v.vid"),
    ("visits of people over 40", "SELECT count(*), sum(days) FROM {visit} v JOIN {person} p ON v.pid = p.pid WHERE age > 40", None),
    ("one row for each person", "SELECT avg(n) FROM (SELECT pid, count(*) AS n FROM {visit} GROUP BY pid) t", None),
    ("different values", "SELECT count(DISTINCT ward) FROM {visit}", None),
    ("the median", "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY days) FROM {visit}", None),
)


def prepare(rows, workers):
    postgres = Connection(dbname="postgres")
    postgres.send(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
    postgres.send(f"DROP ROLE IF EXISTS {ROLE}")
    postgres.must(f"CREATE ROLE {ROLE}")
    postgres.must(f"CREATE DATABASE {DATABASE}")
    postgres.must(f"ALTER DATABASE {DATABASE} SET session_preload_libraries = 'dp_rdr'")
    postgres.must(f"ALTER DATABASE {DATABASE} SET max_parallel_workers_per_gather = {workers}")
    postgres.close()
    owner = Connection(dbname=DATABASE)
    owner.must("CREATE EXTENSION dp_rdr")
    for statement in TABLES.format(rows=rows, people=rows // 10, role=ROLE).split(";\n"):
        if statement.strip():
            owner.must(statement)
    owner.must("VACUUM (ANALYZE, FREEZE)")
    return owner


def milliseconds(connection, sql):
    begin = time.perf_counter()
    connection.must(sql)
    return 1000 * (time.perf_counter() - begin)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1000000)
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--workers", type=int, default=0, help="for both")
    options = parser.parse_args()
    owner = prepare(options.rows, options.workers)
    analyst = Connection(dbname=DATABASE)
    analyst.must(f"SET ROLE {ROLE}")
    print(f"{options.rows} visits of {options.rows // 10} people, {options.workers} workers, ms\n{'':28} {'plain':>8} {'ours':>8} {'ratio':>6}")
    for name, sql, beside in QUESTIONS:
        pair = ((owner, (beside or sql).format(person="person", visit="visit", item="item")),
                (analyst, sql.format(person="dp.person", visit="dp.visit", item="dp.item")))
        taken = [[milliseconds(connection, text) for connection, text in pair] for _ in range(options.turns + 1)][1:]
        plain, ours = (statistics.median(times) for times in zip(*taken))
        print(f"{name:28} {plain:8.1f} {ours:8.1f} {ours / plain:6.2f}", flush=True)


if __name__ == "__main__":
    main()
