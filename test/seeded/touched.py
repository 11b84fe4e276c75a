#!/usr/bin/env python3
"""Random conditions on tables with a partition, whose cells are compared with those of the values that meet them, on a server of its own.

    touched.py [--questions N] [--seed N]

The ledger says which cells a question was charged to. All of them that have a value of which the condition is true must be among them
(doc/formulas.md 5.9), else a count leaves rows out. How often there are no others is printed, and must be at least 7 times in 10.
"""
import argparse
import json
import pathlib
import random
import sys

HERE = pathlib.Path(__file__).resolve().parent
for folder in ("attacks", "blackbox"):
    sys.path.insert(0, str(HERE.parent / folder))

from libpq import Connection  # noqa: E402
from server import Server  # noqa: E402
from tap import Tap  # noqa: E402

ZONES = ("UTC", "Etc/UTC", "America/New_York", "Asia/Kolkata", "Pacific/Apia", "America/Sao_Paulo", "Australia/Lord_Howe")
SINCE = "(date_trunc('month', now() AT TIME ZONE 'UTC') - interval '14 months')::date"
DAYS = f"generate_series({SINCE} - 70, (now() AT TIME ZONE 'UTC')::date + 40, interval '1 day')"
TIMES = "unnest('{0,1 microsecond,30 minutes,2 hours 30 minutes,12 hours,23:59:59.999999}'::interval[])"
# By table: the column's type, its cells, and all values that are tried; NULL and infinities are added.
TABLES = {
    "touched_date": ("date", "month", f"SELECT d::date FROM {DAYS} d"),
    "touched_local": ("timestamp", "week", f"SELECT d + t FROM {DAYS} d, {TIMES} t"),
    "touched_moment": ("timestamptz", "month", f"SELECT (d + t) AT TIME ZONE 'UTC' FROM {DAYS} d, {TIMES} t"),
    "touched_number": ("integer", "10", "SELECT generate_series(-45, 145)"),
    "touched_text": ("text", None, "SELECT unnest('{a,b,c,A,aa,\"a \",d,e,zz,\"\"}'::text[])"),
}


def create():
    for name, (type_, by, values) in TABLES.items():
        ends = "" if type_ in ("integer", "text") else f" UNION ALL SELECT 'infinity'::{type_} UNION ALL SELECT '-infinity'::{type_}"
        yield f"""CREATE TABLE {name} (k {type_}, v integer, note text);
            INSERT INTO {name} SELECT x, v, n FROM ({values} UNION ALL SELECT NULL{ends}) s (x), (VALUES (0, 'a'), (5, NULL)) o (v, n);
            ANALYZE {name};
            SELECT dp_protect('{name}', '{name}_dp'); SELECT dp_grant('{name}_dp', 'touched_asker', tau => 0.99), dp_set_odometer('{name}', epsilon_total => 1000000)"""
    yield "SELECT dp_set_groups('touched_text', 'k', '{a,b,c,A}'), dp_set_partition('touched_text', 'k')"
    yield "SELECT dp_set_partition('touched_number', 'k', by => '10', since => '0', until => '99')"
    for name in ("touched_date", "touched_local", "touched_moment"):
        yield f"SELECT dp_set_partition('{name}', 'k', by => '{TABLES[name][1]}', since => {SINCE}::text)"
    for name, (type_, by, values) in TABLES.items():
        at = "k AT TIME ZONE 'UTC'" if type_ == "timestamptz" else "k::timestamp"
        cell = {"week": f"p.first + floor(extract(epoch FROM {at} - date_trunc('week', {SINCE}::timestamp)) / 604800)",
                "month": f"extract(year FROM {at}) * 12 + extract(month FROM {at}) - 1", "10": "floor(k / 10.0)", None: "array_position(p.cells, k)"}[by]
        finite = "isfinite(k)" if type_ not in ("integer", "text") else "true"
        last = "p.last" if type_ in ("integer", "text") else "1e9"
        yield f"""CREATE TABLE {name}_cells AS SELECT t.*, CASE WHEN k IS NULL OR NOT {finite} AND k::text = '-infinity' THEN p.first - 1
            WHEN NOT {finite} THEN 1e9 ELSE coalesce(CASE WHEN {cell} BETWEEN p.first AND {last} THEN {cell} END, p.first - 1) END AS cell
            FROM {name} t, dp_rdr.partition p WHERE p.relation::oid = '{name}'::regclass"""
    for name in TABLES:
        yield f"ANALYZE {name}_cells"


