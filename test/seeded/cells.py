#!/usr/bin/env python3
"""Tables with a partition, each without all rows of one cell in turn, asked with the same random bytes, on a server of its own.

    cells.py [--questions N] [--seed N]

What must hold of each question (doc/formulas.md 5.9), whichever cell is empty:

  * the charge, its row in the ledger and the sums of cells are the same, and so are refusals;
  * if the cell is in none of the ranges that the ledger's row names, every byte of the reply is the same.

Columns of rows that are not touched hold what would show: values of other sizes, NULL, texts of 300 kB. Every second database reads by parallel
plans, and the others by serial ones. No statistics: a difference is a fault, whatever the seed.
"""
import argparse
import json
import random
import re
import sys

from shared import Connection, Server, Sessions, Tap
from world import FORCED

POLICIES = {
    "cells_laplace": "tau => 0.5",
    "cells_found": "tau => 0.5, delta => 0.1",
    "cells_gaussian": "tau => 0.9, mechanism => 'gaussian', delta => 0.01",
    "cells_selected": "tau_var => 0.2, epsilon_svt => 20, epsilon_max => 100, candidates => '{100,2,1,0.05}'",
}
# By table: its column of cells, how it is declared, and for each cell the number in the ledger and the rows that are in it.
LIST = {0: "ward IS NULL OR ward NOT IN ('a', 'b', 'c', 'd')", **{at: f"ward = '{ward}'" for at, ward in enumerate("abcd", 1)}}
MONTHS = 5  # that have begun
YEARS = {-1: "years IS NULL OR years < 0 OR years >= 40", **{at: f"years >= {10 * at} AND years < {10 * at + 10}" for at in range(4)}}

