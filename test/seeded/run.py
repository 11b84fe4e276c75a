#!/usr/bin/env python3
"""The installed library, asked about neighbouring databases with the same random bytes, on a server of its own.

    run.py [--worlds N] [--questions N] [--seed N]

bytes.cpp is preloaded into the server and serves what PostgreSQL's pg_strong_random returns from a seed, which is renewed before each
question. Databases that differ by all rows of one person then draw the same noise, and their answers differ by exactly what the
person brings, which must be at most what the charge says: max_rows rows of the bounds that the ledger names. (What test/neighbours and test/greybox
look at in numbers before they are printed, this looks at in answers of the library as it is installed.)

What must hold of each question, whoever is taken away:

  * errors, charges and groups are the same; of discovered groups at most max_groups differ;
  * sums and counts, over all groups together, move by at most the sensitivity that was charged, in l1 or where rows in each group are
    limited in l2; averages, variances and covariances by no more than that over the rows of a group;
  * the sensitivity of each measure in the ledger is max_rows times the largest row, or max_groups people, on some lattice;
  * rows in another physical order, and parallel plans wherever a keeper permits them, change nothing at all;
  * a join, or a semi-join, in which an equality was forgotten that keeps people apart is refused;
  * dp_explain has announced max_rows, max_groups and epsilon of each charge.

A difference is a fault, whatever the seed.
"""
import argparse
import json
import math
import random
import sys
from collections import defaultdict
from fractions import Fraction

from shared import Server, Sessions, Tap  # first: it says where others are
from questions import make_question, questions_of_strangers
from world import POLICIES, World, make_databases

WORLDS_OF_SERVER = 8  # of seven databases each; more than 64 may not use restricted views at a time
LEDGER = "SELECT kind, epsilon, delta_noise, delta_groups, mechanism, parameters FROM dp_rdr.ledger WHERE id > {} ORDER BY id"
EXPLAIN = "SELECT DISTINCT leaf, epsilon, max_rows, max_groups FROM dp_explain($e${}$e${}) ORDER BY leaf"


class Database(Sessions):
    def __init__(self, name):
        super().__init__(name, POLICIES)

    def ask(self, question):
        return Answer(self, question)


class Answer:
    """groups: by key, the outputs."""

    def __init__(self, database, question):
        last = database.owner.must("SELECT coalesce(max(id), 0) FROM dp_rdr.ledger")[0][0]
        reply = database.sessions[question.policy].send(question.sql)
        self.error = reply.sqlstate() and f"{reply.sqlstate()} {reply.results[-1].field('M')}"
        self.charges = database.owner.must(LEDGER.format(last))
        self.groups = {row[:question.keys]: row[question.keys:] for row in reply.results[-1].rows}
        if len(self.groups) != len(reply.results[-1].rows):
            raise SystemExit(f"two groups of one key: {question.sql}")

    def parameters(self):
        return [json.loads(charge[5]) for charge in self.charges]


# ---- what was charged ------------------------------------------------------------------------------------------------

def limits_of(terms):
    """Of a charge; where each row is a person it names none."""
    return terms.get("max_rows", 1), terms.get("max_groups", 1), terms.get("max_rows_per_group")


def largest_row(measure):
    """What one row brings at most, in the unit of its column; None: it is no sum."""
    return max(abs(Fraction(str(measure[end]))) for end in ("lower", "upper")) if measure["kind"] == "sum" else None


def is_power_of_two(number):
    return number > 0 and abs(math.log2(number) - round(math.log2(number))) < 1e-6


def check_sensitivity(terms, measure):
    """On a lattice whose points are a power of two apart."""
    rows, groups, per_group = limits_of(terms)
    row = {"sum": largest_row(measure), "moments": Fraction(3, 4)}.get(measure["kind"], 1)
    many = groups if measure.get("of") == "units" else rows
    bound = many * row
    if per_group and measure.get("of") not in ("values",) and measure["kind"] != "quantile":
        bound = math.sqrt(groups if measure.get("of") == "units" else rows * per_group) * float(row)
    if measure["sensitivity"] != math.ceil(bound) and not is_power_of_two(measure["sensitivity"] / bound):
        return [f"{measure} is not charged for {rows} rows, {groups} groups, {per_group} in each"]
    return []