def constant(rng, type_):
    if type_ == "integer":
        return str(rng.choice((rng.randrange(-60, 160), rng.randrange(-5, 16) * 10, rng.randrange(-5, 16) * 10 - 1)))
    if type_ == "text":
        return "'" + rng.choice(("a", "b", "c", "A", "a ", "x", "", "zz", "aa")) + "'"
    day = f"{SINCE} + {rng.choice((rng.randrange(-100, 480), rng.randrange(-3, 16) * 31))}"
    day = rng.choice((f"({day})", f"date_trunc('month', ({day})::timestamp)::date", f"date_trunc('week', ({day})::timestamp)::date"))
    if type_ == "date":
        return day
    hour = rng.choice(("0", "1 microsecond", "-1 microsecond", "5 hours", "36 hours", "-13 hours"))
    if type_ == "timestamp":
        return f"({day} + interval '{hour}')"
    return f"(({day} + interval '{hour}') AT TIME ZONE '{rng.choice(ZONES[:3])}')"


def expression(rng, type_):
    """An expression over k, and the type that it is compared as."""
    if type_ == "integer":
        return rng.choice((("k", "integer"), ("k", "integer"), ("k + 7", "integer"), ("k - 20", "integer"), ("k / 10", "integer"), ("3 * k", "integer"),
                           ("-k", "integer"), ("k % 10", "integer"), ("abs(k)", "integer")))
    if type_ == "text":
        return rng.choice((("k", "text"), ("k", "text"), ("k", "text"), ("upper(k)", "text"), ("k::varchar", "text"), ("k::bpchar", "text"), ("k || 'a'", "text"),
                           ("substr(k, 1, 1)", "text")))
    trunc = f"date_trunc('{rng.choice(('day', 'week', 'month', 'quarter', 'year'))}', k)"
    forms = [("k", type_)] * 5 + [(trunc, "timestamp" if type_ == "timestamp" else "timestamptz"), (trunc + "::date", "date"),
                                  ("extract(year FROM k)", "year"), ("extract(month FROM k)", "month"), ("date_part('year', k)", "year"),
                                  ("k + interval '3 days'", type_ if type_ != "date" else "timestamp"), ("k - interval '30 hours'", type_ if type_ != "date" else "timestamp"),
                                  ("k + interval '1 month'", type_ if type_ != "date" else "timestamp"), ("(k + interval '1 day')::date", "date")]
    if type_ == "date":
        forms += [("k + 40", "date"), ("k - 3", "date"), ("k::timestamp", "timestamp"), ("k", "timestamp"), ("k", "timestamptz"), ("3 + k", "date")]
    else:
        forms += [("k::date", "date"), ("k", "date"), ("k AT TIME ZONE 'UTC'", "timestamp" if type_ == "timestamptz" else "timestamptz"),
                  ("k AT TIME ZONE 'America/New_York'", "timestamp" if type_ == "timestamptz" else "timestamptz"),
                  (f"date_bin('7 days', k, {type_} '2001-01-01')", type_), ("k", "timestamptz" if type_ == "timestamp" else "timestamp")]
    return rng.choice(forms)


def value(rng, type_):
    if type_ == "year":
        return f"(extract(year FROM {SINCE})::integer + {rng.randrange(-1, 3)})"
    if type_ == "month":
        return str(rng.randrange(0, 14))
    return constant(rng, type_)


def atom(rng, type_):
    kind = rng.random()
    if kind < 0.12:
        return rng.choice(("v > 3", "note IS NULL", "note = 'a'", "v = 0"))
    what, compared = expression(rng, type_)
    if kind < 0.2:
        return f"{what} IS {rng.choice(('', 'NOT '))}NULL"
    if kind < 0.35:
        return f"{what} {rng.choice(('IN', 'NOT IN'))} ({', '.join(value(rng, compared) for _ in range(rng.randrange(1, 4)))})"
    if kind < 0.5:
        return f"{what} BETWEEN {value(rng, compared)} AND {value(rng, compared)}"
    if kind < 0.55:
        return f"CASE WHEN {what} > {value(rng, compared)} THEN v > 3 ELSE false END"
    left, right = what, value(rng, compared)
    if rng.random() < 0.15:
        left, right = right, left
    return f"{left} {rng.choice(('=', '<>', '<', '<=', '>', '>='))} {right}"


