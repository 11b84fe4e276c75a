#!/usr/bin/env python3
"""The aggregates of the internal statement beside those of PostgreSQL, on the server that PG* points to: the time that the
session's process computed (other processes of the machine do not count), medians of runs in turns, and their ratios.

By points is what other servers are sent, in functions of PostgreSQL.
"""
import argparse
import struct
import subprocess

COLUMNS = {"smallint": "s", "integer": "i", "bigint": "b", "double precision": "d", "numeric": "n"}

SETUP = """
SET client_min_messages = warning;
DROP DATABASE IF EXISTS bench_sums;
CREATE DATABASE bench_sums;
\\c bench_sums
SET client_min_messages = warning;
CREATE EXTENSION dp_rdr;
CREATE TABLE plain AS SELECT (v % 100)::smallint AS s, (v % 100)::integer AS i, (v % 100)::bigint AS b,
    (v % 100)::double precision AS d, (v % 10000)::numeric / 100 AS n, v % 7 AS k FROM generate_series(1, {rows}) v;
VACUUM (ANALYZE, FREEZE) plain;
CREATE TABLE taken (name text, ns bigint);
CREATE FUNCTION computed() RETURNS bigint LANGUAGE sql VOLATILE AS
    $$ SELECT split_part(pg_read_file('/proc/self/schedstat', 0, 200, false), ' ', 1)::bigint $$;
CREATE FUNCTION measure(name text, statement text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    before bigint := computed();
BEGIN
    EXECUTE statement;
    INSERT INTO taken VALUES (name, computed() - before);
END $$;
SET max_parallel_workers_per_gather = 0;
SET jit = off;
"""


def spec(kind, pattern, *values):
    """The specification of one measure without keys; kind: 1 a sum, 2 an average."""
    words = struct.pack(">7q4qd", 0, 0, 1, 0, 0, 1, 0, kind, 0, 1, 0, 1) + struct.pack(">" + pattern, *values).ljust(56, b"\0")
    return "'\\x" + words.hex() + "'"


def statements():
    """(name of the ratio, plain select list, ours, rest of the statement)."""
    for kind, column in COLUMNS.items():
        lattice = (1, 0, 100) if column in "sib" else (2.0 ** 23, 0, 100 * 2 ** 23)
        total, average = spec(1, "dqq", *lattice), spec(2, "dd", 0, 100)
        yield f"sum of {kind}", f"sum({column})", f"dp_rdr.cells({total}, {column})", ""
        yield f"avg of {kind}", f"avg({column})", f"dp_rdr.cells({average}, {column})", ""
        if kind == "integer":
            yield "sum of integer, 7 groups", f"k, sum({column})", f"k, dp_rdr.cells({total}, {column})", "GROUP BY k"
            yield "avg of integer, 7 groups", f"k, avg({column})", f"k, dp_rdr.cells({average}, {column})", "GROUP BY k"
            yield "sum of integer by points", f"sum({column})", "sum(CASE WHEN i >= 100::bigint THEN 100::bigint WHEN i <= 0::bigint THEN 0::bigint ELSE i::bigint END)", ""


def psql(script):
    command = ["psql", "-X", "-q", "-A", "-t", "-F", "|", "-v", "ON_ERROR_STOP=1", "-d", "postgres"]
    return subprocess.run(command, input=script, text=True, stdout=subprocess.PIPE, check=True).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1000000)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    script = SETUP.format(rows=options.rows) + "\\o /dev/null\n"
    for _ in range(options.rounds + 1):
        for name, plain, ours, rest in statements():
            for who, columns in (("plain", plain), ("ours", ours)):
                script += f"SELECT measure('{who} {name}', $$SELECT {columns} FROM plain {rest}$$);\n"
    script += ("\\o\nSELECT name, percentile_cont(0.5) WITHIN GROUP (ORDER BY ns) / 1e6 FROM taken GROUP BY name;\n"
               "\\c postgres\nDROP DATABASE bench_sums;\n")
    medians = {name: float(ms) for name, ms in (line.split("|") for line in psql(script).splitlines() if "|" in line)}
    print(f"{options.rows} rows, ms of computing time\n{'':26} {'plain':>8} {'ours':>8} {'ratio':>6}")
    for name, _, _, _ in statements():
        plain, ours = medians[f"plain {name}"], medians[f"ours {name}"]
        print(f"{name:26} {plain:8.1f} {ours:8.1f} {ours / plain:6.2f}")


if __name__ == "__main__":
    main()
