#!/usr/bin/env python3
"""A table that Citus distributes: a coordinator and two workers on this machine, where Citus is installed beside the server
(its library is looked for where pg_config says); prints "skipped: no Citus" where it is not.

What is looked at:

  answers       counts, sums, averages, declared and discovered groups, epsilon selected from the rows and dp_risk, at an
                epsilon that leaves hardly any noise, against the plain query
  pushed down   what the workers are asked for while a release is answered: aggregates of shards, never rows
  files         no intermediate result of Citus is written on any node
  time          a sum and an average through the restricted view, against the plain distributed query (in turns,
                medians, without what a charge takes)

    run.py [--rows N] [--rounds N]
"""
import argparse
import contextlib
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "blackbox"))

from tap import Tap  # noqa: E402

BIN = pathlib.Path(os.environ.get("PG_BIN", "/usr/lib/postgresql/15/bin"))
FIRST_PORT = int(os.environ.get("CITUS_PORT", "23710"))
SLOWEST = 1.5  # times the plain distributed query

CONFIGURATION = """
shared_preload_libraries = 'citus'
listen_addresses = '127.0.0.1'
citus.node_conninfo = 'sslmode=disable'
fsync = on
max_connections = 60
log_statement = 'all'
log_min_duration_statement = -1
"""

SETUP = """
CREATE ROLE controller LOGIN;
CREATE ROLE analyst LOGIN;
CREATE ROLE selector LOGIN;
GRANT CREATE ON SCHEMA public TO controller;
CREATE EXTENSION dp_rdr;
"""

TABLE = """
CREATE TABLE people (id bigint, age integer, pay integer, score double precision, fee numeric, city text, job text);
SELECT create_distributed_table('people', 'id', shard_count => 8);
INSERT INTO people SELECT g, g % 90, g % 5000, (g % 1000) / 8.0, (g % 1000) / 100.0, (ARRAY['Oslo', 'Pisa', 'Rome'])[1 + g % 3],
    'job' || g % 20 FROM generate_series(1, {rows}) g;
ANALYZE people;
SELECT dp_protect('people', 'people_dp');
SELECT dp_set_bounds('people', 'age', 0, 100), dp_set_bounds('people', 'pay', 0, 5000),
       dp_set_bounds('people', 'score', 0, 125), dp_set_bounds('people', 'fee', 0, 10);
SELECT dp_set_groups('people', 'city', '{{Oslo,Pisa,Rome}}');
SELECT dp_set_odometer('people', 'none');
CREATE TABLE desk AS SELECT 1 AS pay;
SELECT dp_protect('desk', 'desk_dp'), dp_set_bounds('desk', 'pay', 0, 5000);
SELECT dp_set_odometer('desk', 'none');
SELECT dp_grant('desk_dp', 'analyst', tau => 0, epsilon_max => 100, candidates => '{{100}}');
SELECT dp_grant('people_dp', 'analyst', tau => 0, delta => 1e-6, epsilon_max => 100, candidates => '{{100}}');
SELECT dp_grant('people_dp', 'selector', tau_var => 1e-4, delta => 1e-6);
"""

# A question, its columns for dp_query, and how far from the plain answer each number may be.
QUESTIONS = (
    ("count", "SELECT count(*) FROM {}", "n bigint", 2),
    ("count of some", "SELECT count(*) FROM {} WHERE age > 40 AND city = 'Pisa'", "n bigint", 2),
    ("sums", "SELECT sum(pay), sum(score), sum(fee) FROM {}", "a bigint, b float8, c numeric", 60000),
    ("averages", "SELECT avg(pay), avg(score), avg(fee) FROM {}", "a numeric, b float8, c numeric", 5),
    ("a filter", "SELECT sum(pay) FILTER (WHERE age < 30), avg(age) FILTER (WHERE age < 0) FROM {}", "a bigint, b numeric", 60000),
    ("declared groups", "SELECT city, count(*), sum(age) FROM {} GROUP BY city ORDER BY 1", "c text, n bigint, s bigint", 500),
    ("discovered groups", "SELECT job, count(*), avg(age) FROM {} GROUP BY job ORDER BY 1", "j text, n bigint, a numeric", 20),
)


def has_citus():
    directory = subprocess.run([BIN / "pg_config", "--pkglibdir"], text=True, stdout=subprocess.PIPE, check=True).stdout.strip()
    return (pathlib.Path(directory) / "citus.so").exists()


