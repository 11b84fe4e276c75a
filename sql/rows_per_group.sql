-- How many rows of a person count in each group (max_rows_per_group): with Gaussian noise what a person brings is limited in the root of
-- the squares of what is in each group. Against a reference in SQL, to within the noise; risks, which have none, exactly.
\set VERBOSITY default
LOAD 'dp_rdr';
SET ROLE regress_controller;

-- ---------------------------------------------------------------------------------------------------------------------
-- Declared
-- ---------------------------------------------------------------------------------------------------------------------

-- Of people 1 to 400 each comes once on six days, of 401 to 700 nine times on one and once on three, some of 701 to 800 on a hundred
-- that nobody else knows; 801 to 1000 not at all.
CREATE TABLE rg_person (pid integer PRIMARY KEY, age integer);
INSERT INTO rg_person SELECT i, i % 90 FROM generate_series(1, 1000) i;
CREATE TABLE rg_visit (pid integer, day text, kind text, cost integer);
INSERT INTO rg_visit SELECT i, 'd' || (i + k) % 8, 'k' || (i + k) % 8, (i * 7 + k) % 21 - 5 FROM generate_series(1, 400) i, generate_series(1, 6) k;
INSERT INTO rg_visit SELECT i, 'd' || CASE WHEN k <= 9 THEN i % 8 ELSE (i + k) % 8 END, 'k' || CASE WHEN k <= 9 THEN i % 8 ELSE (i + k) % 8 END, k
FROM generate_series(401, 700) i, generate_series(1, 12) k;
INSERT INTO rg_visit SELECT i, 'x' || k, 'own ' || i, 5 FROM generate_series(701, 800) i, generate_series(1, 100) k;
INSERT INTO rg_visit SELECT NULL, 'd1', 'k1', 5 FROM generate_series(1, 50); -- nobody's

SELECT dp_protect('rg_person', 'rg_person_dp', unit => 'pid');
SELECT attempt($$SELECT dp_protect('rg_visit', 'rg_visit_dp', unit => 'pid -> rg_person(pid)', max_rows => 8, max_rows_per_group => 9)$$);
SELECT attempt($$SELECT dp_protect('rg_visit', 'rg_visit_dp', unit => 'pid -> rg_person(pid)', max_rows => 8, max_rows_per_group => 0)$$);
SELECT attempt($$SELECT dp_protect('rg_visit', 'rg_visit_dp', unit => 'pid -> rg_person(pid)', max_rows_per_group => 1)$$);
SELECT attempt($$SELECT dp_protect('rg_visit', 'rg_visit_dp', max_rows_per_group => 1)$$);
SELECT dp_protect('rg_visit', 'rg_visit_dp', unit => 'pid -> rg_person(pid)', max_rows => 8, max_groups => 6, max_rows_per_group => 2);
SELECT attempt($$SELECT dp_protect('rg_visit', 'rg_visit_other', max_rows_per_group => 3)$$);
SELECT relation, max_rows, max_groups, max_rows_per_group FROM dp_domain('rg_visit');
SELECT value, call FROM dp_settings('rg_visit') WHERE item IN ('unit', 'view');
SELECT attempt($$SELECT dp_set_contribution('rg_visit', max_rows_per_group => 9)$$);
SELECT attempt($$SELECT dp_set_contribution('rg_visit', max_rows => 1)$$);
SELECT attempt($$SELECT dp_set_contribution('rg_visit', max_rows_per_group => -1)$$);
SELECT attempt($$SELECT dp_set_contribution('rg_person', max_rows_per_group => 2)$$);
SELECT dp_set_contribution('rg_visit', max_groups => 8); -- what is not passed stays
SELECT max_rows, max_groups, max_rows_per_group FROM dp_domain('rg_visit') WHERE relation = 'rg_visit'::regclass;
SELECT dp_set_unit('rg_visit', 'pid -> rg_person(pid)', max_rows => 8); -- and what dp_set_unit is not told is not declared
SELECT max_rows, max_groups, max_rows_per_group FROM dp_domain('rg_visit') WHERE relation = 'rg_visit'::regclass;
SELECT dp_set_unit('rg_visit', 'pid -> rg_person(pid)', max_rows => 8, max_rows_per_group => 2);
SELECT dp_set_groups('rg_visit', 'day', '{d0,d1,d2,d3,d4,d5,d6,d7}'), dp_set_bounds('rg_visit', 'cost', -4, 10);
SELECT dp_set_odometer('rg_person', 'none', delta_total => 0.9);
SELECT dp_grant(v, 'regress_analyst', tau => 0, mechanism => 'gaussian', candidates => '{100}', epsilon_max => 100, delta => 1e-6)
FROM unnest('{rg_person_dp,rg_visit_dp}'::regclass[]) v;
RESET ROLE;

