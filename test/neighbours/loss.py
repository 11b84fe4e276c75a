"""What each person bears of all charges (doc/formulas.md 5.8), from the ledger's amounts and the account of the rows."""
import json
import math
from fractions import Fraction

from account import clipped, contribution_of

DELTA = 1e-6
LEDGER = "SELECT id, mechanism, epsilon, rho, delta_groups, kind FROM dp_rdr.ledger WHERE relation ~ '_%s$' ORDER BY id"


def cap(epsilon, delta):
    """The largest rho that is (epsilon, delta)-DP by some order."""
    def at(t):
        order = math.exp(t)
        return (epsilon + math.log1p(1 / order) - (-math.log(delta) - math.log1p(order)) / order) / (1 + order)

    best = max((step / 64 for step in range(-640, 960)), key=at)
    low, high = best - 1 / 64, best + 1 / 64
    for _ in range(200):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (left, high) if at(left) < at(right) else (low, right)
    classic = (epsilon / (math.sqrt(-math.log(delta) + epsilon) + math.sqrt(-math.log(delta)))) ** 2
    return max(classic, at(low))


def anytime(rho, delta, target):
    log = math.log(2 / delta)
    line = rho * (1 + math.sqrt(log / target)) + log / math.sqrt(log / target)
    c = 2 * log
    gamma = 2 * target / (c + math.log1p(c))
    width = 2 * rho + gamma
    return min(line, rho + math.sqrt(width * (c + math.log(width / gamma))))


def epsilon_of(pure, rho):
    """By eight targets, each with its part of delta."""
    if rho == 0:
        return pure
    target = cap(1, DELTA)
    return pure + min(anytime(rho, DELTA / 2 ** (k + 1), target / 4 ** k) for k in range(8))


def shares(question, rows, gaussian):
    """By unit: the mean over the measures of norm / D, and of its square; None: which groups are kept follows from a hash."""
    limits, measures = question.limits, question.measures
    grains = [limits.grain(m, question.thresholded and at == 0) for at, m in enumerate(measures)]
    largest = [limits.sensitivity(m, grain) for m, grain in zip(measures, grains)]
    by_unit, found = {}, {}
    for row in rows:
        if row["unit"] is not None and question.keeps(row) and question.key(row) != "left out":
            by_unit.setdefault(row["unit"], []).append(row)
    for unit, own in by_unit.items():
        groups = contribution_of(own, measures, grains, question.key)
        if question.thresholded and len(groups) > limits.groups:
            found[unit] = None
            continue
        kept = clipped(groups, measures, largest, limits)
        mean = square = Fraction(0)
        for j, d in enumerate(largest):
            parts = [part[j] for part in kept.values()]
            if measures[j].kind == "values":
                norm = Fraction(min(sum(len(part) for part in parts), limits.rows), d)
                squares = norm ** 2
            else:
                norm = Fraction(sum(abs(value) for part in parts for value in part), d)
                squares = Fraction(sum(value ** 2 for part in parts for value in part), d ** 2) if gaussian else norm ** 2
            mean, square = mean + norm / len(largest), square + squares / len(largest)
        found[unit] = mean, square
    return found


def number_of(value):
    """The unit, as its value is written."""
    return round(value) if isinstance(value, (int, float)) else int(value[-1])


def check_loss(owner, schema, asked, answers):
    """asked: questions with the ids of their charges in the ledger. The rows are all there."""
    people, complaints = schema.name("people"), []
    ledger = {int(row[0]): row[1:] for row in owner.must(LEDGER % schema.number)}
    units = {unit: [Fraction(0), Fraction(0), 0] for unit in range(1, schema.units + 1)}  # epsilon, rho, answers
    vague, counted = set(), set()
    for question, ids in zip(asked, answers):
        rows = list(question.rows_without(schema, None))
        for unit, share in shares(question, rows, ledger[ids[0]][0] == "gaussian").items() if ids else ():
            if share is None:
                vague.add(unit)
            elif share[0] > 0:
                for at in ids:
                    mechanism, epsilon, rho = ledger[at][:3]
                    units[unit][2] += 1
                    if mechanism == "laplace":
                        units[unit][0] += Fraction(epsilon) * share[0]
                    else:
                        units[unit][1] += Fraction(rho) * share[1]
        counted.update(ids)
    full = sum(Fraction(row[1]) for at, row in ledger.items() if at not in counted)
    spent, delta = owner.must(f"SELECT epsilon, delta FROM dp_odometer('{people}') WHERE account = 'public'")[0]
    owner.must("SET client_min_messages = debug1")
    reply = owner.send(f"SELECT record, individuals, epsilon, rho, delta, answers FROM dp_loss_records('{people}', 100)")
    owner.must("RESET client_min_messages")
    said = [dict(notice)["M"] for notice in reply.notices]
    told = [text for text in said if "count in full" in text or "not asked again" in text]
    if len(ledger) > len(counted) and not any(text.startswith(f"{len(ledger) - len(counted)} of {len(ledger)} charges") for text in told):
        complaints.append(f"{len(ledger) - len(counted)} charges are for everybody by the account: {told}")
    shown = reply.results[0].rows
    for record, individuals, epsilon, rho, its_delta, n in shown:
        bears = [Fraction(0), Fraction(0), 0]
        if record is not None:
            unit = number_of(json.loads(record)["unit"])
            if unit in vague:
                continue
            bears = units.pop(unit)
        pure = bears[0] + full
        expected = epsilon_of(float(pure), float(bears[1]))
        if float(delta) <= float(its_delta):
            expected = min(expected, float(spent))
        if abs(float(epsilon) - expected) > 1e-6 * max(1, expected) or abs(float(rho) - bears[1]) > 1e-9 * max(1, bears[1]):
            complaints.append(f"{people}, {record}: epsilon {epsilon}, rho {rho}, {expected} and {float(bears[1])} by the account")
        if int(n) < bears[2] or int(individuals) < 1:
            complaints.append(f"{people}, {record}: {n} answers, at least {bears[2]} by the account")
    complaints += [f"unit {unit} is missing: {bears}" for unit, bears in units.items() if bears[2] > 0 and unit not in vague]
    return complaints
