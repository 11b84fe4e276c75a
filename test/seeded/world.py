"""A made-up domain: people of two columns, visits in partitions, orders with items, and two tables that find their people over three
tables; public tables; and databases that hold it, without each of some people in turn."""
from libpq import Connection

UNIT_TYPES = (("integer", "text"), ("bigint", "date"), ("uuid", "smallint"), ("numeric", "integer"))
LITERALS = {"integer": "{}", "bigint": "{}", "smallint": "{}", "numeric": "{}.0", "text": "'n {}'", "date": "'2001-01-0{}'",
            "uuid": "'00000000-0000-0000-0000-00000000000{}'"}
TABLES = ("person", "visit", "orders", "item", "part", "remark")
OF_UNIT = ("person", "visit", "orders")  # have the columns of the unit
GROUPS, STRAYS, DISCOVERED, ZONES = ("a", "b", "c"), ("z", None), ("p", "q", "r", "s", None), ("n", "s", "e", "w", None)
BOUNDS = {"v": (-6, 10), "w": (-8, 8), "x": ("-2.5", "4")}
COMMON = "g text, d text, m boolean, v integer, w integer, x numeric, zone text, u integer"

SPARSE = "WITH (fillfactor = 10)"  # several pages, which parallel workers share

PARTITIONS = """
CREATE TABLE visit_a PARTITION OF visit FOR VALUES FROM (1) TO (7);
CREATE TABLE visit_b PARTITION OF visit FOR VALUES FROM (7) TO (13) PARTITION BY LIST (month);
CREATE TABLE visit_b1 PARTITION OF visit_b FOR VALUES IN (7, 8, 9);
CREATE TABLE visit_b2 PARTITION OF visit_b DEFAULT;
"""
PUBLIC = """
CREATE TABLE area (zone text PRIMARY KEY, climate text, factor integer NOT NULL);
INSERT INTO area VALUES ('n', 'cold', 1), ('s', 'warm', 3), ('e', 'warm', -2), ('x', NULL, 2);
CREATE TABLE label (zone text NOT NULL, label text NOT NULL, points integer);
INSERT INTO label VALUES ('n', 'far', 4), ('n', 'dark', 2), ('s', 'far', -5), ('e', 'near', 1), ('n', 'far', 0);
SELECT dp_set_public('area', 'person'), dp_set_public('label', 'person');
"""
POLICIES = {
    "seeded_laplace": "tau => 0.5, delta => 0.01",
    "seeded_exact": "tau => 0, candidates => '{100}', epsilon_max => 100, delta => 1e-6",
    "seeded_gaussian": "tau => 0, candidates => '{50}', epsilon_max => 50, mechanism => 'gaussian', delta => 0.01",
}
FORCED = ("parallel_setup_cost = 0", "parallel_tuple_cost = 0", "min_parallel_table_scan_size = 0", "max_parallel_workers_per_gather = 3")


