"""What an answer was charged, by the ledger, and which noise that asks for (doc/formulas.md, 8)."""
import math
from fractions import Fraction

import laws

LEDGER = """
SELECT kind, epsilon, mechanism, delta_noise, delta_groups, parameters::jsonb->>'k1', parameters::jsonb->>'groups',
       (SELECT coalesce(string_agg(concat_ws(' ', j->>'kind', coalesce(coalesce(j->>'column', 'expression') || ':' || (j->>'lower') || ':' || (j->>'upper'), j->>'column'),
                                             j->>'sensitivity'), ',' ORDER BY at), '')
        FROM jsonb_array_elements(parameters::jsonb->'measures') WITH ORDINALITY m (j, at))
FROM dp_rdr.ledger WHERE id > %s ORDER BY id"""


class Charge:
    """measures: kind and sensitivity of each. columns: of each None, or its column or 'expression', behind which :lower:upper are where there are bounds."""

    def __init__(self, kind, epsilon, mechanism, delta_noise, delta_groups, k1, groups, measures):
        self.kind, self.mechanism, self.groups = kind, mechanism, groups
        self.epsilon = Fraction(epsilon)
        self.delta_noise, self.delta_groups = float(delta_noise or 0), float(delta_groups or 0)
        self.k1 = int(k1 or 0)
        parts = [measure.split(" ") for measure in measures.split(",")] if measures else []
        self.measures = [(part[0], int(part[-1])) for part in parts]
        self.columns = [part[1] if len(part) == 3 else None for part in parts]

    def everything(self):
        return tuple(vars(self).items())

    def law(self, j):
        """Of each coordinate of a measure, in lattice units."""
        return self.law_of(self.measures[j][1])

    def law_of(self, sensitivity):
        m = len(self.measures)
        if self.mechanism == "laplace":
            return laws.Laplace(laws.laplace_scale(sensitivity, m, self.epsilon))
        return laws.Gaussian(laws.gaussian_sigma(sensitivity, m, self.k1, float(self.epsilon), self.delta_noise))


def last_charge(owner):
    return int(owner.must("SELECT coalesce(max(id), 0) FROM dp_rdr.ledger")[0][0])


def charges_since(owner, last):
    return [Charge(*row) for row in owner.must(LEDGER % last)]


def sensitivity(kind, type_, bounds):
    """D_j in lattice units, from what was declared (8.2, 8.6), or from the bounds that the ledger has of an expression (8.8)."""
    if kind in ("count", "quantile"):
        return 1
    if kind in ("pair", "triple", "products"):
        return 2 ** 30
    if kind == "moments":  # half as fine, and half as much again
        return 3 * 2 ** 28
    low, high = (Fraction(bound) for bound in bounds)
    largest = max(abs(low), abs(high))
    unit = Fraction(1)
    integers = type_ in ("smallint", "integer", "bigint") and low.denominator == high.denominator == 1
    if not (integers and largest <= 2 ** 40):
        exponent = 0
        while Fraction(2) ** exponent < largest:
            exponent += 1
        while Fraction(2) ** (exponent - 1) >= largest:
            exponent -= 1
        unit = Fraction(2) ** (exponent - 30)
    return max(1, *(math.floor(abs(bound) / unit + Fraction(1, 2)) for bound in (low, high)))
