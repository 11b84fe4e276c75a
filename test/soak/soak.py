#!/usr/bin/env python3
"""Analysts of many kinds, a controller who changes everything, and somebody who cancels, terminates, kills and shuts
down, side by side on a server of this script's own; then an audit: has every answer that a client got its charge, do
the totals agree with the ledger, is every chain whole, is the log clean? Then many answers in a row: does memory stay
flat?

Every line of the report is a check; the exit status is 1 if any has failed.
"""
import argparse
import collections
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

from server import ROOT, Server, connect

sys.path.insert(0, str(ROOT / "test/bench"))
import actors  # noqa: E402
import machine  # noqa: E402

SETUP = """
CREATE DATABASE soak;
\\c soak
CREATE EXTENSION dp_rdr;
CREATE ROLE controller LOGIN;
CREATE ROLE analyst_1 LOGIN; CREATE ROLE analyst_2 LOGIN; CREATE ROLE analyst_3 LOGIN;
CREATE ROLE team; CREATE ROLE member_1 LOGIN IN ROLE team; CREATE ROLE member_2 LOGIN IN ROLE team;
CREATE ROLE pool LOGIN NOINHERIT; GRANT analyst_1, analyst_2 TO pool;
CREATE ROLE chooser LOGIN;
GRANT CREATE ON SCHEMA public TO controller;
SET ROLE controller;
CREATE TABLE people (age integer, pay integer, city text, fill integer);
INSERT INTO people SELECT g % 90, g % 5000, (ARRAY['Oslo', 'Pisa', 'Rome'])[1 + g % 3], g
    FROM generate_series(1, 20000) g;
CREATE TABLE visit (day integer, person integer, age integer) PARTITION BY LIST (day);
CREATE TABLE visit_1 PARTITION OF visit FOR VALUES IN (1);
CREATE TABLE visit_2 PARTITION OF visit FOR VALUES IN (2);
INSERT INTO visit SELECT 1 + g % 2, g, g % 90 FROM generate_series(1, 5000) g;
CREATE TABLE tight (age integer); INSERT INTO tight SELECT g % 90 FROM generate_series(1, 1000) g;
CREATE TABLE bulk AS SELECT g AS x FROM generate_series(1, 100000) g; GRANT SELECT ON bulk TO PUBLIC;
SELECT dp_protect('people', 'people_dp', columns => '{age,pay,city}'), dp_protect('visit', 'visit_dp'),
    dp_protect('tight', 'tight_dp'), dp_protect('people', 'young_dp', columns => '{age,city}', filter => 'age < 30');
SELECT dp_set_bounds('people', 'pay', 0, 5000), dp_set_groups('people', 'city', '{Oslo,Pisa,Rome}');
SELECT dp_set_odometer('people', 'none', delta_total => 0.9), dp_set_odometer('visit', 'none'),
    dp_set_odometer('tight', 'filter', epsilon_total => 1);
SELECT dp_grant(v, a, tau => 0.95, delta => CASE v WHEN 'people_dp'::regclass THEN 1e-9 ELSE 0 END)
    FROM unnest('{people_dp,visit_dp,tight_dp}'::regclass[]) v,
         unnest('{analyst_1,analyst_2,analyst_3,team}'::regrole[]) a;
SELECT dp_grant('people_dp', 'chooser', tau_var => 0.0001);
"""

failures = 0


def check(what, holds, detail=""):
    global failures
    failures += not holds
    print(f"{'ok    ' if holds else 'FAILED'}  {what}{': ' if detail else ''}{detail}", flush=True)


def psql(script, database="postgres"):
    command = ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", database]
    return subprocess.run(command, input=script, text=True, stdout=subprocess.PIPE, check=True).stdout.strip()


# ---- the mixed phase ------------------------------------------------------------------------------------------------


