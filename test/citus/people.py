"""People with many rows, in tables that Citus distributes by the person, beside copies of them on the coordinator.

Each class of statement is answered from both with the same random bytes (test/seeded/bytes.cpp is preloaded into the coordinator): the
answers must be equal, to the last digit. Workers are asked one statement a shard, which clips what each person brings.
"""
import os
import pathlib
import re
import struct
import subprocess
import sys
import threading
import time

SHIM = pathlib.Path(__file__).resolve().parents[2] / "build" / "seeded" / "bytes.so"
SHARDS = 8

TABLES = """
CREATE TABLE patient (id bigint PRIMARY KEY, age integer, city text);
CREATE TABLE visit (id bigint, patient_id bigint, cost integer, hours double precision, ward text, kind integer, day date,
                    PRIMARY KEY (patient_id, id));
CREATE TABLE drug (visit_id bigint, patient_id bigint, dose integer);
CREATE TABLE wing (name text PRIMARY KEY, floor integer NOT NULL);
SELECT create_distributed_table('patient', 'id', shard_count => {shards}, colocate_with => 'none');
SELECT create_distributed_table(t, 'patient_id', colocate_with => 'patient') FROM unnest('{{visit,drug}}'::text[]) t;
SELECT create_reference_table('wing');
INSERT INTO patient SELECT g, g % 90, (ARRAY['Oslo', 'Pisa', 'Rome'])[1 + g % 3] FROM generate_series(1, {people}) g;
INSERT INTO visit SELECT g, 1 + (g * 7919::bigint) % {people}, g % 500, (g % 1000) / 8.0, 'ward' || g % 20, g % 7,
    date '2024-01-01' + g % 90 FROM generate_series(1, {rows}) g;
INSERT INTO visit SELECT {rows} + g, 17, 500, 125 + g, 'ward' || g % 20, g % 7, date '2024-01-01' + g
    FROM generate_series(1, 60) g; -- more than count
INSERT INTO drug SELECT g, 1 + (g * 7919::bigint) % {people}, g % 50 FROM generate_series(1, {rows} / 4) g;
CREATE TABLE rate (kind integer NOT NULL, rate integer NOT NULL);
SELECT create_reference_table('rate');
INSERT INTO rate SELECT g % 7, g / 7 FROM generate_series(0, 20) g; -- three rows of each kind: each visit is joined three times
CREATE TABLE rate_one AS TABLE rate;
ALTER TABLE rate_one ALTER kind SET NOT NULL, ALTER rate SET NOT NULL;
INSERT INTO wing SELECT 'ward' || g, g % 4 FROM generate_series(0, 17) g;
CREATE TABLE patient_one (LIKE patient INCLUDING INDEXES);
CREATE TABLE visit_one (LIKE visit INCLUDING INDEXES);
CREATE TABLE drug_one (LIKE drug);
CREATE TABLE wing_one (LIKE wing INCLUDING INDEXES);
INSERT INTO patient_one TABLE patient;
INSERT INTO visit_one TABLE visit;
INSERT INTO drug_one TABLE drug;
INSERT INTO wing_one TABLE wing;
ANALYZE patient, visit, drug, patient_one, visit_one, drug_one;
SELECT dp_protect('patient', 'patient_dp', unit => 'id');
SELECT dp_protect('patient_one', 'patient_one_dp', unit => 'id -> patient (id)');
SELECT dp_protect(t, t || '_dp', unit => 'patient_id -> patient (id)', max_rows => 5) FROM unnest('{{visit,visit_one}}'::text[]) t;
SELECT dp_protect('drug' || t, 'drug' || t || '_dp', unit => format('patient_id, visit_id -> visit%s (patient_id, id)', t), max_rows => 3)
    FROM unnest('{{"",_one}}'::text[]) t;
SELECT dp_set_bounds('visit' || t, 'cost', 0, 500), dp_set_bounds('visit' || t, 'hours', 0, 125), dp_set_bounds('visit' || t, 'kind', 0, 6),
       dp_set_bounds('patient' || t, 'age', 0, 100), dp_set_bounds('drug' || t, 'dose', 0, 50),
       dp_set_groups('patient' || t, 'city', '{{Oslo,Pisa,Rome}}') FROM unnest('{{"",_one}}'::text[]) t;
SELECT dp_set_public('wing' || t, 'patient'), dp_set_public('rate' || t, 'patient') FROM unnest('{{"",_one}}'::text[]) t;
SELECT dp_set_odometer('patient', 'none');
SELECT dp_grant(t || '_dp', 'analyst', tau => 0, epsilon_max => 1, candidates => '{{1}}', delta => 1e-6)
    FROM unnest('{{patient,visit,drug,patient_one,visit_one,drug_one}}'::text[]) t;
GRANT SELECT ON wing, wing_one, rate, rate_one TO analyst;
CREATE TABLE patient_two AS TABLE patient_one; -- other people: whom the risk is about must be in one place
CREATE TABLE visit_two AS TABLE visit_one;
ALTER TABLE patient_two ADD PRIMARY KEY (id);
ALTER TABLE visit_two ADD PRIMARY KEY (patient_id, id);
SELECT dp_protect('patient_two', 'patient_two_dp', unit => 'id');
SELECT dp_protect('visit_two', 'visit_two_dp', unit => 'patient_id -> patient_two (id)', max_rows => 5);
SELECT dp_set_bounds('visit_two', 'cost', 0, 500), dp_set_bounds('visit_two', 'hours', 0, 125), dp_set_bounds('visit_two', 'kind', 0, 6),
       dp_set_public('wing_one', 'patient_two'), dp_set_odometer('patient_two', 'none');
"""

