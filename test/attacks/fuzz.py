#!/usr/bin/env python3
"""Mutates accepted statements, or takes those of sqlsmith, and sends each, as the analyst, to two neighbouring databases of
the server that PG* points to.

What must hold, whatever the statement: the server lives, no internal error, nothing of the canary; what costs nothing gives
the same result in both databases, to the letter (no row without a charge); what costs gives rows of the same shape.

With --functions the statements are made from the table of total functions (functions.py): whatever they cost, nothing but
noise may differ, and every entry has to be in a statement that was answered.

    fuzz.py [--statements N] [--seconds N] [--seed N] [--sqlsmith | --functions]

The output is TAP: one line for every hundred statements, and the kinds of their outcomes. The seed, which the first line
tells, gives the same statements again.
"""
import argparse
import collections
import os
import random
import re
import subprocess
import sys
import time

from functions import ENTRIES, Grammar, build_table
from run import Tap
from worlds import Neighbours, build_fixture, log_complaints, observation, shows_canary

ACCEPTED = (
    "SELECT count(*) FROM person_dp",
    "SELECT count(*) FROM person_dp WHERE age > 30 AND sex = 'Male'",
    "SELECT sex, count(*), avg(salary) FROM person_dp WHERE age BETWEEN 25 AND 90 GROUP BY sex ORDER BY sex",
    "SELECT sex, sum(height) FROM person_dp GROUP BY sex HAVING count(*) > 10 ORDER BY 2 DESC LIMIT 5",
    "SELECT mood, member, count(*) FROM person_dp WHERE city IN ('city 1', 'Atlantis') GROUP BY mood, member",
    "SELECT count(*) FILTER (WHERE rate > 0.5), count(note) FROM person_dp WHERE born < date '2000-01-01'",
    "SELECT 1 + count(*), power(avg(age), 2), sum(salary) / 12 FROM person_dp WHERE seen IS NOT NULL",
    "WITH w AS (SELECT sex, count(*) AS n FROM person_dp GROUP BY sex) SELECT a.sex, a.n - b.n FROM w a JOIN w b USING (sex)",
    "SELECT (SELECT count(*) FROM person_dp WHERE age = 90) AS n, inhabitants FROM public_city",
    "SELECT count(*) FROM person_dp UNION ALL SELECT sum(salary) FROM person_dp WHERE note LIKE 'note 1%'",
    "SELECT age, count(*) FROM person_dp WHERE height IS DISTINCT FROM 150 GROUP BY age ORDER BY age",
    "SELECT dp_count(*), dp_avg(rate), dp_sum(age) FROM person_dp WHERE NOT member OR id = 4242",
    "SELECT sex, dp_low(count(*)), dp_high(avg(rate)) FROM person_dp GROUP BY sex HAVING dp_low(sum(age)) > 10",
    "SELECT sex, percentile_cont(ARRAY[0.25, 0.75]) WITHIN GROUP (ORDER BY rate), avg(least(greatest(seen - born, interval '0'), interval '1 day')) FROM person_dp GROUP BY sex",
    "SELECT n FROM (SELECT count(*) AS n FROM person_dp WHERE mood = 'high') q WHERE n IS NOT NULL",
    "SELECT CASE WHEN count(*) > 100 THEN 'many' ELSE 'few' END, coalesce(avg(height), 0) FROM person_dp",
    "SELECT * FROM dp_query('SELECT count(*) FROM person_dp WHERE age > 40') AS (n bigint)",
    "SELECT count(*) FROM (SELECT age, city FROM person_dp WHERE salary >= 1000) q WHERE city <> 'city 2'",
    "SELECT ward, count(*), sum(cost), count(DISTINCT pid) FROM visit_dp WHERE cost < 40 GROUP BY ward",
    "SELECT * FROM dp_query($$SELECT count(*), sum(cost) FROM bill_dp WHERE part = 'p1'$$, max_rows => 2) AS (n bigint, c bigint)",
    "SELECT count(DISTINCT author), avg(cost) FROM letter_dp WHERE subject <> 's1'",
)

COLUMNS = ("id", "age", "sex", "city", "note", "salary", "height", "rate", "born", "seen", "mood", "member", "p.ctid", "inhabitants", "p")
AGGREGATES = ("count", "sum", "avg", "dp_count", "dp_sum", "dp_avg", "dp_low", "dp_high", "min", "max",
              "array_agg", "stddev", "bool_or", "count(DISTINCT ")
