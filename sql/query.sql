-- What an analyst may ask, what it costs, and what comes back. No noisy number is printed: answers are compared with bounds
-- that their noise exceeds with probability below 1e-9 each. The roles "precise" have epsilon 100 for each answer, where a
-- count is off by one with probability 8e-44.

LOAD 'dp_rdr';
SET client_min_messages = warning;
DROP ROLE IF EXISTS regress_precise, regress_gaussian;
RESET client_min_messages;
CREATE ROLE regress_precise;
CREATE ROLE regress_gaussian;
SET ROLE regress_controller;
\set VERBOSITY terse

CREATE TYPE color AS ENUM ('red', 'green', 'blue');
CREATE DOMAIN score AS integer CHECK (VALUE >= 0);
CREATE DOMAIN word AS varchar(8);
CREATE TABLE item (
    id integer PRIMARY KEY, i2 smallint, i4 integer, i8 bigint, f4 real, f8 double precision, n numeric, sc score,
    t text, v varchar(8), c char(3), w word, d date, ts timestamptz, b boolean, bn boolean NOT NULL, m color
);
INSERT INTO item
SELECT id, id % 10, id % 10, id % 10, id % 10, id % 10, id % 10 + 0.5, id % 10,
       chr(97 + id % 3), chr(97 + id % 3), chr(97 + id % 3), chr(97 + id % 3), date '2024-01-01' + id % 31, '2024-06-01 12:00+00',
       CASE id % 4 WHEN 0 THEN NULL ELSE id % 4 = 1 END, id % 2 = 0, CASE id % 5 WHEN 0 THEN 'red'::color WHEN 1 THEN 'green' END
FROM generate_series(1, 1000) id;
UPDATE item SET t = NULL WHERE id % 50 = 0;
SELECT dp_protect('item', 'item_dp');
SELECT dp_set_odometer('item', 'none', NULL);
SELECT count(dp_set_bounds('item', c, 0, 10)) FROM unnest('{i2,i4,i8,f4,f8,n,sc}'::text[]) c;
SELECT dp_set_groups('item', 't', '{c,zz,a,b}'), dp_set_groups('item', 'v', '{c,a,NULL,b}'), dp_set_groups('item', 'c', '{b,a}'),
       dp_set_groups('item', 'w', '{b,a}'), dp_set_groups('item', 'i4', '{9,10,3,0}'), dp_set_groups('item', 'n', '{1.50,0.5}');
SELECT dp_grant('item_dp', 'regress_precise', tau => 0, epsilon_max => 100, candidates => '{100}'),
       dp_grant('item_dp', 'regress_analyst', tau => 0.95);

-- Epsilon of the last charge on a table, for everybody.
CREATE FUNCTION charged(name text, OUT epsilon numeric, OUT delta numeric) LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
RETURN (SELECT (l.epsilon, l.delta) FROM dp_rdr.ledger l WHERE relation = 'public.' || name ORDER BY id DESC LIMIT 1);
CREATE FUNCTION charges(name text) RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
RETURN (SELECT count(*) FROM dp_rdr.ledger l WHERE relation = 'public.' || name);

-- ---------------------------------------------------------------------------------------------------------------------
-- Conditions: each is asked of the restricted view and of the table
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE condition (n integer GENERATED ALWAYS AS IDENTITY, sql text);
INSERT INTO condition (sql) VALUES
    ('i4 = 3'), ('i4 <> 3'), ('i4 < 3'), ('3 >= i4'), ('i4 BETWEEN 2 AND 4'), ('i4 NOT BETWEEN 2 AND 4'), ('i4 IN (1, 2, 3)'), ('i4 NOT IN (1, 2)'),
    ('i4 IN (1, NULL)'), ('i4 = ANY (''{4,5}'')'), ('i4 <> ALL (''{4,5}'')'), ('NOT i4 = 3'), ('i4 = 3 AND t = ''a'' OR NOT (b IS TRUE)'), ('i4 = 1 + 2'),
    ('t IS NULL'), ('t IS NOT NULL'), ('t IS DISTINCT FROM ''a'''), ('t IS NOT DISTINCT FROM NULL'), ('t = ''a'''), ('t < ''b'''), ('t IN (''a'', ''b'', ''zz'')'),
    ('v = ''a'''), ('v <> ''b'' AND v >= ''a'''), ('v IN (''a'', ''b'')'), ('v NOT IN (''a'')'), ('c IN (''a'', ''b'')'), ('c = ''a'''), ('c = ''a  '''), ('w = ''b'''), ('w IN (''a'', ''b'')'), ('sc > 5'), ('sc IN (1, 2)'),
    ('i2 = 3'), ('i2 = 3::smallint'), ('i8 > 5'), ('i8 = 3::bigint'), ('f4 >= 2.5'), ('f8 < 4'), ('n = 2.5'), ('n <> 2.50'), ('n BETWEEN 1 AND 3'), ('n IN (0.5, 3.5)'),
    ('d = ''2024-01-05'''), ('d >= ''2024-01-20'''), ('d BETWEEN ''2024-01-03'' AND ''2024-01-09'''), ('ts = ''2024-06-01 12:00+00'''), ('ts < ''2024-06-01 13:00+02'''),
    ('b'), ('NOT b'), ('b IS NULL'), ('b IS TRUE'), ('b IS NOT FALSE'), ('b IS UNKNOWN'), ('b = true'), ('b <> bn'), ('bn'), ('m = ''red'''), ('m <> ''red'''), ('m IN (''red'', ''blue'')'),
    ('m IS NULL'), ('i4 = i2'), ('i4 > sc'), ('i8 <= f8'), ('t = v'), ('id = 7'), ('true'), ('false'), ('NULL'), ('1 = 1'), ('id IS NULL'),
    ('i4 = ''3'''), ('upper(''a'') = ''A'' AND i4 = 3'), ('t = lower(''A'')'), ('i4 > length(''abc'')');
