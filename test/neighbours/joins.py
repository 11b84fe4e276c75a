"""Made-up joins of the tables of a schema, and what they are by the definition of SQL: nested loops over rows in memory.

A joined row is a dictionary from alias to a row, or to None where an outer join has found none. Rows of different people never
meet by construction: each table comes in by an equality that links it, and what the account adds up is checked against the server's.
"""
import re
from itertools import permutations

TABLES = ("people", "visits", "orders", "items")
KEYS = {"people": ("unit",), "orders": ("id",), "grouped": ("unit", "d")}  # besides: none
COLUMNS = ("g", "d", "m", "v", "w")


class Source:
    """A table under an alias; a sub-SELECT that filters, if there is a condition."""

    def __init__(self, table, alias, nullable=False, condition=None):
        self.table, self.alias, self.nullable, self.condition = table, alias, nullable, condition

    def sources(self):
        return [self]

    def kept(self):
        return [self]

    def text(self, schema):
        view = f"{schema.name(self.table)}_dp"
        if self.condition is None:
            return f"{view} {self.alias}"
        return f"(SELECT * FROM {view} WHERE {self.condition[0]}) {self.alias}"

    def rows(self, tables):
        return [{self.alias: row} for row in tables[self.table] if self.condition is None or self.condition[1](row)]

    def most(self, rows):
        return 1 if self.table == "people" else rows


class Union(Source):
    """Rows of several tables below each other, some of them left out by a condition that says nothing of where values lie."""

    def __init__(self, alias, parts):
        super().__init__("united", alias)
        self.parts = parts  # names of tables, and whether there is a condition

    def text(self, schema):
        columns = ", ".join(("unit",) + COLUMNS)
        return "(" + " UNION ALL ".join(f"SELECT {columns} FROM {schema.name(table)}_dp" + (" WHERE coalesce(v, 0) <> 1" if some else "")
                                        for table, some in self.parts) + f") {self.alias}"

    def rows(self, tables):
        return [{self.alias: row} for table, some in self.parts for row in tables[table] if not some or (row["v"] or 0) != 1]

    def most(self, rows):
        return sum(1 if table == "people" else rows for table, _ in self.parts)


OF_PEOPLE = (("m", lambda row: row["m"] is True), ("m IS NOT TRUE", lambda row: row["m"] is not True), ("true", lambda row: True))
BOUNDS = {"v": (-6, 10), "w": (-8, 8)}


class People(Source):
    """A sub-SELECT that groups by the unit, or by that and d. The first is one row for each person, like the people's own table."""

    def __init__(self, alias, below, grouped, condition, having):
        super().__init__("grouped" if grouped else "people", alias, condition=None)
        self.below, self.grouped, self.keeps, self.having = below, grouped, condition, having

    def text(self, schema):
        columns = ("d" if self.grouped else 'min(d COLLATE "C") AS d') + \
            ', max(g COLLATE "C") AS g, bool_or(m) AS m, max(v) AS v, min(w) AS w'
        return (f"(SELECT unit, {columns} FROM {schema.name(self.below)}_dp WHERE {self.keeps[0]} GROUP BY unit" + (", d" if self.grouped else "")
                + (" HAVING min(d COLLATE \"C\") <> 'r'" if self.having else "") + f") {self.alias}")

    def rows(self, tables):
        groups = {}
        for row in tables[self.below]:
            if row["unit"] is not None and self.keeps[1](row):
                groups.setdefault((row["unit"], row["d"] if self.grouped else None), []).append(row)
        found = [self.row_of(unit, d, rows) for (unit, d), rows in groups.items()]
        return [{self.alias: row} for row in found if not self.having or row["d"] not in (None, "r")]

    def row_of(self, unit, d, rows):
        def of(column, best):
            low, high = BOUNDS[column]
            return best((min(max(row[column], low), high) for row in rows if row[column] is not None), default=None)
        truths = [row["m"] for row in rows if row["m"] is not None]
        return {"unit": unit, "d": d if self.grouped else min((row["d"] for row in rows if row["d"] is not None), default=None),
                "g": max((row["g"] for row in rows if row["g"] not in (None, "long")), default=None),
                "m": any(truths) if truths else None, "v": of("v", max), "w": of("w", min)}


