#!/usr/bin/env python3
"""A hundred questions that people ask of a hospital, a shop and an event log, against the server that PG* points to, where this tree
is installed.

    run.py            asks them all; an answer is held against the same question in plain SQL, a refusal against state.txt
    run.py --record   writes state.txt from what happens now, to be read before it is committed; a line that is taken out is measured anew
    run.py --show ID...   prints what these are answered, in full

Limits are ample (protect.sql) and epsilon is the largest that there is, so what an answer differs from plain SQL by is noise that
can be measured: --record asks 20 times, and a tolerance is 30 times the mean distance of the answers to each other, which Laplace
noise exceeds once in 10^20 numbers or so, at least 5 % of the largest number of its column, and at least 3 of whole numbers, whose
noise is rounded away until it is not. What moves by more than a tenth is no measure of anything, and --record says so. The output
is TAP.
"""
import argparse
import itertools
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
for folder in ("attacks", "blackbox"):
    sys.path.insert(0, str(HERE.parent / folder))

from answers import differences, distance, keys_of, largest, table_of, whole, without_nothing  # noqa: E402
from libpq import Connection  # noqa: E402
from questions import State, read_questions, read_states, tally, write_states  # noqa: E402
from tap import Tap  # noqa: E402

DATABASE = "regress_dp_questions"
ROLE = "regress_dp_asker"
ROUNDS = 20
COOKBOOK = ROOT / "doc" / "cookbook.md"