GRANT SELECT ON condition TO regress_precise;
CREATE FUNCTION matches(query text) RETURNS bigint LANGUAGE plpgsql AS 'DECLARE n bigint; BEGIN EXECUTE query INTO n; RETURN n; END';
CREATE FUNCTION asked(query text) RETURNS text LANGUAGE plpgsql AS
    'DECLARE n bigint; BEGIN EXECUTE query INTO n; RETURN n; EXCEPTION WHEN OTHERS THEN RETURN sqlstate || '' '' || sqlerrm; END';
CREATE TABLE truth AS SELECT n, matches('SELECT count(*) FROM item WHERE ' || sql) AS n_where, matches('SELECT count(t) FILTER (WHERE ' || sql || ') FROM item') AS n_filter
FROM condition;
GRANT SELECT ON truth TO regress_precise;
SET ROLE regress_precise;
CREATE TEMP TABLE answered AS SELECT n, asked('SELECT count(*) FROM item_dp WHERE ' || sql) AS a_where,
    asked('SELECT count(t) FILTER (WHERE ' || sql || ') FROM item_dp') AS a_filter FROM condition;
SELECT count(*) AS conditions, count(*) FILTER (WHERE a_where = n_where::text) AS "where", count(*) FILTER (WHERE a_filter = n_filter::text) AS filter
FROM answered JOIN truth USING (n);
SELECT sql, a_where, n_where, a_filter, n_filter FROM answered JOIN truth USING (n) JOIN condition USING (n)
WHERE (a_where, a_filter) <> (n_where::text, n_filter::text) ORDER BY n;

-- ---------------------------------------------------------------------------------------------------------------------
-- Aggregates: values near the true ones, result types those of the plain aggregates, never NULL
-- ---------------------------------------------------------------------------------------------------------------------

-- With m measures in a query each has 100 / m: the noise of a sum is 1/m * 10, that of a count is 0 but for 2 exp(-100 / m).
SELECT abs(sum(i2) - 4500) < 20 AS i2, abs(sum(i4) - 4500) < 20 AS i4, abs(sum(i8) - 4500) < 20 AS i8, abs(sum(f4) - 4500) < 20 AS f4,
       abs(sum(f8) - 4500) < 20 AS f8, abs(sum(n) - 5000) < 20 AS n, abs(sum(sc) - 4500) < 20 AS sc FROM item_dp;
SELECT abs(avg(i2) - 4.5) < 0.03 AS i2, abs(avg(i4) - 4.5) < 0.03 AS i4, abs(avg(i8) - 4.5) < 0.03 AS i8, abs(avg(f4) - 4.5) < 0.03 AS f4,
       abs(avg(f8) - 4.5) < 0.03 AS f8, abs(avg(n) - 5) < 0.03 AS n, abs(avg(sc) - 4.5) < 0.03 AS sc FROM item_dp;
SELECT count(*) = 1000 AS "*", count(1) = 1000 AS "1", count(t) = 980 AS t, count(b) = 750 AS b FROM item_dp;
SELECT count(m) = 400 AS m, count(ts) = 1000 AS ts, count(w) = 1000 AS w, count(f8) = 1000 AS f8 FROM item_dp;
SELECT pg_typeof(count(*)) AS count, pg_typeof(sum(i2)) AS s2, pg_typeof(sum(i4)) AS s4, pg_typeof(sum(i8)) AS s8, pg_typeof(sum(f4)) AS sf4,
       pg_typeof(sum(f8)) AS sf8, pg_typeof(sum(n)) AS sn, pg_typeof(sum(sc)) AS ssc FROM item_dp;