OPERATORS = ("=", "<>", "<", ">", "<=", ">=", "+", "-", "*", "/", "%", "||", "^", "~", "LIKE", "IS DISTINCT FROM", "AND", "OR", "IN")
FUNCTIONS = ("abs", "length", "lower", "upper", "sqrt", "ln", "exp", "round", "floor", "md5", "to_json", "chr", "extract(year FROM ",
             "date_trunc('month', ", "pg_typeof", "quote_literal", "row_to_json", "unnest", "-", "NOT ", "nullif(1, ", "coalesce(",
             "greatest(0, ", "substr('abc', ", "repeat('x', ", "pg_sleep(0.001 * ", "pg_temp.snoop(", "width_bucket(5, 0, 10, ")
CASTS = ("integer", "bigint", "smallint", "text", "numeric", "float8", "boolean", "date", "timestamp", "json", "mood", "regclass",
         "numeric(3, 2)", "varchar(2)", "integer[]", "pg_temp.nosy", "char")
LITERALS = ("0", "1", "-1", "90", "4242", "2147483647", "-2147483648", "9223372036854775807", "1e308", "1e-320", "'NaN'", "'Infinity'",
            "'-infinity'", "NULL", "''", "'Atlantis'", "'Other'", "'high'", "'%'", "'\\'", "date 'infinity'", "true", "'{}'", "0.1",
            "'note 1'", "$1", "random()", "now()", "ARRAY[1, 90]", "(SELECT 90)", "repeat('a', 1000)")
CLAUSES = (" GROUP BY sex", " GROUP BY 1", " HAVING count(*) > 0", " ORDER BY 1", " LIMIT 1", " LIMIT 0", " OFFSET 1", " FOR UPDATE",
           " WINDOW w AS ()", " UNION SELECT 1", " GROUP BY ROLLUP (sex)", " FETCH FIRST 1 ROW WITH TIES", " EXCEPT SELECT 0",
           " WHERE id = 4242", " AND id = 4242", " OR age = 90", " GROUP BY ()", " TABLESAMPLE SYSTEM (50)")
# The statement goes where %s stands.
WRAPPERS = (
    "SELECT * FROM (%s) q", "WITH w AS (%s) SELECT * FROM w", "WITH w AS MATERIALIZED (%s) SELECT * FROM w a, w b",
    "SELECT EXISTS (%s)", "SELECT NOT EXISTS (%s)", "SELECT ARRAY(%s)", "SELECT (%s)", "(%s) UNION ALL (%s)", "(%s) EXCEPT (%s)",
    "(%s) INTERSECT ALL (%s)", "SELECT * FROM public_city c, LATERAL (%s) q", "SELECT * FROM public_city c LEFT JOIN LATERAL (%s) q ON true",
    "SELECT count(*) FROM (%s) q", "SELECT max(q) FROM (%s) q", "SELECT q::text FROM (%s) q", "SELECT row_to_json(q) FROM (%s) q",
    "SELECT 1 WHERE 1 IN (%s)", "SELECT 1 = ANY (%s)", "SELECT 1 > ALL (%s)", "SELECT DISTINCT * FROM (%s) q", "EXPLAIN (COSTS OFF) %s",
    "EXPLAIN %s", "EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF) %s", "SELECT row_number() OVER (), * FROM (%s) q", "SELECT * FROM (%s) q LIMIT 1",
    "SELECT * FROM (%s) q, generate_series(1, 3)", "SELECT CASE WHEN random() < 2 THEN 1 ELSE (%s) END", "CREATE TEMP TABLE made AS %s",
    "DECLARE c CURSOR WITH HOLD FOR %s", "COPY (%s) TO STDOUT", "PREPARE s AS %s", "SELECT query_to_xml($q$%s$q$, true, true, '')",
    "SELECT * FROM dp_query($q$%s$q$) AS (n bigint)", "DO $d$ DECLARE r record; BEGIN FOR r IN %s LOOP RAISE NOTICE 'row'; END LOOP; END $d$",
    "SELECT * FROM dp_rdr.release($q$%s$q$, NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL, NULL, NULL, 1) AS (n bigint)", "CREATE TEMP VIEW seen_through AS %s", "INSERT INTO pg_temp.own %s",
    "SELECT * FROM ROWS FROM (generate_series(1, 2)) r WHERE (%s) IS NOT NULL", "SELECT pg_temp.snoop((%s))", "BEGIN; %s; ROLLBACK",
    "WITH RECURSIVE w AS (%s UNION ALL SELECT * FROM w WHERE false) SELECT * FROM w", "SELECT * FROM person_dp WHERE id IN (%s)",
    "SELECT count(*) FROM person_dp WHERE age > (%s)", "SELECT count(*), (%s) FROM person_dp", "SELECT (%s) FROM person_dp GROUP BY sex")

