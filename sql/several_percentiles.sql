-- Percentiles of several fractions: percentile_disc(ARRAY[0.25, 0.75]) is asked as one percentile for each, and shown as an array.
LOAD 'dp_rdr';
SET client_min_messages = warning;
DROP ROLE IF EXISTS regress_quartiles;
RESET client_min_messages;
CREATE ROLE regress_quartiles;
\set VERBOSITY terse
\pset null '-'
SET ROLE regress_controller;
CREATE TABLE gauge (id integer, n smallint, f float8, p numeric(8, 2), d date, t timestamp, g text, note text);
SELECT dp_protect('gauge', 'gauge_dp');
SELECT dp_set_bounds('gauge', 'n', 0, 100), dp_set_bounds('gauge', 'f', 0, 1023), dp_set_bounds('gauge', 'p', 0, 10),
       dp_set_bounds('gauge', 'd', date '2024-01-01', date '2024-12-31'), dp_set_bounds('gauge', 't', timestamp '2024-01-01', timestamp '2024-01-09'),
       dp_set_groups('gauge', 'g', '{a,b,empty}'), dp_set_odometer('gauge', 'none', NULL, 0.5);
-- Three hundred rows of each whole number: ranks that are asked for are 30 or more from the next one, and at epsilon 50 off by as many
-- less than once in 10^100 draws.
INSERT INTO gauge SELECT i, i % 101, i % 101, (i % 11)::numeric, date '2024-01-01' + i % 300, timestamp '2024-01-01' + i % 8 * interval '1 day', ('{a,b,undeclared}'::text[])[1 + i % 3], 'note'
FROM generate_series(1, 101 * 300) i;
CREATE VIEW plain_gauge AS SELECT * FROM gauge;
GRANT SELECT ON plain_gauge TO regress_quartiles;
SELECT dp_grant('gauge_dp', 'regress_quartiles', tau => 0, epsilon_max => 100, candidates => '{100}');

-- ---------------------------------------------------------------------------------------------------------------------
-- What PostgreSQL says
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_quartiles;
CREATE TEMP TABLE asked (no integer GENERATED ALWAYS AS IDENTITY, query text);
INSERT INTO asked (query) VALUES
    ('SELECT percentile_disc(ARRAY[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY n) FROM gauge_dp'),
    ('SELECT percentile_disc(ARRAY[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY n DESC) FROM gauge_dp'),
    ('SELECT percentile_cont(ARRAY[0.5]) WITHIN GROUP (ORDER BY n) FROM gauge_dp'),
    ('SELECT percentile_disc(''{0.9,0.1}''::float8[]) WITHIN GROUP (ORDER BY n) FROM gauge_dp'),
    ('SELECT percentile_disc(ARRAY[0.3, 0.3, 0.6]) WITHIN GROUP (ORDER BY n) FROM gauge_dp'),
    ('SELECT percentile_disc(ARRAY[0.3, NULL, 0.6]) WITHIN GROUP (ORDER BY n) FROM gauge_dp'),
    ('SELECT percentile_disc(ARRAY[1 - 0.7, 0.3 * 2]) WITHIN GROUP (ORDER BY n) FROM gauge_dp'),
    ('SELECT percentile_disc(''{0.3}''::float8[] || ''{0.6}''::float8[]) WITHIN GROUP (ORDER BY n) FROM gauge_dp'),
    ('SELECT percentile_disc(ARRAY[0.3, 0.6]) WITHIN GROUP (ORDER BY n) FILTER (WHERE n < 51) FROM gauge_dp'),
    ('SELECT percentile_disc(ARRAY[0.3, 0.6]) WITHIN GROUP (ORDER BY 2 * n + 1) FROM gauge_dp'),
    ('SELECT (percentile_disc(ARRAY[0.3, 0.6]) WITHIN GROUP (ORDER BY n))[2] FROM gauge_dp'),
    ('SELECT unnest(percentile_disc(ARRAY[0.3, 0.6]) WITHIN GROUP (ORDER BY n)) FROM gauge_dp'),
    ('SELECT (SELECT max(x) FROM unnest(percentile_disc(ARRAY[0.3, 0.6]) WITHIN GROUP (ORDER BY n)) x) FROM gauge_dp'),
    ('SELECT g, percentile_disc(ARRAY[0.3, 0.6]) WITHIN GROUP (ORDER BY n) FROM gauge_dp WHERE g = ''a'' GROUP BY g'),
    ('SELECT n > 50, percentile_disc(ARRAY[0.31, 0.61]) WITHIN GROUP (ORDER BY n) AS q FROM gauge_dp WHERE n > 50 IS NOT NULL GROUP BY 1 ORDER BY percentile_disc(ARRAY[0.31, 0.61]) WITHIN GROUP (ORDER BY n) DESC'),
    ('SELECT n > 50, percentile_disc(ARRAY[0.31, 0.61]) WITHIN GROUP (ORDER BY n) AS q FROM gauge_dp WHERE n > 50 IS NOT NULL GROUP BY ROLLUP (1) ORDER BY 1'),
    ('SELECT percentile_disc(ARRAY[0.3, 0.6]) WITHIN GROUP (ORDER BY m) FROM (SELECT 100 - n AS m FROM gauge_dp) x'),
    ('WITH q AS (SELECT percentile_disc(ARRAY[0.3, 0.6]) WITHIN GROUP (ORDER BY n) AS a FROM gauge_dp) SELECT a[1], a[2] - a[1] FROM q');