def mix(server, seconds, analysts, crashes):
    tally = actors.Tally()
    logins = (("analyst_1", None), ("analyst_2", None), ("member_1", None), ("pool", "analyst_1"), ("member_2", None),
              ("analyst_3", None), ("pool", "analyst_2"))
    crowd = [actors.Analyst(tally, *logins[i % len(logins)]) for i in range(analysts - 1)]
    crowd.append(actors.Analyst(tally, "chooser", questions=(actors.released,)))
    controller, killer = actors.Controller(tally), actors.Killer(server, seconds, crashes)
    for thread in crowd + [controller, killer]:
        thread.start()
    ended = time.monotonic() + seconds
    while time.monotonic() < ended:
        time.sleep(max(0, min(60, ended - time.monotonic())))
        print(f"        {int(ended - time.monotonic())} s left, {sum(tally.answers.values())} answers", flush=True)
    actors.stop.set()
    killer.join(150)
    for thread in crowd + [controller]:
        thread.join(150)
    check("everybody has stopped", not any(thread.is_alive() for thread in threading.enumerate()
                                           if thread is not threading.main_thread()))
    return tally, controller.done, killer.done


def audit_clients(tally, changed, killed):
    print("        answers: " + ", ".join(f"{n} {kind}" for kind, n in tally.kinds.most_common()))
    print("        changes: " + ", ".join(f"{n} {kind}" for kind, n in changed.most_common()))
    print("        disturbances: " + ", ".join(f"{n} {kind}" for kind, n in killed.most_common()))
    for (state, message), times in tally.errors.most_common(25):
        print(f"        {times:>6} x {state or 'lost'} {message}")
    check("every kind of question was answered", not {question.__name__ for question in actors.QUESTIONS}
          - {"not_allowed"} - set(tally.kinds), ", ".join(sorted(tally.kinds)))
    check("no client met an error that nobody expects", not tally.strange, "; ".join(tally.strange[:5]))


def audit_charges(tally):
    """Each answer has its charge; each refusal has none; nothing was charged that nobody has asked."""
    listed = psql("SELECT number, kind, count(*) FROM (SELECT DISTINCT id, kind, "
                  r"(regexp_matches(query, '-(1\d{8})\M', 'g'))[1] AS number FROM dp_rdr.ledger_row) r GROUP BY 1, 2",
                  "soak")
    rows = [line.split("|") for line in listed.splitlines()]
    charges, selections = collections.Counter(), collections.Counter()
    for number, kind, times in rows:
        (selections if kind == "selection" else charges)[int(number)] += int(times)
    without = [n for n, answers in tally.answers.items() if charges[n] < answers]
    check("every answer has its charge in the ledger", not without, f"{sum(tally.answers.values())} answers, "
          f"{sum(charges.values())} charges" + (f", none for {without[:5]}" if without else ""))
    unselected = [n for n, answers in tally.answers.items() if n in tally.selected and selections[n] < answers]
    check("every selected epsilon has the charge of its selection", not unselected, unselected[:5] or "")
    # A denied release after its selection, for instance, has left the selection's charge and no other.
    too_many = [n for n, times in charges.items() if times > tally.attempts[n] - tally.refused[n]]
    check("nothing was charged for a refusal, or for nobody", not too_many, too_many[:5] or "")


def audit_ledger():
    check("the totals are the sums of the ledger", psql("""
        SELECT bool_and(o.public_epsilon = l.pe AND o.conditional_epsilon = l.ce AND o.public_delta = l.pd
                        AND o.public_releases + o.conditional_releases = l.n)
        FROM dp_rdr.odometer o JOIN (
            SELECT table_id, coalesce(sum(epsilon) FILTER (WHERE account = 'public'), 0) AS pe,
                   coalesce(sum(epsilon) FILTER (WHERE account = 'conditional'), 0) AS ce,
                   coalesce(sum(delta) FILTER (WHERE account = 'public'), 0) AS pd,
                   count(*) FILTER (WHERE kind NOT IN ('selection', 'suspension')) AS n
            FROM dp_rdr.ledger_row GROUP BY table_id) l ON l.table_id = o.id""", "soak") == "t")
    check("and so are the shares", psql("""
        SELECT bool_and((s.public_epsilon, s.conditional_epsilon) IS NOT DISTINCT FROM (l.pe, l.ce))
        FROM dp_rdr.odometer_share s FULL JOIN (
            SELECT table_id, grantee, coalesce(sum(epsilon) FILTER (WHERE account = 'public'), 0) AS pe,
                   coalesce(sum(epsilon) FILTER (WHERE account = 'conditional'), 0) AS ce
            FROM dp_rdr.ledger_row WHERE grantee IS NOT NULL GROUP BY table_id, grantee) l
        ON l.table_id = s.id AND l.grantee = s.grantee""", "soak") == "t")
    for table in ("people", "visit", "tight"):
        check(f"the chain of {table} is whole", psql(f"SELECT dp_verify_ledger('{table}')", "soak") == "t")
    spent = psql("SELECT public_epsilon FROM dp_rdr.odometer WHERE relation_name = 'public.tight'", "soak")
    check("a total of 1 was never exceeded", float(spent) <= 1, spent)
    for login in ("analyst_1", "analyst_2", "analyst_3", "member_1", "member_2", "chooser"):
        reply = connect(login).send(actors.count(100_000_000))
        check(f"{login} is answered after all that", not reply.sqlstate(), reply.results[-1].field("M"))
    suspended = psql("SELECT string_agg(s::text, ' ') FROM dp_rdr.suspension s", "soak")
    check("nobody is suspended", suspended == "", suspended)


