-- Variances and standard deviations: released, intervals, replay, requests, price, and the controller's risk against leaving each row out.

LOAD 'dp_rdr';
SET client_min_messages = warning;
DROP ROLE IF EXISTS regress_variance, regress_variance_gauss, regress_variance_selects;
RESET client_min_messages;
CREATE ROLE regress_variance;
CREATE ROLE regress_variance_gauss;
CREATE ROLE regress_variance_selects;
\set VERBOSITY terse
\pset null '-'
SET ROLE regress_controller;
CREATE TABLE score (id integer, v float8, w numeric(6, 2), g text, h text);
SELECT dp_protect('score', 'score_dp');
SELECT dp_set_bounds('score', 'v', -2, 6), dp_set_bounds('score', 'w', 0, 100), dp_set_groups('score', 'g', '{a,b,empty}'), dp_set_odometer('score', 'none', NULL, 0.5);
INSERT INTO score SELECT id, CASE WHEN id % 7 > 0 THEN (id * 37 % 100) / 10.0 - 3 END, id % 90 + 0.25, ('{a,a,b,c}'::text[])[1 + id % 4], 'h' || id % 3 FROM generate_series(1, 60) id;
INSERT INTO score VALUES (61, 9, 101, 'b', 'alone'), (62, 'NaN', 'NaN', 'a', 'h1'), (63, NULL, NULL, 'empty', 'h2'), (64, 'Infinity', -5, 'a', 'h0'), (65, '-Infinity', NULL, 'b', 'h0');
SELECT dp_grant('score_dp', 'regress_variance', tau => 0, epsilon_max => 100, candidates => '{100}', replay => '1 day'),
       dp_grant('score_dp', 'regress_variance_gauss', tau => 0, epsilon_max => 100, candidates => '{100}', mechanism => 'gaussian', delta => 1e-6),
       dp_grant('score_dp', 'regress_variance_selects', tau_var => 0.01);
CREATE VIEW clamped_score AS SELECT id, CASE WHEN v <> 'NaN' THEN least(greatest(v, -2), 6) END AS v, CASE WHEN w <> 'NaN' THEN least(greatest(w, 0), 100) END AS w, g, h FROM score;
GRANT SELECT ON clamped_score TO regress_variance, regress_variance_gauss;

-- ---------------------------------------------------------------------------------------------------------------------
-- What is answered, and its interval
-- ---------------------------------------------------------------------------------------------------------------------

-- Each of the three sums is off by 0.3 at most, but for 1e-12.
CREATE FUNCTION near(noisy float8, exact float8, allowed float8) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT abs(noisy - coalesce(exact, 0)) <= allowed $$;
-- One interval in twenty need not hold; two widths beyond it are five times as far as its half.
CREATE FUNCTION held(low float8, exact float8, high float8) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT abs(exact - (low + high) / 2) <= 2.5 * (high - low) $$;
SET ROLE regress_variance;
SELECT near(n.p, x.p, 4) AS var_pop, near(n.s, x.s, 4) AS var_samp, near(n.sp, x.sp, 1) AS stddev_pop, near(n.ss, x.ss, 1) AS stddev, near(n.a, x.a, 0.3) AS avg, abs(n.c - x.c) <= 1 AS count,
       near(n.t, x.t, 8) AS sum, low <= n.ss AND n.ss <= high AND low >= 0 AS interval, held(low, x.ss, high) AS holds
FROM (SELECT var_pop(v) AS p, variance(v) AS s, stddev_pop(v) AS sp, stddev(v) AS ss, avg(v) AS a, count(v) AS c, sum(v) AS t, dp_low(stddev(v)) AS low, dp_high(stddev(v)) AS high FROM score_dp) n,
     (SELECT var_pop(v) AS p, variance(v) AS s, stddev_pop(v) AS sp, stddev(v) AS ss, avg(v) AS a, count(v) AS c, sum(v) AS t FROM clamped_score) x;
SELECT g, near(n.p, x.p, 16) AS var_pop, near(n.w, x.w, 5000) AS of_w, n.low <= n.p AND n.p <= n.high AS interval, n.high <= 16 AS within
FROM (SELECT g, var_pop(v) AS p, var_samp(w) AS w, dp_low(var_pop(v)) AS low, dp_high(var_pop(v)) AS high FROM score_dp GROUP BY g) n
LEFT JOIN (SELECT g, var_pop(v) AS p, var_samp(w) AS w FROM clamped_score GROUP BY g) x USING (g) ORDER BY g;
-- Nobody: nothing that could not be.
SELECT var_pop(v) BETWEEN 0 AND 16 AS var_pop, stddev(v) BETWEEN 0 AND 5.7 AS stddev, dp_low(var_pop(v)) BETWEEN 0 AND 16 AS low FROM score_dp WHERE id < 0;
SELECT pg_typeof(var_pop(v)), pg_typeof(stddev(w)), pg_typeof(variance(id % 10)) FROM score_dp;
SET ROLE regress_variance_gauss;
SELECT near(n.p, x.p, 4) AS var_pop, near(n.ss, x.ss, 1) AS stddev, low <= n.p AND n.p <= high AS interval
FROM (SELECT var_pop(v) AS p, stddev(v) AS ss, dp_low(var_pop(v)) AS low, dp_high(var_pop(v)) AS high FROM score_dp) n, (SELECT var_pop(v) AS p, stddev(v) AS ss FROM clamped_score) x;

