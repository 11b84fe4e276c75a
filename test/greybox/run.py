#!/usr/bin/env python3
"""Grey box: the shipped path of an answer, with random bits from a file. Against the server that PG* points to, where this
tree is installed; `make greybox` builds the library that is loaded in its place.

    run.py [--statements N] [--seed N]

Made-up statements over all that doc/analyst.md says may be asked are sent to two neighbouring tables, with the same bits, each
in a connection of its own and with one keeper of its own. build/greybox/dp_rdr.so is dp_rdr.so, but for StrongBits, which reads build/greybox/bits, and for
the trace points of src/release/trace.hpp, which write build/greybox/trace: the plan of each release, its integers before
conversion with the number of words drawn so far, and what a selection compares. It is loaded by its path, in one database
that this script makes; nothing is installed, and the library that is has neither file in it, which is tested first.

What must hold, for every statement:

  * the scales of the noise are those of the charge that the ledger shows (doc/formulas.md 8.3, 8.4), with the sensitivities
    that follow from the declared bounds (8.2), and the same for both tables; so is the threshold (8.5);
  * each coordinate's noise is what the sampler of 8.1 makes of words of its own: the words are replayed (replay.py), and
    what is left of the released integers are the exact sums. No word serves two coordinates, no noise is drawn otherwise;
  * the exact sums of the two tables differ in at most one group, each measure by at most its D_j in l1 over its coordinates:
    a count by 0 or 1, a pair by 0 or exactly D_j (1.1, 8.6). A discovered group that is there in one table alone has these
    sums itself, and it is the first of its kind: one row, which appears if 1 plus noise reaches the threshold;
  * as many words are drawn for both tables, coordinate by coordinate, as long as the plan and the groups are the same, and no
    quantile is among them;
  * a quantile is the cell that permute-and-flip (8.9) draws from its histogram, and the histograms of the two tables differ by one
    row in one cell at most;
  * a selection compares margins that differ by at most their sensitivity, with noise for the epsilon_svt charged, and
    accepts what 3.4 says (3.2, 3.4);
  * an answer has as many rows as there are groups, declared or beyond the threshold; both tables get the same errors and
    the same charges.

This is no statistics: a difference is a fault, whatever the seed. The seed that was used is printed.
"""
import argparse
import math
import pathlib
import random
import struct
import sys
from fractions import Fraction

HERE = pathlib.Path(__file__).resolve().parent
for folder in ("attacks", "blackbox"):
    sys.path.insert(0, str(HERE.parent / folder))

import laws  # noqa: E402
from claims import charges_since, last_charge, sensitivity  # noqa: E402
from grey import BUILD, drop_database, end_keeper, make_database  # noqa: E402
from libpq import Connection  # noqa: E402
from replay import Bits, Histogram, Plan, Selection, read_trace  # noqa: E402
from statements import COLUMNS, NUMBERS, POLICIES, make_row, make_statement  # noqa: E402
from tap import Tap  # noqa: E402

DATABASE = "regress_dp_greybox"
WORDS = 1 << 17
PAIR = 2 ** 30


# ---- the database ----------------------------------------------------------------------------------------------------


def prepare():
    owner = make_database(DATABASE, POLICIES)
    owner.must("CREATE TYPE mood AS ENUM ('low', 'fair', 'high')")
    owner.must("CREATE TABLE person (%s)" % ", ".join(f"{name} {column.type}" for name, column in COLUMNS.items()))
    owner.must("SELECT dp_protect('person', 'person_dp')")
    for name, column in COLUMNS.items():
        if column.bounds:
            owner.must("SELECT dp_set_bounds('person', '%s', %s, %s)" % (name, *column.bounds))
        if column.groups:
            owner.must(f"SELECT dp_set_groups('person', '{name}', '{column.groups}')")
    owner.must("SELECT dp_set_odometer('person', 'none')")
    for policy, terms in POLICIES.items():
        owner.must(f"SELECT dp_grant('person_dp', '{policy}', {terms})")
    # The owner of the rows, who may call the aggregates with an epsilon of their own.
    owner.must("GRANT SELECT ON person TO regress_dp_reader")
    return owner


