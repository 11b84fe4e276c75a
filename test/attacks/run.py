#!/usr/bin/env python3
"""Runs the cases of cases/*.sql, as hostile roles, on two neighbouring databases of the server that PG* points to.

The output is TAP: one line for each case and configuration; the exit status is 1 if any has failed. README.md tells how a
case is written, and where each id of the catalogue of attacks is tested.

    run.py [--only CONFIGURATION] [--case ID]
"""
import argparse
import pathlib
import re
import sys
import time
from typing import NamedTuple

from worlds import Neighbours, World, build_fixture, log_complaints, numbers, observation, shows_canary

HERE = pathlib.Path(__file__).parent
HEADER = re.compile(r"-- ([A-DQX]\d\d)(?: +([A-Z]+))(?: +([\w|]+))?(?: +@(\w+))?(?: +>=(\d+))?")
STEP = re.compile(r"(?:(superuser|controller|analyst|colleague|finder|selector|stranger)> )?([!?])? ?(.*)", re.DOTALL)
OUTCOMES = {"REFUSE", "NOLEAK", "SAME", "SHAPE", "CHARGED", "NOCHARGE", "FRESH"}


class Configuration(NamedTuple):
    name: str
    preloaded: bool      # with shared_preload_libraries, or the server without it
    options: str = ""    # settings of the attackers' connections, which they could set themselves
    system: tuple = ()   # settings that only a superuser can make
    exact: bool = True   # answers are given here; else a refusal is as good as any stated outcome
    fresh: bool = False  # a new connection for every case


CONFIGURATIONS = (
    Configuration("cold", False, exact=False, fresh=True),
    Configuration("session", False, system=(("session_preload_libraries", "dp_rdr"),)),
    Configuration("shared", True),
    Configuration("parallel", True, "-c :forced_parallel=on -c max_parallel_workers_per_gather=1"),
    Configuration("forced", True, "-c plan_cache_mode=force_generic_plan -c jit=on -c jit_above_cost=0"),
    Configuration("serializable", True, "-c default_transaction_isolation=serializable"),
    Configuration("watched", True, "-c client_min_messages=log -c debug_print_parse=on -c debug_print_rewritten=on "
                                   "-c debug_print_plan=on -c trace_sort=on -c trace_notify=on",
                  (("track_functions", "all"), ("track_io_timing", "on"), ("pg_stat_statements.track", "all"),
                   ("pg_stat_statements.track_planning", "on"), ("auto_explain.log_min_duration", "0"),
                   ("auto_explain.log_analyze", "on"), ("auto_explain.log_nested_statements", "on"),
                   ("auto_explain.log_timing", "off"))),
)


class Step(NamedTuple):
    role: str
    expect: str  # "!": an error; "?": either; "": no error
    sql: str


class Case(NamedTuple):
    id: str
    outcome: str
    argument: str  # SQLSTATEs, or the number of charges
    only: str      # the one configuration that it is for
    since: int     # the version of PostgreSQL that it needs
    steps: tuple

    def __str__(self):
        return f"{self.id} {self.outcome} {self.argument}".strip() + f": {self.steps[-1].sql}"


# ---- reading the cases -----------------------------------------------------------------------------------------------


def read_step(text):
    role, expect, sql = STEP.fullmatch(text).groups()
    return Step(role or "analyst", expect or "", sql)


def read_cases(path):
    """A line is a case of the header above it, an indented line one more step of it."""
    header, steps = None, []

    def finish():
        if steps:
            yield Case(header[1], header[2], header[3] or "", header[4] or "", int(header[5] or 0), tuple(steps))
            steps.clear()

    for line in path.read_text().replace("\\\n", "").splitlines():
        if line.startswith("--"):
            yield from finish()
            match = HEADER.match(line)
            header = match or header
            if match and match[2] not in OUTCOMES:
                raise ValueError(f"{path.name}: {line}")
        elif line.startswith(" "):
            steps.append(read_step(line.strip()))
        elif line:
            yield from finish()
            steps.append(read_step(line))
    yield from finish()


# ---- judging ---------------------------------------------------------------------------------------------------------


class Run(NamedTuple):
    """A case in one database."""
    replies: list
    charges: int
    denials: int


def run_case(case, world, fresh):
    before = world.last_account
    replies = [world.send(step.role, step.sql) for step in case.steps]
    after = world.account()
    if fresh:
        world.disconnect()
    else:
        world.settle()
    return Run(replies, int(after[0]) - int(before[0]), int(after[1]) - int(before[1]))


def leaks(case, runs):
    """What holds in every configuration: nothing of the canary, no difference, no internal error, no crash."""
    for run in runs:
        for step, reply in zip(case.steps, run.replies):
            if shows_canary(reply):
                yield f"the canary shows in {step.sql}: {reply}"
            if reply.sqlstate() in ("XX000", "XX001", "XX002", "57P02", "lost"):
                yield f"{step.sql}: {reply.results[-1]}"
    for number, (step, one, other) in enumerate(zip(case.steps, *(run.replies for run in runs))):
        exact = case.outcome == "SAME" and number == len(case.steps) - 1
        here, there = observation(one, step.sql, exact), observation(other, step.sql, exact)
        if here != there:
            yield f"the databases differ in {step.sql}\n{here}\n{there}"
    if runs[0][1:] != runs[1][1:]:
        yield f"charges and denials differ: {runs[0][1:]} and {runs[1][1:]}"