def ordered(column, descending, row, read):
    """The place of a row among a person's: by what is written, then by all columns that are read, NULL last."""
    value = row[column]
    written = (value is not None, -int(value or 0)) if descending else (value is None, int(value or 0))
    return (written,) + tuple((value is None, value if value is not None else 0) for value in read)


class Windows(Source):
    """A sub-SELECT that keeps a person's rows, or the first of them, and shows their neighbours. `most` are left, if it is not None."""

    def __init__(self, alias, below, column, descending, most, condition, reverse):
        super().__init__("people" if most == 1 else "numbered", alias)
        self.below, self.column, self.descending, self.first, self.keeps, self.reverse = below, column, descending, most, condition, reverse

    def most(self, rows):
        most = super().most(rows)
        return most if self.first is None else min(most, self.first)

    def text(self, schema):
        order = f"(PARTITION BY unit ORDER BY {self.column}{' DESC' * self.descending})"
        rows = (f"SELECT unit, g, {'lead' if self.reverse else 'lag'}(d) OVER {order} AS d, m, first_value(v) OVER {order} AS v, "
                f"max(w) OVER (PARTITION BY d, unit) AS w, row_number() OVER {order} AS n FROM {schema.name(self.below)}_dp WHERE {self.keeps[0]}")
        return f"({rows}) {self.alias}" if self.first is None else f"(SELECT unit, g, d, m, v, w FROM ({rows}) x WHERE n <= {self.first}) {self.alias}"

    def rows(self, tables):
        people = {}
        for row in tables[self.below]:
            if row["unit"] is not None and self.keeps[1](row):
                people.setdefault(row["unit"], []).append({**row, "g": None if row["g"] == "long" else row["g"]})
        return [{self.alias: row} for rows in people.values() for row in self.seen(rows)[:self.first]]

    def seen(self, rows):
        rows = sorted(rows, key=lambda row: ordered(self.column, self.descending, row, [row[read] for read in COLUMNS]))
        low, high = BOUNDS["w"]
        shown = []
        for at, row in enumerate(rows):
            other = at + 1 if self.reverse else at - 1
            ws = [min(max(like["w"], low), high) for like in rows if like["d"] == row["d"] and like["w"] is not None]
            shown.append({**row, "d": rows[other]["d"] if 0 <= other < len(rows) else None, "v": rows[0]["v"], "w": max(ws, default=None)})
        return shown


class Join:
    """kind: JOIN or LEFT JOIN; with `turned` the sides are written the other way round, as a RIGHT JOIN. equalities: pairs of
    (source, column) that ON says are equal; extra: a condition beside them, or None."""

    def __init__(self, kind, left, right, equalities, extra, turned):
        self.kind, self.left, self.right = kind, left, right
        self.equalities, self.extra, self.turned = equalities, extra, turned
        if kind == "LEFT JOIN":
            for source in right.sources():
                source.nullable = True

    def sources(self):
        return self.left.sources() + self.right.sources()

    def kept(self):
        return self.left.kept() + (self.right.kept() if self.kind == "JOIN" else [])

    def text(self, schema):
        on = " AND ".join([f"{name(a, x)} = {name(b, y)}" for (a, x), (b, y) in self.equalities]
                          + ([self.extra[0]] if self.extra else []))
        if self.turned and self.kind == "LEFT JOIN":
            return f"({self.right.text(schema)} RIGHT JOIN {self.left.text(schema)} ON {on})"
        if self.turned:
            return f"({self.right.text(schema)} JOIN {self.left.text(schema)} ON {on})"
        return f"({self.left.text(schema)} {self.kind} {self.right.text(schema)} ON {on})"

    def holds(self, row):
        for (a, x), (b, y) in self.equalities:
            one, other = value(row, a, x), value(row, b, y)
            if one is None or other is None or one != other:
                return False
        return self.extra is None or self.extra[1](row)

    def rows(self, tables):
        nothing = {source.alias: None for source in self.right.sources()}
        others = list(self.right.rows(tables))
        for left in self.left.rows(tables):
            met = False
            for right in others:
                row = {**left, **right}
                if self.holds(row):
                    met = True
                    yield row
            if not met and self.kind == "LEFT JOIN":
                yield {**left, **nothing}