TABLE = """
CREATE TABLE {0} (id integer, ward text, at {1}, years integer, v integer, x numeric, d text, note text) WITH (fillfactor = 10);
INSERT INTO {0} SELECT i, (ARRAY['a', 'b', 'c', 'd', 'e', NULL])[1 + (i * 7) % 6],
  (date_trunc('month', now() AT TIME ZONE 'UTC') - ((i * 11) % 7 - 1) * interval '1 month' + (i % 28) * interval '1 day' + interval '13 hours')
  {2}, (i * 13) % 55 - 5, i % 23 - 9, (i % 31) / 4.0, (ARRAY['p', 'q', 'r', 's', NULL])[1 + (i * 3) % 5], 'n'
FROM generate_series(1, 360) i;
INSERT INTO {0} SELECT -i, repeat('w', 300000), NULL, NULL, 99, 1e30, repeat('d', 3000), repeat('n', 300000) FROM generate_series(1, 3) i;
SELECT dp_protect('{0}', '{0}_dp'), dp_set_groups('{0}', 'ward', '{{a,b,c,d}}'), dp_set_groups('{0}', 'd', '{{p,q,r,s}}'),
  dp_set_bounds('{0}', 'v', -9, 13), dp_set_bounds('{0}', 'x', 0, 8), dp_set_bounds('{0}', 'years', 0, 60);
SELECT dp_set_odometer('{0}', {3}epsilon_total => 100000, delta_total => 0.9);
"""
CONDITIONS = {
    "wards": ("ward = 'a'", "ward IN ('a', 'c')", "ward <> 'b'", "NOT (ward = 'a' OR v > 3)", "ward IS NULL", "(ward = 'a' AND v > 0) OR (ward = 'd' AND years < 20)",
              "upper(ward) = 'B'", "(ward = 'c') IS NOT TRUE", "ward NOT IN ('a', 'b')", "ward = 'a' AND ward = note", "ward > 'b'"),
    "months": ("at >= {0}", "at >= {0} - interval '2 months' AND at < {0} - interval '1 month'", "at < {0} - interval '3 months'", "NOT (at >= {0} OR v > 3)",
               "at < {0} - interval '3 months' OR at >= {0}", "at = {0}", "at IS NULL", "at BETWEEN {0} - interval '40 days' AND {0}"),
    "years": ("years < 10", "years BETWEEN 10 AND 25", "years IN (3, 33)", "NOT (years >= 20)", "years >= 20 AND years < 30", "years < 0", "years > 35 OR ward = 'a' AND years = 3"),
}
# Of units: by table what is read instead of it, where the column is `month` of visits, or `ward` of people.
UNITS = """
CREATE TABLE visits (id integer PRIMARY KEY, pid integer, month date, v integer, x numeric, d text, note text);
INSERT INTO visits SELECT i, i % 17, (date_trunc('month', now() AT TIME ZONE 'UTC') - ((i * 7) % 11 % 7 - 1) * interval '1 month')::date + i % 2, i % 23 - 9, (i % 31) / 4.0,
  (ARRAY['p', 'q', 'r', 's', NULL])[1 + (i * 3) % 5], 'n' FROM generate_series(1, 400) i;
CREATE TABLE samples (visit integer REFERENCES visits ON DELETE CASCADE, v integer, x numeric, d text, note text);
INSERT INTO samples SELECT 1 + (i * 13) % 400, i % 23 - 9, (i % 31) / 4.0, (ARRAY['p', 'q', 'r', 's', NULL])[1 + i % 5], 'n' FROM generate_series(1, 600) i;
CREATE TABLE people (pid integer PRIMARY KEY, ward text, v integer, x numeric, d text, note text);
INSERT INTO people SELECT i, (ARRAY['a', 'b', 'c', 'd', 'e', NULL])[1 + (i * 7) % 6], i % 23 - 9, (i % 31) / 4.0, (ARRAY['p', 'q', 'r', 's', NULL])[1 + (i * 3) % 5], 'n' FROM generate_series(1, 120) i;
CREATE TABLE stays (person integer REFERENCES people ON DELETE CASCADE, v integer, x numeric, d text, note text);
INSERT INTO stays SELECT 1 + (i * 13) % 120, i % 23 - 9, (i % 31) / 4.0, (ARRAY['p', 'q', 'r', 's', NULL])[1 + i % 5], 'n' FROM generate_series(1, 600) i;
CREATE TABLE notes (pid integer, month date, v integer, x numeric, d text, note text) WITH (fillfactor = 10);
INSERT INTO notes SELECT pid, month, v + 1, x, d, note FROM visits WHERE id % 3 > 0;
CREATE TABLE bills (pid integer, v integer, x numeric, d text, note text) WITH (fillfactor = 10);
INSERT INTO bills SELECT 1 + (i * 7) % 120, i % 19 - 6, (i % 31) / 4.0, (ARRAY['p', 'q', 'r', 's', NULL])[1 + i % 5], 'n' FROM generate_series(1, 400) i;
SELECT dp_protect('visits', 'visits_dp', unit => 'pid, month', max_rows => 3);
SELECT dp_protect('samples', 'samples_dp', unit => 'visit -> visits (id)', max_rows => 4);
SELECT dp_protect('people', 'people_dp', unit => 'pid');
SELECT dp_protect('stays', 'stays_dp', unit => 'person -> people (pid)', max_rows => 4);
SELECT dp_protect('notes', 'notes_dp', unit => 'pid, month', max_rows => 2), dp_protect('bills', 'bills_dp', unit => 'pid', max_rows => 3);

SELECT dp_join_domains('notes', 'visits');

SELECT dp_join_domains('bills', 'people');

SELECT dp_set_groups('people', 'ward', '{a,b,c,d}'), dp_set_groups(t, 'd', '{p,q,r,s}'), dp_set_bounds(t, 'v', -9, 13), dp_set_bounds(t, 'x', 0, 8)
  FROM unnest('{visits,samples,people,stays,notes,bills}'::regclass[]) t;
SELECT dp_set_odometer('people', epsilon_total => 100000, delta_total => 0.9), dp_set_odometer('visits', epsilon_total => 100000, delta_total => 0.9);
"""
SOURCES = {  # FROM, and where v, x and d are
    "visits": (("visits_dp t", "month"), ("samples_dp t JOIN visits_dp o ON o.id = t.visit", "o.month"), ("visits_dp t JOIN visits_dp o ON o.pid = t.pid AND o.month = t.month", "o.month"),
               ("visits_dp t LEFT JOIN samples_dp o ON o.visit = t.id", "month"), ("samples_dp t", None),
               ("visits_dp t LEFT JOIN visits_dp o ON o.pid = t.pid AND o.month = t.month AND o.v > 3", "o.month"),
               ("notes_dp t", "month"), ("notes_dp t JOIN visits_dp o ON o.pid = t.pid AND o.month = t.month", "t.month")),
    "people": (("people_dp t", "ward"), ("stays_dp t JOIN people_dp o ON o.pid = t.person", "ward"), ("people_dp t LEFT JOIN stays_dp o ON o.person = t.pid", "ward"),
               ("stays_dp t LEFT JOIN people_dp o ON o.pid = t.person", "ward"), ("stays_dp t", None), ("people_dp t JOIN people_dp o ON o.pid = t.pid", "o.ward"),
               ("bills_dp t JOIN people_dp o ON o.pid = t.pid", "o.ward"), ("bills_dp t", None)),
}
# Whether a unit has some row elsewhere: of the joined domain, and of its own.
EXISTING = {"visits": ("EXISTS (SELECT FROM notes_dp s WHERE s.pid = t.pid AND s.month = t.month AND s.v > {})",),
            "people": ("EXISTS (SELECT FROM bills_dp s WHERE s.pid = t.pid AND s.v > {})", "t.pid IN (SELECT person FROM stays_dp WHERE v > {})")}
