#!/usr/bin/env python3
"""Fifty random questions about thirty people, and what each person bears of their charges by a second account (doc/formulas.md 5.8).

    losses.py [--questions N] [--people N] [--seed N]

A person has up to five rows, of which two count. From the rows and the amounts in the ledger alone this says what dp_loss_records and dp_loss
have to show. A difference is a fault, whatever the seed.
"""
import argparse
import json
import pathlib
import random
import sys
from fractions import Fraction

from shared import Connection, Server, Tap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "neighbours"))
from loss import DELTA, epsilon_of  # noqa: E402

ROWS = 2
SCHEMA = f"""
CREATE TABLE seen (pid integer, ward text, cost integer, days integer);
{{rows}}
SELECT dp_protect('seen', 'seen_dp', unit => 'pid', max_rows => {ROWS});
SELECT dp_set_bounds('seen', 'cost', -20, 100), dp_set_bounds('seen', 'days', 0, 18), dp_set_groups('seen', 'ward', '{{{{a,b,c}}}}');
SELECT dp_set_odometer('seen', 'none', delta_total => 0.01);
SELECT dp_grant('seen_dp', 'seen_pure', tau => 0.9), dp_grant('seen_dp', 'seen_gaussian', tau => 0.9, mechanism => 'gaussian', delta => 1e-9);
"""


