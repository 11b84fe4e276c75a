#!/usr/bin/env python3
"""A random course of bounds, shares and partitions on a table, and what its cells come to by a second account (doc/formulas.md 5.9).

    course.py [--steps N] [--seed N]

Each cell of the table, of each role and that of cells to come is an entry of a plain array. From the rows of the ledger and the settings in force
alone this says what every cell has, which questions are accepted, and what the end of an epoch charges. What must hold after each step:

  * the sums that are stored, which are those of all cells with rows beside them for stretches, are those of the arrays;
  * a question is answered iff each cell that it touches may pay;
  * the ledger is whole, also read from its first row on; totals that were lost come back from it.

A difference is a fault, whatever the seed.
"""
import argparse
import json
import random
import sys
from fractions import Fraction

from shared import Connection, Server, Tap

ZERO = dict.fromkeys(("epsilon", "delta", "epsilon_epoch", "delta_epoch", "rho", "pure", "rho_only"), Fraction(0))
OF_EPOCH = ("epsilon_epoch", "delta_epoch", "rho", "pure", "rho_only")
COMING = 2 ** 63 - 1
VALUES = "abcdefghijkl"
ROLES = {"course_pure": "tau => 0.9", "course_gaussian": "tau => 0.9, mechanism => 'gaussian', delta => 1e-9"}
BOUNDS = (
    "'filter', epsilon_total => {0}, delta_total => 0.01",
    "'none'",
    "'zcdp', epsilon_total => {0}, delta_total => 1e-6, epsilon_pure => 0",
    "'zcdp', epsilon_total => {0}, delta_total => 1e-6, epsilon_pure => {1}",
    "'zcdp', epsilon_total => 'Infinity', delta_total => 1e-6, epsilon_pure => 0",
)


def number(text):
    return Fraction(text or 0)


class Account:
    """Of the table, or of a role: sums by cell."""

    def __init__(self, cells):
        self.cells = {cell: dict(ZERO) for cell in cells}

    def most(self):
        return {name: max(sums[name] for sums in self.cells.values()) for name in ZERO}

    def enter(self, cells, fresh):
        """All cells of a partition have what one of those before had at most."""
        most = self.most()
        self.cells = {cell: dict(most) for cell in cells}
        if fresh:
            self.cells[COMING] = dict(ZERO)

    def begin_epoch(self):
        for sums in self.cells.values():
            sums.update(dict.fromkeys(OF_EPOCH, Fraction(0)))

    def add(self, row, touched):
        for cell in touched:
            sums = self.cells[cell]
            sums["delta"] += row["delta"]
            sums["delta_epoch"] += row["delta"]
            if row["basis"] == "epsilon":
                sums["epsilon"] += row["epsilon"]
                sums["epsilon_epoch"] += row["epsilon"]
            else:
                sums["rho"] += row["rho"]
                sums["pure" if row["pure"] else "rho_only"] += row["epsilon"] if row["pure"] else 1