-- ---------------------------------------------------------------------------------------------------------------------
-- What is said beforehand
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_analyst;
SELECT column_name, accepted, reason, max_rows, max_groups, max_rows_per_group
FROM dp_explain('SELECT day, count(*), sum(cost), avg(cost), var_pop(cost), count(DISTINCT pid) FROM rg_visit_dp GROUP BY day');
-- The error is that of the root of the product.
SELECT c, round((error95 * sqrt(64.0 / (8 * c)))::numeric, 1) AS of_sixty_four, max_rows_per_group
FROM unnest('{1,2,4,8}'::int[]) c, LATERAL dp_explain('SELECT day, sum(cost * 1000) FROM rg_visit_dp GROUP BY day', max_rows_per_group => c) WHERE column_name = 'sum';
-- Where it changes nothing it says so.
SELECT reason, max_rows_per_group FROM dp_explain('SELECT count(*) FROM rg_visit_dp');
SELECT reason, max_rows_per_group FROM dp_explain('SELECT day, count(DISTINCT cost) FROM rg_visit_dp GROUP BY day') WHERE column_name = 'count';
SELECT reason, max_rows_per_group FROM dp_explain('SELECT count(*) FROM rg_person_dp', max_rows_per_group => 1);
SELECT reason, max_rows, max_rows_per_group FROM dp_explain('SELECT n, count(*) FROM (SELECT pid, count(*) AS n FROM rg_visit_dp GROUP BY pid) t GROUP BY n', max_rows_per_group => 1) WHERE column_name = 'count';
-- What is compared with a threshold is a count of people, one in each of max_groups: the root of that.
SELECT g AS max_groups, min(threshold) AS threshold FROM unnest('{1,4,8}'::int[]) g,
    LATERAL dp_explain('SELECT kind, count(*) FROM rg_visit_dp GROUP BY kind', max_groups => g) GROUP BY 1 ORDER BY 1;
-- Of a smaller max_rows no more than all; of one that is asked for it is no more either.
SELECT max_rows, max_rows_per_group FROM dp_explain('SELECT day, count(*) FROM rg_visit_dp GROUP BY day', max_rows => 1) WHERE column_name = 'count';
SELECT max_rows, max_rows_per_group FROM dp_explain('SELECT day, count(*) FROM rg_visit_dp GROUP BY day', max_rows_per_group => 100) WHERE column_name = 'count';
SELECT * FROM dp_query('SELECT day, count(*) FROM rg_visit_dp GROUP BY day', max_rows => 3, max_rows_per_group => 4) AS (day text, n bigint);
SELECT * FROM dp_query('SELECT day, count(*) FROM rg_visit_dp GROUP BY day', max_rows_per_group => 0) AS (day text, n bigint);
SELECT * FROM dp_explain('SELECT day, count(*) FROM rg_visit_dp GROUP BY day', max_rows_per_group => 1048577);
SELECT dp_request('SELECT day, count(*) FROM rg_visit_dp GROUP BY day', 'to know', max_rows_per_group => -5);
SELECT * FROM dp_rdr.release('SELECT day, count(*) FROM public.rg_visit_dp GROUP BY day', NULL, 1, NULL, NULL, 1, true, 2, NULL, 3) AS (day text, n bigint);
RESET ROLE;

-- ---------------------------------------------------------------------------------------------------------------------
-- Answers against a reference
-- ---------------------------------------------------------------------------------------------------------------------

