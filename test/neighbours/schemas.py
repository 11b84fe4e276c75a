"""Made-up schemas in which a person has many rows, made-up rows, and made-up questions about them."""
from typing import NamedTuple

from account import Limits, Measure, meet, spans_of
from joins import TABLES, People, Source, Union, Windows, conditions_above, joined_rows, link, make_tree, most_rows, name, of_one_row

# Types of the unit's columns, and how its values are written. Numeric ones in two spellings of the same number.
UNIT_TYPES = {
    "integer": ("{}",), "bigint": ("{}",), "smallint": ("{}",), "numeric": ("{}", "{}.0", "{}.00"), "text": ("'person {}'",),
    "date": ("date '2001-01-0{}'",), "uuid": ("'00000000-0000-0000-0000-00000000000{}'",),
}
GROUPS = ("a", "b", "c")  # declared; rows have others as well
STRAYS = ("z", "long", None)
DISCOVERED = ("p", "q", "r", "s", None)
BOUNDS = (-6, 10)


def rows_in_group(policy, rows, per_group):
    """C of Gaussian noise, which is R where nobody declares it; 0: not in force."""
    return (per_group or rows) if policy in ("regress_dp_gaussian", "regress_dp_gfinder") else 0


class Row(dict):
    """unit: the number of a unit or None; a row of a table."""


class Schema:
    """people (the units' table), visits (one step, direct), orders and items (a path that needs orders)."""

    def __init__(self, rng, number):
        self.rng, self.number = rng, number
        self.type = rng.choice(tuple(UNIT_TYPES))
        self.rows = rng.choice((1, 2, 3, 5))
        self.groups = rng.choice((1, 2, 3, self.rows))
        self.groups = min(self.groups, self.rows)
        self.per_group = rng.choice((0, 1, rng.randint(1, self.rows)))  # 0: not declared
        self.units = rng.randint(2, 5)
        self.children = rng.random() < 0.3
        self.nullable = rng.random() < 0.5
        self.people = [Row(unit=unit, **self.values()) for unit in range(1, self.units + 1) if rng.random() < 0.8]
        self.visits = [Row(unit=self.somebody(), child=self.children and rng.random() < 0.5, **self.values())
                       for _ in range(rng.randint(0, 14))]
        self.orders = [Row(unit=self.somebody(), id=at, **self.values()) for at in range(rng.randint(1, 7))]
        self.items = []
        for _ in range(rng.randint(0, 14)):
            order = rng.choice(self.orders + [None])
            self.items.append(Row(order=None if order is None else order["id"],
                                  unit=None if order is None else order["unit"], **self.values()))
        if rng.random() < 0.5:
            self.items.append(Row(order=77, unit=None, **self.values()))  # of an order that is not there

    def somebody(self):
        return self.rng.choice(tuple(range(1, self.units + 1)) + ((None,) if self.nullable else ()))

    def values(self):
        rng = self.rng
        return {"g": rng.choice(GROUPS + GROUPS + STRAYS), "d": rng.choice(DISCOVERED),
                "m": rng.choice((True, False, None)), "v": rng.choice((-9, -6, -5, -1, 0, 1, 4, 9, 10, 99, None)),
                "w": rng.choice((0, 3, 7, 8, None))}

    # ---- as SQL ----

    def name(self, table):
        return f"{table}_{self.number}"

    def unit_literal(self, unit):
        return "NULL" if unit is None else self.rng.choice(UNIT_TYPES[self.type]).format(unit)

    def create(self):
        columns = "g text, d text, m boolean, v integer, w integer"
        people, visits, orders, items = (self.name(table) for table in ("people", "visits", "orders", "items"))
        yield f"CREATE TABLE {people} (unit {self.type} PRIMARY KEY, {columns})"
        yield f"CREATE TABLE {visits} (unit {self.type}, {columns})"
        if self.children:
            yield f"CREATE TABLE {visits}_child () INHERITS ({visits})"
        yield f"CREATE TABLE {orders} (id integer PRIMARY KEY, unit {self.type}, {columns})"
        yield f"CREATE TABLE {items} (\"order\" integer, {columns})"
        limits = f"max_rows => {self.rows}, max_groups => {self.groups}"
        if self.per_group:
            limits += f", max_rows_per_group => {self.per_group}"
        yield f"SELECT dp_protect('{people}', '{people}_dp', unit => 'unit')"
        yield f"SELECT dp_protect('{visits}', '{visits}_dp', unit => 'unit -> {people}(unit)', {limits})"
        yield f"SELECT dp_protect('{orders}', '{orders}_dp', unit => 'unit -> {people}(unit)', {limits})"
        yield f"SELECT dp_protect('{items}', '{items}_dp', unit => 'order -> {orders}(id)', {limits})"
        for table in (people, visits, orders, items):
            yield f"SELECT dp_set_bounds('{table}', 'v', {BOUNDS[0]}, {BOUNDS[1]})"
            yield f"SELECT dp_set_bounds('{table}', 'w', -8, 8)"
            yield f"SELECT dp_set_groups('{table}', 'g', '{{a,b,c}}')"
        yield f"SELECT dp_set_odometer('{people}', 'none')"

    def fill(self, without=None):
        """The rows, or those of all units but one."""
        for table in ("people", "visits", "orders", "items"):
            name = self.name(table)
            yield f"TRUNCATE {name}"
            for row in self.rng.sample(getattr(self, table), len(getattr(self, table))):
                if row["unit"] is None or row["unit"] != without:
                    target = name + ("_child" if row.get("child") else "")
                    yield f"INSERT INTO {target} VALUES ({', '.join(self.literals(table, row))})"

    def literals(self, table, row):
        first = {"people": ("unit",), "visits": ("unit",), "orders": ("id", "unit"), "items": ("order",)}[table]
        for column in first + ("g", "d", "m", "v", "w"):
            value = row[column]
            if column == "unit":
                yield self.unit_literal(value)
            elif value is None:
                yield "NULL"
            elif column == "g" and value == "long":
                yield "repeat('long', 1000)"
            else:
                yield f"'{value}'" if isinstance(value, str) else str(value).lower()