def prepare():
    postgres = Connection(dbname="postgres")
    postgres.send(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
    postgres.send(f"DROP ROLE IF EXISTS {ROLE}")
    postgres.must(f"CREATE ROLE {ROLE}")
    postgres.must(f"CREATE DATABASE {DATABASE} TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'")
    postgres.must(f"ALTER DATABASE {DATABASE} SET session_preload_libraries = 'dp_rdr'")
    postgres.must(f"ALTER DATABASE {DATABASE} SET timezone = 'UTC'")
    postgres.must(f"ALTER DATABASE {DATABASE} SET dp_rdr.noise = silent")
    postgres.close()
    owner = Connection(dbname=DATABASE)
    owner.must("CREATE EXTENSION dp_rdr")
    subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-o", "/dev/null", "-d", DATABASE, "-f", HERE / "load.sql", "-f", HERE / "protect.sql"],
                   cwd=ROOT, check=True)
    for table in ("hospital_rows.patients", "shop_rows.customers", "log_rows.users"):
        owner.must(f"SELECT dp_set_odometer('{table}', 'none', delta_total => 0.9)")
    for schema in ("hospital", "shop", "log"):
        owner.must(f"GRANT USAGE ON SCHEMA {schema} TO {ROLE}")
        owner.must(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {ROLE}")
        owner.must(f"SELECT dp_grant(c.oid, '{ROLE}', tau => 0, candidates => '{{100}}', epsilon_max => 100, delta => 1e-12)"
                   f" FROM pg_class c WHERE relnamespace = '{schema}'::regnamespace AND relkind = 'v'")
    return owner


class Asker:
    """An analyst, and the same questions in plain SQL."""

    def __init__(self, owner):
        self.owner = owner
        self.analyst = Connection(dbname=DATABASE)
        self.analyst.must(f"SET ROLE {ROLE}")

    def reference(self, question):
        self.owner.must(f"SET search_path = {question.schema}_plain, {question.schema}, public")
        return self.owner.must(question.reference)

    def ask(self, question):
        self.analyst.must(f"SET search_path = {question.schema}, public")
        return self.analyst.send(question.sql)


def rows_of(reply):
    return reply.results[-1].rows


def error_of(reply):
    return next(result for result in reply.results if result.error)


def check_refusal(reply, state):
    error = error_of(reply)
    if state.answered:
        return [f"was answered and is refused: {error.field('C')} {error.field('M')}"]
    if error.field("C") != state.sqlstate or not error.field("M").startswith(state.message):
        return [f"was refused by {state.sqlstate} {state.message}", f"is refused by {error.field('C')} {error.field('M')}"]
    return []


def check(asker, question, state):
    """Whether it is answered, and what is wrong."""
    reference = asker.reference(question)
    reply = asker.ask(question)
    if reply.sqlstate():
        return False, check_refusal(reply, state)
    keys = keys_of(reference)
    found = [] if state.answered else ["was refused and is answered: run test/questions/run.py --record"]
    return True, found + differences(table_of(rows_of(reply), keys), table_of(reference, keys), state.tolerances, state.empty, state.withheld)


# ---- recording -------------------------------------------------------------------------------------------------------

def spread(tables, reference, column):
    """The mean distance of answers to each other, of the value in this column that moves most."""
    worst = 0
    for key in reference.rows:
        values = [table.rows[key][column] for table in tables if key in table.rows]
        moved = [distance(a, b) for a, b in zip(values, values[1:])]
        worst = max(worst, sum(moved) / len(moved) if moved else 0)
    return worst


def record_one(asker, question, before):
    """Its state, and what is doubtful about it. What is as it was stays."""
    reference = asker.reference(question)
    reply = asker.ask(question)
    if reply.sqlstate():
        error = error_of(reply)
        return State(False, (), 0, 0, error.field("C"), error.field("M")), []
    keys = keys_of(reference)
    table = table_of(reference, keys)
    first = table_of(rows_of(reply), keys)
    if before and before.answered and not differences(first, table, before.tolerances, before.empty, before.withheld):
        return before, []
    answers = [first] + [table_of(rows_of(asker.ask(question)), keys) for _ in range(ROUNDS - 1)]
    doubts = [f"rows differ among answers: {sorted(answers[0].rows.keys() ^ other.rows.keys(), key=str)}"
              for other in answers if other.rows.keys() != answers[0].rows.keys()][:1]
    tolerances = []
    for column in range(table.width()):
        size = largest(table, column)
        tolerance = max(30 * spread(answers, table, column), size / 20, 3 if whole(table, column) else 0)
        if tolerance > size / 10:
            doubts.append(f"value {column + 1}: a tolerance of {tolerance:g} for numbers up to {size:g}")
        tolerances.append(float(f"{tolerance:.3g}"))
    empty, withheld = len(first.rows.keys() - table.rows.keys()), len(table.rows.keys() - without_nothing(first, table).rows.keys())
    return State(True, tuple(tolerances), empty, withheld), doubts + differences(first, table, tolerances, empty, withheld)


def record(asker, questions):
    states, before = {}, read_states()
    for question in questions:
        states[question.id], doubts = record_one(asker, question, before.get(question.id))
        now, then = states[question.id], before.get(question.id)
        if then is None or now.answered != then.answered or (not now.answered and now != then):
            print(f"{question.id}: {now.line()}" + (f", before: {then.line()}" if then else ""))
        for doubt in doubts:
            print(f"{question.id}: DOUBT {doubt}")
        sys.stdout.flush()
    write_states(states)
    print(tally(states))


def show(asker, questions):
    for question in questions:
        print(f"-- {question.id} {question.who}: {question.what}\n{question.sql}")
        reply = asker.ask(question)
        for notice in reply.notices:
            print(f"NOTICE: {notice}")
        if reply.sqlstate():
            error = error_of(reply)
            for field, name in (("C", "ERROR"), ("M", "MESSAGE"), ("D", "DETAIL"), ("H", "HINT")):
                if error.field(field):
                    print(f"{name}: {error.field(field)}")
        else:
            for row, plain in itertools.zip_longest(rows_of(reply), asker.reference(question)):
                print(f"{row}    {plain}")
        print()


# ---- what else must be so --------------------------------------------------------------------------------------------

def stale_data():
    """Files that the script would not make."""
    data = ROOT / "test" / "data" / "questions"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, data / "make.py", folder], check=True)
        made = {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}
    kept = {path.name: path.read_bytes() for path in data.glob("*.csv")}
    return [name for name in sorted(made.keys() | kept.keys()) if made.get(name) != kept.get(name)]


def strange_recipes(questions, states):
    """Blocks of the cookbook that are no question, or one that is refused."""
    known = {question.sql for question in questions if states.get(question.id, State(False)).answered}
    text = re.sub(r"^<!--.*?^-->$", "", COOKBOOK.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    blocks = [block.strip() for block in re.findall(r"^```sql\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)]
    return [block for block in blocks if block not in known]


def main():
    parser = argparse.ArgumentParser(description="A hundred questions")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--show", nargs="+", default=[])
    options = parser.parse_args()
    questions = read_questions()
    asker = Asker(prepare())
    if options.record:
        return record(asker, questions)
    if options.show:
        return show(asker, [question for question in questions if question.id in options.show or "all" in options.show])
    tap, states, now = Tap(), read_states(), {}
    for question in questions:
        is_answered, found = check(asker, question, states.get(question.id, State(False)))
        now[question.id] = states.get(question.id, State(False))._replace(answered=is_answered)
        tap.report(f"{question.id} {question.who}: {question.what}", found)
    tap.report(tally(now), [] if tally(now) == tally(states) else [f"state.txt: {tally(states)}"])
    tap.report("the data are what their script makes", stale_data())
    tap.report("what the cookbook shows are questions that are answered", strange_recipes(questions, states))
    print(f"1..{tap.count}")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