-- query: columns g and x. points: what each row brings: unit, group, coordinate, lattice points. row: what one brings at most; r, c: the
-- limits that are asked for; scale: lattice points of one of what is printed; measures: that share rho.
SET ROLE regress_controller;
CREATE TABLE rg_query (name text PRIMARY KEY, query text, points text, "row" numeric, r integer, c integer, scale numeric, measures integer);
INSERT INTO rg_query VALUES
('count', 'SELECT day AS g, count(*) AS x FROM rg_visit_dp GROUP BY day', 'SELECT pid, day, 1, 1048576 FROM rg_visit WHERE day < ''x''', 1048576, 8, 2, 1048576, 1),
('one in each', 'SELECT day AS g, count(*) AS x FROM rg_visit_dp GROUP BY day', 'SELECT pid, day, 1, 1048576 FROM rg_visit WHERE day < ''x''', 1048576, 6, 1, 1048576, 1),
('all in each', 'SELECT day AS g, count(*) AS x FROM rg_visit_dp GROUP BY day', 'SELECT pid, day, 1, 1048576 FROM rg_visit WHERE day < ''x''', 1048576, 3, 3, 1048576, 1),
('some', 'SELECT day AS g, count(*) AS x FROM rg_visit_dp WHERE cost > 2 GROUP BY day', 'SELECT pid, day, 1, 1048576 FROM rg_visit WHERE day < ''x'' AND cost > 2', 1048576, 3, 2, 1048576, 1),
('sum', 'SELECT day AS g, sum(cost) AS x FROM rg_visit_dp GROUP BY day',
 'SELECT pid, day, 1, least(10, greatest(-4, cost)) * 67108864::numeric FROM rg_visit WHERE day < ''x''', 10 * 67108864::numeric, 4, 2, 67108864, 1),
('sum below 0', 'SELECT day AS g, sum(-cost) AS x FROM rg_visit_dp GROUP BY day',
 'SELECT pid, day, 1, least(4, greatest(-10, -cost)) * 67108864::numeric FROM rg_visit WHERE day < ''x''', 10 * 67108864::numeric, 4, 2, 67108864, 1),
('derived', 'SELECT CASE WHEN cost > 3 THEN ''dear'' ELSE ''cheap'' END AS g, count(*) AS x FROM rg_visit_dp WHERE pid <= 700 GROUP BY 1',
 'SELECT pid, CASE WHEN cost > 3 THEN ''dear'' ELSE ''cheap'' END, 1, 1048576 FROM rg_visit WHERE pid <= 700', 1048576, 8, 2, 1048576, 1),
-- A count of people is one in each of max_groups, which is r here.
('people', 'SELECT day AS g, count(DISTINCT pid) AS x FROM rg_visit_dp GROUP BY day', 'SELECT DISTINCT pid, day, 1, 1048576 FROM rg_visit WHERE day < ''x''', 1048576, 4, 1, 1048576, 1),
('discovered', 'SELECT kind AS g, count(*) AS x FROM rg_visit_dp WHERE pid <= 700 GROUP BY kind',
 'SELECT pid, kind, 1, 1048576 FROM rg_visit WHERE pid <= 700', 1048576, 8, 2, 1048576, 2),
-- What the two sums of an average add up to.
('of a pair', 'SELECT day AS g, n AS x FROM (SELECT day, count(cost) AS n, avg(cost) AS a FROM rg_visit_dp GROUP BY day) t',
 'SELECT pid, day, h, CASE h WHEN 1 THEN z ELSE 1073741824 - z END
  FROM (SELECT pid, day, round((least(10, greatest(-4, cost)) + 4) * 1073741824::numeric / 14) AS z FROM rg_visit WHERE day < ''x'') v, generate_series(1, 2) h',
 1073741824, 8, 2, 1073741824, 1);

-- Where each row is a person.
CREATE TABLE rg_row (id integer);
SELECT dp_protect('rg_row', 'rg_row_dp');
SELECT dp_grant('rg_row_dp', 'regress_analyst', tau => 0);
RESET ROLE;
SET ROLE regress_analyst;
SELECT * FROM dp_query('SELECT count(*) FROM rg_row_dp', max_rows_per_group => 2) AS (n bigint);
RESET ROLE;
SET ROLE regress_controller;

