-- Minimum, maximum and percentiles: what is drawn, its types, groups and grids; what is refused; price, ledger, replay, requests.

LOAD 'dp_rdr';
SET client_min_messages = warning;
DROP ROLE IF EXISTS regress_quantile, regress_quantile_gauss, regress_quantile_selects, regress_quantile_data;
RESET client_min_messages;
CREATE ROLE regress_quantile;
CREATE ROLE regress_quantile_gauss;
CREATE ROLE regress_quantile_selects;
CREATE ROLE regress_quantile_data;
\set VERBOSITY terse
\pset null '-'
SET ROLE regress_controller;
CREATE TABLE dial (id integer, n smallint, i integer, b bigint, p numeric(8, 2), m numeric, f float8, r real, d date, t timestamp, z timestamptz, g text, open text, note text);
SELECT dp_protect('dial', 'dial_dp');
SELECT dp_set_bounds('dial', 'n', 0, 100), dp_set_bounds('dial', 'i', -5000, 5000), dp_set_bounds('dial', 'b', -9000000000000000000, 9000000000000000000),
       dp_set_bounds('dial', 'p', 0, 50), dp_set_bounds('dial', 'm', 0, 1024), dp_set_bounds('dial', 'f', -1, 1), dp_set_bounds('dial', 'r', 0, 10),
       dp_set_bounds('dial', 'd', date '2020-01-01', date '2024-12-31'), dp_set_bounds('dial', 't', timestamp '2020-01-01', timestamp '2025-01-01'),
       dp_set_groups('dial', 'g', '{a,b,empty}'), dp_set_odometer('dial', 'none', NULL, 0.5);
-- 1,001 values of each column: no rank that is looked for lies between two cells.
INSERT INTO dial SELECT id, id * 37 % 101, id * 37 % 5003 - 2000, (id * 37 % 1009 - 500) * 1e15::bigint, id * 37 % 4999 / 100.0, id * 37 % 1019, sin(id), id * 37 % 997 / 100.0,
    date '2020-01-01' + id * 37 % 1800, timestamp '2020-01-01' + id * 37 % 1800 * interval '1 day', now(), ('{a,b,undeclared}'::text[])[1 + id % 3], 'h' || id % 3, 'note' FROM generate_series(1, 1001) id;
CREATE VIEW plain_dial AS SELECT * FROM dial;
GRANT SELECT ON plain_dial TO regress_quantile;
SELECT dp_grant('dial_dp', 'regress_quantile', tau => 0, epsilon_max => 100, candidates => '{100}'),
       dp_grant('dial_dp', 'regress_quantile_gauss', tau => 0, epsilon_max => 100, candidates => '{100}', mechanism => 'gaussian', delta => 1e-6),
       dp_grant('dial_dp', 'regress_quantile_selects', tau_var => 0.01),
       dp_grant('dial_dp', 'regress_quantile_data', tau => 0.5, selection => 'within_data');