class Question(NamedTuple):
    sql: str
    rows: object        # of the tables, what is asked about
    measures: tuple
    key: object         # of a row; None: it is in no group
    keys: tuple         # declared ones in their order; None: discovered
    keeps: object       # WHERE
    limits: Limits
    policy: str
    thresholded: bool

    def rows_without(self, schema, unit):
        """Of one person in all tables; None: of nobody."""
        return list(self.rows({table: [row for row in getattr(schema, table) if unit is None or row["unit"] != unit]
                               for table in ("people", "visits", "orders", "items")}))


CONDITIONS = (
    ("v > 1", lambda row: row["v"] is not None and row["v"] > 1),
    ("m", lambda row: row["m"] is True),
    ("m IS NOT TRUE", lambda row: row["m"] is not True),
    ("w BETWEEN 3 AND 7", lambda row: row["w"] is not None and 3 <= row["w"] <= 7),
    ("d IN ('p', 'q')", lambda row: row["d"] in ("p", "q")),
    ("g <> 'a'", lambda row: row["g"] not in ("a", None)),
)


OF_KEYS = {"g": ("g <> 'a'",), "m": ("m", "m IS NOT TRUE")}
NAMED = {("d", "d IN ('p', 'q')"): ("p", "q")}  # groups that a condition on the key names, whatever is declared


QUANTILES = ("min({})", "max({})", "percentile_disc(0.5) WITHIN GROUP (ORDER BY {})", "percentile_disc(0.2) WITHIN GROUP (ORDER BY {} DESC)")


def make_quantiles(rng):
    """Of one column."""
    column = rng.choice("vw")
    for text in rng.sample(QUANTILES, rng.choice((1, 1, 2))):
        condition, keeps = rng.choice(CONDITIONS) if rng.random() < 0.3 else ("", None)
        yield (text.format(column) + (f" FILTER (WHERE {condition})" if condition else ""),
               Measure("quantile", column, BOUNDS if column == "v" else (-8, 8), keeps))


def type_of(text):
    if text.startswith(("covar", "corr", "regr")):
        return "double precision"
    return "numeric" if "avg" in text or "var" in text else "integer" if text[0] in "mp" else "bigint"


def make_measures(rng, schema, table, draws):
    """Each with an argument or FILTER of its own, so that no two calls share one."""
    texts, measures, seen = [], [], set()
    if draws:
        texts, measures = (list(part) for part in zip(*make_quantiles(rng)))
        if rng.random() < 0.5:
            return texts, measures
    for _ in range(rng.choice((1, 1, 2, 3))):
        text, keeps = rng.choice(CONDITIONS) if rng.random() < 0.3 else ("", None)
        kind, column = rng.choice((("count", None), ("count", "w"), ("sum", "v"), ("sum", "v"), ("pair", "v"), ("triple", "w"),
                                   ("products", "v"), ("moments", "w"),
                                   ("units", None), ("values", "w"), ("values", "v"), ("values", "d"), ("values", "g")))
        if kind == "values" and draws and table != "people":
            kind, column = "count", "w"  # cells of several rows of a person are not both, in one query
        if kind == "units" and table == "items":
            kind = "count"  # its unit is no column of the view
        of_units = kind == "units" and table != "people"  # of whom a key says that each has one row: rows are counted
        argument = f"DISTINCT {column}" if kind == "values" else column
        joint = kind in ("products", "moments")
        if (argument, text, of_units, joint) in seen:
            continue
        seen.add((argument, text, of_units, joint))
        bounds = BOUNDS if column == "v" else (-8, 8)
        call = {"count": f"count({column or '*'})", "sum": f"sum({column})", "pair": f"avg({column})",
                "triple": f"var_pop({column})", "products": f"covar_pop({column}, w)", "moments": f"corr({column}, v)",
                "units": "count(DISTINCT unit)", "values": f"count(DISTINCT {column})"}[kind]
        texts.append(call + (f" FILTER (WHERE {text})" if text else ""))
        second = {"products": ("w", (-8, 8)), "moments": ("v", BOUNDS)}.get(kind)
        measures.append(Measure("count" if kind == "units" and not of_units else kind, column, bounds, keeps, second))
    return texts, measures


