-- Setters keep what is not passed; what they say at set-up; the least price of a policy.
\set VERBOSITY default

CREATE ROLE regress_clerk LOGIN;
CREATE ROLE regress_group;
SET ROLE regress_controller;
CREATE TABLE pupil (id integer PRIMARY KEY, age integer, school text);
INSERT INTO pupil SELECT i, 6 + i % 12, 's' || i % 3 FROM generate_series(1, 100) i;
SELECT dp_protect('pupil', 'pupil_dp');
SELECT dp_set_groups('pupil', 'school', '{s0,s1,s2}');
RESET ROLE;
CREATE FUNCTION stored(VARIADIC keys text[]) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_object_agg(k, to_jsonb(p) -> k) FROM dp_rdr.policy p, unnest(keys) k
    WHERE p.view = 'pupil_dp'::regclass AND p.grantee = 'regress_clerk'::regrole $$;
CREATE FUNCTION bound_of(t regclass) RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(' ', bound, coalesce(epsilon_total::text, '-'), delta_total) FROM dp_rdr.protected_table JOIN dp_rdr.privacy_domain ON id = domain WHERE relation = t $$;

-- ---------------------------------------------------------------------------------------------------------------------
-- The odometer
-- ---------------------------------------------------------------------------------------------------------------------

SELECT bound_of('pupil');
SELECT dp_set_odometer('pupil', delta_total => 1e-5); SELECT bound_of('pupil');
SELECT dp_set_odometer('pupil', epsilon_total => 20); SELECT bound_of('pupil');
SELECT dp_set_odometer('pupil', 'dynamic'); SELECT bound_of('pupil');
SELECT dp_set_odometer('pupil', delta_total => 1e-4); SELECT bound_of('pupil');
SELECT dp_set_odometer('pupil', epsilon_total => 'Infinity'); SELECT bound_of('pupil');
SELECT dp_set_odometer('pupil', 'filter'); -- has no total any more
SELECT dp_set_odometer('pupil', 'filter', 3); SELECT bound_of('pupil');
SELECT dp_set_odometer('pupil', 'none'); SELECT bound_of('pupil');
SELECT DISTINCT bound, epsilon_total, delta_total FROM dp_odometer('pupil'); -- does not bind, and is not shown
SELECT dp_set_odometer('pupil', 'filter'); SELECT bound_of('pupil');
SELECT dp_set_odometer('pupil'); SELECT bound_of('pupil');
SELECT dp_set_odometer('pupil', epsilon_total => 'Infinity');
SELECT dp_set_odometer('pupil', epsilon_total => '-Infinity');
SELECT dp_set_odometer('pupil', delta_total => 'Infinity');
SELECT dp_set_odometer('pupil', '');

-- ---------------------------------------------------------------------------------------------------------------------
-- Policies
-- ---------------------------------------------------------------------------------------------------------------------

SELECT dp_grant('pupil_dp', 'regress_clerk');
SELECT dp_grant('pupil_dp', 'regress_clerk', tau => 0.5);
SELECT jsonb_pretty(to_jsonb(p) - 'view') FROM dp_rdr.policy p WHERE p.view = 'pupil_dp'::regclass;
SELECT dp_grant('pupil_dp', 'regress_clerk', delta => 1e-6, epsilon_max => 5, epsilon_total => 2, candidates => '{0.1,0.5,5}', weight_max => 4);
SELECT dp_grant('pupil_dp', 'regress_clerk', mechanism => 'Gaussian');
SELECT dp_grant('pupil_dp', 'regress_clerk', mechanism => 'gaussian');
SELECT stored('tau', 'mechanism', 'delta', 'epsilon_max', 'epsilon_total', 'candidates', 'weight_min', 'weight_max', 'selection');
SELECT dp_grant('pupil_dp', 'regress_clerk', delta => 0); -- the mechanism is kept
SELECT dp_grant('pupil_dp', 'regress_clerk', weight_max => 0.5); -- weight_min is kept
SELECT dp_grant('pupil_dp', 'regress_clerk', epsilon_total => 'Infinity', mechanism => '', candidates => '{}');
SELECT stored('mechanism', 'epsilon_total', 'candidates', 'delta');
SELECT dp_grant('pupil_dp', 'regress_clerk', epsilon_max => 'Infinity');