CLASSES = (
    ("rows", "SELECT count(*), sum(cost), sum(hours), avg(cost) FROM {v}"),
    ("variances", "SELECT variance(cost), stddev(hours) FROM {v}"),
    ("filters", "SELECT sum(cost) FILTER (WHERE kind = 2), count(*) FROM {v} WHERE cost > 100"),
    ("keys that follow", "SELECT kind, count(*), sum(cost) FROM {v} GROUP BY kind ORDER BY 1"),
    ("keys that nobody declared", "SELECT ward, count(*), sum(hours) FROM {v} GROUP BY ward ORDER BY 1"),
    ("a grouping set", "SELECT kind, sum(cost) FROM {v} GROUP BY GROUPING SETS ((kind)) ORDER BY 1"),
    ("people", "SELECT kind, count(DISTINCT patient_id) FROM {v} GROUP BY kind ORDER BY 1"),
    ("values", "SELECT count(DISTINCT ward), count(*) FROM {v}"),
    ("values of one person", "SELECT count(DISTINCT hours) FROM {v} WHERE hours > 125"),
    ("values by group", "SELECT kind, count(DISTINCT cost), count(*) FROM {v} GROUP BY kind ORDER BY 1"),
    ("percentiles", "SELECT min(cost), max(cost), percentile_cont(0.5) WITHIN GROUP (ORDER BY cost) FROM {v}"),
    ("percentiles beside", "SELECT kind, percentile_cont(0.9) WITHIN GROUP (ORDER BY hours), count(*), sum(cost), "
                           "count(DISTINCT patient_id) FROM {v} GROUP BY kind ORDER BY 1"),
    ("two columns", "SELECT kind, corr(cost, hours), regr_slope(cost, hours) FROM {v} GROUP BY kind ORDER BY 1"),
    ("people with one row: percentiles", "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY age), max(age) FROM {p}"),
    ("people with one row: values", "SELECT count(DISTINCT age) FROM {p}"),
    ("people with one row: two columns", "SELECT city, covar_pop(age, age + 1) FROM {p} GROUP BY city ORDER BY 1"),
    ("join", "SELECT city, count(*), sum(cost) FROM {v} v JOIN {p} p ON p.id = v.patient_id WHERE age < 40 GROUP BY city ORDER BY 1"),
    ("outer join", "SELECT city, count(*) FROM {p} p LEFT JOIN {v} v ON p.id = v.patient_id GROUP BY city ORDER BY 1"),
    ("EXISTS", "SELECT count(*) FROM {p} p WHERE EXISTS (SELECT FROM {v} v WHERE v.patient_id = p.id AND v.cost > 400)"),
    ("NOT EXISTS", "SELECT count(*) FROM {p} p WHERE NOT EXISTS (SELECT FROM {v} v WHERE v.patient_id = p.id AND v.cost > 400)"),
    ("IN", "SELECT count(*) FROM {p} p WHERE p.id IN (SELECT patient_id FROM {v} v WHERE v.kind = 2)"),
    ("EXISTS as a key", "SELECT EXISTS (SELECT FROM {v} v WHERE v.patient_id = p.id AND v.cost > 400) AS e, count(*) FROM {p} p "
                        "GROUP BY 1 ORDER BY 1"),
    ("by person", "SELECT n, count(*) FROM (SELECT patient_id, count(*) AS n FROM {v} GROUP BY patient_id) t GROUP BY n ORDER BY 1"),
    ("by person, joined", "SELECT city, avg(s) FROM (SELECT p.id, p.city, sum(v.cost) AS s FROM {p} p JOIN {v} v ON p.id = v.patient_id "
                          "GROUP BY p.id, p.city) t GROUP BY city ORDER BY 1"),
    ("a path", "SELECT count(*), sum(dose) FROM {d}"),
    ("a path, joined", "SELECT sum(dose) FROM {d} d JOIN {v} v ON d.patient_id = v.patient_id AND d.visit_id = v.id WHERE kind = 2"),
    ("a path, EXISTS", "SELECT count(*) FROM {v} v WHERE EXISTS (SELECT FROM {d} d WHERE d.patient_id = v.patient_id "
                       "AND d.visit_id = v.id AND dose > 40)"),
    ("public rows", "SELECT floor, count(*), sum(cost) FROM {v} v JOIN {w} w ON w.name = v.ward GROUP BY floor ORDER BY 1"),
    ("public rows, outer join", "SELECT count(*) FROM {v} v LEFT JOIN {w} w ON w.name = v.ward WHERE w.name IS NULL"),
    ("public rows, EXISTS", "SELECT count(*) FROM {v} v WHERE EXISTS (SELECT FROM {w} w WHERE w.name = v.ward AND floor = 1)"),
    ("public rows, several of one key", "SELECT rate, count(*) FROM {v} v JOIN {r} r ON r.kind = v.kind GROUP BY rate ORDER BY 1"),
    ("three tables", "SELECT city, count(*) FROM {p} p JOIN {v} v ON p.id = v.patient_id JOIN {w} w ON w.name = v.ward WHERE floor = 2 "
                     "GROUP BY city ORDER BY 1"),
    ("dates", "SELECT date_trunc('month', day) AS month, count(*) FROM {v} WHERE day < date '2024-03-20' GROUP BY 1 ORDER BY 1"),
    ("percentiles of a join", "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY cost), max(cost) FROM {v} v JOIN {p} p "
                              "ON p.id = v.patient_id WHERE age > 40"),
    ("values of a join", "SELECT count(DISTINCT ward) FROM {v} v JOIN {p} p ON p.id = v.patient_id WHERE age > 40"),
    ("two columns of a join", "SELECT corr(cost, age) FROM {v} v JOIN {p} p ON p.id = v.patient_id"),
    ("a source", "SELECT city, count(*), sum(n) FROM {p} p JOIN (SELECT patient_id, count(*) AS n FROM {v} GROUP BY patient_id) t "
                 "ON t.patient_id = p.id GROUP BY city ORDER BY 1"),
    ("a source, outer join", "SELECT coalesce(t.n, 0) AS n, count(*) FROM {p} p LEFT JOIN (SELECT patient_id, count(*) AS n FROM {v} "
                             "WHERE cost > 400 GROUP BY patient_id) t ON t.patient_id = p.id GROUP BY 1 ORDER BY 1"),
    ("two sources", "SELECT count(*) FROM (SELECT patient_id, max(cost) AS m FROM {v} GROUP BY patient_id) a JOIN (SELECT patient_id, "
                    "count(*) AS n FROM {v} WHERE kind = 2 GROUP BY patient_id) b USING (patient_id) WHERE m > 400 AND n > 0"),
    ("a source of several rows", "SELECT kind, count(*) FROM (SELECT patient_id, kind, count(*) AS n FROM {v} GROUP BY patient_id, kind) t "
                                 "WHERE n > 1 GROUP BY kind ORDER BY 1"),
    ("a source as a condition", "SELECT count(*) FROM {p} p WHERE p.id IN (SELECT patient_id FROM {v} GROUP BY patient_id "
                                "HAVING count(*) > 3)"),
    ("by person: extremes and values", "SELECT m, count(*), avg(k) FROM (SELECT patient_id, min(kind) AS m, count(DISTINCT kind) AS k "
                                       "FROM {v} GROUP BY patient_id) t GROUP BY m ORDER BY 1"),
    ("percentiles by person", "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY s), min(s) FROM (SELECT patient_id, sum(cost) AS s FROM {v} "
                              "GROUP BY patient_id) t"),
    ("rows of one's own", "SELECT name, count(*) FROM {v} v JOIN (VALUES (1, 'a'), (2, 'b')) t (kind, name) ON t.kind = v.kind "
                          "GROUP BY name ORDER BY 1"),
    ("one person", "SELECT sum(cost) FROM {v} WHERE patient_id = 17"),
)
# Which groups and values of person 17 are kept depends on the domain.
RISKS = ("SELECT sum(cost) FROM {v}", "SELECT kind, sum(cost) FROM {v} WHERE patient_id <> 17 GROUP BY kind",
         "SELECT count(*) FROM {v} v JOIN {p} p ON p.id = v.patient_id", "SELECT count(DISTINCT ward) FROM {v} WHERE patient_id <> 17",
         "SELECT max(cost) FROM {v}", "SELECT corr(cost, hours) FROM {v}",
         "SELECT floor, sum(cost) FROM {v} v JOIN {w} w ON w.name = v.ward GROUP BY floor",
         "SELECT n, count(*) FROM (SELECT patient_id, count(*) AS n FROM {v} GROUP BY patient_id) t GROUP BY n",
         "SELECT count(*) FROM {p} p WHERE EXISTS (SELECT FROM {v} v WHERE v.patient_id = p.id AND v.cost > 400)")
