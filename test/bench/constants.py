#!/usr/bin/env python3
"""How long a count takes while another login sends the dearest constants, on the server that PG* points to.

Three connections send them again and again, each for a tenth of a second, and three for as long as they take. Another login counts rows
of another table meanwhile. Wanted: each count is answered within 1 s.
"""
import pathlib
import statistics
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "test/attacks"))

import libpq  # noqa: E402

COUNTS = 40
SETUP = ["SET client_min_messages = error", "CREATE EXTENSION IF NOT EXISTS dp_rdr", "CREATE ROLE dear_asker", "CREATE ROLE count_asker"]
for name in ("dear", "count"):
    SETUP += [f"CREATE TABLE {name}_rows AS SELECT g AS x, 'n' || g AS note FROM generate_series(1, 1000) g",
              f"SELECT dp_protect('{name}_rows', '{name}_dp')", f"SELECT dp_set_odometer('{name}_rows', 'none')",
              f"SELECT dp_grant('{name}_dp', '{name}_asker', 0.95)"]
ASK = "SELECT * FROM dp_query($q$SELECT count(*) FROM {}$q$) AS (n bigint)"
CONSTANTS = {
    "translate": "note = translate(repeat('ab', 30000), repeat('x', 60000), 'y')",
    "sixty translates": " OR ".join(f"note = translate(repeat('ab', 30000), repeat('x', {60000 - i}), 'y')" for i in range(60)),
    "a polygon of many points": "x = npoints(polygon(25000000, circle '<(0,0),1>'))"}


def send(stop, condition, timeout):
    client = libpq.Connection(dbname="postgres")
    client.must("SET ROLE dear_asker")
    client.must(f"SET statement_timeout = {timeout}")
    while not stop.is_set():
        client.send(ASK.format(f"dear_dp WHERE {condition}"))  # whatever becomes of it
    client.close()


def counts(client):
    took = []
    for _ in range(COUNTS):
        begun = time.perf_counter()
        client.must(ASK.format("count_dp"))
        took.append((time.perf_counter() - begun) * 1000)
        time.sleep(0.05)
    return took


def main():
    admin, client = libpq.Connection(dbname="postgres"), libpq.Connection(dbname="postgres")
    for statement in SETUP:
        admin.must(statement)
    client.must("SET ROLE count_asker")
    counts(client)
    for name, condition in CONSTANTS.items():
        for timeout in (100, 10000):
            stop = threading.Event()
            senders = [threading.Thread(target=send, args=(stop, condition, timeout)) for _ in range(3)]
            for sender in senders:
                sender.start()
            time.sleep(0.5)
            took = counts(client)
            stop.set()
            print(f"beside three of {name}, stopped after {timeout} ms: median {statistics.median(took):.0f} ms, "
                  f"max {max(took):.0f} ms (wanted: at most 1000 ms)")
            for sender in senders:
                sender.join()


main()
