#!/usr/bin/env python3
"""How soon statements with many questions, or many aggregates, are planned and begun, on the server that PG* points to.

Wanted: a statement of 200 questions takes at most 1.2 times as long with jit as without; 900 aggregates over a restricted
view are planned in at most 2 times the time that they take over a plain table. Pairs are measured in turns; printed are medians.
"""
import argparse
import pathlib
import re
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "test/attacks"))

import libpq  # noqa: E402

SETUP = ["SET client_min_messages = error", "CREATE EXTENSION IF NOT EXISTS dp_rdr",
         "CREATE TABLE planned AS SELECT g AS id, g % 97 AS age FROM generate_series(1, 1000) g",
         "SELECT dp_protect('planned', 'planned_dp')", "SELECT dp_set_bounds('planned', 'age', 0, 100)",
         "SELECT dp_set_odometer('planned', 'none')", "SELECT dp_grant('planned_dp', CURRENT_USER::regrole, 0.95)",
         "ANALYZE planned"]
FORMS = {"count(*) FILTER (WHERE age = {0})": "", "sum(age + {0}) AS s{0}": " GROUP BY age % 2",
         "sum(age + {0})": " GROUP BY age % 2 HAVING count(*) > 5"}


def questions(number):
    return "SELECT " + ", ".join(f"(SELECT count(*) FROM planned_dp WHERE id > {i})" for i in range(number))


def aggregates(form, number, table):
    return "SELECT " + ", ".join(form.format(i) for i in range(number)) + f" FROM {table}{FORMS[form]}"


def milliseconds(connection, statement):
    begun = time.perf_counter()
    connection.must(statement)
    return (time.perf_counter() - begun) * 1000


def planned_in(connection, statement):
    lines = connection.must("EXPLAIN (COSTS OFF, SUMMARY ON) " + statement)
    return float(re.search(r"Planning Time: ([\d.]+)", str(lines)).group(1))


def show(label, of, target):
    (_, first), (_, second) = of.items()
    names = " ".join(f"{name} {statistics.median(values):>8.1f}" for name, values in of.items())
    ratio = statistics.median(b / a for a, b in zip(first, second))
    print(f"{label:>60} {names}   ratio {ratio:>5.2f}   target {target}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=7)
    options = parser.parse_args()
    connection = libpq.Connection(dbname="postgres")
    for statement in SETUP + ["LOAD 'dp_rdr'"]:
        connection.must(statement)
    print("milliseconds")
    asked = {"off": [], "on": []}
    for turn in range(options.turns + 1):
        for jit, times in asked.items():
            connection.must(f"SET jit = {jit}")
            times.append(milliseconds(connection, questions(200)))
    show("200 questions in one statement, jit", {name: times[1:] for name, times in asked.items()}, 1.2)
    for form in FORMS:
        planned = {"planned": [], "planned_dp": []}
        for turn in range(options.turns + 1):
            for table, times in planned.items():
                times.append(planned_in(connection, aggregates(form, 900, table)))
        show(f"planning 900 times {form.format('i')}", {name: times[1:] for name, times in planned.items()}, 2)


if __name__ == "__main__":
    main()