SELECT pg_typeof(avg(i2)) AS a2, pg_typeof(avg(i4)) AS a4, pg_typeof(avg(i8)) AS a8, pg_typeof(avg(f4)) AS af4, pg_typeof(avg(f8)) AS af8,
       pg_typeof(avg(n)) AS an, pg_typeof(avg(sc)) AS asc_ FROM item_dp;
SELECT dp_count(*) = 1000 AS "*", dp_count(t) = 980 AS t, abs(dp_sum(i4) - 4500) < 12 AS sum, abs(dp_avg(n) - 5) < 0.03 AS avg,
       pg_typeof(dp_count(*)), pg_typeof(dp_sum(i4)), pg_typeof(dp_sum(n)), pg_typeof(dp_avg(f4)) FROM item_dp;
-- The same argument and filter: one measure, consistent with itself (its count is rounded, and a sum of noisy halves).
SELECT n BETWEEN 999 AND 1001 AS n, abs(s - a * n) < 10 AS s FROM (SELECT count(i4) AS n, sum(i4) AS s, avg(i4) AS a FROM item_dp) q;
SELECT count(*) FILTER (WHERE i4 = 3) = 100 AS three, abs(sum(i4) FILTER (WHERE i4 > 7) - 1700) < 12 AS large,
       avg(i4) FILTER (WHERE i4 < 0) BETWEEN 0 AND 10 AS nothing, count(*) = 1000 AS "all" FROM item_dp;
SELECT count(*) = count(*) AS one_answer, count(*) + 1 - count(*) AS one FROM item_dp;
-- Values are clamped: 0..5.
RESET ROLE;
SELECT dp_set_bounds('item', 'i4', 0, 5);
SET ROLE regress_precise;
SELECT abs(sum(i4) - 3500) < 5 AS sum, avg(i4) BETWEEN 3.49 AND 3.51 AS avg FROM item_dp; -- one measure of scale 0.01 * 5
RESET ROLE;
SELECT dp_set_bounds('item', 'i4', 0, 10);

-- ---------------------------------------------------------------------------------------------------------------------
-- Groups: all that are declared, no other, in canonical order whatever the order of the declaration
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_precise;
SELECT t, count(*) AS n, count(*) FILTER (WHERE i4 = 3) BETWEEN 32 AND 34 AS three FROM item_dp GROUP BY t;
SELECT v, count(*) AS n FROM item_dp GROUP BY v;
SELECT c, count(*) AS n FROM item_dp GROUP BY c;
SELECT w, count(*) AS n FROM item_dp GROUP BY w;
SELECT i4, count(*) AS n, avg(i4) BETWEEN 0 AND 10 AS avg FROM item_dp GROUP BY i4;
SELECT n, count(*) FROM item_dp GROUP BY n;
SELECT b, count(*) AS n FROM item_dp GROUP BY b;
SELECT bn, count(*) AS n FROM item_dp GROUP BY bn;
SELECT m, count(*) AS n FROM item_dp GROUP BY m;
SELECT m, b, count(*) AS n FROM item_dp GROUP BY m, b;
SELECT b, m, count(*) AS n FROM item_dp WHERE i4 < 5 GROUP BY m, b HAVING count(*) > 50;
SELECT count(*) AS n FROM item_dp GROUP BY bn;
SELECT bn AS x, bn AS y, count(*) AS n FROM item_dp GROUP BY bn, 2;
SELECT pg_typeof(w), pg_typeof(v), pg_typeof(c), pg_typeof(m) FROM (SELECT w, v, c, m, count(*) FROM item_dp GROUP BY w, v, c, m LIMIT 1) q;
-- Groups whose texts depend on a setting mean what they meant when they were declared.
SET ROLE regress_controller;
SET datestyle = 'ISO, DMY';
SELECT dp_set_groups('item', 'd', '{05/01/2024,06/01/2024}');
RESET datestyle;
SET ROLE regress_precise;
SET datestyle = 'ISO, MDY';
SELECT d, count(*) > 0 AS there FROM item_dp GROUP BY d;
RESET datestyle;

-- ---------------------------------------------------------------------------------------------------------------------
-- The rest of a query is ordinary SQL over the answer
-- ---------------------------------------------------------------------------------------------------------------------

