"""How long charges on cells of a partition take, and denials: on all of 10,000 cells, on three, and on all but one. The cells are as they were
declared, or each has had another charge than its neighbours. Whole answers over a table without rows, medians in milliseconds, in a database of their
own on a server that is there (PGHOST ..); the targets are printed beside them."""
import statistics
import sys
import time
import pathlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "attacks"))
from libpq import Connection  # noqa: E402

SETUP = """
CREATE EXTENSION dp_rdr;
SET client_min_messages = error;
CREATE TABLE whole (n integer);
CREATE TABLE parts (n integer);
SELECT dp_protect('whole', 'whole_dp'), dp_protect('parts', 'parts_dp');
SELECT dp_set_odometer(t, epsilon_total => 1000000), dp_grant(t || '_dp', 'bench_cells', tau => 0.95, epsilon_total => 900000)
FROM unnest('{whole,parts}'::text[]) t;
SELECT dp_set_partition('parts', 'n', by => '1', since => '0', until => '9998', guard => false);
"""
THREE, APART, BUT_ONE = "WHERE n BETWEEN 5000 AND 5002", "WHERE n IN (20, 4000, 9000)", "WHERE n < 5 OR n > 5"


def took(asker, table, where, times):
    spent = []
    for _ in range(times):
        began = time.perf_counter()
        asker.send(f"SELECT count(*) FROM {table}_dp {where}")
        spent.append(time.perf_counter() - began)
    return statistics.median(spent) * 1000


def main():
    postgres = Connection(dbname="postgres")
    postgres.send("CREATE ROLE bench_cells")
    postgres.must("CREATE DATABASE bench_cells")
    owner, asker = Connection(dbname="bench_cells"), Connection(dbname="bench_cells")
    for statement in SETUP.split(";\n"):
        owner.must(statement)
    asker.must("LOAD 'dp_rdr'")
    asker.must("SET ROLE bench_cells")

    def say(what, table, where, times, target=""):
        print(f"{what:32} {where or 'all':34} {took(asker, table, where, times):8.2f} {target}", flush=True)

    def ask_all(what):
        say(what, "parts", "", 400, "1.05 of the same without a partition")
        say(what, "parts", THREE, 400, "1.4 of the same without a partition")
        say(what, "parts", APART, 400)
        say(what, "parts", BUT_ONE, 20)

    took(asker, "whole", "", 200)
    say("no partition", "whole", "", 400)
    say("no partition", "whole", THREE, 400)
    ask_all("cells as declared")
    for i in range(50):  # every other cell of two hundred
        took(asker, "parts", "WHERE n IN (" + ", ".join(str(200 * i + 2 * g) for g in range(100)) + ")", 1)
    ask_all("each cell another")
    owner.must("SELECT dp_set_odometer('parts', epsilon_total => (SELECT epsilon + 0.5 FROM dp_odometer('parts') WHERE account = 'public'))")
    took(asker, "parts", "WHERE n = 9990", 500)
    say("one cell has nothing left", "parts", "WHERE n < 5 OR n > 5", 40, "an answer")
    owner.must("SELECT dp_set_odometer('parts', epsilon_total => 0.1)")
    say("no cell has", "parts", "", 40, "an answer")
    say("no cell has", "parts", BUT_ONE, 40, "an answer")
    print("rows of cells:", owner.must("SELECT count(*) FROM dp_rdr.odometer_cell")[0][0])


if __name__ == "__main__":
    main()