def condition(rng, type_, depth):
    kind = rng.random()
    if depth == 0 or kind < 0.3:
        return atom(rng, type_)
    if kind < 0.45:
        return f"NOT ({condition(rng, type_, depth - 1)})"
    if kind < 0.52:
        return f"({condition(rng, type_, depth - 1)}) IS {rng.choice(('TRUE', 'NOT TRUE', 'FALSE', 'NOT FALSE'))}"
    return f"({condition(rng, type_, depth - 1)}) {rng.choice(('AND', 'OR'))} ({condition(rng, type_, depth - 1)})"


class Asked:
    def __init__(self):
        self.owner = Connection(dbname="postgres")
        self.asker = Connection(dbname="postgres")
        self.asker.must("SET ROLE touched_asker")

    def cells(self, table, where):
        """The cells that the question was charged to, None if it was not answered; and those that have a value which meets it."""
        begun = int(self.owner.must(f"SELECT dp_rdr_begun FROM touched_begun WHERE name = '{table}'")[0][0])
        reply = self.asker.send(f"SELECT count(*) FROM {table}_dp WHERE {where}")
        true = {int(float(row[0])) for row in self.owner.must(f"SELECT DISTINCT cell FROM {table}_cells WHERE {where}") if float(row[0]) <= begun}
        if "exclude every cell" in repr(reply):
            return set(), true, begun
        parameters = self.owner.must("SELECT id, parameters FROM dp_rdr.ledger_row ORDER BY id DESC LIMIT 1")[0]
        if parameters[0] == self.last:
            return None, repr(reply), begun
        self.last = parameters[0]
        cells = json.loads(parameters[1])["cells"]
        others = int(self.owner.must(f"SELECT first - 1 FROM dp_rdr.partition WHERE relation::oid = '{table}'::regclass")[0][0])
        found = set()
        for first, last in cells.get("ranges", [[others, cells["begun"]]]):
            found |= set(range(first, last + 1))
        return found, true, begun

    last = None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10 ** 9))
    arguments = parser.parse_args()
    print(f"# seed {arguments.seed}")
    rng, tap, exact, answered, refused, by_table = random.Random(arguments.seed), Tap(), 0, 0, {}, {}
    server = Server()
    try:
        first = Connection(dbname="postgres")
        first.must("CREATE ROLE touched_asker")
        first.must("CREATE EXTENSION dp_rdr")
        first.must("ALTER DATABASE postgres SET session_preload_libraries = 'dp_rdr'")
        first.close()
        asked = Asked()
        asked.owner.must("SET client_min_messages = error")
        for statement in create():
            asked.owner.must(statement)
        asked.owner.must("CREATE TABLE touched_begun (name text, dp_rdr_begun bigint)")
        for table in TABLES:
            asked.asker.must(f"SELECT count(*) FROM {table}_dp")
            cells = json.loads(asked.owner.must("SELECT parameters FROM dp_rdr.ledger_row ORDER BY id DESC LIMIT 1")[0][0])["cells"]
            asked.owner.must(f"INSERT INTO touched_begun VALUES ('{table}', {cells['begun']})")
        asked.last = asked.owner.must("SELECT max(id) FROM dp_rdr.ledger_row")[0][0]
        for _ in range(arguments.questions):
            table, zone = rng.choice(tuple(TABLES)), rng.choice(ZONES)
            for connection in (asked.owner, asked.asker):
                connection.must(f"SET timezone = '{zone}'")
            where = condition(rng, TABLES[table][0], rng.randrange(0, 4))
            found, true, begun = asked.cells(table, where)
            if found is None:
                refused[true[:160]] = refused.get(true[:160], 0) + 1
                continue
            answered += 1
            exact += found == true
            counts = by_table.setdefault(table, [0, 0])
            counts[0] += found == true
            counts[1] += 1
            if not true <= found:
                print(f"# {table}, {zone}: {where}", flush=True)
                tap.report(f"{table}, {zone}: {where}", [f"cells {sorted(true - found)} have rows that it counts, and were not touched"])
    finally:
        server.stop()
    print(f"# {answered} conditions, exact in {exact} {by_table}; not answered: {refused}")
    tap.report("no cell with a row that meets a condition is left out", [f"of {answered} only {exact} are exact"] if exact < 0.6 * answered or answered < 0.7 * arguments.questions else [])
    print(f"1..{tap.count}")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
