"""What the answer to a question adds up to before noise, by doc/formulas.md 9, computed from the rows: an account that shares
nothing with the server's. Whole numbers and fractions only.

Bounds are such that every point of a lattice is exact: lower and upper a power of two apart, 16 at most, for pairs and triples.
"""
import math
from collections import defaultdict

FINE = 2 ** 20
ONE = 2 ** 30


WIDTHS = {"pair": 2, "triple": 3, "products": 4, "moments": 6}  # coordinates; others have one


class Measure:
    """kind: count (of rows, or of values of a column), units, values (different ones), sum, pair, triple, quantile (of which there is
    a histogram, a cell for each value between the bounds), products and moments (of two columns, both within the bounds of one of 16,
    y and x); keeps: which rows the FILTER lets pass."""

    def __init__(self, kind, column=None, bounds=None, keeps=None, second=None):
        self.kind, self.column, self.bounds = kind, column, bounds
        self.second = second  # column and bounds of x
        self.filtered, self.keeps = keeps is not None, keeps or (lambda row: True)

    def width(self):
        if self.kind == "quantile":
            return self.bounds[1] - self.bounds[0] + 1
        return WIDTHS.get(self.kind, 1)

    def points(self, row, grain):
        """Of one row; None: it does not contribute."""
        if not self.keeps(row) or (self.column is not None and row[self.column] is None):
            return None
        if self.kind in ("count", "units", "values"):
            return (grain,)
        low, high = self.bounds
        value = min(max(row[self.column], low), high)
        if self.kind == "quantile":
            return tuple(grain if cell == value - low else 0 for cell in range(self.width()))
        if self.kind == "sum":
            return (value * grain,)
        share, rest = value - low, high - value
        if self.second:
            return self.products(row, share, rest)
        if self.kind == "pair":
            return tuple(part * ONE // (high - low) for part in (share, rest))
        return tuple(part * ONE // (high - low) ** 2 for part in (share ** 2, 2 * share * rest, rest ** 2))

    def products(self, row, y, not_y):
        column, (low, high) = self.second
        if row[column] is None:
            return None
        x = min(max(row[column], low), high) - low
        not_x, of_y, of_x = high - low - x, y + not_y, high - low
        one = ONE if self.kind == "products" else ONE // 2
        four = tuple(part * one // (of_y * of_x) for part in (y * x, y * not_x, not_y * x, not_y * not_x))
        if self.kind == "products":
            return four
        return four + (y * not_y * one // of_y ** 2, x * not_x * one // of_x ** 2)

    def narrow(self, spans):
        """To what conditions leave of its columns. spans: by column, as spans_of() gives them."""
        self.bounds = meet(self.bounds, spans.get(self.column))
        if self.second:
            self.second = self.second[0], meet(self.second[1], spans.get(self.second[0]))


# What a condition that holds leaves of a column (doc/formulas.md 8.12), as tests write it; None: no end.
NARROWING = {"v > 1": ("v", 2, None), "v < 3": ("v", None, 2), "w BETWEEN 3 AND 7": ("w", 3, 7)}


def spans_of(conditions):
    """Of texts that are true of every row that counts, each of one alias or none."""
    spans = {}
    for condition in conditions:
        alias, dot, text = condition.rpartition(".")
        if text in NARROWING:
            column, low, high = NARROWING[text]
            before = spans.get(alias + dot + column, (None, None))
            spans[alias + dot + column] = (low if before[0] is None else before[0], high if before[1] is None else before[1])
    return spans


def meet(bounds, span):
    """A single value is widened by one, towards 0 (8.8)."""
    if bounds is None or span is None:
        return bounds
    low = bounds[0] if span[0] is None else max(bounds[0], span[0])
    high = bounds[1] if span[1] is None else min(bounds[1], span[1])
    if low > high:
        return bounds
    return (low - 1, high) if low == high > 0 else (low, high)


class Limits:
    """Of a question: R, kappa, and the points of a counted row. clipped: a unit may have several rows. per_group: C, 0 where it says
    nothing."""

    def __init__(self, rows, groups, clipped, one_group, per_group=0):
        self.rows, self.groups, self.clipped, self.one_group = rows, groups, clipped, one_group
        self.per_group = 0 if one_group or not clipped else min(per_group, rows)

    def is_spread(self, measure):
        """Whether what a unit brings is limited in the root of squares of what is in each group."""
        return self.per_group > 0 and measure.kind not in ("values", "quantile")

    def grain(self, measure, first_of_threshold=False):
        if measure.kind == "quantile":
            return FINE if self.clipped else 1
        if self.one_group or not self.clipped or first_of_threshold or measure.kind == "values":
            return 1
        if measure.kind == "sum":  # as fine as the lattice of numbers that are not whole: 2^-30 of the next power of two
            return 2 ** (30 - (max(abs(bound) for bound in measure.bounds) - 1).bit_length())
        return FINE

    def of_row(self, measure, grain):
        if measure.kind == "count":
            return grain
        if measure.kind == "moments":
            return ONE // 2 * 3 // 2
        return grain * max(abs(bound) for bound in measure.bounds) if measure.kind == "sum" else ONE

    def sensitivity(self, measure, grain):
        if measure.kind == "units":
            return root_up(self.groups * grain ** 2) if self.is_spread(measure) else self.groups * grain
        if self.is_spread(measure):
            return max(1, root_up(self.rows * self.per_group * self.of_row(measure, grain) ** 2))
        if measure.kind in ("count", "values", "quantile"):
            return self.rows * grain
        if measure.kind == "sum":
            return max(1, self.rows * grain * max(abs(bound) for bound in measure.bounds))
        return self.rows * self.of_row(measure, grain)


def clip(values, largest):
    size = sum(abs(value) for value in values)
    if size <= largest:
        return values
    return [(abs(value) * largest // size) * (1 if value > 0 else -1) for value in values]


def root_up(square):
    """The least whole number whose square is no less."""
    root = math.isqrt(square)
    return root if root * root == square else root + 1


def clip_by_groups(groups, largest):
    """groups: a list of coordinates each."""
    square = sum(sum(abs(value) for value in group) ** 2 for group in groups)
    if square <= largest ** 2:
        return groups
    size = root_up(square)
    return [[(abs(value) * largest // size) * (1 if value > 0 else -1) for value in group] for group in groups]


def contribution_of(rows, measures, grains, key):
    """Of the rows of one unit: group -> one list for each measure."""
    groups = defaultdict(lambda: [set() if measure.kind == "values" else [0] * measure.width() for measure in measures])
    for row in rows:
        sums = groups[key(row)]
        for j, (measure, grain) in enumerate(zip(measures, grains)):
            points = measure.points(row, grain)
            if points is None:
                continue
            if measure.kind == "units":
                sums[j][0] = grain
            elif measure.kind == "values":
                sums[j].add(row[measure.column])
            else:
                sums[j] = [a + b for a, b in zip(sums[j], points)]
    return groups


def clipped(groups, measures, sensitivities, limits):
    """The same, each measure to its D over all groups."""
    result = {key: [] for key in groups}
    for j, largest in enumerate(sensitivities):
        if measures[j].kind == "values":
            for key in groups:
                result[key].append(groups[key][j])
            continue
        if limits.is_spread(measures[j]):
            for key, sums in zip(groups, clip_by_groups([sums[j] for sums in groups.values()], largest)):
                result[key].append(sums)
            continue
        values = [value for sums in groups.values() for value in sums[j]]
        rest = iter(clip(values, largest))
        for key in groups:
            result[key].append([next(rest) for _ in groups[key][j]])
    return result


def more_values(groups, measures, limits):
    """The measures of which a unit has more different values, over all its groups, than it may bring: it keeps some by a hash."""
    return {j for j, measure in enumerate(measures) if measure.kind == "values"
            and sum(len(sums[j]) for sums in groups.values()) > limits.rows}


def totals(units, keys, empty):
    """units: contributions, clipped; the sums of all of them, one flat tuple of coordinates for each key, in the order given. Of different
    values: how many there are in all. empty: what a group has that is in none."""
    found = {}
    for groups in units:
        for key, sums in groups.items():
            before = found.get(key)
            found[key] = sums if before is None else [a | b if isinstance(a, set) else [x + y for x, y in zip(a, b)]
                                                      for a, b in zip(before, sums)]
    return [tuple(value for part in found[key] for value in ([len(part)] if isinstance(part, set) else part))
            if key in found else empty for key in keys]