# What may stand below a condition on pid, month (or ward), v, x, d and note: operands that show the cell, and one that does not.
OPERANDS = {"visits": ("SELECT pid, month, v, x, d, note FROM visits_dp", "SELECT pid, month, v, x, d, note FROM notes_dp",
                       "SELECT o.pid, o.month, t.v, t.x, t.d, t.note FROM samples_dp t JOIN visits_dp o ON o.id = t.visit"),
            "people": ("SELECT pid, ward, v, x, d, note FROM people_dp", "SELECT o.pid, o.ward, t.v, t.x, t.d, t.note FROM stays_dp t JOIN people_dp o ON o.pid = t.person",
                       "SELECT o.pid, o.ward, t.v, t.x, t.d, t.note FROM bills_dp t JOIN people_dp o ON o.pid = t.pid",
                       "SELECT pid, NULL::text AS ward, v, x, d, note FROM bills_dp")}
COMMON = ("true", "v > 0", "note IS NOT NULL", "x BETWEEN 1 AND 5")
OUTPUTS = ("count(*)", "sum(v), count(*)", "avg(x)", "count(DISTINCT d)", "percentile_disc(0.5) WITHIN GROUP (ORDER BY v)", "stddev(x)", "count(*) FILTER (WHERE v > 3), count(*)", "corr(v, x)")


def cells_of(table):
    if table in ("wards", "people"):
        return LIST
    if table == "years":
        return YEARS
    month = "date_trunc('month', now() AT TIME ZONE 'UTC') - {} * interval '1 month'"
    at = "month" if table == "visits" else "(at AT TIME ZONE 'UTC')"
    return {"before": f"{at} IS NULL OR {at} < {month.format(MONTHS - 1)}", "to come": f"{at} >= {month.format(-1)}",
            **{back: f"{at} >= {month.format(back)} AND {at} < {month.format(back - 1)}" for back in range(MONTHS)}}


def create():
    for table, type_, zone, bound in (("wards", "date", "::date", ""), ("months", "timestamptz", "AT TIME ZONE 'UTC'", ""), ("years", "timestamp", "", "'zcdp', ")):
        yield TABLE.format(table, type_, zone, bound)
        for policy, terms in POLICIES.items():
            yield f"SELECT dp_grant('{table}_dp', '{policy}', {terms})"
    yield "SELECT dp_set_partition('wards', 'ward'), dp_set_partition('years', 'years', by => '10', since => '0', until => '39')"
    yield from UNITS.split("\n\n")  # a transaction each
    for table in ("visits", "samples", "people", "stays", "notes", "bills"):
        for policy, terms in POLICIES.items():
            if policy != "cells_selected":
                yield f"SELECT dp_grant('{table}_dp', '{policy}', {terms})"
    yield "SELECT dp_set_partition('people', 'ward')"
    for table, column in (("months", "at"), ("visits", "month")):
        yield f"""SELECT dp_set_partition('{table}', '{column}', by => 'month',
            since => (date_trunc('month', now() AT TIME ZONE 'UTC') - {MONTHS - 1} * interval '1 month')::date::text)"""


