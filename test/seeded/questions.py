"""Made-up questions about the tables of a world, and by how much one person may move each of their numbers."""
import re
from typing import NamedTuple

from world import OF_UNIT, TABLES

# Lists the equal columns that join one table to another.
UNIT = (("site", "site"), ("nr", "nr"))
LINKS = {("item", "orders"): (("order_id", "id"),), ("part", "item"): (("item_id", "id"),), ("remark", "item"): (("item_id", "id"),),
         ("part", "remark"): (("item_id", "item_id"),)}
LINKS.update({(b, a): tuple((y, x) for x, y in pairs) for (a, b), pairs in tuple(LINKS.items())})
LINKS.update({(a, b): UNIT for a in OF_UNIT for b in OF_UNIT})
LINKS.update({("item", "item"): (("id", "id"),), ("part", "part"): (("item_id", "item_id"),)})

JOINS = (("visit", "person"), ("person", "visit"), ("orders", "item"), ("part", "remark"), ("item", "part", "remark"), ("person", "orders", "item"),
         ("person", "orders", "item", "part"), ("visit", "orders"), ("part", "item", "orders"), ("remark", "item"), ("orders", "orders"))
EXISTS = (("person", ("visit",)), ("person", ("orders", "item")), ("person", ("orders", "item", "part")), ("visit", ("orders", "item")),
          ("orders", ("item", "remark")), ("item", ("part",)), ("item", ("part", "remark")), ("part", ("remark",)), ("orders", ("person",)))
# Light people meet all of these.
CONDITIONS = ("{}.v > 0", "{}.m", "{}.m IS NOT FALSE", "{}.w BETWEEN 3 AND 7", "coalesce({}.v, 0) <> 10", "{}.g <> 'z'",
              "{}.zone IN (SELECT zone FROM area WHERE factor < 5)")
KEY_TYPES = {"g": "text", "d": "text", "m": "boolean", "climate": "text", "factor": "integer", "label": "text", "w": "integer"}


class Output(NamedTuple):
    """kind: rows, units, values (different ones), sum, average (width: of the bounds; the output behind it counts its rows), other (of
    which nothing but the order of rows is known to change nothing); exact: printed as it was drawn, and not rounded."""
    sql: str
    type: str
    kind: str
    width: int = 0
    exact: bool = False


class Question(NamedTuple):
    sql: str
    policy: str
    keys: int  # columns of the answer that say which group it is
    outputs: tuple
    thresholded: bool


    def is_of_strangers(self):
        return re.search(r"\w\.w = \w\.w", self.sql) is not None


class Source(NamedTuple):
    text: str
    tables: dict  # by alias; public ones too
    nullable: tuple  # aliases that an outer join adds


def on(rng, a, x, b, y):
    """At times another equality stands in the place of the last, which brings rows of different people together."""
    texts = [f"{a}.{p} = {b}.{q}" for p, q in LINKS[x, y]]
    if rng.random() < 0.08:
        texts[-1] = f"{a}.w = {b}.w"
    return " AND ".join(texts)


def one_table(rng):
    table = rng.choice(TABLES)
    return Source(f"{table}_dp a", {"a": table}, ())


def several_tables(rng):
    tables = rng.choice(JOINS)
    text, aliases, nullable = f"{tables[0]}_dp a", {"a": tables[0]}, ()
    for alias, table in zip("bcd", tables[1:]):
        known = rng.choice([other for other, name in aliases.items() if (name, table) in LINKS])
        extra = rng.choice(("", "", f" AND {alias}.v > 0", f" AND {known}.m IS NOT FALSE"))
        kind = "LEFT JOIN" if known in nullable else rng.choice(("JOIN", "JOIN", "LEFT JOIN"))
        nullable += (alias,) * (kind == "LEFT JOIN")
        text += f" {kind} {table}_dp {alias} ON {on(rng, known, aliases[known], alias, table)}{extra}"
        aliases[alias] = table
    return Source(text, aliases, nullable)


def with_public(rng, source):
    alias = rng.choice(tuple(source.tables))
    table, new = rng.choice((("area", "y"), ("label", "z")))
    kind = "LEFT JOIN" if alias in source.nullable else rng.choice(("JOIN", "LEFT JOIN"))
    return Source(f"{source.text} {kind} {table} {new} ON {new}.zone = {alias}.zone", {**source.tables, new: table}, source.nullable)


