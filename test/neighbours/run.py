#!/usr/bin/env python3
"""Neighbours that differ in one person, by brute force. Against the server that PG* points to, where this tree is installed;
`make neighbours` builds the library with known bits (test/greybox) that is loaded in its place.

    run.py [--schemas N] [--questions N] [--seed N]

For each of some made-up schemas (schemas.py: people with many rows, NULLs, rows of nobody, inheritance children, a path over
another table) a few questions are asked of all rows, and again without all rows of each unit in turn. With the noise taken
out, what must hold (doc/formulas.md 9):

  * the exact sums are those of an account of its own (account.py), clipped; where a unit has more discovered groups than it
    may bring, which of them it brings is not asked, but how many;
  * without a unit they differ by at most D of each measure in l1 over all groups, and by at most kappa in what a threshold
    looks at;
  * scales, threshold, charge, declared groups and errors are the same.

This is no statistics: a difference is a fault, whatever the seed. The seed that was used is printed. The output is TAP.
"""
import argparse
import pathlib
import random
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
for folder in ("attacks", "blackbox", "greybox"):
    sys.path.insert(0, str(HERE.parent / folder))

from account import clipped, contribution_of, totals  # noqa: E402
from claims import charges_since, last_charge  # noqa: E402
from grey import BUILD, drop_database, end_keeper, make_database  # noqa: E402
from libpq import Connection  # noqa: E402
from replay import Bits, Plan, read_trace  # noqa: E402
from schemas import Schema, make_question  # noqa: E402
from tap import Tap  # noqa: E402

DATABASE = "regress_dp_neighbours"
WORDS = 1 << 21
POLICIES = {
    "regress_dp_laplace": "tau => 0.5",
    "regress_dp_gaussian": "tau => 0.9, mechanism => 'gaussian', delta => 0.001",
    "regress_dp_finder": "tau => 0.5, delta => 0.1",
    "regress_dp_gfinder": "tau => 0.7, mechanism => 'gaussian', delta => 0.2",
}


class Noise:
    """The random words of the one keeper, which goes on where it stopped."""

    def __init__(self, owner, rng):
        self.owner, self.rng = owner, rng
        self.renew()

    def renew(self):
        end_keeper(self.owner, DATABASE)
        data = self.rng.randbytes(8 * WORDS)
        (BUILD / "bits").write_bytes(data)
        (BUILD / "trace").write_text("")
        self.bits = Bits(struct.unpack(f"={WORDS}Q", data))

    def of_next_answer(self):
        if self.bits.drawn > WORDS // 2:
            self.renew()
        (BUILD / "trace").write_text("")


class Answer:
    """To one question: error, charge, plan, and by group the exact sums."""

    def __init__(self, owner, sessions, noise, question):
        noise.of_next_answer()
        before = last_charge(owner)
        reply = sessions[question.policy].send(question.sql)
        self.error = reply.sqlstate() and f"{reply.sqlstate()} {reply.results[-1].field('M')}"
        self.groups, self.plan = [], None
        charges = charges_since(owner, before)
        self.charge = charges[0] if charges else None
        for event in read_trace((BUILD / "trace").read_text()):
            if isinstance(event, Plan):
                self.plan = event[1:]
                noise.bits.drawn = event.words
            else:
                self.groups.append(self.without_noise(noise.bits, event))

    def without_noise(self, bits, group):
        exact = []
        for (kind, _), scale in zip(self.charge.measures, self.plan[2]):
            for _ in range({"pair": 2, "triple": 3}.get(kind, 1)):
                drawn = bits.laplace(*scale) if self.plan[0] == "laplace" else bits.gaussian(*scale)
                exact.append(group.integers[len(exact)] - drawn)
        if len(exact) != len(group.integers) or bits.drawn != group.words:
            raise SystemExit(f"the words of an answer cannot be followed: {group}, {bits.drawn}")
        return tuple(exact)


class Expectation:
    """What a question adds up to over some rows."""

    def __init__(self, question, rows):
        limits, measures = question.limits, question.measures
        grains = [limits.grain(m, question.thresholded and at == 0) for at, m in enumerate(measures)]
        self.sensitivities = [limits.sensitivity(m, grain) for m, grain in zip(measures, grains)]
        by_unit = {}
        for row in rows:
            if row["unit"] is not None and question.keeps(row) and question.key(row) != "left out":
                by_unit.setdefault(row["unit"], []).append(row)
        raw = [contribution_of(rows, measures, grains, question.key) for rows in by_unit.values()]
        # Of more groups than it may bring a unit keeps some by a hash.
        self.chosen = question.thresholded and any(len(groups) > limits.groups for groups in raw)
        units = [clipped(groups, measures, self.sensitivities) for groups in raw]
        if question.thresholded:
            found = {key for unit in units for key in unit}
            self.keys = sorted(found, key=lambda key: (key is None, key))
        else:
            self.keys = question.keys
        width = sum(m.width() for m in measures)
        self.groups = [sums or (0,) * width for sums in totals(units, self.keys)]


def check_account(question, answer, expected):
    complaints = []
    charged = [largest for _, largest in answer.charge.measures]
    if charged != expected.sensitivities:
        complaints.append(f"sensitivities {charged}, {expected.sensitivities} by the account")
    if expected.chosen:
        if not set(answer.groups) or len(answer.groups) > len(expected.groups):
            complaints.append(f"{len(answer.groups)} groups, {len(expected.groups)} at most by the account")
    elif answer.groups != expected.groups:
        complaints.append(f"sums {answer.groups}, {expected.groups} of {expected.keys} by the account")
    return complaints