-- The least whole number whose square is no less.
CREATE FUNCTION rg_root(square numeric) RETURNS numeric LANGUAGE sql AS $$
    SELECT min(r) FROM (SELECT floor(sqrt(square)) + i AS r FROM generate_series(-1, 2) i) t WHERE r >= 0 AND r * r >= square
$$;
CREATE TABLE rg_expected (name text, g text, x float8, summed float8);
-- summed: as it would be with the limit of all rows alone.
CREATE PROCEDURE rg_expect() LANGUAGE plpgsql AS $$
DECLARE
    q rg_query;
BEGIN
    FOR q IN SELECT * FROM rg_query LOOP
        EXECUTE format('INSERT INTO rg_expected
            WITH brought AS (SELECT unit, g, h, sum(z)::numeric AS v FROM (%s) p (unit, g, h, z) WHERE unit IS NOT NULL GROUP BY unit, g, h),
                groups AS (SELECT *, sum(abs(v)) OVER (PARTITION BY unit, g) AS n FROM brought),
                norms AS (SELECT *, sum(CASE WHEN h = 1 THEN n * n ELSE 0 END) OVER (PARTITION BY unit) AS squares, sum(abs(v)) OVER (PARTITION BY unit) AS all_of_it FROM groups)
            SELECT $1, g, sum(CASE WHEN squares <= $2 * $2 THEN v ELSE sign(v) * floor(abs(v) * $2 / rg_root(squares)) END) / $4,
                sum(CASE WHEN all_of_it <= $3 THEN v ELSE sign(v) * floor(abs(v) * $3 / all_of_it) END) / $4 FROM norms GROUP BY g', q.points)
        USING q.name, rg_root(q."row" * q."row" * q.r * q.c), q."row" * q.r, q.scale;
    END LOOP;
END $$;
CALL rg_expect();
GRANT SELECT ON rg_query, rg_expected TO regress_analyst;
SELECT name, round(sum(x)::numeric, 2) AS x, round(sum(summed)::numeric, 2) AS summed FROM rg_expected GROUP BY name ORDER BY name COLLATE "C";
RESET ROLE;

-- rho of (100, 1e-6) is 47.6: sigma = root(r c m / 95.2) rows, a pair's count has two of it. Beyond seven sigma: once in 10^11.
SET ROLE regress_analyst;
CREATE FUNCTION pg_temp.compare(q rg_query, OUT groups bigint, OUT close boolean, OUT not_summed boolean) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT count(*), bool_and(coalesce(abs(a.x - e.x) <= 1 + 7 * $2, false)), bool_or(abs(a.x - e.summed) > 1 + 7 * $2)
        FROM (%s) a FULL JOIN (SELECT g, x, summed FROM rg_expected WHERE name = $1) e USING (g)',
        format('SELECT g, x::float8 FROM dp_query(%L, max_rows => %s, max_groups => %s, max_rows_per_group => %s) AS (g text, x bigint)', q.query, q.r, q.r, q.c))
    INTO groups, close, not_summed USING q.name, sqrt(q.r * q.c * q.measures * (CASE WHEN q.name LIKE '%pair' THEN 2 ELSE 1 END) / 95.2) * q."row" / q.scale;
END $$;
SELECT name, c.* FROM rg_query q, pg_temp.compare(q) c ORDER BY name COLLATE "C";
-- Averages and variances are about what is left of everybody.
SELECT day, abs(a - 5) < 2 AS a, v BETWEEN 3 AND 30 AS v FROM dp_query('SELECT day, avg(cost), var_pop(cost) FROM rg_visit_dp GROUP BY day', max_rows => 12) AS (day text, a numeric, v numeric) ORDER BY 1;
RESET ROLE;

-- ---------------------------------------------------------------------------------------------------------------------
-- The ledger, stored answers, requests
-- ---------------------------------------------------------------------------------------------------------------------

