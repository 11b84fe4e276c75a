#!/usr/bin/env python3
"""How long an exclusive lock on a table waits for analysts who ask without a pause, on the server that PG* points to.

Twelve clients ask questions of some 30 ms; beside them LOCK TABLE is called again and again. Printed are the 95th percentile
of its wait and the longest single question. Wanted: the wait is at most that question's time and 100 ms.
"""
import argparse
import pathlib
import statistics
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "test/attacks"))

import libpq  # noqa: E402

SETUP = ["SET client_min_messages = error", "CREATE EXTENSION IF NOT EXISTS dp_rdr", "CREATE ROLE lock_asker LOGIN",
         "CREATE TABLE locked AS SELECT g AS x, g % 2 AS y, repeat('t', 10) AS t FROM generate_series(1, {rows}) g",
         "CREATE INDEX ON locked (x)", "VACUUM ANALYZE locked", "SELECT dp_protect('locked', 'locked_dp')",
         "SELECT dp_set_odometer('locked', 'none')", "SELECT dp_grant('locked_dp', 'lock_asker', 0.95)"]
QUESTION = "SELECT * FROM dp_query('SELECT count(*) FROM locked_dp WHERE x > 0') AS (n bigint)"


class Asker(threading.Thread):
    def __init__(self, stop):
        super().__init__()
        self.stop, self.took, self.refused = stop, [], 0

    def run(self):
        client = libpq.Connection(dbname="postgres")
        client.must("SET ROLE lock_asker")
        while not self.stop.is_set():
            begun = time.perf_counter()
            try:
                client.must(QUESTION)
                self.took.append((time.perf_counter() - begun) * 1000)
            except Exception:  # for a lock, uncharged
                self.refused += 1
        client.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=300000)
    parser.add_argument("--clients", type=int, default=12)
    parser.add_argument("--locks", type=int, default=60)
    options = parser.parse_args()
    admin = libpq.Connection(dbname="postgres")
    for statement in SETUP:
        admin.must(statement.format(rows=options.rows))
    stop = threading.Event()
    askers = [Asker(stop) for _ in range(options.clients)]
    for asker in askers:
        asker.start()
    time.sleep(2)
    waits = []
    for _ in range(options.locks):
        admin.must("BEGIN")
        begun = time.perf_counter()
        admin.must("LOCK TABLE locked IN ACCESS EXCLUSIVE MODE")
        waits.append((time.perf_counter() - begun) * 1000)
        admin.must("COMMIT")
        time.sleep(0.2)
    stop.set()
    for asker in askers:
        asker.join()
    took = [t for asker in askers for t in asker.took]
    p95 = statistics.quantiles(waits, n=20)[-1]
    print(f"LOCK TABLE beside {options.clients} clients: median {statistics.median(waits):.0f} ms, p95 {p95:.0f} ms, "
          f"max {max(waits):.0f} ms (wanted: p95 at most {max(took) + 100:.0f} ms)")
    print(f"{len(took)} questions: median {statistics.median(took):.0f} ms, max {max(took):.0f} ms; "
          f"{sum(a.refused for a in askers)} refused")


main()
