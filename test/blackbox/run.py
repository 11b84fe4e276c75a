#!/usr/bin/env python3
"""Black box: what leaves the server, at a small epsilon, against the laws that doc/formulas.md promises for what was
charged. Against the server that PG* points to, where this tree is installed. Nothing but SQL is used; the laws are written
down once more in laws.py. A charge buys up to 10,000 numbers when the groups are declared: few statements, many draws.

What is asked, with Laplace and with Gaussian noise:

  law            answer minus exact sum of each coordinate of four measures over 2,000 groups: the largest distance of the
                 distribution functions (8.1, 8.3, 8.4), and each tenth of the law by itself
  independence   of two coordinates of a group, the two halves of a pair, two groups, two statements, two sessions: how often
                 the signs agree, how often counts have the very same noise, and a sum of products
  groups         a group that nobody declared, of 1 to 24 rows, appears as often as 1 noisy count in so many (8.5)
  selection      which candidate is selected, or none, at epsilon_svt = 0.1 (3.4): how often
  entropy        1,600 answers at epsilon 1e-9, and 10,000 numbers of one answer: no two are equal

**False alarms.** Every single test has a level of 2e-10 for every sample size: binomial tests are exact, distances of
distribution functions are bounded by Dvoretzky, Kiefer, Wolfowitz and Massart's inequality, sums of products by Bernstein's.
The run counts its tests and fails if there are more than 1,000: so a run fails by chance with probability below one in five
million, however the tests depend on each other. Both sides count: too little noise and too much.

**Power.** What these mistakes make of the tests (test/mutants has them as patches):

  one draw for both halves of a pair       the signs of 8,000 pairs agree nearly always instead of half the time
  the same draw for every group            so do those of neighbouring groups, and the same noise comes every time
  noise divided by 4 measures              a distance of 0.236, where the level is reached at 0.038: missed below 1e-200
  the threshold on the exact count         of 300 groups with T-1 rows none appears instead of 113: a chance of 1e-62
  16 bits of entropy an answer             among 1,600 answers 19 pairs are equal on average: none with probability 3e-9
  epsilon_svt ten times the charge         where 300 of 2,000 rows match, 0 of 400 runs are accepted instead of 59: 1e-27

A Laplace scale that is wrong by a factor of 1.2 is found with probability 0.99 (by the outermost tenths). A smaller error is
for test/greybox, which replays the bits.

    run.py [--answers N]     how many answers the entropy is counted over
"""
import argparse
import bisect
import math
import pathlib
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "attacks"))

import laws  # noqa: E402
from claims import charges_since, last_charge  # noqa: E402
from libpq import Connection  # noqa: E402
from tap import Tap  # noqa: E402

DATABASE = "regress_dp_blackbox"
LEVEL = 2e-10
MOST_TESTS = 1000
GROUPS = 2000
SIZES = 24  # of the groups that nobody declared: 1 to 24 rows, and 60
OF_EACH_SIZE = 50
WIDE = 2 ** 30

# A preference near 0 permits every epsilon: the one candidate is what an answer costs.
POLICIES = {
    "regress_dp_small": "tau => 0.0001, candidates => '{0.05}'",
    "regress_dp_half": "tau => 0.0001, candidates => '{0.5}'",
    "regress_dp_normal": "tau => 0.0001, candidates => '{0.25}', mechanism => 'gaussian', delta => 0.0001",
    "regress_dp_tiny": "tau => 0.0001, candidates => '{0.000000001}'",
    "regress_dp_finder": "tau => 0.0001, candidates => '{0.5}', delta => 0.01",
    "regress_dp_nfinder": "tau => 0.0001, candidates => '{0.8}', mechanism => 'gaussian', delta => 0.02",
    "regress_dp_one": "tau_var => 0.03, epsilon_svt => 0.1, candidates => '{1}'",
    "regress_dp_two": "tau_var => 0.03, epsilon_svt => 0.1, candidates => '{1,0.9}'",
}


