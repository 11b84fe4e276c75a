#!/usr/bin/env python3
"""What a partition of 10,000 cells costs, beside the same table without one, on the server that PG* points to (in databases of its own).

    cells.py [--turns N] [--answers N] [--seconds N]

Each number stands beside its target. Questions of both tables are asked in turns; printed are medians over the turns, and of the ratios of neighbouring
turns. A charge is what keepers count from the wait for their turn until it is durable (dp_rdr.charge_times); its median lies within a class of
19 percent, and is interpolated there. The cells are first as they were declared, and then each has had another charge than its neighbours.
"""
import argparse
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "attacks"))

import charges  # noqa: E402
from libpq import Connection  # noqa: E402

charges.DATABASE = "bench_cells"
SETUP = """
CREATE EXTENSION dp_rdr;
SET client_min_messages = error;
CREATE TABLE whole (n integer, at date);
CREATE TABLE parts (n integer, at date);
CREATE TABLE days (n integer, at date);
CREATE TABLE named (n integer, at date);
SELECT dp_protect(t, t || '_dp') FROM unnest('{whole,parts,days,named}'::regclass[]) t;
SELECT dp_set_odometer(t, epsilon_total => 1000000), dp_grant(t || '_dp', 'bench_cells', tau => 0.95, epsilon_total => 900000)
FROM unnest('{whole,parts,days,named}'::text[]) t;
SELECT dp_set_partition('parts', 'n', by => '1', since => '0', until => '9998', guard => false);
SELECT dp_set_partition('days', 'at', by => 'day', since => (current_date - 9000)::text, guard => false);
SELECT dp_set_groups('named', 'n', ARRAY(SELECT g::text FROM generate_series(1, 9999) g)), dp_set_partition('named', 'n', guard => false);
"""
THREE, APART, BUT_ONE = "WHERE n BETWEEN 5000 AND 5002", "WHERE n IN (20, 4000, 9000)", "WHERE n < 5 OR n > 5"
PLAIN = ("whole", "")


class Turn:
    """Answers of one kind, one behind the other: the median time of one, and how many charges took how long."""

    def __init__(self, admin, asker, table, where, answers):
        before, took = charges.charge_times(admin), []
        for _ in range(answers):
            took.append(charges.timed(asker, f"SELECT count(*) FROM {table}_dp {where}"))
        self.answer = statistics.median(took)
        self.charge = median_of_classes({limit: n - before.get(limit, 0) for limit, n in charges.charge_times(admin).items()})


def median_of_classes(counts):
    """Milliseconds; between the ends of the class in which the middle one is."""
    half, seen = sum(counts.values()) / 2, 0
    for limit, n in sorted(counts.items()):
        if n and seen + n >= half:
            return limit * 2 ** ((half - seen) / n / 4 - 1 / 4) / 1000
        seen += n
    return float("nan")


def in_turns(admin, asker, kinds, options):
    """By kind its turns; the first is always the plain one, and the first turn of all warms up."""
    turns = {kind: [] for kind in kinds}
    for i in range(options.turns + 1):
        for kind in kinds if i % 2 else reversed(kinds):
            turn = Turn(admin, asker, *kind, options.answers)
            if i > 0:
                turns[kind].append(turn)
    return turns


def ratio(ours, theirs, name):
    return statistics.median(getattr(a, name) / getattr(b, name) for a, b in zip(ours, theirs))


def say(what, value, target):
    print(f"{what:>64} {value:>10.3f}   target {target}", flush=True)


def compare_charges(admin, asker, state, options):
    kinds = (PLAIN, ("parts", THREE), ("parts", APART), ("parts", ""))
    turns = in_turns(admin, asker, kinds, options)
    plain = turns[PLAIN]
    print(f"\n{state}; medians of {options.turns} turns of {options.answers} answers")
    say("a plain charge, ms", statistics.median(turn.charge for turn in plain), "none")
    say("an answer with it, ms", statistics.median(turn.answer for turn in plain), "none")
    for kind, what, target in ((kinds[1], "3 neighbouring cells of 10,000", 1.4), (kinds[2], "3 cells that lie apart", "none"), (kinds[3], "all cells", 1.05)):
        say(f"{what}: the charge, times the plain one", ratio(turns[kind], plain, "charge"), f"at most {target}" if target != "none" else target)
        say("the answer, times the plain one", ratio(turns[kind], plain, "answer"), "none")


def compare_clients(state, options):
    """Answers a second of 16 clients, each asking for three neighbouring cells of its own choice; of all rows, and for the same, without a partition."""
    three = "\\set n random(0, 9990)\nSELECT count(*) FROM {}_dp WHERE n BETWEEN :n AND :n + 2;"
    script = {"all rows": "SELECT count(*) FROM whole_dp;", "parts": three.format("parts"), "the same": three.format("whole")}
    rates = {kind: [] for kind in script}
    for i in range(5):
        for kind in script if i % 2 else reversed(script):
            _, rate, errors = charges.run(script[kind], 16, options.seconds)
            if errors:
                print(f"{errors} clients met an error on {kind}")
            rates[kind].append(rate)
    say(f"16 clients, {state}: answers a second on 3 cells", statistics.median(rates["parts"]), "none")
    for kind in ("all rows", "the same"):
        say(f"of those about {kind} without a partition", statistics.median(a / b for a, b in zip(rates["parts"], rates[kind])), "at least 0.9")