-- ---------------------------------------------------------------------------------------------------------------------
-- What is answered: at epsilon 100 the rank is right but for 1e-7
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_quantile;
SELECT x.q = y.q AS exact, x.q FROM (SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY n) AS q FROM dial_dp) x, (SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY n) AS q FROM plain_dial) y;
SELECT x.q = y.q AS exact, x.q FROM (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY n) AS q FROM dial_dp) x, (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY n) AS q FROM plain_dial) y;
SELECT x.q = y.q AS exact, x.q FROM (SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY n DESC) AS q FROM dial_dp) x, (SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY n DESC) AS q FROM plain_dial) y;
-- Those of a grid: of 10,001 whole numbers a cell has ten, of 1,024 cells between -1 and 1 each a 512th.
SELECT x.q - y.q BETWEEN 0 AND 9 AS near FROM (SELECT percentile_disc(0.7) WITHIN GROUP (ORDER BY i) AS q FROM dial_dp) x, (SELECT percentile_disc(0.7) WITHIN GROUP (ORDER BY i) AS q FROM plain_dial) y;
SELECT x.q - y.q BETWEEN 0 AND 0.04 AS near FROM (SELECT percentile_disc(0.7) WITHIN GROUP (ORDER BY p) AS q FROM dial_dp) x, (SELECT percentile_disc(0.7) WITHIN GROUP (ORDER BY p) AS q FROM plain_dial) y;
SELECT x.q - y.q BETWEEN 0 AND 0.002 AS near FROM (SELECT percentile_disc(0.7) WITHIN GROUP (ORDER BY f) AS q FROM dial_dp) x, (SELECT percentile_disc(0.7) WITHIN GROUP (ORDER BY f) AS q FROM plain_dial) y;
SELECT abs(x.q - y.q) <= 0.002 AS near FROM (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY f) AS q FROM dial_dp) x, (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY f) AS q FROM plain_dial) y;
SELECT x.q - y.q BETWEEN 0 AND 1 AS near FROM (SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY d) AS q FROM dial_dp) x, (SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY d) AS q FROM plain_dial) y;
SELECT x.q - y.q BETWEEN interval '0' AND interval '2 days' AS near FROM (SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY t) AS q FROM dial_dp) x, (SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY t) AS q FROM plain_dial) y;
-- Each extreme of n is that of nine rows, so the one that lies a rank inside is the same.
SELECT min(n), max(n) FROM dial_dp;
SELECT x.lowest BETWEEN y.lowest - 2 AND y.lowest + 30 AS lowest FROM (SELECT min(d) AS lowest FROM dial_dp) x, (SELECT min(d) AS lowest FROM plain_dial) y;
SELECT max(n) FILTER (WHERE n < 40), min(n) FILTER (WHERE n >= 40) FROM dial_dp;
-- Expressions; values beyond the bounds are clamped; the same call twice is one.
SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY n * 2) / 2 AS half, max(least(greatest(id, 0), 10)) AS ten FROM dial_dp;
SELECT a = b AS same FROM (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY f) AS a, percentile_disc(0.5) WITHIN GROUP (ORDER BY f) AS b FROM dial_dp) x;
SELECT pg_typeof(min(n)), pg_typeof(max(i)), pg_typeof(max(b)), pg_typeof(min(p)), pg_typeof(min(r)), pg_typeof(max(d)), pg_typeof(max(t)), pg_typeof(percentile_cont(0.5) WITHIN GROUP (ORDER BY n)), pg_typeof(percentile_disc(0.5) WITHIN GROUP (ORDER BY n)) FROM dial_dp;
SELECT max(p) <= 50 AND scale(max(p)) = 2 AS p, max(m) BETWEEN 0 AND 1024 AS m, max(r) BETWEEN 0 AND 10 AS r, max(b) BETWEEN 0 AND 9000000000000000000 AS b FROM dial_dp;
-- Groups: all that were declared; of nobody any value between the bounds.
SELECT x.g, x.q = y.q AS exact, x.q BETWEEN 0 AND 100 AS between FROM (SELECT g, percentile_disc(0.51) WITHIN GROUP (ORDER BY n) AS q FROM dial_dp GROUP BY g) x
LEFT JOIN (SELECT g, percentile_disc(0.51) WITHIN GROUP (ORDER BY n) AS q FROM plain_dial GROUP BY g) y USING (g) ORDER BY g;
SELECT * FROM (SELECT n > 50 AS high, max(n) > 50 AS above, max(n) < 101 AS within FROM dial_dp GROUP BY 1) h WHERE high IS NOT NULL ORDER BY 1;
SELECT max(n) BETWEEN 0 AND 100 AS nobody FROM dial_dp WHERE id < 0;
-- HAVING and the rest of the statement compute with it; a parameter is a constant.
SELECT g FROM dial_dp GROUP BY g HAVING max(n) > 1000;
PREPARE fraction(float8) AS SELECT percentile_disc($1) WITHIN GROUP (ORDER BY n) FROM dial_dp;
EXECUTE fraction(0.3);
EXECUTE fraction(2);
EXECUTE fraction(NULL);
SELECT q FROM dp_query('SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY n) FROM dial_dp') AS (q smallint);