# What else the controller calls, and what must be said of both: None: the same to nine digits.
CALLS = (
    ("dp_risk_records", "SELECT individuals, pis, rdr FROM dp_risk_records('SELECT sum(cost) FROM {v}', 1) ORDER BY 2, 3, 1 LIMIT 50"),
    ("dp_risk_summary", "SELECT * FROM dp_risk_summary('SELECT sum(cost) FROM {v}')"),
    ("dp_find_epsilon", "CALL dp_find_epsilon('SELECT sum(cost) FROM {v}', 0.5, candidates => '{{2,1,0.5}}')"),
    ("dp_find_epsilon by group", "CALL dp_find_epsilon('SELECT kind, count(*) FROM {v} GROUP BY kind', 0.5, candidates => '{{2,1,0.5}}')"),
)

DISTRIBUTED = {"p": "patient_dp", "v": "visit_dp", "d": "drug_dp", "w": "wing", "r": "rate"}
ON_TWO = {"p": "patient_two_dp", "v": "visit_two_dp", "w": "wing_one"}
ON_ONE = {"p": "patient_one_dp", "v": "visit_one_dp", "d": "drug_one_dp", "w": "wing_one", "r": "rate_one"}

# What is laid out otherwise: statements of the controller, a question, and what is said of it; None: it is answered as from a copy.
OTHERWISE = """
CREATE EXTENSION IF NOT EXISTS citus_columnar;
"""
LAYOUTS = (
    ("columnar", "CREATE TABLE {t} (id bigint, patient_id bigint, cost integer) USING columnar; "
                 "SELECT create_distributed_table('{t}', 'patient_id', colocate_with => 'patient')", None),
    ("partitioned", "CREATE TABLE {t} (id bigint, patient_id bigint, cost integer) PARTITION BY RANGE (id); "
                    "CREATE TABLE {t}_a PARTITION OF {t} FOR VALUES FROM (0) TO (100); "
                    "CREATE TABLE {t}_b PARTITION OF {t} FOR VALUES FROM (100) TO (1000); "
                    "SELECT create_distributed_table('{t}', 'patient_id', colocate_with => 'patient')", None),
    ("replicated", "SET citus.shard_replication_factor TO 2; CREATE TABLE {t} (id bigint, patient_id bigint, cost integer); "
                   "SELECT create_distributed_table('{t}', 'patient_id', colocate_with => 'none')", None),
    ("by another column", "CREATE TABLE {t} (id bigint, patient_id bigint, cost integer); "
                          "SELECT create_distributed_table('{t}', 'id', colocate_with => 'none')", "summary table"),
    ("by appending", "CREATE TABLE {t} (id bigint, patient_id bigint, cost integer); "
                     "SELECT create_distributed_table('{t}', 'patient_id', 'append')", "summary table"),
    ("by range", "CREATE TABLE {t} (id bigint, patient_id bigint, cost integer); "
                 "SELECT create_distributed_table('{t}', 'patient_id', 'range')", "summary table"),
    ("by no column", "CREATE TABLE {t} (id bigint, patient_id bigint, cost integer); "
                     "SELECT create_distributed_table('{t}', NULL)", "summary table"),
)