def installed_library(owner):
    folder = owner.must("SELECT setting FROM pg_config WHERE name = 'PKGLIBDIR'")[0][0]
    return pathlib.Path(folder, "dp_rdr.so").read_bytes()


# ---- one table -------------------------------------------------------------------------------------------------------


class Observed:
    """What one table answered, and what the library did."""

    def __init__(self, owner, statement, bits):
        self.statement = statement
        before = last_charge(owner)
        end_keeper(owner, DATABASE)
        (BUILD / "trace").write_text("")
        session = Connection(dbname=DATABASE)
        session.must(f"SET ROLE {statement.policy}")
        self.reply = session.send(statement.sql)
        session.close()
        self.events = read_trace((BUILD / "trace").read_text())
        self.charges = charges_since(owner, before)
        self.error = self.reply.sqlstate()
        self.releases = []
        self.selections = []
        self.complaints = []
        self.histograms = []  # of the group that comes next
        self.replay(Bits(bits))

    def replay(self, bits):
        """Takes the noise out again."""
        for event in self.events:
            if isinstance(event, Plan):
                self.releases.append(Release(event, []))
            elif isinstance(event, Selection):
                self.selections.append(event)
                self.replay_selection(bits, event)
            elif isinstance(event, Histogram):
                self.histograms.append(event)
            else:
                self.releases[-1].groups.append(self.exact(bits, self.releases[-1].plan, event))

    def exact(self, bits, plan, group):
        kinds = [kind for kind, _ in self.measures(len(self.releases) - 1)]
        noise = []
        for kind, scale in zip(kinds, plan.scales):
            if kind == "quantile":
                histogram = self.histograms.pop(0)
                cell = bits.cell(histogram, *scale)
                margin = 2 * scale[0] / scale[1] * math.log(20 * len(histogram.counts))
                self.check(cell == group.integers[len(noise)], f"cell {group.integers[len(noise)]} was drawn, not {cell}")
                self.check(abs(histogram.margin - margin) < 1 + 1e-9 * margin, f"a margin of {histogram.margin}")
                noise.append(histogram)
                continue
            for _ in range(WIDTHS.get(kind, 1)):
                noise.append(bits.laplace(*scale) if plan.mechanism == "laplace" else bits.gaussian(*scale))
        self.check(len(noise) == len(group.integers), f"{len(group.integers)} integers, {len(noise)} expected")
        self.check(bits.drawn == group.words, f"{group.words} words drawn where the sampler needs {bits.drawn}")
        sums = tuple(n.counts if isinstance(n, Histogram) else z - n for z, n in zip(group.integers, noise))
        return Exact(sums, group.integers, group.words)

    def measures(self, release):
        """Kind and sensitivity of each; the reader's aggregates have one, and no charge."""
        if self.statement.kind:
            return [(self.statement.kind, self.statement.sensitivity)]
        charges = [charge for charge in self.charges if charge.kind != "selection"]
        if release >= len(charges):
            self.check(False, "a release without a charge")
            return []
        return charges[release].measures

    def replay_selection(self, bits, selection):
        charge = next((charge for charge in self.charges if charge.kind == "selection"), None)
        if charge is None:
            self.check(False, "a selection that was not charged")
            return
        units = int(Fraction(charge.epsilon) * 10 ** 9)
        first, second = (max(1, math.floor(share * 10 ** 9 + 1e-6)) for share in laws.svt_split(float(charge.epsilon)))
        self.check(first + second <= units, "the shares of a selection exceed its charge")
        threshold = bits.laplace(*reduced(2 ** 20 * 10 ** 9, first))
        accepted = -1
        for at, (epsilon, sensitivity, margin) in enumerate(selection.candidates):
            noise = bits.laplace(*reduced(2 * sensitivity * 10 ** 9, second))
            if (margin + noise) * 2 ** 20 >= sensitivity * threshold:
                accepted = at
                break
        self.check(accepted == selection.accepted, f"candidate {selection.accepted} was selected, and not {accepted}")
        self.check(bits.drawn == selection.words, f"{selection.words} words drawn where a selection needs {bits.drawn}")

    def check(self, good, complaint):
        if not good:
            self.complaints.append(complaint)


