-- Epsilon selected by the sparse vector technique: policies with tau_var, dp_find_and_release_epsilon; weights of queries;
-- dp_last_release.
--
-- The selection is random. Here epsilon_svt is 20 and every table is so large that each candidate is more than 30 scales of
-- the noise on its comparison away from its threshold, which the file checks: a wrong selection has a chance of e^-30 each.

LOAD 'dp_rdr';
\pset null '-'
\set VERBOSITY terse

SET ROLE regress_controller;
CREATE TABLE trial (id integer, arm text, ill boolean, dose integer, score float8);
INSERT INTO trial SELECT i, (ARRAY['a', 'b', NULL])[1 + i % 3], i % 10 = 0, i % 100, CASE WHEN i % 5 > 0 THEN i % 40 END
FROM generate_series(1, 20000) i;
SELECT dp_protect('trial', 'trial_dp');
SELECT dp_set_bounds('trial', 'dose', -20, 50), dp_set_bounds('trial', 'score', 0, 40),
       dp_set_groups('trial', 'arm', '{a,b}'), dp_set_odometer('trial', 'filter', 2000, 0.001);

-- ---------------------------------------------------------------------------------------------------------------------
-- The largest candidate whose normalised indicators vary no more than tau_var, found here from the rows themselves
-- ---------------------------------------------------------------------------------------------------------------------

CREATE FUNCTION candidates() RETURNS SETOF numeric LANGUAGE sql
BEGIN ATOMIC
    SELECT i / p FROM generate_series(9, 1, -1) i, unnest('{1,10,100,1000}'::numeric[]) p UNION ALL SELECT 10;
END;

-- Of Laplace noise: m measures, k1 coordinates of one group, PIS of every row.
CREATE FUNCTION expected_epsilon(tau_var float8, m integer, k1 integer, pis float8[], OUT epsilon numeric, OUT nearest float8)
LANGUAGE sql AS $$
    WITH candidate AS (
        SELECT c AS epsilon, k1 / sinh(c / m) AS noise, m / (m + k1 / sinh(c / m)) AS width FROM candidates() c),
    tested AS (
        SELECT c.epsilon, (v.n * (v.variance / (m + c.noise) ^ 2) - v.n * tau_var) / greatest(tau_var, c.width ^ 2 - tau_var) AS gap
        FROM candidate c, (SELECT count(*) AS n, var_pop(p) AS variance FROM unnest(pis) p) v
        WHERE c.width ^ 2 / 4 > tau_var),
    passing AS (SELECT max(t.epsilon) AS epsilon FROM tested t WHERE t.gap <= 0)
    SELECT coalesce(p.epsilon, (SELECT max(c.epsilon) FROM candidate c WHERE c.width ^ 2 / 4 <= tau_var)),
           (SELECT min(abs(t.gap)) FROM tested t WHERE t.epsilon >= coalesce(p.epsilon, 0)) * 12.27 / 2
    FROM passing p $$;

CREATE TABLE question (name text, query text, m integer, k1 integer, tau_var float8, pis float8[]);
INSERT INTO question
SELECT q.name, q.query, q.m, q.k1, t.tau_var, q.pis
FROM (VALUES (1e-6), (1e-4), (0.01)) t (tau_var),
LATERAL (
    SELECT 'count' AS name, 'SELECT count(*) FROM trial_dp WHERE ill' AS query, 1 AS m, 1 AS k1,
           (SELECT array_agg(ill::integer::float8) FROM trial) AS pis
    UNION ALL SELECT 'sum', 'SELECT sum(dose) FROM trial_dp', 1, 1, (SELECT array_agg(least(dose, 50) / 50.0) FROM trial)
    UNION ALL SELECT 'two measures', 'SELECT count(*), sum(dose) FILTER (WHERE dose > 90) FROM trial_dp WHERE ill OR dose > 80', 2, 2,
           (SELECT array_agg(CASE WHEN ill OR dose > 80 THEN 1 ELSE 0 END + CASE WHEN dose > 90 THEN 1 ELSE 0 END::float8) FROM trial)
    UNION ALL SELECT 'declared groups', 'SELECT arm, count(*) FROM trial_dp GROUP BY arm', 1, 1,
           (SELECT array_agg((arm IS NOT NULL)::integer::float8) FROM trial)
    UNION ALL SELECT 'thresholded groups', 'SELECT CASE WHEN id > 0 THEN dose END, sum(dose) FROM trial_dp WHERE ill GROUP BY 1', 2, 2,
           (SELECT array_agg(CASE WHEN ill THEN 1 + least(dose, 50) / 50.0 ELSE 0 END) FROM trial)) q;