def counted_first(measures, kind, one_in_group=False):
    """What a threshold looks at comes first, whether it is asked for or not: how many units, or rows, a group has. Where one row of a unit
    counts, both are one number."""
    asked = [m for m in measures if (m.kind == kind or (one_in_group and m.kind == "count")) and m.column is None and not m.filtered]
    return [Measure(kind)] + [m for m in measures if m not in asked]


def make_question(rng, schema):
    if rng.random() < 0.3:
        return make_carried_question(rng, schema) if rng.random() < 0.5 else make_per_unit_question(rng, schema)
    if rng.random() < 0.2:
        return make_tested_question(rng, schema)
    if rng.random() < 0.2:
        return make_passed_question(rng, schema)
    return make_joined_question(rng, schema) if rng.random() < 0.5 else make_plain_question(rng, schema)


# ---- one row for each person below ----

def row_of(unit, rows, n_keeps, column, limits, most):
    """count(*) with a FILTER, which stops at the rows that count, the sum of what is clamped, and extremes of texts that are no longer than a key."""
    values = [min(max(row[column], limits[0]), limits[1]) for row in rows if row[column] is not None]
    return Row(unit=unit, n=min(sum(n_keeps(row) for row in rows), most), s=sum(values) if values else None,
               hi=max((row["g"] for row in rows if row.get("g") not in (None, "long")), default=None),
               lo=min((row["d"] for row in rows if row.get("d") is not None), default=None))


def make_per_unit_question(rng, schema):
    table = rng.choice(("visits", "visits", "orders", "people"))
    most = 1 if table == "people" else schema.rows
    arguments = ""
    if table != "people" and rng.random() < 0.4:
        most = rng.choice((1, 2, 4, 7))
        arguments = f", max_rows => {most}"
    where, keeps = rng.choice(CONDITIONS) if rng.random() < 0.5 else ("", lambda row: True)
    filtered, n_keeps = rng.choice(CONDITIONS) if rng.random() < 0.3 else ("", lambda row: True)
    column, limits = rng.choice((("v", BOUNDS), ("w", (-8, 8))))
    limits = meet(limits, spans_of([where]).get(column))
    conditions = (("", lambda row: True), ("s > 0", lambda row: row["s"] is not None and row["s"] > 0), ("n > 1", lambda row: row["n"] > 1))
    above, passes = rng.choice(conditions if most > 1 else conditions[:2])  # what nobody can meet is refused
    having = rng.random() < 0.5 and above
    sums = (min(limits[0], most * limits[0]), max(limits[1], most * limits[1]))
    calls = (("count(*)", Measure("count")), ("sum(n)", Measure("sum", "n", (0 if filtered else 1, most))), ("sum(s)", Measure("sum", "s", sums)),
             ("count(*) FILTER (WHERE n < 2)", Measure("count", keeps=lambda row: row["n"] < 2)))
    texts, measures = zip(*rng.sample(calls, rng.choice((1, 2, 3))))
    by = rng.choice(("", "", "n", "n", "hi", "hi", "lo"))  # declared groups of the column are those of its maximum; or none are declared
    n = "count(*)" + (f" FILTER (WHERE {filtered})" if filtered else "")
    # Under the rules of a language fewer bytes of a text are compared, in conditions as well: a long g would be NULL there.
    by_bytes = rng.random() < 0.5 or "g <> 'a'" in (where, filtered)
    extremes = "max(g::varchar COLLATE \"C\") AS hi, min(d COLLATE \"C\") AS lo" if by_bytes else "max(g) AS hi, min(d) AS lo"
    below = f"SELECT unit, {n} AS n, {extremes}, sum({column}) AS s FROM {schema.name(table)}_dp" + (f" WHERE {where}" if where else "") + " GROUP BY unit"
    if having:
        below += f" HAVING {above.replace('n', n) if above == 'n > 1' else above.replace('s', f'sum({column})', 1)}"
    sql = f"SELECT {', '.join(((by,) if by else ()) + texts)} FROM ({below}) t"
    spelled = "unit::text NOT LIKE '%.%'"  # of everybody, whichever of a person's rows comes first
    conditions = [above] * bool(above and not having) + [spelled] * (schema.type == "numeric")
    if conditions:
        sql += f" WHERE {' AND '.join(conditions)}"
    keys = {"": ((),), "n": tuple(range(2 if above == "n > 1" else 0 if filtered else 1, most + 1)), "hi": GROUPS + (None,), "lo": None}[by]
    if keys == ():
        return make_per_unit_question(rng, schema)
    if by:
        sql += f" GROUP BY {by}"
    if keys is None:
        measures = counted_first(measures, "count")
    if arguments:
        columns = ([f"k {'bigint' if by == 'n' else 'text'}"] if by else []) + [f"c{i} {'numeric' if text.startswith('sum') else 'bigint'}" for i, text in enumerate(texts)]
        sql = f"SELECT * FROM dp_query($q${sql}$q${arguments}) AS ({', '.join(columns)})"

    def rows(tables):
        units = {row["unit"]: [] for row in tables[table] if row["unit"] is not None and keeps(row)}
        for row in tables[table]:
            if row["unit"] is not None and keeps(row):
                units[row["unit"]].append(row)
        return [row_of(unit, own, n_keeps, column, limits, most) for unit, own in units.items()]

    key = {"": lambda row: (), "hi": lambda row: row["hi"] if row["hi"] in keys else "left out"}.get(by, lambda row: row[by])
    policy = rng.choice(("regress_dp_finder", "regress_dp_gfinder") if keys is None else ("regress_dp_laplace", "regress_dp_gaussian"))
    return Question(sql, rows, tuple(measures), key, keys, passes, Limits(1, 1, True, True), policy, keys is None)