SELECT parameters -> 'max_rows' AS r, parameters -> 'max_rows_per_group' AS c, jsonb_path_query_array(parameters, '$.measures[*].sensitivity') AS d, count(*)
FROM dp_rdr.ledger WHERE relation = 'public.rg_visit' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
SET ROLE regress_controller;
SELECT dp_grant('rg_visit_dp', 'regress_analyst', replay => '1 day');
RESET ROLE;
CREATE FUNCTION rg_charges() RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ SELECT count(*) FROM dp_rdr.ledger WHERE relation = 'public.rg_visit' $$;
SET ROLE regress_analyst;
SELECT rg_charges() AS before \gset
SELECT c, count(*) FROM unnest('{2,3,2,3,NULL}'::int[]) c, LATERAL dp_query('SELECT day, count(*) FROM rg_visit_dp GROUP BY day', max_rows_per_group => c) AS (day text, n bigint) GROUP BY c ORDER BY c;
SELECT rg_charges() - :before AS two_questions;
SELECT rg_charges() AS before \gset
SELECT c, count(*) FROM unnest('{2,3,NULL}'::int[]) c, LATERAL dp_query('SELECT count(*) FROM rg_visit_dp', max_rows_per_group => c) AS (n bigint) GROUP BY c ORDER BY c;
SELECT rg_charges() - :before AS one_question;
RESET ROLE;
SET ROLE regress_controller;
SELECT dp_grant('rg_visit_dp', 'regress_analyst', mechanism => 'laplace');
RESET ROLE;
SET ROLE regress_analyst;
SELECT rg_charges() AS before \gset
SELECT c, count(*) FROM unnest('{1,8,NULL}'::int[]) c, LATERAL dp_query('SELECT day, count(*) FROM rg_visit_dp GROUP BY day', max_rows_per_group => c) AS (day text, n bigint) GROUP BY c ORDER BY c;
SELECT rg_charges() - :before AS one_question;
SELECT column_name, reason, error95, max_rows_per_group FROM dp_explain('SELECT day, count(*) AS n FROM rg_visit_dp GROUP BY day', max_rows => 7) WHERE column_name = 'n';
SELECT bool_and(e.error95 = p.error95) AS same FROM dp_explain('SELECT day, count(*) AS n, sum(cost) FROM rg_visit_dp GROUP BY day', max_rows => 7) e
JOIN dp_explain('SELECT day, count(*) AS n, sum(cost) FROM rg_visit_dp GROUP BY day', max_rows => 7, max_rows_per_group => 7) p USING (column_name) WHERE column_name <> 'day';
RESET ROLE;
SET ROLE regress_controller;
SELECT dp_grant('rg_visit_dp', 'regress_analyst', mechanism => 'gaussian', replay => '0');
RESET ROLE;
SET SESSION AUTHORIZATION regress_analyst;
SELECT dp_request('SELECT day, count(*) FROM rg_visit_dp GROUP BY day', 'to know', max_rows => 6, max_rows_per_group => 1) AS request \gset
RESET SESSION AUTHORIZATION;
SELECT parameters ->> 'max_rows' AS r, parameters ->> 'max_rows_per_group' AS c FROM dp_rdr.request WHERE id = :request;
SET SESSION AUTHORIZATION regress_controller;
SELECT state FROM dp_approve(:request, basis => 'public');
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_analyst;
SELECT count(*), bool_and(abs(n - x) < 10) AS close FROM dp_fetch(:request) AS (day text, n bigint) JOIN rg_expected ON g = day AND name = 'one in each';
SELECT count(*) AS redrawn, bool_and(abs(n - x) < 15) AS close FROM dp_redraw(:request, 20) AS (draw int, day text, n bigint) JOIN rg_expected ON g = day AND name = 'one in each';
RESET SESSION AUTHORIZATION;
SELECT parameters -> 'max_rows_per_group' AS c, jsonb_path_query_array(parameters, '$.measures[*].sensitivity') AS d
FROM dp_rdr.ledger WHERE relation = 'public.rg_visit' AND parameters ? 'request';

