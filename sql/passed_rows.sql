-- Values and rows that a statement brings along: sub-SELECTs, VALUES, functions and tables that need no restricted view. What is answered
-- is compared with plain SQL, where rows of nobody are left out; noise is small at epsilon 100.

LOAD 'dp_rdr';
CREATE SCHEMA pr AUTHORIZATION regress_controller;
CREATE SCHEMA pr_plain AUTHORIZATION regress_controller;
GRANT USAGE ON SCHEMA pr TO regress_analyst, regress_second;
CREATE FUNCTION pr.charges() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM dp_rdr.ledger';
SET search_path = pr, public;
SET ROLE regress_controller;
CREATE TABLE pr_rider (rider integer PRIMARY KEY, zone integer, born integer);
CREATE TABLE pr_trip (trip integer PRIMARY KEY, rider integer, kind text, cost integer, day date, name varchar(9));
INSERT INTO pr_rider SELECT i, i % 5, 1950 + i % 50 FROM generate_series(1, 1000) i;
INSERT INTO pr_trip SELECT i, 1 + i % 800, CASE WHEN i % 10 < 9 THEN 'k' || i % 10 END, i % 100, date '2025-01-01' + i % 90, 'n' || i % 7 FROM generate_series(1, 4000) i;
INSERT INTO pr_trip SELECT 5000 + i, NULL, 'k0', 1, NULL FROM generate_series(1, 500) i; -- nobody's
CREATE TABLE kind (kind text PRIMARY KEY, weight integer, since date);
INSERT INTO kind SELECT 'k' || i, i, date '2025-01-01' + 9 * i FROM generate_series(0, 6) i;
CREATE TABLE undeclared (kind varchar(9), weight integer, secret integer);
INSERT INTO undeclared VALUES ('k1', 1, 1), ('k2', 5, 2), (NULL, 3, 3), ('k2', 9, 4);
SELECT dp_protect('pr_rider', 'rider', unit => 'rider'), dp_protect('pr_trip', 'trip', unit => 'rider -> pr_rider', max_rows => 10);
SELECT dp_set_bounds('pr_trip', 'cost', 0, 100), dp_set_bounds('pr_rider', 'born', 1950, 2000), dp_set_bounds('pr_trip', 'day', date '2025-01-01', date '2025-03-31'),
       dp_set_groups('pr_rider', 'zone', '{0,1,2,3,4}'), dp_set_groups('pr_trip', 'kind', '{k0,k1,k2,k3,k4,k5,k6,k7,k8,NULL}');
SELECT dp_set_public('kind', 'pr_rider');
SELECT dp_set_odometer('pr_rider', 'none', delta_total => 0.9);
SELECT dp_grant(v, 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100) FROM unnest('{rider,trip}'::regclass[]) v;
GRANT SELECT ON kind TO regress_analyst, regress_second;
GRANT SELECT (kind, weight) ON undeclared TO regress_analyst;
CREATE VIEW pr_plain.rider AS SELECT * FROM pr_rider;
CREATE VIEW pr_plain.trip AS SELECT * FROM pr_trip WHERE rider IS NOT NULL;
GRANT USAGE ON SCHEMA pr_plain TO regress_analyst;
GRANT SELECT ON ALL TABLES IN SCHEMA pr_plain TO regress_analyst; -- what follows is a comparison

