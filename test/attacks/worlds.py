"""Two neighbouring databases: in one of them the canary's row was never there. What a role sees in both must be the same.

Statements are sent to both; their replies are compared with the noise masked, searched for the canary, and counted
against the odometers.
"""
import pathlib
import re
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

from libpq import Connection

DATABASES = ("attack_with", "attack_without")

# Values of the canary's row that no statement writes down.
CANARY = re.compile(r"xyzzy-7319|73197319|1871-03-17")

# What an answer consists of: its values differ from run to run, and differ the same way in both databases.
NOISY_TYPES = {20: "bigint", 700: "real", 701: "float8", 1700: "numeric"}
INTERVAL = 1186  # noisy as well, and no number
# What is drawn has the type of its argument, which may be that of a key: it is told by its name.
DRAWN_TYPES = {21: "smallint", 23: "integer", 1007: "integer[]", 1022: "float8[]", 1082: "date", 1114: "timestamp", 1187: "interval[]", 1231: "numeric[]"}
DRAWN_NAMES = ("min", "max", "percentile_cont", "percentile_disc", "drawn")
DRAWS = re.compile(r"\b(min|max|percentile_\w+)\s*\(.*_dp\b", re.IGNORECASE | re.DOTALL)

# What differs between two runs of anything.
VOLATILE = (
    (re.compile(r"pg_temp_\d+|pg_toast_temp_\d+"), "pg_temp"),
    (re.compile("|".join(sorted(DATABASES, reverse=True))), "database"),
    (re.compile(r"(time=|Time: |duration: |Timing: Generation |Inlining |Optimization |Emission |Total )[\d.]+( ms|\.\.)?[\d.]*"), r"\1"),
)
LARGE_NUMBERS = re.compile(r"\d{4,}|-?\d+\.\d+")
NUMBERS = re.compile(r"-?\d+(\.\d+)?")
# A setting that has changed its name.
FORCED_PARALLEL = {True: "debug_parallel_query", False: "force_parallel_mode"}
# Log messages show plans; how many rows a catalog seems to have depends on what other cases have left there.
READS_CATALOGS = re.compile(r"pg_|_to_xml|information_schema|dp_rdr\.|\bown\b|\bmine\b|'s'|EXECUTE|EXPLAIN")

ODOMETERS = """SELECT sum(releases), sum(denials)
               FROM (SELECT * FROM dp_odometer('person') UNION ALL SELECT * FROM dp_odometer('scarce')
                     UNION ALL SELECT * FROM dp_odometer('patient') UNION ALL SELECT * FROM dp_odometer('letter')) o"""


def build_fixture():
    script = pathlib.Path(__file__).with_name("fixture.sql")
    subprocess.run(["psql", "-X", "-q", "-d", "postgres", "-o", "/dev/null", "-f", str(script)], check=True)


def steady(text):
    for pattern, replacement in VOLATILE:
        text = pattern.sub(replacement, text)
    return text


def steady_notice(fields, sql):
    # Numbers of OIDs and costs vary anyway; the others only where the plan is that of a catalog query.
    varying = NUMBERS if dict(fields).get("S") == "LOG" and READS_CATALOGS.search(sql) else LARGE_NUMBERS
    return tuple((field, varying.sub("N", steady(text))) for field, text in fields)


def is_drawn(column):
    return column[0] in DRAWN_NAMES and column[1] in DRAWN_TYPES


def masked_rows(result, exact, draws):
    noisy = [not exact and (column[1] in NOISY_TYPES or column[1] == INTERVAL or draws and is_drawn(column)) for column in result.columns]
    return tuple(tuple(value if value is None else "noise" if hide else steady(value) for value, hide in zip(row, noisy))
                 if noisy else row for row in result.rows)