-- Of 500 answers at epsilon 1 some 95 % of the intervals hold, and more.
RESET ROLE;
SET ROLE regress_controller;
SELECT dp_grant('score_dp', 'regress_variance', tau => 0, epsilon_max => 1, candidates => '{1}', replay => '0');
CREATE TABLE drawn (low float8, high float8, number float8);
GRANT ALL ON drawn TO regress_variance;
SET ROLE regress_variance;
DO $$
BEGIN
    FOR i IN 1 .. 500 LOOP
        INSERT INTO drawn SELECT dp_low(stddev_pop(v)), dp_high(stddev_pop(v)), stddev_pop(v) FROM score_dp;
    END LOOP;
END $$;
SELECT count(*) FILTER (WHERE x.s BETWEEN low AND high) > 475 AS holds, bool_and(number BETWEEN low AND high) AS inside, count(DISTINCT number) > 400 AS noisy
FROM drawn, (SELECT stddev_pop(v) AS s FROM clamped_score) x;

-- ---------------------------------------------------------------------------------------------------------------------
-- Price, and what is asked in other ways
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_controller;
SELECT dp_grant('score_dp', 'regress_variance', tau => 0.5, epsilon_max => 10, candidates => '{10,4,3,2,1.5,1,0.5}', replay => '1 day');
SET ROLE regress_variance;
-- m asinh(k1 (1 - tau) / (m tau)): k1 is 3 of one triple, whatever it prints.
SELECT column_name, accepted, epsilon, asinh(3) >= epsilon AS below_the_price, error95 FROM dp_explain('SELECT stddev(v), avg(v), count(v), sum(v) FROM score_dp');
SELECT DISTINCT epsilon, 2 * asinh(6 / 2.0) >= epsilon AS below_the_price FROM dp_explain('SELECT stddev(v), variance(w) FROM score_dp');
SELECT * FROM dp_query('SELECT stddev(v) FROM score_dp', within => 0.1) AS (s float8);
SELECT * FROM dp_query('SELECT stddev(v), count(*) FROM score_dp', error95 => 5) AS (s float8, n bigint);
SET ROLE regress_variance_selects;
SELECT variance(v) FROM score_dp;
-- The same question again: the same numbers, also of what is computed from the same three sums.
SET ROLE regress_variance;
CREATE TEMP TABLE first AS SELECT stddev(v) AS s FROM score_dp;
SELECT bool_and(x.s = f.s) AS again, bool_and(variance > 0) AS variance FROM first f, (SELECT stddev(v) AS s FROM score_dp) x, (SELECT variance(v) FROM score_dp) y;
SET ROLE regress_controller;
SELECT count(*) AS charges FROM dp_rdr.ledger WHERE relation = 'public.score' AND role_name = 'regress_variance' AND epsilon = 1.5;
SELECT parameters::jsonb -> 'k1' AS k1, parameters::jsonb -> 'measures' AS measures FROM dp_rdr.ledger WHERE relation = 'public.score' ORDER BY id DESC LIMIT 1;

-- ---------------------------------------------------------------------------------------------------------------------
-- Every row left out in turn
-- ---------------------------------------------------------------------------------------------------------------------

CREATE FUNCTION clamped_v(record jsonb) RETURNS float8 LANGUAGE sql AS $$ SELECT CASE WHEN v <> 'NaN' THEN least(greatest(v, -2), 6) END FROM (SELECT (record ->> 'v')::float8 AS v) r $$;
CREATE FUNCTION left_out(f text, missing float8) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
    whole float8;
    rest float8;
BEGIN
    EXECUTE format('SELECT %s(v) FROM clamped_score', f) INTO whole;
    EXECUTE format('SELECT %s(v) FROM clamped_score WHERE id <> (SELECT min(id) FROM clamped_score WHERE v IS NOT DISTINCT FROM $1)', f) INTO rest USING missing;
    RETURN abs(coalesce(whole, 0) - coalesce(rest, 0));