def make_exists(rng, table, alias="a"):
    """A condition over several tables, about rows of this one."""
    inner = rng.choice([tables for outer, tables in EXISTS if outer == table] or [None])
    if inner is None:
        return None
    text, known = f"{inner[0]}_dp e", {"e": inner[0]}
    for name, other in zip("fh", inner[1:]):
        left = next(known_alias for known_alias, known_table in known.items() if (known_table, other) in LINKS)
        text += f" JOIN {other}_dp {name} ON {on(rng, left, known[left], name, other)}"
        known[name] = other
    extra = rng.choice(("", f" AND {rng.choice(tuple(known))}.v > 0", f" AND {rng.choice(tuple(known))}.m"))
    return f"EXISTS (SELECT FROM {text} WHERE {on(rng, 'e', inner[0], alias, table)}{extra})"


# ---- what is asked of rows -------------------------------------------------------------------------------------------

def make_outputs(rng, source, exact, tests):
    """Each with an argument of its own, so that no two share a measure."""
    private = [alias for alias, table in source.tables.items() if table in TABLES]
    a, outputs = rng.choice(private), []
    filtered = rng.choice(("", "", f" FILTER (WHERE {rng.choice(CONDITIONS[:5]).format(rng.choice(private))})"))
    pool = [Output(f"count(*){filtered}", "bigint", "rows"), Output(f"count({a}.d)", "bigint", "rows"),
            Output(f"sum({a}.v){filtered}", "bigint", "sum"), Output(f"sum({a}.x)", "numeric", "sum", exact=True),
            Output(f"sum({a}.x * {a}.v)", "numeric", "sum", exact=True), Output(f"sum({a}.v * {rng.choice(private)}.w)", "bigint", "sum"),
            Output(f"count(DISTINCT {a}.d)", "bigint", "values"), Output(f"count(DISTINCT {a}.x)", "bigint", "values")]
    for alias, table in source.tables.items():
        if table in OF_UNIT and alias not in source.nullable:
            pool.append(Output(f"count(DISTINCT ({alias}.site, {alias}.nr))", "bigint", "units"))
        if table == "area":
            pool.append(Output(f"sum({alias}.factor * {a}.v)", "bigint", "sum"))
        if table == "label":
            pool.append(Output(f"sum({alias}.points)", "bigint", "sum"))
    for test in tests:
        pool += [Output(f"count(*) FILTER (WHERE {test})", "bigint", "rows"),
                 Output(f"sum(CASE WHEN {test} THEN a.x ELSE -1.5 END)", "numeric", "sum", exact=True)]
    outputs += rng.sample(pool, rng.choice((1, 2, 2, 3)))
    if exact and rng.random() < 0.5:
        text, width = rng.choice(((f"avg({a}.w)", 16), (f"var_pop({a}.w)", 16 ** 2), (f"covar_pop({a}.w, {a}.v)", 16 * 16)))
        both = f" FILTER (WHERE {a}.v IS NOT NULL)" if "covar" in text else ""
        outputs += [Output(text, "double precision" if both else "numeric", "average", width), Output(f"count({a}.w){both}", "bigint", "rows")]
    return outputs


def make_keys(rng, source, tests):
    """Texts and types, and whether their groups are declared."""
    private = [alias for alias, table in source.tables.items() if table in TABLES]
    public = [(alias, column) for alias, table in source.tables.items() if table not in TABLES
              for column in (("climate", "factor") if table == "area" else ("label",))]
    a = rng.choice(private)
    pool = [(f"{a}.g", "text", True), (f"{a}.m", "boolean", True), (f"{a}.v > 3", "boolean", True), (f"{a}.d", "text", False),
            (f"CASE WHEN {a}.w > 3 THEN 'more' WHEN {a}.g = 'a' THEN 'less' ELSE 'other' END", "text", True)]
    pool += [(f"{alias}.{column}", KEY_TYPES[column], True) for alias, column in public] * 3
    pool += [(test, "boolean", True) for test in tests] * 2
    keys = rng.sample(pool, rng.choice((0, 1, 1, 1, 2)))
    # Discovered groups draw noise in turn: each must have a light person, or those behind one that is gone would draw another's.
    alone = [key for key in keys if not key[2]]
    return alone or keys


