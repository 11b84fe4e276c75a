#!/usr/bin/env python3
"""What each protection adds to three counts, on Adult's rows and more of them.

    plain            nothing
    dp_count         noise alone: the owner's aggregate with an epsilon of 0.1
    view             a restricted view at tau 0.9, which costs 0.1 a count: policy, charge, noise; by a Unix socket
    view, TLS        the same over TLS
    plain, sealed    plain, on a folder that gocryptfs encrypts
    view, sealed     the view there
    request          the analyst requests the count, the owner permits it, the analyst fetches it: three statements in two sessions
    pgcrypto         plain, of columns that are encrypted in the table and decrypted in the query

The calls take turns, so that a slow minute hits all alike; the first round warms up and is thrown away. Shown are mean,
standard deviation and the ratio to plain; besides, seconds to load and to encrypt, and milliseconds of a charge. Nothing
is asserted: the numbers are for reading.
"""
import argparse
import csv
import pathlib
import statistics
import time

from server import ROOT, Server

DATABASE = "escrow"
KEY = "key of this measurement"
COLUMNS = ("age", "sex", "race", "income")
# As little as is sound of what pgcrypto can: a random vector, no compression, and the key used as it is.
OPTIONS = "cipher-algo=aes256, compress-algo=0, s2k-mode=0"
QUERIES = {
    "age 20 to 30": "SELECT count(*) FROM {table} WHERE {age} BETWEEN 20 AND 30",
    "by race": "SELECT {race}, count(*) FROM {table} GROUP BY {race}",
    "women over 50K": "SELECT count(*) FROM {table} WHERE {sex} = 'Female' AND {income} = '>50K'",
}

# Of an answer that is fetched.
ANSWERS = {"age 20 to 30": "n bigint", "by race": "race text, n bigint", "women over 50K": "n bigint"}

SETUP = """
SET client_min_messages = warning;
CREATE EXTENSION dp_rdr;
CREATE ROLE controller;
CREATE ROLE analyst;
GRANT CREATE ON SCHEMA public TO controller;
SET ROLE controller;
CREATE TABLE adult AS SELECT age, sex, race, income FROM public.loaded;
SELECT dp_protect('adult', 'adult_dp');
SELECT dp_set_groups('adult', 'race', '{Amer-Indian-Eskimo,Asian-Pac-Islander,Black,Other,White}');
SELECT dp_set_odometer('adult', 'none');
SELECT dp_grant('adult_dp', 'analyst', tau => 0.9);
RESET ROLE;
"""

LOAD = """
\\set data test/data
\\i test/data/adult.sql
TRUNCATE adult;
\\copy adult from program 'test/data/scale_adult.py {rows}' csv header
ALTER TABLE adult RENAME TO loaded;
GRANT SELECT ON loaded TO PUBLIC;
"""


def as_is(query, table="adult"):
    return QUERIES[query].format(table=table, **{name: name for name in COLUMNS})


def with_noise(query):
    return as_is(query).replace("count(*)", "dp_count(age, 0.1)")


def decrypted(query):
    opened = {name: f"pgp_sym_decrypt({name}, '{KEY}')" for name in COLUMNS}
    opened["age"] = f"({opened['age']})::integer"
    return QUERIES[query].format(table="adult_encrypted", **opened)


def loaded(server, rows):
    """A database with the table, protected. Seconds of making and writing the rows."""
    server.psql("postgres", f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE);\nDROP ROLE IF EXISTS controller, analyst;\n"
                f"CREATE DATABASE {DATABASE};")
    server.psql(DATABASE, LOAD.format(rows=rows))
    begun = time.perf_counter()
    server.psql(DATABASE, SETUP)
    took = time.perf_counter() - begun
    server.psql(DATABASE, "VACUUM ANALYZE adult;\nCHECKPOINT;")
    return took


def encrypted(server):
    """Seconds of encrypting the columns into a table beside."""
    server.psql(DATABASE, "CREATE EXTENSION pgcrypto;")
    begun = time.perf_counter()
    server.psql(DATABASE, "CREATE TABLE adult_encrypted AS SELECT " + ", ".join(
        f"pgp_sym_encrypt({name}::text, '{KEY}', '{OPTIONS}') AS {name}" for name in COLUMNS) + " FROM adult;")
    took = time.perf_counter() - begun
    server.psql(DATABASE, "VACUUM ANALYZE adult_encrypted;\nCHECKPOINT;")
    return took


class Way:
    """A variant: its connection, and what it asks."""

    def __init__(self, server, role, ask, tls=False):
        self.connection = server.connect(DATABASE, tls)
        self.connection.must("LOAD 'dp_rdr'")
        self.connection.must("SET client_min_messages = error")
        if role:
            self.connection.must(f"SET ROLE {role}")
        self.ask, self.times = ask, {query: [] for query in QUERIES}

    def go(self, query):
        begun = time.perf_counter()
        self.connection.must(self.ask(query))
        self.times[query].append((time.perf_counter() - begun) * 1000)

    def spent(self, query):
        return sum(self.times[query])

    def close(self):
        self.connection.close()