# ---- memory ---------------------------------------------------------------------------------------------------------

WORKERS = "SELECT pid FROM pg_stat_activity WHERE backend_type LIKE 'dp_rdr%' AND datname = 'soak'"
CLIENTS = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND usename = 'analyst_1'"


class Scale(threading.Thread):
    """Weighs the processes every half second: (seconds, kind) -> the heaviest, in MB."""

    def __init__(self):
        super().__init__(daemon=True)
        self.ended = threading.Event()
        self.weights = {"worker": [], "connection": []}

    def run(self):
        admin = connect("postgres")
        while not self.ended.wait(0.5):
            for kind, sql in (("worker", WORKERS), ("connection", CLIENTS)):
                weights = [machine.private_now(int(pid)) for pid, in admin.must(sql)]
                self.weights[kind].append(max((weight for weight in weights if weight is not None), default=0))
        admin.close()


def audit_memory(answers, clients=8):
    """The heaviest process in the last third is hardly heavier than in the first."""
    scale = Scale()
    scale.start()
    with tempfile.TemporaryDirectory() as directory:
        scripts = []
        for i, question in enumerate((actors.view, actors.declared, actors.average, actors.discovered)):
            path = pathlib.Path(directory) / f"script{i}"
            path.write_text(";\n".join(question(100_000_000)) + ";\n")
            scripts += ["-f", str(path)]
        command = ["pgbench", "-n", "-c", str(clients), "-j", "1", "-t", str(answers // clients), *scripts, "soak"]
        done = subprocess.run(command, env={**os.environ, "PGUSER": "analyst_1"}, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
    scale.ended.set()
    scale.join()
    check(f"{answers} answers in a row", done.returncode == 0, "" if done.returncode == 0 else done.stdout[-500:])
    for kind, weights in scale.weights.items():
        third = max(1, len(weights) // 3)
        early, late = max(weights[:third], default=0), max(weights[-third:], default=0)
        check(f"no {kind} gets heavier", late < early + 8,
              f"heaviest {early:.1f} MB in the first third, {late:.1f} MB in the last")


def audit_log(server):
    lines = server.unexpected()
    check("the log says nothing that nobody expects", not lines, f"{len(lines)} lines" if lines else "")
    for line in lines[:20]:
        print("        " + line)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=1800)
    parser.add_argument("--clients", type=int, default=10)
    parser.add_argument("--crashes", type=int, default=4, help="processes that are killed")
    parser.add_argument("--answers", type=int, default=100000, help="in a row, for the look at memory; 0: none")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory(prefix="soak.") as directory:
        server = Server(directory)
        server.create()
        try:
            psql(SETUP)
            tally, changed, killed = mix(server, options.seconds, options.clients, options.crashes)
            audit_clients(tally, changed, killed)
            audit_charges(tally)
            audit_ledger()
            if options.answers:
                audit_memory(options.answers)
                check("the chain is whole after that", psql("SELECT dp_verify_ledger('people')", "soak") == "t")
        finally:
            server.stop("fast")
            audit_log(server)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