PREPARATION = ("CREATE FUNCTION pg_temp.snoop(x anyelement) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS "
               "$$ BEGIN RAISE WARNING 'snooped: %', x; RETURN true; END $$; "
               "CREATE DOMAIN pg_temp.nosy AS integer CHECK (pg_temp.snoop(VALUE)); CREATE TEMP TABLE own (n bigint)")

TOKENS = re.compile(r"\s+|'[^']*'|[A-Za-z_][\w.]*|\d+(?:\.\d+)?|<>|<=|>=|\|\||.", re.DOTALL)
WORDS = re.compile(r"\b(?:%s)\b" % "|".join(column for column in COLUMNS if column.isalpha()))


# ---- generating ------------------------------------------------------------------------------------------------------


def replace_one(text, pattern, choose, dice):
    """Replaces one match of the pattern by what choose makes of it."""
    matches = list(re.finditer(pattern, text))
    if not matches:
        return text
    match = dice.choice(matches)
    return text[:match.start()] + choose(match[0]) + text[match.end():]


def wrap_call(text, dice):
    function = dice.choice(FUNCTIONS)
    return (function if "(" in function or function in ("-", "NOT ") else function + "(") + text + ")" * (
        function.count("(") or function not in ("-", "NOT "))


def shuffle_tokens(text, dice):
    """Deletes, doubles or swaps tokens: most results are no SQL, some are SQL that nobody would write."""
    tokens = TOKENS.findall(text)
    at, other = dice.randrange(len(tokens)), dice.randrange(len(tokens))
    how = dice.random()
    if how < 0.4:
        del tokens[at]
    elif how < 0.6:
        tokens.insert(at, tokens[other])
    else:
        tokens[at], tokens[other] = tokens[other], tokens[at]
    return "".join(tokens)


# Each takes a statement and returns another; the numbers are weights.
MUTATIONS = (
    (6, lambda s, d: replace_one(s, WORDS, lambda _: d.choice(COLUMNS), d)),
    (4, lambda s, d: replace_one(s, r"\b(?:dp_)?(?:count|sum|avg)\b", lambda _: d.choice(AGGREGATES), d)),
    (4, lambda s, d: replace_one(s, r"<>|<=|>=|=|<|>|\+|\b(?:AND|OR|LIKE)\b", lambda _: d.choice(OPERATORS), d)),
    (4, lambda s, d: replace_one(s, r"'[^']*'|\b\d+(?:\.\d+)?\b", lambda _: d.choice(LITERALS), d)),
    (4, lambda s, d: replace_one(s, WORDS, lambda m: wrap_call(m, d), d)),
    (3, lambda s, d: replace_one(s, WORDS, lambda m: f"{m}::{d.choice(CASTS)}", d)),
    (2, lambda s, d: replace_one(s, WORDS, lambda m: f"CASE WHEN {m} IS NULL THEN {m} ELSE {d.choice(LITERALS)} END", d)),
    (2, lambda s, d: replace_one(s, WORDS, lambda m: f"({m} {d.choice(OPERATORS)} {d.choice(LITERALS)})", d)),
    (2, lambda s, d: replace_one(s, r"\bperson_dp\b", lambda _: d.choice((
        "person_dp p", "person", "person_dp, public_city", "person_dp a JOIN person_dp b USING (id)", "scarce_dp", "ONLY person_dp",
        "(SELECT * FROM person_dp WHERE age > 0) q", "person_dp TABLESAMPLE BERNOULLI (90)", "dp_rdr.deny('person') AS (id integer)",
        "(SELECT DISTINCT * FROM person_dp) q", "(TABLE person_dp) q", "person_dp LEFT JOIN public_city c USING (city)")), d)),
    (3, lambda s, d: s + d.choice(CLAUSES)),
    (5, lambda s, d: d.choice(WRAPPERS).replace("%s", s)),
    (1, lambda s, d: d.choice(WRAPPERS).replace("%s", d.choice(ACCEPTED), 1).replace("%s", s)),
    (3, shuffle_tokens),
)
WEIGHTS = [weight for weight, _ in MUTATIONS]


def generate(dice):
    """Endlessly: an accepted statement with one to five mutations."""
    while True:
        statement = dice.choice(ACCEPTED)
        for _ in range(dice.choice((0, 1, 1, 1, 2, 2, 3, 4, 5))):
            statement = dice.choices(MUTATIONS, WEIGHTS)[0][1](statement, dice)
        yield statement[:5000]


