-- Expressions and variances at the edges of what a statement may hold.

LOAD 'dp_rdr';
SET client_min_messages = warning;
DROP ROLE IF EXISTS regress_edges;
RESET client_min_messages;
CREATE ROLE regress_edges;
\set VERBOSITY terse
\pset null '-'

SET ROLE regress_controller;
CREATE TABLE edge (id integer NOT NULL, x integer NOT NULL, o oid, k text);
INSERT INTO edge SELECT i, i % 10, (i % 3)::text::oid, (ARRAY['a', 'b'])[1 + i % 2] FROM generate_series(1, 300) i;
SELECT dp_protect('edge', 'edge_dp');
SELECT dp_set_bounds('edge', 'x', 0, 9), dp_set_groups('edge', 'o', '{0,1,2}'), dp_set_groups('edge', 'k', '{a,b}'), dp_set_odometer('edge', 'none', NULL);
SELECT dp_grant('edge_dp', 'regress_edges', tau => 0, epsilon_max => 100, candidates => '{100}');
CREATE VIEW edge_charges AS SELECT count(*) AS charges FROM dp_rdr.ledger WHERE relation = 'public.edge';

-- A leaf has at most 1,000 keys and aggregates, but an average is computed from two sums and a variance from three: a statement
-- of more columns than PostgreSQL has is refused before it is charged, and nobody is suspended.
SET ROLE regress_edges;
CREATE FUNCTION pg_temp.many(what text, n integer) RETURNS text LANGUAGE sql AS $$
    SELECT format('SELECT %s FROM edge_dp', string_agg(format(what, i), ', ')) FROM generate_series(1, n) i $$;
SELECT n, what, attempt(pg_temp.many(what, n)) FROM (VALUES (1000, 'count(*) FILTER (WHERE id <> %s)'), (1000, 'sum(x + %s)'), (799, 'avg(x + %s)'), (800, 'avg(x + %s)'),
    (1000, 'avg(x + %s)'), (533, 'stddev(x) FILTER (WHERE id <> %s)'), (534, 'stddev(x) FILTER (WHERE id <> %s)'), (1000, 'stddev(x + %s)')) q (n, what);
SET ROLE regress_controller;
SELECT charges FROM edge_charges;

-- A constant of type oid is none of the relations that a plan reads.
SET ROLE regress_edges;
SELECT count(*) BETWEEN 99 AND 101 AS counted FROM edge_dp WHERE o = 1;
SELECT abs(sum((o = 2::oid)::integer) - 100) < 2 AS summed FROM edge_dp;
SELECT CASE WHEN x > 4 THEN 1::oid ELSE 2 END AS k, count(*) BETWEEN 149 AND 151 AS counted FROM edge_dp GROUP BY 1;
SELECT o, count(*) BETWEEN 99 AND 101 AS counted FROM edge_dp WHERE o IN (0, 1) GROUP BY 1;
SET ROLE regress_controller;
SELECT charges FROM edge_charges;
SELECT rdr_min > 0 AS looked_at FROM dp_risk('SELECT count(DISTINCT x) FROM edge_dp WHERE o = 1', '{1}', sensitivity => 1);
SELECT rdr_min > 0 AS looked_at FROM dp_risk('SELECT count(*) FROM edge_dp WHERE o = 1', '{1}');

-- A product of one and the same thing is a square: half of the noise.
SELECT dp_set_bounds('edge', 'x', -9, 9);
SET ROLE regress_edges;
SELECT sum(x * x) > 0 AS squares, sum((x - 1) * (x - 1)) > 0 AS deviations, sum(x * (x - 1)) > 0 AS product FROM edge_dp;
SET ROLE regress_controller;
SELECT m ->> 'expression' AS expression, m -> 'lower' AS lower, m -> 'upper' AS upper
FROM (SELECT parameters::jsonb AS p FROM dp_rdr.ledger WHERE relation = 'public.edge' ORDER BY id DESC LIMIT 1) l, jsonb_array_elements(p -> 'measures') m;

-- ---------------------------------------------------------------------------------------------------------------------
-- Bounds of dates, as they are shown
-- ---------------------------------------------------------------------------------------------------------------------

CREATE DOMAIN edge_day AS date;
CREATE DOMAIN edge_holiday AS edge_day;
CREATE TABLE edge_days (day edge_holiday, moment timestamp, number integer, size numeric);
SELECT dp_protect('edge_days', 'edge_days_dp');
SELECT dp_grant('edge_days_dp', 'regress_edges', tau => 0, epsilon_max => 100);
SELECT dp_set_bounds('edge_days', 'day', '2020-02-29', '3000-01-01'), dp_set_bounds('edge_days', 'moment', '0044-03-15 12:30:00.000001 BC', '2999-12-31 23:59:59.999999');
SELECT dp_set_bounds('edge_days', 'number', -2147483648, 2147483647), dp_set_bounds('edge_days', 'size', -1e100, 1e100);
SELECT name, value FROM dp_settings('edge_days') WHERE item = 'bounds';
SELECT call FROM dp_settings('edge_days') WHERE item = 'bounds' AND name IN ('day', 'moment') \gexec
SELECT name, value FROM dp_settings('edge_days') WHERE item = 'bounds' AND name IN ('day', 'moment');
-- Of a type that a column had once: pages are shown all the same.
ALTER TABLE edge_days ALTER number TYPE date USING NULL, ALTER size TYPE timestamp USING NULL;
SELECT dp_refresh('edge_days_dp');
SELECT name, value FROM dp_settings('edge_days') WHERE item = 'bounds' AND name IN ('number', 'size') ORDER BY 1;
SET ROLE regress_edges;
SELECT name, left(value, 80) AS value FROM dp_about('edge_days_dp') WHERE item = 'column' ORDER BY 1;
RESET ROLE;
SET client_min_messages = warning;
DROP VIEW edge_charges;
DROP TABLE edge, edge_days CASCADE;
DROP DOMAIN edge_holiday, edge_day;
