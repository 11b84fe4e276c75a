#!/usr/bin/env python3
"""How long one number takes on many nodes, on paper, from costs that test/citus measures (its lines "# cost").

    estimate.py [--nodes N] [--cores N] [--row-bytes N] [--COST VALUE]...

It assumes: one shard for each core, of equal size; nothing else runs; nodes are as fast as the machine that was measured, and work at
once; the coordinator opens a connection for each shard, or has kept them, and takes rows one behind the other. From disks a node
reads as fast as they are or as it computes, whichever takes longer.
"""
import argparse

# Measured by test/citus/run.py on two cores that others used as well; nanoseconds are those that a process computes (test/bench/sums.py).
COSTS = {
    "row_ns": 45.0,  # of a sum, for each row and core
    "visit_ns": 270.0,  # of a sum of what people with five rows bring, likewise
    "part_us": 1.6,  # of the coordinator, for each group of each shard and number
    "task_ms": 1.0,  # of the coordinator, for each shard that is asked
    "connection_ms": 8.0,  # of the coordinator, for each connection that is not kept
    "charge_ms": 60.0,  # a durable charge, and the look at the nodes
}
QUESTIONS = (("a sum", "row_ns", 1), ("a sum of people", "visit_ns", 1), ("10,000 groups of people", "visit_ns", 10000))


def seconds(rows, groups, per_row, options, disks):
    shards = options.nodes * options.cores
    scan = rows / shards * per_row * 1e-9
    if disks:
        scan = max(scan, rows * options.row_bytes / options.nodes / (options.disk_gb * 1e9))
    kept = (options.charge_ms + shards * options.task_ms) * 1e-3 + scan + shards * groups * options.part_us * 1e-6
    return kept, kept + shards * options.connection_ms * 1e-3


def shown(duration):
    return f"{duration:.0f} s" if duration >= 10 else f"{duration:.1f} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=32)
    parser.add_argument("--cores", type=int, default=16)
    parser.add_argument("--row-bytes", type=float, default=100)
    parser.add_argument("--disk-gb", type=float, default=3, help="GB that the disks of a node read in a second")
    for name, value in COSTS.items():
        parser.add_argument("--" + name.replace("_", "-"), type=float, default=value)
    options = parser.parse_args()
    print("| rows | question | from memory | with new connections | from disks |\n| --- | --- | --- | --- | --- |")
    for rows in (1e9, 1e11):
        for name, per_row, groups in QUESTIONS:
            kept, opened = seconds(rows, groups, getattr(options, per_row), options, False)
            read, _ = seconds(rows, groups, getattr(options, per_row), options, True)
            print(f"| 10^{len(str(int(rows))) - 1} | {name} | {shown(kept)} | {shown(opened)} | {shown(read)} |")


if __name__ == "__main__":
    main()