def misses(case, run):
    """Where the outcome is not the stated one."""
    for step, reply in zip(case.steps[:-1], run.replies):
        if step.expect != "?" and bool(step.expect) != bool(reply.sqlstate()):
            yield f"{step.sql}: {reply.results[-1]}"
    last, reply = case.steps[-1], run.replies[-1]
    state = reply.sqlstate()
    if case.outcome == "REFUSE":
        if state not in case.argument.split("|"):
            yield f"{case.argument} expected, got {reply}"
    elif case.outcome != "NOLEAK" and last.expect != "?" and bool(last.expect) != bool(state):
        yield f"{last.sql}: {reply}"
    if case.outcome in ("REFUSE", "NOCHARGE") and run.charges != 0:
        yield f"{run.charges} charges, expected none"
    if case.outcome in ("CHARGED", "FRESH") and run.charges != int(case.argument):
        yield f"{run.charges} charges, expected {case.argument}"
    if case.outcome == "SHAPE" and run.charges == 0:
        yield "an answer without a charge"
    if case.outcome == "FRESH":
        drawn = [number for reply in run.replies for number in numbers(reply)]
        if len(set(drawn)) < 2:
            yield f"the same noise again: {drawn}"


def loosely_misses(case, run):
    """Where nothing is answered, a refusal comes earlier or with another reason; it remains a refusal, and free."""
    if case.outcome == "REFUSE" and not any(reply.sqlstate() for reply in run.replies):
        yield f"not refused: {run.replies[-1]}"
    if case.outcome in ("REFUSE", "NOCHARGE") and run.charges != 0:
        yield f"{run.charges} charges, expected none"
    if case.outcome == "CHARGED" and run.charges > int(case.argument):
        yield f"{run.charges} charges, expected at most {case.argument}"


def judge(case, runs, exact):
    complaints = list(leaks(case, runs))
    for run in runs:
        complaints += (misses if exact else loosely_misses)(case, run)
    return list(dict.fromkeys(complaints))


# ---- reporting -------------------------------------------------------------------------------------------------------


class Tap:
    def __init__(self):
        self.count = 0
        self.failed = 0

    def report(self, name, complaints):
        self.count += 1
        self.failed += bool(complaints)
        print(f"{'not ok' if complaints else 'ok'} {self.count} - {' '.join(name.split())[:160]}")
        for complaint in complaints:
            print("    # " + complaint.replace("\n", "\n    # "))
        sys.stdout.flush()


def check_readme(tap, cases):
    """Every id has a line there: cases here, or where else it is tested, or why not."""
    rows = re.findall(r"^\| ([A-DQX]\d\d) \| (.*?) \|", (HERE / "README.md").read_text(), re.MULTILINE)
    catalogue = {f"{letter}{n:02}" for letter, last in (("A", 36), ("B", 32), ("C", 30), ("D", 26), ("Q", 6), ("X", 12))
                 for n in range(1, last + 1)}
    here = {case.id for case in cases}
    listed = {id for id, where in rows}
    tap.report("README.md lists every id of the catalogue", sorted(listed ^ catalogue))
    tap.report("README.md says 'cases' where there are some",
               sorted(here ^ {id for id, where in rows if where.startswith("cases")}))


def configure(neighbours, configuration):
    superuser = neighbours.worlds[0].connection("superuser")
    superuser.must("ALTER SYSTEM RESET ALL")
    for name, value in configuration.system:
        superuser.must(f"ALTER SYSTEM SET {name} = '{value}'")
    superuser.must("SELECT pg_reload_conf()")
    # The server's own settings come back with the reload as well; give every process the time to see it.
    superuser.must("SELECT pg_sleep(0.3)")
    neighbours.configure(configuration.options)


def run_configuration(tap, neighbours, configuration, cases):
    begun = time.monotonic()
    configure(neighbours, configuration)
    for case in cases:
        if case.only in ("", configuration.name) and case.since <= neighbours.version:
            runs = neighbours.both(lambda world: run_case(case, world, configuration.fresh))
            tap.report(f"{configuration.name}: {case}", judge(case, runs, configuration.exact))
    for world in neighbours.worlds:
        verified = world.send("superuser", "SELECT bool_and(dp_verify_ledger(t)) FROM unnest('{person,scarce,patient,letter}'::regclass[]) t")
        tap.report(f"{configuration.name}: the ledger of {world.database} is whole",
                   [] if verified.results[-1].rows == (("t",),) else [repr(verified)])
    print(f"# {configuration.name}: {time.monotonic() - begun:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="one configuration")
    parser.add_argument("--case", default="", help="cases of this id alone")
    options = parser.parse_args()

    cases = [case for path in sorted(HERE.glob("cases/*.sql")) for case in read_cases(path)]
    tap = Tap()
    check_readme(tap, cases)
    build_fixture()
    neighbours = Neighbours()
    superuser = neighbours.worlds[0].connection("superuser")
    preloaded = "dp_rdr" in superuser.must("SHOW shared_preload_libraries")[0][0]
    for configuration in CONFIGURATIONS:
        if configuration.preloaded == preloaded and options.only in (None, configuration.name):
            run_configuration(tap, neighbours, configuration, [case for case in cases if case.id.startswith(options.case)])
    tap.report("the server log shows nothing of the canary, and no crash",
               log_complaints(neighbours.worlds[0].connection("superuser")))
    print(f"1..{tap.count}")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