class Seed:
    """The file from which the coordinator's processes draw."""

    def __init__(self, top):
        self.path, self.renewed = top / "seed", 0
        self.path.write_bytes(bytes(16))

    def environment(self):
        return dict(os.environ, LD_PRELOAD=str(SHIM), DP_RDR_SEED=str(self.path)) if SHIM.exists() else None

    def renew(self):
        self.renewed += 1
        with open(self.path, "r+b") as file:
            file.write(struct.pack("=QQ", self.renewed, 4711))


def ask(coordinator, seed, question, names, role="analyst"):
    seed.renew()
    return coordinator.error("SET client_min_messages TO error; " + question.format(**names), role)


def is_error(said):
    return "ERROR" in said or "FATAL" in said or said == ""


def charges(coordinator):
    return int(coordinator.psql("SELECT releases FROM dp_odometer('visit') WHERE account = 'public'", "controller"))


def statements_on_shards(nodes, offsets):
    found = []
    for node, offset in zip(nodes, offsets):
        found += re.findall(r"LOG:  (?:statement|execute [^:]*): (.*(?:visit|patient|drug)_\d+.*(?:\n\t.*)*)", node.logged(offset))
    return found


def travelling(statements, name):
    """Complaints about what workers were asked."""
    wanted = 1 if name == "one person" else SHARDS
    complaints = [] if len(statements) in (wanted, 2 * wanted) else [f"{len(statements)} statements on {wanted} shards"]
    complaints += [s for s in statements if not re.match(r"SELECT .*\bsum\(.* FROM \(SELECT dp_rdr\.parts\(.*GROUP BY \(\S+\)\.part$",
                                                         s.strip(), re.S)]
    return complaints + [s for s in statements if re.search(r"intermediate_result|COPY", s)]


def check_classes(tap, nodes, seed):
    for name, question in CLASSES:
        offsets = [node.log.stat().st_size for node in nodes]
        distributed = ask(nodes[0], seed, question, DISTRIBUTED)
        statements = statements_on_shards(nodes, offsets)
        one = ask(nodes[0], seed, question, ON_ONE)
        tap.report(f"people: {name}", [] if distributed == one and not is_error(one) else [distributed[:300], one[:300]])
        tap.report(f"people: {name}: inside the shards", travelling(statements, name)[:2])


