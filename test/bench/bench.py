#!/usr/bin/env python3
"""Medians of dp_rdr's calls and of the plain queries they are held against, on the server that PG* points to.

For every size of Adult and each of five queries: the plain query on the table, a plain GROUP BY of the columns that the
query reads (the floor of everything that looks at each distinct record), dp_risk, dp_find_epsilon, dp_query, and dp_query
under a policy with tau_var, which reads the number of rows as well and makes two charges. The calls take turns, so that a slow minute of the machine hits all of them, and the first round is thrown away.
"""
import argparse
import re
import statistics
import subprocess
from typing import NamedTuple


class Query(NamedTuple):
    name: str
    text: str       # {} is the table or the restricted view
    projected: str  # the columns it reads
    result: str     # column definition list for dp_query


QUERIES = (
    Query("Q1", "SELECT count(*) FROM {} WHERE income = '>50K' AND education_num = 13 AND age = 25",
          "income, education_num, age", "n bigint"),
    Query("Q2", "SELECT marital_status, count(*) FROM {} WHERE race = 'Asian-Pac-Islander' AND age BETWEEN 30 AND 40 "
          "GROUP BY marital_status", "marital_status, race, age", "marital_status text, n bigint"),
    Query("Q3", "SELECT count(*) FROM {} WHERE native_country <> 'United-States' AND sex = 'Female'",
          "native_country, sex", "n bigint"),
    Query("Q4", "SELECT avg(hours_per_week) FROM {} WHERE workclass IN ('Federal-gov', 'Local-gov', 'State-gov')",
          "hours_per_week, workclass", "a numeric"),
    Query("Q5", "SELECT sum(capital_gain) FROM {}", "capital_gain", "s bigint"),
)

# The odometer only counts here: no total would last for all rounds.
SETUP = """
CREATE ROLE bench_analyst;
CREATE ROLE bench_selected;
\\set data test/data
\\i test/data/adult.sql
TRUNCATE adult;
\\copy adult from program 'test/data/scale_adult.py {rows}' csv header
VACUUM ANALYZE adult;
CREATE EXTENSION dp_rdr;
SELECT dp_protect('adult', 'adult_dp');
SELECT dp_set_bounds('adult', 'hours_per_week', 1, 99);
SELECT dp_set_bounds('adult', 'capital_gain', 0, 99999);
SELECT dp_set_groups('adult', 'marital_status', '{{Divorced,Married-AF-spouse,Married-civ-spouse,'
    'Married-spouse-absent,Never-married,Separated,Widowed}}');
SELECT dp_set_odometer('adult', 'none');
SELECT dp_grant('adult_dp', 'bench_analyst', tau => 0.95);
SELECT dp_grant('adult_dp', 'bench_selected', tau_var => 1e-4);
"""


def psql(database, script):
    """Runs a psql script and returns what it prints."""
    command = ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", database]
    return subprocess.run(command, input=script, text=True, stdout=subprocess.PIPE, check=True).stdout


def calls(query):
    """(name, role, statement) of everything that is measured for one query."""
    private = query.text.format("adult_dp")
    yield "plain", None, query.text.format("adult")
    yield "group by", None, f"SELECT {query.projected}, count(*) FROM adult GROUP BY {query.projected}"
    yield "dp_risk", None, f"SELECT * FROM dp_risk($${private}$$)"
    yield "dp_find_epsilon", None, f"CALL dp_find_epsilon($${private}$$, 0.95)"
    yield "dp_query", "bench_analyst", f"SELECT * FROM dp_query($${private}$$) AS ({query.result})"
    yield "released", "bench_selected", f"SELECT * FROM dp_query($${private}$$) AS ({query.result})"


def measuring_script(repeat):
    """A psql script that labels each timing: the first line of a pair is the label, the second what \\timing says."""
    lines = ["\\o /dev/null"]
    for _ in range(repeat + 1):
        for query in QUERIES:
            for name, role, statement in calls(query):
                lines += [f"SET ROLE {role or 'none'};", f"\\echo {query.name}/{name}",
                          "\\timing on", f"{statement};", "\\timing off"]
    return "\n".join(lines)


def measure(database, repeat):
    """Milliseconds by label, the first round left out."""
    times = {}
    label = None
    for line in psql(database, measuring_script(repeat)).splitlines():
        timing = re.match(r"Time: ([\d.]+) ms", line)
        if timing:
            times.setdefault(label, []).append(float(timing.group(1)))
        else:
            label = line
    return {label: statistics.median(values[1:]) for label, values in times.items()}


def report(rows, medians):
    for query in QUERIES:
        ms = {name: medians[f"{query.name}/{name}"] for name, _, _ in calls(query)}
        risk, find = (ms[name] / ms["group by"] for name in ("dp_risk", "dp_find_epsilon"))
        print(f"{rows:>9} {query.name:>5} {ms['plain']:>9.1f} {ms['group by']:>9.1f} "
              f"{ms['dp_risk']:>9.1f} {risk:>9.2f} {ms['dp_find_epsilon']:>12.1f} {find:>9.2f} "
              f"{ms['dp_query']:>9.1f} {ms['dp_query'] / ms['plain']:>8.2f} "
              f"{ms['released']:>9.1f} {ms['released'] / ms['plain']:>8.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=int, nargs="+")
    parser.add_argument("--repeat", type=int, default=7)
    options = parser.parse_args()

    print("medians in ms; ratios to the plain GROUP BY of the projected columns, and of dp_query to the plain query\n")
    print(f"{'rows':>9} {'query':>5} {'plain':>9} {'group by':>9} {'dp_risk':>9} {'/group by':>9} "
          f"{'find_epsilon':>12} {'/group by':>9} {'dp_query':>9} {'/plain':>8} {'released':>9} {'/plain':>8}")
    for rows in options.rows:
        psql("postgres", "SET client_min_messages = warning;\nDROP DATABASE IF EXISTS bench;\n"
             "DROP ROLE IF EXISTS bench_analyst, bench_selected;\nCREATE DATABASE bench;")
        psql("bench", SETUP.format(rows=rows))
        report(rows, measure("bench", options.repeat))


if __name__ == "__main__":
    main()
