#!/usr/bin/env python3
"""Lists of groups that conditions narrow (doc/formulas.md, 8.12): the keys of run.py under conditions of many forms over their columns.
Against the server that PG* points to, where this tree is installed.

    conditions.py [--sample KEYS [SEED]]

Two things must hold of each key and condition:

  * each group that a permitted row may be in, for which the condition is true, is shown; nothing excuses one that lacks;
  * each group that is shown is of a permitted row, for which the condition is true. Of columns that are not listed value by value
    (decimals, moments, days of many years) the interval counts that the condition leaves: a form says behind => which one.

Where none is left the answer is 22023. With --sample some keys are drawn, and some conditions of each.
"""
import random
import sys

import run

# Of a column three constants, in order, within its values. No halves: where one is rounded is known but for one whole number.
CONSTANTS = {
    "age": "20 30 65", "steps": "0 3 9", "cost": "12.5 40 77.25", "weight": "float8'0' float8'1.5' float8'8'", "hits": "-500 0 12345", "fee": "0 12.4 99.99", "rate": "1 20 33.3",
    "ward": "'Surgery' 'gp' 'icu'", "sex": "'f' 'm' 'm'", "mood": "'low' 'fair' 'high'", "sure": "false true true", "smoker": "false true true",
    "born": "date'2000-01-01' date'2000-07-15' date'2001-01-31'", "built": "date'1900-01-01' date'1960-02-29' date'1999-12-31'",
    "came": "timestamp'2025-01-31T00:00' timestamp'2025-02-03T12:30' timestamp'2025-03-01T00:00'",
    "left_at": "timestamptz'2025-03-29T23:00Z' timestamptz'2025-03-30T12:00Z' timestamptz'2025-04-02T22:00Z'",
    "seen": "timestamptz'2023-12-31T23:00Z' timestamptz'2024-06-01T12:00Z' timestamptz'2024-10-26T22:00Z'",
}
LISTED = "age steps ward sex mood sure smoker".split()
NUMBERS, DAYS, MOMENTS = "age steps cost weight hits fee rate".split(), "born built".split(), "came left_at seen".split()
BOOLEANS, TEXTS = "sure smoker".split(), "ward sex".split()
ORDERED = NUMBERS + DAYS + MOMENTS + TEXTS + ["mood"]