-- NULL and NaN are nobody's, infinities are at the ends.
RESET ROLE;
SET ROLE regress_controller;
CREATE TABLE odd_dial (id integer, f float8, d date, t timestamp, m numeric);
INSERT INTO odd_dial SELECT i, ('{NaN,Infinity,-Infinity,NULL,0.5}'::float8[])[1 + i % 5], ('{infinity,-infinity,2024-01-01,NULL,2024-01-01}'::date[])[1 + i % 5],
    ('{infinity,-infinity,2024-01-01,NULL,2024-01-01}'::timestamp[])[1 + i % 5], ('{NaN,1e200,-1e200,NULL,0.5}'::numeric[])[1 + i % 5] FROM generate_series(1, 1000) i;
SELECT dp_protect('odd_dial', 'odd_dial_dp');
SELECT dp_set_bounds('odd_dial', 'f', 0, 1024), dp_set_bounds('odd_dial', 'm', 0, 1024), dp_set_bounds('odd_dial', 'd', date '2023-12-01', date '2024-02-01'),
       dp_set_bounds('odd_dial', 't', timestamp '2023-12-01', timestamp '2024-02-01'), dp_set_odometer('odd_dial', 'none', NULL, 0);
SELECT dp_grant('odd_dial_dp', 'regress_quantile', tau => 0, epsilon_max => 100, candidates => '{100}');
SET ROLE regress_quantile;
SELECT min(f), max(f), percentile_disc(0.7) WITHIN GROUP (ORDER BY f) AS seventh FROM odd_dial_dp;
SELECT min(m), max(m), percentile_disc(0.7) WITHIN GROUP (ORDER BY m) AS seventh FROM odd_dial_dp;
SELECT min(d), max(d), percentile_disc(0.5) WITHIN GROUP (ORDER BY d) AS median FROM odd_dial_dp;
SELECT min(t), max(t) FROM odd_dial_dp;
-- Bounds of nineteen digits, and those that no double tells apart; keys that nobody declared, as many as rows.
RESET ROLE;
SET ROLE regress_controller;
CREATE TABLE wide_dial (b bigint, m numeric(30), g integer);
INSERT INTO wide_dial SELECT 8000000000000000000, 5e25, CASE WHEN i % 2 = 0 THEN 1 ELSE i END FROM generate_series(1, 3000) i;
SELECT dp_protect('wide_dial', 'wide_dial_dp');
SELECT dp_set_bounds('wide_dial', 'b', -9000000000000000000, 9000000000000000000), dp_set_bounds('wide_dial', 'm', 0, 1e26), dp_set_groups('wide_dial', 'g', '{1,2,NULL}'), dp_set_odometer('wide_dial', 'none', NULL, 0);
SELECT dp_grant('wide_dial_dp', 'regress_quantile', tau => 0, epsilon_max => 100, candidates => '{100}');
SET ROLE regress_quantile;
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY b) BETWEEN 8e18 AND 8.02e18 AS b, percentile_disc(0.5) WITHIN GROUP (ORDER BY m) BETWEEN 4.9e25 AND 5.1e25 AS m FROM wide_dial_dp;
SELECT g, percentile_disc(0.5) WITHIN GROUP (ORDER BY b) BETWEEN 8e18 AND 8.02e18 AND coalesce(g, 0) = 1 AS b FROM wide_dial_dp GROUP BY g ORDER BY g;

-- ---------------------------------------------------------------------------------------------------------------------
-- What is refused
-- ---------------------------------------------------------------------------------------------------------------------