class Course:
    def __init__(self, connection, rng):
        self.connection, self.rng = connection, rng
        self.version, self.epoch, self.last, self.claim = 0, 0, 0, None
        self.accounts = {"": Account([0])}
        self.list = []

    def one(self, sql):
        return self.connection.must(sql)[0]

    def settings(self):
        names = ("bound", "epsilon_total", "delta_total", "delta_conversion", "epsilon_pure", "rho_total", "epoch", "version", "cells", "fresh", "base")
        values = self.one("""SELECT d.bound, d.epsilon_total, d.delta_total, d.delta_conversion, d.epsilon_pure, d.rho_total, d.epoch,
            p.version, p.last - p.first + 1, p.fresh, p.base FROM dp_rdr.protected_table t JOIN dp_rdr.privacy_domain d ON d.id = t.domain
            LEFT JOIN dp_rdr.partition p ON p.domain = d.id WHERE t.relation = 'course'::regclass""")
        return dict(zip(names, values))

    # ---- what a charge meets first

    def meet(self, settings):
        """The rows that end an epoch come first; then another partition."""
        rows = self.rows()
        closings = [row for row in rows if row["kind"] == "closing"]
        complaints = []
        if int(settings["epoch"]) > self.epoch:
            complaints = self.close(closings)
            self.epoch = int(settings["epoch"])
            self.claim = None
            for account in self.accounts.values():
                account.begin_epoch()
        if int(settings["version"] or 0) != self.version:
            grows = int(settings["base"]) <= self.version and int(settings["cells"] or 0) > 0
            self.version = int(settings["version"])
            count = int(settings["cells"] or 0)
            for account in self.accounts.values() if grows else ():
                for cell in range(count + 1): # a value that is new was among all others
                    account.cells.setdefault(cell, dict(account.cells[0]))
            for account in () if grows else self.accounts.values():
                account.enter([*range(count + 1), COMING] if count else [0], settings["fresh"] == "t")
            for row in rows:
                if row["kind"] == "join":
                    self.accounts[""].add({**row, "pure": True}, self.accounts[""].cells)
                    for sums in self.accounts[""].cells.values():
                        sums["epsilon_epoch"] -= row["epsilon"]
                        sums["delta_epoch"] -= row["delta"]
        return [row for row in rows if row["kind"] not in ("closing", "join")], complaints

    def close(self, closings):
        """A cell loses what the epoch promised, less what it was charged in epsilon: nothing, where no charge in rho has touched it."""
        cells = self.accounts[""].cells
        if self.claim is None:
            return ["an epoch without a charge was closed"] if closings else []
        lost = {}
        for cell, sums in cells.items():
            is_touched = any(sums[name] for name in ("rho", "pure", "rho_only"))
            if not is_touched and COMING in cells:
                lost[cell] = (Fraction(0), Fraction(0))
            else:
                epsilon = self.claim["total"] - sums["epsilon_epoch"]
                lost[cell] = (epsilon if sums["rho_only"] else min(epsilon, sums["pure"]), self.claim["conversion"] + self.claim["mechanisms"] - sums["delta_epoch"])
        coming = lost.pop(COMING, (Fraction(0), Fraction(0)))
        whole = tuple(max(loss[at] for loss in lost.values()) for at in (0, 1))
        told = [(row["epsilon"], row["delta"]) for row in closings]
        if self.claim["anytime"]: # its conversion is none of this program's
            whole = told[0] if told else whole
            coming = told[1] if len(told) > 1 else (Fraction(0), Fraction(0))
        expected = [whole] + ([coming] if any(coming) else [])
        for cell, sums in cells.items():
            loss = coming if cell == COMING else whole
            sums["epsilon"] += loss[0]
            sums["delta"] += loss[1]
        return [] if told == expected else [f"the epoch was closed with {[tuple(map(float, t)) for t in told]}, and comes to {[tuple(map(float, t)) for t in expected]}"]

    def rows(self):
        found = self.connection.must(f"SELECT id, kind, epsilon, delta, rho, basis, grantee, parameters FROM dp_rdr.ledger_row WHERE id > {self.last} ORDER BY id")
        rows = []
        for row in found:
            self.last = int(row[0])
            rows.append({"kind": row[1], "epsilon": number(row[2]), "delta": number(row[3]), "rho": number(row[4]), "basis": row[5], "grantee": row[6],
                         "cells": json.loads(row[7]).get("cells"), "pure": row[1] == "pure"})
        return rows

    # ---- a question

    def refuses(self, settings, sums, price, share):
        """Whether the bound lets a cell with these sums pay no such price."""
        total, basis = number(settings["epsilon_total"]), price["basis"]
        after = Account([0])
        after.cells[0] = dict(sums)
        after.add(price, [0])
        now = after.cells[0]
        if settings["bound"] == "none":
            return False
        if settings["bound"] == "filter":
            return now["epsilon"] > total or now["delta"] > number(settings["delta_total"])
        if now["delta_epoch"] > number(settings["delta_total"]) - number(settings["delta_conversion"]):
            return True
        if not settings["epsilon_total"]:
            return False
        if number(settings["epsilon_pure"]) > 0:
            return now["rho"] > number(settings["rho_total"]) or now["epsilon_epoch"] > number(settings["epsilon_pure"])
        return now["rho"] > number(settings["rho_total"]) and (now["rho_only"] > 0 or now["pure"] > total)

    def price(self, role, settings):
        """What the question costs, as dp_explain says."""
        row = self.one(f"SELECT epsilon, rho, delta FROM course_price('{role}')")
        pure = role == "course_pure"
        rho = settings["bound"] == "zcdp" and not (pure and number(settings["epsilon_pure"]) > 0)
        return {"epsilon": number(row[0]), "rho": number(row[1]), "delta": Fraction(0) if rho else number(row[2]), "basis": "rho" if rho else "epsilon", "pure": pure}

    def ask(self):
        role = self.rng.choice(tuple(ROLES))
        count = len(self.list)
        touched = sorted(self.rng.sample(range(1, count + 1), self.rng.randint(1, count))) if count and self.rng.random() < 0.8 else None
        names = ", ".join(f"'{self.list[cell - 1]}'" for cell in touched or [])
        where = f"WHERE ward IN ({names})" if touched else ""
        settings = self.settings()
        price = self.price(role, settings)
        self.connection.must(f"SET ROLE {role}")
        reply = self.connection.send(f"SELECT count(*) FROM course_dp {where}")
        self.connection.must("RESET ROLE")
        rows, complaints = self.meet(settings)
        table = self.accounts[""]
        cells = [cell for cell in table.cells if cell != COMING] if touched is None or len(touched) == count else touched
        refused = [cell for cell in cells if self.refuses(settings, table.cells[cell], price, None)]
        if bool(refused) != (reply.sqlstate() == "53400"):
            complaints.append(f"{role} {where}: {reply.sqlstate() or 'answered'} though {refused} refuse it: {settings}")
        if len(rows) != (0 if refused else 1):
            complaints.append(f"{len(rows)} rows were written")
        for row in rows:
            if row["epsilon"] != price["epsilon"] or row["basis"] != price["basis"] or row["delta"] != price["delta"]:
                complaints.append(f"charged {row}, told {price}")
            for grantee in ("", row["grantee"]):
                self.accounts.setdefault(grantee, Account(table.cells)).add(row, cells)
            if settings["bound"] == "zcdp":
                self.raise_claim(settings)
        return complaints

    def raise_claim(self, settings):
        claim = self.claim or {"total": Fraction(0), "conversion": Fraction(0), "mechanisms": Fraction(0)}
        conversion = number(settings["delta_conversion"])
        self.claim = {"total": max(claim["total"], number(settings["epsilon_total"])), "conversion": max(claim["conversion"], conversion),
                      "mechanisms": max(claim["mechanisms"], number(settings["delta_total"]) - conversion), "anytime": not settings["epsilon_total"]}

    # ---- what is stored

    def check(self):
        complaints = []
        for grantee, account in self.accounts.items():
            for cell, sums in account.cells.items():
                stored = dict(zip(ZERO, map(number, self.one(f"SELECT (course_sums('{grantee}', {cell})).*"))))
                if stored != sums:
                    complaints.append(f"cell {cell} of '{grantee}': {[(name, float(stored[name]), float(sums[name])) for name in ZERO if stored[name] != sums[name]]}")
        if self.one("SELECT dp_verify_ledger('course', random() < 0.3)")[0] != "t":
            complaints.append("the ledger is not whole")
        return complaints[:4]

    def lose(self):
        """Only what a row of the ledger has met comes back as it was."""
        if self.one("""SELECT o.partition = p.version AND o.epoch = d.epoch AND (p.column_name IS NULL OR o.partition = (SELECT max((l.parameters -> 'cells' ->> 'partition')::integer)
              FROM dp_rdr.ledger_row l)) FROM dp_rdr.odometer o JOIN dp_rdr.privacy_domain d ON d.id = o.id JOIN dp_rdr.partition p ON p.domain = o.id""")[0] != "t":
            return []
        self.connection.must("DELETE FROM dp_rdr.odometer_cell; DELETE FROM dp_rdr.odometer_share; DELETE FROM dp_rdr.odometer")
        self.connection.must("SELECT dp_protect('course', 'course_again')")
        self.connection.must("DROP VIEW course_again")
        return []

    def declare(self):
        if self.list and self.rng.random() < 0.3:
            self.list = []
            self.connection.must("SELECT dp_unset_partition('course')")
            return []
        groups = sorted(self.rng.sample(VALUES, self.rng.randint(2, 9)))
        self.list += [value for value in groups if value not in self.list]
        self.connection.must(f"SELECT dp_set_groups('course', 'ward', '{{{','.join(groups)}}}')")
        self.connection.must(f"SELECT dp_set_partition('course', 'ward', fresh => {self.rng.choice(('true', 'false'))})")
        return []

    def bound(self):
        spent = float(self.accounts[""].most()["epsilon"])
        terms = self.rng.choice(BOUNDS).format(round(spent + self.rng.choice((0.5, 1, 3)), 2), 0.4)
        self.connection.must(f"SELECT dp_set_odometer('course', {terms})")
        return []