class World:
    """Heavy people, who come and go, and light ones, so many that no group is without one, whatever is asked."""

    def __init__(self, rng, heavy=5):
        self.rng, self.heavy = rng, heavy
        self.types = rng.choice(UNIT_TYPES)
        self.rows = {table: rng.choice((2, 3, 5)) for table in TABLES[1:]}
        self.groups = {table: rng.randint(1, rows) for table, rows in self.rows.items()}
        self.per_group = {table: rng.choice((0, 1, rows)) for table, rows in self.rows.items()}
        self.content = {table: [] for table in TABLES}
        self.next = 1
        for unit in range(1, heavy + 1):
            self.add_heavy(unit)
        for at, d in enumerate(DISCOVERED * 4):
            self.add_light(heavy + 1 + at, d, at)
        self.add_nobodys()

    # ---- rows ----

    def key(self, unit):
        """Neither column alone tells people apart."""
        if unit is None:
            return "NULL, NULL"
        return ", ".join(LITERALS[type_].format(part) for type_, part in zip(self.types, (unit // 5, 1 + unit % 5)))

    def values(self, unit):
        rng = self.rng
        return (rng.choice(GROUPS + GROUPS + STRAYS), rng.choice(DISCOVERED), rng.choice((True, False, None)),
                rng.choice((-9, -6, -1, 0, 4, 9, 10, 99, None)), rng.choice((0, 3, 7, 8, None)),
                rng.choice(("-7.25", "0.125", "3.5", "4", "1e6", None)), rng.choice(ZONES), unit)

    def add(self, table, first, values):
        self.content[table].append(", ".join((*first, *map(literal, values))))

    def number(self):
        self.next += 1
        return str(self.next)

    def add_heavy(self, unit):
        rng = self.rng
        if rng.random() < 0.9:
            self.add("person", (self.key(unit),), self.values(unit))
        for _ in range(rng.randint(0, 12)):
            self.add("visit", (self.number(), self.key(unit), str(rng.randint(1, 12))), self.values(unit))
        for _ in range(rng.randint(1, 4)):
            self.add_order(unit, lambda: rng.randint(0, 3), lambda: self.values(unit))

    def add_order(self, unit, several, values):
        order = self.number()
        self.add("orders", (order, self.key(unit)), values())
        for _ in range(several()):
            item = self.number()
            self.add("item", (item, order), values())
            for table in ("part", "remark"):
                for _ in range(several()):
                    self.add(table, (item,), values())

    def add_light(self, unit, d, at):
        """One row in each table, within every condition that questions have."""
        values = (GROUPS[at % 3], d, True, 4, 3, "1.5", "nse"[at % 3], unit)
        self.add("person", (self.key(unit),), values)
        self.add("visit", (self.number(), self.key(unit), str(1 + at % 12)), values)
        self.add_order(unit, lambda: 1, lambda: values)

    def add_nobodys(self):
        """Rows whose way to a person breaks off at each step."""
        for _ in range(3):
            self.add("visit", (self.number(), self.key(None), "5"), self.values(None))
            self.add_order(None, lambda: 2, lambda: self.values(None))
            self.add("item", (self.number(), "NULL"), self.values(None))
            self.add("part", ("900000",), self.values(None))
            self.add("remark", ("NULL",), self.values(None))

    # ---- as SQL ----

    def create(self):
        unit = "site {}, nr {}".format(*self.types)
        yield f"CREATE TABLE person ({unit}, {COMMON}, PRIMARY KEY (site, nr)) {SPARSE}"
        yield f"CREATE TABLE visit (id integer, {unit}, month integer NOT NULL, {COMMON}) PARTITION BY RANGE (month)"
        yield PARTITIONS
        yield f"CREATE TABLE orders (id integer PRIMARY KEY, {unit}, {COMMON}) {SPARSE}"
        yield f"CREATE TABLE item (id integer PRIMARY KEY, order_id integer, {COMMON}) {SPARSE}"
        yield f"CREATE TABLE part (item_id integer, {COMMON}) {SPARSE}; CREATE TABLE remark (item_id integer, {COMMON}) {SPARSE}"
        yield "SELECT dp_protect('person', 'person_dp', unit => 'site, nr')"
        ways = {"visit": "site, nr -> person(site, nr)", "orders": "site, nr -> person(site, nr)", "item": "order_id -> orders(id)",
                "part": "item_id -> item(id)", "remark": "item_id -> item(id)"}
        for table, way in ways.items():
            limits = f"max_rows => {self.rows[table]}, max_groups => {self.groups[table]}"
            if self.per_group[table]:
                limits += f", max_rows_per_group => {self.per_group[table]}"
            yield f"SELECT dp_protect('{table}', '{table}_dp', unit => '{way}', {limits})"
        yield PUBLIC
        yield "SELECT dp_set_odometer('person', 'none', delta_total => 0.9)"
        for table in TABLES:
            for column, (low, high) in BOUNDS.items():
                yield f"SELECT dp_set_bounds('{table}', '{column}', {low}, {high})"
            yield f"SELECT dp_set_groups('{table}', 'g', '{{a,b,c}}')"
            for policy, terms in POLICIES.items():
                yield f"SELECT dp_grant('{table}_dp', '{policy}', {terms})"
            yield f"INSERT INTO {table} VALUES {', '.join(f'({row})' for row in self.content[table])}"
        yield f"GRANT SELECT ON area, label TO {', '.join(POLICIES)}"


def literal(value):
    return "NULL" if value is None else f"'{value}'" if isinstance(value, str) else str(value).lower()


# ---- databases -------------------------------------------------------------------------------------------------------

def make_databases(world, number):
    """Names by what became of the rows: whole, other order with parallel plans wherever a keeper permits them, and without each heavy one."""
    whole = f"seeded_{number}"
    postgres = Connection(dbname="postgres")
    if number == 0:
        for policy in POLICIES:
            postgres.must(f"CREATE ROLE {policy}")
    postgres.must(f"CREATE DATABASE {whole} TEMPLATE template0 STRATEGY file_copy")
    postgres.must(f"ALTER DATABASE {whole} SET session_preload_libraries = 'dp_rdr'")
    fill(whole, ["CREATE EXTENSION dp_rdr"])
    fill(whole, world.create())
    names = {"whole": whole, "reordered": f"{whole}_reordered"}
    for unit in range(1, world.heavy + 1):
        names[unit] = f"{whole}_without_{unit}"
    for what, name in names.items():
        if what == "whole":
            continue
        postgres.must(f"CREATE DATABASE {name} TEMPLATE {whole} STRATEGY file_copy")
        postgres.must(f"ALTER DATABASE {name} SET session_preload_libraries = 'dp_rdr'")
        if what == "reordered":
            for setting in FORCED:
                postgres.must(f"ALTER DATABASE {name} SET {setting}")
            fill(name, reordered())
        else:
            fill(name, [f"DELETE FROM {table} WHERE u = {what}" for table in TABLES])
    postgres.close()
    return names


def fill(name, statements):
    connection = Connection(dbname=name)
    connection.must("SET client_min_messages = error")
    for statement in statements:
        connection.must(statement)
    connection.close()


def reordered():
    for table in TABLES:
        yield (f"CREATE TEMP TABLE rows AS TABLE {table}; TRUNCATE {table}; INSERT INTO {table} SELECT * FROM rows ORDER BY random(); "
               f"DROP TABLE rows; ANALYZE {table}")