CREATE TABLE selected (name text, tau_var float8, epsilon numeric, expected numeric, nearest float8);
DO $$
DECLARE
    q question;
    epsilon numeric;
    answer jsonb;
    expected record;
BEGIN
    FOR q IN SELECT * FROM question ORDER BY name, tau_var LOOP
        CALL dp_find_and_release_epsilon(q.query, q.tau_var, 20, epsilon, answer, delta => 1e-6);
        expected := expected_epsilon(q.tau_var, q.m, q.k1, q.pis);
        INSERT INTO selected VALUES (q.name, q.tau_var, epsilon, expected.epsilon, expected.nearest);
    END LOOP;
END $$;
SELECT name, tau_var, epsilon, epsilon = expected AS as_expected FROM selected ORDER BY name, tau_var;
-- How sure that is: the fewest scales of the noise between a tested candidate and its threshold.
SELECT min(nearest) > 30 AS certain FROM selected;

-- Gaussian noise: N_j is the variance that is drawn, which dp_risk shows.
CREATE TABLE drawn AS SELECT epsilon, noise_stddev ^ 2 AS term FROM dp_risk('SELECT count(*) FROM trial_dp WHERE ill', mechanism => 'gaussian', delta => 1e-6);
CALL dp_find_and_release_epsilon('SELECT count(*) FROM trial_dp WHERE ill', 1e-4, 20, NULL, NULL, 'gaussian', 1e-6) \gset
SELECT :epsilon AS epsilon, :epsilon = max(d.epsilon) AS as_expected
FROM drawn d, (SELECT var_pop(ill::integer) AS v FROM trial) t
WHERE t.v * (1 - sqrt(d.term / (1 + d.term))) ^ 2 <= 1e-4;

-- The aggregate of the internal statement and the leave-one-out of dp_risk must see the same risks, whatever the values are:
-- partitions, a view filter, NULL, NaN, infinities, values outside the bounds, FILTER, keys that nobody declared.
CREATE TABLE reading (id integer, site text, level float8, volts numeric, flag boolean) PARTITION BY RANGE (id);
CREATE TABLE reading_low PARTITION OF reading FOR VALUES FROM (0) TO (7000);
CREATE TABLE reading_high PARTITION OF reading FOR VALUES FROM (7000) TO (20000);
INSERT INTO reading
SELECT i, 'site ' || i % 4, (ARRAY['NaN', 'Infinity', '-Infinity', NULL, '0', '-1e300', '3.7', '-9', '2.5', '1e-300']::float8[])[1 + i % 10],
       (ARRAY['NaN', 'Infinity', NULL, '1.005', '-3', '2', '0.0001']::numeric[])[1 + i % 7], (ARRAY[true, false, NULL])[1 + i % 3]
FROM generate_series(1, 20000 - 1) i;
SELECT dp_protect('reading', 'reading_dp', filter => 'id % 8 <> 5');
SELECT dp_set_bounds('reading', 'level', -9.5, 4), dp_set_bounds('reading', 'volts', -2, 2.5), dp_set_groups('reading', 'site', '{site 1,site 3,site 9}'),
       dp_set_odometer('reading', 'none');
CREATE TABLE asked (query text, mechanism text, epsilon numeric, expected numeric, certain boolean);
DO $$
DECLARE
    q text;
    law text;
    found numeric;
    answer jsonb;
