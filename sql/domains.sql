-- Privacy domains: tables with data of the same people, how a row of each finds the person that it belongs to, and the one account
-- that they share.

LOAD 'dp_rdr';
CREATE SCHEMA dom AUTHORIZATION regress_controller;
GRANT USAGE ON SCHEMA dom TO regress_analyst;
GRANT USAGE, CREATE ON SCHEMA dom TO regress_second;
SET search_path = dom, public;
SET ROLE regress_controller;
\set VERBOSITY default

-- ---------------------------------------------------------------------------------------------------------------------
-- A unit table, visits and what belongs to visits
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE patient (patient_id integer PRIMARY KEY, sex text NOT NULL);
CREATE TABLE visit (visit_id integer PRIMARY KEY, patient_id integer NOT NULL REFERENCES patient, cost numeric);
CREATE TABLE drug (visit_id integer NOT NULL REFERENCES visit, name text, dose integer);
CREATE TABLE side_effect (drug_visit integer, drug_name text, grade integer);
INSERT INTO patient SELECT i, CASE i % 2 WHEN 0 THEN 'f' ELSE 'm' END FROM generate_series(1, 50) i;
INSERT INTO visit SELECT i, 1 + i % 40, i FROM generate_series(1, 200) i;
INSERT INTO drug SELECT i, 'd' || j, j FROM generate_series(1, 100) i, generate_series(1, 2) j;

-- Without a unit: what foreign keys show.
BEGIN;
SELECT dp_protect('patient', 'patient_dp');
SELECT dp_protect('visit', 'visit_dp');
SELECT dp_protect('drug', 'drug_dp');
ROLLBACK;
-- Not before the table that it refers to; unless it is said.
SELECT attempt($$SELECT dp_protect('visit', 'visit_dp', unit => 'patient_id', max_rows => 20)$$);
BEGIN;
SELECT dp_protect('visit', 'visit_dp', unit => 'patient_id -> dom.visit', max_rows => 20);
SELECT * FROM dp_domain('visit');
ROLLBACK;
BEGIN;
SELECT dp_protect('patient', 'patient_dp');
SELECT attempt($$SELECT dp_protect('visit', 'visit_dp', unit => 'patient_id', max_rows => 20)$$);
ROLLBACK;

SELECT dp_protect('patient', 'patient_dp', unit => 'patient_id');
SELECT attempt($$SELECT dp_protect('visit', 'visit_dp', unit => 'patient_id')$$);
SELECT dp_protect('visit', 'visit_dp', unit => 'patient_id', max_rows => 20);
SELECT dp_protect('drug', 'drug_dp', unit => 'visit_id', max_rows => 100, max_groups => 5);
SELECT * FROM dp_domain('patient');
SELECT count(DISTINCT domain) AS domains FROM (SELECT relation FROM dp_domain('drug_dp')) d,
    LATERAL (SELECT relation) r, LATERAL (SELECT bound FROM dp_odometer(d.relation) LIMIT 1) o (domain);
RESET ROLE;
SELECT relation, unit, parent, parent_key, max_rows, max_groups, unit_table, unit_types
FROM dp_rdr.protected_table t JOIN dp_rdr.privacy_domain d ON d.id = t.domain WHERE relation::text ~ '^(patient|visit|drug)$' ORDER BY relation::text;
SET ROLE regress_controller;

-- A further view has the same unit; another one, or other limits, are no setting of a view.
SELECT dp_protect('visit', 'visit2_dp', columns => '{cost}');
SELECT dp_protect('visit', 'visit3_dp', unit => 'patient_id -> patient', max_rows => 20);
SELECT attempt($$SELECT dp_protect('visit', 'visit4_dp', unit => 'visit_id -> visit', max_rows => 20)$$);
SELECT attempt($$SELECT dp_protect('visit', 'visit4_dp', max_rows => 21)$$);
SELECT attempt($$SELECT dp_protect('visit', 'visit4_dp', max_groups => 2)$$);
SELECT attempt($$SELECT dp_protect('adult', 'adult4_dp', unit => 'age -> adult', max_rows => 2)$$);
SELECT dp_unprotect('visit2_dp'), dp_unprotect('visit3_dp');

-- ---------------------------------------------------------------------------------------------------------------------
-- What is refused
-- ---------------------------------------------------------------------------------------------------------------------

CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
CREATE DOMAIN badge AS integer;
CREATE TABLE other_patient (patient_id integer PRIMARY KEY);
CREATE TABLE odd (a integer, b integer REFERENCES visit, c integer REFERENCES other_patient, "Q, -> (" integer, big bigint, f float8, j jsonb,
    t text COLLATE blind, u badge, v varchar(8), n numeric, d date, i uuid, e integer,
    FOREIGN KEY (c) REFERENCES patient);
CREATE FUNCTION refused(unit text, more text DEFAULT ', max_rows => 3') RETURNS text LANGUAGE sql
    RETURN attempt(format('SELECT dp_protect(''odd'', ''odd_dp'', unit => %L%s)', unit, more));
SELECT unit, refused(unit) FROM unnest('{"", " ", "a,", "a ->", "a -> visit (", "a -> visit ()", "a -> visit (visit_id", "a -> visit (visit_id) x", "a b", "\"a", "1a", "a -> visit visit",
    "a, a", "zz", "a -> nosuch", "a -> visit (zz)", "a -> visit (visit_id, patient_id)", "a, b, e, big, n", "f", "j", "t", "u", "a -> odd (a)"}'::text[]) WITH ORDINALITY x (unit, n) ORDER BY n;
-- Not a key; another type; not protected; not clear; several.
SELECT refused('a -> visit (cost)'), refused('big -> visit'), refused('big -> patient'), refused('a -> other_patient');
SELECT refused('a -> drug'), refused('a -> adult');
BEGIN;
SELECT refused('c') AS one_of_two;
ROLLBACK;
BEGIN;
SELECT dp_protect('other_patient', 'other_dp', unit => 'patient_id');
SELECT refused('c') AS which;
SELECT dp_protect('odd', 'odd_dp', unit => 'c -> patient', max_rows => 3);
ROLLBACK;
-- Limits.
SELECT more, refused('a -> odd', more) FROM unnest('{"", ", max_rows => 0", ", max_rows => -1", ", max_rows => 1048577", ", max_rows => 4, max_groups => 0", ", max_rows => 4, max_groups => 5", ", max_groups => 2"}'::text[]) WITH ORDINALITY x (more, n) ORDER BY n;
SELECT attempt($$SELECT dp_protect('odd', 'odd_dp', max_rows => 3)$$), attempt($$SELECT dp_protect('odd', 'odd_dp', max_groups => 3)$$);
-- Each type; quoted names; several columns in another order.
BEGIN;
SELECT dp_protect('odd', 'odd_dp', unit => $$ "Q, -> (" ,  big,v , n -> dom . "odd" $$, max_rows => 1048576, max_groups => 1048576);
SELECT unit, path FROM dp_domain('odd');
CREATE TABLE odd_child (v varchar(8), n numeric, big bigint, q integer);
SELECT dp_protect('odd_child', 'odd_child_dp', unit => 'v, n, big, q -> odd (v, n, big, "Q, -> (")', max_rows => 2);
SELECT unit, path FROM dp_domain('odd_child') WHERE relation = 'odd_child'::regclass;
CREATE TABLE odd_child2 (v varchar(8), n numeric, big bigint, q bigint);
SELECT attempt($$SELECT dp_protect('odd_child2', 'odd_child2_dp', unit => 'v, n, big, q -> odd (v, n, big, "Q, -> (")', max_rows => 2)$$);
ROLLBACK;
BEGIN;
SELECT dp_protect('odd', 'odd_dp', unit => 'd, i -> odd', max_rows => 1);
ROLLBACK;
-- Another's table.
RESET ROLE;
CREATE TABLE foreign_visit (patient_id integer);
ALTER TABLE foreign_visit OWNER TO regress_second;
GRANT SELECT ON patient TO regress_second;
SET ROLE regress_second;
SELECT attempt($$SELECT dp_protect('dom.foreign_visit', 'dom.foreign_visit_dp', unit => 'patient_id -> dom.patient', max_rows => 3)$$);
SELECT attempt($$SELECT * FROM dp_domain('dom.patient')$$), attempt($$SELECT dp_set_unit('dom.visit', NULL)$$),
       attempt($$SELECT dp_set_contribution('dom.visit', 5)$$);