def check_risks(tap, coordinator, seed):
    for question in RISKS:
        asked = [coordinator.error(f"SET client_min_messages TO error; SELECT * FROM dp_risk($${question.format(**names)}$$)", "controller")
                 for names in (DISTRIBUTED, ON_TWO)]
        tap.report(f"people: dp_risk of {question.format(**DISTRIBUTED)}",
                   [] if to_places(asked[0]) == to_places(asked[1]) and not is_error(asked[0]) else [a[:300] for a in asked])
    for name, call in CALLS:
        asked = [ask(coordinator, seed, call, names, "controller") for names in (DISTRIBUTED, ON_TWO)]
        tap.report(f"people: {name}", [] if to_places(asked[0]) == to_places(asked[1]) and not is_error(asked[0]) else [a[:300] for a in asked])
    said = coordinator.error("SELECT * FROM dp_risk('SELECT sum(cost) FROM visit_one_dp')", "controller")
    tap.report("people: dp_risk where half of the people are elsewhere", [] if "kept on other nodes, and the other is not" in said else [said])
    lost = coordinator.error("SET client_min_messages TO error; SELECT people, epsilon > 0 FROM dp_loss('visit')", "controller")
    tap.report("people: dp_loss", [] if len(lost.splitlines()) == 5 and not is_error(lost) else [lost])
    said = coordinator.error("SET client_min_messages TO error; SELECT length(dp_report('visit', 'SELECT sum(cost) FROM visit_dp')) > 10000",
                             "controller")
    tap.report("people: dp_report", [] if said == "t" else [said[:300]])
    chosen = [coordinator.error(f"CALL dp_choose_contribution('{table}', 1, 10, tau => 0.9)", "controller") for table in ("visit", "visit_one")]
    coordinator.psql("SELECT dp_set_contribution(t, max_rows => 5) FROM unnest('{visit,visit_one}'::regclass[]) t", "controller")
    tap.report("people: dp_choose_contribution", [] if chosen[0].split("|")[0] == chosen[1].split("|")[0] else chosen)


def to_places(said):
    """Rows come in another order, so that the last digits of what is added up as float8 differ."""
    return [[f"{float(x):.9g}" if re.fullmatch(r"[\d.e+-]*\d", x) else x for x in line.split("|")] for line in said.splitlines()]


def numbers(said):
    return [float(x) for line in said.splitlines() for x in line.split("|")[-1:]]


# A question whose last column is what moves, and by how much all of it may: 5 rows of a person, of 500 each.
NEIGHBOURS = (("SELECT sum(cost) FROM {v}", 2500), ("SELECT kind, count(*) FROM {v} GROUP BY kind ORDER BY 1", 5),
              ("SELECT count(*) FROM {p} p WHERE EXISTS (SELECT FROM {v} v WHERE v.patient_id = p.id)", 1),
              ("SELECT city, sum(cost) FROM {v} v JOIN {p} p ON p.id = v.patient_id GROUP BY city ORDER BY 1", 2500),
              ("SELECT n, count(*) FROM (SELECT patient_id, least(count(*), 5) AS n FROM {v} GROUP BY patient_id) t GROUP BY n ORDER BY 1", 1),
              ("SELECT count(DISTINCT ward) FROM {v}", 5),
              ("SELECT rate, count(*) FROM {v} v JOIN {r} r ON r.kind = v.kind GROUP BY rate ORDER BY 1", 15))


def check_neighbours(tap, coordinator, seed):
    """Person 17, who has 60 rows more than others, is there and is not: with the same noise."""
    before = [ask(coordinator, seed, question, DISTRIBUTED) for question, _ in NEIGHBOURS]
    coordinator.psql("".join(f"CREATE TABLE away_{t} AS SELECT * FROM {t} WHERE {c} = 17; DELETE FROM {t} WHERE {c} = 17; "
                             for t, c in (("patient", "id"), ("visit", "patient_id"), ("drug", "patient_id"))), "controller")
    for (question, most), there in zip(NEIGHBOURS, before):
        gone = ask(coordinator, seed, question, DISTRIBUTED)
        moved = [] if is_error(gone) else [abs(a - b) for a, b in zip(numbers(there), numbers(gone))]
        slack = 1.0 * len(moved)  # of printing
        tap.report(f"people: without one of them: {question.format(**DISTRIBUTED)}",
                   [] if moved and len(numbers(there)) == len(moved) and sum(moved) <= most + slack else [there, gone])
    coordinator.psql("".join(f"INSERT INTO {t} TABLE away_{t}; DROP TABLE away_{t}; " for t in ("patient", "visit", "drug")), "controller")


def check_layouts(tap, coordinator, seed):
    coordinator.psql(OTHERWISE)
    for name, script, message in LAYOUTS:
        table = "laid_" + name.split()[-1] if message is None else "laid_" + name.replace(" ", "_")
        coordinator.psql("SET client_min_messages TO error; " + script.format(t=table), "controller")
        coordinator.error(f"INSERT INTO {table} SELECT g, 1 + g % 40, g % 50 FROM generate_series(1, 400) g", "controller")
        said = coordinator.error(f"SET client_min_messages TO error; SELECT dp_protect('{table}', '{table}_dp', unit => "
                                 f"'patient_id -> patient (id)', max_rows => 5); SELECT dp_set_bounds('{table}', 'cost', 0, 50)", "controller")
        if message is not None:
            tap.report(f"layout: {name} is refused", [] if message in said else [said])
            coordinator.error(f"DROP TABLE {table}", "controller")  # the tables of later checks would be co-located with it
            continue
        coordinator.psql(f"SELECT dp_grant('{table}_dp', 'analyst', tau => 0, epsilon_max => 1, candidates => '{{1}}', delta => 1e-6)",
                         "controller")
        coordinator.psql(f"CREATE TABLE {table}_one AS TABLE {table}; SET client_min_messages TO error; "
                         f"SELECT dp_protect('{table}_one', '{table}_one_dp', unit => 'patient_id -> patient (id)', max_rows => 5); "
                         f"SELECT dp_set_bounds('{table}_one', 'cost', 0, 50), "
                         f"dp_grant('{table}_one_dp', 'analyst', tau => 0, epsilon_max => 1, candidates => '{{1}}', delta => 1e-6)", "controller")
        answers = [ask(coordinator, seed, "SELECT sum(cost) FROM {t}", {"t": t}) for t in (table + "_dp", table + "_one_dp")]
        tap.report(f"layout: {name} is right", [] if answers[0] == answers[1] and not is_error(answers[0]) else answers)
    check_unit_types(tap, coordinator, seed)
    check_distributed_later(tap, coordinator, seed)
    check_refused(tap, coordinator, seed)


