-- Covariances, correlations and lines of regression: released, intervals, price, replay, people with many rows, and what is refused.

LOAD 'dp_rdr';
SET client_min_messages = warning;
DROP ROLE IF EXISTS regress_joint, regress_joint_gauss, regress_joint_selects, regress_joint_within;
RESET client_min_messages;
CREATE ROLE regress_joint;
CREATE ROLE regress_joint_gauss;
CREATE ROLE regress_joint_selects;
CREATE ROLE regress_joint_within;
\set VERBOSITY terse
\pset null '-'
SET ROLE regress_controller;
CREATE TABLE plot (id integer, y float8, x numeric(7, 2), k smallint, g text, h text, unbounded float8, tale text);
SELECT dp_protect('plot', 'plot_dp');
SELECT dp_set_bounds('plot', 'y', -2, 6), dp_set_bounds('plot', 'x', 0, 1000), dp_set_bounds('plot', 'k', 0, 20), dp_set_groups('plot', 'g', '{a,b,empty}'),
       dp_set_odometer('plot', 'none', NULL, 0.5);
INSERT INTO plot SELECT id, CASE WHEN id % 7 > 0 THEN (id * 37 % 100) / 20.0 + id / 50.0 - 3 END, CASE WHEN id % 11 > 0 THEN id * 5.25 + id * 53 % 100 END, id % 23,
    ('{a,a,b,c}'::text[])[1 + id % 4], 'h' || id % 3 FROM generate_series(1, 150) id;
-- Nobody, infinite, out of bounds, no number.
INSERT INTO plot VALUES (151, 9, 1e4, 500, 'b', 'alone'), (152, 'NaN', 1, 1, 'a', 'h1'), (153, 1, 'NaN', 1, 'a', 'h1'), (154, NULL, NULL, NULL, 'empty', 'h2'),
    (155, 'Infinity', -5, -7, 'a', 'h0'), (156, '-Infinity', NULL, 3, 'b', 'h0'), (157, '-Infinity', 99999, 3, 'b', 'h0');
SELECT dp_grant('plot_dp', 'regress_joint', tau => 0, epsilon_max => 100, candidates => '{100}', delta => 1e-6, replay => '1 day'),
       dp_grant('plot_dp', 'regress_joint_gauss', tau => 0, epsilon_max => 100, candidates => '{100}', mechanism => 'gaussian', delta => 1e-6),
       dp_grant('plot_dp', 'regress_joint_selects', tau_var => 0.01), dp_grant('plot_dp', 'regress_joint_within', selection => 'within_data', tau => 0.5);
-- The same rows as they are clamped: what has a NaN or nothing on one side is in no pair.
CREATE VIEW clamped_plot AS SELECT id, least(greatest(y, -2), 6) AS y, least(greatest(x, 0), 1000)::float8 AS x, least(greatest(k, 0), 20)::smallint AS k, g, h
    FROM plot WHERE y <> 'NaN' AND x <> 'NaN';
CREATE VIEW clamped_k AS SELECT id, least(greatest(y, -2), 6) AS y, least(greatest(k, 0), 20) AS k, least(greatest(k * 10, 0), 200) AS tens, CASE WHEN x > 400 THEN y ELSE -y END AS turned
    FROM plot WHERE y IS DISTINCT FROM 'NaN';
GRANT SELECT ON clamped_plot, clamped_k TO regress_joint, regress_joint_gauss;

-- ---------------------------------------------------------------------------------------------------------------------
-- What is answered, and its interval
-- ---------------------------------------------------------------------------------------------------------------------