SELECT t AS letter, 2 * count(*) + 1 AS odd, 'n = ' || count(*) AS text, CASE WHEN count(*) > 330 THEN 'many' ELSE 'few' END AS size
FROM item_dp GROUP BY t HAVING count(*) > 0 AND t <> 'b' ORDER BY count(*) DESC, t DESC LIMIT 5;
SELECT DISTINCT count(*) > 300 AS large FROM item_dp GROUP BY t ORDER BY 1;
SELECT t, count(*) AS n, rank() OVER (ORDER BY count(*) DESC), sum(count(*)) OVER () AS total FROM item_dp GROUP BY t ORDER BY t;
SELECT count(*) > 0 AS some FROM item_dp HAVING count(*) > 100;
SELECT count(*) > 0 AS some FROM item_dp HAVING count(*) < 0;
SELECT t, n FROM (SELECT t, count(*) AS n FROM item_dp GROUP BY t) q WHERE n > 0 ORDER BY n, t OFFSET 1;
WITH q AS (SELECT t, count(*) AS n FROM item_dp GROUP BY t), total AS (SELECT sum(n) AS total FROM q)
SELECT t, round(n / total, 2) AS share FROM q, total WHERE n > 0 ORDER BY t;
SELECT q.t, label FROM (SELECT t, count(*) AS n FROM item_dp GROUP BY t) q JOIN (VALUES ('a', 'first'), ('b', 'second')) l (t, label) USING (t) ORDER BY 1;
SELECT (SELECT count(*) FROM item_dp) AS n, (SELECT count(*) FROM item_dp WHERE i4 = 3) AS three;
SELECT count(*) FROM item_dp UNION ALL SELECT count(*) FROM item_dp WHERE bn ORDER BY 1;
SELECT x, (SELECT count(*) FROM item_dp WHERE i4 = 3) AS once FROM generate_series(1, 2) x;
SELECT array_agg(n ORDER BY n) FROM (SELECT count(*) AS n FROM item_dp GROUP BY bn) q;
SELECT 1000 IN (SELECT count(*) FROM item_dp) AS "in", EXISTS (SELECT FROM item_dp HAVING count(*) > 5) AS "exists";
CREATE TEMP TABLE kept AS SELECT t, count(*) AS n FROM item_dp GROUP BY t;
INSERT INTO kept SELECT 'all', count(*) FROM item_dp RETURNING *;
CREATE TEMP VIEW over AS SELECT t, count(*) AS n FROM item_dp GROUP BY t;
SELECT * FROM over WHERE t = 'a';
COPY (SELECT bn, count(*) FROM item_dp GROUP BY bn) TO STDOUT;
DO $$ DECLARE k bigint; BEGIN SELECT count(*) INTO k FROM item_dp WHERE i4 = 3; RAISE NOTICE '%', k; END $$;
CREATE FUNCTION pg_temp.ask(x integer) RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT count(*) FROM item_dp WHERE i4 < x';
SELECT pg_temp.ask(2), pg_temp.ask(5);
BEGIN;
DECLARE c CURSOR FOR SELECT t, count(*) FROM item_dp GROUP BY t;
FETCH 1 FROM c;
FETCH 1 FROM c;
COMMIT;

-- Parameters, with custom and generic plans; as constants of the leaf and in the rest.
PREPARE older(integer, text) AS SELECT count(*) + $1 AS n, $2 AS text FROM item_dp WHERE i4 > $1 AND (t = $2 OR $2 IS NULL);
SET plan_cache_mode = force_custom_plan;
EXECUTE older(5, NULL);
EXECUTE older(8, 'a');
SET plan_cache_mode = force_generic_plan;
EXECUTE older(5, NULL);
EXECUTE older(8, 'a');
EXECUTE older(NULL, 'a');
PREPARE several(numeric, date, boolean, color) AS
    SELECT $4 AS c, count(*) FILTER (WHERE n > $1) AS n, count(*) FILTER (WHERE d < $2) AS d, count(*) FILTER (WHERE b = $3) AS b, count(*) FILTER (WHERE m = $4) AS m FROM item_dp;
EXECUTE several(5.5, '2024-01-11', true, 'green');
RESET plan_cache_mode;
DEALLOCATE ALL;

-- ---------------------------------------------------------------------------------------------------------------------
-- One execution of a leaf: one charge and one draw (B09-B11)
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_analyst;
CREATE TEMP TABLE charged_before AS SELECT charges('item') AS n;
CREATE FUNCTION pg_temp.since() RETURNS bigint LANGUAGE plpgsql AS
    $$ DECLARE d bigint; BEGIN SELECT charges('item') - n INTO d FROM charged_before; UPDATE charged_before SET n = charges('item'); RETURN d; END $$;