# A type of unit, two of its spellings of one person, and whether its values tell Citus what they tell PostgreSQL.
UNIT_TYPES = (("bigint", "g"), ("uuid", "md5(g::text)::uuid"), ("text", "'p' || g"), ("date", "date '2000-01-01' + g"),
              ("numeric", "(g || repeat('0', 0))::numeric + CASE WHEN h % 2 = 0 THEN 0.0 ELSE 0.00 END"))
REFUSED_TYPES = (("double precision", "g"), ("char(5)", "'p' || g"))


def check_unit_types(tap, coordinator, seed):
    for kind, value in UNIT_TYPES + REFUSED_TYPES:
        table = "of_" + kind.split()[0].split("(")[0]
        rows = f"SELECT {value}, h % 50, h % 3 FROM generate_series(1, 60) g, generate_series(1, 9) h WHERE h <= g % 10"
        before = {}
        for name in (table, table + "_one"):
            distribute = f"SELECT create_distributed_table('{name}', 'owner', shard_count => 4, colocate_with => 'none')"
            said = coordinator.error(
                f"SET client_min_messages TO error; CREATE TABLE {name} (owner {kind}, amount integer, kind integer); "
                f"{'' if name.endswith('_one') else distribute + ';'} INSERT INTO {name} {rows}; "
                f"SELECT dp_protect('{name}', '{name}_dp', unit => 'owner', max_rows => 4); SELECT dp_set_bounds('{name}', 'amount', 0, 50), "
                f"dp_set_bounds('{name}', 'kind', 0, 2), dp_set_odometer('{name}', 'none'), "
                f"dp_grant('{name}_dp', 'analyst', tau => 0, epsilon_max => 1, candidates => '{{1}}', delta => 1e-6)", "controller")
            before[name] = said
        if (kind, value) in REFUSED_TYPES:
            tap.report(f"unit types: {kind} is refused", [] if "no unit may have" in before[table] else [before[table]])
            continue
        for question in ("SELECT sum(amount), count(DISTINCT owner) FROM {t}", "SELECT kind, count(*) FROM {t} GROUP BY kind ORDER BY 1"):
            answers = [ask(coordinator, seed, question, {"t": name + "_dp"}) for name in (table, table + "_one")]
            tap.report(f"unit types: {kind}: {question}", [] if answers[0] == answers[1] and not is_error(answers[0]) else answers)
        below = "SELECT n, count(*) FROM (SELECT owner, count(*) AS n FROM {t} GROUP BY owner) p GROUP BY n ORDER BY 1"
        answers = [ask(coordinator, seed, below, {"t": name + "_dp"}) for name in (table, table + "_one")]
        well = "inside the shards" in answers[0] and "Nothing was charged" in answers[0] if kind == "numeric" else answers[0] == answers[1]
        tap.report(f"unit types: {kind}: by person", [] if well and not is_error(answers[1]) else answers)


def check_distributed_later(tap, coordinator, seed):
    """A table that was protected here, and is distributed by another column than the person's; then its remedy."""
    coordinator.psql("SET client_min_messages TO error; CREATE TABLE later (id bigint, patient bigint, cost integer); "
                     "INSERT INTO later SELECT g, g % 40, g % 50 FROM generate_series(1, 400) g; "
                     "SELECT dp_protect('later', 'later_dp', unit => 'patient', max_rows => 5), dp_set_bounds('later', 'cost', 0, 50); "
                     "SELECT dp_grant('later_dp', 'analyst', tau => 0, epsilon_max => 1, candidates => '{1}'); "
                     "SELECT create_distributed_table('later', 'id', shard_count => 4, colocate_with => 'none')", "controller")
    said = ask(coordinator, seed, "SELECT sum(cost) FROM later_dp", {})
    spent = coordinator.psql("SELECT coalesce(sum(releases), 0) FROM dp_odometer('later')", "controller")
    tap.report("layout: distributed later by another column", [] if "summary table" in said and spent == "0" else [said, spent])
    said = coordinator.error("SET client_min_messages TO error; SELECT alter_distributed_table('later', distribution_column => 'patient'); "
                             "SELECT dp_refresh('later_dp')", "controller")
    answer = ask(coordinator, seed, "SELECT sum(cost) FROM later_dp", {})
    tap.report("layout: its remedy", [] if not is_error(answer) else [said, answer])