-- Each of the six sums is off by 0.45 at most, but for 1e-12.
CREATE FUNCTION near(noisy float8, exact float8, allowed float8) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT abs(noisy - coalesce(exact, 0)) <= allowed $$;
-- One interval in twenty need not hold; two widths beyond it are five times as far as its half.
CREATE FUNCTION held(low float8, exact float8, high float8) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT abs(exact - (low + high) / 2) <= 2.5 * (high - low) $$;
SET ROLE regress_joint;
SELECT near(n.p, x.p, 8000 * 0.01) AS covar_pop, near(n.s, x.s, 8000 * 0.01) AS covar_samp, near(n.c, x.c, 0.1) AS corr, near(n.r, x.r, 0.2) AS r2, near(n.b, x.b, 0.001) AS slope,
       near(n.a, x.a, 0.5) AS intercept
FROM (SELECT covar_pop(y, x) AS p, covar_samp(y, x) AS s, corr(y, x) AS c, regr_r2(y, x) AS r, regr_slope(y, x) AS b, regr_intercept(y, x) AS a FROM plot_dp) n,
     (SELECT covar_pop(y, x) AS p, covar_samp(y, x) AS s, corr(y, x) AS c, regr_r2(y, x) AS r, regr_slope(y, x) AS b, regr_intercept(y, x) AS a FROM clamped_plot) x;
-- Which of the two is y: a line of x over y has another slope.
SELECT near(n.b, x.b, 20) AS slope, near(n.a, x.a, 100) AS intercept, abs(n.b) > 1 AS steep
FROM (SELECT regr_slope(x, y) AS b, regr_intercept(x, y) AS a FROM plot_dp) n, (SELECT regr_slope(x, y) AS b, regr_intercept(x, y) AS a FROM clamped_plot) x;
SELECT l.p_low <= l.p AND l.p <= l.p_high AS covariance, held(l.p_low, x.p, l.p_high) AS holds, l.c_low <= l.c AND l.c <= l.c_high AS corr, held(l.c_low, x.c, l.c_high) AS holds,
       l.b_low <= l.b AND l.b <= l.b_high AS slope, held(l.b_low, x.b, l.b_high) AS holds, l.a_low <= l.a AND l.a <= l.a_high AS intercept, held(l.a_low, x.a, l.a_high) AS holds,
       l.r_low <= l.r AND l.r <= l.r_high AND l.r_low >= 0 AND l.r_high <= 1 AS r2, held(l.r_low, x.r, l.r_high) AS holds, held(l.s_low, x.s, l.s_high) AS sample,
       l.p_high - l.p_low < 200 AND l.c_high - l.c_low < 0.6 AS narrow
FROM (SELECT covar_pop(y, x) AS p, dp_low(covar_pop(y, x)) AS p_low, dp_high(covar_pop(y, x)) AS p_high, corr(y, x) AS c, dp_low(corr(y, x)) AS c_low, dp_high(corr(y, x)) AS c_high,
             regr_slope(y, x) AS b, dp_low(regr_slope(y, x)) AS b_low, dp_high(regr_slope(y, x)) AS b_high, regr_intercept(y, x) AS a, dp_low(regr_intercept(y, x)) AS a_low,
             dp_high(regr_intercept(y, x)) AS a_high, regr_r2(y, x) AS r, dp_low(regr_r2(y, x)) AS r_low, dp_high(regr_r2(y, x)) AS r_high, dp_low(covar_samp(y, x)) AS s_low,
             dp_high(covar_samp(y, x)) AS s_high FROM plot_dp) l,
     (SELECT covar_pop(y, x) AS p, covar_samp(y, x) AS s, corr(y, x) AS c, regr_r2(y, x) AS r, regr_slope(y, x) AS b, regr_intercept(y, x) AS a FROM clamped_plot) x;