BEGIN
    FOR q IN VALUES ('SELECT count(*) FROM reading_dp WHERE flag'), ('SELECT count(level), count(volts) FILTER (WHERE flag) FROM reading_dp'),
        ('SELECT sum(level) FROM reading_dp WHERE flag IS NOT FALSE'), ('SELECT sum(level), sum(volts) FROM reading_dp'),
        ('SELECT site, sum(volts), sum(level) FILTER (WHERE flag) FROM reading_dp GROUP BY site'),
        ('SELECT id % 3, count(*), sum(level) FILTER (WHERE volts > 0) FROM reading_dp WHERE site <> ''site 2'' GROUP BY 1'),
        ('SELECT flag, id / 1000 FROM reading_dp WHERE level < 3 GROUP BY 1, 2') LOOP
        FOREACH law IN ARRAY '{laplace,gaussian}'::text[] LOOP
            CALL dp_find_and_release_epsilon(q, 0.001, 50, found, answer, law, 1e-6, '{9,5,2,1,0.5,0.2,0.1,0.05,0.01}');
            INSERT INTO asked SELECT q, law, found, max(r.epsilon) FILTER (WHERE r.svt_statistic <= 0 OR r.svt_accept = 1),
                                     min(abs(r.svt_statistic / r.svt_sensitivity)) FILTER (WHERE r.svt_accept < 1) > 2
            FROM dp_risk(q, '{9,5,2,1,0.5,0.2,0.1,0.05,0.01}', law, 1e-6, tau_var => 0.001, epsilon_svt => 50) r;
        END LOOP;
    END LOOP;
END $$;
-- Twice the sensitivity is 61 scales of the noise.
SELECT mechanism, count(*), count(*) FILTER (WHERE certain) AS certain, count(*) FILTER (WHERE epsilon IS DISTINCT FROM expected) AS wrong,
       string_agg(epsilon::text, ' ' ORDER BY query) AS epsilons
FROM asked GROUP BY mechanism ORDER BY mechanism DESC;

-- ---------------------------------------------------------------------------------------------------------------------
-- What is charged: the selection before its first comparison, and then the epsilon that it found
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE bare AS SELECT i AS id, i % 2 = 0 AS even FROM generate_series(1, 20000) i;
SELECT dp_protect('bare', 'bare_dp');
SELECT dp_set_odometer('bare', 'filter', 100);
CREATE FUNCTION rows_of(relation text) RETURNS TABLE (kind text, algorithm text, account text, epsilon numeric, epsilon_svt numeric, epsilon_worst numeric, guarantee text, tau_var text)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT l.kind, l.algorithm, l.account, l.epsilon, l.epsilon_svt, l.epsilon_worst, l.guarantee, l.parameters ->> 'tau_var'
    FROM dp_rdr.ledger l WHERE l.relation = 'public.' || rows_of.relation ORDER BY l.id;
END;
CREATE FUNCTION total(relation regclass, OUT epsilon numeric, OUT releases bigint, OUT denials bigint)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
RETURN (SELECT (o.epsilon, o.releases, o.denials) FROM dp_odometer(relation) o WHERE o.account = 'public');

CALL dp_find_and_release_epsilon('SELECT count(*) FROM bare_dp WHERE even', 1e-4, 20, NULL, NULL) \gset
SELECT abs((:'answer'::jsonb -> 0 ->> 'count')::integer - 10000) < 1e4 AS close; -- off by 500 scales of the noise: e^-500
SELECT * FROM rows_of('bare');
SELECT * FROM total('bare');