def clipped(values, most):
    """What is left of the sums of the groups, whose sizes may come to so much."""
    size = sum(map(abs, values))
    return values if size <= most else [(1 if v > 0 else -1) * (abs(v) * most // size) for v in values]


class Measure:
    """amount: what a row brings; None: nothing. Of numbers of several sums each row that has a value brings one."""

    def __init__(self, sql, amount, largest, grain=1, units=False):
        self.sql, self.amount, self.largest, self.grain, self.units = sql, amount, largest, grain, units

    def share(self, groups):
        """Norm and squared norm as parts of what anybody may bring."""
        sums = [[amount for amount in map(self.amount, rows) if amount is not None] for rows in groups]
        if self.units:
            some = Fraction(any(sums))
            return some, some
        most = ROWS * self.largest * self.grain
        left = [Fraction(value, most) for value in clipped([sum(amounts) * self.grain for amounts in sums], most)]
        return sum(map(abs, left)), sum(value ** 2 for value in left)


def measures_of(rng, grouped):
    limit = rng.randint(10, 90)
    cost = [Measure("sum(cost)", lambda row: row[2], 100, 2 ** 23), Measure("count(cost)", lambda row: None if row[2] is None else 1, 1, 2 ** 20)]
    others = [Measure("count(*)", lambda row: 1, 1, 2 ** 20),
              Measure(f"count(*) FILTER (WHERE cost > {limit})", lambda row: 1 if row[2] is not None and row[2] > limit else None, 1, 2 ** 20)]
    if not grouped:
        others.append(Measure("count(DISTINCT pid)", lambda row: 1, 1, units=True))
    return rng.sample([rng.choice(cost), *others], rng.randint(1, 3))


def question(rng, gaussian):
    """The statement, its measures, what it keeps of the rows, and its groups."""
    limit, wards = rng.randint(3, 18), rng.sample("abc", 2) # groups that WHERE names are groups of the answer
    where, keeps = rng.choice((("", lambda row: True), (f"WHERE days < {limit}", lambda row: row[3] < limit),
                               (f"WHERE ward IN ('{wards[0]}', '{wards[1]}')", lambda row: row[1] in wards),
                               ("WHERE cost IS NOT NULL", lambda row: row[2] is not None)))
    grouped = not gaussian and rng.random() < 0.4
    measures = measures_of(rng, grouped)
    if not gaussian and rng.random() < 0.4: # of several sums; its noise in each is no other's
        measures.append(Measure(rng.choice(("avg(days)", "var_pop(days)", "stddev_samp(days)")), lambda row: 1, 1, 2 ** 30))
    text = ", ".join(measure.sql for measure in measures)
    return f"SELECT {'ward, ' if grouped else ''}{text} FROM seen_dp {where} {'GROUP BY ward' if grouped else ''}", measures, keeps, grouped


def groups_of(rows, keeps, grouped):
    kept = [row for row in rows if keeps(row)]
    return [[row for row in kept if row[1] == ward] for ward in "abc"] if grouped else [kept]


def ask_all(connection, rng, rows, people, count):
    """What each person bears: epsilon, rho, answers."""
    bears = {person: [Fraction(0), Fraction(0), 0] for person in range(1, people + 1)}
    for _ in range(count):
        gaussian = rng.random() < 0.3
        text, measures, keeps, grouped = question(rng, gaussian)
        connection.must(f"SET ROLE {'seen_gaussian' if gaussian else 'seen_pure'}")
        connection.must(text)
        connection.must("RESET ROLE")
        mechanism, epsilon, rho = connection.must("SELECT mechanism, epsilon, rho FROM dp_rdr.ledger ORDER BY id DESC LIMIT 1")[0]
        assert (mechanism == "gaussian") == gaussian, mechanism
        for person, own in bears.items():
            groups = groups_of([row for row in rows if row[0] == person], keeps, grouped)
            shares = [measure.share(groups) for measure in measures]
            norm, square = (sum(parts) / len(shares) for parts in zip(*shares))
            own[2] += norm > 0
            own[gaussian] += Fraction(rho) * square if gaussian else Fraction(epsilon) * norm
    return bears


def check(connection, bears):
    spent, delta = map(float, connection.must("SELECT epsilon, delta FROM dp_odometer('seen') WHERE account = 'public'")[0])
    expected = {}
    for person, own in bears.items(): # not more than was spent in all, where that has no more of delta
        bound = epsilon_of(float(own[0]), float(own[1]))
        expected[person] = min(bound, spent) if delta <= (DELTA if own[1] else 0) else bound
    complaints, shown = [], []
    for record, individuals, epsilon, rho, answers in connection.must("SELECT record, individuals, epsilon, rho, answers FROM dp_loss_records('seen', 1000)"):
        person = json.loads(record)["pid"] if record else None
        own = bears.pop(person) if record else [0, 0, 0]
        at = expected[person] if record else 0
        shown += [float(epsilon)] * int(individuals)
        if abs(float(epsilon) - at) > 1e-6 * max(1, at) or abs(float(rho) - own[1]) > 1e-6 * max(1, own[1]) or int(answers) != own[2]:
            complaints.append(f"person {person}: epsilon {epsilon}, rho {rho}, {answers} answers; {at}, {float(own[1])}, {own[2]} by the account")
    complaints += [f"person {person} is missing" for person, own in bears.items() if own[2] > 0]
    for people, epsilon in connection.must("SELECT people, epsilon FROM dp_loss('seen')"):
        at = sorted(expected.values())[max(0, -int(-float(people) * len(expected) // 1) - 1)]
        if abs(float(epsilon) - at) > 1e-6 * max(1, at):
            complaints.append(f"{people} of the people have at most {epsilon}, {at} by the account")
    if len(shown) != len(expected):
        complaints.append(f"{len(shown)} people are shown, {len(expected)} are there")
    return complaints


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--questions", type=int, default=50)
    parser.add_argument("--people", type=int, default=30)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10 ** 9))
    arguments = parser.parse_args()
    print(f"# seed {arguments.seed}")
    rng, tap = random.Random(arguments.seed), Tap()
    rows = [(person, rng.choice("abcd"), rng.choice((None, rng.randint(-20, 100), rng.randint(0, 100))), rng.randint(0, 18))
            for person in range(1, arguments.people + 1) for _ in range(rng.randint(1, 5))]
    values = ", ".join(f"({pid}, '{ward}', {'NULL' if cost is None else cost}, {days})" for pid, ward, cost, days in rows)
    server = Server()
    try:
        connection = Connection(dbname="postgres")
        for statement in ("CREATE EXTENSION dp_rdr", "CREATE ROLE seen_pure", "CREATE ROLE seen_gaussian", "SET client_min_messages = error",
                          SCHEMA.format(rows=f"INSERT INTO seen VALUES {values};")):
            connection.must(statement)
        bears = ask_all(connection, rng, rows, arguments.people, arguments.questions)
        tap.report(f"what {arguments.people} people bear of {arguments.questions} answers", check(connection, bears)[:6])
        connection.close()
    finally:
        server.stop()
    print(f"1..{tap.count}")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
