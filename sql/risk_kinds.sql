-- The risk of every kind of number, of rows and of people with several rows, against a reference in SQL that leaves out one after the
-- other and asks again (formulas.md 1.2a, 1.2c). No noisy number is printed.

LOAD 'dp_rdr';
CREATE TABLE rk_rows (id integer PRIMARY KEY, g text, y integer, x numeric(6,2), n integer);
CREATE TABLE rk_visits (vid integer PRIMARY KEY, pid integer, g text, y integer, x numeric(6,2), n integer);
INSERT INTO rk_rows SELECT i, substr('abc', 1 + i % 3, 1), CASE WHEN i % 11 = 4 THEN NULL ELSE i * i % 43 - 5 END,
                           CASE WHEN i % 13 = 6 THEN NULL ELSE (i * 37 % 101) / 4.0 END, i * 7 % 19
FROM generate_series(1, 45) i;
-- Nobody has more than three visits, so that nobody is clipped; in groups of their own, and in others'.
INSERT INTO rk_visits SELECT i, 1 + i * 5 % 23, substr('abc', 1 + i % 3, 1), CASE WHEN i % 11 = 4 THEN NULL ELSE i * i % 43 - 5 END,
                             CASE WHEN i % 13 = 6 THEN NULL ELSE (i * 37 % 101) / 4.0 END, i * 7 % 19
FROM generate_series(1, 60) i;
SELECT dp_protect('rk_rows', 'rk_rows_dp', columns => '{g,y,x,n}'),
       dp_protect('rk_visits', 'rk_visits_dp', unit => 'pid', max_rows => 3);
SELECT dp_set_bounds(t, 'y', -5, 37), dp_set_bounds(t, 'x', 0, 26), dp_set_bounds(t, 'n', 0, 18), dp_set_groups(t, 'g', '{a,b,c}'),
       dp_set_odometer(t, 'none') FROM unnest('{rk_rows,rk_visits}'::regclass[]) t;