# Columns; condition, with the column as x and constants as a, b, c; the interval that it leaves where values are not listed.
ALL, ANY = "true", list(CONSTANTS)
FORMS = [(columns, *(part.strip() for part in (form + (" => " + form if "=>" not in form else "")).split("=>"))) for columns, forms in (
    (ORDERED, ("x < b => x <= b", "x <= b", "x > a => x >= a", "x >= c", "b > x => x <= b", "x >= a AND x < c => x BETWEEN a AND c",
               "x BETWEEN a AND b", "x BETWEEN SYMMETRIC c AND b => x BETWEEN b AND c", "NOT x > b => x <= b", "NOT (x <= a OR x > c) => x BETWEEN a AND c",
               "NOT x BETWEEN a AND b => true", "x < a OR x > c => true", "(x > a AND x <= b) OR x = c => x BETWEEN a AND c", "(x < b) IS TRUE => x <= b",
               "(x < b) IS NOT TRUE => true", "(x >= b) IS NOT FALSE => true", "(x < a) IS UNKNOWN => true", "x < ANY (ARRAY[a, c]) => true", "x >= ALL (ARRAY[a, b]) => true",
               "x > c AND x < a => true", "x IS NULL OR x < b => true", "CASE WHEN x < a THEN true WHEN x < b THEN NULL ELSE x > c END => true",
               "least(x, b) = b => true", "x > a AND x IS NOT NULL => x >= a")),
    (ANY, ("x = b", "x = a OR x = b => x BETWEEN a AND b", "x IN (a, c) => x BETWEEN a AND c", "x IN (b, NULL) => x = b", "x NOT IN (a, b) => true", "x <> b => true", "x IS NULL => true",
           "x IS NOT NULL => true", "x IS DISTINCT FROM a => true", "NOT x IS DISTINCT FROM a => true", "coalesce(x, a) = a => true", "nullif(x, b) IS NULL => true", "true",
           "x = ANY (ARRAY[c, a]) => x BETWEEN least(a, c) AND greatest(a, c)", "x = b AND x = c => true")),
    (NUMBERS, ("abs(x) < c => true", "x + 1 <= b => true", "x < b + 0.5 => x <= b + 0.5", "x::numeric <= c => true", "x::text LIKE '%5%' => true", "-x > -b => true", "x * x > 100 => true", "x > a + 0.001 => x >= a + 0.001")),
    ([name for name in NUMBERS if name != "weight"], ("x % 2 = 0 => true",)),
    (TEXTS, ("x LIKE 'i%'", "upper(x) <> 'GP'", "length(x) > 1", "x || 'x' <> 'gpx'", "left(x, 1) <> 'S'", "x::varchar = a")),
    (BOOLEANS, ("x", "NOT x", "x IS TRUE", "x IS NOT TRUE", "x IS UNKNOWN", "x::int = 1")),
    (DAYS, ("x < b + 10", "x >= a AND x < a + 31", "x < b::timestamp + interval '1 hour'", "x = b::timestamp", "x >= b::timestamp + interval '12 hours'", "x::timestamp >= b => true", "x < timestamptz '2000-07-01 12:00+00'",
            "extract(month FROM x) = 2 => true", "date_trunc('year', x) = timestamp '2000-01-01' => true", "x + 1 > b => true", "x - a < 50 => true", "to_char(x, 'MM') IN ('01', '12') => true")),
    (["came"], ("x::date = b::date", "x::date BETWEEN a::date AND b::date", "x::date > a::date", "x::date IN (a::date, c::date) => x::date BETWEEN a::date AND c::date")),
    (["left_at", "seen"], ("x::date = b::date => true", "x::date BETWEEN a::date AND b::date => true", "x::date <= a::date => true")), # the clock may turn back over midnight
    (MOMENTS, ("x < b::date => x <= b::date", "x >= a::date AND x < b::date + 1 => x >= a::date AND x <= b::date + 1", "x::date < b => true", "date_trunc('day', x) = date_trunc('day', b) => true", "extract(hour FROM x) < 12 => true", "x - a < interval '2 days' => true", "x > a + interval '1 day' => x >= a + interval '1 day'",
               "x <= timestamp '2025-02-14 10:00'", "x <= timestamptz '2025-04-01 10:00+00'", "x AT TIME ZONE 'UTC' < (b AT TIME ZONE 'UTC') => true")),
) for form in forms]


def fill(form, column):
    values = dict(zip("abc", CONSTANTS[column].split()), x=column)
    typed = "::mood" if column == "mood" else "::" + run.COLUMNS[column][0].replace(" NOT NULL", "") if column not in NUMBERS + DAYS + MOMENTS + BOOLEANS else ""
    text, quoted, at = "", False, 0
    while at < len(form):
        quoted ^= form[at] == "'"
        apart = not (at and (form[at - 1].isalnum() or form[at - 1] in "_'")) and not form[at + 1:at + 2].isalnum() and form[at + 1:at + 2] != "_"
        text += values[form[at]] + (typed if form[at] != "x" else "") if not quoted and apart and form[at] in values else form[at]
        at += 1
    return text


def named(text):
    words = "".join(c if c.isalnum() or c == "_" else " " for c in text).split()
    return [name for name in run.COLUMNS if name in words]


def conditions_of(keys):
    """Pairs of a condition and what it leaves of columns that are not listed."""
    return [(fill(form, column), fill(hull, column)) for column in named(keys) for columns, form, hull in FORMS if column in columns]


def groups(rows):
    """Of the two zeros of floating-point numbers, which are equal, either may be printed."""
    return {tuple("0" if value == "-0" else value for value in row[:-1]) for row in rows}