# ---- ... and the columns of their own rows beside what is aggregated ----

CARRIED = ("g", "d", "m", "v", "w")


def people_with_rows(tables, table, outer, keeps, limits, most):
    """Of each person who has such a row, or of all: what is aggregated, and the columns of his own row."""
    for person in tables["people"]:
        own = [row for row in tables[table] if row["unit"] == person["unit"] and keeps(row)]
        if not own and not outer:
            continue
        row = row_of(person["unit"], own or [Row(v=None, w=None)], lambda row: True, "v", limits, most)
        row.update({column: person[column] for column in CARRIED})
        row["vn"] = None if row["v"] is None else row["v"] * row["n"]
        yield row


def make_carried_measures(rng, most, limits):
    """Texts, measures and their types, each with an argument of its own."""
    v = rng.choice((("sum(v)", Measure("sum", "v", BOUNDS), "bigint"), ("avg(v)", Measure("pair", "v", BOUNDS), "numeric")))
    calls = (("count(*)", Measure("count"), "bigint"), ("count(w)", Measure("count", "w"), "bigint"), v,
             ("sum(n)", Measure("sum", "n", (1, most)), "numeric"),
             ("sum(s)", Measure("sum", "s", (min(limits[0], most * limits[0]), most * limits[1])), "numeric"),
             ("sum(v * n)", Measure("sum", "vn", (most * BOUNDS[0], most * BOUNDS[1])), "numeric"),
             ("count(*) FILTER (WHERE m)", Measure("count", keeps=lambda row: row["m"] is True), "bigint"),
             ("count(*) FILTER (WHERE n < 2 AND w > 3)", Measure("count", keeps=lambda row: row["n"] < 2 and (row["w"] or 0) > 3), "bigint"))
    return (list(part) for part in zip(*rng.sample(calls, rng.choice((1, 2, 3)))))


def make_carried_question(rng, schema):
    table, outer = rng.choice(("visits", "orders")), rng.random() < 0.3
    most, arguments = schema.rows, ""
    if rng.random() < 0.4:
        most = rng.choice((1, 2, 4, 7))
        arguments = f", max_rows => {most}"
    below, keeps = ("x.v > 1", CONDITIONS[0][1]) if rng.random() < 0.3 and not outer else ("", lambda row: True)
    limits = meet(BOUNDS, spans_of([below[2:]]).get("v"))
    texts, measures, types = make_carried_measures(rng, most, limits)
    pick = rng.choice(("", "g", "g", "m", "d", "n"))
    text, passes = rng.choice(CONDITIONS) if rng.random() < 0.5 else ("", lambda row: True)
    for measure in measures:
        measure.narrow(spans_of([text]))
    keys = {"": ((),), "g": GROUPS, "m": (False, True, None), "d": NAMED.get((pick, text)), "n": tuple(range(1, most + 1))}[pick]
    key = {"": lambda row: (), "g": lambda row: row["g"] if row["g"] in GROUPS else "left out"}.get(pick, lambda row: row[pick])
    if pick in OF_KEYS:
        keys = tuple(value for value in keys if text not in OF_KEYS[pick] or passes({pick: value}))
    people, rows = f"{schema.name('people')}_dp p", f"{schema.name(table)}_dp x"
    source = f"{people} LEFT JOIN {rows} ON x.unit = p.unit" if outer else rng.choice((f"{rows} JOIN {people} USING (unit)", f"{people}, {rows}"))
    conditions = ["p.unit = x.unit"] * (source == f"{people}, {rows}") + [below] * bool(below)
    unit = "p.unit" if outer else rng.choice(("p.unit", "x.unit", "x.unit, p.unit"))
    columns = ", ".join(f"p.{column}" for column in rng.sample(CARRIED, len(CARRIED)))
    sql = (f"SELECT {', '.join(([pick] if pick else []) + texts)} FROM (SELECT {columns}, count(*) AS n, sum(x.v) AS s FROM {source}"
           + (f" WHERE {' AND '.join(conditions)}" if conditions else "") + f" GROUP BY {unit}, {columns}) t"
           + (f" WHERE {text}" if text else "") + (f" GROUP BY {pick}" if pick else ""))
    if arguments:
        named = ([f"k {'boolean' if pick == 'm' else 'bigint' if pick == 'n' else 'text'}"] if pick else []) + \
            [f"c{i} {kind}" for i, kind in enumerate(types)]
        sql = f"SELECT * FROM dp_query($q${sql}$q${arguments}) AS ({', '.join(named)})"
    policy = rng.choice(("regress_dp_finder", "regress_dp_gfinder") if keys is None else ("regress_dp_laplace", "regress_dp_gaussian"))
    if keys is None:
        measures = counted_first(measures, "count")
    return Question(sql, lambda tables: people_with_rows(tables, table, outer, keeps, limits, most), tuple(measures), key, keys, passes,
                    Limits(1, 1, True, True), policy, keys is None)


