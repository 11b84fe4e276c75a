#!/usr/bin/env python3
"""Neighbours that differ in one person, by brute force. Against the server that PG* points to, where this tree is installed;
`make neighbours` builds the library with known bits (test/greybox) that is loaded in its place.

    run.py [--schemas N] [--questions N] [--seed N]

For each of some made-up schemas (schemas.py: people with many rows, NULLs, rows of nobody, inheritance children, a path over
another table) a few questions are asked of all rows, and again without all rows of each unit in turn. With the noise taken
out, what must hold (doc/formulas.md 9):

  * the exact sums, and the histograms that percentiles are drawn from, are those of an account of its own (account.py), clipped; where a unit has more discovered groups than it
    may bring, which of them it brings is not asked, but how many;
  * without a unit they differ by at most D of each measure in l1 over all groups, where max_rows_per_group is in force in l2, and by
    at most kappa in what a threshold looks at;
  * what each person bears of all these charges is that of an account of its own (loss.py);
  * scales, threshold, charge, declared groups and errors are the same;
  * what a choice of max_rows compares is what the account counts, differs by at most 1 without a unit, and the result follows from it
    and the noise.

This is no statistics: a difference is a fault, whatever the seed. The seed that was used is printed. The output is TAP.
"""
import argparse
import math
import pathlib
import random
import struct
import sys
from collections import Counter
from fractions import Fraction

HERE = pathlib.Path(__file__).resolve().parent
for folder in ("attacks", "blackbox", "greybox"):
    sys.path.insert(0, str(HERE.parent / folder))

from account import WIDTHS, clipped, contribution_of, more_values, totals  # noqa: E402
from claims import charges_since, last_charge  # noqa: E402
from loss import check_loss  # noqa: E402
from grey import BUILD, drop_database, end_keeper, make_database  # noqa: E402
from libpq import Connection  # noqa: E402
from replay import Bits, Histogram, Limit, Plan, read_trace  # noqa: E402
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
        self.groups, self.plan, histograms = [], None, []
        charges = charges_since(owner, before)
        self.charge = charges[0] if charges else None
        self.ids = [at for at in range(before + 1, last_charge(owner) + 1)] if charges else []
        for event in read_trace((BUILD / "trace").read_text()):
            if isinstance(event, Plan):
                self.plan = event[1:]
                noise.bits.drawn = event.words
            elif isinstance(event, Histogram):
                histograms.append(event)
            else:
                self.groups.append(self.without_noise(noise.bits, event, histograms))

    def without_noise(self, bits, group, histograms):
        """Where a cell was drawn, the histogram."""
        exact, at = [], 0
        for (kind, _), scale in zip(self.charge.measures, self.plan[2]):
            for _ in range(WIDTHS.get(kind, 1)):
                if kind == "quantile":
                    histogram = histograms.pop(0)
                    if bits.cell(histogram, *scale) != group.integers[at]:
                        raise SystemExit(f"another cell was drawn than {group.integers[at]} of {histogram}")
                    exact.extend(histogram.counts)
                else:
                    drawn = bits.laplace(*scale) if self.plan[0] == "laplace" else bits.gaussian(*scale)
                    exact.append(group.integers[at] - drawn)
                at += 1
        if at != len(group.integers) or bits.drawn != group.words:
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
        # Of more different values than it may bring as well: which these are is not asked, but how many.
        self.vague = set().union(*(more_values(groups, measures, limits) for groups in raw))
        units = [clipped(groups, measures, self.sensitivities, limits) for groups in raw]
        if question.thresholded:
            found = {key for unit in units for key in unit}
            self.keys = sorted(found, key=lambda key: (key is None, key))
        else:
            self.keys = question.keys
        width = sum(m.width() for m in measures)
        self.groups = totals(units, self.keys, (0,) * width)