CREATE FUNCTION pg_temp.said(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE said text;
BEGIN
    EXECUTE format('SELECT string_agg(x::text, '' '' ORDER BY n) FROM (SELECT x, row_number() OVER () AS n FROM (%s) x) y', query) INTO said;
    RETURN said;
END $$;
SELECT no, pg_temp.said(query) AS said, pg_temp.said(query) IS NOT DISTINCT FROM pg_temp.said(replace(query, 'gauge_dp', 'plain_gauge')) AS exact FROM asked
ORDER BY no;
-- "empty" has nobody, and any value.
SELECT g FROM gauge_dp GROUP BY g HAVING percentile_disc(ARRAY[0.3, 0.6]) WITHIN GROUP (ORDER BY n) = '{30,60}' AND g <> 'empty' ORDER BY 1;
SELECT pg_typeof(percentile_disc(ARRAY[0.5]) WITHIN GROUP (ORDER BY n)) AS n, pg_typeof(percentile_cont(ARRAY[0.5]) WITHIN GROUP (ORDER BY n)) AS cont, pg_typeof(percentile_disc(ARRAY[0.5]) WITHIN GROUP (ORDER BY p)) AS p,
       pg_typeof(percentile_disc(ARRAY[0.5]) WITHIN GROUP (ORDER BY d)) AS d, pg_typeof(percentile_disc(ARRAY[0.5]) WITHIN GROUP (ORDER BY t)) AS t FROM gauge_dp;
-- Of a grid, a cell of 11 minutes.
SELECT bool_and(x - y BETWEEN interval '0' AND interval '12 minutes') AS near FROM
    (SELECT percentile_disc(ARRAY[0.3, 0.6]) WITHIN GROUP (ORDER BY t) AS a FROM gauge_dp) a, (SELECT percentile_disc(ARRAY[0.3, 0.6]) WITHIN GROUP (ORDER BY t) AS b FROM plain_gauge) b, unnest(a, b) AS u(x, y);
-- Of no rows PostgreSQL has NULL. That there are none is private: so there is an array, of any values.
SELECT percentile_disc(ARRAY[0.5, NULL]) WITHIN GROUP (ORDER BY n) AS nobody FROM plain_gauge WHERE id < 0;
SELECT q IS NOT NULL AS there, q[1] BETWEEN 0 AND 100 AS between, q[2] IS NULL AS none, array_dims(q) AS dims FROM (SELECT percentile_disc(ARRAY[0.5, NULL]) WITHIN GROUP (ORDER BY n) AS q FROM gauge_dp WHERE id < 0) x;
-- The same fraction is one, in an array and alone.
SELECT q[1] = q[2] AND q[1] = one AS same FROM (SELECT percentile_cont(ARRAY[0.37, 0.37]) WITHIN GROUP (ORDER BY f) AS q, percentile_cont(0.37) WITHIN GROUP (ORDER BY f) AS one FROM gauge_dp) x;
PREPARE twice AS SELECT percentile_disc(ARRAY[0.3, 0.6]) WITHIN GROUP (ORDER BY n) FROM gauge_dp;
EXECUTE twice;
EXECUTE twice;
SELECT q FROM dp_query('SELECT percentile_disc(ARRAY[0.3, 0.6]) WITHIN GROUP (ORDER BY n) FROM gauge_dp') AS (q smallint[]);

-- ---------------------------------------------------------------------------------------------------------------------
-- Of one row for each person
-- ---------------------------------------------------------------------------------------------------------------------

RESET ROLE;
SET ROLE regress_controller;
CREATE TABLE gauge_call (pid integer, minutes integer);
INSERT INTO gauge_call SELECT p, 5 FROM generate_series(1, 3000) p, generate_series(1, 1 + p % 10);
SELECT dp_protect('gauge_call', 'gauge_call_dp', unit => 'pid', max_rows => 10);
SELECT dp_set_bounds('gauge_call', 'minutes', 0, 10), dp_set_odometer('gauge_call', 'none', NULL, 0);
SELECT dp_grant('gauge_call_dp', 'regress_quartiles', tau => 0, epsilon_max => 100, candidates => '{100}');
GRANT SELECT ON gauge_call TO regress_quartiles;
SET ROLE regress_quartiles;
SELECT percentile_disc(ARRAY[0.45, 0.95]) WITHIN GROUP (ORDER BY n) FROM (SELECT pid, count(*) AS n FROM gauge_call_dp GROUP BY pid) t;
SELECT percentile_disc(ARRAY[0.45, 0.95]) WITHIN GROUP (ORDER BY n) FROM (SELECT pid, count(*) AS n FROM gauge_call GROUP BY pid) t;
SELECT percentile_disc(ARRAY[0.45, 0.95]) WITHIN GROUP (ORDER BY total) FROM (SELECT pid, sum(minutes) AS total FROM gauge_call_dp GROUP BY pid) t;
SELECT percentile_disc(ARRAY[0.45, 0.95]) WITHIN GROUP (ORDER BY total) FROM (SELECT pid, sum(minutes) AS total FROM gauge_call GROUP BY pid) t;

-- ---------------------------------------------------------------------------------------------------------------------
-- What is refused, before anything is charged
-- ---------------------------------------------------------------------------------------------------------------------

\set VERBOSITY default
CREATE FUNCTION pg_temp.fraction() RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE WARNING 'code of somebody''s own'; RETURN 0.5; END $$;
CREATE TEMP TABLE refused (no integer GENERATED ALWAYS AS IDENTITY, query text);
INSERT INTO refused (query) VALUES
    ('SELECT percentile_disc(ARRAY[[0.1, 0.2], [0.3, 0.4]]) WITHIN GROUP (ORDER BY n) FROM gauge_dp'),
    ('SELECT percentile_disc(''{}''::float8[]) WITHIN GROUP (ORDER BY n) FROM gauge_dp'),
    ('SELECT percentile_disc(ARRAY[NULL]::float8[]) WITHIN GROUP (ORDER BY n), count(*) FROM gauge_dp'),
    ('SELECT percentile_disc(NULL::float8[]) WITHIN GROUP (ORDER BY n), count(*) FROM gauge_dp'),
    ('SELECT n, percentile_disc(ARRAY[n / 100.0]) WITHIN GROUP (ORDER BY n) FROM gauge_dp GROUP BY n'),
    ('SELECT percentile_disc(ARRAY[0.5, 1.5]) WITHIN GROUP (ORDER BY n) FROM gauge_dp'),
    ('SELECT percentile_disc(1.5) WITHIN GROUP (ORDER BY n) FROM gauge_dp'),
    ('SELECT percentile_disc(ARRAY[-1e-300]) WITHIN GROUP (ORDER BY n) FROM gauge_dp'),
    ('SELECT percentile_disc(ARRAY[''NaN''::float8]) WITHIN GROUP (ORDER BY n) FROM gauge_dp'),
    ('SELECT percentile_disc(ARRAY[''infinity''::float8]) WITHIN GROUP (ORDER BY n) FROM gauge_dp'),
    ('SELECT percentile_disc(ARRAY[pg_temp.fraction()]) WITHIN GROUP (ORDER BY n) FROM gauge_dp'),
    ('SELECT percentile_disc(ARRAY[random()]) WITHIN GROUP (ORDER BY n) FROM gauge_dp'),
    ('SELECT percentile_disc(ARRAY[extract(second FROM now()) / 60]) WITHIN GROUP (ORDER BY n) FROM gauge_dp'),
    ('SELECT percentile_disc(ARRAY[(SELECT 0.5)]) WITHIN GROUP (ORDER BY n) FROM gauge_dp'),
    ('SELECT percentile_disc(ARRAY[''0.5'']::text[]::float8[]) WITHIN GROUP (ORDER BY n) FROM gauge_dp'),
    ('SELECT percentile_disc((ARRAY[0.1, 0.2, 0.6])[2:3]) WITHIN GROUP (ORDER BY n) FROM gauge_dp'),
    ('SELECT percentile_disc(ARRAY[1 / (1 - 1)]) WITHIN GROUP (ORDER BY n) FROM gauge_dp'),
    ('SELECT percentile_disc(array_fill(0.5::float8, ARRAY[1001])) WITHIN GROUP (ORDER BY n) FROM gauge_dp'),
    ('SELECT dp_low(percentile_disc(ARRAY[0.1, 0.2]) WITHIN GROUP (ORDER BY n)) FROM gauge_dp'),
    ('SELECT percentile_disc(ARRAY[0.1, 0.2]) WITHIN GROUP (ORDER BY note) FROM gauge_dp'),
    ('SELECT percentile_disc(ARRAY[0.1, 0.2]) WITHIN GROUP (ORDER BY id) FROM gauge_dp'),
    ('SELECT note, percentile_disc(ARRAY[0.1, 0.2]) WITHIN GROUP (ORDER BY n) FROM gauge_dp GROUP BY note'),
    ('SELECT percentile_disc(ARRAY[0.1, 0.2]) WITHIN GROUP (ORDER BY n) FILTER (WHERE n IN (SELECT 1)) FROM gauge_dp'),
    ('SELECT percentile_disc(ARRAY[0.5, 0.5]) WITHIN GROUP (ORDER BY x) FROM (SELECT percentile_disc(ARRAY[0.5, 0.6]) WITHIN GROUP (ORDER BY n) AS x, id FROM gauge_dp GROUP BY id) t');
SELECT r.no, e.column_name, e.reason FROM refused r, dp_explain(r.query) e ORDER BY r.no, e.column_name;
SELECT percentile_disc(ARRAY[[0.1, 0.2], [0.3, 0.4]]) WITHIN GROUP (ORDER BY n) FROM gauge_dp;
SELECT percentile_disc('{}'::float8[]) WITHIN GROUP (ORDER BY n) FROM gauge_dp;
SELECT count(*), percentile_disc(ARRAY[0.5, 1.5]) WITHIN GROUP (ORDER BY n) FROM gauge_dp;
SELECT dp_high(percentile_disc(ARRAY[0.1, 0.2]) WITHIN GROUP (ORDER BY n)) FROM gauge_dp;
SELECT dp_request('SELECT percentile_disc(ARRAY[0.25, 0.5]) WITHIN GROUP (ORDER BY n) FROM gauge_dp', 'the quartiles');
PREPARE fractions(float8[]) AS SELECT percentile_disc($1) WITHIN GROUP (ORDER BY n) FROM gauge_dp;
EXECUTE fractions('{0.3,0.6}');
PREPARE fraction(float8) AS SELECT percentile_disc(ARRAY[0.5, $1]) WITHIN GROUP (ORDER BY n) FROM gauge_dp;
EXECUTE fraction(0.6);
PREPARE one(float8) AS SELECT percentile_disc($1) WITHIN GROUP (ORDER BY n) FROM gauge_dp;
EXECUTE one(0.6);
-- The number is looked at before they are made: that of one, that of all, and what is copied for each.
\set VERBOSITY terse
CREATE FUNCTION pg_temp.refusal(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE query;
    RETURN 'answered';
EXCEPTION WHEN OTHERS THEN
    RETURN sqlstate || ' ' || sqlerrm;
END $$;
SELECT pg_temp.refusal(format('SELECT percentile_disc(%L::float8[]) WITHIN GROUP (ORDER BY n) FROM gauge_dp', array_fill(0.5, ARRAY[1001])));
SELECT pg_temp.refusal(format('SELECT percentile_disc(%1$L::float8[]) WITHIN GROUP (ORDER BY n), percentile_disc(%1$L::float8[]) WITHIN GROUP (ORDER BY n + 1) FROM gauge_dp', array_fill(0.5, ARRAY[501])));
SELECT pg_temp.refusal(format('SELECT percentile_disc(%L::float8[]) WITHIN GROUP (ORDER BY n%s) FROM gauge_dp', array_fill(0.5, ARRAY[1000]), repeat(' + 1', 1000)));
-- A constant is copied with all of its bytes; what is named often, of one row for each person, is looked into as often.
SELECT pg_temp.refusal(format('SELECT percentile_disc(%L::float8[]) WITHIN GROUP (ORDER BY n) FILTER (WHERE n::text <> %L) FROM gauge_dp', array_fill(0.5, ARRAY[1000]), repeat('x', 60000)));
SELECT pg_temp.refusal('SELECT percentile_disc(''[5:6]={0.3,0.6}''::float8[]) WITHIN GROUP (ORDER BY n) FROM gauge_dp');
SELECT pg_temp.refusal(format('SELECT percentile_disc(%L::float8[]) WITHIN GROUP (ORDER BY (SELECT n%s)) FROM gauge_dp', array_fill(0.5, ARRAY[1000]), repeat(' + 1', 1000)));
SELECT pg_temp.refusal(format('SELECT percentile_disc(%L::float8[]) WITHIN GROUP (ORDER BY n) FROM gauge_dp', array_fill(0.5, ARRAY[10000])));
SELECT pg_temp.refusal(format('SELECT percentile_disc(%L::float8[]) WITHIN GROUP (ORDER BY n) FROM gauge_dp', array_fill(0.5, ARRAY[1000])));

-- ---------------------------------------------------------------------------------------------------------------------
-- What they cost, and what the ledger calls them
-- ---------------------------------------------------------------------------------------------------------------------

RESET ROLE;
SET ROLE regress_controller;
SELECT count(*) AS charges, sum(epsilon) AS epsilon FROM dp_rdr.ledger WHERE relation = 'public.gauge' AND query LIKE '%1.5%';
SELECT dp_revoke('gauge_dp', 'regress_quartiles'), dp_grant('gauge_dp', 'regress_quartiles', tau => 0.95, replay => '1 day');
SET ROLE regress_quartiles;
SELECT q, column_name, epsilon, error95, mechanism, reason FROM unnest(ARRAY['SELECT percentile_disc(ARRAY[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY n) AS quartiles FROM gauge_dp',
    'SELECT percentile_disc(0.25) WITHIN GROUP (ORDER BY n) AS first, percentile_disc(0.5) WITHIN GROUP (ORDER BY n) AS second, percentile_disc(0.75) WITHIN GROUP (ORDER BY n) AS third FROM gauge_dp']) q,
    dp_explain(q) ORDER BY 1, 2;
SELECT percentile_disc(ARRAY[0.25, 0.5]) WITHIN GROUP (ORDER BY n) IS NOT NULL AS answered FROM gauge_dp;
SELECT column_name, epsilon, reason FROM dp_last_release() ORDER BY 1;
-- The same questions again, one by one: no charge.
SELECT q[1] = a AND q[2] = b AS again FROM (SELECT percentile_disc(ARRAY[0.25, 0.5]) WITHIN GROUP (ORDER BY n) AS q FROM gauge_dp) x,
    (SELECT percentile_disc(0.25) WITHIN GROUP (ORDER BY n) AS a, percentile_disc(0.5) WITHIN GROUP (ORDER BY n) AS b FROM gauge_dp) y;
EXPLAIN (VERBOSE, COSTS OFF) SELECT percentile_disc(ARRAY[0.25, 0.5]) WITHIN GROUP (ORDER BY n) AS quartiles FROM gauge_dp;
SET ROLE regress_controller;
SELECT query, epsilon FROM dp_rdr.ledger WHERE relation = 'public.gauge' AND epsilon < 1 ORDER BY id;