SELECT attempt('SELECT count(*), avg(i4), count(*) FILTER (WHERE b) FROM item_dp') AS several_measures, pg_temp.since();
SELECT attempt('WITH q AS (SELECT count(*) AS n FROM item_dp) SELECT * FROM q a, q b') AS cte_twice, pg_temp.since();
SELECT attempt('SELECT x, (SELECT count(*) FROM item_dp) FROM generate_series(1, 5) x') AS initplan, pg_temp.since();
SELECT attempt('SELECT * FROM generate_series(1, 5) x, LATERAL (SELECT count(*), x FROM item_dp) y') AS rescans, pg_temp.since() BETWEEN 1 AND 5;
SELECT attempt('SELECT (SELECT count(*) FROM item_dp), (SELECT count(*) FROM item_dp)') AS two_leaves, pg_temp.since();
SELECT attempt('SELECT count(*) FROM item_dp LIMIT 0') AS limit_0, pg_temp.since();
SELECT attempt('EXPLAIN SELECT count(*) FROM item_dp') AS explain, pg_temp.since();
SELECT attempt('EXPLAIN ANALYZE SELECT count(*) FROM item_dp') AS explain_analyze, pg_temp.since();
SELECT attempt('SELECT CASE WHEN 1 = 2 THEN (SELECT count(*) FROM item_dp) END') AS dead_arm, pg_temp.since();
SELECT attempt('WITH q AS (SELECT count(*) FROM item_dp) SELECT 1') AS unused_cte, pg_temp.since();
SELECT attempt('PREPARE p AS SELECT count(*) FROM item_dp') AS prepare, pg_temp.since();
SELECT attempt('EXECUTE p') FROM generate_series(1, 7);
SELECT pg_temp.since() AS executions;
EXPLAIN (COSTS OFF) SELECT count(*) FROM item_dp WHERE i4 = 3;
EXPLAIN (COSTS OFF) SELECT t, count(*) FROM item_dp GROUP BY t HAVING count(*) > 5 ORDER BY 2;
-- Draws differ: 40 counts at epsilon 0.05 are all alike with probability (1/40)^39.
SELECT count(DISTINCT n) > 1 AS fresh FROM (SELECT matches('SELECT count(*) FROM item_dp') AS n FROM generate_series(1, 40)) q;
SELECT pg_temp.since() AS charges;
PREPARE again AS SELECT count(*) AS n FROM item_dp;
SET plan_cache_mode = force_generic_plan;
SELECT count(DISTINCT n) > 1 AS fresh FROM (SELECT matches('EXECUTE again') AS n FROM generate_series(1, 20)) q;
RESET plan_cache_mode;
-- PostgreSQL's own generator has nothing to do with it (B13).
SELECT setseed(0.5);
CREATE TEMP TABLE drawn AS SELECT g, matches('EXECUTE again') AS n FROM generate_series(1, 20) g;
SELECT setseed(0.5);
SELECT count(*) FILTER (WHERE n <> matches('EXECUTE again')) > 0 AS fresh FROM drawn;
SELECT pg_temp.since() AS charges;

-- ---------------------------------------------------------------------------------------------------------------------
-- The price: m asinh( k1 (1 - tau) / (m tau) ), the largest candidate not above it, at most epsilon_max
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_controller;
CREATE TABLE price (n integer GENERATED ALWAYS AS IDENTITY, query text, m integer, k1 integer);
INSERT INTO price (query, m, k1) VALUES
    ('SELECT count(*) FROM item_dp', 1, 1), ('SELECT count(*) FROM item_dp WHERE i4 = 3', 1, 1), ('SELECT count(*) FROM item_dp WHERE false', 1, 1),
    ('SELECT count(t) FROM item_dp', 1, 1), ('SELECT sum(i4) FROM item_dp', 1, 1), ('SELECT sum(f8) FROM item_dp', 1, 1),
    ('SELECT avg(i4) FROM item_dp', 1, 2), ('SELECT avg(f4) FROM item_dp WHERE b', 1, 2), ('SELECT sum(i4), count(i4) FROM item_dp', 1, 2),
    ('SELECT avg(i4), sum(i4), count(i4) FROM item_dp', 1, 2), ('SELECT count(*), count(*) + 1 FROM item_dp', 1, 1),
    ('SELECT t, count(*) FROM item_dp GROUP BY t', 1, 1), ('SELECT t, b, count(*) FROM item_dp GROUP BY t, b', 1, 1), ('SELECT t, avg(i4) FROM item_dp GROUP BY t', 1, 2),
    ('SELECT count(*), sum(i4) FROM item_dp', 2, 2), ('SELECT count(*), avg(i4) FROM item_dp', 2, 3), ('SELECT count(*) FILTER (WHERE b), count(*) FROM item_dp', 2, 2),
    ('SELECT count(*), count(t), sum(i4), avg(f8) FROM item_dp', 4, 5), ('SELECT count(b), count(t) FROM item_dp', 2, 2),
    ('SELECT t, count(*) FROM item_dp GROUP BY t HAVING avg(i4) > 3 ORDER BY sum(f8)', 3, 4);
SELECT n, query, m, k1 FROM price ORDER BY n;
CREATE TABLE paid (n integer, tau float8, epsilon_max numeric, epsilon numeric);
GRANT SELECT ON price TO regress_analyst;
CREATE PROCEDURE ask_all(tau float8, epsilon_max numeric) LANGUAGE plpgsql AS $$
DECLARE
    asked record;