class Node:
    """A server of its own, in its own directory, on the loopback."""

    def __init__(self, top, name, port):
        self.data, self.log, self.port = top / name, top / f"{name}.log", port
        subprocess.run([BIN / "initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale"],
                       check=True, stdout=subprocess.DEVNULL)
        with open(self.data / "postgresql.conf", "a", encoding="utf8") as conf:
            conf.write(CONFIGURATION + f"port = {port}\nunix_socket_directories = '{top}'\n")
        self.control("start")
        self.psql("CREATE DATABASE people", database="postgres")
        self.psql("CREATE EXTENSION citus")

    def control(self, action):
        subprocess.run([BIN / "pg_ctl", "-D", self.data, "-l", self.log, "-w", "-m", "fast", action], check=True,
                       stdout=subprocess.DEVNULL)

    def psql(self, script, role="postgres", database="people"):
        command = [BIN / "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.port),
                   "-U", role, "-d", database]
        done = subprocess.run(command, input=script, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{script[:200]}: {done.stderr.strip()}")
        return done.stdout.strip()

    def logged(self, offset):
        with open(self.log, encoding="utf8", errors="replace") as log:
            log.seek(offset)
            return log.read()

    def intermediate_files(self):
        return [str(path) for path in self.data.glob("base/pgsql_job_cache/**/*") if path.is_file()]


@contextlib.contextmanager
def cluster(top):
    nodes = []
    try:
        for i, name in enumerate(("coordinator", "worker1", "worker2")):
            nodes.append(Node(top, name, FIRST_PORT + i))
        coordinator = nodes[0]
        coordinator.psql(f"SELECT citus_set_coordinator_host('127.0.0.1', {coordinator.port})")
        for worker in nodes[1:]:
            coordinator.psql(f"SELECT citus_add_node('127.0.0.1', {worker.port})")
        coordinator.psql(SETUP)
        yield nodes
    finally:
        for node in nodes:
            node.control("stop")


def asked(question, columns):
    return f"SELECT * FROM dp_query($${question.format('people_dp')}$$) AS ({columns})"


def differences(plain, private, tolerance):
    """Complaints about an answer that is not the plain one but for some noise."""
    a, b = plain.splitlines(), private.splitlines()
    if len(a) != len(b):
        return [f"{len(b)} rows instead of {len(a)}"]
    complaints = []
    for x, y in zip("|".join(a).split("|"), "|".join(b).split("|")):
        try:
            if abs(float(x or 50) - float(y)) > tolerance:
                complaints.append(f"{y} instead of {x}")
        except ValueError:
            if x != y:
                complaints.append(f"{y} instead of {x}")
    return complaints


def check_answers(tap, coordinator):
    for name, question, columns, tolerance in QUESTIONS:
        plain = coordinator.psql(question.format("people"), "controller")
        private = coordinator.psql(asked(question, columns), "analyst")
        tap.report(f"answer: {name}", differences(plain, private, tolerance))
    counted = coordinator.psql(asked("SELECT count(*) FROM {}", "n bigint"), "selector")
    tap.report("answer: an epsilon that was selected", [] if counted == "" or re.fullmatch(r"-?\d+", counted) else [counted])
    risks = coordinator.psql("SELECT count(*) > 0 FROM dp_risk('SELECT sum(pay) FROM people_dp')", "controller")
    tap.report("answer: dp_risk", [] if risks == "t" else [risks])


def shard_statements(nodes, offsets):
    """What the workers were asked about shards of the table."""
    statements = []
    for node, offset in zip(nodes, offsets):
        statements += re.findall(r"LOG:  (?:statement|execute [^:]*): (.*people_\d+.*(?:\n\t.*)*)", node.logged(offset))
    return statements


def check_pushed_down(tap, nodes):
    for name, question, columns, _ in QUESTIONS:
        offsets = [node.log.stat().st_size for node in nodes]
        nodes[0].psql(asked(question, columns), "analyst")
        statements = shard_statements(nodes, offsets)
        complaints = [] if len(statements) >= 8 else [f"{len(statements)} statements on 8 shards"]
        complaints += [s for s in statements if not re.match(r"SELECT .*\b(count|sum)\(", s, re.S)]
        complaints += [s for s in statements if re.search(r"intermediate_result|COPY", s)]
        tap.report(f"pushed down: {name}", complaints[:3])
        tap.report(f"files: {name}", [path for node in nodes for path in node.intermediate_files()])
    facts = "'\\x3ff000000000000000000000000000000000000000001388'"
    plan = nodes[0].psql(f"EXPLAIN (COSTS OFF) SELECT sum(dp_rdr.sum_point(pay, {facts})) FROM people", "controller")
    tap.report("pushed down: the plan of a task has the aggregate",
               [] if re.search(r"Task Count: 8.*->  Aggregate\n *->  Seq Scan on people_\d+", plan, re.S) else [plan])


def check_time(tap, coordinator, rounds):
    """What a charge takes is measured on a table of one row that stays on the coordinator, and left out."""
    def private(table, question, columns):
        return asked(question, columns).replace("people_dp", table + "_dp")

    for name, question, columns in (("sum", "SELECT sum(pay) FROM {}", "s bigint"), ("avg", "SELECT avg(pay) FROM {}", "a numeric"),
                                    ("count", "SELECT count(*) FROM {}", "n bigint")):
        turn = ("RESET ROLE", question.format("people"), "SET ROLE analyst", private("people", question, columns),
                private("desk", question, columns))
        script = "\\o /dev/null\n\\timing on\n" + "".join(f"{statement};\n" for _ in range(rounds + 1) for statement in turn)
        times = [float(t) for t in re.findall(r"Time: ([\d.]+) ms", coordinator.psql(script))]
        plain, answer, charge = (statistics.median(times[len(turn) + i::len(turn)]) for i in (1, 3, 4))
        ratio = (answer - charge) / plain
        print(f"# {name}: plain {plain:.1f} ms, private {answer:.1f} ms, on a table of one row {charge:.1f} ms: {ratio:.2f} x")
        tap.report(f"time: {name}", [] if ratio <= SLOWEST else [f"{ratio:.2f} times the plain query"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1000000)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    if not has_citus():
        print("skipped: no Citus")
        return 0
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="dp_rdr_citus.", dir="/tmp") as top, cluster(pathlib.Path(top)) as nodes:
        nodes[0].psql(TABLE.format(rows=options.rows), "controller")
        check_answers(tap, nodes[0])
        check_pushed_down(tap, nodes)
        check_time(tap, nodes[0], options.rounds)
    print(f"1..{tap.count}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