def make_plain_question(rng, schema):
    table = rng.choice(("visits", "visits", "items", "items", "orders", "people"))
    pick = rng.choice(("", "g", "g", "m", "d", "d"))
    draws = rng.random() < 0.3
    texts, measures = make_measures(rng, schema, table, draws)
    text, keeps = rng.choice(CONDITIONS) if rng.random() < 0.5 else ("", lambda row: True)
    for measure in measures:
        measure.narrow(spans_of([text]))
    keys = {"": ((),), "g": GROUPS, "m": (False, True, None), "d": NAMED.get((pick, text))}[pick]
    key = {"": lambda row: (), "g": lambda row: row["g"] if row["g"] in GROUPS else "left out"}.get(pick, lambda row: row[pick])
    if keys and pick:  # a condition on the key alone leaves out declared groups, whatever the rows are
        keys = tuple(value for value in keys if text not in OF_KEYS.get(pick, ()) or keeps({pick: value}))
    clipped = table != "people"
    rows, groups = (schema.rows, schema.groups) if clipped else (1, 1)
    arguments, per_group = "", schema.per_group
    if clipped and rng.random() < 0.3:
        rows = rng.choice((1, 2, 4, 7))
        groups = min(groups, rows)
        if rng.random() < 0.5:
            groups = rng.randint(1, rows)
        arguments = f", max_rows => {rows}, max_groups => {groups}"
    if clipped and rng.random() < 0.3:
        per_group = rng.randint(1, rows)
        arguments += f", max_rows_per_group => {per_group}"
    one_group = not pick or not clipped
    groups = 1 if one_group else min(groups, rows, len(keys) if keys else rows)
    policy = rng.choice((("regress_dp_finder", "regress_dp_gfinder") if keys is None else
                         ("regress_dp_laplace", "regress_dp_gaussian"))[:1 if draws else 2])
    sql = (f"SELECT {', '.join(([pick] if pick else []) + texts)} FROM {schema.name(table)}_dp"
           + (f" WHERE {text}" if text else "") + (f" GROUP BY {pick}" if pick else ""))
    if arguments:
        columns = ([f"{pick} {'boolean' if pick == 'm' else 'text'}"] if pick else []) + \
            [f"c{i} {type_of(text)}" for i, text in enumerate(texts)]
        sql = f"SELECT * FROM dp_query($q${sql}$q${arguments}) AS ({', '.join(columns)})"
    thresholded = keys is None
    if thresholded:
        measures = counted_first(measures, "units" if clipped else "count", rows == 1)
    return Question(sql, lambda tables: tables[table], tuple(measures), key, keys, keeps, Limits(rows, groups, clipped, one_group, rows_in_group(policy, rows, per_group)),
                    policy, thresholded)


# ---- several tables ----

def make_joined_measures(rng, sources, single):
    texts, measures, seen = [], [], set()
    for _ in range(rng.choice((1, 1, 2, 3))):
        source = rng.choice(sources)
        a = source.alias
        text, keeps = "", None
        if rng.random() < 0.3:
            text, keeps = f"{a}.w BETWEEN 3 AND 7", lambda row, a=a: row[f"{a}.w"] is not None and 3 <= row[f"{a}.w"] <= 7
        kind, column = rng.choice((("count", None), ("count", "w"), ("sum", "v"), ("sum", "v"), ("pair", "v"), ("triple", "w"),
                                   ("products", "w"), ("moments", "v"), ("units", None)))
        if kind == "units" and source.table == "items":
            kind = "count"
        of_units = kind == "units" and not single
        absent = kind == "units" and source.nullable
        named = None if column is None else f"{a}.{column}"
        call = {"count": f"count({named or '*'})", "sum": f"sum({named})", "pair": f"avg({named})",
                "triple": f"var_pop({named})", "products": f"covar_samp({named}, {a}.v)", "moments": f"regr_slope({named}, {a}.w)",
                "units": f"count(DISTINCT {a}.unit)"}[kind]
        joint = kind in ("products", "moments")
        if (named, text, of_units, absent and a, joint) in seen:
            continue
        seen.add((named, text, of_units, absent and a, joint))
        if absent:  # whose row is not there is not counted
            keeps = lambda row, a=a, first=keeps: row[a] and (first is None or first(row))
        bounds = BOUNDS if column == "v" else (-8, 8)
        texts.append(call + (f" FILTER (WHERE {text})" if text else ""))
        second = {"products": (f"{a}.v", BOUNDS), "moments": (f"{a}.w", (-8, 8))}.get(kind)
        measures.append(Measure("count" if kind == "units" and not of_units else kind, named, bounds, keeps, second))
    return texts, measures


