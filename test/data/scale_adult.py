#!/usr/bin/env python3
"""Write Adult with any number of rows to standard output, as CSV with a header line.

    scale_adult.py 1000000 | psql -c '\\copy adult from stdin csv header'

Fewer rows than adult.csv: a random sample without replacement. More: adult.csv itself, then copies of it until there
are enough rows. Each copy moves age, fnlwgt, education_num and hours_per_week by -1 or +1, the same for all its rows,
and every other copy (at random) exchanges Female and Male: values stay plausible, frequencies stay as they were, and
no query plan is helped by exact repetition. The same number of rows and seed always give the same output.
"""
import argparse
import csv
import itertools
import pathlib
import random
import sys

SOURCE = pathlib.Path(__file__).resolve().parent / "adult.csv"
SHIFTED = ("age", "fnlwgt", "education_num", "hours_per_week")
OTHER_SEX = {"Female": "Male", "Male": "Female"}


def read_source():
    with SOURCE.open(newline="") as source:
        header, *rows = csv.reader(source)
    return header, rows


def shifted_copy(header, rows, rng):
    """One copy of the rows, moved by one draw of the steps."""
    steps = {header.index(name): rng.choice((-1, 1)) for name in SHIFTED}
    sex = header.index("sex")
    exchange = rng.random() < 0.5
    for row in rows:
        row = [str(int(value) + steps[i]) if i in steps else value for i, value in enumerate(row)]
        if exchange:
            row[sex] = OTHER_SEX.get(row[sex], row[sex])
        yield row


def scaled(header, rows, count, rng):
    """The first `count` rows of: the source, then shifted copies without end."""
    if count < len(rows):
        return rng.sample(rows, count)
    copies = itertools.chain.from_iterable(shifted_copy(header, rows, rng) for _ in itertools.count())
    return itertools.islice(itertools.chain(rows, copies), count)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=int, help="number of rows, at least 1")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.rows < 1:
        parser.error("rows must be at least 1")

    header, rows = read_source()
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(header)
    out.writerows(scaled(header, rows, options.rows, random.Random(options.seed)))


if __name__ == "__main__":
    main()
