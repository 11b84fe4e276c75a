#!/usr/bin/env python3
"""Answers and risks over a table with a foreign partition, kept by another database of the server that PG* points to and without
this extension: milliseconds from asking to the answer, medians of turns about. Beside them plain queries there, and the same rows
fetched, which is what a risk cost before its grouping was sent.

    foreign.py [--rows N] [--turns N]      wanted: at most 3 times the plain query for sums of integers, and less than fetching for risks
"""
import argparse
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "attacks"))

from libpq import Connection  # noqa: E402

DATABASE, SHARD, ROLE, OWNER = "bench_foreign", "bench_foreign_shard", "bench_foreign_analyst", "bench_foreign_owner"

THERE = """
CREATE TABLE people (id integer, age integer, pay integer, share numeric(8,2), ratio float8, city text);
INSERT INTO people SELECT g, g % 90, g % 5000, (g % 300) / 7.0, g / 3.0 % 10, (ARRAY['Oslo', 'Pisa', 'Rome'])[1 + g % 3]
    FROM generate_series(1, {rows}) g;
VACUUM (ANALYZE, FREEZE) people
"""

HERE = """
CREATE EXTENSION postgres_fdw;
CREATE TABLE people (id integer, age integer, pay integer, share numeric(8,2), ratio float8, city text) PARTITION BY RANGE (id);
CREATE SERVER shard FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '{host}', port '{port}', dbname '{shard}');
CREATE USER MAPPING FOR CURRENT_USER SERVER shard OPTIONS (user '{user}');
CREATE FOREIGN TABLE people_1 PARTITION OF people FOR VALUES FROM (0) TO (2000000000) SERVER shard OPTIONS (schema_name 'public', table_name 'people');
SELECT dp_protect('people', 'people_dp');
SELECT dp_set_bounds('people', 'pay', 0, 5000), dp_set_bounds('people', 'share', 0, 43), dp_set_bounds('people', 'ratio', 0, 10);
SELECT dp_set_groups('people', 'city', '{{Oslo,Pisa,Rome}}');
SELECT dp_set_odometer('people', 'none');
SELECT dp_grant('people_dp', '{role}', tau => 0, candidates => '{{1}}')
"""

# What it is, the question, the plain query on the shard, and whether it is the owner's.
QUESTIONS = (
    ("count", "SELECT count(*) FROM people_dp", "SELECT count(*) FROM people", False),
    ("sum of integer", "SELECT sum(pay) FROM people_dp", "SELECT sum(pay) FROM people", False),
    ("avg of integer", "SELECT avg(pay) FROM people_dp", "SELECT avg(pay) FROM people", False),
    ("sum of numeric", "SELECT sum(share) FROM people_dp", "SELECT sum(share) FROM people", False),
    ("sum of double", "SELECT sum(ratio) FROM people_dp", "SELECT sum(ratio) FROM people", False),
    ("3 keys, sum", "SELECT city, sum(pay) FROM people_dp GROUP BY city", "SELECT city, sum(pay) FROM people GROUP BY city", False),
    ("risk of a sum", "SELECT sum(pay) FROM people_dp WHERE age > 30", "SELECT pay, count(*) FROM people WHERE age > 30 GROUP BY pay", True),
    ("risk of 3 counts", "SELECT city, count(*) FROM people_dp GROUP BY city", "SELECT city, count(*) FROM people GROUP BY city", True),
)


def prepare(rows):
    postgres = Connection(dbname="postgres")
    for database in (DATABASE, SHARD):
        postgres.send(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")
        postgres.must(f"CREATE DATABASE {database}")
    postgres.send(f"DROP ROLE IF EXISTS {ROLE}")
    postgres.must(f"CREATE ROLE {ROLE}")
    postgres.must(f"ALTER DATABASE {DATABASE} SET session_preload_libraries = 'dp_rdr'")
    shard = Connection(dbname=SHARD)
    for statement in THERE.format(rows=rows).split(";\n"):
        shard.must(statement)
    owner = Connection(dbname=DATABASE)
    owner.must("CREATE EXTENSION dp_rdr")
    asked = owner.must("SELECT split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_user")
    host, port, user = asked[0]
    for statement in HERE.format(host=host, port=port, user=user, shard=SHARD, role=ROLE).split(";\n"):
        owner.must(statement)
    return owner, shard


def milliseconds(connection, sql):
    begin = time.perf_counter()
    connection.must(sql)
    return 1000 * (time.perf_counter() - begin)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1000000)
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    owner, shard = prepare(options.rows)
    analyst = Connection(dbname=DATABASE)
    analyst.must(f"SET ROLE {ROLE}")
    print(f"{options.rows} rows on another server, ms\n{'':18} {'plain':>8} {'ours':>8} {'ratio':>6} {'fetched':>8}")
    for name, sql, beside, own in QUESTIONS:
        ours = f"SELECT * FROM dp_risk($${sql}$$, ARRAY[1])" if own else sql
        columns = "pay, age" if own else "pay"
        calls = ((shard, beside), (owner if own else analyst, ours),
                 (owner, f"SELECT count(*) FROM (SELECT {columns} FROM people OFFSET 0) t GROUP BY {columns.split(',')[0]}"))
        taken = [[milliseconds(connection, text) for connection, text in calls] for _ in range(options.turns + 1)][1:]
        plain, answer, fetched = (statistics.median(times) for times in zip(*taken))
        print(f"{name:18} {plain:8.1f} {answer:8.1f} {answer / plain:6.2f} {fetched:8.1f}", flush=True)


if __name__ == "__main__":
    main()