\set VERBOSITY default
CREATE TEMP TABLE refused (n integer GENERATED ALWAYS AS IDENTITY, query text);
INSERT INTO refused (query) VALUES
    ('SELECT max(note) FROM dial_dp'), ('SELECT max(z) FROM dial_dp'), ('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY note) FROM dial_dp'),
    ('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY z) FROM dial_dp'), ('SELECT percentile_cont(ARRAY[[0.5]]) WITHIN GROUP (ORDER BY n) FROM dial_dp'),
    ('SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY age(t)) FROM dial_dp'), ('SELECT mode() WITHIN GROUP (ORDER BY n) FROM dial_dp'),
    ('SELECT max(id) FROM dial_dp'), ('SELECT max(DISTINCT n) FROM dial_dp'), ('SELECT max(n ORDER BY n) FROM dial_dp'),
    ('SELECT open, max(n) FROM dial_dp GROUP BY open'), ('SELECT n, percentile_disc(n / 100.0) WITHIN GROUP (ORDER BY n) FROM dial_dp GROUP BY n'),
    ('SELECT dp_low(max(n)) FROM dial_dp'), ('SELECT dp_high(percentile_cont(0.5) WITHIN GROUP (ORDER BY f)) FROM dial_dp'),
    ('SELECT percentile_disc(-0.1) WITHIN GROUP (ORDER BY n) FROM dial_dp'), ('SELECT percentile_disc(NULL) WITHIN GROUP (ORDER BY n) FROM dial_dp'),
    ('SELECT n + 0 AS k, max(f), min(f), max(i), min(i), max(p), min(p), max(t), min(t), max(m), min(m), max(b) FROM dial_dp GROUP BY 1');
SELECT r.n, e.column_name, e.reason FROM refused r, dp_explain(r.query) e ORDER BY r.n, e.column_name;
SELECT open, max(n) FROM dial_dp GROUP BY open;
SELECT max(note) FROM dial_dp;
SELECT dp_high(max(n)) FROM dial_dp;
SELECT * FROM dp_query('SELECT max(n) FROM dial_dp', within => 0.1) AS (m smallint);
SELECT * FROM dp_query('SELECT max(n), count(*) FROM dial_dp', error95 => 5) AS (m smallint, n bigint);
SET ROLE regress_quantile_gauss;
SELECT max(n) FROM dial_dp;
SELECT dp_request('SELECT max(n) FROM dial_dp', 'no decision would help');
SET ROLE regress_quantile_selects;
SELECT max(n) FROM dial_dp;
SET ROLE regress_quantile_data;
SELECT n, percentile_disc(0.5) WITHIN GROUP (ORDER BY f) FROM dial_dp GROUP BY n; -- 101 groups: before a row is read
SELECT count(*) FROM (SELECT max(n) FROM dial_dp) a;
-- The risk is that of what is drawn.
RESET ROLE;
SET ROLE regress_controller;
SELECT round(noise_stddev::numeric, 2) AS drawn FROM dp_risk('SELECT max(n) FROM dial_dp', '{1}');
SELECT sum(individuals) AS people, min(rdr), max(rdr), count(loss) AS losses FROM dp_risk_output('SELECT max(n) FROM dial_dp', '{1}', 'laplace', 1);
\set VERBOSITY terse