def check_account(question, answer, expected):
    complaints = []
    charged = [largest for _, largest in answer.charge.measures]
    if charged != expected.sensitivities:
        complaints.append(f"sensitivities {charged}, {expected.sensitivities} by the account")
    if expected.chosen:
        if not set(answer.groups) or len(answer.groups) > len(expected.groups):
            complaints.append(f"{len(answer.groups)} groups, {len(expected.groups)} at most by the account")
    elif not agree(question, answer.groups, expected):
        complaints.append(f"sums {answer.groups}, {expected.groups} of {expected.keys} by the account")
    return complaints


def agree(question, groups, expected):
    """Exactly, but for counts of different values of which somebody has more than he may bring: those are no more than there are."""
    if not expected.vague:
        return groups == expected.groups
    if len(groups) != len(expected.groups):
        return False
    for ours, theirs in zip(groups, expected.groups):
        for j, (a, b) in enumerate(zip(parts(question, ours), parts(question, theirs))):
            if a != b and not (j in expected.vague and 0 <= a[0] <= b[0]):
                return False
    return True


def parts(question, group):
    at = 0
    for measure in question.measures:
        yield group[at:at + measure.width()]
        at += measure.width()


def changes(question, ours, theirs):
    """By measure, over all groups, as a part of D: in l1, or the square of l2. Discovered groups have no names here: those without a change are taken away."""
    if not question.thresholded:
        pairs = list(zip(ours, theirs))
    else:
        pairs = paired(question, ours, theirs)
    moved = [0] * len(question.measures)
    for a, b in pairs:
        for j, (x, y) in enumerate(zip(parts(question, a), parts(question, b))):
            moved[j] += change(question, j, x, y)
    return moved


def change(question, j, x, y):
    """Of a measure in one group."""
    largest = question.largest[j]
    if question.limits.is_spread(question.measures[j]):
        return Fraction(sum((p - q) ** 2 for p, q in zip(x, y)), largest ** 2)
    return Fraction(sum(abs(p - q) for p, q in zip(x, y)), largest)


def paired(question, ours, theirs):
    """Both lists are in the order of keys: the assignment in that order whose change is least, measured in parts of each D."""
    width = sum(m.width() for m in question.measures)
    zero = (0,) * width

    def cost(a, b):
        return sum(change(question, j, x, y) for j, (x, y) in enumerate(zip(parts(question, a), parts(question, b))))

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
    if any(part > 1 for part in moved):
        complaints.append(f"unit {unit} changes the sums by {moved} of {asked.largest}, at most that is claimed: "
                          f"{whole.groups}, {other.groups}")
    return complaints


# ---- the choice of max_rows ------------------------------------------------------------------------------------------


THRESHOLDS = {"0": 4, "0.9": 30}  # T' at epsilon 1, by tau
# What is added up of a row: rows, or sizes in parts of the largest, with that.
AMOUNTS = {None: (lambda row: 1, 1), "w": (lambda row: 16 * abs(row["w"] or 0), 8),
           "5 - w": (lambda row: 0 if row["w"] is None else 16 * abs(5 - row["w"]), 13)}
MOST = 2 ** 14
COMPARED = [1] + [limit for k in range(1, 14) for limit in (2 ** k, 3 * 2 ** (k - 1))][:-1] + [3 * 2 ** 12]


class Choice:
    """Of how many rows of a unit shall count (9.10): what was compared, and what became of it."""

    def __init__(self, owner, noise, table, tau, value):
        noise.of_next_answer()
        before = last_charge(owner)
        owner.must("BEGIN")
        sizes = f", most => {MOST // 16}, value => '{value}'" if value else ""
        reply = owner.send(f"CALL dp_choose_contribution('{table}', 1, tau => {tau}{sizes})")
        owner.must("ROLLBACK")
        self.error = reply.sqlstate() and f"{reply.sqlstate()} {reply.results[-1].field('M')}"
        self.charges = [charge.everything() for charge in charges_since(owner, before)]
        events = [event for event in read_trace((BUILD / "trace").read_text()) if isinstance(event, Limit)]
        self.margins, self.complaints = (events[0].margins if events else ()), []
        if events:
            self.replay(noise.bits, events[0])

    def replay(self, bits, event):
        """Noise of scale 2 on the threshold and on each comparison, and what it decides."""
        threshold = bits.laplace(2, 1)
        chosen = MOST
        for k, margin in enumerate(event.margins):
            if margin + bits.laplace(2, 1) >= threshold:
                chosen = COMPARED[k]
                break
        if chosen != event.chosen or bits.drawn != event.words or (chosen < MOST and k + 1 != len(event.margins)):
            self.complaints.append(f"{event} does not follow from its noise: {chosen}, {bits.drawn} words")