# ---- the database ----------------------------------------------------------------------------------------------------


def prepare():
    postgres = Connection(dbname="postgres")
    postgres.send(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
    for policy in POLICIES:
        postgres.send(f"DROP ROLE IF EXISTS {policy}")
        postgres.must(f"CREATE ROLE {policy}")
    postgres.must(f"CREATE DATABASE {DATABASE} TEMPLATE template0")
    postgres.close()
    owner = Connection(dbname=DATABASE)
    owner.must("CREATE EXTENSION dp_rdr")
    # A row or two for every other group; nothing in the others. Values of w are sums of few powers of two: exact.
    owner.must(f"""CREATE TABLE many AS SELECT 2 * (i % {GROUPS // 2}) AS g, i % 1000 AS v, (i % 5) / 4.0::float8 AS w,
                          i % 3 = 0 AS flag, i::numeric AS big FROM generate_series(1, {GROUPS}) i""")
    owner.must(f"""CREATE TABLE crowd AS SELECT 1000 * size + i AS h, i % 7 AS v FROM generate_series(1, {SIZES}) size,
                          generate_series(1, {OF_EACH_SIZE}) i, generate_series(1, size)
                   UNION ALL SELECT 60000 + i, 1 FROM generate_series(1, 200) i, generate_series(1, 60)""")
    owner.must("CREATE TABLE chosen AS SELECT i AS id FROM generate_series(1, 2000) i")
    for table in ("many", "crowd", "chosen"):
        owner.must(f"SELECT dp_protect('{table}', '{table}_dp')")
        owner.must(f"SELECT dp_set_odometer('{table}', 'none')")
        for policy, terms in POLICIES.items():
            epsilon_max = ", epsilon_max => 100" if "tau_var" not in terms else ""
            owner.must(f"SELECT dp_grant('{table}_dp', '{policy}', {terms}{epsilon_max})")
    owner.must(f"SELECT dp_set_groups('many', 'g', (SELECT array_agg(i::text) FROM generate_series(0, {GROUPS - 1}) i))")
    owner.must(f"""SELECT dp_set_bounds('many', 'v', 0, 1000), dp_set_bounds('many', 'w', 0, 1),
                          dp_set_bounds('many', 'big', 0, {WIDE}), dp_set_bounds('crowd', 'v', 0, 6)""")
    return owner


def drop():
    postgres = Connection(dbname="postgres")
    postgres.send(f"DROP DATABASE {DATABASE} WITH (FORCE)")
    for policy in POLICIES:
        postgres.send(f"DROP ROLE {policy}")


def session(policy):
    connection = Connection(dbname=DATABASE, options="-c session_preload_libraries=")
    connection.must("LOAD 'dp_rdr'")
    connection.must(f"SET ROLE {policy}")
    return connection


# ---- tests -----------------------------------------------------------------------------------------------------------


class Tests:
    """Counts them, and keeps what fails for one line of TAP."""

    def __init__(self):
        self.tap = Tap()
        self.count = 0
        self.complaints = []
        self.begun = time.monotonic()

    def p(self, value, what):
        self.count += 1
        if value < LEVEL:
            self.complaints.append(f"{what}: p = {value:.3g}")

    def claim(self, good, what):
        if not good:
            self.complaints.append(what)

    def report(self, name):
        self.tap.report(f"{name} ({time.monotonic() - self.begun:.0f} s)", self.complaints)
        self.complaints = []

    def binomial(self, hits, trials, probability, what):
        self.p(laws.binomial_p(hits, trials, probability),
               f"{what}: {hits} of {trials}, expected {trials * probability:.1f}")

    def distinct(self, drawn, what):
        """Of numbers of which two agree with a probability below the level."""
        again = len(drawn) - len(set(drawn))
        self.p(0.0 if again else 1.0, f"{again} of {len(drawn)} {what} were there before")

    def law(self, noise, law, what):
        self.p(laws.kolmogorov_p(noise, law), f"distance to the law of {what}")
        points = sorted(noise)
        last, before = -math.inf, 0.0
        for tenth in range(1, 11):
            # The integer where the law reaches so many tenths; with a slack the edges are not sharp enough.
            edge = quantile(law, tenth / 10) if tenth < 10 else math.inf
            inside = bisect.bisect_right(points, edge) - bisect.bisect_right(points, last)
            reached = law.cdf(edge) if tenth < 10 else 1.0
            if law.slack == 0 and reached > before:
                self.binomial(inside, len(points), reached - before, f"{what}: noise in the {tenth}. tenth")
            last, before = edge, reached

    def independent(self, pairs, laws_of, what):
        """Of two draws with laws symmetric about 0."""
        signed = [(a > 0) == (b > 0) for a, b in pairs if a != 0 and b != 0]
        self.binomial(sum(signed), len(signed), 0.5, f"{what}: signs agree")
        first, second = laws_of
        self.p(laws.product_p([(score(first, a), score(second, b)) for a, b in pairs]), f"{what}: products of noise")

    def unequal(self, pairs, law, what):
        self.binomial(sum(a == b for a, b in pairs), len(pairs), law.equal(), f"{what}: the same noise")


def score(law, z):
    """Between -1 and 1, of mean 0."""
    return law.cdf(z) + law.cdf(math.ceil(z) - 1) - 1


def quantile(law, p):
    low, high = -60 * law.spread(), 60 * law.spread()
    while high - low > 0.5:
        middle = (low + high) / 2
        low, high = (low, middle) if law.cdf(math.floor(middle)) >= p else (middle, high)
    return math.ceil(high - 0.5) if law.cdf(math.ceil(high - 0.5)) >= p else math.ceil(high)


# ---- several measures over declared groups ---------------------------------------------------------------------------

COORDINATES = ("count(*)", "count(*) of a FILTER", "sum(v)", "first half of the pair", "second half of the pair")
QUESTION = "SELECT g, count(*), count(*) FILTER (WHERE flag), sum(v), sum(w), count(w) FROM %s GROUP BY g ORDER BY g"


class Blurred:
    """A law of 2^-30 units, seen where the second half of a pair is known to half a unit of 1 only."""

    def __init__(self, law):
        self.cdf, self.spread = law.cdf, law.spread
        self.slack = law.slack + 0.5 * (law.cdf(WIDE) - law.cdf(-WIDE))


def exact_answer(owner):
    rows = {int(row[0]): tuple(map(float, row[1:])) for row in owner.must(QUESTION.replace(" ORDER BY g", "") % "many")}
    return [rows.get(g, (0.0,) * 5) for g in range(GROUPS)]


def noise_of(rows, exact):
    """Of each group the noise of the five coordinates, in lattice units."""
    noise = []
    for row, truth in zip(rows, exact):
        stars, filtered, v, w, contributing = map(float, row[1:])
        halves = (w - truth[3]) * WIDE, (contributing - truth[4] - (w - truth[3])) * WIDE
        noise.append((stars - truth[0], filtered - truth[1], v - (truth[2] or 0), *halves))
    return noise


def ask_declared(owner, policy, exact, tests):
    """Four answers in two sessions by turns, and the laws of their noise."""
    sessions = [session(policy), session(policy)]
    last = last_charge(owner)
    answers = []
    for turn in range(4):
        rows = sessions[turn % 2].must(QUESTION % "many_dp")
        tests.claim([int(row[0]) for row in rows] == list(range(GROUPS)), f"{policy}: not all groups, or not in order")
        answers.append(noise_of(rows, exact))
    for connection in sessions:
        connection.close()
    charges = charges_since(owner, last)
    tests.claim(len(charges) == 4, f"{policy}: {len(charges)} charges for 4 answers")
    charge = charges[0]
    tests.claim([kind for kind, _ in charge.measures] == ["count", "count", "sum", "pair"], f"{policy}: {charge.measures}")
    tests.claim([largest for _, largest in charge.measures] == [1, 1, 1000, WIDE], f"{policy}: {charge.measures}")
    pair = charge.law_of(WIDE)
    return answers, [charge.law_of(1), charge.law_of(1), charge.law_of(1000), pair, Blurred(pair)]


def declared_groups(owner, policy, tests):
    exact = [tuple(0.0 if x is None else x for x in row) for row in exact_answer(owner)]
    answers, expected = ask_declared(owner, policy, exact, tests)
    everything = [noise for answer in answers for noise in answer]
    for c, name in enumerate(COORDINATES):
        tests.law([noise[c] for noise in everything], expected[c], f"{policy}, {name}")
    for c, name in enumerate(COORDINATES):
        for d in range(c + 1, len(COORDINATES)):
            pairs = [(noise[c], noise[d]) for noise in everything]
            tests.independent(pairs, (expected[c], expected[d]), f"{policy}, {name} and {COORDINATES[d]}")
            if d == 1:
                tests.unequal(pairs, expected[0], f"{policy}, {name} and {COORDINATES[d]}")
        apart = {"neighbouring groups": [(a[g][c], a[g + 1][c]) for a in answers for g in range(0, GROUPS, 2)],
                 "groups far apart": [(a[g][c], a[g + GROUPS // 2][c]) for a in answers for g in range(GROUPS // 2)],
                 "answers of two sessions": [(a[c], b[c]) for i in (0, 2) for a, b in zip(answers[i], answers[i + 1])],
                 "answers of one session": [(a[c], b[c]) for i in (0, 1) for a, b in zip(answers[i], answers[i + 2])]}
        for what, pairs in apart.items():
            tests.independent(pairs, (expected[c], expected[c]), f"{policy}, {name}, {what}")
            if c < 3:
                tests.unequal(pairs, expected[c], f"{policy}, {name}, {what}")


# ---- groups that nobody declared -------------------------------------------------------------------------------------


def discovered_groups(owner, policy, aggregates, answers, tests):
    connection = session(policy)
    shown = {size: 0 for size in range(1, SIZES + 1)}
    noise, neighbours = [], []
    last = last_charge(owner)
    kept = []
    for _ in range(answers):
        rows = connection.must(f"SELECT h, count(*){aggregates} FROM crowd_dp GROUP BY h")
        kept.append([(int(row[0]), int(row[1])) for row in rows])
    connection.close()
    charge = charges_since(owner, last)[0]
    law = charge.law_of(1)
    threshold = laws.threshold(law, charge.delta_groups)
    for rows in kept:
        for h, count in rows:
            if h < 60000:
                shown[h // 1000] += 1
            tests.claim(count >= threshold - (law.slack > 0), f"{policy}: a count of {count}, threshold {threshold}")
        large = [count - 60 for h, count in rows if h >= 60000]
        noise += large
        neighbours += zip(large[0::2], large[1::2])
    tests.claim(4 < threshold < SIZES - 1, f"{policy}: the threshold {threshold} is not among the sizes")
    for size, times in shown.items():
        probability = law.tail(threshold - size)
        if law.slack and 0.002 < probability < 0.998:  # sigma is known to some thousandths: give way so far
            expected = answers * OF_EACH_SIZE
            probability = min(max(times / expected, probability - 0.01), probability + 0.01)
        elif law.slack:
            continue
        tests.binomial(times, answers * OF_EACH_SIZE, probability,
                       f"{policy}{aggregates}, threshold {threshold}: groups of {size} rows")
    tests.law(noise, law, f"{policy}{aggregates}, groups of 60 rows")
    tests.independent(neighbours, (law, law), f"{policy}{aggregates}, groups of 60 rows")
    tests.unequal(neighbours, law, f"{policy}{aggregates}, groups of 60 rows")


# ---- the selection ---------------------------------------------------------------------------------------------------


def selection(owner, policy, matching, candidates, runs, tests):
    """How often each candidate is charged, and how often none."""
    sessions = [session(policy), session(policy)]
    last = last_charge(owner)
    denied = [0, 0]

    def ask(at):
        for _ in range(runs // 2):
            reply = sessions[at].send(f"SELECT count(*) FROM chosen_dp WHERE id <= {matching}")
            denied[at] += reply.sqlstate() == "53400"
    in_parallel(ask)
    for connection in sessions:
        connection.close()
    charges = charges_since(owner, last)
    paid = [charge for charge in charges if charge.kind == "selection"]
    tests.claim([float(charge.epsilon) for charge in paid] == [0.1] * runs, f"{policy}: {len(paid)} selections charged")
    answered = [float(charge.epsilon) for charge in charges if charge.kind != "selection"]
    selected = [*(answered.count(epsilon) for epsilon in candidates), sum(denied)]
    expected = laws.svt_law([laws.svt_gap(2000, matching, epsilon, 0.03) for epsilon in candidates], 0.1)
    tests.claim(sum(selected) == runs, f"{policy}: {selected} of {runs} runs")
    for name, times, probability in zip([*candidates, "none"], selected, expected):
        tests.binomial(times, runs, probability, f"{policy}, {matching} of 2000 rows: selected {name}")


def in_parallel(action):
    threads = [threading.Thread(target=action, args=(at,)) for at in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


# ---- entropy ---------------------------------------------------------------------------------------------------------


def entropy(owner, answers, tests):
    """At epsilon 1e-9 two counts agree with probability 1e-10, two sums with 1e-19."""
    seen = ([], [])
    sessions = [session("regress_dp_tiny"), session("regress_dp_tiny")]

    def ask(at):
        for _ in range(answers // 2):
            seen[at].append(sessions[at].must("SELECT count(*), sum(v) FROM many_dp")[0])
    in_parallel(ask)
    drawn = seen[0] + seen[1]
    tests.claim(len(drawn) == answers // 2 * 2, f"{len(drawn)} answers")
    tests.distinct(drawn, "answers")
    sums = [row[1] for _ in range(5) for row in sessions[0].must("SELECT g, sum(big) FROM many_dp GROUP BY g")]
    tests.distinct(sums, "sums")
    for connection in sessions:
        connection.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--answers", type=int, default=1600)
    arguments = parser.parse_args()
    owner = prepare()
    tests = Tests()
    for policy in ("regress_dp_small", "regress_dp_half", "regress_dp_normal"):
        declared_groups(owner, policy, tests)
        tests.report(f"law and independence of the noise: {POLICIES[policy]}")
    for policy, aggregates in (("regress_dp_finder", ""), ("regress_dp_finder", ", sum(v)"), ("regress_dp_nfinder", "")):
        discovered_groups(owner, policy, aggregates, 6, tests)
        tests.report(f"groups that nobody declared: {POLICIES[policy]}{aggregates}")
    # Few matching rows: accepted more often than not; more: less often.
    for matching in (200, 300):
        selection(owner, "regress_dp_one", matching, [1.0], 400, tests)
    selection(owner, "regress_dp_two", 250, [1.0, 0.9], 400, tests)
    tests.report("which epsilon is selected")
    entropy(owner, arguments.answers, tests)
    tests.report("no noise comes twice")
    tests.claim(tests.count <= MOST_TESTS, f"{tests.count} tests at a level of {LEVEL}")
    tests.report(f"{tests.count} tests at {LEVEL}: a false alarm has a probability below {tests.count * LEVEL:.1g}")
    print(f"1..{tests.tap.count}")
    owner.close()
    drop()
    return 1 if tests.tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