-- ---------------------------------------------------------------------------------------------------------------------
-- The same meaning: each item of FROM with each condition, aggregate and key that fits
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE item (n serial, text text);
INSERT INTO item (text) VALUES
('JOIN (VALUES (''k1'', 1), (''k2'', 5), (NULL, 9)) p (kind, weight) ON p.kind = t.kind'),
('LEFT JOIN (VALUES (''k1'', 1), (''k2'', 5), (''k2'', 7), (NULL, 9)) p (kind, weight) ON p.kind = t.kind'),
('JOIN (SELECT kind, weight FROM kind ORDER BY weight DESC LIMIT 3) p ON p.kind = t.kind'),
('JOIN (SELECT kind, ntile(3) OVER (ORDER BY weight) AS weight FROM kind) p USING (kind)'),
('JOIN (SELECT kind, max(weight) AS weight FROM (SELECT * FROM kind UNION ALL SELECT kind, 8, NULL FROM kind WHERE weight < 4) x GROUP BY kind) p ON p.kind = t.kind'),
('JOIN (SELECT kind, weight FROM kind EXCEPT SELECT ''k3'', 3) p ON t.kind = p.kind'),
('LEFT JOIN (SELECT DISTINCT weight % 3 AS weight, kind FROM kind) p ON p.kind = t.kind AND p.weight > 0'),
('CROSS JOIN (VALUES (1), (5)) p (weight)'),
('CROSS JOIN (SELECT weight FROM kind WHERE weight IN (2, 6)) p'),
('JOIN generate_series(1, 9, 4) p (weight) ON p.weight <= t.cost'),
('JOIN generate_series(timestamp ''2025-01-01'', timestamp ''2025-03-31'', interval ''1 day'') WITH ORDINALITY p (day, weight) ON p.day = t.day'),
('JOIN (SELECT g AS month, g * 2 AS weight FROM generate_series(1, 3) g) p ON p.month = extract(month FROM t.day)'),
('JOIN kind p ON p.kind = lower(t.kind)'),
('JOIN kind p ON p.weight = t.cost % 10 AND t.cost < 90'),
('JOIN unnest(ARRAY[''n1'', ''n2''], ARRAY[3, 4]) p (name, weight) ON p.name = t.name');
CREATE TABLE condition (n serial, text text);
INSERT INTO condition (text) VALUES ('true'), ('t.cost > (SELECT 10 * avg(weight) FROM kind)'), ('t.kind IN (SELECT kind FROM undeclared)'),
('t.kind NOT IN (SELECT kind FROM undeclared WHERE weight <> 3)'), ('t.kind NOT IN (SELECT kind FROM undeclared WHERE weight > 2) IS NOT false'), ('t.cost = ANY (ARRAY(SELECT 2 * weight FROM kind))'),
('t.cost > ALL (SELECT weight FROM undeclared)'), ('EXISTS (SELECT FROM kind WHERE weight > 5)'), ('NOT EXISTS (SELECT FROM kind WHERE weight > 6) AND t.day >= (SELECT min(since) + 20 FROM kind)'),
('t.day > (SELECT since FROM kind WHERE weight = 100)'), ('t.cost < coalesce((SELECT weight FROM kind WHERE kind = ''none''), 50)'), ('t.name = ANY (SELECT ''n'' || weight FROM kind)');
CREATE TABLE number (n serial, text text);
INSERT INTO number (text) VALUES ('count(*)'), ('sum(t.cost)'), ('count(*) FILTER (WHERE t.cost > (SELECT sum(weight) FROM kind))'), ('sum(p.weight)'),
('sum(t.cost * (SELECT count(*) FROM kind))');
CREATE TABLE key (n serial, text text);
INSERT INTO key (text) VALUES ('''all''::text'), ('p.weight'), ('t.cost > (SELECT 7 * max(weight) FROM kind)');
CREATE TABLE asked AS
SELECT row_number() OVER (ORDER BY i.n, c.n, a.n, k.n) AS n,
       format('SELECT %s AS k, %s AS x FROM trip t %s WHERE %s%s', k.text, a.text, i.text, c.text, CASE WHEN k.n > 1 THEN ' GROUP BY ' || k.text END) AS query
FROM item i, condition c, number a, key k;
GRANT SELECT ON asked TO regress_analyst;
SELECT count(*) > 2500 AS many FROM asked;

CREATE FUNCTION pr_plain.exact(query text, OUT k text, OUT x numeric) RETURNS SETOF record LANGUAGE plpgsql SET search_path = pr_plain, pr AS $$
BEGIN
    RETURN QUERY EXECUTE 'SELECT coalesce(k::text, ''none''), x::numeric FROM (' || query || ') q';
END $$;
CREATE FUNCTION pr.answer(query text, OUT k text, OUT x numeric) RETURNS SETOF record LANGUAGE plpgsql SET search_path = pr AS $$
BEGIN
    RETURN QUERY EXECUTE 'SELECT coalesce(k::text, ''none''), x::numeric FROM (' || query || ') q';
EXCEPTION WHEN OTHERS THEN
    RAISE NOTICE '% %', query, sqlerrm;
END $$;
GRANT EXECUTE ON FUNCTION pr_plain.exact, pr.answer TO regress_analyst;
GRANT SELECT ON undeclared TO regress_analyst; -- for both
SET ROLE regress_analyst;
SET dp_rdr.noise = silent;
-- Each 29th. Laplace noise of the largest scale, 0.9 of a count and 630 of a sum, exceeds this once in 10^9 numbers. A group that nobody is in has noise
-- alone, and an undeclared one is none.
CREATE TEMP TABLE compared AS
SELECT n, k, e.x AS exact, a.x AS answer, query, CASE WHEN query LIKE '% sum(%' THEN 13000 ELSE 20 END AS most
FROM asked, LATERAL (SELECT k, e.x, a.x FROM answer(query) a FULL JOIN pr_plain.exact(query) e USING (k)) j (k, exact, answer), LATERAL (SELECT exact) e (x), LATERAL (SELECT answer) a (x)
WHERE n % 29 = 7;
SELECT count(DISTINCT n) > 90 AS many, count(exact) > 150 AS numbers FROM compared;
SELECT * FROM compared WHERE answer IS NULL OR abs(answer - coalesce(exact, 0)) > most ORDER BY n, k;
RESET dp_rdr.noise;
RESET ROLE;
SET ROLE regress_controller;
REVOKE SELECT ON undeclared FROM regress_analyst;
GRANT SELECT (kind, weight) ON undeclared TO regress_analyst;
SET ROLE regress_analyst;

-- ---------------------------------------------------------------------------------------------------------------------
-- Places: WITH, grouping sets, one row for each person, views, prepared statements
-- ---------------------------------------------------------------------------------------------------------------------

WITH w (kind, weight) AS (VALUES ('k1', 1), ('k2', 2)), two AS (SELECT * FROM w)
SELECT weight, zone, round(count(*), -2) AS count FROM trip JOIN two USING (kind) JOIN rider USING (rider) GROUP BY GROUPING SETS (weight, (), (zone)) ORDER BY 1, 2;
WITH RECURSIVE w (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM w WHERE n < 3)
SELECT round(avg(c)) FROM (SELECT rider, count(*) AS c FROM trip JOIN w ON w.n = trip.cost % 3 + 1 GROUP BY rider) t WHERE c > (SELECT min(n) FROM w);
WITH w (n) AS (SELECT 3) SELECT round(count(*), -2) AS count FROM (SELECT * FROM trip WHERE cost > 3) t WHERE cost > (SELECT n FROM w);
WITH w (n) AS (SELECT 3) SELECT round(count(*), -2) AS count FROM (SELECT * FROM trip WHERE cost > (SELECT n FROM w)) t;
PREPARE labels (text, integer) AS SELECT p.w, round(count(*), -2) AS count FROM trip JOIN (VALUES ($1, $2), ('k2', 2)) p (kind, w) USING (kind) WHERE cost < (SELECT $2 + 90) GROUP BY 1 ORDER BY 1;
EXECUTE labels ('k1', 1);
EXECUTE labels ('k3', 3);
EXPLAIN (COSTS OFF) EXECUTE labels ('k3', 3);
SELECT charges() AS before \gset
SELECT round(count(*), -2) AS count FROM trip WHERE cost > (SELECT avg(cost) FROM trip);
SELECT round(count(*), -2) FROM trip JOIN (SELECT kind, avg(cost) AS a FROM trip GROUP BY kind) k USING (kind) WHERE cost > k.a;
SELECT charges() - :before AS charges;

-- ---------------------------------------------------------------------------------------------------------------------
-- Whose rights, how often, how large
-- ---------------------------------------------------------------------------------------------------------------------

RESET ROLE;
CREATE SEQUENCE pr.calls;
GRANT USAGE ON SEQUENCE pr.calls TO regress_analyst;
CREATE VIEW pr.through AS SELECT kind, weight FROM undeclared WHERE weight > 2;
CREATE VIEW pr.leak AS SELECT trip, cost FROM pr_trip;
ALTER VIEW pr.leak OWNER TO regress_controller;
ALTER VIEW pr.through OWNER TO regress_controller;
GRANT SELECT ON pr.through, pr.leak TO regress_analyst;
SET ROLE regress_analyst;
SELECT p.n, p.m, round(count(*), -2) AS count FROM trip JOIN (SELECT nextval('calls') AS n, currval('calls') * 10 AS m, kind FROM undeclared WHERE weight < 6) p USING (kind) GROUP BY 1, 2 ORDER BY 1;
SELECT currval('calls');
SELECT p.weight, round(count(*), -2) AS count FROM trip JOIN through p USING (kind) GROUP BY 1 ORDER BY 1;
-- A column that nobody may read, a view through which its owner would hand on private rows, and what is too large: nothing is charged.
SELECT charges() AS before \gset
SELECT query, attempt(query) FROM unnest(ARRAY[
    'SELECT count(*) FROM trip JOIN undeclared u USING (kind) WHERE u.secret = 1',
    'SELECT count(*) FROM trip WHERE cost > (SELECT max(secret) FROM undeclared)',
    'SELECT count(*) FROM trip WHERE cost > (SELECT max(cost) FROM leak)',
    'SELECT count(*) FROM trip WHERE cost IN (SELECT cost FROM leak LIMIT 3)',
    'SELECT count(*) FROM trip JOIN (SELECT DISTINCT cost FROM leak) l USING (cost)',
    'SELECT count(*) FROM trip WHERE cost > (SELECT cost FROM trip LIMIT 1)',
    'SELECT count(*) FROM trip t WHERE cost > (SELECT avg(cost) FROM trip u WHERE u.kind = t.kind)',
    'SELECT count(*) FROM trip t JOIN kind k USING (kind) WHERE t.cost > (SELECT 1 / (k.weight - k.weight))',
    'SELECT count(*) FROM trip WHERE cost > (SELECT 1 / (min(weight) - min(weight)) FROM kind)',
    'SELECT count(*) FROM trip WHERE cost > (SELECT weight FROM undeclared)',
    'SELECT count(*) FROM trip JOIN generate_series(1, 20000) p (n) ON p.n = trip.cost',
    'SELECT count(*) FROM trip CROSS JOIN generate_series(1, 15000) p (n) CROSS JOIN generate_series(1, 10) q (n)',
    'SELECT count(*) FROM trip JOIN (SELECT ''{1,2}''::int[] AS a, 1 AS cost) p USING (cost) WHERE p.a[1] = 1',
    'SELECT count(*) FROM trip JOIN kind p ON p.kind = trip.kind WHERE p.ctid IS NULL',
    'SELECT count(p) FROM trip JOIN (VALUES (''k1'')) p (kind) USING (kind)',
    'SELECT count(*) FROM trip t, unnest(ARRAY[t.cost]) p',
    'SELECT count(*) FROM generate_series(1, 3) p LEFT JOIN trip ON cost = p',
    'SELECT count(*) FROM trip FULL JOIN (VALUES (1)) p (cost) USING (cost)']) query;
SELECT charges() - :before AS charges;
-- The answer inside is charged where what is around it is refused.
SELECT attempt('SELECT count(*) FROM trip WHERE cost > 1 / ((SELECT count(*) FROM rider) * 0)::int'), charges() - :before AS charges;

-- A forged text has rows of constants, and no others.
SELECT query, attempt(format('SELECT * FROM dp_rdr.release(%L, NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (count bigint)', query))
FROM unnest(ARRAY['SELECT count(*) FROM pr.trip, generate_series(1, 2) p', 'SELECT count(*) FROM pr.trip, unnest((SELECT array_agg(trip) FROM pr.trip)) p',
    'SELECT count(*) FROM pr.trip, unnest(ARRAY[1, trip.cost]) p', 'SELECT count(*) FROM pr.trip, unnest(string_to_array(''1,2'', '','')) p',
    'SELECT count(*) FROM pr.trip, unnest(''{1,2}''::int[]) WITH ORDINALITY p', 'SELECT count(*) FROM pr.trip, LATERAL unnest(''{1,2}''::int[]) p', 'SELECT count(*) FROM pr.trip, (VALUES (1)) p (n)',
    'SELECT count(*) FROM unnest(''{1,2}''::int[]) p', 'SELECT count(*) FROM pr.trip, unnest(''{1,2,3}''::int[], ''{4}''::int[]) p (a, b) WHERE p.b = 4 AND p.a = trip.cost']) query;

-- ---------------------------------------------------------------------------------------------------------------------
-- What is charged for them follows from what is brought along
-- ---------------------------------------------------------------------------------------------------------------------

RESET ROLE;
CREATE FUNCTION pg_temp.rows_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    before bigint := (SELECT max(id) FROM dp_rdr.ledger);
BEGIN
    SET LOCAL ROLE regress_analyst;
    EXECUTE query;
    RESET ROLE;
    RETURN (SELECT string_agg(parameters ->> 'max_rows' || ' ' || (parameters -> 'tables')::text, '; ') FROM dp_rdr.ledger WHERE id > before);
END $$;
SELECT max_rows, query FROM unnest(ARRAY[
    'SELECT count(*) FROM trip JOIN (VALUES (''k1''), (''k2'')) p (kind) USING (kind)',
    'SELECT count(*) FROM trip JOIN (VALUES (''k1''), (''k2''), (''k2''), (NULL), (NULL), (NULL)) p (kind) USING (kind)',
    'SELECT count(*) FROM trip CROSS JOIN generate_series(1, 3) p',
    'SELECT count(*) FROM trip JOIN kind p ON p.weight < trip.cost',
    'SELECT count(*) FROM trip JOIN kind p ON p.kind = lower(trip.kind)',
    'SELECT count(*) FROM trip JOIN kind p ON p.kind = lower(trip.kind) OR p.weight = 1',
    'SELECT count(*) FROM trip JOIN generate_series(1, 3) p ON p = extract(month FROM trip.day)',
    'SELECT count(*) FROM trip JOIN generate_series(timestamp ''2025-01-01'', timestamp ''2025-01-02'', interval ''8 hours'') p ON p::date = trip.day',
    'SELECT count(*) FROM trip JOIN (VALUES (true), (false)) p (b) ON p.b = EXISTS (SELECT FROM rider r WHERE r.rider = trip.rider AND r.zone = 1)',
    'SELECT count(*) FROM rider JOIN kind p ON p.kind = ''k'' || rider.zone',
    'SELECT count(*) FROM rider JOIN kind p ON p.kind = ''k'' || rider.zone JOIN trip ON trip.rider = rider.rider AND trip.kind = p.kind',
    'SELECT count(*) FROM trip LEFT JOIN (kind p CROSS JOIN (VALUES (1), (2)) q (n)) ON p.kind = trip.kind']) query, LATERAL pg_temp.rows_of(query) max_rows;