-- People with several rows: each brings as many as max_rows, to the cells of one column. Where a key says that each has one, as rows.
CREATE TABLE read_often (person integer, n integer);
CREATE TABLE read_once (person integer PRIMARY KEY, n integer);
INSERT INTO read_often SELECT i % 50, i % 101 FROM generate_series(1, 1001) i;
CREATE TABLE read_unevenly (person integer, n integer, f float8);
INSERT INTO read_unevenly SELECT i, i % 11, 512::float8 FROM generate_series(1, 1100) i UNION ALL SELECT 0, 100, 'NaN' FROM generate_series(1, 10000);
INSERT INTO read_once SELECT i, i % 101 FROM generate_series(1, 1001) i;
SELECT dp_protect('read_unevenly', 'read_unevenly_dp', unit => 'person', max_rows => 30);
SELECT dp_set_bounds('read_unevenly', 'n', 0, 100), dp_set_bounds('read_unevenly', 'f', 0, 1024), dp_set_odometer('read_unevenly', 'none', NULL, 0);
SELECT dp_grant('read_unevenly_dp', 'regress_quantile', tau => 0, epsilon_max => 100, candidates => '{100}');
SELECT dp_protect('read_often', 'read_often_dp', unit => 'person', max_rows => 30), dp_protect('read_once', 'read_once_dp', unit => 'person');
SELECT dp_set_bounds('read_often', 'n', 0, 100), dp_set_bounds('read_once', 'n', 0, 100), dp_set_odometer('read_often', 'none', NULL, 0), dp_set_odometer('read_once', 'none', NULL, 0);
SELECT dp_grant('read_often_dp', 'regress_quantile', tau => 0, epsilon_max => 100, candidates => '{100}'), dp_grant('read_once_dp', 'regress_quantile', tau => 0, epsilon_max => 100, candidates => '{100}');
SET ROLE regress_quantile;
SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY n) BETWEEN 26 AND 34 AS third, max(n) >= 90 AS highest, percentile_disc(0.5) WITHIN GROUP (ORDER BY n) FILTER (WHERE n < 50) BETWEEN 20 AND 30 AS below, count(*) BETWEEN 960 AND 1040 AS rows FROM read_often_dp;
SELECT high, q - CASE WHEN high THEN 75 ELSE 25 END BETWEEN -3 AND 3 AS middle, people BETWEEN 48 AND 52 AS people FROM
    (SELECT n > 50 AS high, percentile_disc(0.5) WITHIN GROUP (ORDER BY n) AS q, count(DISTINCT person) AS people FROM read_often_dp WHERE n > 50 IS NOT NULL GROUP BY 1) x ORDER BY 1;
SELECT max(n), max(n * 2) FROM read_often_dp;
-- Somebody with more rows than that brings no more: half of the others are at 5 or below.
SELECT x.q FROM dp_query('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY n) FROM read_unevenly_dp', max_rows => 1) AS x (q integer);
SELECT percentile_disc(0.02) WITHIN GROUP (ORDER BY f) AS nobody_is_nan FROM read_unevenly_dp;
SELECT column_name, reason FROM dp_explain('SELECT max(n) FROM read_often_dp');
SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY n), max(n) FROM read_once_dp;
SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY n) AS q, count(DISTINCT person) AS people FROM read_once_dp;
RESET ROLE;
SET ROLE regress_controller;
-- Of groups that nobody declared each has a histogram, and what is drawn shows where the group does. Of rows, of people with several of
-- them in several groups, and of people in one group. Person 0 comes to each of 60 wards, and to nobody else's; of his groups three count.
CREATE TABLE read_found (id integer PRIMARY KEY, ward text, n integer);
CREATE TABLE read_widely (person integer, ward text, n integer);
INSERT INTO read_found SELECT i, 'w' || i % 4, i % 4 * 20 + i % 11 FROM generate_series(1, 4400) i UNION ALL SELECT -1, 'alone', 100;
INSERT INTO read_widely SELECT i, 'w' || (i + k) % 4, (i + k) % 4 * 20 + (i / 4) % 11 FROM generate_series(1, 4400) i, generate_series(1, 3) k
UNION ALL SELECT 0, 'own ' || i, 100 FROM generate_series(1, 60) i UNION ALL SELECT 0, 'w' || i % 4, 100 FROM generate_series(1, 20000) i;
SELECT dp_protect('read_found', 'read_found_dp', unit => 'id'), dp_protect('read_widely', 'read_widely_dp', unit => 'person', max_rows => 4, max_groups => 3);
SELECT dp_set_bounds(t, 'n', 0, 100), dp_set_odometer(t, 'none', delta_total => 0.9) FROM unnest('{read_found,read_widely}'::regclass[]) t;
SELECT dp_grant(t, 'regress_quantile', tau => 0, epsilon_max => 100, candidates => '{100,1}', delta => 1e-6, replay => '1 day') FROM unnest('{read_found_dp,read_widely_dp}'::regclass[]) t;
SET ROLE regress_quantile;
SET client_min_messages = error;
SELECT ward, q - 20 * right(ward, 1)::integer BETWEEN 4 AND 6 AS middle, low - 20 * right(ward, 1)::integer BETWEEN 0 AND 1 AS lowest, n BETWEEN 1098 AND 1102 AS people
FROM (SELECT ward, percentile_disc(0.5) WITHIN GROUP (ORDER BY n) AS q, min(n) AS low, count(*) AS n FROM read_found_dp GROUP BY ward) t ORDER BY ward COLLATE "C";
CREATE TEMP TABLE found AS SELECT ward, percentile_disc(0.5) WITHIN GROUP (ORDER BY n) AS q, percentile_disc(0.3) WITHIN GROUP (ORDER BY n) FILTER (WHERE n < 50) AS lower, count(DISTINCT person) AS people
FROM read_widely_dp GROUP BY ward;
SELECT ward, q - 20 * right(ward, 1)::integer BETWEEN 4 AND 6 AS middle, right(ward, 1) > '1' OR lower - 20 * right(ward, 1)::integer BETWEEN 2 AND 4 AS third, people BETWEEN 3297 AND 3303 AS people FROM found ORDER BY ward COLLATE "C";
-- Again, uncharged, and by another order of columns.
SELECT count(*) AS again FROM found f JOIN (SELECT ward, count(DISTINCT person) AS people, percentile_disc(0.3) WITHIN GROUP (ORDER BY n) FILTER (WHERE n < 50) AS lower, percentile_disc(0.5) WITHIN GROUP (ORDER BY n) AS q
    FROM read_widely_dp GROUP BY ward) t USING (ward) WHERE (f.q, f.lower, f.people) = (t.q, t.lower, t.people);
