-- Answers by accuracy: how they are charged, and the experiment as a table. What is printed depends on noise only
-- with the probabilities that are said.

LOAD 'dp_rdr';
ALTER SEQUENCE dp_rdr.ledger_row_id_seq RESTART WITH 30001;
\set VERBOSITY terse
SET ROLE regress_controller;
CREATE TABLE shelf AS SELECT id, id % 4 AS room, 20 + id % 60 AS age, (id % 1000) / 8.0::float8 AS weight, ((id % 500) / 4.0)::numeric(6,2) AS price
                      FROM generate_series(1, 4000) id;
SELECT dp_protect('shelf', 'shelf_dp');
SELECT dp_set_bounds('shelf', 'age', 0, 100), dp_set_bounds('shelf', 'weight', 0, 128), dp_set_bounds('shelf', 'price', 0, 125),
       dp_set_groups('shelf', 'room', '{0,1,2,3}');
GRANT SELECT ON shelf_dp TO regress_analyst;
SELECT dp_grant('shelf_dp', 'regress_analyst', tau => 0.5);
SELECT dp_set_odometer('shelf', epsilon_total => 50);
SELECT array_agg(v::numeric ORDER BY room, i) AS truth FROM (
    SELECT room, count(*) AS n, sum(age) AS s, sum(price) FILTER (WHERE age > 30) AS p, sum(weight) AS w FROM shelf GROUP BY room) q,
    unnest(array[n, s, p, w::numeric]) WITH ORDINALITY u (v, i) \gset
RESET ROLE;

-- What was charged for the last answer.
CREATE FUNCTION charged_for(view text) RETURNS TABLE (kind text, algorithm text, mechanism text, basis text, guarantee text, charges text,
    epsilon boolean, rho boolean, delta numeric, wanted text) LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH l AS (SELECT * FROM dp_rdr.ledger_row l WHERE l.view = 'public.' || $1
               AND id >= (SELECT max(id) FROM dp_rdr.ledger_row f WHERE f.view = 'public.' || $1 AND f.kind <> 'increment'))
    SELECT l.kind, l.algorithm, l.mechanism, l.basis, l.guarantee, CASE WHEN l.kind = 'increment' THEN 'some' ELSE count(*)::text END,
           min(l.epsilon) > 0, min(l.rho) > 0, max(l.delta),
           concat_ws(' ', l.parameters ->> 'within', l.parameters ->> 'deviations', l.parameters ->> 'error95')
    FROM l GROUP BY 1, 2, 3, 4, 5, 10 ORDER BY kind COLLATE "C" DESC $$;
-- Whether that is what the answer says.
CREATE FUNCTION charged_as_said(view text, epsilon numeric, rho numeric, mechanism text, steps int) RETURNS boolean
    LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT sum(l.epsilon) = coalesce($2, 0) AND ($4 = 'laplace' OR sum(l.rho) = $3) AND count(*) = $5
    FROM dp_rdr.ledger_row l WHERE l.view = 'public.' || $1
     AND l.id >= (SELECT max(id) FROM dp_rdr.ledger_row f WHERE f.view = 'public.' || $1 AND f.kind <> 'increment') $$;
-- Of the last answer: error95 where it is known beforehand.
CREATE VIEW last_answer AS
    SELECT column_name, epsilon > 0 AS epsilon, delta, mechanism, error95 > 0 AS error95, reason, rho > 0 AS rho, steps > 1 AS steps, reached
    FROM dp_last_release();
GRANT SELECT ON last_answer TO regress_analyst;
CREATE FUNCTION far(found numeric[], truth numeric[], tolerance numeric) RETURNS TABLE (found numeric, truth numeric) LANGUAGE sql AS
    $$ SELECT f, t FROM unnest($1, $2) v (f, t) WHERE abs(f - t) <= tolerance * t IS NOT TRUE $$;

-- ---------------------------------------------------------------------------------------------------------------------
-- Laplace noise, charged in epsilon
-- ---------------------------------------------------------------------------------------------------------------------