def observation(reply, sql, exact=False):
    """What must not differ between the databases: all, but the noise, and which process of several was the first to fail."""
    results = tuple((result.status, result.tag, result.columns, masked_rows(result, exact, DRAWS.search(sql)),
                     tuple((field, steady(text)) for field, text in result.error if text != "parallel worker"))
                    for result in reply.results)
    return results, tuple(steady_notice(notice, sql) for notice in reply.notices)


def shows_canary(reply):
    """In a value, an error or a notice: the reply is searched as it came."""
    return CANARY.search(repr(reply)) is not None


def numbers(reply):
    """The noisy values of a reply."""
    return [value for result in reply.results for row in result.rows for column, value in zip(result.columns, row)
            if column[1] in NOISY_TYPES and value is not None]


class World:
    """One of the databases, with a connection for each role that has asked something."""

    def __init__(self, database):
        self.database = database
        self.options = ""
        self._connections = {}
        self._superuser = Connection(dbname=database)
        # Processes of connections that are closed; at first those that built the database.
        self._ended = [int(pid) for (pid,) in self._superuser.must(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'")]
        self._await_ends()
        self.account()  # the connection's first call loads the library
        self.version = int(self._superuser.must("SHOW server_version_num")[0][0]) // 10000

    def connection(self, role):
        if role not in self._connections:
            if role in ("superuser", "controller"):
                self._connections[role] = Connection(dbname=self.database)
            else:
                self._connections[role] = Connection(dbname=self.database, user=f"attack_{role}", password="attack",
                                                     options=self.filled(f"-c statement_timeout=20s -c dp_rdr.noise=silent {self.options}"))
        return self._connections[role]

    def filled(self, text):
        return text.replace(":database", self.database).replace(":forced_parallel", FORCED_PARALLEL[self.version >= 16])

    def send(self, role, sql):
        connection = self.connection(role)
        if role == "controller":
            connection.must("SET ROLE attack_controller")
        reply = connection.send(self.filled(sql))
        if not connection.alive():
            self._close(role)
        return reply

    def _close(self, role):
        connection = self._connections.pop(role)
        self._ended.append(connection.pid)
        connection.close()

    def _await_ends(self):
        """What a process has counted comes at the latest when it ends, which is some time after its connection's end."""
        deadline = time.monotonic() + 60
        while self._ended:
            alive = self._superuser.must(f"SELECT pid FROM pg_stat_activity WHERE pid = ANY ('{{{','.join(map(str, self._ended))}}}')")
            self._ended = [int(pid) for (pid,) in alive]
            if time.monotonic() > deadline:
                raise RuntimeError(f"still there after a minute: {self._ended}")
            if self._ended:
                time.sleep(0.01)

    def account(self):
        """Releases and denials of all odometers."""
        self.last_account = self._superuser.must(ODOMETERS)[0]
        return self.last_account

    def settle(self):
        """Leaves the connections as new. What they have counted has come then: a later case may look at counters."""
        for connection in self._connections.values():
            if connection.in_transaction():
                connection.send("ROLLBACK")
            if connection.used:
                connection.send("DISCARD ALL")
                connection.send("SELECT pg_stat_force_next_flush()")
            connection.used = False
        self._await_ends()

    def disconnect(self):
        for role in list(self._connections):
            self._close(role)
        self._await_ends()


class Neighbours:
    """Both databases, asked at the same time."""

    def __init__(self):
        self.worlds = [World(database) for database in DATABASES]
        self.version = self.worlds[0].version
        self._pool = ThreadPoolExecutor(len(self.worlds))

    def both(self, action):
        return list(self._pool.map(action, self.worlds))

    def configure(self, options):
        self.both(World.disconnect)
        for world in self.worlds:
            world.options = options


def log_complaints(superuser):
    """Lines of the server log that nobody may cause: the canary's values, and crashes."""
    bad = re.compile(CANARY.pattern + r"|TRAP:|PANIC:|terminated by signal")
    log = superuser.must("SELECT pg_read_file(pg_current_logfile())")[0][0]
    return [line for line in log.splitlines() if bad.search(line)]