-- Nothing varies so little: the selection stays charged, nobody is answered, a denial is counted.
CALL dp_find_and_release_epsilon('SELECT count(*) FROM bare_dp WHERE even', 0, 20, NULL, NULL);
SELECT * FROM total('bare');
-- So lax that the largest candidate passes on every table: no selection, and nothing to pay for one.
CALL dp_find_and_release_epsilon('SELECT count(*) FROM bare_dp WHERE even', 0.25, 20, NULL, NULL) \gset
SELECT :epsilon AS epsilon;
SELECT * FROM total('bare');
-- The small candidates always pass. When the data accept none before them, the largest of those is the result.
CALL dp_find_and_release_epsilon('SELECT count(*) FROM bare_dp WHERE even', 0.01, 20, NULL, NULL, candidates => '{10,5,0.3,0.2,0.1}') \gset
SELECT :epsilon AS epsilon;
-- Where nobody differs from anybody every candidate passes: the largest that the total leaves beside the selection.
CALL dp_find_and_release_epsilon('SELECT count(*) FROM bare_dp WHERE even IS NULL', 0.01, 20, NULL, NULL) \gset
SELECT :epsilon AS epsilon;
-- An empty table is one of those, if only just: its margin is 0, and the noise decides.
CREATE TABLE absent (id integer);
SELECT dp_protect('absent', 'absent_dp');
SELECT dp_set_odometer('absent', 'filter', 1000);
CALL dp_find_and_release_epsilon('SELECT count(*), sum(id) FILTER (WHERE id > 3) FROM absent_dp', 0.01, 20, NULL, NULL);
SELECT dp_set_bounds('absent', 'id', 0, 9);
CALL dp_find_and_release_epsilon('SELECT count(*), sum(id) FILTER (WHERE id > 3) FROM absent_dp', 0.01, 20, NULL, NULL) \gset
SELECT :epsilon > 0 AS selected;
SELECT dp_verify_ledger('bare'), dp_verify_ledger('trial');

-- ---------------------------------------------------------------------------------------------------------------------
-- Analysts: a policy with tau_var
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE poll AS SELECT i AS id, i % 2 = 0 AS yes FROM generate_series(1, 20000) i;
SELECT dp_protect('poll', 'poll_dp');
SELECT dp_grant('poll_dp', 'regress_analyst', tau_var => 1e-4, epsilon_svt => 20, epsilon_min => 0.0001);
SET ROLE regress_analyst;
-- Under the default total of 1 no candidate is left beside the selection: denied before anything is charged.
SELECT count(*) FROM poll_dp WHERE yes;
SELECT * FROM total('poll');
SELECT leaf, column_name, accepted, reason, epsilon FROM dp_explain('SELECT count(*) AS n FROM poll_dp WHERE yes');
RESET ROLE;
SET ROLE regress_controller;
SELECT dp_set_odometer('poll', 'filter', 100);
SET ROLE regress_analyst;
SELECT leaf, column_name, accepted, reason, epsilon, error95 FROM dp_explain('SELECT count(*) AS n FROM poll_dp WHERE yes');
SELECT abs(count(*) - 10000) < 1e4 AS close FROM poll_dp WHERE yes;
SELECT kind, account, epsilon, epsilon_svt, epsilon_worst FROM rows_of('poll');
SELECT column_name, epsilon, epsilon_svt, delta, mechanism, error95, reason FROM dp_last_release();
-- It asks for less: the candidates are cut before the selection. Below all of them nothing is left, and nothing charged.
SELECT n IS NOT NULL AS answered FROM dp_query('SELECT count(*) FROM poll_dp WHERE yes', epsilon => 0.0055) AS (n bigint);
SELECT epsilon, epsilon_svt, error95 FROM dp_last_release();
SELECT * FROM total('poll');
SELECT n IS NOT NULL AS answered FROM dp_query('SELECT count(*) FROM poll_dp WHERE yes', epsilon => 0.0005) AS (n bigint);
SELECT * FROM total('poll');
-- Rolled back: both charges stay.
BEGIN;
SELECT count(*) IS NOT NULL AS answered FROM poll_dp WHERE yes;
ROLLBACK;
SELECT * FROM total('poll');
-- epsilon_max permits 10, the total leaves 58 beside the selection, the role's share 7.9.
RESET ROLE;
SET ROLE regress_controller;
SELECT dp_revoke('poll_dp', 'regress_analyst'), dp_grant('poll_dp', 'regress_analyst', tau_var => 0.1, epsilon_svt => 1, epsilon_total => 49, epsilon_max => 10, candidates => '{10,7,6,5,1}');
SELECT epsilon FROM total('poll');
SET ROLE regress_analyst;
SELECT count(*) IS NOT NULL AS answered FROM poll_dp;
SELECT epsilon, epsilon_svt FROM dp_last_release();