class RequestWay(Way):
    """Requested and fetched in one session, permitted in another: nobody permits what his own login has asked."""

    def __init__(self, server, ask):
        super().__init__(server, None, ask)
        self.owner = server.connect(DATABASE)
        self.connection.must("SET SESSION AUTHORIZATION analyst")
        self.owner.must("LOAD 'dp_rdr'")
        self.owner.must("SET SESSION AUTHORIZATION controller")

    def go(self, query):
        begun = time.perf_counter()
        text = self.ask(query).replace("'", "''")
        number = self.connection.must(f"SELECT dp_request('{text}', 'measured')")[0][0]
        self.owner.must(f"SELECT dp_approve({number}, basis => 'public')")
        self.connection.must(f"SELECT * FROM dp_fetch({number}) AS ({ANSWERS[query]})")
        self.times[query].append((time.perf_counter() - begun) * 1000)

    def close(self):
        self.owner.close()
        super().close()


def ways_of(open_server, sealed_server):
    def restricted(query):
        return as_is(query, "adult_dp")

    ways = {"plain": Way(open_server, "controller", as_is), "dp_count": Way(open_server, "controller", with_noise),
            "view": Way(open_server, "analyst", restricted), "view, TLS": Way(open_server, "analyst", restricted, tls=True)}
    if sealed_server:
        ways["plain, sealed"] = Way(sealed_server, "controller", as_is)
        ways["view, sealed"] = Way(sealed_server, "analyst", restricted)
    ways["request"] = RequestWay(open_server, restricted)
    ways["pgcrypto"] = Way(open_server, None, decrypted)
    return ways


def measure(ways, rounds, budget):
    for number in range(rounds + 1):
        for query in QUERIES:
            for way in ways.values():
                # What takes minutes is not asked ten times.
                if number < 2 or way.spent(query) < budget * 1000:
                    way.go(query)


def charges(connection):
    return [(float(limit), int(n)) for limit, n in
            connection.must("SELECT microseconds, charges FROM dp_rdr.charge_times() ORDER BY microseconds")]


def median_charge(before, after):
    """Milliseconds within which half of the charges in between were made."""
    earlier = dict(before)
    counts = [(limit, n - earlier.get(limit, 0)) for limit, n in after]
    half, seen = sum(n for _, n in counts) / 2, 0
    for limit, n in counts:
        seen += n
        if n and seen >= half:
            return limit / 1000
    return float("nan")


def show(rows, ways, record):
    print(f"\n{rows} rows: mean and standard deviation in ms, times plain")
    print(f"{'':>16}" + "".join(f"{query:>30}" for query in QUERIES))
    for name, way in ways.items():
        cells = []
        for query in QUERIES:
            took, plain = way.times[query][1:], statistics.mean(ways["plain"].times[query][1:])
            mean, deviation = statistics.mean(took), statistics.stdev(took) if len(took) > 1 else float("nan")
            cells.append(f"{mean:>14.2f} {deviation:>7.2f} {mean / plain:>6.2f}x")
            record(rows, name, query, mean, deviation, mean / plain, len(took))
        print(f"{name:>16}" + "".join(cells), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=int, nargs="+", help="sizes of the table")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--budget", type=float, default=30, help="seconds after which a call is not repeated")
    parser.add_argument("--work", required=True, help="a folder of one's own")
    parser.add_argument("--sealed", help="a folder that is encrypted")
    options = parser.parse_args()

    lines = [("rows", "variant", "query", "mean ms", "deviation ms", "times plain", "measurements")]
    servers = [Server("open", options.work, options.work)]
    try:
        if options.sealed:
            servers.append(Server("sealed", options.sealed, options.work))
        for rows in options.rows:
            print(f"\n{rows} rows: seconds to copy and protect them: " +
                  ", ".join(f"{loaded(server, rows):.2f} ({name})" for name, server in zip(("open", "sealed"), servers)))
            print(f"seconds to encrypt four columns with pgcrypto: {encrypted(servers[0]):.2f}", flush=True)
            admin = servers[0].connect(DATABASE)
            ways = ways_of(servers[0], servers[1] if options.sealed else None)
            before = charges(admin)
            measure(ways, options.rounds, options.budget)
            show(rows, ways, lambda *line: lines.append(line))
            print(f"a charge: {median_charge(before, charges(admin)):.2f} ms (half of them within)", flush=True)
            for each in (admin, *ways.values()):
                each.close()
    finally:
        for server in servers:
            server.stop()
        path = ROOT / "build/escrow.csv"
        path.parent.mkdir(exist_ok=True)
        with open(path, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(lines)


if __name__ == "__main__":
    main()