-- tau ends tau_var, and the reverse; the selection goes with it.
SELECT dp_grant('pupil_dp', 'regress_clerk', tau_var => 0.01); SELECT stored('tau', 'tau_var', 'selection', 'epsilon_max');
SELECT dp_grant('pupil_dp', 'regress_clerk', epsilon_svt => 0.2); SELECT stored('tau', 'tau_var', 'selection', 'epsilon_svt');
SELECT dp_grant('pupil_dp', 'regress_clerk', selection => 'within_domain');
SELECT dp_grant('pupil_dp', 'regress_clerk', tau => 0.4); SELECT stored('tau', 'tau_var', 'selection', 'epsilon_svt');
SELECT dp_grant('pupil_dp', 'regress_clerk', tau => 0.4, tau_var => 0.4);
SELECT dp_grant('pupil_dp', 'regress_clerk', selection => 'within_data', group_a => 'age < 10', group_b => 'age >= 10');
SELECT dp_grant('pupil_dp', 'regress_clerk', tau => 0.3); SELECT stored('tau', 'selection', 'group_a', 'group_b');
SELECT dp_grant('pupil_dp', 'regress_clerk', selection => 'within_domain');
SELECT dp_grant('pupil_dp', 'regress_clerk', group_a => '');
SELECT dp_grant('pupil_dp', 'regress_clerk', selection => '', group_a => '', group_b => ''); SELECT stored('tau', 'selection', 'group_a', 'group_b');

-- ---------------------------------------------------------------------------------------------------------------------
-- The least price
-- ---------------------------------------------------------------------------------------------------------------------

SELECT dp_set_odometer('pupil', epsilon_total => 100);
SELECT dp_grant('pupil_dp', 'regress_clerk', tau => 0, epsilon_max => 5, candidates => '{0.1,0.5,5}');
SELECT dp_grant('pupil_dp', 'regress_clerk', epsilon_min => 5.1);
SELECT dp_grant('pupil_dp', 'regress_clerk', epsilon_min => 0);
SELECT dp_grant('pupil_dp', 'regress_clerk', epsilon_min => 'Infinity');
SET ROLE regress_clerk;
SELECT n IS NOT NULL AS answered FROM dp_query('SELECT count(*) FROM pupil_dp', epsilon => 0.1) AS (n bigint);
SELECT * FROM dp_query('SELECT count(*) FROM pupil_dp', epsilon => 0.099999999) AS (n bigint);
SELECT * FROM dp_query('SELECT count(*) FROM pupil_dp', epsilon => 1e-9) AS (n bigint);
SELECT * FROM dp_rdr.release('SELECT count(*) FROM public.pupil_dp', 0.05, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint);
RESET ROLE;
SELECT dp_grant('pupil_dp', 'regress_clerk', epsilon_min => 0.5);
SET ROLE regress_clerk;
SELECT * FROM dp_query('SELECT count(*) FROM pupil_dp', epsilon => 0.1) AS (n bigint);
SELECT n IS NOT NULL AS answered FROM dp_query('SELECT count(*) FROM pupil_dp', epsilon => 0.5) AS (n bigint);
RESET ROLE;
-- A preference that permits less than the minimum is denied: no candidate below it is used. A weight lowers the price no further.
SELECT dp_grant('pupil_dp', 'regress_clerk', tau => 0.7, weight_min => 0.01);
SET ROLE regress_clerk;
SELECT epsilon FROM dp_explain('SELECT count(*) FROM pupil_dp');
SELECT n IS NOT NULL AS answered FROM dp_query('SELECT count(*) FROM pupil_dp', weight => 100) AS (n bigint);
RESET ROLE;
SELECT dp_grant('pupil_dp', 'regress_clerk', tau => 0.99);
SET ROLE regress_clerk;
SELECT epsilon, accepted, reason FROM dp_explain('SELECT count(*) FROM pupil_dp');
SELECT * FROM dp_query('SELECT count(*) FROM pupil_dp') AS (n bigint);
RESET ROLE;
SELECT account, epsilon, denials FROM dp_odometer('pupil');
-- A minimum above what a smaller list of candidates has.
SELECT dp_grant('pupil_dp', 'regress_clerk', candidates => '{0.1,0.2}');
SELECT dp_grant('pupil_dp', 'regress_clerk', tau_var => 0.25, epsilon_min => 0.2);
SET ROLE regress_clerk;
SELECT * FROM dp_query('SELECT count(*) FROM pupil_dp', epsilon => 0.1) AS (n bigint);
RESET ROLE;