def make_joined_question(rng, schema):
    tree = make_tree(rng)
    sources = tree.sources()
    rows, single = most_rows(tree, schema.rows)
    texts, measures = make_joined_measures(rng, sources, single)
    keep = rng.choice(sources) if rng.random() < 0.4 else None
    pick, of = rng.choice(("", "g", "g", "m", "d", "d")), rng.choice(sources)
    named = f"{of.alias}.{pick}"
    may_have_none = isinstance(of, People) or (isinstance(of, Windows) and of.nullable)
    groups_of_g = GROUPS + (None,) if may_have_none else GROUPS
    keys = {"": ((),), "g": groups_of_g, "m": (False, True, None), "d": ("p", "q") if of is keep else None}[pick]
    for measure in measures:
        measure.narrow(spans_of(conditions_above(tree)))
    key = {"": lambda row: (), "g": lambda row: row[named] if row[named] in groups_of_g else "left out"}.get(pick, lambda row: row[named])
    if pick == "m" and isinstance(of, Windows):  # likewise, below: its own rows, and those where there is none
        keys = tuple(m for m in (False, True, None) if of.keeps[1]({"m": m}) or (m is None and of.nullable))
    if pick == "m" and named in conditions_above(tree):  # on the key alone: other groups are not in the answer
        keys = (True,)
    where = "" if keep is None else f" WHERE {keep.alias}.d IN ('p', 'q')"
    keeps = (lambda row: True) if keep is None else lambda row: row[f"{keep.alias}.d"] in ("p", "q")
    one_group = not pick or single or of in of_one_row(tree)
    several = [source for source in sources if source.table != "people" and schema.rows > 1]
    declared = len(several) == 1 and not isinstance(several[0], (People, Union, Windows))
    groups = schema.groups if declared else rows
    per_group = schema.per_group if declared else 0
    arguments = ""
    if rng.random() < 0.3:
        rows = rng.choice((1, 2, 4, 7))
        groups = rng.randint(1, rows)
        arguments = f", max_rows => {rows}, max_groups => {groups}"
        if rng.random() < 0.5:
            per_group = rng.randint(1, rows)
            arguments += f", max_rows_per_group => {per_group}"
    rows = 1 if single else rows
    by_key = pick == "d" and several == [of] and isinstance(of, People) and of.grouped and not of.nullable
    per_group = per_group or int(by_key)
    groups = 1 if one_group else min(groups, rows, len(keys) if keys else rows)
    policy = rng.choice(("regress_dp_finder", "regress_dp_gfinder") if keys is None else
                        ("regress_dp_laplace", "regress_dp_gaussian"))
    sql = (f"SELECT {', '.join(([named] if pick else []) + texts)} FROM {tree.text(schema)}{where}"
           + (f" GROUP BY {named}" if pick else ""))
    if arguments:
        columns = ([f"k {'boolean' if pick == 'm' else 'text'}"] if pick else []) + \
            [f"c{i} {type_of(t)}" for i, t in enumerate(texts)]
        sql = f"SELECT * FROM dp_query($q${sql}$q${arguments}) AS ({', '.join(columns)})"
    if keys is None:
        measures = counted_first(measures, "count" if single else "units", rows == 1 or by_key)
    return Question(sql, lambda tables: joined_rows(tree, tables), tuple(measures), key, keys, keeps,
                    Limits(rows, groups, True, one_group, rows_in_group(policy, rows, per_group)), policy, keys is None)


# ---- EXISTS as a value ----

OF_OTHERS = (("", lambda row: True), (" AND b.v > 1", CONDITIONS[0][1]), (" AND b.m", CONDITIONS[1][1]), (" AND b.w IN (3, 7)", lambda row: row["w"] in (3, 7)))