RESET ROLE;
REVOKE SELECT ON patient FROM regress_second;
SET ROLE regress_controller;
SELECT attempt($$SELECT * FROM dp_domain('odd')$$), attempt($$SELECT dp_set_unit('odd', 'a')$$), attempt($$SELECT dp_set_contribution('odd', 5)$$),
       attempt($$SELECT dp_set_unit(NULL, 'a')$$);

-- A way of eight tables, and one more.
CREATE TABLE way_0 (k integer PRIMARY KEY, up integer);
SELECT dp_protect('way_0', 'way_0_dp', unit => 'k');
CREATE FUNCTION longer(n integer) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TABLE way_%s (k integer PRIMARY KEY, up integer)', n);
    RETURN attempt(format('SELECT dp_protect(''way_%s'', ''way_%s_dp'', unit => ''up -> way_%s (k)'', max_rows => 3)', n, n, n - 1));
END $$;
SELECT n, longer(n) FROM generate_series(1, 9) n;
SELECT path FROM dp_domain('way_3') ORDER BY length(path) DESC LIMIT 1;

-- Rows that others keep, where more than one counts.
RESET ROLE;
CREATE EXTENSION IF NOT EXISTS postgres_fdw;
CREATE SERVER dom_server FOREIGN DATA WRAPPER postgres_fdw;
SET ROLE regress_controller;
CREATE TABLE inherits_key (k integer PRIMARY KEY, up integer);
CREATE TABLE inherits_child () INHERITS (inherits_key);
SELECT attempt($$SELECT dp_protect('inherits_key', 'inherits_dp', unit => 'k')$$) AS escapes_the_index;

-- ---------------------------------------------------------------------------------------------------------------------
-- Keys
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE keyed (a integer, b integer, c integer, t text);
CREATE FUNCTION is_key(ddl text, unit text DEFAULT 'a') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    state text;
BEGIN
    BEGIN
        EXECUTE ddl;
        state := attempt(format('SELECT dp_protect(''keyed'', ''keyed_dp'', unit => %L)', unit));
        RAISE EXCEPTION USING errcode = 'P0001', message = CASE WHEN state = 'accepted' THEN 'a key' ELSE left(state, 5) END;
    EXCEPTION WHEN raise_exception THEN
        RETURN sqlerrm;
    END;
END $$;
SELECT ddl, unit, is_key(ddl, unit) FROM (VALUES
    (1, 'ALTER TABLE keyed ADD PRIMARY KEY (a)', 'a'), (2, 'ALTER TABLE keyed ADD UNIQUE (a)', 'a'), (3, 'CREATE UNIQUE INDEX ON keyed (a)', 'a'),
    (4, 'CREATE UNIQUE INDEX ON keyed (a) INCLUDE (b)', 'a'), (5, 'CREATE UNIQUE INDEX ON keyed (b, a)', 'a, b'), (6, 'CREATE UNIQUE INDEX ON keyed (a)', 'b, a'),
    (7, 'CREATE UNIQUE INDEX ON keyed (t)', 't'), (8, 'CREATE UNIQUE INDEX ON keyed (a, b)', 'a'), (9, 'CREATE INDEX ON keyed (a)', 'a'),
    (10, 'ALTER TABLE keyed ADD UNIQUE (a) DEFERRABLE', 'a'), (11, 'CREATE UNIQUE INDEX ON keyed (a) WHERE b > 0', 'a'),
    (12, 'CREATE UNIQUE INDEX ON keyed (abs(a))', 'a'), (13, 'CREATE UNIQUE INDEX ON keyed (t text_pattern_ops)', 't'),
    (14, 'CREATE UNIQUE INDEX ON keyed (lower(t))', 't'), (15, 'ALTER TABLE keyed ADD EXCLUDE USING btree (a WITH =)', 'a'),
    (16, 'CREATE UNIQUE INDEX ON keyed (a); CREATE TABLE keyed_child () INHERITS (keyed)', 'a')) x (n, ddl, unit) ORDER BY n;
CREATE TABLE parts (a integer, b integer, PRIMARY KEY (a)) PARTITION BY HASH (a);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
SELECT dp_protect('parts', 'parts_dp', unit => 'a');

-- ---------------------------------------------------------------------------------------------------------------------
-- One account
-- ---------------------------------------------------------------------------------------------------------------------