-- By declared groups, one of them without a pair; with a FILTER; of expressions; of one column twice.
SELECT g, near(n.p, x.p, 8000 * 0.03) AS covar_pop, abs(n.c) <= 1 AS corr FROM (SELECT g, covar_pop(y, x) AS p, corr(y, x) AS c FROM plot_dp GROUP BY g) n
LEFT JOIN (SELECT g, covar_pop(y, x) AS p FROM clamped_plot GROUP BY g) x USING (g) ORDER BY g;
SELECT near(n.f, x.f, 0.3) AS filtered, near(n.e, x.e, 1600 * 0.05) AS expression, near(n.v, x.v, 64 * 0.03) AS twice
FROM (SELECT corr(y, k) FILTER (WHERE id > 40) AS f, covar_pop(k * 10, CASE WHEN x > 400 THEN y ELSE -y END) AS e, covar_pop(y, y) AS v FROM plot_dp) n,
     (SELECT corr(y, k) FILTER (WHERE id > 40) AS f, covar_pop(tens, least(greatest(turned, -6), 6)) AS e, covar_pop(y, y) AS v FROM clamped_k) x;
-- Groups that nobody declared; grouping sets.
SELECT h, near(n.p, x.p, 8000 * 0.03) AS covar_pop FROM (SELECT h, covar_pop(y, x) AS p FROM plot_dp GROUP BY h) n LEFT JOIN (SELECT h, covar_pop(y, x) AS p FROM clamped_plot GROUP BY h) x USING (h) ORDER BY h;
SELECT g, grouping(g), near(covar_pop(y, x), (SELECT covar_pop(c.y, c.x) FROM clamped_plot c WHERE c.g = p.g OR p.g IS NULL), 8000 * 0.03) AS covar_pop FROM plot_dp p GROUP BY ROLLUP (g) ORDER BY g;
-- Nobody, and a variance of 0: nothing that could not be.
SELECT covar_pop(y, x) BETWEEN -2000 AND 2000 AS covar_pop, corr(y, x) BETWEEN -1 AND 1 AS corr, dp_low(corr(y, x)) >= -1 AND dp_high(corr(y, x)) <= 1 AS interval FROM plot_dp WHERE id < 0;
SELECT abs(corr(y, 5)) <= 1 AS corr, abs(regr_slope(y, 5)) < 'Infinity' AS slope FROM plot_dp;
SELECT pg_typeof(corr(y, x)), pg_typeof(regr_slope(k, x)), pg_typeof(dp_low(covar_pop(k, k))) FROM plot_dp;
SET ROLE regress_joint_gauss;
SELECT near(n.p, x.p, 8000 * 0.02) AS covar_pop, low <= n.c AND n.c <= high AS interval, held(low, x.c, high) AS holds
FROM (SELECT covar_pop(y, x) AS p, corr(y, x) AS c, dp_low(corr(y, x)) AS low, dp_high(corr(y, x)) AS high FROM plot_dp) n, (SELECT covar_pop(y, x) AS p, corr(y, x) AS c FROM clamped_plot) x;

-- Of 500 answers at epsilon 1 some 95 % of the intervals hold, and more.
RESET ROLE;
SET ROLE regress_controller;
SELECT dp_grant('plot_dp', 'regress_joint', tau => 0, epsilon_max => 1, candidates => '{1}', replay => '0');
CREATE TABLE drawn (low float8, high float8, number float8, slope_low float8, slope_high float8);
GRANT ALL ON drawn TO regress_joint;
SET ROLE regress_joint;
DO $$
BEGIN
    FOR i IN 1 .. 500 LOOP
        INSERT INTO drawn SELECT dp_low(covar_pop(y, x)), dp_high(covar_pop(y, x)), covar_pop(y, x), dp_low(regr_slope(y, x)), dp_high(regr_slope(y, x)) FROM plot_dp;
    END LOOP;
END $$;
SELECT count(*) FILTER (WHERE x.p BETWEEN low AND high) > 475 AS holds, count(*) FILTER (WHERE x.b BETWEEN slope_low AND slope_high) > 475 AS slope, bool_and(number BETWEEN low AND high) AS inside,
       count(DISTINCT number) > 400 AS noisy
FROM drawn, (SELECT covar_pop(y, x) AS p, regr_slope(y, x) AS b FROM clamped_plot) x;

