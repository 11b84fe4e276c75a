"""Statements made from the table of total functions: every entry, with extreme columns and constants, on two neighbouring
databases. The victim's row, which only one of them has, holds the extremes: texts of many megabytes, infinities, NaN, -0, the
ends of every range, odd spellings. Nothing but noise may differ.
"""
import itertools

# Values of every type that an entry takes: the victim's columns, one for each, and constants. The first is an ordinary one.
EXTREMES = {
    "smallint": ("'7'", "'-32768'", "'32767'", "'0'"),
    "integer": ("'7'", "'-2147483648'", "'2147483647'", "'0'", "'-1'"),
    "bigint": ("'7'", "'-9223372036854775808'", "'9223372036854775807'", "'0'"),
    "real": ("'7.5'", "'NaN'", "'Infinity'", "'-0'", "'3.4028235e38'", "'1e-45'"),
    "double precision": ("'7.5'", "'NaN'", "'-Infinity'", "'-0'", "'1.7976931348623157e308'", "'5e-324'"),
    "numeric": ("'7.50'", "'NaN'", "'Infinity'", "'1.000'", "'1e131071'", "'1e-16383'", "repeat('9', 60000)::numeric", "'0'"),
    "text": ("'note 7'", "''", "repeat('a', 140000000)", "repeat('a', 1048576)", "repeat('a_%', 400000)", "'\\'", "'İﬀ 𝄞'",
             "'+1e5'", "'2021-02-29'", "repeat(E'\\u0316\\u0301', 100000)", "repeat('9', 1000)"),
    "character varying": ("'note 7'", "repeat('b', 2000000)", "''"),
    "character": ("'note 7'", "repeat(' ', 2000000) || 'x'", "''"),
    "name": ("'note'", "''", "repeat('é', 31)"),
    '"char"': ("'a'", "''"),
    "bytea": ("'\\x07'", "''", "decode(repeat('00', 2000000), 'hex')"),
    "bit": ("'00000111'", "'11111111'"),
    "bit varying": ("'111'", "''", "repeat('10', 500000)::bit varying"),
    "boolean": ("'true'", "'false'"),
    "date": ("'2020-02-29'", "'infinity'", "'-infinity'", "'4714-11-24 BC'", "'5874897-12-31'"),
    "timestamp without time zone": ("'2020-02-29 12:00'", "'infinity'", "'4714-11-24 00:00 BC'", "'294276-12-31 23:59:59.999999'"),
    "timestamp with time zone": ("'2020-02-29 12:00+00'", "'-infinity'", "'4714-11-24 00:00+00 BC'", "'294276-12-31 23:59:59.999999+00'"),
    "interval": ("'1 day'", "'2147483647 months'", "'-2147483648 days'", "'2562047788:00:54.775807'", "'30 days -1 month'"),
    "time without time zone": ("'12:00'", "'24:00'"),
    "time with time zone": ("'12:00+00'", "'00:00+15:59:59'", "'24:00-15:59:59'"),
    "money": ("'7'", "'-92233720368547758.08'", "'92233720368547758.07'"),
    "oid": ("'7'", "'4294967295'"),
    "uuid": ("'00000000-0000-0000-0000-000000000007'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'"),
    "inet": ("'10.0.0.7'", "'::/0'", "'255.255.255.255/32'"),
    "macaddr": ("'00:00:00:00:00:07'", "'ff:ff:ff:ff:ff:ff'"),
    "macaddr8": ("'00:00:00:00:00:00:00:07'", "'ff:ff:ff:ff:ff:ff:ff:ff'"),
    "mood": ("'fair'", "'high'"),
    "integer[]": ("'{1,5,9}'", "'{}'", "'{9,1}'"),
    "jsonb": ("""'{"a": 7, "b": [1, null, "x"]}'""", "'null'", "'[]'", """'{"a": 1e131071}'""", """'{"a": "infinity", "year": -1e-300}'"""),
}
STAND_INS = {'"any"': "text", "anyenum": "mood", "anynonarray": "integer", "anycompatible": "integer", "anycompatiblearray": "integer[]", "bpchar": "character"}
COLUMN_TYPES = {"character": "bpchar", "bit": "bit(8)"}
# Longest first in every list of bytes, so constants are those that a statement may hold.
CONSTANTS = {kind: tuple(value for value in values if "000000" not in value and "00000)" not in value and "60000" not in value)
             for kind, values in EXTREMES.items()}
# Of arguments that must be constants; some are refused.
FIXED = {
    "text": ("'year'", "'month'", "'epoch'", "'microseconds'", "'UTC'", "'America/New_York'", "'%a_%'", "'%' || repeat('a_', 200) || 'b'",
             "'a'", "''", "'ab\\'", "'nonsense'", "NULL"),
    "name": ("'a%'", "'%'"),
    "integer": ("0", "3", "-3", "10", "327684", "2147483647", "(-2147483648)", "NULL"),
    "boolean": ("true", "false"),
    "integer[]": ("'{1,5,9}'", "'{9,1}'", "'{}'", "NULL"),
    "interval": ("'1 day'", "'7 days 03:00'", "'00:00:01'", "'-1 day'", "'0'", "'1 month'", "NULL"),
    "timestamp without time zone": ("'2001-01-01'", "'4713-01-01 BC'", "'infinity'", "NULL"),
    "timestamp with time zone": ("'2001-01-01 UTC'", "'-infinity'", "NULL"),
}

ENTRIES = """
SELECT f.call, p.proname, coalesce(pg_catalog.format_type(p.prorettype, NULL), split_part(f.call, ' AS ', 2)),
       coalesce((SELECT string_agg(pg_catalog.format_type(a.type, NULL), ';' ORDER BY a.i) FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY a (type, i)),
                substring(f.call FROM '^CAST\\((.*) AS ')),
       array_to_string(f.constants, ';')
FROM dp_rdr.total_functions() f LEFT JOIN pg_proc p ON p.oid = f.function ORDER BY f.call COLLATE "C"
"""