-- Three times the truth, or less than nothing, is what noise makes of an answer once in 10^8 runs, here and below.
SET ROLE regress_analyst;
SELECT far(array[n], '{4000}', 2) FROM dp_query('SELECT count(*) AS n FROM shelf_dp', within => 0.05) AS (n bigint);
TABLE last_answer;
SELECT * FROM charged_for('shelf_dp');
SELECT charged_as_said('shelf_dp', epsilon, rho, mechanism, steps) FROM dp_last_release();
-- Four groups, four numbers each: a count, sums on a lattice of whole numbers, of decimals, of doubles.
SELECT far((SELECT array_agg(v ORDER BY room, i) FROM dp_query(
        'SELECT room, count(*) AS n, sum(age) AS s, sum(price) FILTER (WHERE age > 30) AS p, sum(weight) AS w FROM shelf_dp GROUP BY room', within => 0.1)
        AS (room int, n bigint, s bigint, p numeric, w float8), unnest(array[n, s, p, w::numeric]) WITH ORDINALITY u (v, i)), :'truth', 2);
TABLE last_answer;
SELECT * FROM charged_for('shelf_dp');
-- Either of the two is enough; more deviations are more certain.
SELECT n BETWEEN 2000 AND 6000 FROM dp_query('SELECT count(*) FROM shelf_dp', within => 0.001, error95 => 200, deviations => 2) AS (n bigint);
SELECT error95 BETWEEN 20 AND 200, steps > 1 AS steps, reached FROM dp_last_release();
SELECT * FROM charged_for('shelf_dp');
-- All numbers have to pass: of 4,000 and of 402 (which look large enough before at noise of 27 times its scale, and never too small).
SELECT count(*) FROM dp_query('SELECT count(*) AS n, count(*) FILTER (WHERE age < 26) AS few FROM shelf_dp', within => 0.15, deviations => 3) AS (n bigint, few bigint);
SELECT column_name, error95 < 120 AS error95, reached FROM dp_last_release();
-- A loose within takes noise for an answer: of nobody at 0.9, with a probability of 0.4 (none of 60: once in 10^13 runs).
CREATE FUNCTION pg_temp.taken(times int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    n int := 0;
BEGIN
    FOR i IN 1 .. times LOOP
        PERFORM * FROM dp_query('SELECT count(*) FROM shelf_dp WHERE age = 200', within => 0.9, epsilon => 0.05) AS (n bigint);
        n := n + (SELECT reached::int FROM dp_last_release());
    END LOOP;
    RETURN n;
END $$;
SET client_min_messages = warning;
SELECT pg_temp.taken(60) > 0 AS taken;
RESET client_min_messages;
-- The rest of a statement is computed from what was answered, parameters and views of one's own included.
CREATE TEMP VIEW of_own AS SELECT room, count(*) AS n, sum(age) AS s FROM shelf_dp GROUP BY room;
SELECT * FROM dp_query('SELECT room, n BETWEEN 1 AND 2000 AS n, s > 0 AS s FROM of_own WHERE n > 10 ORDER BY room DESC LIMIT 3', within => 0.1)
    AS (room int, n boolean, s boolean);
PREPARE asked (int) AS SELECT abs(n) < 40000 FROM dp_query('SELECT count(*) FROM shelf_dp WHERE age > 0', within => 0.1) AS (n bigint) WHERE $1 = 1;
EXECUTE asked (1);
-- A statement of several leaves is several rounds.
SELECT a > 0 AS a, b > 0 AS b FROM dp_query('SELECT (SELECT count(*) FROM shelf_dp), (SELECT sum(age) FROM shelf_dp)', within => 0.1) AS (a bigint, b bigint);
-- epsilon lowers the ceiling, and weight moves it.
SELECT n IS NOT NULL FROM dp_query('SELECT count(*) FROM shelf_dp WHERE age = 200', within => 0.1, deviations => 2, epsilon => 0.01) AS (n bigint);
SELECT epsilon, steps > 1 AS steps, reached FROM dp_last_release();
\set VERBOSITY default
-- Nobody is there: the ceiling is reached, unless noise looks like an answer (less than once in 10^6 runs).
SELECT n IS NOT NULL FROM dp_query('SELECT count(*) FROM shelf_dp WHERE age = 200', within => 0.1, deviations => 3) AS (n bigint);
\set VERBOSITY terse
SELECT epsilon, steps > 1 AS steps, reached FROM dp_last_release();

-- error95 alone is one charge, known beforehand.
SELECT accepted, reason, epsilon, delta, mechanism, error95, threshold, round(rho, 9) AS rho FROM dp_explain('SELECT count(*) FROM shelf_dp', error95 => 30);
SELECT n BETWEEN 3000 AND 5000 FROM dp_query('SELECT count(*) FROM shelf_dp', error95 => 30) AS (n bigint);
SELECT column_name, epsilon, delta, mechanism, error95, reason, round(rho, 9) AS rho, steps, reached FROM dp_last_release();
SELECT * FROM charged_for('shelf_dp');
-- Count and sum of one column, which are released together, too; and groups that nobody has declared.
SELECT n BETWEEN 2000 AND 6000 AS n, s > 0 AS s FROM dp_query('SELECT count(age), sum(age) FROM shelf_dp', error95 => 20000) AS (n bigint, s bigint);
SELECT column_name, error95 <= 20000 AS error95, steps, reached FROM dp_last_release();
-- At the most accurate it is the plain answer; not below the policy's least.
SELECT epsilon, error95 FROM dp_explain('SELECT count(*) FROM shelf_dp');
SELECT epsilon, error95 FROM dp_explain('SELECT count(*) FROM shelf_dp', error95 => 4);
SELECT epsilon, error95 FROM dp_explain('SELECT count(*) FROM shelf_dp', error95 => 1e9);
RESET ROLE;

-- ---------------------------------------------------------------------------------------------------------------------
-- Gaussian measurements, charged in rho
-- ---------------------------------------------------------------------------------------------------------------------

SET client_min_messages = warning; -- the notice has the sum
SELECT dp_set_odometer('shelf', 'zcdp', epsilon_total => 50, delta_total => 1e-6);
RESET client_min_messages;
SET ROLE regress_analyst;
SELECT far(array[n], '{4000}', 2) FROM dp_query('SELECT count(*) AS n FROM shelf_dp', within => 0.05) AS (n bigint);
TABLE last_answer;
SELECT * FROM charged_for('shelf_dp');
SELECT charged_as_said('shelf_dp', epsilon, rho, mechanism, steps) FROM dp_last_release();
SELECT far((SELECT array_agg(v ORDER BY room, i) FROM dp_query(
        'SELECT room, count(*) AS n, sum(age) AS s, sum(price) FILTER (WHERE age > 30) AS p, sum(weight) AS w FROM shelf_dp GROUP BY room', within => 0.1)
        AS (room int, n bigint, s bigint, p numeric, w float8), unnest(array[n, s, p, w::numeric]) WITH ORDINALITY u (v, i)), :'truth', 2);
TABLE last_answer;
SELECT * FROM charged_for('shelf_dp');
SELECT accepted, reason, epsilon, delta, mechanism, error95, threshold, round(rho, 9) AS rho FROM dp_explain('SELECT count(*) FROM shelf_dp', error95 => 30);
SELECT n BETWEEN 3000 AND 5000 FROM dp_query('SELECT count(*) FROM shelf_dp', error95 => 30) AS (n bigint);
SELECT column_name, epsilon, delta, mechanism, error95, reason, round(rho, 9) AS rho, steps, reached FROM dp_last_release();
SELECT * FROM charged_for('shelf_dp');
SELECT n BETWEEN 2000 AND 6000 AS n, s > 0 AS s FROM dp_query('SELECT count(age), sum(age) FROM shelf_dp', error95 => 20000) AS (n bigint, s bigint);
SELECT column_name, error95 <= 20000 AS error95, steps, reached FROM dp_last_release();
RESET ROLE;
-- Groups that nobody has declared need a delta of their own.
SELECT dp_grant('shelf_dp', 'regress_analyst', delta => 1e-8);
SET ROLE regress_analyst;
SELECT accepted, reason, epsilon, delta, mechanism, error95, threshold, round(rho, 9) AS rho
FROM dp_explain('SELECT CASE WHEN id > 0 THEN age END AS age, count(*) FROM shelf_dp GROUP BY 1', error95 => 10) WHERE column_name = 'count';
SELECT count(*), bool_and(n BETWEEN 30 AND 110) FROM dp_query('SELECT CASE WHEN id > 0 THEN age END AS age, count(*) FROM shelf_dp GROUP BY 1', error95 => 10) AS (age int, n bigint);
SELECT column_name, epsilon, delta, mechanism, error95, round(rho, 9) AS rho, steps, reached FROM dp_last_release();
SELECT * FROM charged_for('shelf_dp');
RESET ROLE;
-- P > 0: a laplace policy has a total of its own, in epsilon.
SET client_min_messages = warning; -- the notice has the sum
SELECT dp_set_odometer('shelf', epsilon_pure => 5);
RESET client_min_messages;
SET ROLE regress_analyst;
SELECT far(array[n], '{4000}', 2) FROM dp_query('SELECT count(*) AS n FROM shelf_dp', within => 0.05) AS (n bigint);
TABLE last_answer;
SELECT * FROM charged_for('shelf_dp');
RESET ROLE;
SELECT dp_grant('shelf_dp', 'regress_analyst', mechanism => 'gaussian', delta => 1e-8);
SET ROLE regress_analyst;
SELECT far(array[n], '{4000}', 2) FROM dp_query('SELECT count(*) AS n FROM shelf_dp', within => 0.05) AS (n bigint);
TABLE last_answer;
SELECT * FROM charged_for('shelf_dp');
RESET ROLE;
-- No total, and no bound.
SET client_min_messages = warning; -- the notice has the sum
SELECT dp_set_odometer('shelf', 'zcdp', epsilon_total => 'Infinity', epsilon_pure => 0);
RESET client_min_messages;
SET ROLE regress_analyst;
SELECT far(array[n], '{4000}', 2) FROM dp_query('SELECT count(*) AS n FROM shelf_dp', within => 0.05) AS (n bigint);
SELECT * FROM charged_for('shelf_dp');
RESET ROLE;
SET client_min_messages = warning;
SELECT dp_set_odometer('shelf', 'none'), dp_grant('shelf_dp', 'regress_analyst', mechanism => 'laplace');
RESET client_min_messages;
SET ROLE regress_analyst;
SELECT far(array[n], '{4000}', 2) FROM dp_query('SELECT count(*) AS n FROM shelf_dp', within => 0.05) AS (n bigint);
SELECT * FROM charged_for('shelf_dp');
-- So many numbers that the price alone takes its time: such a request waits for nobody else, and nobody for it.
SELECT 'SELECT ' || string_agg(format('count(*) FILTER (WHERE age > %s) AS n%s', i, i), ', ') || ' FROM shelf_dp' AS many,
       'r (' || string_agg(format('n%s bigint', i), ', ') || ')' AS columns FROM generate_series(1, 19) i \gset
SELECT n1 > 0 AS first, n19 > 0 AS last FROM dp_query(:'many', within => 0.3) AS :columns;
SELECT count(*), bool_and(reached) FROM dp_last_release();
SELECT * FROM charged_for('shelf_dp');
RESET ROLE;

-- ---------------------------------------------------------------------------------------------------------------------
-- The experiment: 300 counts proportional to j^-0.75, asked from the largest down within 10 percent, for 10 in all
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_controller;
CREATE TABLE canton AS SELECT j FROM (SELECT j, greatest(1, round(10000 * j ^ -0.75 / (SELECT sum(i ^ -0.75) FROM generate_series(1, 300) i)))::int AS n
                                    FROM generate_series(1, 300) j) c, generate_series(1, n);
SELECT dp_protect('canton', 'canton_dp');
GRANT SELECT ON canton_dp TO regress_analyst;
SELECT dp_grant('canton_dp', 'regress_analyst', tau => 0, epsilon_max => 10);
SELECT dp_set_odometer('canton', 'zcdp', epsilon_total => 10, delta_total => 1e-6, delta_conversion => 1e-6, cap => 'classic');
RESET ROLE;
CREATE FUNCTION answers() RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    FOR j IN 1 .. 300 LOOP
        PERFORM * FROM dp_query('SELECT count(*) FROM canton_dp WHERE j = ' || j, within => 0.1) AS (n bigint);
        IF NOT (SELECT reached FROM dp_last_release()) THEN
            RETURN j - 1;
        END IF;
    END LOOP;
    RETURN 300;
END $$;
-- 60 on the average, one more or less from run to run (200 runs): outside of this once in 10^20 runs.
SET client_min_messages = warning;
SET ROLE regress_analyst;
SELECT answers() AS n \gset
SELECT :n BETWEEN 50 AND 70 AS as_published, CASE WHEN :n NOT BETWEEN 50 AND 70 THEN :n END AS n;
RESET ROLE;
RESET client_min_messages;
SELECT denials, rho <= rho_total AS within_total, rho > 0.9 * rho_total AS spent, releases IN (:n, :n + 1) AS releases FROM dp_odometer('canton') WHERE account = 'public';
SELECT dp_verify_ledger('canton'), dp_verify_ledger('shelf');