def check_refused(tap, coordinator, seed):
    before = charges(coordinator)
    said = ask(coordinator, seed, "SELECT sum(cost) FROM visit_dp v JOIN wing_one w ON w.name = v.ward", {})
    tap.report("layout: a public table that nodes lack", [] if "create_reference_table" in said else [said])
    said = ask(coordinator, seed, "SELECT count(*) FROM visit_dp v JOIN patient_one_dp p ON p.id = v.patient_id", {})
    tap.report("layout: a local table beside", [] if "summary table" in said else [said])
    said = ask(coordinator, seed, "SELECT count(*) FROM patient_dp p JOIN (SELECT patient_id, count(*) AS n FROM laid_replicated_dp "
               "GROUP BY patient_id) t ON t.patient_id = p.id", {})
    tap.report("layout: a sub-SELECT over what is elsewhere", [] if "a join with public.laid_replicated_dp" in said and "summary table" in said else [said])
    coordinator.psql("SELECT update_distributed_table_colocation('drug', colocate_with => 'none')")
    said = ask(coordinator, seed, "SELECT count(*) FROM drug_dp", {})
    tap.report("layout: what is co-located no more", [] if "a unit with several rows of public.drug" in said else [said])
    coordinator.psql("SELECT update_distributed_table_colocation('drug', colocate_with => 'visit')")
    tap.report("layout: nothing was charged", [] if charges(coordinator) == before else [str(charges(coordinator) - before)])
    said = ask(coordinator, seed, "SELECT count(*) FROM drug_dp", {})
    tap.report("layout: what is co-located again", [] if not is_error(said) else [said])


def check_moved(tap, coordinator, seed):
    """With the rows of a shard on another node answers are the same."""
    before = ask(coordinator, seed, "SELECT sum(cost) FROM {v}", DISTRIBUTED)
    moved = coordinator.psql(
        "SELECT citus_move_shard_placement(s.shardid, 'localhost'::text, s.nodeport, n.nodename, n.nodeport, 'block_writes') FROM "
        "(SELECT min(shardid) AS shardid FROM pg_dist_shard WHERE logicalrelid = 'visit'::regclass) m "
        "JOIN pg_dist_shard_placement s USING (shardid), LATERAL (SELECT nodename, nodeport FROM pg_dist_node "
        "WHERE shouldhaveshards AND nodeport <> s.nodeport ORDER BY nodeport LIMIT 1) n".replace("'localhost'::text", "s.nodename"))
    after = ask(coordinator, seed, "SELECT sum(cost) FROM {v}", DISTRIBUTED)
    tap.report("people: a shard is moved", [] if before == after and not is_error(after) else [moved, before, after])


def asked_until(stop, coordinator, said):
    while not stop.is_set():
        said.append(coordinator.error("SELECT count(*) FROM visit_dp", "analyst"))


def check_load(tap, coordinator, worker, suspended):
    """Three ask one behind the other while a node is emptied, taken away, added again and given shards."""
    coordinator.psql("DROP TABLE laid_replicated CASCADE", "controller")  # no node with rows that are there twice can be emptied
    before, rows = charges(coordinator), int(coordinator.psql("SELECT count(*) FROM visit", "controller"))
    stop, said = threading.Event(), []
    askers = [threading.Thread(target=asked_until, args=(stop, coordinator, said)) for _ in range(3)]
    for asker in askers:
        asker.start()
    complaints, steps = [], []
    try:
        for step in ("SELECT citus_drain_node('127.0.0.1', {port}, 'block_writes')", "SELECT citus_remove_node('127.0.0.1', {port})",
                     "SELECT citus_add_node('127.0.0.1', {port})", "SELECT rebalance_table_shards('visit', shard_transfer_mode => 'block_writes')"):
            first = len(said)
            complaints += [e for e in [coordinator.error("SET client_min_messages TO error; " + step.format(port=worker.port), "postgres")]
                           if "ERROR" in e]
            steps.append(len(said) - first)
    finally:
        stop.set()
        for asker in askers:
            asker.join()
    answers = [s for s in said if re.fullmatch(r"-?\d+", s)]
    tap.report("load: a node goes and comes, and shards move", complaints)
    tap.report(f"load: {len(answers)} answers meanwhile ({steps})",
               [s for s in said if s not in answers][:3] or [a for a in answers if abs(int(a) - rows) > 500][:3] or ([] if answers else ["none"]))
    tap.report("load: answers alone are charged", [] if charges(coordinator) == before + len(answers) else
               [f"{charges(coordinator) - before} charges, {len(answers)} answers"])
    tap.report("load: nobody is suspended", suspended(coordinator))