SELECT x.ward, x.q - 20 * right(x.ward, 1)::integer BETWEEN 4 AND 6 AS middle FROM dp_query('SELECT ward, percentile_disc(0.5) WITHIN GROUP (ORDER BY n) FROM read_widely_dp GROUP BY ward', max_rows => 1) AS x (ward text, q integer) ORDER BY x.ward COLLATE "C";
SELECT column_name, error95, threshold, reason FROM dp_explain('SELECT ward, percentile_disc(0.5) WITHIN GROUP (ORDER BY n), count(*) FROM read_widely_dp GROUP BY ward', epsilon => 1);
SELECT x.* FROM dp_query('SELECT ward, max(n) FROM read_widely_dp GROUP BY ward', max_rows => 200000, max_groups => 200000) AS x (ward text, high integer);
RESET client_min_messages;
RESET ROLE;
SET ROLE regress_controller;
-- Risks are those of the same groups where a condition names them, but for the number of people that a threshold needs.
SELECT round(rdr_min::numeric, 2) AS least, round(rdr_max::numeric, 2) AS most FROM dp_risk('SELECT ward, percentile_disc(0.5) WITHIN GROUP (ORDER BY n) FROM read_found_dp GROUP BY ward', '{1}', delta => 1e-6);
SELECT count(*) AS people, count(*) FILTER (WHERE abs(a.pis - b.pis) > 1e-9) AS others FROM
    dp_risk_records('SELECT ward, percentile_disc(0.5) WITHIN GROUP (ORDER BY n), count(DISTINCT person) FROM read_widely_dp WHERE person > 0 AND ward IN (''w0'', ''w1'', ''w2'', ''w3'') GROUP BY ward', 1, delta => 1e-6) a JOIN
    dp_risk_records('SELECT ward, percentile_disc(0.5) WITHIN GROUP (ORDER BY n) FROM read_widely_dp WHERE person > 0 GROUP BY ward', 1, delta => 1e-6) b ON a.record ->> 'person' = b.record ->> 'person';