class Claim:
    """By how much one person may move the outputs of a release, from its row in the ledger."""

    def __init__(self, terms, outputs):
        self.rows, self.groups, self.per_group = limits_of(terms)
        self.complaints = [complaint for measure in terms["measures"] for complaint in check_sensitivity(terms, measure)]
        sums = [largest_row(measure) for measure in terms["measures"] if measure["kind"] == "sum"]
        if len(sums) != sum(output.kind == "sum" for output in outputs):
            self.complaints.append(f"{len(sums)} sums were charged: {terms['measures']}")
            sums = [Fraction(0)] * len(outputs)
        rest = iter(sums)
        self.row = [next(rest) if output.kind == "sum" else Fraction(output.width or 1) for output in outputs]

    def spread(self, output):
        return self.per_group is not None and output.kind not in ("values", "other", "average")

    def square(self, at, output):
        many = self.groups if output.kind == "units" else self.rows * self.per_group
        return many * self.row[at] ** 2

    def bound(self, at, output):
        return (self.groups if output.kind == "units" else self.rows) * self.row[at]


# ---- neighbours ------------------------------------------------------------------------------------------------------

def number(text):
    return Fraction(text)


def room(output, one_group):
    """How far printing may move a difference in one group."""
    if one_group and output.kind != "sum":
        return 0
    return Fraction(1, 10 ** 6) if output.exact else 1


def check_output(claim, at, outputs, pairs):
    output = outputs[at]
    if output.kind == "other":
        return []
    if output.kind == "average":
        return check_average(claim, at, pairs)
    moved = [abs(number(a[at]) - number(b[at])) for a, b in pairs]
    # What is clipped by an l2 norm is no whole number of rows, and printed as one.
    slack = room(output, len(pairs) == 1 and not claim.spread(output))
    if claim.spread(output):
        size = math.sqrt(sum(max(0, change - slack) ** 2 for change in moved))
        most = math.sqrt(claim.square(at, output))
    else:
        size, most = sum(max(0, change - slack) for change in moved), claim.bound(at, output)
    if size > most * (1 + Fraction(1, 10 ** 9)):
        return [f"{output.sql} moves by {float(size):g}, charged for {float(most):g}"]
    return []


def check_average(claim, at, pairs):
    """Times the rows of each group, which the output behind it has counted: no more than if each row that is charged went from one end to
    the other. A variance, or a covariance, moves by at most half as much again as its parts."""
    size = sum(abs(number(a[at]) - number(b[at])) * max(0, min(int(a[at + 1]), int(b[at + 1])) - 2) for a, b in pairs)
    most = claim.rows * claim.row[at] * Fraction(3, 2)
    return [f"an average moves by {float(size):g} in all, charged for {float(most):g}"] if size > most else []


def sets_of(question, answer):
    """Keys by grouping set, in the order of their charges: GROUPING() is the last of the keys of those."""
    by_set = defaultdict(list)
    for key in answer.groups:
        by_set[key[-1] if "GROUPING(" in question.sql else ""].append(key)
    return by_set


def check_neighbour(question, whole, other, claims):
    if whole.error != other.error:
        return [f"'{other.error}', with everybody '{whole.error}'"]
    if whole.charges != other.charges:
        return [f"charges {other.charges}, with everybody {whole.charges}"]
    if whole.error:
        return []
    apart = whole.groups.keys() ^ other.groups.keys()
    if len(apart) > (claims[0].groups if question.thresholded else 0):
        return [f"groups {sorted(apart, key=str)} are in one answer alone"]
    complaints = []
    for keys, claim in zip(sets_of(question, whole).values(), claims):
        pairs = [(whole.groups[key], other.groups[key]) for key in keys if key in other.groups]
        for at in range(len(question.outputs)):
            complaints += check_output(claim, at, question.outputs, pairs)
    return complaints