def make_test(rng, schema, table):
    """Its text, over table a, and whether it holds for a row, of which (b) there are these."""
    a, pairs = Source(table, "a"), None
    while pairs is None:
        b = Source(rng.choice(TABLES), "b")
        pairs = link(a, b)
    (one, x), (other, y) = pairs
    inner, outer = (x, y) if one is b else (y, x)
    also = rng.random() < 0.4
    text, holds = rng.choice(OF_OTHERS)
    equal = f"{name(one, x)} = {name(other, y)}" + (" AND a.w = b.w" if also else "")

    def exists(row, tables):
        return any(row[outer] is not None and row[outer] == found[inner] and holds(found)
                   and not (also and (row["w"] is None or row["w"] != found["w"])) for found in tables[b.table])

    form = rng.choice(("EXISTS", "NOT EXISTS"))
    if form == "EXISTS" and not also and rng.random() < 0.3:
        return f"({name(a, outer)} IN (SELECT {name(b, inner)} FROM {schema.name(b.table)}_dp b WHERE true{text})) IS TRUE", exists
    return (f"{form} (SELECT FROM {schema.name(b.table)}_dp b WHERE {equal}{text})",
            exists if form == "EXISTS" else lambda row, tables: not exists(row, tables))


def tested_rows(tables, table, exists):
    for row in tables[table]:
        e = exists(row, tables)
        yield Row(row, e=e, ev=(row["v"] if e else 0), ew=(row["w"] if e else None))


def make_tested_question(rng, schema):
    table = rng.choice(TABLES)
    test, exists = make_test(rng, schema, table)
    calls = (("count(*)", Measure("count"), "bigint"), ("sum(a.v)", Measure("sum", "v", BOUNDS), "bigint"),
             (f"count(*) FILTER (WHERE {test})", Measure("count", keeps=lambda row: row["e"]), "bigint"),
             (f"sum(CASE WHEN {test} THEN a.v ELSE 0 END)", Measure("sum", "ev", BOUNDS), "bigint"),
             (f"avg(CASE WHEN {test} THEN a.w END)", Measure("pair", "ew", (-8, 8)), "numeric"))
    texts, measures, types = (list(part) for part in zip(*rng.sample(calls, rng.choice((1, 2, 3)))))
    pick = rng.choice(("", "e", "e", "g", "d"))
    keys = {"": ((),), "e": (False, True), "g": GROUPS, "d": None}[pick]
    key = {"": lambda row: (), "g": lambda row: row["g"] if row["g"] in GROUPS else "left out"}.get(pick, lambda row: row[pick])
    expression = test if pick == "e" else f"a.{pick}"
    where, keeps = rng.choice((("", lambda row: True), (f" WHERE {test} OR a.w = 3", lambda row: row["e"] or row["w"] == 3),
                               (" WHERE a.v > 1", CONDITIONS[0][1])))
    for measure in measures:
        measure.narrow(spans_of([where.replace(" WHERE a.", "")]))
    rows, groups, per_group, arguments = schema.rows, schema.groups, schema.per_group, ""
    if schema.rows == 1 and any(test in text for text in (*texts, expression, where)):
        per_group = 0  # what is declared of the groups of one row goes with the table alone
    if rng.random() < 0.3:
        rows = rng.choice((1, 2, 4, 7))
        groups = rng.randint(1, rows)
        arguments = f", max_rows => {rows}, max_groups => {groups}"
    rows = 1 if table == "people" else rows
    one_group = not pick or table == "people"
    groups = 1 if one_group else min(groups, rows, len(keys) if keys else rows)
    policy = rng.choice(("regress_dp_finder", "regress_dp_gfinder") if keys is None else ("regress_dp_laplace", "regress_dp_gaussian"))
    sql = (f"SELECT {', '.join(([expression] if pick else []) + texts)} FROM {schema.name(table)}_dp a{where}"
           + (f" GROUP BY {expression}" if pick else ""))
    if arguments:
        named = ([f"k {'boolean' if pick == 'e' else 'text'}"] if pick else []) + [f"c{i} {kind}" for i, kind in enumerate(types)]
        sql = f"SELECT * FROM dp_query($q${sql}$q${arguments}) AS ({', '.join(named)})"
    if keys is None:
        measures = counted_first(measures, "count" if table == "people" else "units", rows == 1)
    return Question(sql, lambda tables: tested_rows(tables, table, exists), tuple(measures), key, keys, keeps,
                    Limits(rows, groups, True, one_group, rows_in_group(policy, rows, per_group)), policy, keys is None)


# ---- rows and values that the statement brings along ----

PASSED_KEYS = {"d": ("p", "q", "r", None), "w": (0, 3, 7, 8, None), "m": (True, False, None)}


def literal(value):
    return "NULL" if value is None else f"'{value}'" if isinstance(value, str) else str(value).lower()


def make_passed_rows(rng, column):
    """(k, n), n of at least two numbers; how they are written in FROM."""
    rows = [(rng.choice(PASSED_KEYS[column]), n) for n in rng.sample(range(-3, 9), rng.choice((2, 2, 3, 5)))]
    rows += [(rng.choice(PASSED_KEYS[column]), rng.choice(rows)[1]) for _ in range(rng.choice((0, 0, 2)))]
    cast = {"d": "text", "w": "integer", "m": "boolean"}[column]
    values = ", ".join(f"({literal(k)}::{cast}, {n})" for k, n in rows)
    if rng.random() < 0.3:
        return rows, f"(SELECT DISTINCT k, n, generate_series(1, 1) AS s FROM (VALUES {values}) x (k, n)) p", True
    return rows, f"(VALUES {values}) p (k, n)", False