END $$;
SELECT f, bool_and(abs(r.pis - left_out(f, clamped_v(r.record)) / largest) < 1e-9) AS pis, count(*) AS records, bool_and(r.rdr > r.pis) AS rdr
FROM (VALUES ('var_pop', 16), ('var_samp', 32), ('stddev_pop', 4), ('stddev_samp', 4 * sqrt(2))) a (f, largest),
     LATERAL dp_risk_records(format('SELECT %s(v) FROM score_dp', f), 0.5) r GROUP BY f ORDER BY f;
-- Several aggregates of one triple: their parts add up. Gaussian noise: the root of squares.
SELECT bool_and(abs(r.pis - left_out('var_pop', c) / 16 - left_out('avg', c) / 4 - CASE WHEN c IS NULL THEN 0 ELSE 1 END) < 1e-9) AS laplace
FROM dp_risk_records('SELECT var_pop(v), avg(v), count(v) FROM score_dp', 0.5) r, clamped_v(r.record) c;
SELECT bool_and(abs(r.pis - sqrt((left_out('var_pop', c) / 16) ^ 2 + (left_out('stddev', c) / 4 / sqrt(2)) ^ 2)) < 1e-9) AS gaussian
FROM dp_risk_records('SELECT var_pop(v), stddev(v) FROM score_dp', 0.5, 'gaussian', 1e-6) r, clamped_v(r.record) c;
-- `published`: in their own units.
SELECT bool_and(abs(r.pis - left_out('stddev', clamped_v(r.record))) < 1e-9) AS published FROM dp_risk_records('SELECT stddev(v) FROM score_dp', 0.5, calibration => 'published') r;
-- Of an expression: clamped values of it, not of its columns.
SELECT bool_and(abs(r.pis - abs(least(greatest((r.record ->> 'w')::numeric, 0), 100) * 3) / 300) < 1e-9) AS sum FROM dp_risk_records('SELECT sum(w * 3) FROM score_dp', 0.5) r WHERE r.record ->> 'w' NOT IN ('NaN');

-- The mean size of the noise of a variance: 27,000 points of quantiles in place of 2,042 of the lattice rule.
CREATE FUNCTION mean_error(n float8, t float8, q float8, b float8) RETURNS float8 LANGUAGE sql AS $$
    WITH z AS (SELECT CASE WHEN x < 0.5 THEN b * ln(2 * x) ELSE -b * ln(2 - 2 * x) END AS z FROM (SELECT (i + 0.5) / 40.0::float8 AS x FROM generate_series(0, 39) i) u),
    s AS (SELECT (n + 2 * t + q) / 4 AS b2, (n - q) / 2 AS b1, (n - 2 * t + q) / 4 AS b0)
    SELECT avg(abs(least(greatest((b2 + x.z) / c - m * m, 0), 0.25) - least(greatest(b2 / greatest(n, 1) - ((b2 + b1 / 2) / greatest(n, 1)) ^ 2, 0), 0.25))) * 4
    FROM s, z x, z y, z w, LATERAL (SELECT greatest(1, b2 + b1 + b0 + x.z + y.z + w.z) AS c) c, LATERAL (SELECT least(greatest((b2 + x.z + (b1 + y.z) / 2) / c, 0), 1) AS m) m $$;
SELECT e AS epsilon, abs(rdr_min / mean_error(s.n, s.t, s.q, 1 / e) - 1) < 0.04 AS noise
FROM unnest('{0.1,1}'::float8[]) e, LATERAL dp_risk('SELECT var_pop(v) FROM score_dp', ARRAY[e::numeric]) r,
     (SELECT count(v) AS n, sum((v - 2) / 4) AS t, sum(((v - 2) / 4) ^ 2) AS q FROM clamped_score) s;
SELECT attempt('SELECT * FROM dp_risk(''SELECT var_pop(v) FROM score_dp'', ''{1}'', exact => true)');
-- A stricter preference costs more noise.
DO $$
DECLARE
    epsilon numeric;
    answer jsonb;
    last numeric := 100;
BEGIN
    FOR i IN 1 .. 9 LOOP
        BEGIN
            CALL dp_find_epsilon('SELECT g, stddev(v), sum(w * 2) FROM score_dp GROUP BY g', i / 10.0, epsilon, answer);
        EXCEPTION WHEN configuration_limit_exceeded THEN
            epsilon := 0;
        END;
        IF epsilon > last THEN
            RAISE 'epsilon % at tau %, after %', epsilon, i / 10.0, last;
        END IF;
        last := epsilon;
    END LOOP;
    RAISE NOTICE 'it falls';
END $$;
SELECT count(*) AS shown, bool_and(loss IS NULL) AS no_loss FROM dp_risk_output('SELECT var_pop(v) FROM score_dp', '{5}', 'laplace', 1);
RESET ROLE;
SET client_min_messages = warning;
DROP TABLE score, drawn CASCADE;
DROP FUNCTION near(float8, float8, float8), held(float8, float8, float8), clamped_v, left_out, mean_error;