-- ---------------------------------------------------------------------------------------------------------------------
-- Risks: what a person moves, exactly
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_controller;
CREATE TABLE rg_small (pid integer, day text, cost integer);
INSERT INTO rg_small SELECT i, 'd' || k % (1 + i % 4), (i * k) % 15 - 4 FROM generate_series(1, 9) i, generate_series(1, i) k;
SELECT dp_protect('rg_small', 'rg_small_dp', unit => 'pid -> rg_person(pid)', max_rows => 4, max_rows_per_group => 2);
SELECT dp_set_groups('rg_small', 'day', '{d0,d1,d2,d3}'), dp_set_bounds('rg_small', 'cost', -4, 10);
-- By measure: a count, a sum, a pair. Of the pair the average counts (formulas.md 1.2a): how far its position between the bounds moves in each
-- group, as a part of the most that R rows, or the root of R C, move it by.
CREATE FUNCTION rg_risk(squared boolean) RETURNS TABLE (pid integer, pis numeric) LANGUAGE sql AS $$
    WITH d (m, d) AS (SELECT m, CASE WHEN squared THEN rg_root(b * b * 8) ELSE b * 4 END FROM (VALUES (1, 1048576::numeric), (2, 10 * 67108864::numeric), (3, 1073741824::numeric)) x (m, b)),
        points (pid, day, m, h, z) AS (
            SELECT pid, day, 1, 1, 1048576::numeric FROM rg_small
            UNION ALL SELECT pid, day, 2, 1, least(10, greatest(-4, 2 * cost)) * 67108864::numeric FROM rg_small
            UNION ALL SELECT pid, day, 3, h, CASE h WHEN 1 THEN z ELSE 1073741824 - z END
                FROM (SELECT pid, day, round((cost + 4) * 1073741824::numeric / 14) AS z FROM rg_small) s, generate_series(1, 2) h),
        brought AS (SELECT pid, day, m, h, sum(z) AS v FROM points GROUP BY pid, day, m, h),
        groups AS (SELECT *, sum(abs(v)) OVER (PARTITION BY pid, m, day) AS n FROM brought),
        norms AS (SELECT *, CASE WHEN squared THEN rg_root(sum(CASE WHEN h = 1 THEN n * n ELSE 0 END) OVER w) ELSE sum(abs(v)) OVER w END AS n_all,
                      CASE WHEN squared THEN sum(CASE WHEN h = 1 THEN n * n ELSE 0 END) OVER w <= d * d ELSE sum(abs(v)) OVER w <= d END AS fits
                  FROM groups JOIN d USING (m) WINDOW w AS (PARTITION BY pid, m)),
        kept AS (SELECT pid, day, m, d, h, CASE WHEN fits THEN abs(v) ELSE floor(abs(v) * d / n_all) END AS f FROM norms),
        averages AS (SELECT pid, day, d, coalesce(sum(f) FILTER (WHERE h = 1), 0) AS f1, coalesce(sum(f) FILTER (WHERE h = 2), 0) AS f0 FROM kept WHERE m = 3 GROUP BY pid, day, d),
        with_all AS (SELECT *, sum(f1) OVER (PARTITION BY day) AS s1, sum(f0) OVER (PARTITION BY day) AS s0 FROM averages),
        moved AS (SELECT pid, day, abs((s1 - s0) / greatest(1073741824, s1 + s0) - (s1 - s0 - f1 + f0) / greatest(1073741824, s1 + s0 - f1 - f0)) * (d + 1073741824) / (2 * d) AS f
                  FROM with_all),
        parts AS (SELECT pid, m, CASE WHEN squared THEN sum(f * f) / (d * d) ELSE sum(f) / d END AS part FROM kept WHERE m < 3 GROUP BY pid, m, d
                  UNION ALL SELECT pid, 3, CASE WHEN squared THEN sum(f * f) ELSE sum(f) END FROM moved GROUP BY pid)
    SELECT pid, CASE WHEN squared THEN sqrt(sum(part)) ELSE sum(part) END FROM parts GROUP BY pid
$$;
SELECT mechanism, count(*), bool_and(abs(r.pis - coalesce(e.pis, 0)) < 1e-9) AS same, max(r.pis) <= CASE mechanism WHEN 'gaussian' THEN sqrt(3) ELSE 3 END + 1e-12 AS at_most
FROM (VALUES ('laplace', false), ('gaussian', true)) x (mechanism, squared),
     LATERAL dp_risk_records('SELECT day, count(*), sum(least(10, greatest(-4, 2 * cost))), avg(cost) FROM rg_small_dp GROUP BY day', 1, mechanism, 1e-6) r
     LEFT JOIN LATERAL rg_risk(squared) e ON e.pid = (r.record ->> 'pid')::int