def compare_looks(asker, options):
    """What finding the cells adds to dp_explain, in microseconds."""
    atoms = " OR ".join(f"n BETWEEN {900 * i} AND {900 * i + 99}" for i in range(5))
    dates = " OR ".join(f"at BETWEEN '202{i % 5}-0{1 + i}-01' AND '202{i % 5}-0{1 + i}-20'" for i in range(5))
    rising = f"({dates}) AND date_trunc('month', at::timestamp) = '2024-03-01'"
    listed = "n % 7 = 3"
    for what, table, condition, target in (("10 atoms", "parts", atoms, "50"), ("10 atoms of days", "days", dates, "50"), ("10 atoms of days, and one that rises", "days", rising, "200"),
                                           ("a condition on each of 9,999 listed values", "named", listed, "10000")):
        took = {"whole": [], table: []}
        for _ in range(max(100, options.answers)):
            for name in took:
                took[name].append(charges.timed(asker, f"SELECT cells FROM dp_explain($q$SELECT count(*) FROM {name}_dp WHERE {condition}$q$)"))
        say(f"the cells of {what}, microseconds", (statistics.median(took[table]) - statistics.median(took["whole"])) * 1000, f"at most {target}")


def refused(asker, admin, where, times):
    """Milliseconds of a refusal, and of the charge turn that it takes."""
    before, took = charges.charge_times(admin), []
    for _ in range(times):
        begun = time.perf_counter()
        if asker.send(f"SELECT count(*) FROM parts_dp {where}").sqlstate() != "53400":
            raise SystemExit("it was not refused")
        took.append((time.perf_counter() - begun) * 1000)
    counts = {limit: n - before.get(limit, 0) for limit, n in charges.charge_times(admin).items()}
    return statistics.median(took), median_of_classes(counts)


def refuse(owner, asker, admin, times):
    """One late cell has nothing left; then no cell has."""
    total = owner.must("SELECT epsilon + 0.5 FROM dp_odometer('parts') WHERE account = 'public'")[0][0]
    owner.must(f"SELECT dp_set_odometer('parts', epsilon_total => {total})")
    while not asker.send("SELECT count(*) FROM parts_dp WHERE n = 9990").sqlstate():
        pass
    for what, where in (("cell 9,990 refuses all", ""), ("it refuses all but one", BUT_ONE)):
        answer, turn = refused(asker, admin, where, times)
        say(f"{what}: the refusal, ms", answer, "none")
        say("others wait for it, ms", turn, "none")
    owner.must("SELECT dp_set_odometer('parts', epsilon_total => 0.1)")
    say("no cell has anything left: the refusal, ms", refused(asker, admin, BUT_ONE, times)[0], "none")
    say("rows of cells", float(owner.must("SELECT count(*) FROM dp_rdr.odometer_cell")[0][0]), "at most 20,000")


def compare_verification(owner, state, target):
    """Of tables with as many charges each."""
    took = {"whole": [], "parts": []}
    for _ in range(5):
        for table in took:
            took[table].append(charges.timed(owner, f"SELECT dp_verify_ledger('{table}', true)"))
    count = owner.must("SELECT relation, count(*) FROM dp_rdr.ledger GROUP BY relation HAVING relation IN ('public.whole', 'public.parts') ORDER BY 1")
    rows = {name.split(".")[1]: int(n) for name, n in count}
    of_row = {table: statistics.median(took[table]) / rows[table] for table in took}
    say(f"dp_verify_ledger, {state}: a row of {rows['parts']}, times one of {rows['whole']}", of_row["parts"] / of_row["whole"], target)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--answers", type=int, default=100, help="of one turn")
    parser.add_argument("--seconds", type=int, default=4, help="of one run of 16 clients")
    options = parser.parse_args()
    postgres = Connection(dbname="postgres")
    postgres.send("CREATE ROLE bench_cells")
    for i in range(charges.LOGINS):
        postgres.send(f"CREATE ROLE bench_login_{i} LOGIN")
        postgres.must(f"GRANT bench_cells TO bench_login_{i}")
    postgres.must("CREATE DATABASE bench_cells")
    postgres.must("ALTER DATABASE bench_cells SET session_preload_libraries = 'dp_rdr'")
    owner, asker, admin = (Connection(dbname="bench_cells") for _ in range(3))
    for statement in SETUP.split(";\n"):
        owner.must(statement)
    asker.must("SET ROLE bench_cells")
    compare_looks(asker, options)
    compare_charges(admin, asker, "cells as they were declared", options)
    compare_verification(owner, "a few ranges", "at most 1.5")
    compare_clients("cells as declared", options)
    compare_verification(owner, "thousands of ranges", "none")
    for i in range(50):  # every other cell of two hundred
        asker.must("SELECT count(*) FROM parts_dp WHERE n IN (" + ", ".join(str(200 * i + 2 * g) for g in range(100)) + ")")
    compare_charges(admin, asker, "each cell has had another charge than its neighbours", options)
    compare_clients("each another", options)
    say("a charge on 9,999 cells, ms", Turn(admin, asker, "parts", BUT_ONE, 20).charge, "none")
    refuse(owner, asker, admin, 40)


if __name__ == "__main__":
    main()