def name(source, column):
    return f'{source.alias}."{column}"' if column == "order" else f"{source.alias}.{column}"


def value(row, source, column):
    there = row[source.alias]
    return None if there is None else there[column]


def link(a, b):
    """The pair of columns that says that rows of these two are of one person; None: there is none."""
    if a.table != "items" and b.table != "items":
        return (a, "unit"), (b, "unit")
    if a.table == b.table:
        return (a, "order"), (b, "order")
    items, other = (a, b) if a.table == "items" else (b, a)
    return ((items, "order"), (other, "id")) if other.table == "orders" else None


def make_condition(rng, sources):
    """Over one or two of these; NULL is not true."""
    a, b = rng.choice(sources), rng.choice(sources)
    kind = rng.choice(("positive", "true", "equal", "absent"))
    if kind == "positive":
        return f"{name(a, 'v')} > 1", lambda row: (value(row, a, "v") or 0) > 1
    if kind == "true":
        return f"{name(a, 'm')}", lambda row: value(row, a, "m") is True
    if kind == "absent":
        return f"{name(a, 'd')} IS NULL", lambda row: value(row, a, "d") is None

    def same(row):
        return value(row, a, "w") is not None and value(row, a, "w") == value(row, b, "w")
    return f"{name(a, 'w')} = {name(b, 'w')}", same


def make_source(rng, table, number):
    if table in ("visits", "orders") and rng.random() < 0.2:
        return Union(f"t{number}", [(rng.choice(("people", "visits", "orders")), rng.random() < 0.5) for _ in range(rng.choice((2, 2, 3)))])
    if table in ("visits", "orders") and rng.random() < 0.4:
        return Windows(f"t{number}", table, rng.choice("vwm"), rng.random() < 0.5, rng.choice((None, None, 1, 1, 2)), rng.choice(OF_PEOPLE), rng.random() < 0.5)
    if table in ("visits", "orders") and rng.random() < 0.4:
        return People(f"t{number}", table, rng.random() < 0.4, rng.choice(OF_PEOPLE), rng.random() < 0.3)
    condition = ("v < 3", lambda row: row["v"] is not None and row["v"] < 3) if rng.random() < 0.15 else None
    return Source(table, f"t{number}", condition=condition)