GROUP BY mechanism ORDER BY 1;
SELECT epsilon, round(rdr_min::numeric, 4) AS rdr_min, round(rdr_max::numeric, 4) AS rdr_max, round(noise_stddev::numeric, 3) AS noise_stddev
FROM dp_risk('SELECT day, count(*) FROM rg_small_dp GROUP BY day', mechanism => 'gaussian', delta => 1e-6, epsilons => '{10,1}');
RESET ROLE;

-- ---------------------------------------------------------------------------------------------------------------------
-- Rounds: those of a policy with Gaussian noise, and refined ones; of one with Laplace noise they are Gaussian, and summed
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_controller;
SET client_min_messages = warning; -- what it comes to so far
SELECT dp_set_odometer('rg_person', 'zcdp', epsilon_total => 100000, delta_total => 0.9);
SELECT dp_grant('rg_visit_dp', 'regress_analyst', epsilon_min => 0.01);
RESET client_min_messages;
RESET ROLE;
SET ROLE regress_analyst;
SELECT count(*), bool_and(abs(n - x) < 25) AS close FROM dp_query('SELECT day, count(*) FROM rg_visit_dp GROUP BY day', error95 => 8, max_rows => 6, max_rows_per_group => 1) AS (day text, n bigint)
JOIN rg_expected ON g = day AND name = 'one in each';
SELECT count(*), bool_and(abs(n - x) < 7) AS close FROM dp_refine(error95 => 1) AS (day text, n bigint) JOIN rg_expected ON g = day AND name = 'one in each';
SELECT mechanism, error95 <= 1 AS as_asked, reached FROM dp_last_release() WHERE column_name = 'count';
RESET ROLE;
SET ROLE regress_controller;
SELECT dp_grant('rg_visit_dp', 'regress_analyst', mechanism => 'laplace');
RESET ROLE;
SET ROLE regress_analyst;
SELECT count(*), bool_and(abs(n - summed) < 60) AS close FROM dp_query('SELECT day, count(*) FROM rg_visit_dp GROUP BY day', error95 => 8, within => 0.001, max_rows => 6, max_rows_per_group => 1) AS (day text, n bigint)
JOIN rg_expected ON g = day AND name = 'one in each';
SELECT mechanism FROM dp_last_release() WHERE column_name = 'count';
RESET ROLE;
SELECT DISTINCT kind, parameters -> 'max_rows_per_group' AS c, jsonb_path_query_array(parameters, '$.measures[*].sensitivity') AS d
FROM dp_rdr.ledger WHERE relation = 'public.rg_visit' AND kind = 'increment' ORDER BY 2, 3;
SET ROLE regress_controller;
SELECT dp_grant('rg_visit_dp', 'regress_analyst', mechanism => 'gaussian', epsilon_min => 100);
RESET ROLE;

-- ---------------------------------------------------------------------------------------------------------------------
-- Joins: of the only table with several rows; the choice of max_rows keeps the limit below itself
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_analyst;
SELECT reason, max_rows, max_rows_per_group FROM dp_explain('SELECT day, count(*) FROM rg_visit_dp v JOIN rg_person_dp p ON v.pid = p.pid WHERE age > 3 GROUP BY day') WHERE column_name = 'count';
SELECT reason, max_rows, max_rows_per_group FROM dp_explain('SELECT v.day, count(*) FROM rg_visit_dp v JOIN rg_visit_dp w ON v.pid = w.pid GROUP BY v.day') WHERE column_name = 'count';
SELECT reason, max_rows, max_rows_per_group FROM dp_explain('SELECT v.day, count(*) FROM rg_visit_dp v JOIN rg_visit_dp w ON v.pid = w.pid GROUP BY v.day', max_rows_per_group => 5) WHERE column_name = 'count';
RESET ROLE;
SET SESSION AUTHORIZATION regress_controller;
CALL dp_choose_contribution('rg_small', 100, tau => 0.999);
SELECT max_rows, max_rows_per_group FROM dp_domain('rg_small') WHERE relation = 'rg_small'::regclass;
RESET SESSION AUTHORIZATION;
DROP FUNCTION rg_charges;