def check_explained(database, question, whole):
    """Of a question in dp_query the text inside, with its limits."""
    query, limits = question.sql, ""
    if query.startswith("SELECT * FROM dp_query"):
        query, rest = query.split("$q$")[1:]
        limits = rest.split(")")[0]
    explained = database.sessions[question.policy].must(EXPLAIN.format(query, limits))
    said = [(row[1] and Fraction(row[1]), int(row[2] or 1), int(row[3] or 1)) for row in explained]
    charged = [(charge[1] and Fraction(charge[1]), *limits_of(terms)[:2]) for charge, terms in zip(whole.charges, whole.parameters())]
    return [f"explained {said}, charged {charged}"] if said != charged else []


def check_question(server, databases, question, seed):
    """Whether it was answered, and what is wrong."""
    answers = {}
    for what, database in databases.items():
        server.renew(seed)
        answers[what] = database.ask(question)
    whole, complaints = answers.pop("whole"), []
    claims = [Claim(terms, question.outputs) for terms in whole.parameters()]
    complaints += [complaint for claim in claims for complaint in claim.complaints]
    if question.is_of_strangers() and not whole.error:
        complaints.append("it brings rows of different people together, and is answered")
    if not whole.error:
        complaints += check_explained(databases["whole"], question, whole)
        if not question.thresholded and len(claims) != len(sets_of(question, whole)):
            complaints.append(f"{len(claims)} charges for {len(sets_of(question, whole))} answers")
    reordered = answers.pop("reordered")
    if (reordered.error, reordered.charges, reordered.groups) != (whole.error, whole.charges, whole.groups):
        complaints.append(f"rows in another order: {reordered.error} {reordered.groups}, in theirs {whole.error} {whole.groups}")
    for unit, other in answers.items():
        complaints += [f"without {unit}: {complaint}" for complaint in check_neighbour(question, whole, other, claims)]
    return whole, complaints


def check_seeds(server, databases, tap):
    """That the bytes are those of the seed, or nothing here says anything."""
    session = databases["whole"].sessions["seeded_laplace"]
    answers = []
    for seed in (1, 1, 2):
        server.renew(seed)
        answers.append(session.must("SELECT g, count(*), sum(v) FROM person_dp GROUP BY g"))
    tap.report("the same seed gives the same noise, another seed another",
               [] if answers[0] == answers[1] != answers[2] else [f"{answers}"])


def run_world(server, rng, number_of_world, count, tap, refused):
    names = make_databases(World(rng), number_of_world)
    databases = {what: Database(name) for what, name in names.items()}
    if number_of_world == 0:
        check_seeds(server, databases, tap)
    for question in (*questions_of_strangers(), *(make_question(rng) for _ in range(count))):
        whole, complaints = check_question(server, databases, question, rng.getrandbits(64))
        if whole.error and not question.is_of_strangers():
            refused.append(f"{whole.error}: {question.sql}")
        tap.report(f"{question.policy}: {question.sql}", complaints[:4] + [question.sql] * bool(complaints))
    for database in databases.values():
        database.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--worlds", type=int, default=2)
    parser.add_argument("--questions", type=int, default=35)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10 ** 9))
    arguments = parser.parse_args()
    print(f"# seed {arguments.seed}")
    rng, tap, refused = random.Random(arguments.seed), Tap(), []
    for at in range(0, arguments.worlds, WORLDS_OF_SERVER):
        server = Server()
        try:
            for number_of_world in range(min(WORLDS_OF_SERVER, arguments.worlds - at)):
                run_world(server, rng, number_of_world, arguments.questions, tap, refused)
        finally:
            server.stop()
    asked = arguments.worlds * arguments.questions
    few = len(refused) > asked / 4
    tap.report(f"{asked - len(refused)} made-up questions of {asked} were answered, or had to be refused", refused[:20] if few else [])
    for line in refused:
        print("# " + line.replace("\n", " ")[:400])
    print(f"1..{tap.count}")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