BEGIN
    SET ROLE regress_controller;
    PERFORM dp_revoke('item_dp', 'regress_analyst'), dp_grant('item_dp', 'regress_analyst', tau => tau, epsilon_max => epsilon_max);
    COMMIT;
    FOR asked IN SELECT * FROM price ORDER BY price.n LOOP
        SET ROLE regress_analyst;
        PERFORM attempt(asked.query);
        SET ROLE regress_controller;
        INSERT INTO paid SELECT asked.n, tau, epsilon_max, (charged('item')).epsilon;
    END LOOP;
END $$;
RESET ROLE;
CALL ask_all(0.95, 1);
CALL ask_all(0.9, 1);
CALL ask_all(0.75, 1);
CALL ask_all(0.5, 1);
CALL ask_all(0.25, 1);
CALL ask_all(0.25, 10);
CALL ask_all(0, 10);
CALL ask_all(0.95, 0.045);
SET ROLE regress_controller;
CREATE VIEW expected AS
SELECT p.n, p.query, p.m, p.k1, d.tau, d.epsilon_max, d.epsilon,
       (SELECT max(c) FROM (SELECT i * s AS c FROM generate_series(1, 9) i, (VALUES (1), (0.1), (0.01), (0.001)) f (s) UNION ALL SELECT 10) q
        WHERE c <= d.epsilon_max AND (d.tau = 0 OR c <= p.m * asinh(p.k1 * (1 - d.tau) / (p.m * d.tau)) * (1 + 1e-12))) AS expected
FROM price p JOIN paid d USING (n);
SELECT count(*) AS answers, count(*) FILTER (WHERE epsilon IS DISTINCT FROM expected) AS wrong_price FROM expected;
SELECT * FROM expected WHERE epsilon IS DISTINCT FROM expected;
SELECT m, k1, max(epsilon) FILTER (WHERE tau = 0.95 AND epsilon_max = 1) AS "0.95", max(epsilon) FILTER (WHERE tau = 0.9) AS "0.9", max(epsilon) FILTER (WHERE tau = 0.75) AS "0.75",
       max(epsilon) FILTER (WHERE tau = 0.5) AS "0.5", max(epsilon) FILTER (WHERE tau = 0.25 AND epsilon_max = 1) AS "0.25",
       max(epsilon) FILTER (WHERE tau = 0.25 AND epsilon_max = 10) AS "0.25, max 10", max(epsilon) FILTER (WHERE tau = 0) AS "0, max 10",
       max(epsilon) FILTER (WHERE epsilon_max = 0.045) AS "max 0.045"
FROM expected GROUP BY m, k1 ORDER BY m, k1;
-- tau = 1 is never met; no candidate below the price: denied.
SELECT dp_revoke('item_dp', 'regress_analyst'), dp_grant('item_dp', 'regress_analyst', tau => 1);
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM item_dp');
SET ROLE regress_controller;
SELECT dp_revoke('item_dp', 'regress_analyst'), dp_grant('item_dp', 'regress_analyst', tau => 0.95, candidates => '{0.06,0.1}');
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM item_dp'), attempt('SELECT avg(i4) FROM item_dp');

-- Less than the price is possible, more is not.
SET ROLE regress_controller;
SELECT dp_revoke('item_dp', 'regress_analyst'), dp_grant('item_dp', 'regress_analyst', tau => 0.95, epsilon_min => 0.000000001);
SET ROLE regress_analyst;
SELECT e, attempt(format('SELECT * FROM dp_query(''SELECT count(*) FROM item_dp'', %L) AS (n bigint)', e)), (charged('item')).epsilon
FROM unnest('{NULL,0.02,0.0123456789,0.000000001,0.05,0.06,100}'::numeric[]) e;
SELECT attempt('SELECT * FROM dp_query(''SELECT count(*) AS n, avg(i4) AS a FROM item_dp'', 0.01) AS (n bigint, a numeric)'), (charged('item')).epsilon;
SELECT attempt('SELECT * FROM dp_rdr.release(''SELECT count(*) FROM public.item_dp'', 100, 1000, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)'), (charged('item')).epsilon;

-- dp_query: any statement that a SELECT can be.
SET ROLE regress_precise;
SELECT * FROM dp_query('SELECT count(*) FROM item_dp') AS (n bigint);
SELECT * FROM dp_query('SELECT t, count(*), avg(i4) > 4 FROM item_dp GROUP BY t HAVING count(*) > 0 ORDER BY 1 DESC LIMIT 2;') AS (letter text, n bigint, large boolean);
SELECT * FROM dp_query($$WITH q AS (SELECT bn, count(*) AS n FROM item_dp GROUP BY bn) SELECT bn, n::integer FROM q WHERE n > 0$$) AS (bn boolean, n integer);
SELECT n + 1 AS more FROM dp_query('SELECT count(*) FROM item_dp WHERE t = ''a''') AS (n bigint), generate_series(1, 2);