class Release:
    def __init__(self, plan, groups):
        self.plan, self.groups = plan, groups


class Exact:
    def __init__(self, sums, noisy, words):
        self.sums, self.noisy, self.words = sums, noisy, words


def reduced(numerator, denominator):
    scale = Fraction(numerator, denominator)
    return scale.numerator, scale.denominator


WIDTHS = {"pair": 2, "triple": 3, "products": 4, "moments": 6}  # coordinates; others have one


# ---- what must hold of one table -------------------------------------------------------------------------------------


def check_sigma(charge, declared, sigma):
    """One coordinate on a coarse lattice needs more than the formula, by some hundredths: as much as its exact delta says."""
    least = charge.law_of(declared).sigma
    coarse = charge.k1 == 1 and sigma < 30
    if not 1 - 1e-6 < sigma / least < (1.1 if coarse else 1.02 if charge.k1 == 1 else 1.001):
        return [f"sigma {sigma} for sensitivity {declared}, {least} by the charge"]
    if not coarse:
        return []
    spent = laws.discrete_delta(laws.Gaussian(sigma), float(charge.epsilon), declared)
    if spent > charge.delta_noise * (1 + 1e-9):
        return [f"sigma {sigma} for sensitivity {declared} spends more than {charge.delta_noise}"]
    return []


def check_bounds(name, bounds, conditions):
    """That conditions alone move the bounds of a column, and inwards (8.12)."""
    if name not in NUMBERS or not bounds:
        return []
    (low, high), (least, most) = map(Fraction, bounds), map(Fraction, COLUMNS[name].bounds)
    if least <= low < high <= most and (conditions or (low, high) == (least, most)):
        return []
    return [f"{name} between {low} and {high}, {least} and {most} were declared"]


def check_plan(charge, plan, conditions):
    """The scales and the threshold that the charge asks for. conditions: whether there are any."""
    complaints = []
    if len(plan.scales) != len(charge.measures) or plan.mechanism != charge.mechanism:
        return [f"{plan} for {charge.everything()}"]
    for (kind, charged), column, scale in zip(charge.measures, charge.columns, plan.scales):
        name, *bounds = (column or "").split(":")
        if name == "expression":
            # Whole bounds may be those of whole numbers or of others.
            both = [sensitivity(kind, type_, bounds) for type_ in ("bigint", "numeric")]
            declared = charged if charged in both else both[0]
        else:
            declared = sensitivity(kind, name and COLUMNS[name].type, bounds)
            complaints += check_bounds(name, bounds, conditions)
        if declared != charged:
            complaints.append(f"sensitivity {charged} of {kind}({column}), {declared} by the bounds")
        if plan.mechanism == "laplace":
            if Fraction(*scale) != laws.laplace_scale(declared, len(charge.measures), charge.epsilon):
                complaints.append(f"scale {scale} of {kind}({column}), {len(charge.measures)} measures for {charge.epsilon}")
            continue
        complaints += check_sigma(charge, declared, math.sqrt(Fraction(*scale)))
    if charge.groups == "thresholded":
        law = (laws.Laplace(Fraction(*plan.scales[0])) if plan.mechanism == "laplace"
               else laws.Gaussian(math.sqrt(Fraction(*plan.scales[0]))))
        expected = laws.threshold(law, charge.delta_groups)
        if plan.threshold != expected:
            complaints.append(f"threshold {plan.threshold}, {expected} by the charge")
    elif plan.threshold != -1:
        complaints.append("a threshold for declared groups")
    return complaints