-- ---------------------------------------------------------------------------------------------------------------------
-- Price, and what is asked in other ways
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_controller;
SELECT dp_grant('plot_dp', 'regress_joint', tau => 0.5, epsilon_max => 10, candidates => '{10,4,3,2,1.5,1,0.5}', replay => '1 day');
SET ROLE regress_joint;
-- m asinh(k1 (1 - tau) / (m tau)): k1 is 4 of products, 6 of moments, whatever is printed of them.
SELECT column_name, accepted, epsilon, asinh(4) >= epsilon AS below_the_price, error95 FROM dp_explain('SELECT covar_pop(y, x), covar_samp(y, x) FROM plot_dp');
SELECT DISTINCT epsilon, asinh(6) >= epsilon AS below_the_price FROM dp_explain('SELECT corr(y, x), regr_slope(y, x), regr_intercept(y, x), regr_r2(y, x), covar_pop(y, x) FROM plot_dp');
SELECT DISTINCT epsilon, 2 * asinh(12 / 2.0) >= epsilon AS below_the_price FROM dp_explain('SELECT corr(y, x), corr(x, y) FROM plot_dp');
SELECT * FROM dp_query('SELECT corr(y, x) FROM plot_dp', within => 0.1) AS (c float8);
SELECT * FROM dp_query('SELECT corr(y, x), count(*) FROM plot_dp', error95 => 5) AS (c float8, n bigint);
SET ROLE regress_joint_selects;
SELECT covar_pop(y, x) FROM plot_dp;
SET ROLE regress_joint_within;
SELECT count(*) FROM (SELECT covar_pop(y, x) FROM plot_dp) a;
-- The same question again: the same numbers, also of what is computed from the same six sums. Other bounds are another question.
SET ROLE regress_joint;
CREATE TEMP TABLE first AS SELECT regr_slope(y, x) AS b, corr(y, x) AS c FROM plot_dp;
SELECT x.b = f.b AS again, y.c = f.c AS other, sign(x.b) = sign(y.c) OR x.b * y.c = 0 AS of_one_draw FROM first f, (SELECT regr_slope(y, x) AS b FROM plot_dp) x, (SELECT corr(y, x) AS c FROM plot_dp) y;
SET ROLE regress_controller;
SELECT count(*) AS charges FROM dp_rdr.ledger WHERE relation = 'public.plot' AND role_name = 'regress_joint' AND epsilon = 2;
SELECT dp_set_bounds('plot', 'x', 0, 500);
SET ROLE regress_joint;
SELECT x.b <> f.b AS another FROM first f, (SELECT regr_slope(y, x) AS b FROM plot_dp) x;
SET ROLE regress_controller;
SELECT parameters::jsonb -> 'k1' AS k1, parameters::jsonb -> 'measures' AS measures FROM dp_rdr.ledger WHERE relation = 'public.plot' ORDER BY id DESC LIMIT 1;
SELECT dp_set_bounds('plot', 'x', 0, 1000);
-- Asked for beforehand: fetched as any answer, and not drawn again.
SET SESSION AUTHORIZATION regress_joint;
SELECT dp_request('SELECT corr(y, x) AS c, covar_pop(k, y) AS p FROM plot_dp', 'a study') AS request \gset
SET SESSION AUTHORIZATION regress_controller;
SELECT state, epsilon FROM dp_approve(:request, epsilon => 3, basis => 'public');
SET SESSION AUTHORIZATION regress_joint;
SELECT c BETWEEN -1 AND 1 AS corr, p BETWEEN -40 AND 40 AS covar_pop FROM dp_fetch(:request) AS (c float8, p float8);
SELECT attempt(format('SELECT * FROM dp_redraw(%s) AS (draw int, c float8, p float8)', :request));
RESET SESSION AUTHORIZATION;