class Database(Sessions):
    def __init__(self, name):
        super().__init__(name, POLICIES)

    def ask(self, policy, sql):
        """The reply, and what was charged."""
        last = self.owner.must("SELECT coalesce(max(id), 0) FROM dp_rdr.ledger")[0][0]
        reply = self.sessions[policy].send(sql)
        rows = self.owner.must(f"SELECT kind, epsilon, delta, parameters FROM dp_rdr.ledger WHERE id > {last} ORDER BY id")
        cells = self.owner.must("SELECT c.* FROM unnest('{wards,months,years,visits,people}'::text[]) t, dp_cells(t::regclass) c")
        return repr(reply), rows, cells


def is_touched(table, cell, rows):
    """By any of the charges."""
    for row in rows:
        cells = json.loads(row[3]).get("cells")
        if cells is None:  # all, and to come
            return True
        begun = cells["begun"]
        number = {"before": begun - MONTHS, "to come": begun + 1}.get(cell, begun - cell if isinstance(cell, int) else cell) if table in ("months", "visits") else cell
        if any(first <= number <= last for first, last in cells.get("ranges", [[-10 ** 9, begun]])):
            return True
    return False


def ask_of_units(rng, table):
    """A question on units, which are joined, kept by an outer join, tested, or have one row each below."""
    source, column = rng.choice(SOURCES[table])
    month = "date_trunc('month', now() AT TIME ZONE 'UTC')::date"
    condition = rng.choice(CONDITIONS["wards" if table == "people" else "months"]).format(month) if column else rng.choice(("t.v > 0", "t.d = 'p'"))
    for name, of in (("years", "t.x"), ("ward", column), ("at", column), ("v", "t.v"), ("note", "t.note")):
        condition = re.sub(rf"(?<![.\w]){name}\b", of or "", condition)
    output = rng.choice(("count(*)", "sum(t.v), count(*)", "avg(t.x)", "count(DISTINCT t.d)", "percentile_disc(0.5) WITHIN GROUP (ORDER BY t.v)"))
    if column and rng.random() < 0.2:
        output, condition = f"count(*) FILTER (WHERE {condition}), sum(t.v) FILTER (WHERE {condition} AND t.v > 2)", "t.v < 9"
    policy = rng.choice(("cells_laplace", "cells_found", "cells_gaussian"))
    if "JOIN" not in source and rng.random() < 0.25 and column:
        unit = "pid, month" if table == "visits" else "pid"
        return table, policy, f"SELECT count(*), sum(n) FROM (SELECT {unit}, count(*) n FROM {source} WHERE {condition} GROUP BY {unit}) u WHERE n > 1"
    if source in ("visits_dp t", "people_dp t") and rng.random() < 0.4:
        condition = f"({condition}) AND {rng.choice(('', 'NOT '))}{rng.choice(EXISTING[table]).format(rng.randint(-5, 9))}"
    key = rng.choice(("", "", "t.d", "t.note"))
    return table, policy, f"SELECT {key + ', ' if key else ''}{output} FROM {source} WHERE {condition}" + (f" GROUP BY {key} ORDER BY 1" if key else "")


def ask_of_unions(rng, table):
    """A question on rows of several SELECTs; each has a condition of its own, and there is one above them."""
    month = "date_trunc('month', now() AT TIME ZONE 'UTC')::date"
    name = "ward" if table == "people" else "month"
    def condition():
        chosen = rng.choice(CONDITIONS["wards" if table == "people" else "months"]).format(month)
        return re.sub(r"(?<![.\w])years\b", "x", re.sub(r"(?<![.\w])at\b", name, chosen)) if rng.random() < 0.7 else rng.choice(COMMON)
    parts = [f"SELECT * FROM ({rng.choice(OPERANDS[table])}) p WHERE {condition()}" for _ in range(rng.randint(2, 3))]
    operation = rng.choice(("UNION ALL", "UNION ALL", "UNION", "INTERSECT", "EXCEPT"))
    union = f" {operation} ".join(parts if operation.startswith("UNION") else parts[:2])
    policy = rng.choice(("cells_laplace", "cells_found", "cells_gaussian"))
    if rng.random() < 0.3:
        return table, policy, f"SELECT count(*), sum(n) FROM (SELECT pid, {name}, count(*) n FROM ({union}) s GROUP BY pid, {name}) t WHERE ({condition_of_key(condition(), name)}) AND n > 1"
    key, output = rng.choice(("", "", "d", "note")), rng.choice(("count(*)", "sum(v), count(*)", "avg(x)"))
    return table, policy, f"SELECT {key + ', ' if key else ''}{output} FROM ({union}) t WHERE {condition()}" + (f" GROUP BY {key} ORDER BY 1" if key else "")