SELECT dp_set_odometer('visit', epsilon_total => 5), dp_set_groups('patient', 'sex', '{f,m}');
SELECT DISTINCT d.relation, o.bound, o.epsilon_total FROM dp_domain('drug') d, dp_odometer(d.relation) o ORDER BY 1;
SELECT dp_grant('patient_dp', 'regress_analyst', 0, epsilon_max => 1, candidates => '{1}', epsilon_total => 2);
SET ROLE regress_analyst;
SELECT count(*) IS NOT NULL AS n FROM patient_dp;
RESET ROLE;
SET ROLE regress_controller;
SELECT d.relation, o.epsilon, o.releases FROM dp_domain('patient') d, dp_odometer(d.relation) o WHERE o.account = 'public' ORDER BY 1;
SELECT relation, view, epsilon FROM dp_rdr.ledger WHERE relation ~ '^dom\.' ORDER BY id;
SELECT relation, view, releases, epsilon FROM dp_rdr.spending WHERE relation ~ '^dom\.';
SELECT d.relation, dp_verify_ledger(d.relation) FROM dp_domain('patient') d ORDER BY 1;
-- A risk profile is the role's on all tables of the domain.
SELECT dp_grant('visit_dp', 'regress_second', profile => dp_profile('constant', relative => 1.5));
SELECT dp_grant('patient_dp', 'regress_second', tau => 0.9);
SELECT name, value FROM dp_settings('patient') WHERE item = 'policy' AND name ~ 'second';
SELECT dp_revoke('visit_dp', 'regress_second'), dp_revoke('patient_dp', 'regress_second');

-- ---------------------------------------------------------------------------------------------------------------------
-- dp_set_unit, dp_set_contribution
-- ---------------------------------------------------------------------------------------------------------------------

SELECT dp_set_contribution('visit', 30), dp_set_contribution('drug', max_groups => 100), dp_set_contribution('drug', max_rows => 200);
SELECT relation, max_rows, max_groups FROM dp_domain('visit');
SELECT attempt($$SELECT dp_set_contribution('drug', 50)$$), attempt($$SELECT dp_set_contribution('drug', 0)$$),
       attempt($$SELECT dp_set_contribution('drug', max_groups => 201)$$), attempt($$SELECT dp_set_contribution('adult', 5)$$),
       attempt($$SELECT dp_set_contribution('patient', 1, 2)$$);
-- A limit is taken back by 0, but for the one that is needed.
SELECT dp_set_contribution('drug', max_groups => 0, max_rows_per_group => 7);
SELECT max_rows, max_groups, max_rows_per_group FROM dp_domain('drug') WHERE relation = 'drug'::regclass;
SELECT dp_set_contribution('drug', max_groups => 100, max_rows_per_group => 0);
SELECT max_rows, max_groups, max_rows_per_group FROM dp_domain('drug') WHERE relation = 'drug'::regclass;
-- Not of a table that was asked about, nor of one whose rows others refer to.
SELECT attempt($$SELECT dp_set_unit('patient', 'patient_id')$$), attempt($$SELECT dp_set_unit('visit', 'visit_id -> visit')$$);
-- Another way in the domain, out of it, and back.
SELECT dp_set_unit('drug', 'visit_id -> drug', 7);
SELECT relation, path, max_rows FROM dp_domain('drug');
SELECT epsilon, epsilon_total FROM dp_odometer('drug') WHERE account = 'public';
SELECT dp_set_unit('drug', NULL);
SELECT relation, unit, path, max_rows FROM dp_domain('drug');
SELECT dp_set_unit('drug', 'visit_id', 100);
SELECT relation FROM dp_domain('drug');
SELECT epsilon, epsilon_total FROM dp_odometer('drug') WHERE account = 'public';
-- A denial names it, and a request.
SELECT dp_grant('drug_dp', 'regress_analyst', 0, epsilon_max => 9, candidates => '{9}');
BEGIN;
SET LOCAL ROLE regress_analyst;
SELECT dp_request('SELECT count(*) FROM drug_dp', 'to see') IS NOT NULL AS requested;
SET LOCAL ROLE regress_controller;
SELECT attempt($$SELECT dp_set_unit('drug', NULL)$$);
ROLLBACK;
SELECT attempt($$SELECT dp_set_unit('drug', 'visit_id', 100)$$) AS not_yet;
RESET ROLE;
SET ROLE regress_controller;

-- ---------------------------------------------------------------------------------------------------------------------
-- The way is what it was
-- ---------------------------------------------------------------------------------------------------------------------