-- ---------------------------------------------------------------------------------------------------------------------
-- People with many rows
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_controller;
CREATE TABLE runner (id integer PRIMARY KEY, age integer, club text);
CREATE TABLE run (runner integer REFERENCES runner, km integer, minutes float8);
INSERT INTO runner SELECT i, 18 + i % 60, 'c' || i % 2 FROM generate_series(1, 300) i;
INSERT INTO run SELECT 1 + i % 300, 1 + i * 7 % 30, (1 + i * 7 % 30) * 5 + i % 40 FROM generate_series(1, 1200) i;
SELECT dp_protect('runner', 'runner_dp', unit => 'id');
SELECT dp_protect('run', 'run_dp', unit => 'runner', max_rows => 5, max_groups => 2);
SELECT dp_set_bounds('runner', 'age', 18, 78), dp_set_groups('runner', 'club', '{c0,c1}'), dp_set_bounds('run', 'km', 0, 32), dp_set_bounds('run', 'minutes', 0, 256),
       dp_set_odometer('runner', 'none', delta_total => 0.5);
SELECT dp_grant(v, r::regrole, tau => 0, candidates => '{100}', epsilon_max => 100, delta => 1e-6, mechanism => m)
FROM unnest('{runner_dp,run_dp}'::regclass[]) v, (VALUES ('regress_joint', 'laplace'), ('regress_joint_gauss', 'gaussian')) p (r, m);
GRANT SELECT ON runner, run TO regress_joint, regress_joint_gauss;
SET ROLE regress_joint;
SELECT near(n.p, x.p, 8192 * 0.02) AS covar_pop, near(n.c, x.c, 0.1) AS corr, near(n.b, x.b, 1) AS slope, n.low <= x.c AND x.c <= n.high AS holds
FROM (SELECT covar_pop(minutes, km) AS p, corr(minutes, km) AS c, regr_slope(minutes, km) AS b, dp_low(corr(minutes, km)) AS low, dp_high(corr(minutes, km)) AS high FROM run_dp) n,
     (SELECT covar_pop(minutes, km) AS p, corr(minutes, km) AS c, regr_slope(minutes, km) AS b FROM run) x;
SELECT n.club, near(n.p, x.p, 1920 * 0.05) AS covar_pop
FROM (SELECT p.club, covar_pop(r.km, p.age) AS p FROM run_dp r JOIN runner_dp p ON p.id = r.runner GROUP BY p.club) n
JOIN (SELECT p.club, covar_pop(r.km, p.age) AS p FROM run r JOIN runner p ON p.id = r.runner GROUP BY p.club) x USING (club) ORDER BY club;
SELECT near(n.c, x.c, 0.2) AS per_person
FROM (SELECT covar_pop(t.n, t.far) AS c FROM (SELECT runner, count(*) AS n, max(km) AS far FROM run_dp GROUP BY runner) t) n,
     (SELECT covar_pop(t.n, t.far) AS c FROM (SELECT runner, count(*) AS n, max(km) AS far FROM run GROUP BY runner) t) x;
-- As many as there may be, of somebody without rows and of somebody with some: neither fails.
CREATE FUNCTION pg_temp.ask_many(f text, n integer, who integer) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT %s FROM run_dp WHERE runner = %s', (SELECT string_agg(format('%s(minutes, km + %s)', f, i), ',') FROM generate_series(1, n) i), who);
    RETURN 'answered';
EXCEPTION WHEN program_limit_exceeded THEN
    RETURN sqlerrm;