def check_rows(statement, release, rows):
    """Of declared groups a condition on the key may leave out some, whatever the rows are: neighbours are compared."""
    if release.plan.threshold >= 0:
        beyond = sum(group.noisy[0] >= release.plan.threshold for group in release.groups)
        return [f"{rows} rows for {beyond} groups beyond the threshold"] if rows != beyond else []
    fewer = "WHERE" in statement.sql and rows < len(release.groups)
    return [f"{rows} rows for {len(release.groups)} groups"] if rows != len(release.groups) and not fewer else []


def check_table(statement, seen):
    complaints = list(seen.complaints)
    charges = [charge for charge in seen.charges if charge.kind != "selection"]
    if statement.kind:
        for release in seen.releases:
            if Fraction(*release.plan.scales[0]) != laws.laplace_scale(statement.sensitivity, 1, statement.epsilon):
                complaints.append(f"scale {release.plan.scales} of an aggregate with epsilon {statement.epsilon}")
        return complaints
    if not seen.error and (len(charges) != len(seen.releases) or len(charges) != statement.leaves):
        complaints.append(f"{len(charges)} charges, {len(seen.releases)} releases, {statement.leaves} leaves")
    for charge, release in zip(charges, seen.releases):
        complaints += check_plan(charge, release.plan, "WHERE" in statement.sql)
    if statement.plain and not seen.error:
        complaints += check_rows(statement, seen.releases[0], len(seen.reply.results[-1].rows))
    return complaints


# ---- what must hold of neighbours ------------------------------------------------------------------------------------


