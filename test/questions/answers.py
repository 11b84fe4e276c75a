"""Answers as tables of keys and numbers, and how far two of them are apart."""
import re
from typing import NamedTuple

INTERVAL = re.compile(r"(?:(-?\d+) days? ?)?(?:(-?)(\d+):(\d\d):(\d\d(?:\.\d+)?))?")


def numbers_of(text):
    """What a value says, as a list of numbers; None if it is none. Intervals are hours and minutes, and days, in seconds."""
    if re.fullmatch(r"\{.*\}", text):
        parts = [numbers_of(part) for part in text[1:-1].split(",")]
        return None if None in parts else [number for part in parts for number in part]
    match = INTERVAL.fullmatch(text)
    if text and match:
        clock = int(match[3] or 0) * 3600 + int(match[4] or 0) * 60 + float(match[5] or 0)
        return [int(match[1] or 0) * 86400 + (-clock if match[2] else clock)]
    try:
        return [float(text)]
    except ValueError:
        return None


class Table(NamedTuple):
    """Rows by their keys: the first columns, as many as it takes to tell rows apart in the reference."""
    keys: int
    rows: dict

    def width(self):
        return max((len(row) for row in self.rows.values()), default=0)


def keys_of(rows):
    """How many of the first columns are keys."""
    if len(rows) < 2:
        return 0
    return next(k for k in range(len(rows[0]) + 1) if len({row[:k] for row in rows}) == len(rows))


def table_of(rows, keys):
    """Of rows with the same keys the first has them; the others are rows of their own."""
    table = Table(keys, {})
    for at, row in enumerate(rows):
        key = row[:keys] if row[:keys] not in table.rows else row[:keys] + (f"row {at + 1}",)
        table.rows[key] = row[keys:]
    return table


def without_nothing(answer, reference):
    """Without rows that say nothing where the reference does: all groups that they were computed from were withheld."""
    nothing = [key for key, row in answer.rows.items() if set(row) == {None} and set(reference.rows.get(key, (None,))) != {None}]
    return Table(answer.keys, {key: row for key, row in answer.rows.items() if key not in nothing})


def distance(one, other):
    """Of two values; infinity where they are not of a kind."""
    if one == other:
        return 0
    if one is None or other is None:
        return float("inf")
    ours, theirs = numbers_of(one), numbers_of(other)
    if ours is None or theirs is None or len(ours) != len(theirs):
        return float("inf")
    return max(abs(a - b) for a, b in zip(ours, theirs))


def differences(answer, reference, tolerances, empty, withheld):
    """What is wrong with an answer that shows so many empty groups, and leaves out so many."""
    answer = without_nothing(answer, reference)
    less = [key for key in reference.rows if key not in answer.rows]
    found = [] if len(less) == withheld else [f"{len(less)} rows are not in the answer, in the place of {withheld}: {less}"]
    more = [key for key in answer.rows if key not in reference.rows]
    if len(more) != empty:
        found.append(f"{len(more)} rows are not in the reference, in the place of {empty}: {more}")
    for key, row in reference.rows.items():
        for column, (expected, got) in enumerate(zip(row, answer.rows.get(key, ()))):
            tolerance = tolerances[column] if column < len(tolerances) else 0
            if distance(got, expected) > tolerance:
                found.append(f"row {key}, value {column + 1}: {got}, and {expected} in plain SQL, with a tolerance of {tolerance:g}")
    return found


def largest(table, column):
    """The largest number of a column in magnitude."""
    numbers = [numbers_of(row[column]) or [0] for row in table.rows.values() if row[column] is not None]
    return max((abs(number) for row in numbers for number in row), default=0)


def whole(table, column):
    """Whether a column has nothing but whole numbers."""
    return all(re.fullmatch(r"-?\d+", row[column]) for row in table.rows.values() if row[column] is not None)