def make_rows_question(rng):
    source = rng.choice((one_table, several_tables, several_tables))(rng)
    if rng.random() < 0.4:
        source = with_public(rng, source)
    tests = []
    if len(source.tables) == 1 and rng.random() < 0.6:
        test = make_exists(rng, source.tables["a"])
        tests = [test, make_exists(rng, source.tables["a"])] if test else []
    policy = rng.choice(("seeded_laplace", "seeded_exact", "seeded_exact", "seeded_exact", "seeded_gaussian"))
    keys = make_keys(rng, source, tests)
    thresholded = not all(declared for _, _, declared in keys)
    if thresholded and policy == "seeded_laplace":
        policy = "seeded_exact"
    outputs = make_outputs(rng, source, policy == "seeded_exact", tests)
    where = [rng.choice(CONDITIONS).format(rng.choice([alias for alias, table in source.tables.items() if table in TABLES]))] * (rng.random() < 0.5)
    if tests and rng.random() < 0.5:
        where.append(tests[0] if thresholded or rng.random() < 0.5 else f"({tests[0]} OR a.w = 3)")
    sql = f"FROM {source.text}" + (f" WHERE {' AND '.join(where)}" if where else "")
    return finish(rng, sql, keys, outputs, policy, thresholded)


def finish(rng, rest, keys, outputs, policy, thresholded):
    """With GROUP BY, at times over grouping sets, and at times with limits of its own."""
    texts = [text for text, _, _ in keys]
    of_sets, group_by = "", f" GROUP BY {', '.join(texts)}" if keys else ""
    if keys and not thresholded and rng.random() < 0.35:
        group_by = f" GROUP BY {rng.choice(('ROLLUP', 'CUBE'))} ({', '.join(texts)})"
        of_sets = f"GROUPING({', '.join(texts)})"
    columns = texts + [of_sets] * bool(of_sets) + [output.sql for output in outputs]
    sql = f"SELECT {', '.join(columns)} {rest}{group_by}"
    if rng.random() < 0.35:
        rows = rng.choice((2, 3, 4, 7))
        limits = f"max_rows => {rows}"
        if rng.random() < 0.5:
            limits += f", max_groups => {rng.randint(1, rows)}"
        if rng.random() < 0.5:
            limits += f", max_rows_per_group => {rng.randint(1, rows)}"
        types = [type_ for _, type_, _ in keys] + ["integer"] * bool(of_sets) + [output.type for output in outputs]
        sql = f"SELECT * FROM dp_query($q${sql}$q$, {limits}) AS ({', '.join(f'c{i} {type_}' for i, type_ in enumerate(types))})"
    return Question(sql, policy, len(keys) + bool(of_sets), tuple(outputs), thresholded)


# ---- one row for each person, and percentiles ------------------------------------------------------------------------

def make_unit_question(rng):
    text, aliases = rng.choice((("visit_dp a", "a"), ("orders_dp a", "a"), ("visit_dp b JOIN person_dp a ON b.site = a.site AND b.nr = a.nr", "b"),
                                ("person_dp a LEFT JOIN visit_dp b ON b.site = a.site AND b.nr = a.nr", "b"),
                                ("orders_dp a JOIN item_dp b ON b.order_id = a.id", "b"),
                                ("orders_dp a JOIN item_dp b ON b.order_id = a.id JOIN part_dp c ON c.item_id = b.id", "c")))
    a = aliases
    where = rng.choice(("", "", f" WHERE {a}.v > 0", f" WHERE {a}.m"))
    carried = "a.g" if "person_dp a" in text and rng.random() < 0.7 else ""
    below = (f"SELECT a.site, a.nr{', ' * bool(carried)}{carried}, count({a}.m) AS n, sum({a}.v) AS s, max({a}.w) AS hi, "
             f"count(DISTINCT {a}.d) AS kinds, bool_or({a}.m) AS one FROM {text}{where} GROUP BY a.site, a.nr{', ' * bool(carried)}{carried}")
    pool = [Output("count(*)", "bigint", "rows"), Output("sum(n)", "numeric", "sum"), Output("sum(s)", "numeric", "sum"), Output("sum(hi)", "bigint", "sum"),
            Output("sum(kinds)", "numeric", "sum"), Output("count(*) FILTER (WHERE one AND n > 1)", "bigint", "rows")]
    outputs = rng.sample(pool, rng.choice((1, 2, 3)))
    pick = rng.choice(("", "one", "n > 1", "n", "hi") + ("g",) * 4 * bool(carried))
    keys = [(pick, {"one": "boolean", "n > 1": "boolean", "n": "bigint", "hi": "integer", "g": "text"}[pick], True)] if pick else []
    sql = f"SELECT {', '.join([pick] * bool(pick) + [output.sql for output in outputs])} FROM ({below}) t" + (f" GROUP BY {pick}" if pick else "")
    return Question(sql, rng.choice(("seeded_laplace", "seeded_exact", "seeded_gaussian")), len(keys), tuple(outputs), False)


