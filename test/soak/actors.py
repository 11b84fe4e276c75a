"""Who takes part in a soak: analysts that count their answers, a controller who changes everything, and who kills.

Each question has a number of its own in its WHERE (age > -number, which holds for every row), so that its charges are
found in the ledger. A question that was answered must have its charge there; one that was refused must have none. """
import collections
import itertools
import os
import random
import re
import signal
import threading
import time

from server import EXPECTED, connect

numbers = itertools.count(100_000_001)
stop = threading.Event()


class Tally:
    """What the clients saw, by the number of a question. Shared by threads."""
    REFUSED = ("53400", "42501", "0A000", "22023", "25006")

    def __init__(self):
        self.lock = threading.Lock()
        self.answers = collections.Counter()   # number -> answers
        self.attempts = collections.Counter()  # number -> how often it was sent
        self.refused = collections.Counter()   # number -> refusals that cost nothing
        self.selected = set()                  # numbers of questions whose answers cost two charges
        self.kinds = collections.Counter()     # kind of question -> answers
        self.errors = collections.Counter()    # (SQLSTATE, message)
        self.strange = []

    def sent(self, number, times=1):
        with self.lock:
            self.attempts[number] += times

    def saw(self, kind, number, reply_ok, state="", message=""):
        with self.lock:
            if reply_ok:
                self.answers[number] += 1
                self.kinds[kind] += 1
                return
            if state in self.REFUSED:
                self.refused[number] += 1
            self.error(kind, state, message)

    def error(self, kind, state, message):
        short = re.sub(r"\d+", "#", message.strip().split("\n")[0])
        self.errors[state, short] += 1
        # A connection that broke has no SQLSTATE.
        if state not in ("", "lost") and not re.search(EXPECTED.get(state, "(?!)"), message):
            self.strange.append(f"{kind}: {state} {message.strip()}")


# ---- analysts -------------------------------------------------------------------------------------------------------

DP = "SELECT * FROM dp_query($${}$$) AS ({})"


def count(number, view="people_dp"):
    return f"SELECT count(*) FROM {view} WHERE age > -{number}"


def view(number):
    return [count(number)]


def by_text(number):
    return [DP.format(count(number), "n bigint")]


def average(number):
    return [DP.format(f"SELECT avg(pay) FROM people_dp WHERE age > -{number}", "a numeric")]


def declared(number):
    return [f"SELECT city, count(*), sum(pay) FROM people_dp WHERE age > -{number} GROUP BY city"]


def discovered(number):
    return [f"SELECT age, count(*) FROM people_dp WHERE age > -{number} GROUP BY age"]


def partitioned(number):
    return [count(number, "visit_dp")]


def rolled_back(number):
    return ["BEGIN", *view(number), "ROLLBACK"]


def savepoint(number):
    return ["BEGIN", "SAVEPOINT s", *by_text(number), "ROLLBACK TO s", "COMMIT"]


def in_time(number):
    limit = random.choice((1, 5, 20, 60, 200, 1000))
    return [f"SET statement_timeout = {limit}", *view(number), "RESET statement_timeout"]


def parallel(number):
    return ["SET parallel_setup_cost = 0", "SET parallel_tuple_cost = 0", "SET min_parallel_table_scan_size = 0",
            "SELECT count(*) FROM generate_series(1, 1000) g JOIN bulk ON g = x", *view(number), "RESET ALL",
            "SET client_min_messages = error"]


def prepared(number):
    # Its plan is kept; the parameter is not the number.
    return [f"PREPARE q (integer) AS SELECT count(*) FROM people_dp WHERE age > $1 AND age > -{number}",
            "EXECUTE q(-1)", "EXECUTE q(-2)", "EXECUTE q(-3)", "DEALLOCATE q"]


def denied(number):
    return [DP.format(count(number, "tight_dp"), "n bigint")]


def not_allowed(_):
    return ["SELECT age FROM people_dp", "SELECT max(age) FROM people_dp", "SELECT * FROM dp_rdr.ledger_row"]


def released(number):
    return [DP.format(count(number), "n bigint")]


QUESTIONS = (view, by_text, average, declared, discovered, partitioned, rolled_back, savepoint, in_time, parallel,
             prepared, denied, not_allowed)