-- `dynamic`: only candidates above what is consumed, and only selections above it that are charged.
RESET ROLE;
SET ROLE regress_controller;
CREATE TABLE ballot AS TABLE poll;
SELECT dp_protect('ballot', 'ballot_dp');
SELECT dp_set_odometer('ballot', 'dynamic', 'Infinity');
SELECT dp_grant('ballot_dp', 'regress_analyst', tau_var => 0.2, epsilon_svt => 0.1, epsilon_max => 10, candidates => '{10,2,1,0.05}');
SET ROLE regress_analyst;
SELECT n IS NOT NULL AS answered FROM dp_query('SELECT count(*) FROM ballot_dp WHERE id IS NULL', epsilon => 0.05) AS (n bigint);
SELECT * FROM total('ballot');
SELECT n IS NOT NULL AS answered FROM dp_query('SELECT count(*) FROM ballot_dp WHERE id IS NULL', epsilon => 0.05) AS (n bigint);
SELECT n IS NOT NULL AS answered FROM dp_query('SELECT count(*) FROM ballot_dp WHERE id IS NULL', epsilon => 2) AS (n bigint);
SELECT epsilon FROM total('ballot');
RESET ROLE;
SET ROLE regress_controller;
SELECT dp_revoke('ballot_dp', 'regress_analyst'), dp_grant('ballot_dp', 'regress_analyst', tau_var => 0.2, epsilon_svt => 20, epsilon_max => 100, candidates => '{100,2,1,0.05}');
SET ROLE regress_analyst;
SELECT count(*) IS NOT NULL AS answered FROM ballot_dp WHERE id IS NULL;
SELECT * FROM total('ballot');
-- The next one would cost 20 again, which is not above 122.05: it is denied before it compares anything.
SELECT count(*) IS NOT NULL AS answered FROM ballot_dp WHERE id IS NULL;
SELECT * FROM total('ballot');
-- Nor do selections that fail add up: with the smallest tau_var 20 of them are one charge.
RESET ROLE;
SET ROLE regress_controller;
CREATE TABLE tally AS TABLE poll;
SELECT dp_protect('tally', 'tally_dp'), dp_set_odometer('tally', 'dynamic', 'Infinity');
SELECT dp_grant('tally_dp', 'regress_analyst', tau_var => 0.000001, epsilon_svt => 10, epsilon_max => 100, candidates => '{100,50,20}');
SET ROLE regress_analyst;
DO $$ BEGIN FOR i IN 1..20 LOOP BEGIN PERFORM count(*) FROM tally_dp WHERE id % 2 = 0; EXCEPTION WHEN SQLSTATE '53400' THEN NULL; END; END LOOP; END $$;
RESET ROLE;
SELECT count(*) FILTER (WHERE kind = 'selection') AS selections, sum(epsilon) < 2 * max(epsilon) AS below_twice_the_largest
FROM dp_rdr.ledger WHERE relation = 'public.tally';

-- ---------------------------------------------------------------------------------------------------------------------
-- Weights: about so many times the price, within what the policy permits
-- ---------------------------------------------------------------------------------------------------------------------

RESET ROLE;
SET ROLE regress_controller;
CREATE TABLE survey AS SELECT i AS id, i % 7 AS kind FROM generate_series(1, 1000) i;
SELECT dp_protect('survey', 'survey_dp');
SELECT dp_set_odometer('survey', 'filter', 100);
SELECT dp_grant('survey_dp', 'regress_analyst', tau => 0.95, weight_min => 0.25, weight_max => 4);
SET ROLE regress_analyst;
CREATE FUNCTION pg_temp.price(weight float8) RETURNS numeric LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM dp_query('SELECT count(*) FROM survey_dp', weight => price.weight) AS (n bigint);
    RETURN (SELECT epsilon FROM dp_last_release());