END $$;
SELECT f, n, who, pg_temp.ask_many(f, n, who) FROM (VALUES ('corr', 51), ('corr', 98), ('covar_pop', 76), ('covar_pop', 98), ('corr', 99)) a (f, n), (VALUES (0), (1)) b (who);
SET ROLE regress_joint_gauss;
SELECT near(n.p, x.p, 8192 * 0.05) AS covar_pop, near(n.c, x.c, 0.2) AS corr
FROM (SELECT covar_pop(minutes, km) AS p, corr(minutes, km) AS c FROM run_dp) n, (SELECT covar_pop(minutes, km) AS p, corr(minutes, km) AS c FROM run) x;
SET ROLE regress_controller;
SELECT parameters::jsonb -> 'measures' AS measures FROM dp_rdr.ledger WHERE relation = 'public.run' AND role_name = 'regress_joint' AND query LIKE '%corr(%' AND query NOT LIKE '%, corr(%' ORDER BY id DESC LIMIT 1;

-- ---------------------------------------------------------------------------------------------------------------------
-- The controller's instruments: as a query with a declared sensitivity
-- ---------------------------------------------------------------------------------------------------------------------

SELECT attempt('SELECT * FROM dp_risk(''SELECT corr(y, x) FROM plot_dp'', ''{1}'')');
SELECT count(*) AS rows, bool_and(rdr_max >= rdr_min) AS risk FROM dp_risk('SELECT corr(y, x) FROM plot_dp WHERE y <> ''NaN'' AND x <> ''NaN''', '{1}', sensitivity => 2);
SELECT attempt('SELECT * FROM dp_risk_records(''SELECT corr(minutes, km) FROM run_dp'', 0.5)');
SELECT attempt('SELECT * FROM dp_risk_output(''SELECT corr(y, x) FROM plot_dp'', ''{0.5}'', ''laplace'', 1)');

-- ---------------------------------------------------------------------------------------------------------------------
-- Refused, before any charge
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_controller;
SELECT count(*) AS charges FROM dp_rdr.ledger \gset
SET ROLE regress_joint;
\set VERBOSITY default
SELECT corr(y, unbounded) FROM plot_dp;
SELECT corr(unbounded * 2, y) FROM plot_dp;
SELECT corr(DISTINCT y, x) FROM plot_dp;
SELECT corr(y, x ORDER BY x) FROM plot_dp;
SELECT corr(y, x) OVER () FROM plot_dp;
SELECT regr_sxx(y, x), regr_count(y, x) FROM plot_dp;
SELECT corr(y, sqrt(k - 5)) FROM plot_dp;
SELECT count(point(y, x)) FROM plot_dp;
SELECT covar_pop(y, y + 0), count(point(y, y + 0)) FROM plot_dp;
SELECT count(DISTINCT point(y, y + 0)), corr(y, y + 0) FROM plot_dp;
SELECT covar_pop(y, x + random()) FROM plot_dp;
\set VERBOSITY terse
SET ROLE regress_controller;
SELECT count(*) = :charges AS nothing_charged FROM dp_rdr.ledger;
-- The aggregate, on rows of one's own.
SELECT dp_rdr.cells('\x00', point(1, 2));
SELECT dp_rdr.cells(NULL, point(1, 2));
SELECT dp_rdr.cells(by_hand.spec(by_hand.parts(7, 0, 1)), point(1, 2));
SELECT dp_rdr.cells(by_hand.spec(by_hand.parts(5, 0, 1)), 1::float8);
SELECT by_hand.numbers(dp_rdr.cells(by_hand.spec(by_hand.parts(5, 0, 1)), point('NaN', 2)));
SELECT 0 <= ALL (by_hand.numbers(dp_rdr.cells(by_hand.spec(by_hand.measure(6, decode(repeat('ff', 32), 'hex'))), point(1, 2))));
SELECT by_hand.numbers(dp_rdr.cells(by_hand.spec(by_hand.parts(5, 0, 1)), p))
FROM unnest(ARRAY[point(1, 1), point(0.5, 0.5), NULL, point('Infinity', 1)]) p;
SELECT dp_rdr.cells('\x00', point(1, 2)) OVER ();

RESET ROLE;
SET client_min_messages = warning;
DROP TABLE plot, drawn, run, runner CASCADE;
DROP FUNCTION near(float8, float8, float8), held(float8, float8, float8);