-- What is asked, the most that one of r rows moves it by, and what NULL stands for. Two columns: a slope has no such limit, and counts as 1.
CREATE TABLE rk_asked (asked text, scale text, z float8 DEFAULT 0, tolerance float8 DEFAULT 1e-7, by_group boolean);
INSERT INTO rk_asked (asked, scale, z, tolerance) VALUES
('avg(y)', '42.0 * r / (r + 1)', 16, 1e-7), ('var_pop(y)', '441', 0, 1e-7), ('var_samp(y)', '882', 0, 1e-7),
('stddev_pop(y)', '21', 0, 1e-5), ('stddev_samp(y)', '42 / sqrt(2)', 0, 1e-5),
('covar_pop(y, x)', '42 * 26 / 4.0', 0, 1e-6), ('covar_samp(y, x)', '42 * 26 / 2.0', 0, 1e-6), ('corr(y, x)', '1', 0, 1e-5),
('regr_r2(y, x)', '1', 0, 1e-5), ('regr_slope(y, x)', '42 / 26.0', 0, 1e-5), ('regr_intercept(y, x)', '42', 0, 1e-5),
('percentile_disc(0.5) WITHIN GROUP (ORDER BY n)', '18', 9, 1e-9), ('percentile_disc(0.25) WITHIN GROUP (ORDER BY y)', '42', 16, 1e-9),
('max(n)', '18', 9, 1e-9), ('min(y)', '42', 16, 1e-9), ('count(DISTINCT n)', 'r', 0, 1e-9), ('count(*)', 'r', 0, 1e-9), ('sum(y)', '37 * r', 0, 1e-9);
UPDATE rk_asked SET by_group = false;
INSERT INTO rk_asked SELECT asked, scale, z, tolerance, true FROM rk_asked;
CREATE FUNCTION rk_answer(t regclass, asked text, by_group boolean) RETURNS TABLE (g text, v float8) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format('SELECT %s, (%s)::float8 FROM %s %s', CASE WHEN by_group THEN 'g' ELSE '''''::text' END, asked, t,
                                CASE WHEN by_group THEN 'GROUP BY g' ELSE '' END);
END $$;
CREATE TABLE rk_left_out (t regclass, asked text, by_group boolean, person int, pis float8, pis2 float8);
CREATE PROCEDURE rk_leave_out(t regclass, q rk_asked, key text, person int, r float8) LANGUAGE plpgsql AS $$
DECLARE
    scale float8;
    pis float8;
    pis2 float8;
BEGIN
    EXECUTE format('SELECT %s FROM (SELECT $1 AS r) s', q.scale) INTO scale USING r;
    CREATE TEMP TABLE rk_with AS SELECT * FROM rk_answer(t, q.asked, q.by_group);
    BEGIN
        EXECUTE format('DELETE FROM %s WHERE %I = $1', t, key) USING person;
        SELECT sum(d), sqrt(sum(d * d)) INTO pis, pis2
        FROM (SELECT least(abs(coalesce(w.v, q.z) - coalesce(o.v, q.z)) / scale, CASE WHEN q.asked ~ 'slope|intercept' THEN 1 ELSE 1e9 END) AS d
              FROM rk_with w FULL JOIN rk_answer(t, q.asked, q.by_group) o USING (g)) moved;
        RAISE EXCEPTION 'undo';
    EXCEPTION WHEN raise_exception THEN
    END;
    DROP TABLE rk_with;
    INSERT INTO rk_left_out VALUES (t, q.asked, q.by_group, person, pis, pis2);
END $$;
DO $$
DECLARE
    q rk_asked;
    i int;
BEGIN
    FOR q IN SELECT * FROM rk_asked LOOP
        FOR i IN 1 .. 45 LOOP
            CALL rk_leave_out('rk_rows', q, 'id', i, 1);
        END LOOP;
        FOR i IN 1 .. 23 LOOP
            CALL rk_leave_out('rk_visits', q, 'pid', i, 3);
        END LOOP;
    END LOOP;
END $$;

-- Those of dp_risk_records, everybody's in order. There is no percentile with Gaussian noise.
CREATE TABLE rk_found AS
SELECT t, q.asked, q.by_group, m AS mechanism, r.*
FROM rk_asked q, unnest('{rk_rows,rk_visits}'::regclass[]) t, unnest('{laplace,gaussian}'::text[]) m,
     dp_risk_records(format('SELECT %s%s FROM %s_dp %s', CASE WHEN by_group THEN 'g, ' END, asked, t, CASE WHEN by_group THEN 'GROUP BY g' END),
                     1, m, CASE m WHEN 'gaussian' THEN 1e-6 END) r
WHERE m = 'laplace' OR asked !~ 'percentile|max|min';
WITH expected AS (SELECT t, asked, by_group, mechanism, p, row_number() OVER (PARTITION BY t, asked, by_group, mechanism ORDER BY p) AS place
                  FROM rk_left_out, LATERAL (VALUES ('laplace', pis), ('gaussian', pis2)) v (mechanism, p)),
     found AS (SELECT f.*, row_number() OVER (PARTITION BY t, asked, by_group, mechanism ORDER BY pis) AS place FROM rk_found f, generate_series(1, individuals)),
     compared AS (SELECT f.t, f.asked, f.mechanism, q.tolerance, abs(e.p - f.pis) AS off, f.pis
                  FROM found f LEFT JOIN expected e USING (t, asked, by_group, mechanism, place) JOIN rk_asked q USING (asked, by_group))
SELECT t, asked, mechanism, count(*) AS people, count(*) FILTER (WHERE off <= tolerance) AS as_expected, max(pis) > 0 AS somebody
FROM compared GROUP BY t, asked, mechanism ORDER BY t::text, mechanism, asked;

-- A median over four cells: what is drawn, from all 24 orders of coins; rows, and people of up to three rows.
CREATE TABLE rk_small (pid integer, v integer);
INSERT INTO rk_small SELECT 1 + i % 9, i * i % 4 FROM generate_series(1, 20) i;
SELECT dp_protect('rk_small', 'rk_small_dp', columns => '{v}'), dp_set_bounds('rk_small', 'v', 0, 3), dp_set_odometer('rk_small', 'none');
CREATE TABLE rk_of_people AS TABLE rk_small;
SELECT dp_protect('rk_of_people', 'rk_of_people_dp', unit => 'pid', max_rows => 3), dp_set_bounds('rk_of_people', 'v', 0, 3), dp_set_odometer('rk_of_people', 'none');
CREATE FUNCTION rk_median_noise(b float8) RETURNS float8 LANGUAGE sql AS $$
    WITH cells AS (SELECT v, (SELECT count(*) FROM rk_small s WHERE s.v < c.v) AS below, (SELECT count(*) FROM rk_small s WHERE s.v <= c.v) AS upto
                   FROM generate_series(0, 3) AS c (v)),
         gaps AS (SELECT v, greatest(below - 10, 10 - upto, 0)::float8 AS gap FROM cells),
         coins AS (SELECT v, exp(-(gap - (SELECT min(gap) FROM gaps)) / b) AS p FROM gaps),
         orders AS (SELECT a.v AS v1, b.v AS v2, c.v AS v3, d.v AS v4, a.p AS p1, b.p AS p2, c.p AS p3, d.p AS p4
                    FROM coins a, coins b, coins c, coins d WHERE a.v <> b.v AND a.v <> c.v AND a.v <> d.v AND b.v <> c.v AND b.v <> d.v AND c.v <> d.v),
         drawn AS (SELECT v1 AS v, p1 AS p FROM orders UNION ALL SELECT v2, (1 - p1) * p2 FROM orders
                   UNION ALL SELECT v3, (1 - p1) * (1 - p2) * p3 FROM orders UNION ALL SELECT v4, (1 - p1) * (1 - p2) * (1 - p3) * p4 FROM orders)
    SELECT sum(p * abs(v - (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY v) FROM rk_small))) / 24 / 3 FROM drawn $$;
SELECT t, epsilon, abs(r.rdr_min - rk_median_noise(m / epsilon::float8) - least) < 1e-12 AS noise_as_drawn
FROM (VALUES ('rk_small', 1), ('rk_of_people', 3)) v (t, m),
     LATERAL dp_risk(format('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY v) FROM %s_dp', t), '{2,1,0.1}') r,
     LATERAL (SELECT min(pis) AS least FROM dp_risk_records(format('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY v) FROM %s_dp', t), 1)) p
ORDER BY t, epsilon;

-- One person makes nearly all of an average: which epsilon tau finds is a matter of the noise, whatever the number of rows.
CREATE TABLE rk_alone (pid integer, v integer);
INSERT INTO rk_alone SELECT i, CASE i WHEN 1 THEN 1000 ELSE 0 END FROM generate_series(1, 2000) i;
SELECT dp_protect('rk_alone', 'rk_alone_dp', unit => 'pid', max_rows => 2), dp_set_bounds('rk_alone', 'v', 0, 1000), dp_set_odometer('rk_alone', 'none');
SELECT epsilon, round(ratio::numeric, 2) AS ratio FROM dp_risk('SELECT avg(v) FROM rk_alone_dp', '{10,1,0.05}');

-- Searches take what dp_risk shows, also for an analyst under within_data.
CREATE PROCEDURE rk_find(query text, tau float8, INOUT chosen numeric) LANGUAGE plpgsql AS $$
DECLARE
    answer jsonb;
BEGIN
    CALL dp_find_epsilon(query, tau, chosen, answer, candidates => '{10,3,1,0.3,0.1,0.03}');
EXCEPTION WHEN OTHERS THEN -- denied
    chosen := NULL;
END $$;
CREATE TABLE rk_chosen (query text, tau float8, chosen numeric);
DO $$
DECLARE
    q record;
    chosen numeric;
BEGIN
    FOR q IN SELECT format('SELECT %s FROM %s_dp', asked, t) AS query, tau FROM rk_asked, unnest('{rk_rows,rk_visits}'::regclass[]) t, unnest('{0.1,0.6,0.9}'::float8[]) tau
             WHERE NOT by_group LOOP
        chosen := NULL;
        CALL rk_find(q.query, q.tau, chosen);
        INSERT INTO rk_chosen VALUES (q.query, q.tau, chosen);
    END LOOP;
END $$;
SELECT count(*) AS searches, count(chosen) > 60 AS many_found,
       count(*) FILTER (WHERE chosen IS DISTINCT FROM (SELECT max(r.epsilon) FROM dp_risk(query, '{10,3,1,0.3,0.1,0.03}') r
       WHERE r.rdr_min - r.error * r.noise >= tau * (1 - 1e-9) * (r.rdr_max - r.error * r.noise))) AS wrong FROM rk_chosen;
-- A noise that points are averaged for may be smaller: tau at the ratio itself does not permit that epsilon.
DO $$
DECLARE
    asked text;
    tau float8;
    chosen numeric;
BEGIN
    FOREACH asked IN ARRAY '{var_pop(y),"corr(y, x)",avg(y),"count(DISTINCT n), sum(y)"}'::text[] LOOP
        tau := (SELECT ratio * (1 - 1e-9) FROM dp_risk(format('SELECT %s FROM rk_visits_dp', asked), '{0.3}'));
        chosen := NULL;
        CALL rk_find(format('SELECT %s FROM rk_visits_dp', asked), tau, chosen);
        RAISE NOTICE '% %', asked, coalesce(chosen, 0) = 0.3;
    END LOOP;
END $$;
SELECT dp_grant('rk_visits_dp', 'regress_second', tau => 0.6, selection => 'within_data', epsilon_max => 10, candidates => '{10,3,1,0.3,0.1,0.03}'),
       dp_grant('rk_rows_dp', 'regress_second', tau => 0.6, selection => 'within_data', epsilon_max => 10, candidates => '{10,3,1,0.3,0.1,0.03}');
SET ROLE regress_second;
DO $$
DECLARE
    asked text;
    t text;
BEGIN
    FOREACH t IN ARRAY '{rk_visits,rk_rows}'::text[] LOOP
        FOREACH asked IN ARRAY ARRAY['percentile_disc(0.5) WITHIN GROUP (ORDER BY n)', 'corr(y, x)', 'count(DISTINCT n)', 'var_pop(y)'] LOOP
            BEGIN
                EXECUTE format('SELECT %s FROM %s_dp', asked, t);
            EXCEPTION WHEN OTHERS THEN
                RAISE NOTICE '% %', sqlstate, sqlerrm;
            END;
        END LOOP;
    END LOOP;
END $$;
RESET ROLE;
WITH chosen AS (SELECT r.chosen FROM unnest('{rk_rows,rk_visits}'::text[]) t (name)
                CROSS JOIN unnest(ARRAY['percentile_disc(0.5) WITHIN GROUP (ORDER BY n)', 'corr(y, x)', 'count(DISTINCT n)', 'var_pop(y)']) a (asked)
                JOIN rk_chosen r ON r.tau = 0.6 AND r.query = format('SELECT %s FROM %s_dp', asked, name) WHERE chosen IS NOT NULL),
     charged AS (SELECT epsilon FROM dp_rdr.ledger ORDER BY id DESC LIMIT (SELECT count(*) FROM chosen))
SELECT count(*) > 3 AS answered, array_agg(epsilon ORDER BY epsilon) = (SELECT array_agg(chosen ORDER BY chosen) FROM chosen) AS as_found FROM charged;

-- What is refused says why.
-- With Gaussian noise no analyst may ask for a maximum: it is a general query.
SELECT attempt($$SELECT dp_risk_summary('SELECT max(n) FROM rk_rows_dp', 'gaussian', 1e-6)$$), attempt($$SELECT dp_risk('SELECT max(n) FROM rk_rows_dp', mechanism => 'gaussian', delta => 1e-6)$$);
SELECT attempt($$SELECT dp_risk('SELECT max(n) FROM rk_rows_dp', tau_var => 0.1)$$);
-- Given answers are looked at as they are printed.
SELECT record, individuals, rdr FROM dp_risk_output('SELECT max(n) FROM rk_rows_dp', '{17}') ORDER BY rdr DESC LIMIT 1;
SELECT page ~ 'people in the table' AS report FROM dp_report('rk_visits', 'SELECT g, percentile_disc(0.5) WITHIN GROUP (ORDER BY n), corr(y, x) FROM rk_visits_dp GROUP BY g') page;
SELECT epsilon, error95 > 0 AS error95, answer_range FROM dp_risk_summary('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY v) FROM rk_small_dp') WHERE epsilon IN (10, 0.1);

-- ---------------------------------------------------------------------------------------------------------------------
-- Statements: the risk is that of each question; what is computed with answers changes nothing
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE rk_statement (asked text, leaves text[]);
INSERT INTO rk_statement VALUES
('SELECT g, avg(y) FROM rk_rows_dp GROUP BY g HAVING count(*) > 5 ORDER BY 2 DESC LIMIT 2', '{"SELECT g, avg(y), count(*) FROM rk_rows_dp GROUP BY g"}'),
('SELECT round(avg(y), 1) FROM rk_visits_dp', '{"SELECT avg(y) FROM rk_visits_dp"}'),
('SELECT sum(y) / count(*) AS mean FROM rk_visits_dp', '{"SELECT sum(y), count(*) FROM rk_visits_dp"}'),
('WITH w AS (SELECT g, percentile_disc(0.5) WITHIN GROUP (ORDER BY n) AS m FROM rk_rows_dp GROUP BY g) SELECT max(m) - min(m) FROM w',
 '{"SELECT g, percentile_disc(0.5) WITHIN GROUP (ORDER BY n) FROM rk_rows_dp GROUP BY g"}'),
('SELECT avg(n) FROM (SELECT g, count(*) AS n FROM rk_visits_dp GROUP BY g) s', '{"SELECT g, count(*) FROM rk_visits_dp GROUP BY g"}'),
('SELECT g, count(*) FROM rk_visits_dp GROUP BY ROLLUP (g)', '{"SELECT g, count(*) FROM rk_visits_dp GROUP BY g","SELECT count(*) FROM rk_visits_dp"}'),
('SELECT (SELECT corr(y, x) FROM rk_visits_dp) - (SELECT corr(y, x) FROM rk_rows_dp)', '{"SELECT corr(y, x) FROM rk_visits_dp","SELECT corr(y, x) FROM rk_rows_dp"}');
SELECT s.asked, count(*) AS rows, max(r.leaf) AS leaves, count(*) FILTER (WHERE (r.rdr_min, r.rdr_max, r.noise, r.rho) = (o.rdr_min, o.rdr_max, o.noise, o.rho)) AS as_alone
FROM rk_statement s, LATERAL dp_risk(s.asked, '{1,0.1}') r LEFT JOIN LATERAL dp_risk(s.leaves[r.leaf], ARRAY[r.epsilon]) o ON true GROUP BY s.asked ORDER BY s.asked COLLATE "C";
SELECT leaf, count(*) AS lines FROM dp_risk_summary('SELECT g, count(*) FROM rk_visits_dp GROUP BY ROLLUP (g)', epsilons => '{1,0.1}') GROUP BY leaf ORDER BY leaf;
SELECT max(pis) = (SELECT max(pis) FROM dp_risk_records('SELECT count(*) FROM rk_visits_dp', 1)) AS second
FROM dp_risk_records('SELECT g, count(*) FROM rk_visits_dp GROUP BY ROLLUP (g)', 1, leaf => 2);
\set VERBOSITY default
\set SHOW_CONTEXT never
SELECT count(*) FROM dp_risk_records('SELECT g, count(*) FROM rk_visits_dp GROUP BY ROLLUP (g)', 1, leaf => 3);
SELECT count(*) FROM dp_risk_records('SELECT count(*) FROM rk_visits_dp', 1, leaf => 2);
\set VERBOSITY terse
-- One question is found and answered, whatever is made of it.
CREATE PROCEDURE rk_find_rows(query text, INOUT chosen numeric, INOUT answer jsonb) LANGUAGE plpgsql AS $$
BEGIN
    CALL dp_find_epsilon(query, 0.3, chosen, answer);
END $$;
DO $$
DECLARE
    chosen numeric;
    answer jsonb;
BEGIN
    CALL rk_find_rows('SELECT g, sum(y) / count(*) FROM rk_rows_dp GROUP BY g HAVING count(*) > 1000000', chosen, answer);
    RAISE NOTICE '% rows, epsilon as of the question %', jsonb_array_length(answer),
        chosen = (SELECT max(epsilon) FROM dp_risk('SELECT g, sum(y), count(*) FROM rk_rows_dp GROUP BY g') WHERE ratio >= 0.3);
END $$;
-- Without noise the risks are the sensitivities; nobody's is one.
SELECT epsilon, rdr_min = least AS least, rdr_max = most AS most, noise, rho IS NULL AS no_rho
FROM dp_risk('SELECT var_pop(y) FROM rk_rows_dp', '{Infinity,1}'), (SELECT min(pis) AS least, max(pis) AS most FROM dp_risk_records('SELECT var_pop(y) FROM rk_rows_dp', 1)) p
WHERE epsilon = 'Infinity';
SELECT epsilon, ratio FROM dp_risk('SELECT count(*) FROM rk_rows_dp WHERE n > 18', '{Infinity}');
SELECT bool_and(abs(noise + least - rdr_min) < 1e-12 AND abs(rho - epsilon::float8 * tanh(epsilon::float8 / 2)) < 1e-12) AS noise
FROM dp_risk('SELECT sum(y) FROM rk_rows_dp', '{3,1,0.01}'), (SELECT min(pis) AS least FROM dp_risk_records('SELECT sum(y) FROM rk_rows_dp', 1)) p;