def parts(question, group):
    at = 0
    for measure in question.measures:
        yield group[at:at + measure.width()]
        at += measure.width()


def changes(question, ours, theirs):
    """By measure, in l1 over all groups. Discovered groups have no names here: those without a change are taken away."""
    if not question.thresholded:
        pairs = list(zip(ours, theirs))
    else:
        pairs = paired(question, ours, theirs)
    moved = [0] * len(question.measures)
    for a, b in pairs:
        for j, (x, y) in enumerate(zip(parts(question, a), parts(question, b))):
            moved[j] += sum(abs(p - q) for p, q in zip(x, y))
    return moved


def paired(question, ours, theirs):
    """Both lists are in the order of keys: the assignment in that order whose change is least, measured in parts of each D."""
    width = sum(m.width() for m in question.measures)
    zero = (0,) * width

    def cost(a, b):
        return sum(abs(p - q) / largest for x, y, largest in zip(parts(question, a), parts(question, b), question.largest)
                   for p, q in zip(x, y))

    best = {(0, 0): (0, [])}
    for i in range(len(ours) + 1):
        for j in range(len(theirs) + 1):
            if (i, j) == (0, 0):
                continue
            ways = []
            if i:
                ways.append((best[i - 1, j][0] + cost(ours[i - 1], zero), best[i - 1, j][1] + [(ours[i - 1], zero)]))
            if j:
                ways.append((best[i, j - 1][0] + cost(zero, theirs[j - 1]), best[i, j - 1][1] + [(zero, theirs[j - 1])]))
            if i and j:
                ways.append((best[i - 1, j - 1][0] + cost(ours[i - 1], theirs[j - 1]),
                             best[i - 1, j - 1][1] + [(ours[i - 1], theirs[j - 1])]))
            best[i, j] = min(ways, key=lambda way: way[0])
    return best[len(ours), len(theirs)][1]


class Asked:
    """A question, what it is answered over all rows, and the sensitivities that these rows do not change."""

    def __init__(self, question):
        self.question = question
        self.complaints = []

    def __getattr__(self, name):
        return getattr(self.question, name)


def check_neighbour(asked, whole, other, unit):
    if whole.error != other.error:
        return [f"without unit {unit}: '{other.error}', with it '{whole.error}'"]
    if whole.error:
        return []
    complaints = []
    if whole.plan != other.plan or whole.charge.everything() != other.charge.everything():
        complaints.append(f"plan or charge depends on unit {unit}: {whole.plan}, {other.plan}")
    if not asked.thresholded and len(whole.groups) != len(other.groups):
        return complaints + [f"{len(whole.groups)} groups, {len(other.groups)} without unit {unit}"]
    moved = changes(asked, whole.groups, other.groups)
    if any(change > largest for change, largest in zip(moved, asked.largest)):
        complaints.append(f"unit {unit} changes the sums by {moved}, at most {asked.largest} is claimed: "
                          f"{whole.groups}, {other.groups}")
    return complaints


def run_schema(owner, sessions, noise, rng, number, count, tap):
    schema = Schema(rng, number)
    for statement in schema.create():
        owner.must(statement)
    for table in ("people", "visits", "orders", "items"):
        for policy, terms in POLICIES.items():
            owner.must(f"SELECT dp_grant('{schema.name(table)}_dp', '{policy}', {terms})")
    asked = [Asked(make_question(rng, schema)) for _ in range(count)]
    wholes, answered = [], 0
    for unit in [None] + list(range(1, schema.units + 1)):
        owner.must("BEGIN; " + "; ".join(schema.fill(unit)) + "; COMMIT")
        for at, question in enumerate(asked):
            rows = question.rows_without(schema, unit)
            answer = Answer(owner, sessions, noise, question)
            if unit is None:
                wholes.append(answer)
            if not answer.error:
                expected = Expectation(question, rows)
                question.largest = expected.sensitivities
                question.complaints += check_account(question, answer, expected)
            question.complaints += check_neighbour(question, wholes[at], answer, unit) if unit is not None else []
    for question, whole in zip(asked, wholes):
        answered += not whole.error
        kept = question.complaints[:3]
        tap.report(f"schema {number}, {schema.type}, R {question.limits.rows}, kappa {question.limits.groups}: {question.sql}",
                   kept + ([question.sql] if kept else []) + ([f"refused: {whole.error}"] if whole.error and not kept else []))
    return answered


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--schemas", type=int, default=14)
    parser.add_argument("--questions", type=int, default=8)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10 ** 9))
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    print(f"# seed {arguments.seed}")
    owner = make_database(DATABASE, POLICIES)
    sessions = {policy: Connection(dbname=DATABASE) for policy in POLICIES}
    for policy, session in sessions.items():
        session.must(f"SET ROLE {policy}")
    noise, tap = Noise(owner, rng), Tap()
    for number in range(arguments.schemas):
        run_schema(owner, sessions, noise, rng, number, arguments.questions, tap)
    print(f"1..{tap.count}")
    for connection in (*sessions.values(), owner):
        connection.close()
    drop_database(DATABASE, POLICIES)
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