def check_choice(whole, other, amounts, tau, value, unit):
    """amounts: by unit, of the table as it is."""
    complaints = list(other.complaints)
    largest = AMOUNTS[value][1]
    expected = tuple(THRESHOLDS[tau] - sum(n > COMPARED[k] * largest for n in amounts)
                     for k in range(len(other.margins)))
    if other.error or other.margins != expected:
        complaints.append(f"compared {other.margins}, {expected} by the account ({other.error})")
    moved = [b - a for a, b in zip(whole.margins, other.margins)]
    if any(change not in (0, 1) for change in moved) or whole.charges != other.charges or len(other.charges) != 1:
        complaints.append(f"unit {unit} changes {whole.margins} to {other.margins}, {whole.charges} to {other.charges}")
    return complaints


def run_schema(owner, sessions, noise, rng, number, count, tap):
    schema = Schema(rng, number)
    for statement in schema.create():
        owner.must(statement)
    for table in ("people", "visits", "orders", "items"):
        for policy, terms in POLICIES.items():
            owner.must(f"SELECT dp_grant('{schema.name(table)}_dp', '{policy}', {terms})")
    asked = [Asked(make_question(rng, schema)) for _ in range(count)]
    wholes, answered, ids = [], 0, [[] for _ in asked]
    table, tau = rng.choice(("visits", "orders", "items")), rng.choice(tuple(THRESHOLDS))
    value = rng.choice(tuple(AMOUNTS))
    choices, chosen = [], []
    for unit in [None] + list(range(1, schema.units + 1)):
        owner.must("BEGIN; " + "; ".join(schema.fill(unit)) + "; COMMIT")
        by_unit = Counter()
        for row in getattr(schema, table):
            if row["unit"] is not None and row["unit"] != unit:
                by_unit[row["unit"]] += AMOUNTS[value][0](row)
        choices.append(Choice(owner, noise, schema.name(table), tau, value))
        chosen += check_choice(choices[0], choices[-1], list(by_unit.values()), tau, value, unit)
        for at, question in enumerate(asked):
            rows = question.rows_without(schema, unit)
            answer = Answer(owner, sessions, noise, question)
            ids[at] += answer.ids
            if unit is None:
                wholes.append(answer)
            if not answer.error:
                expected = Expectation(question, rows)
                question.largest = expected.sensitivities
                question.complaints += check_account(question, answer, expected)
            question.complaints += check_neighbour(question, wholes[at], answer, unit) if unit is not None else []
    owner.must("BEGIN; " + "; ".join(schema.fill()) + "; COMMIT")
    tap.report(f"schema {number}, what each person bears of all charges", check_loss(owner, schema, asked, ids)[:3])
    tap.report(f"schema {number}, max_rows of {table} chosen for tau {tau}", chosen[:3])
    for question, whole in zip(asked, wholes):
        answered += not whole.error
        kept = question.complaints[:3]
        tap.report(f"schema {number}, {schema.type}, R {question.limits.rows}, kappa {question.limits.groups}, "
                   f"C {question.limits.per_group}, {question.policy}: {question.sql}",
                   kept + ([question.sql] if kept else []) + ([f"refused: {whole.error}"] if whole.error and not kept else []))
    return answered


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--schemas", type=int, default=9)
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
