#!/usr/bin/env python3
"""Several charges in one commit: each is decided on what those before it leave, the chain goes through all of them, and none
fails another. Against the server that PG* points to, where this tree is installed; `make batch` builds the library.

    run.py [--measure]

peers.py looks at servers that are asked at once. At last reader.py looks at who may read rows, on a server of its own.

--measure prints what a commit takes instead, for batches of 1, 4 and 16, with a total in epsilon and with one in rho. Whether charges meet in one commit is a matter of
chance on a server, so build/batch/batch.so hands them to the ledger's writer, in a background worker of its own.
"""
import argparse
import pathlib
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
for folder in ("attacks", "blackbox"):
    sys.path.insert(0, str(HERE.parent / folder))

import peers  # noqa: E402
import reader  # noqa: E402
from libpq import Connection  # noqa: E402
from tap import Tap  # noqa: E402

LIBRARY = HERE.parent.parent / "build" / "batch" / "batch"
DATABASE = "regress_dp_batch"
MEASURED_ROUNDS = 1000
MEASURED_TURNS = 5
ROLES = ("regress_dp_one", "regress_dp_two", "regress_dp_three", "regress_dp_team")


def prepare(database, encoding="UTF8"):
    postgres = Connection(dbname="postgres")
    postgres.send(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")
    for role in ROLES:
        postgres.send(f"DROP ROLE IF EXISTS {role}")
    postgres.must(f"CREATE DATABASE {database} TEMPLATE template0 ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C'")
    for role in ROLES:
        postgres.must(f"CREATE ROLE {role}")
    postgres.close()
    owner = Connection(dbname=database)
    owner.must("CREATE EXTENSION dp_rdr")
    for signature, returns in (("batch(text[], oid[], text[], numeric[], text)", "text[]"), ("measured()", "float8"), ("cpu()", "float8"), ("straddle()", "trigger"),
                               ("measure(text[], oid[], text[], numeric[], integer)", "void")):
        name = signature.split("(")[0]
        owner.must(f"CREATE FUNCTION {signature} RETURNS {returns} AS '{LIBRARY}', 'dp_test_{name}' LANGUAGE C")
    owner.must(RECHAIN)
    for table in ("people", "others", "parts"):
        owner.must(f"CREATE TABLE {table} AS SELECT g AS age FROM generate_series(1, 10) g")
        owner.must(f"SELECT dp_protect('{table}', '{table}_dp')")
        owner.must(f"SELECT dp_grant('{table}_dp', 'regress_dp_one', tau => 0.95)")
        owner.must(f"SELECT dp_grant('{table}_dp', 'regress_dp_two', tau => 0.95, epsilon_total => 0.1)")
        owner.must(f"SELECT dp_grant('{table}_dp', 'regress_dp_three', tau => 0.95)")
        owner.must(f"SELECT dp_set_odometer('{table}', 'none')")
    return owner


def forget(owner, database):
    """The roles are made anew for the next database."""
    owner.close()
    postgres = Connection(dbname="postgres")
    postgres.must(f"DROP DATABASE {database} WITH (FORCE)")
    postgres.close()


def charge(epsilon, role="regress_dp_one", table="people", kind="charge"):
    return kind, table, role, epsilon


def array(items, type_name):
    return "ARRAY[" + ", ".join(f"'{item}'" for item in items) + f"]::{type_name}[]"


def arguments_of(entries):
    kinds, tables, roles, epsilons = zip(*entries)
    views = "ARRAY[" + ", ".join(f"'{table}_dp'::regclass::oid" for table in tables) + "]"
    return f"{array(kinds, 'text')}, {views}, {array(roles, 'text')}, {array(epsilons, 'numeric')}"


def commit(owner, entries):
    """What became of each entry."""
    return [outcome for outcome, in owner.must(f"SELECT unnest(batch({arguments_of(entries)}, NULL))")]


class Table:
    """The totals of one table before and after a batch."""

    def __init__(self, owner, name):
        self.owner, self.name = owner, name
        self.before = self.totals()

    def totals(self):
        return [float(value) for value in self.owner.must(
            f"SELECT epsilon, releases, denials FROM dp_odometer('{self.name}') WHERE account = 'public'")[0]]

    def complaints(self, epsilon, releases, denials):
        moved = [round(after - before, 9) for after, before in zip(self.totals(), self.before)]
        wanted = [epsilon, releases, denials]
        found = [] if moved == wanted else [f"{self.name} moved by {moved}, not {wanted}"]
        reply = self.owner.send(f"SELECT dp_verify_ledger('{self.name}')")
        if reply.results[-1].rows != (("t",),):
            found.append(f"{self.name} does not verify: {reply.notices}")
        return found


def expect(tap, owner, name, entries, wanted, moves):
    """moves: what each table's epsilon, releases and denials gain."""
    tables = {table: Table(owner, table) for table in moves}
    outcomes = commit(owner, entries)
    complaints = [] if outcomes == wanted else [f"{outcomes}, not {wanted}"]
    for table, gains in moves.items():
        complaints += tables[table].complaints(*gains)
    tap.report(name, complaints)


def bound(owner, table, total):
    """Room for so much more."""
    spent = owner.must(f"SELECT epsilon FROM dp_odometer('{table}') WHERE account = 'public'")[0][0]
    owner.must(f"SELECT dp_set_odometer('{table}', 'filter', {spent} + {total})")


def test_running_totals(tap, owner):
    expect(tap, owner, "without a bound all are committed, in one chain", [charge("0.01")] * 5,
           ["committed 0.01"] * 5, {"people": (0.05, 5, 0)})
    bound(owner, "people", "0.5")
    expect(tap, owner, "each is decided on what those before it leave",
           [charge("0.2"), charge("0.2"), charge("0.2"), charge("0.1"), charge("0.1")],
           ["committed 0.2", "committed 0.2", "denied 0", "committed 0.1", "denied 0"], {"people": (0.5, 3, 2)})
    owner.must("SELECT dp_set_odometer('people', 'none')")
    expect(tap, owner, "also on what they leave of a role's share",
           [charge("0.06", "regress_dp_two"), charge("0.06", "regress_dp_two"), charge("0.06"),
            charge("0.04", "regress_dp_two")],
           ["committed 0.06", "denied 0", "committed 0.06", "committed 0.04"], {"people": (0.16, 3, 1)})
    bound(owner, "people", "0.3")
    expect(tap, owner, "a selection counts as well", [charge("0.25", kind="selection"), charge("0.1"), charge("0.05")],
           ["denied 0", "committed 0.1", "committed 0.05"], {"people": (0.15, 2, 1)})
    owner.must("SELECT dp_set_odometer('people', 'none')")


def closings(owner):
    return owner.must("SELECT count(*) FROM dp_rdr.ledger WHERE relation = 'public.people' AND kind = 'closing'")[0][0]


def test_totals_in_rho(tap, owner):
    owner.must("SELECT dp_set_odometer('people', 'zcdp', 0.5, 1e-6)")
    expect(tap, owner, "in rho as well each is decided on what those before it leave",
           [charge("0.2"), charge("0.2"), charge("0.2"), charge("0.1"), charge("0.1")],
           ["committed 0.2", "committed 0.2", "denied 0", "committed 0.1", "denied 0"], {"people": (0.5, 3, 2)})
    # Half of a total: the cap of it is below the cost of 0.2, so that only the sum in epsilon lets anything pass.
    owner.must("SELECT dp_set_odometer('people', epsilon_total => 1)")
    expect(tap, owner, "so are selections and shares",
           [charge("0.2", kind="selection"), charge("0.06", "regress_dp_two"), charge("0.06", "regress_dp_two"),
            charge("0.04", "regress_dp_two"), charge("0.25"), charge("0.2")],
           ["committed 0.2", "committed 0.06", "denied 0", "committed 0.04", "denied 0", "committed 0.2"],
           {"people": (0.5, 3, 2)})
    before = int(closings(owner))
    owner.must("SELECT dp_set_odometer('people', 'none')")
    expect(tap, owner, "the first of a batch ends the epoch, for all of it",
           [charge("0.01"), charge("0.02", table="others"), charge("0.01", "regress_dp_three"), charge("0.01")],
           ["committed 0.01", "committed 0.02", "committed 0.01", "committed 0.01"],
           {"people": (0.03, 3, 0), "others": (0.02, 1, 0)})
    ended = int(closings(owner)) - before
    tap.report("once", [f"{ended} rows end it"] * (ended != 1))


def rho(owner):
    return float(owner.must("SELECT rho FROM dp_odometer('people') WHERE account = 'public'")[0][0])


def steps(*prices, role="regress_dp_one", basis=""):
    return [charge(price, role, kind=basis + ("increment" if i else "step")) for i, price in enumerate(prices)]


def test_steps(tap, owner):
    """What a round is charged behind its first step is no release, and a denial of it none."""
    bound(owner, "people", "0.1")
    expect(tap, owner, "a round is one release, in steps that add up", steps("0.02", "0.03", "0.01") + [charge("0.01")],
           ["committed 0.02", "committed 0.03", "committed 0.01", "committed 0.01"], {"people": (0.07, 2, 0)})
    expect(tap, owner, "an increment that is denied ends the round, and counts as nothing",
           steps("0.02", "0.02", "0.02") + steps("0.02") + steps("0.01"),
           ["committed 0.02", "denied 0", "denied 0", "denied 0", "committed 0.01"], {"people": (0.03, 2, 1)})
    bound(owner, "people", "0.3")
    expect(tap, owner, "two rounds in turn", [entry for pair in zip(steps("0.05", "0.01"), steps("0.04", "0.02")) for entry in pair],
           ["committed 0.05", "committed 0.04", "committed 0.01", "committed 0.02"], {"people": (0.12, 2, 0)})
    expect(tap, owner, "steps are of a role's share", steps("0.004", "0.2", role="regress_dp_three") + steps("0.2", role="regress_dp_two"),
           ["committed 0.004", "denied 0", "denied 0"], {"people": (0.004, 1, 1)})
    expect(tap, owner, "steps in rho belong to a total in rho", steps("0.001", "0.001", basis="rho ") + [charge("0.01")],
           ["changing 0", "changing 0", "committed 0.01"], {"people": (0.01, 1, 0)})
    kinds = owner.must("SELECT kind, algorithm, basis, guarantee, epsilon_worst FROM dp_rdr.ledger "
                       "WHERE relation = 'public.people' AND algorithm = 'accuracy' ORDER BY id LIMIT 2")
    wanted = (("pure", "accuracy", "epsilon", "ex-post", "1"), ("increment", "accuracy", "epsilon", "ex-post", "1"))
    tap.report("their rows say so", [str(kinds)] * (kinds != wanted))
    # Each row has what the step adds to the rho of the whole: together they are never below it.
    exact = owner.must("SELECT sum(rho) FROM (SELECT rho FROM dp_rdr.ledger WHERE algorithm = 'accuracy' AND epsilon IN (0.02) "
                       "ORDER BY id LIMIT 1) s")[0][0]
    tap.report("the first has the rho of its epsilon", [exact] * (float(exact) != 0.000199993333600))
    owner.must("SELECT dp_set_odometer('people', 'dynamic', 99)")
    expect(tap, owner, "the bound dynamic charges none", steps("0.9", "0.9") + steps("0.1", "0.1", basis="rho "),
           ["changing 0"] * 4, {"people": (0, 0, 0)})


def test_automatic(tap, owner):
    """Noise that auto has chosen is worth a rho and no epsilon: a bound that has changed meanwhile takes no charge for it."""
    for bound_now in ("'none'", "'filter', 1000"):
        owner.must(f"SELECT dp_set_odometer('people', {bound_now})")
        expect(tap, owner, f"what auto chose is not charged under {bound_now}", [charge("0.01", kind="auto"), charge("0.01")],
               ["changing 0", "committed 0.01"], {"people": (0.01, 1, 0)})
    owner.must("SELECT dp_set_odometer('people', 'none')")


def test_steps_in_rho(tap, owner):
    owner.must("SELECT dp_set_odometer('people', 'zcdp', 3, 1e-6)")
    owner.must("SELECT batch(ARRAY['charge'], ARRAY['people_dp'::regclass::oid], ARRAY['regress_dp_one'], ARRAY[0.01], NULL)")
    before = rho(owner)
    outcomes = commit(owner, steps("0.001", "0.002", "0.2", basis="rho ") + steps("0.01"))
    moved = round(rho(owner) - before, 12)
    wanted = ["committed 0", "committed 0", "denied 0", "changing 0"]
    tap.report("in rho they add up, and nothing else does",
               [f"{outcomes}, {moved}"] * (outcomes != wanted or moved != 0.003))
    kinds = owner.must("SELECT kind, basis, guarantee, epsilon, epsilon_worst, delta FROM dp_rdr.ledger "
                       "WHERE relation = 'public.people' ORDER BY id DESC LIMIT 2")
    wanted = (("increment", "rho", "zCDP", "0", "0", "0"), ("gaussian", "rho", "zCDP", "0", "0", "0"))
    tap.report("and they are never pure", [str(kinds)] * (kinds != wanted))
    expect(tap, owner, "so the basic rule has ended", [charge("0.9")] * 2, ["denied 0"] * 2, {"people": (0, 0, 2)})
    owner.must("SELECT dp_set_odometer('people', epsilon_pure => 1)")
    owner.must("SELECT dp_grant('people_dp', 'regress_dp_two', tau => 0.95, epsilon_total => 2)")
    entries = (steps("0.1", "0.1") + steps("0.001", "0.001", basis="rho ") + steps("0.001", role="regress_dp_two", basis="rho ")
               + [charge("0.01", "regress_dp_two")] + steps("0.001", "0.001", role="regress_dp_two", basis="rho "))
    outcomes = commit(owner, entries)
    wanted = ["committed 0.1"] * 2 + ["committed 0"] * 3 + ["denied 0"] + ["committed 0"] * 2
    tap.report("with a total of its own for pure noise each basis has its steps; a role's share is of one sum alone",
               [str(outcomes)] * (outcomes != wanted))
    tap.report("the ledger is whole", Table(owner, "people").complaints(0, 0, 0))


SUMS = ("SELECT (SELECT to_jsonb(o) - '{public_denials,conditional_denials}'::text[] FROM dp_rdr.odometer o JOIN dp_rdr.protected_table t "
        "ON t.domain = id WHERE t.relation = 'people'::regclass)::text, (SELECT jsonb_agg(to_jsonb(s) ORDER BY s.grantee) "
        "FROM dp_rdr.odometer_share s JOIN dp_rdr.protected_table t ON t.domain = id WHERE t.relation = 'people'::regclass)::text")


def test_rebuild_of_steps(tap, owner):
    """What the ledger's rows come to is what was counted, and a row of a step that was changed is found."""
    kept = owner.must(SUMS)[0]
    owner.must("BEGIN")
    for table in ("odometer", "odometer_share"):
        owner.must(f"DELETE FROM dp_rdr.{table} s USING dp_rdr.protected_table t WHERE t.domain = s.id AND t.relation = 'people'::regclass")
    owner.must("COMMIT")
    owner.must("SELECT dp_protect('people', 'people_again_dp')")
    found = owner.must(SUMS)[0]
    tap.report("the sums come back from the rows of steps", [f"{kept}, then {found}"] * (kept != found))
    for change in ("epsilon = epsilon / 2", "rho = rho / 2", "kind = 'pure'", "kind = 'increment', algorithm = 'within_domain'",
                   "basis = 'epsilon'"):
        owner.must("BEGIN")
        owner.must(f"UPDATE dp_rdr.ledger_row l SET {change} WHERE id = (SELECT max(id) FROM dp_rdr.ledger_row WHERE kind = 'increment' "
                   f"AND {'epsilon > 0' if change.startswith('epsilon') else 'basis = $$rho$$'})")
        # As one does who knows how rows are chained.
        owner.must("SELECT rechain()")
        whole = owner.must("SELECT dp_verify_ledger('people')")[0][0]
        owner.must("ROLLBACK")
        tap.report(f"an increment with {change} is found", ["it is not"] * (whole != "f"))


RECHAIN = r"""
CREATE FUNCTION rechain() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    previous bytea := '\x';
    entry dp_rdr.ledger_row;
BEGIN
    FOR entry IN SELECT l.* FROM dp_rdr.ledger_row l JOIN dp_rdr.protected_table t ON t.domain = l.table_id
                 WHERE t.relation = 'people'::regclass ORDER BY l.id LOOP
        UPDATE dp_rdr.ledger_row l SET content = dp_rdr.ledger_content(l), previous_hash = previous,
            hash = dp_rdr.ledger_hash(l.content_version, previous, dp_rdr.ledger_content(l))
        WHERE l.id = entry.id RETURNING l.hash INTO previous;
    END LOOP;
    UPDATE dp_rdr.odometer o SET head = previous FROM dp_rdr.protected_table t WHERE t.domain = o.id AND t.relation = 'people'::regclass;
END $$"""


def test_straddled(tap, owner):
    """The owner begins an epoch between two requests of one batch."""
    owner.must("SELECT dp_set_odometer('people', 'zcdp', 50, 1e-3)")
    commit(owner, [charge("0.01")])
    share = ("SELECT s.epoch, s.public_pure FROM dp_rdr.odometer_share s JOIN dp_rdr.protected_table t ON t.domain = id "
             "WHERE t.relation = 'people'::regclass AND grantee = '{}'")
    before = owner.must(share.format(ROLES[0]))[0]
    entries = [charge("0.2"), charge("0.3", "regress_dp_three", kind="late"), charge("0.4"), charge("0.1", "regress_dp_three", kind="late")]
    outcomes = commit_beside(owner, entries, "SELECT dp_set_odometer('people', 'none')")
    wanted = ["committed 0.2", "committed 0.3", "changing 0", "committed 0.1"]
    tap.report("those behind a new epoch are of it, what rests on the old one has to come again",
               [str(outcomes)] * (outcomes != wanted))
    closed = owner.must("SELECT kind, epoch FROM dp_rdr.ledger WHERE relation = 'public.people' ORDER BY id DESC LIMIT 4")
    epoch = int(before[0])
    wanted = (("pure", str(epoch + 1)), ("pure", str(epoch + 1)), ("closing", str(epoch)), ("pure", str(epoch)))
    tap.report("the old one is closed between them", [f"{closed}"] * (closed != wanted))
    ended = owner.must(share.format(ROLES[0]))[0]
    gained = [round(float(ended[1]) - float(before[1]), 9), int(ended[0])]
    tap.report("what the batch had charged a role in the old one is its own there", [str(gained)] * (gained != [0.2, epoch]))
    tap.report("the ledger is whole", Table(owner, "people").complaints(0, 0, 0))


def between(setter, watcher, statement):
    """Commits while the batch waits for the lock."""
    for _ in range(100):
        if watcher.must("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")[0][0] == "1":
            break
        time.sleep(0.05)
    setter.must(statement)
    setter.must("SELECT pg_advisory_unlock(1)")


def commit_beside(owner, entries, statement):
    """What became of each entry, if the statement commits behind the first one."""
    owner.must("CREATE TRIGGER straddle BEFORE INSERT ON dp_rdr.ledger_row FOR EACH ROW EXECUTE FUNCTION straddle()")
    owner.must("ALTER TABLE dp_rdr.ledger_row ENABLE ALWAYS TRIGGER straddle")
    setter, releaser = Connection(dbname=DATABASE), Connection(dbname=DATABASE)
    setter.must("SELECT pg_advisory_lock(1)")
    thread = threading.Thread(target=between, args=(setter, releaser, statement))
    thread.start()
    outcomes = commit(owner, entries)
    thread.join()
    owner.must("DROP TRIGGER straddle ON dp_rdr.ledger_row")
    setter.close()
    releaser.close()
    return outcomes


def test_members(tap, owner):
    """Two members of a group ask in one batch, and one of them leaves it meanwhile: the other's terms are not his."""
    owner.must("SELECT dp_grant('others_dp', 'regress_dp_team', tau => 0.95)")
    owner.must("SELECT dp_revoke('others_dp', 'regress_dp_one'), dp_revoke('others_dp', 'regress_dp_three')")
    owner.must("GRANT regress_dp_team TO regress_dp_one, regress_dp_three")
    entries = [charge("0.01", "regress_dp_one", "others"), charge("0.01", "regress_dp_three", "others"), charge("0.01", "regress_dp_one", "others")]
    outcomes = commit_beside(owner, entries, "REVOKE regress_dp_team FROM regress_dp_three")
    tap.report("who has left a group is not charged by the terms of one who stays in it",
               [str(outcomes)] * (outcomes != ["committed 0.01", "changing 0", "committed 0.01"]))
    for role in ("regress_dp_one", "regress_dp_three"):
        owner.must(f"SELECT dp_grant('others_dp', '{role}', tau => 0.95)")


def test_two_tables(tap, owner):
    expect(tap, owner, "two tables in turn", [charge("0.01"), charge("0.02", table="others")] * 3,
           ["committed 0.01", "committed 0.02"] * 3, {"people": (0.03, 3, 0), "others": (0.06, 3, 0)})
    texts = owner.must("SELECT query FROM dp_rdr.ledger WHERE relation = 'public.others' ORDER BY id DESC LIMIT 3")
    tap.report("rows come in the order of the requests",
               [str(texts)] * ([text for text, in texts] != ["entry 6", "entry 4", "entry 2"]))


def cells(epsilon, first, last, role="regress_dp_one"):
    return charge(epsilon, role, "parts", f"cells {first} {last}")


def test_cells(tap, owner):
    """Each is decided on what those before it leave in the cells that it touches, whose rows are written at the end."""
    owner.must("SELECT dp_set_odometer('parts', 'filter', 0.5), dp_set_partition('parts', 'age', by => '1', since => '1', until => '1000', guard => false)")
    expect(tap, owner, "a charge on hundreds of cells reads them beside what the batch has added",
           [cells("0.1", 700, 700), cells("0.1", 601, 900), cells("0.28", 700, 700), cells("0.1", 700, 701)],
           ["committed 0.1", "committed 0.1", "committed 0.28", "denied 0"], {"parts": (0.48, 3, 1)})
    expect(tap, owner, "which counts, and not what their rows had before it",
           [cells("0.005", 700, 700), cells("0.004", 601, 900), cells("0.001", 700, 700), cells("0.011", 700, 700)],
           ["committed 0.005", "committed 0.004", "committed 0.001", "denied 0"], {"parts": (0.01, 3, 1)})
    expect(tap, owner, "an error takes back what its batch has added", [cells("0.2", 8, 9), charge("0.01", table="parts", kind="broken"), cells("0.3", 8, 8), cells("0.1", 8, 9)],
           ["committed 0.2", "pending 0", "committed 0.3", "denied 0"], {"parts": (0.01, 2, 1)})
    expect(tap, owner, "cells that two charges share count both",
           [cells("0.2", 3, 5), cells("0.2", 4, 4), cells("0.2", 5, 6), cells("0.2", 4, 5), cells("0.2", 2, 3), cells("0.1", 4, 6)],
           ["committed 0.2", "committed 0.2", "committed 0.2", "denied 0", "committed 0.2", "committed 0.1"], {"parts": (0, 5, 1)})
    expect(tap, owner, "what rows have counts with what the batch adds", [cells("0.1", 2, 2), cells("0.1", 2, 3), cells("0.1", 2, 2), cells("0.1", 2, 2)],
           ["committed 0.1", "committed 0.1", "committed 0.1", "denied 0"], {"parts": (0, 3, 1)})
    expect(tap, owner, "a role's share is counted by cells as well",
           [cells("0.06", 10, 10, "regress_dp_two"), cells("0.06", 10, 10), cells("0.06", 10, 10, "regress_dp_two"), cells("0.06", 1, 1, "regress_dp_two")],
           ["committed 0.06", "committed 0.06", "denied 0", "committed 0.06"], {"parts": (0, 3, 1)})
    owner.must("SELECT dp_set_odometer('parts', 'zcdp', 2, 1e-6)")
    expect(tap, owner, "in rho too", [cells("0.2", 1, 3), cells("0.2", 3, 4)], ["committed 0.2"] * 2, {"parts": (0.4, 2, 0)})
    owner.must("SELECT dp_set_odometer('parts', 'none')")
    expect(tap, owner, "an epoch that ends counts what it has added to each", [cells("0.2", 1, 3), cells("0.2", 3, 4)], ["committed 0.2"] * 2, {"parts": (0.4, 2, 0)})


def test_none_fails_another(tap, owner):
    expect(tap, owner, "settings that have changed", [charge("0.01"), charge("0.01", kind="stale"), charge("0.01")],
           ["committed 0.01", "changing 0", "committed 0.01"], {"people": (0.02, 2, 0)})
    expect(tap, owner, "an odometer that is not there", [charge("0.01"), charge("0.01", kind="lost"), charge("0.01")],
           ["committed 0.01", "pending 0", "committed 0.01"], {"people": (0.02, 2, 0)})
    expect(tap, owner, "an unexpected error", [charge("0.01"), charge("0.01", kind="broken"), charge("0.01")],
           ["committed 0.01", "pending 0", "committed 0.01"], {"people": (0.02, 2, 0)})


def seconds(action):
    begun = time.monotonic()
    action()
    return time.monotonic() - begun


def test_locks(tap, owner):
    other = Connection(dbname=DATABASE)
    other.must("BEGIN")
    other.must("SELECT FROM dp_rdr.odometer o JOIN dp_rdr.protected_table t ON t.domain = id "
               "WHERE t.relation = 'people'::regclass FOR UPDATE OF o")
    expect(tap, owner, "an odometer that somebody holds stalls nobody else", [charge("0.01"), charge("0.01", table="others")],
           ["busy 0", "committed 0.01"], {"people": (0, 0, 0), "others": (0.01, 1, 0)})
    taken = min(seconds(lambda: commit(owner, [charge("0.01")])) for _ in range(5))  # the machine may be busy, but not each time
    tap.report("and is not waited for", [f"{taken} s"] * (taken > 1.5))
    other.must("ROLLBACK")
    other.must("BEGIN")
    other.must("LOCK TABLE dp_rdr.ledger_row IN SHARE MODE")
    outcomes = []
    taken = seconds(lambda: outcomes.extend(commit(owner, [charge("0.01")] * 4)))
    other.must("ROLLBACK")
    other.close()
    tap.report("a lock on the ledger costs a batch two seconds, once",
               [f"{outcomes} after {taken} s"] * (outcomes != ["busy 0"] * 4 or taken > 7))


def rows_of(owner, table):
    return int(owner.must(f"SELECT count(*) FROM dp_rdr.ledger WHERE relation = 'public.{table}'")[0][0])


def test_suspension(tap, owner):
    expect(tap, owner, "a suspension is seen by those behind it",
           [charge("0.01"), charge("0.01", "regress_dp_three", kind="suspension"), charge("0.01")],
           ["committed 0.01", "committed 0", "changing 0"], {"people": (0.01, 1, 0)})
    before = rows_of(owner, "others")
    expect(tap, owner, "a role is suspended once",
           [charge("0", "regress_dp_three", "others", "suspension")] * 2, ["committed 0"] * 2, {"others": (0, 0, 0)})
    gained = rows_of(owner, "others") - before
    tap.report("with one row in the ledger", [f"{gained} rows"] * (gained != 1))


def test_content(tap):
    """What the writer says of a row is what dp_rdr.ledger_content() says, in every encoding."""
    for encoding in ("UTF8", "LATIN1", "SQL_ASCII"):
        database = f"regress_dp_batch_{encoding.lower()}"
        owner = prepare(database, encoding)
        owner.must("SET standard_conforming_strings = on")
        owner.must("ALTER TABLE people RENAME TO \"caf\u00e9 \"\"au\"\" lait\\\"")
        owner.must("ALTER VIEW people_dp RENAME TO \"t\u00e9 / th\u00e9\"")
        owner.must("CREATE FUNCTION verified() RETURNS boolean BEGIN ATOMIC SELECT dp_verify_ledger(relation) "
                   "FROM dp_rdr.protected_table WHERE relation::text LIKE '%lait%'; END")
        view = "(SELECT view::oid FROM dp_rdr.restricted_view WHERE view::text LIKE '%/%')"
        for text in ("", "SELECT '\u00e9\t\u0001\\ \" \n'", "\u00e9" * 5000, "x" * 9000):
            quoted = text.replace("'", "''")
            owner.must(f"SELECT batch(ARRAY['charge','charge'], ARRAY[{view}, {view}], ARRAY['regress_dp_one',''], "
                       f"ARRAY[0.000000001, 12.5]::numeric[], '{quoted}')")
        rows = owner.must("SELECT count(*), verified() FROM dp_rdr.ledger")
        tap.report(f"rows with all sorts of texts verify, in {encoding}", [str(rows)] * (rows != (("8", "t"),)))
        forget(owner, database)


MEASURED_BOUNDS = {"filter": "'filter', 100000, 0.5", "zcdp": "'zcdp', 100000, 1e-6"}


def commit_times(owner, bound, n):
    """Microseconds of a commit of n entries, and of its processor."""
    owner.must(f"SELECT dp_set_odometer('people', {MEASURED_BOUNDS[bound]})")
    entries = [charge("0.000001", ROLES[0 if i % 4 else 2]) for i in range(n)]
    owner.must(f"SELECT measure({arguments_of(entries)}, {MEASURED_ROUNDS})")
    while not (microseconds := float(owner.must("SELECT measured()")[0][0])):
        time.sleep(0.2)
    return microseconds, float(owner.must("SELECT cpu()")[0][0])


def measure(owner):
    """The bounds in turns, since a machine is not equally fast all the time; the best of them counts."""
    print("entries  bound   us per commit  us per entry  us of processor per commit")
    for n in (1, 4, 16):
        times = {bound: [] for bound in MEASURED_BOUNDS}
        for _ in range(MEASURED_TURNS):
            for bound, taken in times.items():
                taken.append(commit_times(owner, bound, n))
        best = {bound: (min(t for t, _ in taken), min(cpu for _, cpu in taken)) for bound, taken in times.items()}
        for bound, (t, cpu) in best.items():
            print(f"{n:7}  {bound:6}  {t:13.1f}  {t / n:12.1f}  {cpu:26.1f}")
        print(f"{n:7}  zcdp costs {best['zcdp'][0] / best['filter'][0]:.3f} of filter, "
              f"{best['zcdp'][1] / best['filter'][1]:.3f} of its processor")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--measure", action="store_true")
    arguments = parser.parse_args()
    owner = prepare(DATABASE)
    if arguments.measure:
        measure(owner)
        return 0
    tap = Tap()
    for test in (test_running_totals, test_totals_in_rho, test_steps, test_automatic, test_steps_in_rho, test_rebuild_of_steps, test_straddled, test_members,
                 test_two_tables, test_cells, test_none_fails_another, test_locks, test_suspension):
        test(tap, owner)
    peers.test(tap, DATABASE)
    forget(owner, DATABASE)
    test_content(tap)
    reader.test(tap)
    print(f"1..{tap.count}")
    return 1 if tap.failed else 0


sys.exit(main())