def asks(statement, number):
    """Whether an answer to the statement costs something."""
    return (f"-{number}" in statement and not statement.startswith("PREPARE")) or statement.startswith("EXECUTE")


class Analyst(threading.Thread):
    """Asks until it is told to stop; comes back when its connection is lost. A pool logs in as one, asks as another."""

    def __init__(self, tally, login, role=None, questions=QUESTIONS):
        super().__init__(name=login, daemon=True)
        self.tally, self.login, self.role, self.questions = tally, login, role, questions
        self.connection = None

    def connected(self):
        while not stop.is_set():
            if self.connection is not None and self.connection.alive():
                return True
            try:
                self.connection = connect(self.login)
                if self.role:
                    self.connection.must(f"SET ROLE {self.role}")
                return True
            except (ConnectionError, RuntimeError):
                time.sleep(0.2)
        return False

    def ask(self, question):
        number = next(numbers)
        if question is released:
            with self.tally.lock:
                self.tally.selected.add(number)
        for statement in question(number):
            costs = asks(statement, number)
            if costs:
                self.tally.sent(number)
            reply = self.connection.send(statement)
            state, result = reply.sqlstate(), reply.results[-1]
            if costs:
                self.tally.saw(question.__name__, number, not state, state, result.field("M"))
            elif state and not (question is not_allowed and state in ("42501", "0A000", "42883")):
                with self.tally.lock:
                    self.tally.error(question.__name__, state, result.field("M"))
            if not self.connection.alive():
                self.connection.close()
                return
        if self.connection.in_transaction():
            self.connection.send("ROLLBACK")
        if question is in_time or question is prepared:
            self.connection.send("RESET statement_timeout; DEALLOCATE ALL")

    def run(self):
        while self.connected():
            self.ask(random.choice(self.questions))


# ---- the controller -------------------------------------------------------------------------------------------------


class Controller(threading.Thread):
    """Owns the tables, and changes what is in them and what is said of them."""

    def __init__(self, tally):
        super().__init__(name="controller", daemon=True)
        self.tally, self.done, self.parts = tally, collections.Counter(), itertools.count(10)

    def partition(self):
        part = next(self.parts)
        old = [f"DROP TABLE IF EXISTS visit_part_{part - 3}"] if part > 13 else []
        return [f"CREATE TABLE visit_part_{part} (LIKE visit)",
                f"INSERT INTO visit_part_{part} SELECT {part}, g, g % 90 FROM generate_series(1, 500) g",
                f"ALTER TABLE visit ATTACH PARTITION visit_part_{part} FOR VALUES IN ({part})", *old]

    def changes(self):
        number = next(numbers)
        yield "bounds", [f"SELECT dp_set_bounds('people', 'pay', 0, {random.choice((4000, 5000, 6000))})"]
        yield "policy", [f"SELECT dp_grant('people_dp', 'team', tau => {random.choice((0.9, 0.95, 0.99))})"]
        yield "groups", [f"SELECT dp_set_groups('people', 'city', '{{Oslo,Pisa,Rome{random.choice((',Turin', ''))}}}')"]
        yield "rows", ["INSERT INTO people SELECT g % 90, g % 5000, 'Rome', g FROM generate_series(1, 200) g",
                       f"UPDATE people SET pay = pay + 1 WHERE age = {random.randrange(90)}",
                       "DELETE FROM people WHERE ctid IN (SELECT ctid FROM people LIMIT 200)"]
        yield "column", ["ALTER TABLE people ADD COLUMN IF NOT EXISTS more integer",
                         "ALTER TABLE people DROP COLUMN IF EXISTS more"]
        yield "partition", self.partition()
        yield "index", ["CREATE INDEX IF NOT EXISTS people_age ON people (age)", "DROP INDEX IF EXISTS people_age"]
        yield "concurrent index", ["CREATE INDEX CONCURRENTLY IF NOT EXISTS visit_1_age ON visit_1 (age)",
                                   "DROP INDEX IF EXISTS visit_1_age"]
        yield "statistics", ["CREATE STATISTICS IF NOT EXISTS people_both ON age, pay FROM people", "ANALYZE people",
                             "DROP STATISTICS IF EXISTS people_both"]
        yield "refresh", ["SELECT dp_refresh('young_dp')"]
        yield "vacuum", ["VACUUM people"]
        yield "odometer", [f"SELECT dp_set_odometer('people', delta_total => {random.choice(('0.8', '0.9'))})"]
        yield "risk", ["SELECT * FROM dp_risk('SELECT count(*) FROM people_dp WHERE age > 40')"]
        yield "rename", ["BEGIN", "ALTER TABLE people RENAME COLUMN fill TO filled",
                         "ALTER TABLE people RENAME COLUMN filled TO fill", "COMMIT"]
        yield "find", [f"CALL dp_find_epsilon('{count(number)}', 0.95)", number]

    def run(self):
        connection = None
        while not stop.is_set():
            try:
                if connection is None or not connection.alive():
                    connection = connect("controller")
                    connection.must("SET lock_timeout = '5s'")
            except (ConnectionError, RuntimeError):
                time.sleep(0.2)
                continue
            name, statements = random.choice(list(self.changes()))
            number = statements.pop() if name == "find" else None
            for statement in statements:
                if number:
                    self.tally.sent(number)
                reply = connection.send(statement)
                state, message = reply.sqlstate(), reply.results[-1].field("M")
                if number:
                    self.tally.saw("find", number, not state, state, message)
                elif not state:
                    self.done[name] += 1
                else:
                    with self.tally.lock:
                        self.tally.error(name, state, message)
            if connection.in_transaction():
                connection.send("ROLLBACK")
            time.sleep(random.uniform(0, 0.2))