def condition_of_key(condition, name):
    """One that mentions no column but that of the cell."""
    return "true" if re.search(r"\b(v|x|d|note)\b", condition) else condition


def make_question(rng):
    table = rng.choice((*CONDITIONS, *SOURCES))
    if table in SOURCES:
        return (ask_of_unions if rng.random() < 0.4 else ask_of_units)(rng, table)
    month = "(date_trunc('month', now() AT TIME ZONE 'UTC')" + (" AT TIME ZONE 'UTC')" if table == "months" else ")")
    conditions = [rng.choice(CONDITIONS[table]).format(month) if rng.random() < 0.8 else rng.choice(COMMON)]
    if rng.random() < 0.4:
        conditions.append(rng.choice(COMMON))
    policy, output = rng.choice(tuple(POLICIES)), rng.choice(OUTPUTS)
    key = rng.choice(("", "", "ward", "d", "note", "years / 10"))
    if policy == "cells_selected":
        output = rng.choice(OUTPUTS[:2])
    where = " AND ".join(f"({condition})" for condition in conditions)
    if policy == "cells_laplace" and rng.random() < 0.3:
        return table, policy, f"SELECT * FROM dp_query($q$SELECT count(*) FROM {table}_dp WHERE {where}$q$, within => 0.2) o (n bigint)"
    if rng.random() < 0.1 and policy != "cells_selected":
        return table, policy, f"SELECT ward, d, {output} FROM {table}_dp WHERE {where} GROUP BY GROUPING SETS ((ward), (d), ()) ORDER BY 1, 2, 3"
    sql = f"SELECT {key + ', ' if key else ''}{output} FROM {table}_dp WHERE {where}" + (f" GROUP BY {key} ORDER BY 1" if key else "")
    return table, policy, sql


def make_databases():
    """By table and cell that is empty; the first one is whole, as is that of losses."""
    postgres = Connection(dbname="postgres")
    for policy in POLICIES:
        postgres.must(f"CREATE ROLE {policy}")
    names = {None: "cells_whole"}
    postgres.must("CREATE DATABASE cells_whole TEMPLATE template0 STRATEGY file_copy")
    fill("cells_whole", ["CREATE EXTENSION dp_rdr", *create()])
    names["losses"] = "cells_losses"
    postgres.must("CREATE DATABASE cells_losses TEMPLATE cells_whole STRATEGY file_copy")
    for table in (*CONDITIONS, *SOURCES):
        for at, (cell, condition) in enumerate(cells_of(table).items()):
            names[table, cell] = f"cells_{table}_{at}"
            postgres.must(f"CREATE DATABASE cells_{table}_{at} TEMPLATE cells_whole STRATEGY file_copy")
            also = {"visits": [f"DELETE FROM notes WHERE {condition}"], "people": [f"DELETE FROM bills WHERE pid IN (SELECT pid FROM people WHERE {condition})"]}
            fill(f"cells_{table}_{at}", [*also.get(table, ()), f"DELETE FROM {table} WHERE {condition}"])
    for at, name in enumerate(names.values()):
        for setting in ("session_preload_libraries = 'dp_rdr'", *(FORCED if at % 2 else ())):
            postgres.must(f"ALTER DATABASE {name} SET {setting}")
    postgres.close()
    return {what: Database(name) for what, name in names.items()}


def fill(name, statements):
    connection = Connection(dbname=name)
    connection.must("SET client_min_messages = error")
    for statement in statements:
        connection.must(statement)
    connection.close()


def without_raise(rows):
    """How much a charge raised the largest sums follows from what was charged before."""
    return [(*row[:3], {key: value for key, value in json.loads(row[3]).items() if key != "raised"}) for row in rows]


