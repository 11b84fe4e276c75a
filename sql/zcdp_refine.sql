-- What is refused of answers by accuracy, uncharged; and dp_refine.

LOAD 'dp_rdr';
ALTER SEQUENCE dp_rdr.ledger_row_id_seq RESTART WITH 40001;
SET ROLE regress_controller;
CREATE TABLE barn AS SELECT id, id % 4 AS room, 20 + id % 60 AS age FROM generate_series(1, 4000) id;
SELECT dp_protect('barn', 'barn_dp');
SELECT dp_set_bounds('barn', 'age', 0, 100), dp_set_groups('barn', 'room', '{0,1,2,3}');
GRANT SELECT ON barn_dp TO regress_analyst, regress_second;
SELECT dp_set_odometer('barn', epsilon_total => 50, delta_total => 1e-3);
SELECT dp_grant('barn_dp', 'regress_analyst', tau => 0.5, delta => 1e-8);
RESET ROLE;
-- Whether it is refused, with what, and that it has cost nothing.
CREATE FUNCTION refused(asked text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    message text; detail text; hint text; state text;
BEGIN
    EXECUTE asked;
    RETURN 'answered';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(E'\n', state || ': ' || message, nullif(detail, ''), nullif(hint, ''));
END $$;
CREATE FUNCTION counted(text) RETURNS text LANGUAGE sql AS $$ SELECT format('SELECT * FROM dp_query(%L, %s) AS (n bigint)', 'SELECT count(*) FROM barn_dp', $1) $$;
CREATE VIEW barn_spent AS SELECT epsilon, round(rho, 9) AS rho, releases, denials FROM dp_odometer('barn') WHERE account = 'public';
\pset format unaligned
\pset tuples_only on

-- Arguments.
SET ROLE regress_analyst;
SELECT refused(counted(a)) FROM unnest(array['within => 0', 'within => 1', 'within => -0.1', $$within => 'NaN'$$, $$within => 'Infinity'$$, 'error95 => -1',
    $$error95 => 'NaN'$$, $$error95 => 'Infinity'$$, 'within => 0.1, deviations => 0.9', 'within => 0.1, deviations => 10.1',
    $$within => 0.1, deviations => 'NaN'$$, 'within => 0.1, deviations => NULL', 'deviations => 0', 'within => 0.1, epsilon => 0.0001',
    'deviations => 2', 'error95 => 30, deviations => 2']) WITH ORDINALITY u (a, i) ORDER BY i;
SELECT refused(format($$SELECT * FROM dp_rdr.release('SELECT count(*) FROM public.barn_dp', NULL, 1, %s, true, NULL, NULL, NULL) AS (n bigint)$$, a))
FROM unnest(array['2, NULL, 1', 'NULL, -1, 1', '0.1, NULL, NULL', '0.1, NULL, 11']) WITH ORDINALITY u (a, i) ORDER BY i;
SELECT refused(format('SELECT * FROM dp_refine(%s) AS (n bigint)', a)) FROM unnest(array['within => 2', 'deviations => NULL', 'error95 => -1', 'deviations => 2']) WITH ORDINALITY u (a, i) ORDER BY i;
SELECT refused(format($$SELECT * FROM dp_explain('SELECT count(*) FROM barn_dp', %s)$$, a))
FROM unnest(array['within => 2', 'deviations => NULL', $$within => 0.1, magnitude => 'NaN'$$]) WITH ORDINALITY u (a, i) ORDER BY i;
SELECT refused('SELECT dp_refine()');

-- Which noise.
SELECT refused(format('SELECT * FROM dp_query(%L, %s) AS (%s)', query, wanted, columns)) FROM (VALUES
    (1, 'SELECT avg(age) FROM barn_dp', 'within => 0.1', 'a numeric'),
    (2, 'SELECT avg(age) FROM barn_dp', 'error95 => 10', 'a numeric'),
    (3, 'SELECT count(age), sum(age) FROM barn_dp', 'within => 0.1', 'n bigint, s bigint'),
    (4, 'SELECT CASE WHEN id > 0 THEN age END AS age, count(*) FROM barn_dp GROUP BY 1', 'within => 0.1', 'age int, n bigint')) q (i, query, wanted, columns) ORDER BY i;
SELECT reason FROM dp_explain('SELECT CASE WHEN id > 0 THEN age END AS age, count(*) FROM barn_dp GROUP BY 1', within => 0.1);
SELECT refused(counted('error95 => 0'));
SELECT refused(counted('error95 => 3.5'));
SELECT refused(counted('error95 => 30, epsilon => 0.01'));
SELECT reason FROM dp_explain('SELECT count(*) FROM barn_dp', error95 => 3.5);
SELECT refused(format('SELECT * FROM dp_query(%L, error95 => 3.5) AS (%s)', 'SELECT ' || string_agg(format('count(*) FILTER (WHERE age < %s)', i), ', ') || ' FROM barn_dp', string_agg('c' || i || ' bigint', ', '))) FROM generate_series(1, 40) i; -- of many numbers the price is not looked for
RESET ROLE;
SELECT dp_grant('barn_dp', 'regress_analyst', mechanism => 'gaussian');
SET ROLE regress_analyst;
SELECT refused(counted('within => 0.1'));
SELECT n BETWEEN 3000 AND 5000 FROM dp_query('SELECT count(*) FROM barn_dp', error95 => 30) AS (n bigint);
SELECT column_name, round(epsilon, 6), delta, mechanism, error95, steps, reached FROM dp_last_release();
SELECT refused('SELECT * FROM dp_refine() AS (n bigint)');
RESET ROLE;
SELECT dp_grant('barn_dp', 'regress_analyst', mechanism => 'laplace');
SELECT dp_set_odometer('barn', 'dynamic');
SET ROLE regress_analyst;
SELECT refused(counted('within => 0.1'));
SELECT refused(counted('error95 => 30'));
RESET ROLE;
SELECT dp_set_odometer('barn', 'filter');
SELECT dp_grant('barn_dp', 'regress_analyst', tau_var => 0.1);
SET ROLE regress_analyst;
SELECT refused(counted('within => 0.1'));
SELECT refused(counted('error95 => 30'));
RESET ROLE;
SET client_min_messages = error;
SELECT dp_grant('barn_dp', 'regress_analyst', tau => 0.5, selection => 'within_data');
RESET client_min_messages;
SET ROLE regress_analyst;
SELECT refused(counted('within => 0.1'));
SELECT refused(counted('error95 => 30'));
RESET ROLE;
SELECT dp_grant('barn_dp', 'regress_analyst', tau => 1, selection => 'within_domain');
SET ROLE regress_analyst;
SELECT refused(counted('within => 0.1')); -- no epsilon is small enough: denied, and counted
RESET ROLE;
TABLE barn_spent;

-- ---------------------------------------------------------------------------------------------------------------------
-- A step is denied
-- ---------------------------------------------------------------------------------------------------------------------

-- The total has room for the first steps, not for a count within 1 percent: what is paid is answered.
SELECT dp_grant('barn_dp', 'regress_analyst', tau => 0.5);
SELECT denials AS before FROM barn_spent \gset
SELECT dp_set_odometer('barn', 'filter', epsilon_total => epsilon + 0.003) FROM barn_spent;
SET ROLE regress_analyst;
SELECT n IS NOT NULL FROM dp_query('SELECT count(*) FROM barn_dp', within => 0.01) AS (n bigint);
SELECT epsilon BETWEEN 0.001 AND 0.003, mechanism, error95 BETWEEN 900 AND 3000, steps BETWEEN 1 AND 10, reached FROM dp_last_release();
-- And then not even for the first.
RESET ROLE;
SELECT dp_set_odometer('barn', 'filter', epsilon_total => epsilon + 0.001) FROM barn_spent;
SET ROLE regress_analyst;
SELECT refused(counted('within => 0.01'));
SELECT accepted, reason FROM dp_explain('SELECT count(*) FROM barn_dp', within => 0.01);
RESET ROLE;
SELECT denials - :before AS denials FROM barn_spent; -- that of the first step alone
SELECT dp_set_odometer('barn', 'filter', epsilon_total => 50);

-- ---------------------------------------------------------------------------------------------------------------------
-- dp_refine
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_analyst;
SELECT n > 0 FROM dp_query('SELECT count(*) FROM barn_dp', within => 0.1) AS (n bigint);
SELECT refused('SELECT * FROM dp_refine() AS (n bigint)'); -- Laplace noise
RESET ROLE;
SET client_min_messages = warning; -- the notice has the sum
SELECT dp_set_odometer('barn', 'zcdp');
RESET client_min_messages;
CREATE VIEW refined AS SELECT column_name, epsilon, mechanism, error95, round(rho, 12) AS rho, steps, reached FROM dp_last_release();
GRANT SELECT ON refined TO regress_analyst, regress_second;
SELECT refused($$SELECT dp_grant('barn_dp', 'regress_analyst', delta => 0.9)$$);
SET ROLE regress_analyst;
SELECT refused('SELECT * FROM dp_refine() AS (n bigint)'); -- still the same
SELECT refused(counted('error95 => 1')); -- dearer than the policy permits, in rho
SELECT reason FROM dp_explain('SELECT count(*) FROM barn_dp', error95 => 1);
SELECT refused(format('SELECT * FROM dp_query(%L, error95 => 1) AS (%s)', 'SELECT ' || string_agg(format('count(*) FILTER (WHERE age < %s)', i), ', ') || ' FROM barn_dp', string_agg('c' || i || ' bigint', ', '))) FROM generate_series(1, 40) i; -- the same
SELECT n BETWEEN 3000 AND 5000 FROM dp_query('SELECT count(*) FROM barn_dp WHERE age > 0', error95 => 30) AS (n bigint);
TABLE refined;
SELECT refused('SELECT * FROM dp_refine() AS (n numeric)');
SELECT refused('SELECT * FROM dp_refine() AS (n bigint, m bigint)');
SELECT n BETWEEN 3000 AND 5000 FROM dp_refine() AS (n bigint); -- twice the precision
TABLE refined;
SELECT n BETWEEN 3000 AND 5000 FROM dp_refine(error95 => 10) AS (n bigint);
TABLE refined;
SELECT refused('SELECT * FROM dp_refine(error95 => 20) AS (n bigint)'); -- it is
SELECT refused('SELECT * FROM dp_refine(within => 0.1) AS (n bigint)');
SELECT n BETWEEN 3900 AND 4100 FROM dp_refine(error95 => 0) AS (n bigint); -- up to the ceiling
TABLE refined;
SELECT refused('SELECT * FROM dp_refine() AS (n bigint)');
SELECT rho, error95 FROM dp_explain('SELECT count(*) FROM barn_dp WHERE age > 0', within => 0.001);
-- A round goes on; groups and several numbers; a parameter of the statement stays what it was.
PREPARE asked (int) AS SELECT room, count(*) AS n, sum(age) AS s FROM barn_dp WHERE age > $1 GROUP BY room;
SELECT room, n > 0, s > 0 FROM dp_query('SELECT room, count(*) AS n, sum(age) AS s FROM barn_dp WHERE age > 21 GROUP BY room', within => 0.2) AS (room int, n bigint, s bigint);
SELECT mechanism, reached, rho AS first FROM dp_last_release() WHERE column_name = 'n' \gset
SELECT room, n > 0, s > 0 FROM dp_refine(within => 0.05) AS (room int, n bigint, s bigint);
SELECT column_name, mechanism, steps > 0, reached, rho > :first FROM dp_last_release();
-- Several releases in one statement; groups that are not declared; count and sum together.
SELECT a IS NOT NULL, b IS NOT NULL FROM dp_query('SELECT (SELECT count(*) FROM barn_dp), (SELECT sum(age) FROM barn_dp)', error95 => 10000) AS (a bigint, b bigint);
SELECT refused('SELECT * FROM dp_refine() AS (n bigint)');
SELECT count(*) FROM dp_query('SELECT CASE WHEN id > 0 THEN age END AS age, count(*) FROM barn_dp GROUP BY 1', error95 => 10) AS (age int, n bigint);
SELECT refused('SELECT * FROM dp_refine() AS (age int, n bigint)');
SELECT n > 0 FROM dp_query('SELECT count(age), sum(age) FROM barn_dp', error95 => 10000) AS (n bigint, s bigint);
SELECT refused('SELECT * FROM dp_refine() AS (n bigint, s bigint)');
-- Another role; and after the policy has changed, or gone.
SELECT n > 0 FROM dp_query('SELECT count(*) FROM barn_dp', error95 => 30) AS (n bigint);
SET ROLE regress_second;
SELECT refused('SELECT * FROM dp_refine() AS (n bigint)');
TABLE refined;
RESET ROLE;
SELECT dp_grant('barn_dp', 'regress_analyst', tau => 0.4);
SET ROLE regress_analyst;
SELECT refused('SELECT * FROM dp_refine() AS (n bigint)');
SELECT n > 0 FROM dp_query('SELECT count(*) FROM barn_dp', error95 => 30) AS (n bigint);
RESET ROLE;
SELECT dp_set_odometer('barn', epsilon_total => 51);
SET ROLE regress_analyst;
SELECT refused('SELECT * FROM dp_refine() AS (n bigint)');
SELECT n > 0 FROM dp_query('SELECT count(*) FROM barn_dp', error95 => 30) AS (n bigint);
RESET ROLE;
SELECT dp_revoke('barn_dp', 'regress_analyst');
SET ROLE regress_analyst;
SELECT refused('SELECT * FROM dp_refine() AS (n bigint)');
RESET ROLE;
SELECT dp_grant('barn_dp', 'regress_analyst', tau => 0.5);
SET ROLE regress_analyst;
SELECT n > 0 FROM dp_query('SELECT count(*) FROM barn_dp', error95 => 30) AS (n bigint);
RESET ROLE;
REVOKE SELECT ON barn_dp FROM regress_analyst;
SET ROLE regress_analyst;
SELECT refused('SELECT * FROM dp_refine() AS (n bigint)');
RESET ROLE;
GRANT SELECT ON barn_dp TO regress_analyst;
-- Rows may have changed: the mean is of both.
SET ROLE regress_analyst;
SELECT n > 0 FROM dp_query('SELECT count(*) FROM barn_dp', error95 => 30) AS (n bigint);
RESET ROLE;
INSERT INTO barn SELECT i, 0, 30 FROM generate_series(5001, 9000) i;
SET ROLE regress_analyst;
SELECT n BETWEEN 5500 AND 6500 FROM dp_refine() AS (n bigint);
-- A plain answer with Gaussian noise, that was asked for less.
RESET ROLE;
SELECT dp_grant('barn_dp', 'regress_analyst', mechanism => 'gaussian', delta => 1e-8);
SET ROLE regress_analyst;
SELECT n BETWEEN 7000 AND 9000 FROM dp_query('SELECT count(*) FROM barn_dp', epsilon => 0.1) AS (n bigint);
SELECT epsilon, mechanism, steps, reached, rho AS first FROM dp_last_release() \gset
SELECT :first > 0, :'steps', :'epsilon';
SELECT n BETWEEN 7000 AND 9000 FROM dp_refine() AS (n bigint);
SELECT epsilon, mechanism, steps, reached, round(rho / :first, 6) FROM dp_last_release();
RESET ROLE;
SELECT dp_verify_ledger('barn');

-- ---------------------------------------------------------------------------------------------------------------------
-- What is counted
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_controller;
CREATE TABLE stall AS TABLE barn;
DELETE FROM stall WHERE id > 4000;
ALTER TABLE stall ADD PRIMARY KEY (id);
SELECT dp_protect('stall', 'stall_dp', unit => 'id');
SELECT dp_set_odometer('stall', 'zcdp', 10, 1e-3);
-- Each refinement is an answer, and one that the total refuses is a denial. The policy permits more than the total.
SELECT dp_grant('stall_dp', 'regress_analyst', tau => 0, epsilon_max => 50, candidates => '{50,0.001}');
SET ROLE regress_analyst;
SELECT count(*) FROM dp_query('SELECT count(*) FROM stall_dp', error95 => 300) AS (n bigint);
SELECT count(*) FROM dp_refine() AS (n bigint);
SELECT count(*) FROM dp_refine(error95 => 100) AS (n bigint);
SELECT refused('SELECT * FROM dp_refine(error95 => 0) AS (n bigint)');
SELECT refused('SELECT * FROM dp_refine(error95 => 1) AS (n bigint)');
SET ROLE regress_controller;
SELECT releases, denials FROM dp_odometer('stall') WHERE account = 'public';
SELECT role_name, query, reason, times FROM dp_rdr.denials WHERE relation = 'public.stall';
SELECT kind, algorithm, basis, count(*) FROM dp_rdr.ledger WHERE relation = 'public.stall' GROUP BY 1, 2, 3 ORDER BY 1;
SELECT releases, rho > 0 AS rho FROM dp_rdr.spending WHERE relation = 'public.stall';
SELECT dp_verify_ledger('stall');

-- ---------------------------------------------------------------------------------------------------------------------
-- Rows of a public table are a part of the question: two different ones have no mean
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_controller;
CREATE TABLE wing (room int PRIMARY KEY, name text, remark text);
INSERT INTO wing SELECT i, CASE WHEN i < 2 THEN 'north' ELSE 'south' END, 'none' FROM generate_series(0, 3) i;
SELECT dp_set_public('wing', 'stall');
SELECT dp_grant('stall_dp', 'regress_analyst', tau => 0.5, candidates => '{}');
GRANT SELECT ON wing TO regress_analyst;
SET ROLE regress_analyst;
SELECT count(*) FROM dp_query($$SELECT count(*) FROM stall_dp s JOIN wing w ON w.room = s.room WHERE w.name = 'north'$$, error95 => 300) AS (n bigint);
SET ROLE regress_controller;
UPDATE wing SET remark = 'some'; -- the question does not read it
DELETE FROM wing WHERE room = 3;
INSERT INTO wing VALUES (3, 'south', 'again');
SET ROLE regress_analyst;
SELECT count(*) FROM dp_refine() AS (n bigint);
SET ROLE regress_controller;
UPDATE wing SET name = 'north' WHERE room = 2;
SELECT rho FROM dp_odometer('stall') WHERE account = 'public' \gset
SET ROLE regress_analyst;
SELECT refused('SELECT * FROM dp_refine() AS (n bigint)');
SELECT count(*) FROM dp_query($$SELECT count(*) FROM stall_dp s JOIN wing w ON w.room = s.room WHERE w.name = 'north'$$, error95 => 300) AS (n bigint);
SELECT count(*) FROM dp_refine() AS (n bigint);
SET ROLE regress_controller;
SELECT rho > :rho AS charged_since FROM dp_odometer('stall') WHERE account = 'public';
RESET ROLE;