def sqlsmith(count, seed):
    """The statements that sqlsmith makes up for the analyst's view of the database; it ends each with a semicolon."""
    target = f"dbname=attack_with user=attack_analyst password=attack host={os.environ['PGHOST']} port={os.environ['PGPORT']}"
    done = subprocess.run(["sqlsmith", f"--target={target}", "--dry-run", "--exclude-catalog", f"--seed={seed}", f"--max-queries={count}"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    for statement in re.split(r";\s*\n", done.stdout.decode("utf-8", "replace")):
        if statement.strip():
            # What it samples of other tables has to be the same in both databases.
            yield re.sub(r"(tablesample \w+ \([\d.]+\))", r"\1 repeatable (1)", statement)


# ---- judging ---------------------------------------------------------------------------------------------------------

# What a statement may draw on that differs between any two runs.
CHANGING = re.compile(r"random|tablesample \w+ \([\d.]+\)(?! repeatable)|now\(|timestamp|current_|clock|timeofday|\bpg_|txid|uuid|inet_|version|oid|xid|lsn|acl|localtime|backend", re.IGNORECASE)
# Where these words stand for nothing that changes: prefixes, and types of casts.
UNCHANGING = re.compile(r"\bpg_catalog\.|\bas \w+\)")

INTERNAL = {"XX000", "XX001", "XX002", "57P02", "lost"}
# What a busy machine decides: a time limit, a lock, workers that come late.
CUT_OFF = {"57014", "55P03", "53300", "57P03"}
# The parser of PostgreSQL says this of unknownin() in an output column, before it knows what is asked.
OF_THE_PARSER = "failed to find conversion function from unknown to text"


def internal_errors(reply):
    errors = [(result.field("C") or "lost", result.field("M")) for result in reply.results if result.error]
    return {f"{state} {message}" for state, message in errors if state in INTERNAL and message != OF_THE_PARSER}


class Judge:
    def __init__(self, neighbours):
        self.neighbours = neighbours
        self.outcomes = collections.Counter()

    def send(self, statement):
        def one(world):
            connection = world.connection("analyst")
            if not connection.used:
                connection.must(PREPARATION)
            before = int(world.last_account[0])
            reply = world.send("analyst", statement)
            alive = connection.alive()
            if alive and connection.in_transaction():
                connection.send("ROLLBACK")
            if alive and re.search(r"CREATE|DECLARE|PREPARE|SET\b|DISCARD|INSERT", statement):
                world.settle()
            return reply, int(world.account()[0]) - before

        return self.neighbours.both(one)

    def sent_evenly(self, statement):
        """Where one database alone was cut off, it is asked again: that differs each time if a row decides it."""
        for _ in range(3):
            pair = self.send(statement)
            if pair[0][0].sqlstate() == pair[1][0].sqlstate() or not {reply.sqlstate() for reply, _ in pair} & CUT_OFF:
                break
        return pair

    def complaints(self, statement):
        (one, charges), (other, other_charges) = self.sent_evenly(statement)
        states = {one.sqlstate(), other.sqlstate()}
        self.outcomes[("answered" if charges else "free") if states == {""} else sorted(states)[-1]] += 1
        if shows_canary(one) or shows_canary(other):
            yield "shows the canary"
        for error in internal_errors(one) | internal_errors(other):
            yield f"ends with {error}"
        if CHANGING.search(UNCHANGING.sub("", statement)):
            return
        if (charges == 0) != (other_charges == 0):
            yield f"costs {charges} and {other_charges}"
        if charges == other_charges == 0:
            here, there = observation(one, statement, True), observation(other, statement, True)
            if here != there:
                yield f"costs nothing and differs\n{here}\n{there}"


# Statements of which the judge has to complain, or it proves nothing.
WRONG = ("SELECT length(catalog_name) FROM information_schema.information_schema_catalog_name", "DO $$ BEGIN RAISE NOTICE '%', 'xyzzy-' || '7319'; END $$")


def fuzz(statements, options, tap):
    neighbours = Neighbours()
    for world in neighbours.worlds:
        world.options = "-c statement_timeout=1s -c lock_timeout=1s"
    judge = Judge(neighbours)
    for statement in WRONG:
        tap.report("the judge complains of what is wrong", [] if list(judge.complaints(statement)) else [statement])
    judge.outcomes.clear()
    found, done, deadline = [], 0, time.monotonic() + options.seconds
    for statement in statements:
        if done >= options.statements or time.monotonic() > deadline:
            break
        done += 1
        found += [f"{statement}\n{complaint}" for complaint in judge.complaints(statement)]
        if done % 100 == 0:
            tap.report(f"statements up to {done}", found)
            found = []
    tap.report(f"statements up to {done}", found)
    print("# " + ", ".join(f"{count} {outcome}" for outcome, count in judge.outcomes.most_common()))
    if not options.sqlsmith:  # which hardly ever hits the permitted shape
        refused = judge.outcomes["0A000"] + judge.outcomes["42501"]
        tap.report("some statements were answered, and some refused",
                   [] if judge.outcomes["answered"] > options.statements / 50 and refused > options.statements / 200 else [str(judge.outcomes)])
    tap.report(f"{options.statements} statements were run", [] if done >= 0.95 * options.statements else [f"only {done}"])
    for world in neighbours.worlds:
        verified = world.send("superuser", "SELECT dp_verify_ledger('person')").results[-1].rows
        tap.report(f"the ledger of {world.database} is whole", [] if verified == (("t",),) else [repr(verified)])
    tap.report("the server log shows nothing of the canary, and no crash",
               log_complaints(neighbours.worlds[0].connection("superuser")))


def differences(neighbours, statement):
    """What is wrong with the replies to a statement that has to look the same whether the victim is there or not; and the
    SQLSTATE."""
    complaints = []
    for _ in range(3):
        one, other = neighbours.both(lambda world: world.send("analyst", statement))
        if one.sqlstate() == other.sqlstate() or not {one.sqlstate(), other.sqlstate()} & CUT_OFF:
            break
    if shows_canary(one) or shows_canary(other):
        complaints.append("shows the canary")
    complaints += [f"ends with {error}" for error in internal_errors(one) | internal_errors(other)]
    here, there = observation(one, statement), observation(other, statement)
    if here != there:
        complaints.append(f"differs\n{here}\n{there}")
    return complaints, other.sqlstate()


def fuzz_functions(options, dice, tap):
    neighbours = Neighbours()
    for world in neighbours.worlds:
        world.options = "-c statement_timeout=5s"
    build_table(neighbours.worlds)
    grammar = Grammar(neighbours.worlds[0].connection("superuser").must(ENTRIES), dice)
    covered, outcomes, found, done = set(), collections.Counter(), [], 0
    deadline = time.monotonic() + options.seconds

    def ask(statement, used):
        complaints, state = differences(neighbours, statement)
        outcomes[state or "answered"] += 1
        if state == "":
            covered.update(used)
        return [f"{statement}\n{complaint}" for complaint in complaints]

    while done < options.statements and time.monotonic() < deadline:
        done += 1
        found += ask(*grammar.statement())
        if done % 1000 == 0:
            tap.report(f"statements up to {done}", found)
            found = []
    # What has only met constants that are refused gets some more.
    for entry in grammar.entries:
        for _ in range(200):
            if entry.call in covered:
                break
            found += ask(*grammar.statement_of(entry.call))
    tap.report(f"statements up to {done}, and one of every function", found)
    print("# " + ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common()))
    tap.report(f"every one of {len(grammar.entries)} functions was in a statement that was answered",
               [entry.call for entry in grammar.entries if entry.call not in covered])
    tap.report("most statements were answered", [] if outcomes["answered"] > done / 2 else [str(outcomes)])
    tap.report(f"{options.statements} statements were run", [] if done >= 0.95 * options.statements else [f"only {done}"])
    tap.report("the server log shows nothing of the canary, and no crash",
               log_complaints(neighbours.worlds[0].connection("superuser")))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--statements", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--seed", type=int, default=None, help="of the generator; random by default")
    parser.add_argument("--sqlsmith", action="store_true", help="send statements of sqlsmith instead")
    parser.add_argument("--functions", action="store_true", help="send statements made of every total function instead")
    options = parser.parse_args()

    seed = random.SystemRandom().randrange(1 << 31) if options.seed is None else options.seed  # sqlsmith knows no larger one
    print(f"# --seed {seed}", flush=True)
    tap = Tap()
    build_fixture()
    if options.functions:
        fuzz_functions(options, random.Random(seed), tap)
        print(f"1..{tap.count}")
        return 1 if tap.failed else 0
    fuzz(sqlsmith(options.statements, seed) if options.sqlsmith else generate(random.Random(seed)), options, tap)
    print(f"1..{tap.count}")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