def make_window_question(rng):
    """Of rows that tie in most that they are ordered by, so that what is shown depends on all that is read."""
    text, a = rng.choice((("visit_dp a", "a"), ("orders_dp a", "a"), ("visit_dp a JOIN person_dp b ON b.site = a.site AND b.nr = a.nr", "a"),
                          ("orders_dp a JOIN item_dp b ON b.order_id = a.id", "b"), ("person_dp b LEFT JOIN area y ON y.zone = b.zone JOIN visit_dp a ON b.site = a.site AND b.nr = a.nr", "a")))
    window = "(PARTITION BY a.site, a.nr" + rng.choice(("", f" ORDER BY {a}.w", f" ORDER BY {a}.m DESC, {a}.g NULLS FIRST", f" ORDER BY {a}.x DESC")) + ")"
    below = (f"SELECT {a}.g, {a}.m, {a}.w, {a}.x, row_number() OVER {window} AS n, lag({a}.v) OVER {window} AS before, lead({a}.d, 2, 'none') OVER {window} AS later, "
             f"first_value({a}.x) OVER {window} AS began, max({a}.w) OVER (PARTITION BY a.nr, {a}.m, a.site) AS hi, count({a}.d) OVER (PARTITION BY a.site, a.nr) AS everything FROM {text}"
             + rng.choice(("", f" WHERE {a}.m IS NOT FALSE")))
    pool = [Output("count(*)", "bigint", "rows"), Output("sum(before)", "bigint", "sum"), Output("sum(began)", "numeric", "sum", exact=True), Output("sum(x - began)", "numeric", "sum", exact=True),
            Output("sum(w * before)", "bigint", "sum"), Output("sum(hi)", "bigint", "sum"), Output("count(DISTINCT later)", "bigint", "values"), Output("sum(n)", "numeric", "sum"),
            Output("count(*) FILTER (WHERE before > 0 AND w >= hi)", "bigint", "rows"), Output("count(*) FILTER (WHERE later = 'q')", "bigint", "rows")]
    outputs = rng.sample(pool, rng.choice((1, 2, 3)))
    pick = rng.choice(("", "g", "m", "n", "before > 3", "hi"))
    keys = [(pick, {"g": "text", "m": "boolean", "n": "bigint", "before > 3": "boolean", "hi": "integer"}[pick], True)] if pick else []
    above = rng.choice(("", " WHERE n = 1", " WHERE n <= 3", " WHERE w > 0"))
    sql = f"SELECT {', '.join([pick] * bool(pick) + [output.sql for output in outputs])} FROM ({below}) t{above}" + (f" GROUP BY {pick}" if pick else "")
    return Question(sql, rng.choice(("seeded_laplace", "seeded_exact", "seeded_gaussian")), len(keys), tuple(outputs), False)


def make_percentile_question(rng):
    source = rng.choice((one_table, several_tables))(rng)
    a = rng.choice(tuple(source.tables))
    call = rng.choice(("min({}.v)", "max({}.w)", "percentile_disc(0.5) WITHIN GROUP (ORDER BY {}.v)", "percentile_disc(0.3) WITHIN GROUP (ORDER BY {}.w)"))
    key = rng.choice(("", f"{a}.g", f"{a}.m"))
    columns = [key] * bool(key) + [call.format(a)]
    sql = f"SELECT {', '.join(columns)} FROM {source.text}" + (f" GROUP BY {key}" if key else "")
    return Question(sql, rng.choice(("seeded_laplace", "seeded_exact")), len(columns) - 1, (Output(call, "integer", "other"),), False)


def make_question(rng):
    return rng.choice((make_rows_question,) * 6 + (make_unit_question, make_unit_question, make_window_question, make_window_question, make_percentile_question))(rng)


# With an equality forgotten in each place where one may be: all are refused.
STRANGERS = (
    "visit_dp a JOIN person_dp b ON a.site = b.site AND a.w = b.w", "orders_dp a LEFT JOIN visit_dp b ON a.site = b.site AND a.w = b.w",
    "part_dp a JOIN remark_dp b ON a.w = b.w", "person_dp a WHERE EXISTS (SELECT FROM visit_dp e WHERE e.site = a.site AND e.w = a.w)",
    "person_dp a WHERE EXISTS (SELECT FROM orders_dp e JOIN item_dp f ON e.w = f.w WHERE e.site = a.site AND e.nr = a.nr)",
    "orders_dp a WHERE EXISTS (SELECT FROM item_dp e JOIN remark_dp f ON e.id = f.item_id WHERE e.w = a.w)",
)


def questions_of_strangers():
    for source in STRANGERS:
        yield Question(f"SELECT count(*) FROM {source}", "seeded_exact", 0, (Output("count(*)", "bigint", "rows"),), False)