SCHEMA = """
CREATE TABLE course (id integer, ward text);
INSERT INTO course SELECT i, substr('abcdefghijklmn', i % 14 + 1, 1) FROM generate_series(1, 280) i;
SELECT dp_protect('course', 'course_dp');
SELECT dp_set_odometer('course', epsilon_total => 3, delta_total => 0.01);
CREATE FUNCTION course_price(role text, OUT epsilon numeric, OUT rho numeric, OUT delta numeric) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('SET ROLE %I', role);
  SELECT e.epsilon, e.rho, e.delta INTO epsilon, rho, delta FROM dp_explain('SELECT count(*) FROM course_dp') e;
  RESET ROLE;
END $$;
CREATE FUNCTION course_sums(of_grantee text, cell bigint, OUT epsilon numeric, OUT delta numeric, OUT epsilon_epoch numeric, OUT delta_epoch numeric,
  OUT rho numeric, OUT pure numeric, OUT rho_only bigint) LANGUAGE sql AS $$
SELECT b.n * b.epsilon + coalesce(c.epsilon, 0), b.n * b.delta + coalesce(c.delta, 0), b.n * b.here * b.all_epsilon_epoch + coalesce(c.epsilon_epoch, 0),
  b.n * b.here * b.all_delta_epoch + coalesce(c.delta_epoch, 0), b.n * b.here * b.rho + coalesce(c.rho, 0), b.n * b.here * b.pure + coalesce(c.pure, 0),
  b.n * b.here * b.all_rho_only + coalesce(c.rho_only, 0)
FROM (SELECT (cell < 9223372036854775807)::integer AS n, 1 AS here, o.id, o.public_epsilon - o.most_epsilon AS epsilon, o.public_delta - o.most_delta AS delta,
        o.all_epsilon_epoch, o.all_delta_epoch, o.public_rho - o.most_rho AS rho, o.public_pure - o.most_pure AS pure, o.all_rho_only
      FROM dp_rdr.odometer o WHERE of_grantee = ''
      UNION ALL SELECT (cell < 9223372036854775807)::integer, (s.epoch = o.epoch)::integer, s.id, s.public_epsilon - s.most_epsilon, s.public_delta - s.most_delta,
        s.all_epsilon_epoch, s.all_delta_epoch, s.public_rho - s.most_rho, s.public_pure - s.most_pure, s.all_rho_only
      FROM dp_rdr.odometer_share s JOIN dp_rdr.odometer o ON o.id = s.id WHERE s.grantee = of_grantee) b
LEFT JOIN LATERAL (SELECT c.* FROM dp_rdr.odometer_cell c WHERE c.id = b.id AND c.grantee = of_grantee AND c.first <= cell
                   AND (b.n = 1 OR c.first = cell) ORDER BY c.first DESC LIMIT 1) c ON true $$;
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10 ** 9))
    arguments = parser.parse_args()
    print(f"# seed {arguments.seed}")
    rng, tap = random.Random(arguments.seed), Tap()
    server = Server()
    try:
        postgres = Connection(dbname="postgres")
        for statement in ("CREATE EXTENSION dp_rdr", *(f"CREATE ROLE {role}" for role in ROLES), "SET client_min_messages = error", SCHEMA,
                          *(f"SELECT dp_grant('course_dp', '{role}', {terms})" for role, terms in ROLES.items())):
            postgres.must(statement)
        course, answered = Course(postgres, rng), 0
        course.declare()
        for at in range(arguments.steps):
            step = rng.choices((course.ask, course.bound, course.declare, course.lose), (20, 3, 1.5, 0.5))[0]
            complaints = step()
            answered += step == course.ask and not complaints
            if step == course.ask:
                complaints += course.check()
            tap.report(f"step {at}: {step.__name__}", complaints)
            if complaints:
                break
        postgres.close()
    finally:
        server.stop()
    tap.report(f"{answered} questions were asked", ["too few"] if not tap.failed and answered < arguments.steps / 2 else [])
    print(f"1..{tap.count}")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