def check_change(measures, before, after):
    """One row's effect on one group."""
    complaints, at = [], 0
    for kind, largest in measures:
        width = WIDTHS.get(kind, 1)
        if kind == "quantile":
            moved = sum(abs(a - b) for a, b in zip(before[at], after[at]))
        else:
            moved = sum(abs(a - b) for a, b in zip(before[at:at + width], after[at:at + width]))
        # Moments are those of products, and up to half of that more.
        fixed = kind in WIDTHS and kind != "moments"
        if moved > largest or (fixed and moved not in (0, largest)) or (kind == "moments" and 0 < moved < largest * 2 // 3):
            complaints.append(f"a {kind} of sensitivity {largest} moves by {moved}, from {before} to {after} at {at}")
        at += width
    return complaints


def check_groups(measures, ours, theirs):
    more = abs(len(ours.groups) - len(theirs.groups))
    if more > (1 if ours.plan.threshold >= 0 else 0):
        return [f"{len(ours.groups)} groups, and {len(theirs.groups)}"]
    few, many = sorted((ours.groups, theirs.groups), key=len)
    first = next((i for i, (a, b) in enumerate(zip(few, many)) if a.sums != b.sums), len(few))
    if len(few) == len(many):
        if first == len(few):
            return []
        rest = [i for i in range(first + 1, len(few)) if few[i].sums != many[i].sums]
        complaints = [f"groups {first} and {rest} differ"] if rest else []
        return complaints + check_change(measures, few[first].sums, many[first].sums)
    if [group.sums for group in few[first:]] != [group.sums for group in many[first + 1:]]:
        return [f"more than group {first} differs"]
    opened = many[first].sums
    complaints = check_change(measures, (0,) * len(opened), opened)
    if opened[0] != 1:
        complaints.append(f"a group of one row that counts {opened[0]}")
    return complaints


def check_releases(ours, theirs):
    complaints = []
    for at, (a, b) in enumerate(zip(ours.releases, theirs.releases)):
        complaints += check_groups(ours.measures(at), a, b)
        drawn = any(kind == "quantile" for kind, _ in ours.measures(at))
        if a.plan == b.plan and len(a.groups) == len(b.groups) and not drawn:
            if [group.words for group in a.groups] != [group.words for group in b.groups]:
                complaints.append("the number of words drawn depends on the row")
    return complaints


def check_selections(ours, theirs):
    complaints = []
    for a, b in zip(ours.selections, theirs.selections):
        if [c[:2] for c in a.candidates] != [c[:2] for c in b.candidates]:
            complaints.append("the candidates that are compared depend on the row")
        for (epsilon, largest, h), (_, _, other) in zip(a.candidates, b.candidates):
            if abs(h - other) > largest:
                complaints.append(f"margin {h} and {other} of candidate {epsilon}: sensitivity {largest}")
    return complaints


def check_neighbours(statement, ours, theirs):
    complaints = check_table(statement, ours) + check_table(statement, theirs)
    complaints += check_releases(ours, theirs) + check_selections(ours, theirs)
    if len(ours.selections) != len(theirs.selections):
        complaints.append("whether something is selected depends on the row")
    selected = ours.selections and [s.accepted for s in ours.selections] != [s.accepted for s in theirs.selections]
    if selected:
        return complaints  # which epsilon, and whether the answer is denied, is an outcome of the selection
    if ours.error != theirs.error:
        messages = (seen.reply.results[-1].field("M") for seen in (ours, theirs))
        complaints.append(f"'{ours.error}' and '{theirs.error}': " + " / ".join(messages))
    elif all(release.plan.threshold < 0 for release in ours.releases):
        if len(ours.reply.results[-1].rows) != len(theirs.reply.results[-1].rows):
            complaints.append("the number of rows depends on the row, and the groups are declared")
    if [charge.everything() for charge in ours.charges] != [charge.everything() for charge in theirs.charges]:
        complaints.append("the charges depend on the row")
    if [release.plan[1:] for release in ours.releases] != [release.plan[1:] for release in theirs.releases]:
        complaints.append("the plan depends on the row")
    return complaints


# ---- the run ---------------------------------------------------------------------------------------------------------


class Table:
    """The rows that are there, and one of them that comes and goes."""

    def __init__(self, owner, rng):
        self.owner, self.rng, self.next = owner, rng, 1
        for _ in range(30):
            self.add()

    def add(self):
        row = make_row(self.rng)
        self.owner.must(f"INSERT INTO person VALUES ({self.next}, {row})")
        self.next += 1
        return row

    def step(self):
        """To a neighbour: one row more, or one less."""
        rows = int(self.owner.must("SELECT count(*) FROM person")[0][0])
        if rows and self.rng.random() < (0.65 if rows > 60 else 0.4):
            return self.owner.must(f"""DELETE FROM person WHERE id = (SELECT id FROM person ORDER BY id
                                       OFFSET {self.rng.randrange(rows)} LIMIT 1) RETURNING person::text""")[0][0]
        return self.add()

    def sometimes_empty(self):
        if self.rng.random() < 0.02:
            self.owner.must("DELETE FROM person")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--statements", type=int, default=400)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10 ** 9))
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    print(f"# seed {arguments.seed}")
    owner = prepare()
    tap = Tap()
    tap.report("the installed library has no file of bits and no trace",
               ["it was built for this suite"] * (b"/greybox/" in installed_library(owner)))
    table, answered, refused = Table(owner, rng), 0, []
    for _ in range(arguments.statements):
        table.sometimes_empty()
        statement = make_statement(rng)
        bits = rng.randbytes(8 * WORDS)
        (BUILD / "bits").write_bytes(bits)
        words = struct.unpack(f"={WORDS}Q", bits)
        ours = Observed(owner, statement, words)
        row = table.step()
        theirs = Observed(owner, statement, words)
        complaints = check_neighbours(statement, ours, theirs)
        if ours.releases or ours.selections:
            answered += 1
        elif ours.error:
            refused.append(f"{ours.error} {ours.reply.results[-1].field('M')}: {statement.sql}")
        if complaints:
            complaints.append(f"the row: {row}")
        tap.report(f"{statement.policy[len('regress_dp_'):]}: {statement.sql}", complaints)
    few = answered < arguments.statements * 3 // 4
    tap.report(f"{answered} statements of {arguments.statements} were answered", refused[:20] if few else [])
    for line in refused:
        print("# " + line.replace("\n", " ")[:200])
    print(f"1..{tap.count}")
    owner.close()
    drop_database(DATABASE, POLICIES)
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