-- ---------------------------------------------------------------------------------------------------------------------
-- An empty table answers as any other: noise around 0, an average somewhere within the bounds, never NULL
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_controller;
CREATE TABLE nothing (LIKE item);
SELECT dp_protect('nothing', 'nothing_dp');
SELECT dp_set_odometer('nothing', 'none', NULL), dp_set_bounds('nothing', 'i4', 3, 7), dp_set_bounds('nothing', 'f8', 3, 7), dp_set_groups('nothing', 't', '{a,b}');
SELECT dp_grant('nothing_dp', 'regress_analyst', tau => 0.95);
SET ROLE regress_analyst;
SELECT count(*) IS NOT NULL AS n, count(i4) IS NOT NULL AS i4, sum(f8) IS NOT NULL AS sum FROM nothing_dp;
SELECT avg(i4) BETWEEN 3 AND 7 AS i4, avg(f8) BETWEEN 3 AND 7 AS f8 FROM nothing_dp;
SELECT t, abs(count(*)) < 500 AS n, avg(i4) BETWEEN 3 AND 7 AS avg FROM nothing_dp GROUP BY t;
SELECT (charged('nothing')).*;
-- Averages of a few rows never leave their bounds.
SELECT bool_and(matches('SELECT (avg(i4) BETWEEN 3 AND 7)::int FROM nothing_dp') = 1) AS within FROM generate_series(1, 30);
-- Neither does the outcome of a condition that nothing meets: same rows, same types.
SELECT sum(i4) IS NOT NULL AS sum, count(*) IS NOT NULL AS n, avg(i4) BETWEEN 0 AND 10 AS avg FROM item_dp WHERE false;

-- ---------------------------------------------------------------------------------------------------------------------
-- Groups that nobody declared, above a threshold. epsilon 1, delta 1e-12: T = 1 + ceil(ln(1e12 / 1.37)) = 29. A group of
-- one appears with probability delta at most, one of 300 disappears, or is off by 60, with less than that.
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_controller;
CREATE TABLE town AS SELECT 'city ' || i % 3 AS name, i % 2 = 0 AS odd, i % 7 AS v FROM generate_series(1, 900) i;
INSERT INTO town VALUES ('hamlet', true, 1), (NULL, true, 1);
SELECT dp_protect('town', 'town_dp');
SELECT dp_set_odometer('town', 'filter', 100, delta_total => 1e-10), dp_set_bounds('town', 'v', 0, 10);
SELECT dp_grant('town_dp', 'regress_analyst', tau => 0, delta => 1e-12), dp_grant('town_dp', 'regress_gaussian', tau => 0, delta => 2e-12, mechanism => 'gaussian');
SET ROLE regress_analyst;
SELECT name, abs(count(*) - 300) < 60 AS near FROM town_dp GROUP BY name;
SELECT (charged('town')).*;
SELECT name, odd, abs(count(*) - 150) < 60 AS near, avg(v) BETWEEN 0 AND 10 AS avg FROM town_dp GROUP BY odd, name;
SELECT (charged('town')).*;
SELECT name FROM town_dp GROUP BY name;
SELECT name, pg_typeof(sum(v)) FROM town_dp WHERE odd GROUP BY name HAVING count(*) > 0 ORDER BY name DESC;
SELECT odd, count(*) > 400 AS n FROM town_dp GROUP BY odd; -- all values are known: no threshold, no delta
SELECT (charged('town')).*;
SELECT attempt('SELECT odd FROM town_dp GROUP BY odd');
SET ROLE regress_gaussian;
SELECT name, abs(count(*) - 300) < 100 AS near FROM town_dp GROUP BY name;
SELECT count(*) BETWEEN 800 AND 1000 AS near FROM town_dp;
SELECT abs(sum(v) - 2700) < 1500 AS sum, avg(v) BETWEEN 1.5 AND 4.5 AS avg, abs(count(*) - 902) < 150 AS n FROM town_dp;
SET ROLE regress_controller;
SELECT role_name, mechanism, kind, epsilon, delta, delta_noise, delta_groups, parameters ->> 'groups' AS groups, parameters ->> 'k1' AS k1,
       jsonb_array_length(parameters -> 'measures') AS m
FROM dp_rdr.ledger WHERE relation = 'public.town' ORDER BY id;
SELECT account, epsilon, delta, releases FROM dp_odometer('town');
SELECT dp_verify_ledger('town') AS town, dp_verify_ledger('item') AS item;
-- Delta is bounded as epsilon is: here is room for one more threshold, and for all that needs none.
SELECT dp_set_odometer('town', 'filter', 100, delta_total => delta + 1e-12) FROM dp_odometer('town') WHERE account = 'public';
SET ROLE regress_analyst;
SELECT attempt('SELECT name FROM town_dp GROUP BY name') FROM generate_series(1, 2);
SELECT attempt('SELECT odd, count(*) FROM town_dp GROUP BY odd');
SET ROLE regress_controller;