def check_question(server, databases, apart, table, policy, sql, seed):
    """Which charges there were, how many cells were not touched, and what is wrong. apart: databases in which a selection, or the steps to an
    accuracy, which may differ where the cell is touched, have charged another epsilon; from then on their sums differ."""
    answers = {}
    for what, database in databases.items():
        if what == "losses":
            continue
        server.renew(seed)
        answers[what] = database.ask(policy, sql)
    reply, rows, cells = answers.pop(None)
    complaints, untouched = [], 0
    for what, (other, charged, sums) in answers.items():
        touched = what[0] == table and is_touched(*what, rows)
        if touched and charged != rows and (policy == "cells_selected" or "within" in sql):
            apart.add(what)
        elif without_raise(charged) != without_raise(rows) or (what not in apart and (charged != rows or sums != cells)):
            complaints.append(f"without {what} it is charged {charged} {sums}, with it {rows} {cells}")
        elif not touched:
            untouched += what[0] == table
            if other != reply:
                complaints.append(f"without {what}, which is not touched: {other[:600]}, with it {reply[:600]}")
    return rows, untouched, complaints


# ---- what each person bears -----------------------------------------------------------------------------------------


def losses(owner, table):
    """By row what it bears of all charges, and what all others bear."""
    found, others = {}, 0.0
    for row, epsilon in owner.must(f"SELECT record ->> 'id', epsilon FROM dp_loss_records('{table}', 1000)"):
        if row is None:
            others = float(epsilon)
        else:
            found[int(row)] = float(epsilon)
    return found, others


def account_of(owner, table, ids, condition, rows):
    """By row what it bears of the charges of one count: of a selection if its cell was touched, of the count if it was counted as well."""
    counted = {int(row[0]) for row in owner.must(f"SELECT id FROM {table} WHERE {condition}")}
    bears = dict.fromkeys(ids, 0.0)
    for kind, epsilon, delta, parameters in rows:
        for cell, where in cells_of(table).items():
            if is_touched(table, cell, [(kind, epsilon, delta, parameters)]):
                for (number,) in owner.must(f"SELECT id FROM {table} WHERE id > 0 AND ({where})"):
                    if kind == "selection" or int(number) in counted:
                        bears[int(number)] += float(epsilon)
    return bears


def check_losses(rng, database, table):
    """Compares what a round of counts tells of each row with an account of its own (doc/formulas.md 5.8)."""
    owner = database.owner
    ids = [int(row[0]) for row in owner.must(f"SELECT id FROM {table} WHERE id > 0")]  # others have texts that no condition reads
    expected, complaints = dict.fromkeys(ids, 0.0), []
    month = "(date_trunc('month', now() AT TIME ZONE 'UTC')" + (" AT TIME ZONE 'UTC')" if table == "months" else ")")
    for condition in rng.sample(CONDITIONS[table] + COMMON, 7):
        condition = f"({condition.format(month)}) AND ({rng.choice(COMMON)})"
        rows = database.ask(rng.choice(("cells_laplace", "cells_selected")), f"SELECT count(*) FROM {table}_dp WHERE {condition}")[1]
        for number, bears in account_of(owner, table, ids, condition, rows).items():
            expected[number] += bears
    found, others = losses(owner, table)
    complaints += [f"row {number} bears {found.get(number, others)}, {bears} by the account"
                   for number, bears in expected.items() if abs(found.get(number, others) - bears) > 1e-6]
    if len(set(expected.values())) < 2:
        complaints.append("everybody bears the same")
    return complaints


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--questions", type=int, default=50)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10 ** 9))
    arguments = parser.parse_args()
    print(f"# seed {arguments.seed}")
    rng, tap, answered, of_units, untouched, apart = random.Random(arguments.seed), Tap(), 0, 0, 0, set()
    server = Server()
    try:
        databases = make_databases()
        for _ in range(arguments.questions):
            table, policy, sql = make_question(rng)
            rows, others, complaints = check_question(server, databases, apart, table, policy, sql, rng.getrandbits(64))
            answered += bool(rows)
            of_units += bool(rows) and table in SOURCES
            untouched += others
            tap.report(f"{policy}: {sql}", complaints[:3])
        for table in CONDITIONS:
            tap.report(f"what rows of {table} bear", check_losses(rng, databases["losses"], table)[:3])
        for database in databases.values():
            database.close()
    finally:
        server.stop()
    few = answered < arguments.questions / 2 or untouched < arguments.questions
    few = few or of_units < arguments.questions / 8
    tap.report(f"{answered} questions were charged, {of_units} of them of units, and {untouched} cells were not touched", ["too few"] if few else [])
    print(f"1..{tap.count}")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