END $$;
SELECT w AS weight, pg_temp.price(w) AS epsilon FROM unnest('{0.001,0.25,0.5,1,2,4,1000}'::float8[]) w;
SELECT count(*) IS NOT NULL AS answered FROM survey_dp;
SELECT epsilon FROM dp_last_release();
RESET ROLE;
SET ROLE regress_controller;
SELECT parameters ->> 'weight' AS weight, epsilon FROM dp_rdr.ledger WHERE relation = 'public.survey' ORDER BY id;
-- A policy without weights: everybody weighs 1. One whose least weight is 2: everybody weighs that much.
SELECT dp_revoke('survey_dp', 'regress_analyst'), dp_grant('survey_dp', 'regress_analyst', tau => 0.95);
SET ROLE regress_analyst;
SELECT pg_temp.price(2) AS epsilon;
RESET ROLE;
SET ROLE regress_controller;
SELECT dp_revoke('survey_dp', 'regress_analyst'), dp_grant('survey_dp', 'regress_analyst', tau => 0.95, weight_min => 2, weight_max => 2, mechanism => 'gaussian', delta => 1e-6, epsilon_max => 10); -- no delta left
SELECT dp_set_odometer('survey', 'filter', 100, 0.01);
SELECT dp_revoke('survey_dp', 'regress_analyst'), dp_grant('survey_dp', 'regress_analyst', tau => 0.95, weight_min => 2, weight_max => 2, mechanism => 'gaussian', delta => 1e-6, epsilon_max => 10);
SELECT dp_grant('survey_dp', 'regress_second', tau => 0.95, mechanism => 'gaussian', delta => 1e-6, epsilon_max => 10);
SET ROLE regress_analyst;
SELECT count(*) IS NOT NULL AS answered FROM survey_dp;
SELECT epsilon, delta, mechanism FROM dp_last_release();
RESET ROLE;
SET ROLE regress_second;
SELECT * FROM dp_last_release(); -- the analyst's is none of its business
SELECT count(*) IS NOT NULL AS answered FROM survey_dp;
SELECT epsilon, delta, mechanism FROM dp_last_release();
-- tau_var and the data's own selection weigh as well.
RESET ROLE;
SET ROLE regress_controller;
SELECT dp_revoke('survey_dp', 'regress_analyst'), dp_grant('survey_dp', 'regress_analyst', tau_var => 0.001, epsilon_svt => 20, epsilon_max => 10, weight_max => 5);
SET ROLE regress_analyst;
SELECT n IS NOT NULL AS answered FROM dp_query('SELECT count(*) FROM survey_dp WHERE kind = 0', weight => 3) AS (n bigint);
RESET ROLE;
SET ROLE regress_controller;
SELECT DISTINCT parameters ->> 'tau_var' AS tau_var, parameters ->> 'weight' AS weight FROM dp_rdr.ledger
WHERE relation = 'public.survey' AND algorithm = 'released';
SELECT dp_revoke('survey_dp', 'regress_second'), dp_grant('survey_dp', 'regress_second', tau => 0.95, selection => 'within_data', weight_max => 4);
SET ROLE regress_second;
SELECT n IS NOT NULL AS answered FROM dp_query('SELECT count(*) FROM survey_dp WHERE kind = 0', weight => 4) AS (n bigint);
RESET ROLE;
SET ROLE regress_controller;
SELECT epsilon, parameters ->> 'weight' AS weight FROM dp_rdr.ledger WHERE relation = 'public.survey' AND algorithm = 'within_data';

-- ---------------------------------------------------------------------------------------------------------------------
-- dp_last_release
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_second;
-- Chosen from the data: nothing may be said.
SELECT * FROM dp_last_release();
RESET ROLE;
SET ROLE regress_controller;
SELECT dp_grant('trial_dp', 'regress_analyst', tau => 0.95, epsilon_max => 1);
SET ROLE regress_analyst;
-- Every column by the name that the statement gives it; an average is as wide as its noisy count makes it.
SELECT arm, count(*) IS NOT NULL AS n, avg(score) AS mean, sum(dose) AS total FROM trial_dp GROUP BY arm ORDER BY arm \g /dev/null
SELECT column_name, epsilon, epsilon_svt, CASE WHEN column_name <> 'mean' THEN error95::integer::text ELSE (error95 BETWEEN 0.1 AND 40)::text END AS error95
FROM dp_last_release();
SELECT avg(score) AS mean FROM trial_dp \gset
SELECT error95 > 0.01 AND error95 < 40 AND abs(:mean - 19.5) < 20 AS sensible FROM dp_last_release();
-- An error leaves what was there.
SELECT count(*) FROM trial_dp WHERE no_such_column;
SELECT column_name FROM dp_last_release();
RESET ROLE;
SELECT count(*) FROM dp_last_release();