def check_ends(tap, coordinator, worker, held_up, within, waits, frozen, suspended):
    """A worker that dies, hangs or lacks the extension while people are asked about."""
    question = "SELECT sum(cost) FROM visit_dp"
    before = charges(coordinator)
    time.sleep(1.5)  # a look at the nodes serves a second
    with frozen(worker):
        said = coordinator.error(question, "analyst")
    tap.report("people: a node that hangs", [] if "Nothing was charged" in said else [said])
    worker.psql("SET citus.enable_ddl_propagation TO off; ALTER FUNCTION dp_rdr.is_other_node(text) RENAME TO no_other_node")
    time.sleep(1.5)
    said = coordinator.error(question, "analyst")
    worker.psql("SET citus.enable_ddl_propagation TO off; ALTER FUNCTION dp_rdr.no_other_node(text) RENAME TO is_other_node")
    tap.report("people: a node that lacks functions", [] if "another dp_rdr" in said else [said])
    tap.report("people: neither costs anything", [] if charges(coordinator) == before else [str(charges(coordinator) - before)])
    with held_up(coordinator, worker, "visit"):
        client = coordinator.started(question, "analyst")
        reads = within(10, lambda: waits(worker))
        worker.control("stop", "immediate")
        said = client.communicate()[0] if reads else "nobody reads"
    tap.report("people: a node that dies in mid-read", [] if "the query failed" in said else [said])
    time.sleep(1.5)  # of another keeper
    said = coordinator.error(question, "analyst")
    tap.report("people: a node that is away", [] if "Nothing was charged" in said else [said])
    worker.control("start")
    tap.report("people: what was lost in mid-read alone is charged", [] if charges(coordinator) == before + 1 else [str(charges(coordinator))])
    tap.report("people: nobody is suspended", suspended(coordinator))
    said = coordinator.error(question, "analyst")
    tap.report("people: answers go on", [] if not is_error(said) else [said])


def check_estimate(tap):
    """The table of the page is what the script prints."""
    top = pathlib.Path(__file__).resolve().parents[2]
    printed = subprocess.run([sys.executable, top / "test" / "bench" / "estimate.py"], text=True, stdout=subprocess.PIPE, check=True).stdout
    tap.report("page: the estimate is that of the script", [] if printed in (top / "doc" / "operations.md").read_text(encoding="utf8") else [printed])


PAGE = pathlib.Path(__file__).resolve().parents[2] / "doc" / "three-servers.md"


def check_page(tap, nodes):
    """The page by which one server becomes four: its statements, in a database of their own."""
    for node in nodes:
        node.psql("CREATE DATABASE hospital")
    blocks = re.findall(r"^```sql\n(.*?)^```$|^<!-- sql\n(.*?)^-->$", PAGE.read_text(encoding="utf8"), re.M | re.S)
    question = "SET client_min_messages TO error; SELECT floor, sum(cost) FROM visit_dp JOIN ward ON name = ward GROUP BY floor ORDER BY 1"
    odometer = "SELECT epsilon, epsilon_total, releases FROM dp_odometer('visit') WHERE account = 'public'"
    for shown, hidden in blocks:
        block = shown or hidden
        for i, node in enumerate(nodes):
            block = block.replace(f"'10.0.0.1{i}', 5432", f"'127.0.0.1', {node.port}")
        # No standby is there to take over: the node stays what it is.
        block = block.replace("'10.0.0.23', 5432", f"'127.0.0.1', {nodes[3].port}")
        block = block.replace("nodename = '10.0.0.13' AND nodeport = 5432", f"nodeport = {nodes[3].port}")
        said = []
        for node in nodes[1:] if block.startswith("-- on each worker") else nodes[:1]:
            try:
                node.psql("SET client_min_messages TO error; " + block, database="hospital")
            except RuntimeError as error:
                said.append(str(error))
        tap.report(f"page: {' '.join(block.split())[:70]}", said)
        if hidden:
            nodes[0].psql("ALTER DATABASE hospital SET session_preload_libraries = 'dp_rdr'", database="hospital")
            first = nodes[0].psql(question, "analyst", "hospital")
    last = nodes[0].psql(question, "analyst", "hospital")
    near = all(abs(a - b) < 100000 for a, b in zip(numbers(first), numbers(last)))
    tap.report("page: answers go on", [] if len(first.splitlines()) == len(last.splitlines()) == 2 and near else [first, last])
    told = nodes[0].psql(odometer, "controller", "hospital")
    tap.report("page: totals and charges stay", [] if told == "2|100|2" else [told])


FOR_TIME = (
    ("a sum of people", "SELECT count(*), sum(c) FROM (SELECT patient_id, least(sum(cost), 2500) AS c FROM visit GROUP BY patient_id) p",
     "SELECT sum(cost) FROM visit_dp"),
    ("groups of people", "SELECT kind, sum(c) FROM (SELECT patient_id, kind, least(sum(cost), 2500) AS c FROM visit "
                         "GROUP BY patient_id, kind) p GROUP BY kind", "SELECT kind, sum(cost) FROM visit_dp GROUP BY kind"),
    ("a join of people", "SELECT count(*), sum(c) FROM (SELECT patient_id, least(sum(cost), 2500) AS c FROM visit v JOIN patient p "
                         "ON p.id = v.patient_id WHERE age < 40 GROUP BY patient_id) p",
     "SELECT sum(cost) FROM visit_dp v JOIN patient_dp p ON p.id = v.patient_id WHERE age < 40"),
    ("EXISTS", "SELECT count(*) FROM patient p WHERE EXISTS (SELECT FROM visit v WHERE v.patient_id = p.id AND cost > 400)",
     "SELECT count(*) FROM patient_dp p WHERE EXISTS (SELECT FROM visit_dp v WHERE v.patient_id = p.id AND cost > 400)"),
)
