-- Answers about people who have several rows: what each brings, clipped, against a reference in SQL, and against plain SQL where limits
-- are ample. Noise is small at epsilon 100: beyond 25 times its scale it is once in 10^10 draws.
\set VERBOSITY default
LOAD 'dp_rdr';
SET ROLE regress_controller;

-- ---------------------------------------------------------------------------------------------------------------------
-- Patients, their visits (also nobody's), and what is ordered there: a path over visits. Letters have texts as people.
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE un_patients (pid integer PRIMARY KEY, age integer);
INSERT INTO un_patients SELECT i, i % 90 FROM generate_series(1, 200) i;
CREATE TABLE un_visits (vid bigint, pid integer, ward text, kind text, amount integer, price numeric(8, 2));
CREATE TABLE un_old_visits () INHERITS (un_visits);
-- Patients 1 to 100 have one visit, 101 to 150 have three, 151 to 160 twenty each.
INSERT INTO un_visits SELECT i, i, 'a', 'p', i % 20, i % 20 + 0.5 FROM generate_series(1, 100) i;
INSERT INTO un_old_visits SELECT 1000 + 3 * i + k, 100 + i, substr('abx', 1 + k, 1), substr('pqr', 1 + k, 1), 10 - k, 7.25
FROM generate_series(1, 50) i, generate_series(0, 2) k;
INSERT INTO un_visits SELECT 2000 + 20 * i + k, 150 + i, substr('abbxxxxxxx', 1 + k % 10, 1), substr('ppqqqrrrrs', 1 + k % 10, 1), k * 5 - 20, k
FROM generate_series(1, 10) i, generate_series(0, 19) k;
INSERT INTO un_visits SELECT 5000 + i, NULL, 'a', 'p', 50, 50 FROM generate_series(1, 300) i; -- nobody's
INSERT INTO un_visits VALUES (6001, 999, 'b', NULL, NULL, 'NaN'); -- of somebody who is no patient
CREATE UNIQUE INDEX ON un_old_visits (vid);
CREATE TABLE un_orders (oid integer, region integer, pid integer, UNIQUE (oid)) PARTITION BY RANGE (oid);
CREATE TABLE un_orders_1 PARTITION OF un_orders FOR VALUES FROM (MINVALUE) TO (150);
CREATE TABLE un_orders_2 PARTITION OF un_orders FOR VALUES FROM (150) TO (MAXVALUE);
INSERT INTO un_orders SELECT i, i % 4, CASE WHEN i % 10 = 0 THEN NULL ELSE 1 + i % 60 END FROM generate_series(1, 300) i;
CREATE TABLE un_items (item integer, "order" integer, part text, cost integer, other integer);
INSERT INTO un_items SELECT i, CASE WHEN i % 17 = 0 THEN NULL WHEN i % 19 = 0 THEN 7777 ELSE 1 + i * 7 % 300 END,
    substr('mno', 1 + i % 3, 1), i % 12, CASE WHEN i % 2 = 0 THEN 1 + i * 7 % 300 ELSE 5 END FROM generate_series(1, 1500) i;
CREATE TABLE un_letters (author text, subject text, cost integer);
ALTER TABLE un_letters ALTER author SET STORAGE EXTERNAL;
INSERT INTO un_letters SELECT 'person ' || i % 40, 's' || i % 3, 1 FROM generate_series(1, 200) i;
INSERT INTO un_letters SELECT repeat(chr(64 + i % 20), 1001 + i), 's1', 1 FROM generate_series(1, 100) i; -- too long for a person
INSERT INTO un_letters SELECT 'person 3', repeat('s', 1001 + i), 1 FROM generate_series(1, 50) i;           -- and for a group
INSERT INTO un_letters VALUES (repeat('x', 1000), 's2', 1);

SELECT dp_protect('un_patients', 'un_patients_dp', unit => 'pid');
SELECT dp_protect('un_visits', 'un_visits_dp', unit => 'pid -> un_patients(pid)', max_rows => 3);
SELECT dp_protect('un_orders', 'un_orders_dp', unit => 'pid -> un_patients(pid)', max_rows => 6);
SELECT dp_protect('un_items', 'un_items_dp', unit => 'order -> un_orders(oid)', max_rows => 10);
SELECT dp_protect('un_letters', 'un_letters_dp', unit => 'author', max_rows => 4);
SELECT dp_set_groups('un_visits', 'ward', '{a,b}'), dp_set_groups('un_letters', 'subject', '{s0,s1,s2}');
SELECT dp_set_bounds('un_visits', 'amount', -10, 30), dp_set_bounds('un_visits', 'price', 0, 16), dp_set_bounds('un_items', 'cost', 0, 8),
       dp_set_bounds('un_patients', 'age', 0, 90), dp_set_bounds('un_orders', 'region', 0, 3);
SELECT dp_set_odometer('un_patients', 'none', delta_total => 0.9), dp_set_odometer('un_letters', 'none', delta_total => 0.9);
SELECT dp_grant(v, 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100, delta => 1e-6)
FROM unnest('{un_patients_dp,un_visits_dp,un_orders_dp,un_items_dp,un_letters_dp}'::regclass[]) v;

-- ---------------------------------------------------------------------------------------------------------------------
-- Clipped answers against a reference
-- ---------------------------------------------------------------------------------------------------------------------

-- query: columns g and x. points: what each row brings: unit, group, lattice points. d: what a unit brings at most; scale: lattice
-- points of one of what is printed; measures: that share epsilon.
CREATE TABLE un_query (name text PRIMARY KEY, query text, points text, d numeric, scale numeric, measures integer);
INSERT INTO un_query VALUES
('count', 'SELECT NULL::text AS g, count(*) AS x FROM un_visits_dp', 'SELECT pid AS unit, NULL AS g, 1 AS z FROM un_visits', 3, 1, 1),
('count of an argument', 'SELECT NULL::text AS g, count(amount) AS x FROM un_visits_dp',
 'SELECT pid, NULL, 1 FROM un_visits WHERE amount IS NOT NULL', 3, 1, 1),
('filter', 'SELECT NULL::text AS g, count(*) FILTER (WHERE amount > 5) AS x FROM un_visits_dp', 'SELECT pid, NULL, 1 FROM un_visits WHERE amount > 5', 3, 1, 1),
('people', 'SELECT NULL::text AS g, count(DISTINCT pid) AS x FROM un_visits_dp', 'SELECT DISTINCT pid, NULL, 1 FROM un_visits', 1, 1, 1),
('people by ward', 'SELECT ward AS g, count(DISTINCT pid) AS x FROM un_visits_dp GROUP BY ward',
 'SELECT DISTINCT pid, ward, 1048576 FROM un_visits WHERE ward IN (''a'', ''b'')', 2 * 1048576, 1048576, 1),
('people with a filter', 'SELECT ward AS g, count(DISTINCT pid) FILTER (WHERE amount < 0) AS x FROM un_visits_dp GROUP BY ward',
 'SELECT DISTINCT pid, ward, 1048576 FROM un_visits WHERE ward IN (''a'', ''b'') AND amount < 0', 2 * 1048576, 1048576, 1),
-- Visits on a ward that nobody declared use up nothing.
('by ward', 'SELECT ward AS g, count(*) AS x FROM un_visits_dp GROUP BY ward',
 'SELECT pid, ward, 1048576 FROM un_visits WHERE ward IN (''a'', ''b'')', 3 * 1048576, 1048576, 1),
('where on the key', 'SELECT ward AS g, count(*) AS x FROM un_visits_dp WHERE ward = ''b'' GROUP BY ward',
 'SELECT pid, ward, 1048576 FROM un_visits WHERE ward = ''b''', 3 * 1048576, 1048576, 1),
('where', 'SELECT ward AS g, count(*) AS x FROM un_visits_dp WHERE amount BETWEEN 0 AND 30 GROUP BY ward',
 'SELECT pid, ward, 1048576 FROM un_visits WHERE ward IN (''a'', ''b'') AND amount BETWEEN 0 AND 30', 3 * 1048576, 1048576, 1),
('two counts', 'SELECT ward AS g, x FROM (SELECT ward, count(*) AS x, count(*) FILTER (WHERE amount > 0) AS y FROM un_visits_dp GROUP BY ward) q',
 'SELECT pid, ward, 1048576 FROM un_visits WHERE ward IN (''a'', ''b'')', 3 * 1048576, 1048576, 2),
('sum', 'SELECT NULL::text AS g, sum(amount) AS x FROM un_visits_dp', 'SELECT pid, NULL, least(30, greatest(-10, amount)) FROM un_visits WHERE amount IS NOT NULL',
 90, 1, 1),
('sum by ward', 'SELECT ward AS g, sum(amount) AS x FROM un_visits_dp GROUP BY ward',
 'SELECT pid, ward, least(30, greatest(-10, amount)) FROM un_visits WHERE ward IN (''a'', ''b'') AND amount IS NOT NULL', 90, 1, 1),
('sum of numerics', 'SELECT NULL::text AS g, sum(price) AS x FROM un_visits_dp',
 'SELECT pid, NULL, 67108864 * least(16, price) FROM un_visits WHERE price <> ''NaN''', 3 * 16 * 67108864::numeric, 67108864, 1),
('expression', 'SELECT NULL::text AS g, sum(2 * amount + 1) AS x FROM un_visits_dp',
 'SELECT pid, NULL, least(61, greatest(-19, 2 * amount + 1)) FROM un_visits WHERE amount IS NOT NULL', 3 * 61, 1, 1),
-- A warning of what is computed from discovered groups: the comparison itself.
('discovered', 'SELECT kind AS g, count(*) AS x FROM un_visits_dp WHERE kind < ''s'' GROUP BY kind',
 'SELECT pid, kind, 1048576 FROM un_visits WHERE kind < ''s''', 3 * 1048576, 1048576, 2),
('derived', 'SELECT (amount > 0)::text AS g, count(*) AS x FROM un_visits_dp GROUP BY amount > 0',
 'SELECT pid, (amount > 0)::text, 1048576 FROM un_visits', 3 * 1048576, 1048576, 1),
('path', 'SELECT NULL::text AS g, count(*) AS x FROM un_items_dp', 'SELECT pid, NULL, 1 FROM un_items i JOIN un_orders o ON i."order" = o.oid', 10, 1, 1),
('path with a sum', 'SELECT NULL::text AS g, sum(cost) AS x FROM un_items_dp',
 'SELECT pid, NULL, least(8, cost) FROM un_items i JOIN un_orders o ON i."order" = o.oid', 80, 1, 1),
('path by parts', 'SELECT part AS g, count(*) AS x FROM un_items_dp GROUP BY part',
 'SELECT pid, part, 1048576 FROM un_items i JOIN un_orders o ON i."order" = o.oid', 10 * 1048576, 1048576, 2),
-- What is compared with the column of a step, constants and columns, takes nothing from the step.
('path, its column a constant', 'SELECT NULL::text AS g, count(*) AS x FROM un_items_dp WHERE "order" = 51',
 'SELECT pid, NULL, 1 FROM un_items i JOIN un_orders o ON i."order" = o.oid WHERE i."order" = 51', 10, 1, 1),
('path, a constant that is no order', 'SELECT NULL::text AS g, count(*) AS x FROM un_items_dp WHERE "order" = 7777',
 'SELECT pid, NULL, 1 FROM un_items i JOIN un_orders o ON i."order" = o.oid WHERE i."order" = 7777', 10, 1, 1),
('path, constants', 'SELECT NULL::text AS g, count(*) AS x FROM un_items_dp WHERE "order" IN (51, 52, 7777, 60)',
 'SELECT pid, NULL, 1 FROM un_items i JOIN un_orders o ON i."order" = o.oid WHERE i."order" IN (51, 52, 7777, 60)', 10, 1, 1),
('path, its column compared', 'SELECT NULL::text AS g, count(*) AS x FROM un_items_dp WHERE "order" = 1 + item * 7 % 300',
 'SELECT pid, NULL, 1 FROM un_items i JOIN un_orders o ON i."order" = o.oid WHERE i."order" = 1 + item * 7 % 300', 10, 1, 1),
('path, its column is another', 'SELECT NULL::text AS g, count(*) AS x FROM un_items_dp WHERE "order" = other AND other > 100',
 'SELECT pid, NULL, 1 FROM un_items i JOIN un_orders o ON i."order" = o.oid WHERE i."order" = other AND other > 100', 10, 1, 1),
('path, another is a constant', 'SELECT NULL::text AS g, count(*) AS x FROM un_items_dp WHERE "order" = other AND other = 51',
 'SELECT pid, NULL, 1 FROM un_items i JOIN un_orders o ON i."order" = o.oid WHERE i."order" = other AND other = 51', 10, 1, 1),
('letters', 'SELECT NULL::text AS g, count(*) AS x FROM un_letters_dp',
 'SELECT author, NULL, 1 FROM un_letters WHERE length(author) <= 1000', 4, 1, 1),
('letters by subject', 'SELECT subject AS g, count(*) AS x FROM un_letters_dp GROUP BY subject',
 'SELECT author, subject, 1048576 FROM un_letters WHERE length(author) <= 1000 AND length(subject) < 3', 4 * 1048576, 1048576, 1),
('one row each', 'SELECT NULL::text AS g, sum(age) AS x FROM un_patients_dp WHERE age > 20', 'SELECT pid, NULL, age FROM un_patients WHERE age > 20', 90, 1, 1);

CREATE TABLE un_expected (name text, g text, x float8);
GRANT SELECT ON un_query, un_expected TO regress_analyst;
CREATE PROCEDURE un_expect() LANGUAGE plpgsql AS $$
DECLARE
    q un_query;
BEGIN
    FOR q IN SELECT * FROM un_query LOOP
        EXECUTE format('INSERT INTO un_expected
            WITH brought AS (SELECT unit, g, sum(z)::numeric AS v FROM (%s) p (unit, g, z) WHERE unit IS NOT NULL GROUP BY unit, g),
                norms AS (SELECT *, sum(abs(v)) OVER (PARTITION BY unit) AS n FROM brought)
            SELECT $1, coalesce(g, ''-''), sum(CASE WHEN n <= $2 THEN v ELSE sign(v) * floor(abs(v) * $2 / n) END) / $3 FROM norms GROUP BY g', q.points)
        USING q.name, q.d, q.scale;
    END LOOP;
END $$;
CALL un_expect();
SELECT name, g, round(x::numeric, 3) AS x FROM un_expected ORDER BY name COLLATE "C", g COLLATE "C";

CREATE FUNCTION un_close(name text, query text, d numeric, scale numeric, measures integer, OUT groups bigint, OUT close bool) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT count(*), bool_and(coalesce(abs(coalesce(a.x, 0) - coalesce(e.x, 0)) <= 1 + 25 * $2 / $3 * $4 / 100, false))
        FROM (SELECT coalesce(g, ''-'') AS g, x::float8 FROM (%s) q) a FULL JOIN (SELECT g, x FROM un_expected WHERE name = $1) e USING (g)', query)
    INTO groups, close USING name, d::float8, scale::float8, measures;
END $$;
RESET ROLE;
SET ROLE regress_analyst;
SELECT name, c.* FROM un_query, un_close(name, query, d, scale, measures) c ORDER BY name COLLATE "C";

-- ---------------------------------------------------------------------------------------------------------------------
-- Ample limits: what plain SQL says of the rows that are somebody's
-- ---------------------------------------------------------------------------------------------------------------------

RESET ROLE;
SET ROLE regress_controller;
CREATE TABLE un_plain AS SELECT count(*) AS n, sum(amount) AS s, avg(amount) AS a, var_pop(amount) AS v, stddev_samp(amount) AS d
FROM un_visits WHERE pid IS NOT NULL AND amount BETWEEN -10 AND 30;
CREATE TABLE un_plain_parts AS SELECT part, count(*) AS n, sum(cost) AS s, avg(cost) AS a
FROM un_items i JOIN un_orders o ON i."order" = o.oid WHERE pid IS NOT NULL AND cost <= 8 GROUP BY part;
GRANT SELECT ON un_plain, un_plain_parts TO regress_analyst;
RESET ROLE;
SET ROLE regress_analyst;
SELECT abs(q.n - p.n) < 30 AS n, abs(q.s - p.s) < 500 AS s, abs(q.a - p.a) < 2 AS a, abs(q.v - p.v) / p.v < 0.4 AS v, abs(q.d - p.d) / p.d < 0.3 AS d
FROM dp_query('SELECT count(*), sum(amount), avg(amount), var_pop(amount), stddev_samp(amount) FROM un_visits_dp WHERE amount BETWEEN -10 AND 30', max_rows => 20)
         AS q (n bigint, s bigint, a numeric, v numeric, d numeric), un_plain p;
SELECT part, abs(q.n - p.n) < 30 AS n, abs(q.s - p.s) < 300 AS s, abs(q.a - p.a) < 2 AS a
FROM dp_query('SELECT part, count(*), sum(cost), avg(cost) FROM un_items_dp WHERE cost <= 8 GROUP BY part', max_rows => 30, max_groups => 3) AS q (part text, n bigint, s bigint, a numeric)
JOIN un_plain_parts p USING (part) ORDER BY part;

-- Smaller limits: half of what three rows brought, one group of several.
SELECT round(n, -1) FROM dp_query('SELECT count(*) FROM un_visits_dp', max_rows => 1) AS (n bigint);
SELECT sum(n) BETWEEN 100 AND 170 AS each_in_one_group
FROM dp_query('SELECT kind, count(DISTINCT pid) FROM un_visits_dp GROUP BY kind', max_rows => 3, max_groups => 1) AS (kind text, n bigint);

-- ---------------------------------------------------------------------------------------------------------------------
-- What is refused
-- ---------------------------------------------------------------------------------------------------------------------

-- More than a unit may bring; more arguments than an aggregate takes.
SELECT attempt($$SELECT * FROM dp_query('SELECT kind, avg(amount) FROM un_visits_dp GROUP BY kind', max_rows => 1048576) AS (k text, a numeric)$$);
SELECT attempt('SELECT ' || string_agg(format('sum(amount + %s)', i), ', ') || ' FROM un_visits_dp') FROM generate_series(1, 110) i;
RESET ROLE;
SET ROLE regress_controller;
SELECT dp_grant('un_visits_dp', 'regress_analyst', tau_var => 0.5, epsilon_svt => 0.1, candidates => '{100}', epsilon_max => 100);
RESET ROLE;
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM un_visits_dp');
RESET ROLE;

-- A key that is gone, or on a column of another type.
SET ROLE regress_controller;
SELECT dp_grant('un_visits_dp', 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100, delta => 1e-6);
ALTER TABLE un_orders DROP CONSTRAINT un_orders_oid_key;
RESET ROLE;
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM un_items_dp');
RESET ROLE;
SET ROLE regress_controller;
ALTER TABLE un_orders ADD UNIQUE (oid);
ALTER TABLE un_items ALTER "order" TYPE bigint;
RESET ROLE;
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM un_items_dp');
RESET ROLE;
SET ROLE regress_controller;
ALTER TABLE un_items ALTER "order" TYPE integer;
-- A unique key of the table of people is no key of persons any more.
ALTER TABLE un_patients DROP CONSTRAINT un_patients_pkey;
RESET ROLE;
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM un_patients_dp');
RESET ROLE;
SET ROLE regress_controller;
ALTER TABLE un_patients ADD PRIMARY KEY (pid);
RESET ROLE;
SET ROLE regress_analyst;
SELECT abs(sum(age) - 8700) < 500 AS again FROM un_patients_dp;
RESET ROLE;

-- ---------------------------------------------------------------------------------------------------------------------
-- The same numbers by any plan: what each person brings, as the controller sees it
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_controller;
CREATE TABLE un_digest (query text, plan text, digest text);
CREATE PROCEDURE un_digest(plan text) LANGUAGE plpgsql AS $$
DECLARE
    q text;
BEGIN
    FOREACH q IN ARRAY ARRAY['SELECT part, count(*), sum(cost), avg(cost) FROM un_items_dp GROUP BY part', 'SELECT count(*), var_pop(amount) FROM un_visits_dp',
        'SELECT ward, count(DISTINCT pid) FROM un_visits_dp GROUP BY ward', 'SELECT subject, count(*) FROM un_letters_dp GROUP BY subject'] LOOP
        INSERT INTO un_digest SELECT q, plan, md5(string_agg(r::text, '|' ORDER BY r::text)) FROM dp_risk_records(q, 1, delta => 1e-6) r;
    END LOOP;
END $$;
CALL un_digest('as it is');
SET work_mem = '64kB';
CALL un_digest('little memory');
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
CALL un_digest('parallel');
SET enable_hashjoin = off; -- the caller's are not those of the internal statement
SET enable_hashagg = off;
SET enable_nestloop = on;
CALL un_digest('settings');
RESET ALL;
SET ROLE regress_controller;
SELECT query, count(*), count(DISTINCT digest) FROM un_digest GROUP BY query ORDER BY query COLLATE "C";

-- Declared groups whose keys have many spellings are one group each.
CREATE TABLE un_waits (pid integer, wait interval, ratio float8);
INSERT INTO un_waits SELECT i % 50, CASE i / 50 WHEN 0 THEN '1 month' WHEN 1 THEN '30 days' WHEN 2 THEN '720 hours' ELSE '2 months' END::interval,
    CASE i / 50 WHEN 0 THEN '0' WHEN 1 THEN '-0' ELSE 'NaN' END::float8 FROM generate_series(0, 199) i;
SELECT dp_protect('un_waits', 'un_waits_dp', unit => 'pid', max_rows => 4), dp_set_groups('un_waits', 'wait', '{1 month,2 months}');
SELECT dp_set_odometer('un_waits', 'none', delta_total => 0.9);
SELECT dp_grant('un_waits_dp', 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100, delta => 1e-6);
RESET ROLE;
SET ROLE regress_analyst;
SELECT wait, round(count(*), -1) AS rows, round(count(DISTINCT pid), -1) AS people FROM un_waits_dp GROUP BY wait ORDER BY wait;
SELECT ratio, round(n, -1) FROM dp_query('SELECT ratio, count(*) FROM un_waits_dp GROUP BY ratio') AS (ratio float8, n bigint);
RESET ROLE;
SET ROLE regress_controller;

-- A text of 200 MB as a person, as a key and as the column of a step is met, and not fetched.
CREATE TABLE un_step (ref text PRIMARY KEY, author text);
INSERT INTO un_step SELECT 'ref ' || i, 'person ' || i FROM generate_series(1, 20) i;
CREATE TABLE un_big (ref text, subject text, author text);
ALTER TABLE un_big ALTER ref SET STORAGE EXTENDED;
INSERT INTO un_big SELECT 'ref ' || 1 + i % 20, 's' || i % 2, 'person ' || i % 20 FROM generate_series(1, 100) i;
INSERT INTO un_big VALUES (repeat('x', 200000000), 's0', repeat('y', 200000000)), ('ref 1', repeat('z', 200000000), 'person 1');
SELECT dp_protect('un_step', 'un_step_dp', unit => 'author', max_rows => 1), dp_protect('un_big', 'un_big_dp', unit => 'ref -> un_step(ref)', max_rows => 5);
SELECT dp_set_odometer('un_step', 'none', delta_total => 0.9);
SELECT dp_grant('un_big_dp', 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100, delta => 1e-6);
RESET ROLE;
SET ROLE regress_analyst;
SELECT round(count(*), -1) FROM un_big_dp;
SELECT subject, round(n, -1) FROM dp_query('SELECT subject, count(*) FROM un_big_dp GROUP BY subject') AS (subject text, n bigint);
RESET ROLE;
SET ROLE regress_controller;
SELECT dp_set_groups('un_big', 'subject', '{s0,s1}');
RESET ROLE;
SET ROLE regress_analyst;
SELECT subject, round(count(*), -1) FROM un_big_dp GROUP BY subject ORDER BY subject;
RESET ROLE;
SET ROLE regress_controller;
DROP TABLE un_big CASCADE;
RESET ROLE;