def passed_rows(tables, table, passed, meets, outer):
    for row in tables[table]:
        met = [found for found in passed if meets(row, found[0])]
        for k, n in met or ([(None, None)] if outer else []):
            yield Row(row, n=n)


def make_passed_question(rng, schema):
    table, column = rng.choice(TABLES), rng.choice(tuple(PASSED_KEYS))
    passed, text, distinct = make_passed_rows(rng, column)
    passed = list(dict.fromkeys(passed)) if distinct else passed
    how = rng.choice(("equal", "equal", "equal", "all", "range"))
    outer = how != "all" and rng.random() < 0.4
    meets = {"equal": lambda row, k: k is not None and row[column] is not None and row[column] == k, "all": lambda row, k: True,
             "range": lambda row, k: k is not None and row[column] is not None and k < row[column]}[how]
    computed = {"d": "p.k = a.d || ''", "w": "a.w + 0 = p.k", "m": "p.k = NOT (NOT a.m)"}[column]
    on = {"equal": rng.choice((f"p.k = a.{column}", computed)), "range": f"p.k < a.{column}", "all": "true"}[how]
    most = max([sum(k == other for other, _ in passed) for k, _ in passed if k is not None] or [1]) if how == "equal" else len(passed)
    low, high = min(n for _, n in passed), max(n for _, n in passed)
    least = rng.choice((-1, 3))  # bounds whose distance is a power of 2
    scalar = f"(SELECT min(x) FROM (VALUES ({least}), (9)) x (x))"
    calls = (("count(*)", Measure("count"), "bigint"), ("sum(a.v)", Measure("sum", "v", BOUNDS), "bigint"),
             rng.choice((("sum(p.n)", Measure("sum", "n", (low, high)), "bigint"), ("count(p.n)", Measure("count", "n"), "bigint"))),
             ("avg(a.w)", Measure("pair", "w", (-8, 8)), "numeric"),
             (f"count(*) FILTER (WHERE p.n > {scalar})", Measure("count", keeps=lambda row: row["n"] is not None and row["n"] > least), "bigint"))
    texts, measures, types = (list(part) for part in zip(*rng.sample(calls, rng.choice((1, 2, 3)))))
    where, keeps = rng.choice((("", lambda row: True), ("", lambda row: True), (f" WHERE a.w > {scalar}", lambda row: row["w"] is not None and row["w"] > least),
                               (" WHERE a.d IN (SELECT x FROM (VALUES ('p'), ('q'), (NULL)) x (x) LIMIT 3)", lambda row: row["d"] in ("p", "q"))))
    pick = rng.choice(("", "g", "n", "n"))
    numbers = tuple(sorted({n for _, n in passed})) + ((None,) if outer else ())
    keys = {"": ((),), "g": GROUPS, "n": numbers}[pick]
    key = {"": lambda row: (), "g": lambda row: row["g"] if row["g"] in GROUPS else "left out"}.get(pick, lambda row: row["n"])
    several = table != "people" and schema.rows > 1
    rows = (1 if table == "people" else schema.rows) * most
    groups, per_group = (schema.groups, schema.per_group) if several and most == 1 else (rows, 0)
    arguments = ""
    if rng.random() < 0.3:
        rows = rng.choice((1, 2, 4, 7))
        groups = rng.randint(1, rows)
        arguments = f", max_rows => {rows}, max_groups => {groups}"
    one_group = not pick or (table == "people" and pick == "g")
    groups = 1 if one_group else min(groups, rows, len(keys))
    policy = rng.choice(("regress_dp_laplace", "regress_dp_gaussian"))
    for measure in measures:
        measure.narrow({"w": (least + 1, 8)} if "a.w" in where else {})
    shown = {"": [], "g": ["a.g AS k"], "n": ["p.n AS k"]}[pick]
    sql = (f"SELECT {', '.join(shown + texts)} FROM {schema.name(table)}_dp a "
           + (f"CROSS JOIN {text}" if how == "all" else f"{'LEFT ' * outer}JOIN {text} ON {on}")
           + where + (" GROUP BY 1" if pick else ""))
    if arguments:
        named = ([f"k {'text' if pick == 'g' else 'integer'}"] if pick else []) + [f"c{i} {kind}" for i, kind in enumerate(types)]
        sql = f"SELECT * FROM dp_query($q${sql}$q${arguments}) AS ({', '.join(named)})"
    return Question(sql, lambda tables: passed_rows(tables, table, passed, meets, outer), tuple(measures), key, keys, keeps,
                    Limits(rows, groups, True, one_group, rows_in_group(policy, rows, per_group)), policy, False)