-- Gaussian prices: sigma* = tau sqrt( m / (k1 (1 - tau^2)) ), and the epsilon that goes with it at delta 1e-5: 1.25, 3.79, 8.39 for
-- a count, 1.84, 5.66, 12.9 for an average, 2.30, 7.21, 16.7 for both.
SELECT dp_set_odometer('town', 'none', NULL);
CREATE TABLE gaussian (n integer GENERATED ALWAYS AS IDENTITY, tau float8, query text, epsilon numeric);
INSERT INTO gaussian (tau, query) SELECT tau, query FROM (VALUES (0.95), (0.75), (0.5)) t (tau),
    (VALUES ('SELECT count(*) FROM town_dp'), ('SELECT avg(v) FROM town_dp'), ('SELECT count(*), avg(v) FROM town_dp')) q (query);
GRANT SELECT ON gaussian TO regress_gaussian;
CREATE PROCEDURE ask_gaussian() LANGUAGE plpgsql AS $$
DECLARE
    asked record;
BEGIN
    FOR asked IN SELECT * FROM gaussian ORDER BY gaussian.n LOOP
        SET ROLE regress_controller;
        PERFORM dp_revoke('town_dp', 'regress_gaussian'), dp_grant('town_dp', 'regress_gaussian', tau => asked.tau, delta => 1e-5, mechanism => 'gaussian', epsilon_max => 10);
        COMMIT;
        SET ROLE regress_gaussian;
        PERFORM attempt(asked.query);
        SET ROLE regress_controller;
        UPDATE gaussian g SET epsilon = (charged('town')).epsilon WHERE g.n = asked.n;
        COMMIT;
    END LOOP;
END $$;
RESET ROLE;
CALL ask_gaussian();
SELECT query, max(epsilon) FILTER (WHERE tau = 0.95) AS "0.95", max(epsilon) FILTER (WHERE tau = 0.75) AS "0.75", max(epsilon) FILTER (WHERE tau = 0.5) AS "0.5"
FROM gaussian GROUP BY query ORDER BY query;

-- ---------------------------------------------------------------------------------------------------------------------
-- Whose policy: one's own, else the inherited one; a SECURITY DEFINER function uses its owner's
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_controller;
SELECT dp_grant('nothing_dp', 'regress_team', tau => 0.5);
SET ROLE regress_member;
SELECT attempt('SELECT count(*) FROM nothing_dp'), (charged('nothing')).epsilon;
SET ROLE regress_controller;
SELECT dp_grant('nothing_dp', 'regress_member', tau => 0.75);
SET ROLE regress_member;
SELECT attempt('SELECT count(*) FROM nothing_dp'), (charged('nothing')).epsilon;
SET ROLE regress_analyst;
CREATE FUNCTION pg_temp.lend() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN RETURN (SELECT count(*) FROM public.nothing_dp); END';
GRANT EXECUTE ON FUNCTION pg_temp.lend() TO regress_stranger;
SET ROLE regress_stranger;
SELECT attempt('SELECT pg_temp.lend()'), (charged('nothing')).epsilon;
-- Through a view over the restricted view, whoever owns it, it is still the role that asks: its SELECT and its policy.
RESET ROLE;
CREATE SCHEMA shelf AUTHORIZATION regress_analyst;
SET ROLE regress_analyst;
CREATE VIEW shelf.total AS SELECT count(*) AS n FROM public.nothing_dp;
CREATE VIEW shelf.invoked WITH (security_invoker) AS SELECT count(*) AS n FROM public.nothing_dp;
GRANT USAGE ON SCHEMA shelf TO PUBLIC;
GRANT SELECT ON shelf.total, shelf.invoked TO PUBLIC;
SELECT attempt('SELECT n FROM shelf.total'), (charged('nothing')).epsilon;
SET ROLE regress_stranger;
SELECT left(attempt('SELECT n FROM shelf.total'), 5) AS total, left(attempt('SELECT n FROM shelf.invoked'), 5) AS invoked;
SET ROLE regress_member;
SELECT attempt('SELECT n FROM shelf.total') AS total, (charged('nothing')).epsilon, attempt('SELECT n FROM shelf.invoked') AS invoked;
SET ROLE regress_controller;
SELECT role_name, epsilon FROM dp_rdr.ledger WHERE relation = 'public.nothing' ORDER BY id DESC LIMIT 6;

RESET ROLE;
DISCARD TEMP;
DROP SCHEMA shelf CASCADE;
SET ROLE regress_controller;
SELECT dp_unprotect('item_dp'), dp_unprotect('nothing_dp'), dp_unprotect('town_dp');
DROP VIEW expected;
DROP TABLE item, nothing, town, condition, truth, price, paid, gaussian;
DROP FUNCTION charged, charges, matches, asked;
DROP PROCEDURE ask_all, ask_gaussian;
DROP TYPE color, score, word;
RESET ROLE;
DROP ROLE regress_precise, regress_gaussian;