-- ---------------------------------------------------------------------------------------------------------------------
-- Totals that are spent, deltas that are left
-- ---------------------------------------------------------------------------------------------------------------------

SELECT dp_set_odometer('pupil', epsilon_total => 0.5);
SELECT dp_set_odometer('pupil', epsilon_total => greatest(epsilon, 0.000001)) FROM dp_odometer('pupil') WHERE account = 'public'; -- not a unit is left
SELECT dp_set_odometer('pupil', epsilon_total => 0.5);
SELECT dp_set_odometer('pupil', 'none', delta_total => 0); -- nothing binds
SELECT dp_set_odometer('pupil', 'filter', 100);
SELECT dp_set_odometer('pupil', delta_total => 1e-5);
SELECT dp_grant('pupil_dp', 'regress_clerk', delta => 1e-4);

-- ---------------------------------------------------------------------------------------------------------------------
-- Why the controller's own calls are denied; nobody else learns it
-- ---------------------------------------------------------------------------------------------------------------------

CREATE PROCEDURE ask(query text, tau float8, delta numeric DEFAULT NULL, candidates numeric[] DEFAULT NULL) LANGUAGE plpgsql AS $$
DECLARE e numeric; a jsonb; why text;
BEGIN
    CALL dp_find_epsilon(query, tau, e, a, delta => delta, candidates => candidates);
    RAISE NOTICE 'answered';
EXCEPTION WHEN configuration_limit_exceeded THEN
    GET STACKED DIAGNOSTICS why = PG_EXCEPTION_DETAIL;
    RAISE NOTICE '%: %', sqlerrm, why;
END $$;
SET ROLE regress_controller;
SELECT dp_set_odometer('pupil', 'filter', 2, 0.0001);
CALL ask('SELECT count(*) FROM pupil_dp', 0, candidates => '{1}');
CALL ask('SELECT age, count(*) FROM pupil_dp GROUP BY age', 0, 0.01, '{0.1}');
CALL ask('SELECT count(*) FROM pupil_dp WHERE age > 8', 1);
SELECT dp_set_odometer('pupil', 'dynamic');
CALL ask('SELECT count(*) FROM pupil_dp', 0, candidates => '{0.1}');
SELECT dp_set_odometer('pupil', 'filter', 1.15);
CALL dp_find_and_release_epsilon('SELECT count(*) FROM pupil_dp WHERE age > 8', 0.01, candidates => '{0.1}');
RESET ROLE;
SELECT dp_set_odometer('pupil', epsilon_total => 0.1);
SELECT dp_grant('pupil_dp', 'regress_clerk', tau => 0, selection => 'within_data');
SET ROLE regress_clerk;
SELECT * FROM dp_query('SELECT count(*) FROM pupil_dp') AS (n bigint);
RESET ROLE;

-- rho under a threshold holds but for an event of probability delta_groups, and the ledger says so.
SELECT dp_set_odometer('pupil', 'filter', 100, 0.1);
SELECT dp_grant('pupil_dp', 'regress_clerk', tau => 0, selection => 'within_domain', delta => 1e-6);
SET ROLE regress_clerk;
SELECT count(*) >= 0 AS answered FROM dp_query('SELECT age, count(*) FROM pupil_dp GROUP BY age') AS (age integer, n bigint);
SELECT count(*) AS answered FROM dp_query('SELECT school, count(*) FROM pupil_dp GROUP BY school') AS (school text, n bigint);
RESET ROLE;
SELECT delta_groups, guarantee FROM (SELECT * FROM dp_rdr.ledger WHERE relation = 'public.pupil' ORDER BY id DESC LIMIT 2) l ORDER BY id;
SELECT dp_verify_ledger('pupil');

-- ---------------------------------------------------------------------------------------------------------------------
-- What a policy alone does not give
-- ---------------------------------------------------------------------------------------------------------------------