-- Of few people each moves medians. Each is in four wards, in one of them by two cells, and counts there once.
CREATE TABLE read_few (person integer, ward text, n integer);
INSERT INTO read_few SELECT i, 'w' || k % 4, (i * 37 + k * 11) % 101 FROM generate_series(1, 12) i, generate_series(0, 4) k;
SELECT dp_protect('read_few', 'read_few_dp', unit => 'person', max_rows => 6, max_groups => 4), dp_set_bounds('read_few', 'n', 0, 100), dp_set_odometer('read_few', 'none', delta_total => 0.9);
SELECT dp_grant('read_few_dp', 'regress_quantile', tau => 0, epsilon_max => 100, candidates => '{100}', delta => 1e-6);
SELECT count(*) AS people, max(a.pis) > 0.5 AS some, count(*) FILTER (WHERE abs(a.pis - b.pis) > 1e-9) AS others FROM
    dp_risk_records('SELECT ward, percentile_disc(0.5) WITHIN GROUP (ORDER BY n), count(DISTINCT person) FROM read_few_dp WHERE ward IN (''w0'', ''w1'', ''w2'', ''w3'') GROUP BY ward', 1) a JOIN
    dp_risk_records('SELECT ward, percentile_disc(0.5) WITHIN GROUP (ORDER BY n) FROM read_few_dp GROUP BY ward', 1, delta => 1e-6) b ON a.record ->> 'person' = b.record ->> 'person';
SET ROLE regress_quantile;
SELECT count(*) AS wards, bool_and(people BETWEEN 11 AND 13) AS once FROM (SELECT ward, max(n), count(DISTINCT person) AS people FROM read_few_dp GROUP BY ward) t;
SET ROLE regress_controller;
SELECT bool_and(epsilon > 0) AS everybody FROM dp_loss_records('read_widely');
-- ---------------------------------------------------------------------------------------------------------------------
-- Price, ledger, replay, requests
-- ---------------------------------------------------------------------------------------------------------------------

SELECT dp_revoke('dial_dp', 'regress_quantile'), dp_grant('dial_dp', 'regress_quantile', tau => 0.95, replay => '1 day');
SET ROLE regress_quantile;
-- One coordinate and one share, as a count has.
SELECT q, column_name, epsilon, error95, mechanism, reason FROM unnest(ARRAY['SELECT count(*) FROM dial_dp', 'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY m) FROM dial_dp',
    'SELECT max(m) FROM dial_dp', 'SELECT percentile_disc(0.9) WITHIN GROUP (ORDER BY n), count(*) FROM dial_dp', 'SELECT count(*), count(*) FILTER (WHERE n > 5) FROM dial_dp']) q, dp_explain(q) ORDER BY 1, 2;
-- Twice the same, and nothing charged.
CREATE TEMP TABLE first AS SELECT g, percentile_disc(0.5) WITHIN GROUP (ORDER BY f) AS q, max(d) AS d FROM dial_dp GROUP BY g;
SELECT column_name, error95, reason FROM dp_last_release();
SELECT bool_and(x.q = f.q AND x.d = f.d) AS again FROM first f JOIN (SELECT g, percentile_disc(0.5) WITHIN GROUP (ORDER BY f) AS q, max(d) AS d FROM dial_dp GROUP BY g) x USING (g);
SET ROLE regress_controller;
SELECT parameters::jsonb -> 'k1' AS k1, parameters::jsonb -> 'measures' AS measures FROM dp_rdr.ledger WHERE relation = 'public.dial' ORDER BY id DESC LIMIT 1;
SELECT count(*) AS charges FROM dp_rdr.ledger WHERE relation = 'public.dial' AND query LIKE '%percentile_disc%' AND query LIKE '%max(%' AND role_name = 'regress_quantile' AND epsilon < 1;
-- Another fraction is another question; with the same one the grid must be the same.
SET ROLE regress_quantile;
SELECT count(*) AS answers FROM (SELECT percentile_disc(0.1) WITHIN GROUP (ORDER BY f) AS q FROM dial_dp) x, (SELECT percentile_disc(0.9) WITHIN GROUP (ORDER BY f) AS q FROM dial_dp) y, (SELECT percentile_disc(0.1) WITHIN GROUP (ORDER BY f) AS q FROM dial_dp) z WHERE x.q = z.q;
SET ROLE regress_controller;
SELECT m ->> 'fraction' AS fraction, count(*) AS charges FROM dp_rdr.ledger, jsonb_array_elements(parameters::jsonb -> 'measures') m WHERE relation = 'public.dial' AND epsilon = 0.05 GROUP BY 1 ORDER BY 1;
-- A request: the answer is kept, and not drawn again.
SELECT dp_revoke('dial_dp', 'regress_quantile'), dp_grant('dial_dp', 'regress_quantile', tau => 0, epsilon_max => 100, candidates => '{100}');
SET SESSION AUTHORIZATION regress_quantile;
SELECT dp_request('SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY n) AS q FROM dial_dp', 'the third') AS request \gset
SET SESSION AUTHORIZATION regress_controller;
SELECT state, epsilon FROM dp_approve(:request, basis => 'public');
SET SESSION AUTHORIZATION regress_quantile;
SELECT * FROM dp_fetch(:request) AS (q smallint);
SELECT * FROM dp_redraw(:request) AS (draw integer, q smallint);
SELECT dp_request_signal(:request, 'mean', 'answer.q', 'how large', lower => 0, upper => 100);
RESET SESSION AUTHORIZATION;