class Keys:
    """The values of keys for all permitted rows, once; and what is shown of them under a condition."""

    def __init__(self, owner, analyst, keys, view="t_dp", beside=""):
        self.owner, self.analyst, self.keys, self.view, self.beside = owner, analyst, keys, view, beside
        self.texts = keys[len("ROLLUP ("):-1] if keys.startswith("ROLLUP") else keys
        columns = ", ".join(f"{name}::{run.COLUMNS[name][0].replace(' NOT NULL', '')}" for name in named(keys + (" age sex" if beside else "")))
        owner.must(f"DROP TABLE IF EXISTS pg_temp.permitted; CREATE TEMP TABLE permitted AS SELECT {columns} FROM {run.grid(keys + (' age sex' if beside else ''))}")

    def possible(self, condition, beside=""):
        found = groups(self.owner.must(f"SELECT {self.texts}, count(*) FROM permitted t {beside} WHERE {condition} GROUP BY {self.keys}"))
        return set() if self.keys.startswith("ROLLUP") and all(value is None for row in found for value in row) else found # the total of nothing

    def check(self, condition, hull, on="true"):
        beside = self.beside.format(on)
        reply = self.analyst.send(f"SELECT {self.texts}, count(*) FROM {self.view} t {beside} WHERE {condition} GROUP BY {self.keys}")
        possible = self.possible(condition, beside)
        if reply.sqlstate() and (possible or reply.sqlstate() != "22023"):
            return [f"{reply.sqlstate()} {reply.results[-1].field('M')}, of {len(possible)} groups"]
        shown = set() if reply.sqlstate() else groups(reply.results[-1].rows)
        cannot, lacking = shown - possible, possible - shown
        if cannot and (self.beside or not set(named(self.keys)) <= set(LISTED)):
            cannot = shown - self.possible(hull)
        return [f"{len(some)} {what}: {run.some(sorted(some, key=str))}" for some, what in ((lacking, "lack"), (cannot, "cannot be")) if some]


# ON of an outer join narrows nothing; WHERE above it does, of the private table and of the public one.
JOINED = ("age / 10", "age", "steps", "sex", "ward, sure", "CASE WHEN age < 18 THEN 'child' ELSE 'adult' END", "extract(month FROM born)")
OUTER = "LEFT JOIN even ON even.years = t.age AND ({})"
ABOVE = (("true", "true"), ("even.years IS NOT NULL", "true"), ("even.years IS NULL AND age < 30", "age < 30"), ("coalesce(even.years, 0) < 20 AND sex = 'f'", "sex = 'f'"))


def prepare_joined(owner):
    """A table whose rows are of units, which may be joined, and a public one."""
    owner.must(f"CREATE TABLE even (years integer PRIMARY KEY); INSERT INTO even SELECT generate_series(0, 98, 2); GRANT SELECT ON even TO {run.ROLE}")
    owner.must("CREATE TABLE member (LIKE t, id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY); INSERT INTO member SELECT * FROM t")
    owner.must("SELECT dp_protect('member', 'member_dp', unit => 'id', max_rows => 1); SELECT dp_set_public('even', 'member')")
    for _, _, declared in run.COLUMNS.values():
        owner.must(f"SELECT {declared}".replace("'t'", "'member'") if declared else "SELECT")
    owner.must("SELECT dp_set_odometer('member', 'none')")
    owner.must(f"SELECT dp_grant('member_dp', '{run.ROLE}', tau => 0, candidates => '{{0.001}}', epsilon_max => 0.001)")


def main():
    sample, seed = 0, random.randrange(2 ** 32)
    if sys.argv[1:2] == ["--sample"]:
        sample, seed = int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else seed
    chance = random.Random(seed)
    owner, analyst = run.prepare()
    prepare_joined(owner)
    all_keys = list(dict.fromkeys(keys for _, keys, _ in run.KINDS))
    tap, pairs = run.Tap(), 0
    for keys in chance.sample(all_keys, sample) if sample else all_keys:
        conditions = conditions_of(keys)
        values, faults = Keys(owner, analyst, keys), []
        for condition, hull in chance.sample(conditions, min(len(conditions), 8)) if sample else conditions:
            pairs += 1
            faults += [f"WHERE {condition}: {fault}" for fault in values.check(condition, hull)]
        tap.report(f"GROUP BY {keys}: a condition leaves the groups for which it may hold", faults)
    for keys in chance.sample(JOINED, 2) if sample else JOINED:
        values, faults = Keys(owner, analyst, keys, "member_dp", OUTER), []
        conditions = [on for on, _ in conditions_of(keys + " age") if "seen" not in on]
        for on in chance.sample(conditions, 4) if sample else conditions:
            for above, hull in ABOVE:
                pairs += 1
                faults += [f"ON {on} WHERE {above}: {fault}" for fault in values.check(above, hull, on)]
        tap.report(f"GROUP BY {keys}: ON of an outer join leaves all groups", faults)
    print(f"# {pairs} pairs of keys and conditions, {len(FORMS)} forms, seed {seed}")
    print(f"1..{tap.count}")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