CREATE SCHEMA "Closed";
GRANT USAGE, CREATE ON SCHEMA "Closed" TO regress_controller;
SET ROLE regress_controller;
SELECT dp_protect('pupil', '"Closed".pupil_dp');
SELECT dp_grant('"Closed".pupil_dp', 'regress_clerk', tau => 0.5);
GRANT SELECT (age) ON pupil TO regress_clerk;
SELECT dp_grant('pupil_dp', 'regress_clerk', tau => 0.5);
GRANT SELECT ON pupil TO regress_group;
SELECT dp_grant('pupil_dp', 'regress_group', tau => 0.5);
SELECT dp_grant('pupil_dp', 'regress_controller', tau => 0.5);
REVOKE ALL ON pupil FROM regress_clerk, regress_group;
RESET ROLE;
GRANT pg_read_all_data TO regress_clerk;
SELECT dp_grant('pupil_dp', 'regress_clerk', tau => 0.5);
REVOKE pg_read_all_data FROM regress_clerk;
SELECT format('REVOKE CONNECT ON DATABASE %I FROM PUBLIC', current_database()) \gexec
\set SHOW_CONTEXT never
DO $$
BEGIN
    PERFORM dp_grant('pupil_dp', 'regress_group', tau => 0.5); -- cannot log in: its members may connect all the same
END $$;
SELECT dp_grant('pupil_dp', 'regress_clerk', tau => 0.5) \g (tuples_only=on)
SELECT format('GRANT CONNECT ON DATABASE %I TO PUBLIC', current_database()) \gexec

-- ---------------------------------------------------------------------------------------------------------------------
-- What was declared is taken back; columns that name one person have no groups
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_controller;
CREATE TABLE class (id integer PRIMARY KEY, room text UNIQUE, level integer, year date);
CREATE TABLE marks (pupil integer NOT NULL, class integer REFERENCES class, mark integer);
INSERT INTO class SELECT i, 'r' || i, i % 3, '2020-01-01' FROM generate_series(1, 9) i;
SELECT dp_protect('marks', 'marks_dp', unit => 'pupil', max_rows => 5), dp_protect('class', 'class_dp');
SELECT dp_set_groups('marks', 'pupil', '{1,2}');
SELECT dp_set_groups('class', 'id', '{1,2}');
SELECT dp_set_groups('class', 'room', '{r1,r2}');
SELECT dp_set_groups('marks', 'class', '{1,2}'), dp_set_bounds('marks', 'mark', 1, 6), dp_set_groups('class', 'level', '{0,1,2}'), dp_set_bounds('class', 'year', '2000-01-01', '2030-01-01');
SELECT item, name, value FROM dp_settings('marks') WHERE item IN ('bounds', 'groups') UNION ALL SELECT item, name, value FROM dp_settings('class') WHERE item IN ('bounds', 'groups');
SELECT dp_unset_groups('marks', 'class'), dp_unset_bounds('marks', 'mark');
SELECT dp_unset_groups('marks', 'class');
SELECT dp_unset_bounds('marks', 'mark');
SELECT dp_unset_bounds('marks', NULL);
ALTER TABLE class RENAME year TO founded;
SELECT dp_unset_bounds('class_dp', 'year'), dp_unset_groups('class_dp', 'level');
SELECT item, name, value FROM dp_settings('marks') WHERE item IN ('bounds', 'groups') UNION ALL SELECT item, name, value FROM dp_settings('class') WHERE item IN ('bounds', 'groups');
SET ROLE regress_clerk;
SELECT dp_unset_groups('class', 'level');
SELECT dp_unset_bounds('marks_dp', 'mark');
SET ROLE regress_controller;
SELECT dp_unprotect('marks_dp'), dp_unprotect('class_dp');
DROP TABLE marks, class;
RESET ROLE;

-- After a restore of a part the domain may be gone.
BEGIN;
DELETE FROM dp_rdr.privacy_domain;
SELECT dp_set_odometer('pupil', epsilon_total => 1);
ROLLBACK;

SELECT dp_unprotect('"Closed".pupil_dp'), dp_unprotect('pupil_dp');
DROP TABLE pupil;
DROP SCHEMA "Closed";
DROP FUNCTION stored, bound_of;
DROP PROCEDURE ask;
DROP ROLE regress_clerk, regress_group;

-- A hint that calls a function quotes names, whatever stands in them.
CREATE TABLE "it's" (id integer PRIMARY KEY, "a'b" integer);
SELECT dp_protect('"it''s"', '"it''s_dp"');
SELECT * FROM dp_risk($$SELECT sum("a'b") FROM "it's_dp"$$, '{1}');
SELECT dp_unset_bounds('"it''s"', 'a''b');
SELECT dp_unprotect('"it''s_dp"');
DROP TABLE "it's";