# ---- who cancels and kills ------------------------------------------------------------------------------------------

SOMEBODY = ("SELECT pid FROM pg_stat_activity WHERE datname = 'soak' AND pid <> pg_backend_pid() AND {} "
            "ORDER BY random() LIMIT 1")
CLIENTS = SOMEBODY.format("backend_type = 'client backend' AND usename NOT IN ('postgres', 'controller')")
WORKERS = SOMEBODY.format("backend_type LIKE 'dp_rdr%'")


class Killer(threading.Thread):
    """Cancels often, terminates now and then, and at given times kills a process or the whole server."""

    def __init__(self, server, seconds, crashes):
        super().__init__(name="killer", daemon=True)
        self.server, self.done = server, collections.Counter()
        self.begun = time.monotonic()
        # When, as parts of the whole time: two immediate shutdowns, and between them processes that are killed.
        self.plan = sorted([(1 / 3, self.shut_down), (2 / 3, self.shut_down)]
                           + [((i + 0.5) / crashes, self.kill) for i in range(crashes)], key=lambda step: step[0])
        self.plan = [(self.begun + part * seconds, action) for part, action in self.plan]

    def find(self, admin, sql, tries=1):
        for _ in range(tries):
            rows = admin.must(sql)
            if rows:
                return int(rows[0][0])
        return None

    def shut_down(self, _):
        self.server.stop("immediate")
        self.server.start()
        self.done["immediate shutdown"] += 1

    def kill(self, admin):
        """SIGKILL to a worker of ours if there is one just now, else to a client's process: the server starts again."""
        sql, name = random.choice(((WORKERS, "worker killed"), (CLIENTS, "backend killed")))
        pid = self.find(admin, sql, 300)
        if pid is not None and self.server.is_mine(pid):
            os.kill(pid, signal.SIGKILL)
            self.done[name] += 1

    def disturb(self, admin):
        chance = random.random()
        if chance < 0.75:
            admin.must(f"SELECT pg_cancel_backend(pid) FROM ({CLIENTS}) c")
            self.done["cancelled"] += 1
        elif chance < 0.9:
            admin.must(f"SELECT pg_terminate_backend(pid) FROM ({CLIENTS}) c")
            self.done["backend terminated"] += 1
        else:
            pid = self.find(admin, WORKERS, 100)
            if pid is not None:
                admin.must(f"SELECT pg_terminate_backend({pid})")
                self.done["worker terminated"] += 1

    def run(self):
        admin = None
        while not stop.is_set():
            try:
                if admin is None or not admin.alive():
                    admin = connect("postgres")
                if self.plan and time.monotonic() > self.plan[0][0]:
                    self.plan.pop(0)[1](admin)
                else:
                    self.disturb(admin)
            except (ConnectionError, RuntimeError, OSError):
                if admin is not None:
                    admin.close()
                admin = None
            time.sleep(random.uniform(0.1, 0.6))