def extend(rng, tree, number):
    """The tree with one more table; None: the one that was picked is linked to nothing in it."""
    source = make_source(rng, rng.choice(TABLES), number)
    how = rng.choice(("JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "behind"))
    # What an outer join adds may be linked to a row that is there at times; an inner one only to what always is.
    partners = [other for other in (tree.sources() if how == "LEFT JOIN" else tree.kept()) if link(other, source)]
    if not partners:
        return None
    partner = rng.choice(partners)
    equalities = [link(partner, source)]
    everything = tree.sources() + [source]
    extra = make_condition(rng, everything) if rng.random() < 0.3 else None
    turned = rng.random() < 0.3
    if how == "behind":  # all so far is on the nullable side
        return Join("LEFT JOIN", source, tree, equalities, extra, turned)
    return Join(how, tree, source, equalities, extra, turned)


def make_tree(rng):
    tree = make_source(rng, rng.choice(TABLES), 0)
    wanted = rng.choice((2, 2, 2, 3, 3, 4))
    while len(tree.sources()) < wanted:
        tree = extend(rng, tree, len(tree.sources())) or tree
    return tree


def conditions_above(tree):
    """Those that hold in every joined row: none that decides about an outer join alone."""
    if isinstance(tree, Source):
        return [] if tree.condition is None else [f"{tree.alias}.{tree.condition[0]}"]
    if tree.kind == "LEFT JOIN":
        return conditions_above(tree.left)
    return conditions_above(tree.left) + conditions_above(tree.right) + ([tree.extra[0]] if tree.extra else [])


def names_alone(join, sources):
    """Whether ON names nothing beside these."""
    aliases = {source.alias for source in sources}
    extra = set() if join.extra is None else set(re.findall(r"(t\d+)\.", join.extra[0]))
    return extra | {source.alias for pair in join.equalities for source, _ in pair} <= aliases


def of_one_row(tree):
    """Sources of which all joined rows of a person show the same row, or none: people that are always there, and what an outer join adds
    to such by its ON alone."""
    found = [source for source in tree.kept() if source.table == "people"]
    while True:
        more = [join.right for join in joins_of(tree) if isinstance(join.right, Source) and join.kind == "LEFT JOIN" and join.right not in found
                and is_once_nullable(tree, join.right) and names_alone(join, found + [join.right])
                and (join.right.table == "people" or has_key(join, found))]
        if not more:
            return found
        found += more


def has_key(join, found):
    """Of orders the id, equated with what is known."""
    return join.right.table == "orders" and any((a is join.right and x == "id" and b in found) or (b is join.right and y == "id" and a in found)
                                                for (a, x), (b, y) in join.equalities)


def joins_of(tree):
    return [] if isinstance(tree, Source) else joins_of(tree.left) + joins_of(tree.right) + [tree]


def is_once_nullable(tree, source):
    return sum(join.kind == "LEFT JOIN" and source in join.right.sources() for join in joins_of(tree)) == 1


# ---- how many rows of one person -----------------------------------------------------------------------------------

def equalities_of(tree, nullable=False):
    """(a, x, b, y, target): that the one column says what the other is; target: the sources of which it says something."""
    if isinstance(tree, Source):
        return []
    below = equalities_of(tree.left, nullable) + equalities_of(tree.right, nullable or tree.kind == "LEFT JOIN")
    of = tree.right.sources() if tree.kind == "LEFT JOIN" else tree.sources()
    pairs = list(tree.equalities)
    if tree.extra and "." in tree.extra[0] and " = " in tree.extra[0]:
        a, b = (part.split(".")[0] for part in tree.extra[0].split(" = "))
        by_alias = {source.alias: source for source in tree.sources()}
        if a != b:
            pairs.append(((by_alias[a], "w"), (by_alias[b], "w")))
    found = []
    for (a, x), (b, y) in pairs:
        if a in of:
            found.append((a, x, b))
        if b in of:
            found.append((b, y, a))
    return below + found


def most_rows(tree, rows):
    """R: the least product over the orders in which tables can be added, and whether keys alone say that it is 1."""
    sources, equalities = tree.sources(), equalities_of(tree)

    def one(source, known):
        columns = {column for target, column, by in equalities if target is source and by in known}
        if source.table != "items":
            columns.add("unit")
        return source.table in KEYS and set(KEYS[source.table]) <= columns

    best, keyed = None, False
    for order in permutations(sources):
        product, all_keyed = 1, True
        for at, source in enumerate(order):
            if one(source, order[:at]):
                continue
            all_keyed = False
            product *= source.most(rows)
        best = product if best is None else min(best, product)
        keyed = keyed or all_keyed
    return best, keyed


def joined_rows(tree, tables):
    """As the account takes them: their person, and columns by the names that the question gives them."""
    anchor = tree.kept()[0]
    for row in tree.rows(tables):
        flat = {"unit": row[anchor.alias]["unit"]}
        for source in tree.sources():
            flat[source.alias] = row[source.alias] is not None
            for column in COLUMNS:
                flat[f"{source.alias}.{column}"] = value(row, source, column)
        yield flat