def plain_type(name):
    return STAND_INS.get(name, name)


class Entry:
    def __init__(self, row):
        self.call, self.name, result, arguments, constants = row
        self.result = plain_type(result.rstrip(")"))
        self.arguments = [plain_type(argument) for argument in arguments.split(";")]
        self.constants = {int(i) - 1 for i in (constants or "").split(";") if i}

    def write(self, arguments):
        if self.name is None:
            return f"CAST({arguments[0]} AS {self.result})"
        return f'pg_catalog."{self.name}"({", ".join(arguments)})'


def column(kind, number):
    return f"c{list(EXTREMES).index(kind)}_{number}"


def build_table(worlds):
    """A table of its own: ordinary rows everywhere, the victim only in the first database."""
    columns = [(column(kind, i), kind, value) for kind, values in EXTREMES.items() for i, value in enumerate(values)]
    definition = ", ".join(f"{name} {COLUMN_TYPES.get(kind, kind)}" for name, kind, _ in columns)
    literal = {name: f"({value})::{COLUMN_TYPES.get(kind, kind)}" for name, kind, value in columns}
    usual = {name: f"({EXTREMES[kind][0]})::{COLUMN_TYPES.get(kind, kind)}" for name, kind, _ in columns}
    script = ["SET ROLE attack_controller", f"CREATE TABLE extreme (id integer, {definition})",
              f"INSERT INTO extreme SELECT i, {', '.join(usual.values())} FROM generate_series(1, 20) i",
              "SELECT dp_protect('extreme', 'extreme_dp')", "SELECT dp_set_odometer('extreme', 'none')",
              "SELECT dp_grant('extreme_dp', 'attack_analyst', tau => 0.95)"]
    victim = [f"INSERT INTO extreme VALUES (4242, {', '.join(literal.values())})"]
    for world, more in zip(worlds, (victim, [])):
        for statement in script + more + ["RESET ROLE"]:
            reply = world.send("superuser", statement)
            if reply.sqlstate():
                raise RuntimeError(f"{statement[:200]}: {reply.sqlstate()}")


class Grammar:
    def __init__(self, entries, dice):
        self.entries = [Entry(row) for row in entries]
        self.dice = dice
        self.by_result = {}
        for entry in self.entries:
            self.by_result.setdefault(entry.result, []).append(entry)
        self.turns = itertools.cycle(self.entries)

    def constant(self, kind):
        return f"({self.dice.choice(CONSTANTS[kind])})::{COLUMN_TYPES.get(kind, kind)}"

    def leaf(self, kind):
        name = column(kind, self.dice.randrange(len(EXTREMES[kind])))
        if self.dice.random() < 0.6:
            return name
        arm = name if self.dice.random() < 0.5 else self.constant(kind)
        return f"CASE WHEN id = 4242 THEN {arm} ELSE {self.constant(kind)} END"

    def argument(self, kind, used, depth):
        below = self.by_result.get(kind)
        if depth > 0 and below and self.dice.random() < 0.25:
            return self.value(self.dice.choice(below), used, depth - 1)
        return self.constant(kind) if self.dice.random() < 0.15 else self.leaf(kind)

    def value(self, entry, used, depth=2):
        """A call of the entry; what was used is added to the set."""
        used.add(entry.call)
        free = [i for i in range(len(entry.arguments)) if i not in entry.constants]
        with_column = self.dice.choice(free)
        arguments = []
        for i, kind in enumerate(entry.arguments):
            if i in entry.constants:
                arguments.append(f"{self.dice.choice(FIXED[kind])}::{kind}" if kind in FIXED else self.constant(kind))
            else:
                arguments.append(self.leaf(kind) if i == with_column else self.argument(kind, used, depth))
        return entry.write(arguments)

    def condition(self, used):
        entry = next(self.turns)
        value = self.value(entry, used)
        if entry.result not in EXTREMES:
            return f"{value} IS NULL"
        other = self.constant(entry.result)
        if entry.result == "boolean":
            forms = ("{v}", "NOT {v}", "{v} IS NOT TRUE")
        else:
            forms = ("{v} IS NULL", "{v} = {o}", "{v} IS DISTINCT FROM {o}", "{v} IN ({o}, {o})", "nullif({v}, {o}) IS NULL",
                     "greatest({v}, {o}) IS NULL", "CASE {v} WHEN {o} THEN true END", "coalesce({v}, {o}) < {o}")
        test = self.dice.choice(forms).format(v=value, o=other)
        return test if self.dice.random() < 0.6 else f"CASE WHEN id = 4242 THEN {test} ELSE false END"

    def statement(self):
        """A statement, and the entries that it uses."""
        used = set()
        form = self.dice.randrange(4)
        if form == 0:
            return f"SELECT count(*) FROM extreme_dp WHERE {self.condition(used)}", used
        if form == 1:
            return f"SELECT count({self.value(next(self.turns), used)}) FROM extreme_dp", used
        if form == 2:
            return f"SELECT count(*) FILTER (WHERE {self.condition(used)}) FROM extreme_dp WHERE {self.condition(used)}", used
        return f"SELECT count(*) FROM (SELECT id, {self.value(next(self.turns), used)} AS v FROM extreme_dp) q WHERE v IS NOT NULL", used

    def statement_of(self, call):
        used = set()
        entry = next(entry for entry in self.entries if entry.call == call)
        return f"SELECT count({self.value(entry, used, 0)}) FROM extreme_dp", used