-- ---------------------------------------------------------------------------------------------------------------------
-- Refused
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_controller;
CREATE FUNCTION error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    message text;
    state text;
    hint text;
BEGIN
    EXECUTE statement;
    RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, state = RETURNED_SQLSTATE, hint = PG_EXCEPTION_HINT;
    RETURN state || ' ' || message || coalesce(' / ' || nullif(hint, ''), '');
END $$;
SELECT a, error_of(format('SELECT dp_grant(''trial_dp'', ''regress_second'', %s)', a)) AS error FROM (VALUES
    ($$tau_var => -1$$), ($$tau_var => 'NaN'$$), ($$tau_var => 2$$), ($$tau_var => 'Infinity'$$), ($$tau => 0.5, tau_var => 0.1$$),
    ($$tau_var => 0.1, selection => 'within_domain'$$), ($$tau_var => 0.1, selection => 'within_data'$$), ($$tau => 0.1, selection => 'released'$$),
    ($$tau_var => 0.1, epsilon_svt => 0$$), ($$tau_var => 0.1, epsilon_svt => 2e-9$$), ($$tau_var => 0.1, epsilon_svt => 'NaN'$$),
    ($$tau_var => 0.1, epsilon_svt => 101$$), ($$tau_var => 0.1, epsilon_svt => NULL$$), ($$tau => 0.5, weight_min => 4, weight_max => 1$$),
    ($$tau => 0.5, weight_min => NULL$$), ($$tau_var => 0.1, mechanism => 'gaussian'$$)) v (a);
SELECT a, error_of(format('CALL dp_find_and_release_epsilon(%s)', a)) AS error FROM (VALUES
    ($$NULL, 0.1$$), ($$'SELECT count(*) FROM trial_dp', NULL$$), ($$'SELECT count(*) FROM trial_dp', 'NaN'$$),
    ($$'SELECT count(*) FROM trial_dp', -0.1$$), ($$'SELECT count(*) FROM trial_dp', 0.1, 0$$), ($$'SELECT count(*) FROM trial_dp', 0.1, NULL$$),
    ($$'SELECT count(*) FROM trial_dp', 0.1, mechanism => 'gaussian'$$), ($$'SELECT count(*) FROM trial_dp', 0.1, mechanism => 'uniform'$$),
    ($$'SELECT count(*) FROM trial_dp', 0.1, candidates => '{}'$$), ($$'SELECT CASE WHEN id > 0 THEN dose END, count(*) FROM trial_dp GROUP BY 1', 0.1$$),
    ($$'SELECT count(*) FROM trial', 0.1$$), ($$'SELECT 1; SELECT 2', 0.1$$)) v (a);
-- Several questions are refused with what they are; so is a median, whose sensitivity to one record depends on the others.
\set VERBOSITY default
CALL dp_find_and_release_epsilon('SELECT (SELECT count(*) FROM trial_dp), (SELECT count(*) FROM trial_dp WHERE ill)', 0.25);
CALL dp_find_and_release_epsilon('SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY dose) FROM trial_dp', 0.1);
CALL dp_find_and_release_epsilon('SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY dose) FROM trial_dp', 0.1, mechanism => 'gaussian', delta => 1e-6);
\set VERBOSITY terse
-- Only the owner of the table.
SET ROLE regress_analyst;
CALL dp_find_and_release_epsilon('SELECT count(*) FROM trial_dp', 0.1);
-- The aggregate of the internal statement takes the library's own specifications and nothing else.
SELECT dp_rdr.cells('\x00', 1);
SELECT dp_rdr.cells(NULL, 1);
SELECT dp_rdr.cells(decode(repeat('00', 16), 'hex'), 1);
SELECT dp_rdr.cells(decode(repeat('01', 168), 'hex'), 1);
SELECT dp_rdr.cells('\x00', 1) OVER ();
SELECT dp_rdr.cells_step(1, '\x00', 1);
RESET ROLE;
SET ROLE regress_controller;
DROP TABLE question, selected, drawn, asked;
DROP FUNCTION expected_epsilon, candidates, rows_of, total, error_of;
RESET ROLE;
