#!/usr/bin/env python3
"""What a charge under the bound zcdp costs beside one under filter, on the server that PG* points to.

The same question is asked of two equal tables in turns. Of each turn: the median time of an answer, how long keepers were on
a processor, how much WAL was written, and how long charges took; printed are medians of the turns and of the ratios of
neighbouring turns. Wanted: a charge under zcdp costs at most 1.05 times one under filter.
"""
import argparse
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "test/attacks"))

import charges  # noqa: E402
import libpq  # noqa: E402

BOUNDS = ("filter", "zcdp")
TOTALS = {"filter": "'filter', epsilon_total => 100000",
          "zcdp": "'zcdp', epsilon_total => 100000, delta_total => 1e-6, delta_conversion => 1e-6"}
SETUP = ["SET client_min_messages = error", "CREATE EXTENSION IF NOT EXISTS dp_rdr", "CREATE ROLE bound_asker"]
for name in BOUNDS:
    SETUP += [f"CREATE TABLE bound_{name} AS SELECT g AS x FROM generate_series(1, 100) g",
              f"SELECT dp_protect('bound_{name}', 'bound_{name}_dp')",
              f"SELECT dp_set_odometer('bound_{name}', {TOTALS[name]})",
              f"SELECT dp_grant('bound_{name}_dp', 'bound_asker', 0.9)"]


class Turn:
    """What one answer took, on average or in the middle of one turn."""

    def __init__(self, admin, client, bound, answers):
        query = f"SELECT * FROM dp_query('SELECT count(*) FROM bound_{bound}_dp') AS (n bigint)"
        before, charges_before = self.counters(admin), charges.charge_times(admin)
        took = []
        for _ in range(answers):
            begun = time.perf_counter()
            client.must(query)
            took.append((time.perf_counter() - begun) * 1000)
        after, charges_after = self.counters(admin), charges.charge_times(admin)
        counts = {limit: n - charges_before.get(limit, 0) for limit, n in charges_after.items()}
        self.charge = sum(limit * n for limit, n in counts.items()) / sum(counts.values()) / 1000
        self.answer = statistics.median(took)
        self.processor, self.wal = ((b - a) / answers for a, b in zip(before, after))

    @staticmethod
    def counters(admin):
        """Milliseconds of keepers on a processor; bytes of WAL."""
        pids = admin.must("SELECT pid FROM pg_stat_activity WHERE backend_type = 'dp_rdr keeper'")
        spent = sum(int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[0]) for (pid,) in pids)
        return spent / 1e6, int(admin.must("SELECT pg_current_wal_insert_lsn() - '0/0'")[0][0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--answers", type=int, default=200, help="of one turn")
    options = parser.parse_args()
    admin, client = libpq.Connection(dbname="postgres"), libpq.Connection(dbname="postgres")
    for statement in SETUP:
        admin.must(statement)
    client.must("SET ROLE bound_asker")
    turns = {bound: [] for bound in BOUNDS}
    for i in range(options.turns + 1):
        for bound in BOUNDS if i % 2 else reversed(BOUNDS):
            turn = Turn(admin, client, bound, options.answers)
            if i > 0:  # the first warms up
                turns[bound].append(turn)
    print(f"medians of {options.turns} turns of {options.answers} answers each")
    print(f"{'':>36} {'filter':>9} {'zcdp':>9} {'zcdp - filter':>14} {'ratio':>7}")
    labels = (("answer", "an answer, ms"), ("charge", "its charge, ms"), ("processor", "keepers on a processor, ms"),
              ("wal", "WAL, bytes"))
    for name, label in labels:
        of = {bound: [getattr(turn, name) for turn in turns[bound]] for bound in BOUNDS}
        pairs = list(zip(of["filter"], of["zcdp"]))
        print(f"{label:>36} {statistics.median(of['filter']):>9.3f} {statistics.median(of['zcdp']):>9.3f} "
              f"{statistics.median(z - f for f, z in pairs):>14.3f} {statistics.median(z / f for f, z in pairs):>7.3f}")


if __name__ == "__main__":
    main()