SELECT severity, object, finding, remedy FROM dp_audit() WHERE object ~ '^dom\.(patient|visit|drug|way|parts)' AND finding ~ 'belong|unit|rows of others';
SELECT dp_protect('visit', 'visit_cost_dp', columns => '{cost}'), dp_protect('drug', 'drug_name_dp', columns => '{name}');
CREATE FUNCTION fault(ddl text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE ddl;
    RAISE EXCEPTION USING errcode = 'P0001', message = coalesce((SELECT string_agg(concat_ws(' | ', severity, object, finding, remedy), E'\n') FROM dp_audit()
        WHERE object ~ '^dom\.(patient|visit|drug)' AND finding ~ 'answers no query'), '-');
EXCEPTION WHEN raise_exception THEN
    RETURN sqlerrm;
END $$;
\pset format unaligned
\pset tuples_only on
SELECT fault('ALTER TABLE drug DROP CONSTRAINT drug_visit_id_fkey');
SELECT fault('ALTER TABLE visit DROP CONSTRAINT visit_pkey CASCADE');
SELECT fault('ALTER TABLE visit DROP CONSTRAINT visit_pkey CASCADE; ALTER TABLE visit ADD UNIQUE (visit_id, patient_id)');
SELECT fault('ALTER TABLE patient DROP CONSTRAINT patient_pkey CASCADE');
SELECT fault('ALTER TABLE patient ALTER patient_id TYPE bigint');
SELECT fault('ALTER TABLE visit ALTER patient_id TYPE bigint');
SELECT fault('ALTER TABLE drug ALTER visit_id TYPE bigint');
SELECT fault('ALTER TABLE visit RENAME patient_id TO person');
SELECT fault('ALTER TABLE drug RENAME visit_id TO visit');
SELECT fault('ALTER TABLE visit RENAME visit_id TO id');
SELECT fault('CREATE TABLE visit_child () INHERITS (visit)');
SELECT fault('DROP TABLE visit CASCADE');
SELECT fault('ALTER TABLE visit RENAME TO stay');
RESET ROLE;
SELECT fault('ALTER TABLE drug OWNER TO regress_second');
SELECT fault('ALTER TABLE patient OWNER TO regress_second');
BEGIN;
ALTER TABLE visit OWNER TO regress_second;
SET LOCAL ROLE regress_second;
SELECT attempt($$SELECT dp_set_odometer('dom.visit', epsilon_total => 100)$$);
ROLLBACK;
SET ROLE regress_controller;
\pset format aligned
\pset tuples_only off

-- ---------------------------------------------------------------------------------------------------------------------
-- Totals go on
-- ---------------------------------------------------------------------------------------------------------------------

SELECT relation, unit, path FROM dp_domain('patient');
-- A view is dropped, the table stays in its domain.
SELECT dp_unprotect('patient_dp');
SELECT attempt($$SELECT dp_protect('patient', 'patient_dp', unit => 'sex -> patient', max_rows => 99)$$);
SELECT dp_protect('patient', 'patient_dp');
SELECT epsilon FROM dp_odometer('patient') WHERE account = 'public';
-- One table of a domain of several is made again: with its unit it is back, with another or none it is not protected.
DROP VIEW patient_dp;
DROP TABLE patient CASCADE;
CREATE TABLE patient (patient_id integer PRIMARY KEY, sex text NOT NULL, nr bigint UNIQUE);
SELECT attempt($$SELECT dp_protect('patient', 'patient_dp')$$);
SELECT attempt($$SELECT dp_protect('patient', 'patient_dp', unit => 'nr')$$);
SELECT attempt($$SELECT dp_protect('patient', 'patient_dp', unit => 'patient_id -> way_0')$$);
SELECT dp_protect('patient', 'patient_dp', unit => 'patient_id');
SELECT relation, unit, path FROM dp_domain('visit');
SELECT epsilon, epsilon_total FROM dp_odometer('patient') WHERE account = 'public';
-- A table between is made again, and the way mended.
DROP VIEW visit_dp, visit_cost_dp;
DROP TABLE visit CASCADE;
CREATE TABLE visit (visit_id integer PRIMARY KEY, patient_id integer NOT NULL REFERENCES patient);
SELECT relation, unit, path FROM dp_domain('drug');
SELECT dp_protect('visit', 'visit_dp', unit => 'patient_id', max_rows => 20);
SELECT dp_set_unit('drug', 'visit_id -> visit', 100);
SELECT relation, unit, path FROM dp_domain('drug');
-- All of them, and the one that was asked about comes back first, or last.
DROP VIEW patient_dp, visit_dp, drug_dp, drug_name_dp;
DROP TABLE patient, visit, drug CASCADE;
CREATE TABLE patient (patient_id integer PRIMARY KEY);
CREATE TABLE visit (visit_id integer PRIMARY KEY, patient_id integer NOT NULL REFERENCES patient);
BEGIN;
SELECT dp_protect('patient', 'patient_dp', unit => 'patient_id');
SELECT epsilon, epsilon_total FROM dp_odometer('patient') WHERE account = 'public';
ROLLBACK;
SELECT dp_protect('visit', 'visit_dp', unit => 'patient_id -> visit', max_rows => 20);
SELECT epsilon FROM dp_odometer('visit') WHERE account = 'public';
SELECT attempt($$SELECT dp_protect('patient', 'patient_dp')$$);
SELECT attempt($$SELECT dp_protect('patient', 'patient_dp', unit => 'patient_id -> visit')$$);
SELECT dp_protect('patient', 'patient_dp', unit => 'patient_id');
SELECT epsilon, epsilon_total FROM dp_odometer('patient') WHERE account = 'public';
-- Under another name it keeps its people, whose name is not free.
BEGIN;
ALTER TABLE patient RENAME TO person;
CREATE TABLE patient (patient_id integer PRIMARY KEY);
SELECT attempt($$SELECT dp_protect('patient', 'patient_dp2')$$);
SELECT attempt($$SELECT dp_protect('patient', 'patient_dp2', unit => 'patient_id -> way_0')$$);
SELECT dp_protect('patient', 'patient_dp2', unit => 'patient_id -> person');
SELECT relation, path FROM dp_domain('patient');
ALTER TABLE way_0 RENAME TO way_zero;
CREATE TABLE way_0 (k integer PRIMARY KEY);
SELECT attempt($$SELECT dp_protect('way_0', 'way_0_dp2', unit => 'k')$$);
ROLLBACK;
-- Another owner has no part in totals, nor new ones.
BEGIN;
DROP VIEW patient_dp;
DROP TABLE patient CASCADE;
RESET ROLE;
GRANT USAGE, CREATE ON SCHEMA dom TO regress_second;
SET LOCAL ROLE regress_second;
CREATE TABLE dom.patient (patient_id integer PRIMARY KEY);
SELECT attempt($$SELECT dp_protect('dom.patient', 'dom.patient_dp', unit => 'patient_id')$$);
SELECT attempt($$SELECT dp_protect('dom.patient', 'dom.patient_dp')$$);
ROLLBACK;
-- A row as the unit stays it.
CREATE TABLE lonely (a integer PRIMARY KEY, b integer);
SELECT dp_protect('lonely', 'lonely_dp');
SELECT dp_grant('lonely_dp', 'regress_analyst', 0, epsilon_max => 1, candidates => '{1}');
SET ROLE regress_analyst;
SELECT count(*) IS NOT NULL AS n FROM lonely_dp;
SET ROLE regress_controller;
SELECT attempt($$SELECT dp_set_unit('lonely', 'b -> lonely', 3)$$);
DROP VIEW lonely_dp;
DROP TABLE lonely;
CREATE TABLE lonely (a integer PRIMARY KEY, b integer);
SELECT attempt($$SELECT dp_protect('lonely', 'lonely_dp', unit => 'a')$$);
SELECT attempt($$SELECT dp_protect('lonely', 'lonely_dp', unit => 'a -> patient')$$);
SELECT dp_protect('lonely', 'lonely_dp');
SELECT epsilon FROM dp_odometer('lonely') WHERE account = 'public';

-- What sets it all up again.
\pset format unaligned
\pset tuples_only on
SELECT name, value, call FROM dp_settings('visit') WHERE item IN ('view', 'unit');
SELECT name, value, call FROM dp_settings('way_3') WHERE item IN ('view', 'unit');
SELECT name, value, call FROM dp_settings('lonely') WHERE item IN ('view', 'unit');
\pset format aligned
\pset tuples_only off

RESET ROLE;
RESET search_path;
DROP SERVER dom_server;