-- ---------------------------------------------------------------------------------------------------------------------
-- The aggregate of the internal statement, on rows of one's own: parts are added up, forged specifications and windows are refused
-- ---------------------------------------------------------------------------------------------------------------------

RESET ROLE;
SET ROLE regress_controller;
CREATE TABLE large AS SELECT i % 103 - 1 AS n, i % 3 AS g FROM generate_series(1, 20000) i;
ANALYZE large;
SELECT count(*) AS cells, count(*) FILTER (WHERE x = rows) AS as_expected
FROM (SELECT by_hand.numbers(dp_rdr.cells(by_hand.spec(by_hand.grid(101, 0, 100)), n)) AS c FROM large) h,
     unnest(c) WITH ORDINALITY u (x, place) JOIN (SELECT least(greatest(n, 0), 100) AS n, count(*) AS rows FROM large GROUP BY 1) r ON place = n + 1;
CREATE TEMP TABLE serial AS SELECT g, dp_rdr.cells(by_hand.spec(by_hand.grid(101, 0, 100)), n) AS h FROM large GROUP BY g;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
DO $$
DECLARE
    line text;
BEGIN
    FOR line IN EXPLAIN SELECT g, dp_rdr.cells(by_hand.spec(by_hand.grid(101, 0, 100)), n) FROM large GROUP BY g LOOP
        IF line LIKE '%Partial%' THEN
            RAISE NOTICE 'in parts';
        END IF;
    END LOOP;
END $$;
SELECT count(*) AS same FROM serial JOIN (SELECT g, dp_rdr.cells(by_hand.spec(by_hand.grid(101, 0, 100)), n) AS h FROM large GROUP BY g) p USING (g, h);
RESET min_parallel_table_scan_size;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
SELECT dp_rdr.cells(by_hand.spec(by_hand.grid(101, 0, 100)), n) = '' AS nothing FROM large WHERE n > 1000;
SELECT dp_rdr.cells(by_hand.spec(by_hand.grid(101, 0, 100)), NULL::integer) = decode(repeat('00', 16 * 101), 'hex') AS nothing FROM large;
SELECT dp_rdr.cells(by_hand.spec(by_hand.grid(0, 0, 100)), n) FROM large;
SELECT dp_rdr.cells(by_hand.spec(by_hand.grid(1025, 0, 100)), n) FROM large;
SELECT dp_rdr.cells('\x00', n) FROM large;
SELECT dp_rdr.cells(NULL, n) FROM large;
SELECT dp_rdr.cells(by_hand.spec(by_hand.grid(101, 0, 100)), g::text) FROM large;
SELECT dp_rdr.cells(by_hand.spec(by_hand.grid(101, 0, 100)), n) OVER () FROM large;
SELECT public.attempt($$SELECT dp_rdr.cells_deserialize('\x00', NULL)$$) ~ '^(42883|42846|0A000) ' AS refused;
DROP TABLE large;
RESET ROLE;
SET client_min_messages = warning;
DROP TABLE dial, odd_dial, wide_dial, read_often, read_unevenly, read_once CASCADE;
