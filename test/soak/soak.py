#!/usr/bin/env python3
"""Runs analysts and a controller side by side on the server that PG* points to, then audits what is left.

Every line of the report is a check; the exit status is 1 if any has failed.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

SETUP = """
CREATE DATABASE soak;
\\c soak
CREATE EXTENSION dp_rdr;
CREATE ROLE soak_analyst;
\\set data test/data
\\i test/data/adult.sql
SELECT dp_protect('adult', 'adult_dp');
SELECT dp_set_bounds('adult', 'hours_per_week', 1, 99);
SELECT dp_set_odometer('adult', 'none');
SELECT dp_grant('adult_dp', 'soak_analyst', tau => 0.95);
"""

ASK = "SELECT * FROM dp_query('SELECT count(*) FROM adult_dp WHERE age > 40') AS (n bigint);"

# name -> (weight, charges of one run, pgbench script)
SCRIPTS = {
    "ask": (6, 1, f"SET ROLE soak_analyst;\n{ASK}\n"),
    "average": (3, 1, "SET ROLE soak_analyst;\n"
                "SELECT * FROM dp_query('SELECT avg(hours_per_week) FROM adult_dp') AS (a numeric);\n"),
    "rollback": (3, 1, f"SET ROLE soak_analyst;\nBEGIN;\n{ASK}\nROLLBACK;\n"),
    "risk": (1, 0, "RESET ROLE;\nSELECT * FROM dp_risk('SELECT count(*) FROM adult_dp WHERE age > 40');\n"),
    "find": (1, 1, "RESET ROLE;\nCALL dp_find_epsilon('SELECT count(*) FROM adult_dp WHERE age > 40', 0.95);\n"),
}

# One connection for many answers: what its memory contexts hold after the first hundred and at the end.
MEMORY = "SELECT sum(used_bytes) FROM pg_backend_memory_contexts"
MEMORY_SCRIPT = "SET ROLE soak_analyst;\n{ask}RESET ROLE;\n{memory};\nSET ROLE soak_analyst;\n{more}RESET ROLE;\n{memory};\n"

failures = 0


def check(what, holds, detail=""):
    global failures
    failures += not holds
    print(f"{'ok    ' if holds else 'FAILED'}  {what}{': ' if detail else ''}{detail}", flush=True)


def psql(script, database="soak"):
    command = ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", database]
    return subprocess.run(command, input=script, text=True, stdout=subprocess.PIPE, check=True).stdout.strip()


def run_clients(seconds, clients):
    """Runs pgbench; returns its exit status, its output, and how often each script ran."""
    with tempfile.TemporaryDirectory() as directory:
        # One thread: several lose counts of a script now and then, since pgbench keeps these without a lock.
        command = ["pgbench", "-n", "-c", str(clients), "-j", "1", "-T", str(seconds)]
        for name, (weight, _, text) in SCRIPTS.items():
            path = pathlib.Path(directory) / name
            path.write_text(text)
            command += ["-f", f"{path}@{weight}"]
        done = subprocess.run(command + ["soak"], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    runs = dict(re.findall(r"SQL script \d+: \S*/(\w+)\n(?: - .*\n)*? - (\d+) transactions", done.stdout))
    return done.returncode, done.stdout, {name: int(runs.get(name, 0)) for name in SCRIPTS}


def audit_ledger(runs):
    expected = sum(runs[name] * charges for name, (_, charges, _) in SCRIPTS.items())
    rows = int(psql("SELECT count(*) FROM dp_rdr.ledger"))
    check("every answer has one row in the ledger", rows == expected, f"{rows} rows for {expected} answers")
    check("the odometer counts the same", psql("SELECT sum(releases) FROM dp_odometer('adult')") == str(rows))
    check("its totals are the sums of the rows", psql("""
        SELECT bool_and(o.epsilon = l.epsilon) FROM dp_odometer('adult') o
        JOIN (SELECT account, sum(epsilon) AS epsilon FROM dp_rdr.ledger GROUP BY account) l USING (account)""") == "t")
    check("the chain is whole", psql("SELECT dp_verify_ledger('adult')") == "t")


def audit_memory():
    script = MEMORY_SCRIPT.format(ask=f"{ASK}\n" * 100, more=f"{ASK}\n" * 1000, memory=MEMORY)
    # One line for each answer, and one for each look at the memory: after the hundredth answer, and at the end.
    numbers = psql(script).splitlines()
    early, late = int(numbers[100]), int(numbers[-1])
    check("a connection's memory does not grow", late - early < 256 * 1024, f"{early} bytes, 1000 answers later {late}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--clients", type=int, default=8)
    options = parser.parse_args()

    psql(SETUP, "postgres")
    status, output, runs = run_clients(options.seconds, options.clients)
    # A crash of any backend would restart the server and cut off every client.
    check("no client met an error", status == 0, ", ".join(f"{count} {name}" for name, count in runs.items()))
    if status != 0:
        print(output)
    check("every kind of statement was run", all(runs.values()))
    audit_ledger(runs)
    audit_memory()
    check("no worker is left", psql("SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'dp_rdr%'") == "0")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
