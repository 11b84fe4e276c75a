-- General queries of a controller over a restricted view that is joined with tables that are not protected: closed forms where
-- each row of the view comes at most once, reruns elsewhere. Both ways against each other.

LOAD 'dp_rdr';
SET ROLE regress_controller;
CREATE TABLE tour (id integer, i integer, n numeric(8, 2), f double precision, free integer, g text, b boolean);
SELECT dp_protect('tour', 'tour_dp');
SELECT dp_set_bounds('tour', 'i', -3.5, 7), dp_set_bounds('tour', 'n', -1.5, 2.25), dp_set_bounds('tour', 'f', 2, 10);
-- Keys without partners on both sides, NULL among them; two names for two places each.
CREATE TABLE place (g text PRIMARY KEY, name text, pop integer, rate double precision, country integer);
INSERT INTO place VALUES ('a', 'north', 3, 0.5, 1), ('b', 'north', 5, 2.25, 2), ('c', NULL, NULL, -1, NULL), ('x', 'south', 8, 4, 3);
CREATE TABLE country (id integer PRIMARY KEY, area integer);
INSERT INTO country VALUES (1, 10), (3, 30), (4, 40);
-- Several rows for a key.
CREATE TABLE price (g text, year integer, name text, pop integer, rate double precision);
INSERT INTO price VALUES ('a', 2020, 'dear', 1, 1.5), ('a', 2021, 'cheap', 2, 2.5), ('b', 2020, 'cheap', 3, 0.5), ('c', 2021, 'dear', 4, NULL), (NULL, 2020, 'dear', 5, 5);
CREATE TABLE band (low integer, high integer, name text, pop integer, rate double precision);
INSERT INTO band VALUES (-100, -1, 'low', 1, 0.25), (0, 3, 'middle', 2, 0.5), (4, 100, 'high', NULL, 0.75);

-- Rows that nobody else resembles, duplicates, NULLs, values beyond the bounds; at times one row only. The row 0 is left out by
-- every query: a closed form counts it among those outside, a rerun names it.
CREATE PROCEDURE fill(shape integer, rows integer) LANGUAGE sql AS $$
    DELETE FROM tour;
    INSERT INTO tour
    SELECT id, CASE WHEN random() < 0.8 THEN floor(random() * 16 - 5)::integer END, CASE WHEN random() < 0.8 THEN round((random() * 6 - 3)::numeric, 2) END,
           CASE WHEN random() < 0.8 THEN random() * 14 END, CASE WHEN id > 0 THEN floor(random() * 10)::integer ELSE -1 END,
           ('{a,a,b,c,d,NULL}'::text[])[1 + floor(random() * 6)::integer], ('{t,f,NULL}'::boolean[])[1 + floor(random() * 3)::integer]
    FROM generate_series(0, rows) id;
    UPDATE tour SET (i, n, f, free, g, b) = (SELECT i, n, f, free, g, b FROM tour WHERE id = 1) WHERE shape = 1 AND id > 0 AND id % 2 = 0;
    UPDATE tour SET i = NULL, n = NULL, f = NULL, b = NULL WHERE shape = 2;
    UPDATE tour SET i = 99, n = -99, f = 'Infinity' WHERE shape = 3;
    UPDATE tour SET g = NULL WHERE shape = 4;
$$;

-- What stands after FROM: the view is s, a table with name, pop and rate is r.
CREATE TABLE shape (id integer GENERATED ALWAYS AS IDENTITY, closed text, tables text);
INSERT INTO shape (closed, tables) VALUES
    ('always', 'tour_dp s JOIN place r USING (g) WHERE free >= 0'),
    ('always', 'tour_dp s JOIN place r ON r.g = s.g WHERE s.free >= 0 AND s.i IS DISTINCT FROM r.pop'),
    ('always', 'place r JOIN tour_dp s USING (g) WHERE free >= 0'),
    ('always', 'tour_dp s NATURAL JOIN place r WHERE free >= 0'),
    ('always', 'tour_dp s LEFT JOIN place r USING (g) WHERE free >= 0'),
    ('always', 'tour_dp s LEFT JOIN place r ON r.g = s.g WHERE s.free >= 0'),
    ('always', 'tour_dp s LEFT JOIN place r ON r.g = s.g AND r.pop > 3 AND s.i > 0 WHERE s.free >= 0'),
    ('always', 'tour_dp s LEFT JOIN place r ON r.g = s.g WHERE s.free >= 0 AND r.pop > 3'),
    ('always', 'tour_dp s LEFT JOIN place r ON r.g = s.g WHERE s.free >= 0 AND r.g IS NULL'),
    ('always', 'place r RIGHT JOIN tour_dp s ON r.g = s.g WHERE s.free >= 0'),
    ('always', 'tour_dp s, place r WHERE r.g = s.g AND s.free >= 0'),
    ('always', 'tour_dp s JOIN place r ON r.g IS NOT DISTINCT FROM coalesce(s.g, ''x'') WHERE s.free >= 0'),
    ('always', 'tour_dp s JOIN place r ON r.g = upper(lower(s.g)) OR r.g = lower(s.g) WHERE s.free >= 0'),
    ('always', 'tour_dp s JOIN place r USING (g) LEFT JOIN country c ON c.id = r.country WHERE s.free >= 0 AND c.area IS DISTINCT FROM 40'),
    ('always', 'tour_dp s JOIN place r USING (g) JOIN country c ON c.id = r.country AND c.area > s.i WHERE s.free >= 0'),
    ('always', 'tour_dp s LEFT JOIN (place r JOIN country c ON c.id = r.country) ON r.g = s.g WHERE s.free >= 0'),
    ('always', 'country c RIGHT JOIN (place r RIGHT JOIN tour_dp s USING (g)) ON c.id = s.i WHERE s.free >= 0'),
    ('always', '(place r LEFT JOIN country c ON c.id = r.country) JOIN tour_dp s USING (g) WHERE s.free >= 0'),
    ('always', 'tour_dp s JOIN price r ON r.g = s.g AND r.year = 2020 WHERE s.free >= 0'),
    ('always', 'tour_dp s LEFT JOIN band r ON s.i BETWEEN r.low AND r.high WHERE s.free >= 0'),
    ('always', 'tour_dp s JOIN band r ON s.i BETWEEN r.low AND r.high LEFT JOIN country c ON c.id = s.i WHERE s.free >= 0'),
    ('always', 'tour_dp s JOIN (VALUES (''a'', ''first'', 1, 0.5), (''d'', NULL, 2, 1)) r (g, name, pop, rate) USING (g) WHERE free >= 0'),
    ('always', 'tour_dp s LEFT JOIN (SELECT g, max(name) AS name, count(*) AS pop, avg(rate) AS rate FROM price GROUP BY g) r USING (g) WHERE free >= 0'),
    ('always', 'tour_dp s LEFT JOIN LATERAL (SELECT name, pop, rate FROM price p WHERE p.g = s.g ORDER BY year DESC LIMIT 1) r ON true WHERE s.free >= 0'),
    ('always', 'tour_dp s, LATERAL (SELECT s.g AS name, count(*) + s.i AS pop, max(rate) AS rate FROM price p WHERE p.g = s.g) r WHERE s.free >= 0'),
    ('always', 'tour_dp s CROSS JOIN (SELECT ''all'' AS name, sum(pop) AS pop, min(rate) AS rate FROM place) r WHERE s.free >= 0 AND s.i < r.pop'),
    ('always', 'tour_dp s CROSS JOIN LATERAL generate_series(s.i, s.i) pop, LATERAL (SELECT s.g AS name, pop, s.f AS rate) r WHERE s.free >= 0'),
    ('always', 'tour_dp s JOIN place r USING (g) WHERE free >= 0 AND g IN (SELECT g FROM price)'),
    ('always', 'tour_dp s JOIN place r ON r.g = s.g AND EXISTS (SELECT FROM price p WHERE p.g = s.g AND p.pop > s.i) WHERE s.free >= 0'),
    ('always', 'tour_dp AS s (a, i, n, f, d, e, b) JOIN place r ON r.g = s.e WHERE s.d >= 0'),
    ('at times', 'tour_dp s JOIN price r USING (g) WHERE free >= 0'),
    ('at times', 'tour_dp s LEFT JOIN price r USING (g) WHERE free >= 0'),
    ('at times', 'tour_dp s CROSS JOIN place r WHERE s.free >= 0'),
    ('never', 'place r LEFT JOIN tour_dp s ON r.g = s.g AND s.free >= 0'),
    ('never', 'tour_dp s RIGHT JOIN place r ON r.g = s.g AND s.free >= 0'),
    ('never', 'tour_dp s FULL JOIN place r ON r.g = s.g WHERE s.free >= 0'),
    ('never', 'country c LEFT JOIN (tour_dp s JOIN place r USING (g)) ON c.id = s.i WHERE s.free >= 0'),
    ('never', '(tour_dp s RIGHT JOIN place r ON r.g = s.g) LEFT JOIN country c ON c.id = r.country WHERE s.free >= 0'),
    ('never', 'tour_dp s JOIN place r USING (g) JOIN tour_dp t ON t.id = s.id WHERE s.free >= 0'),
    ('never', 'tour_dp s JOIN place r USING (g) WHERE s.free >= 0 AND s.i <= (SELECT max(i) FROM tour_dp)'),
    ('never', '(SELECT * FROM tour_dp LIMIT 3) s JOIN place r USING (g) WHERE s.free >= 0'),
    ('never', '(SELECT g AS e, b, i, n, f, free FROM tour_dp) s JOIN place r ON r.g = s.e WHERE s.free >= 0');
CREATE TABLE asked AS
SELECT row_number() OVER () AS id, shape.id AS shape, closed, format('SELECT %s FROM %s%s /* having */', aggregate, tables, ' GROUP BY ' || keys) AS query
FROM shape, unnest('{NULL, "r.name", "s.b, r.pop % 2"}'::text[]) keys,
     unnest(ARRAY['count(*), count(r.name)', 'sum(r.pop), avg(r.rate)', 'avg(s.n), avg(r.rate) FILTER (WHERE s.b)', 'var_pop(r.pop), var_samp(s.i)',
                  'stddev(r.rate), stddev_pop(s.f)', 'min(r.pop), max(s.i + r.pop)', 'count(DISTINCT r.name), count(DISTINCT s.i)', 'count(r), count(DISTINCT r)',
                  'percentile_cont(0.4) WITHIN GROUP (ORDER BY r.rate)', 'percentile_disc(0.25) WITHIN GROUP (ORDER BY s.i)',
                  'count(*) FILTER (WHERE r.name = ''north''), sum(r.rate * s.n) FILTER (WHERE s.b IS NOT true)']) aggregate;

-- Names, kinds of tables and places of sub-SELECTs that the statement must get right.
CREATE TABLE parted (id integer, name text) PARTITION BY LIST (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1, 2);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES IN (3, 4);
INSERT INTO parted SELECT id, 'p' || id FROM generate_series(1, 4) id;
CREATE VIEW places AS SELECT g, name, area FROM place LEFT JOIN country ON id = country;
CREATE TABLE odd (closed text, query text);
INSERT INTO odd VALUES
    ('always', 'SELECT max(x.ctid) FROM tour_dp s NATURAL JOIN (SELECT g, pop AS ctid FROM place) x WHERE free >= 0 /* having */'),
    ('always', 'WITH p AS (SELECT g, max(rate) AS most FROM price GROUP BY g) SELECT sum(most) FROM tour_dp JOIN p USING (g) WHERE free >= 0 /* having */'),
    ('always', 'SELECT g, count(*), sum(u.i) FROM tour_dp JOIN (SELECT id::bigint AS i, area FROM country) u USING (i) WHERE free >= 0 GROUP BY g, i /* having */ ORDER BY count(*), g'),
    ('always', 'SELECT count(*), sum(area) FROM tour_dp JOIN places USING (g) WHERE free >= 0 GROUP BY upper(name) /* having */ ORDER BY upper(name)'),
    ('always', 'SELECT name, avg(n) FROM tour_dp LEFT JOIN parted ON i = parted.id WHERE free >= 0 GROUP BY name /* having */'),
    ('always', 'SELECT u.g, sum(pop) FROM tour_dp JOIN place USING (g) AS u WHERE free >= 0 GROUP BY u.g /* having */'),
    ('always', 'SELECT sum(x.rate) FROM tour_dp LEFT JOIN (place FULL JOIN (SELECT g, rate FROM price WHERE year = 2020) x USING (g)) ON place.g = tour_dp.g WHERE free >= 0 /* having */'),
    ('always', 'SELECT max(pop), count(''x'') FROM tour_dp, place AS tour_dp_1 WHERE tour_dp.g = tour_dp_1.g AND free >= 0 /* having */'),
    ('always', 'SELECT max(pop), i, g FROM tour_dp JOIN place USING (g) WHERE free >= (SELECT min(id) - 1 FROM country) GROUP BY i, g /* having */'),
    ('always', 'SELECT name, count(DISTINCT place.ctid) FROM tour_dp JOIN place USING (g) WHERE free >= 0 AND row(g, i) IN (SELECT g, year - 2019 FROM price) IS NOT true GROUP BY name /* having */'),
    ('never', 'SELECT count(*), sum(j.pop) FROM (tour_dp JOIN place USING (g)) AS j WHERE j.free >= 0 /* having */'),
    ('never', 'SELECT count(*) FILTER (WHERE EXISTS (SELECT FROM price WHERE price.g = tour_dp.g)) FROM tour_dp JOIN place USING (g) WHERE free >= 0 /* having */'),
    ('never', 'SELECT (SELECT area FROM country WHERE id = i) AS k, sum(pop) FROM tour_dp JOIN place USING (g) WHERE free >= 0 GROUP BY 1 /* having */'),
    ('never', 'SELECT name, grouping(name) = 1 AS all, sum(pop) FROM tour_dp JOIN place USING (g) WHERE free >= 0 GROUP BY ROLLUP (name) /* having */'),
    ('never', 'SELECT name, sum(pop) + 1 FROM tour_dp JOIN place USING (g) WHERE free >= 0 GROUP BY name /* having */'),
    ('never', 'SELECT sum(c) FROM (SELECT count(*) AS c FROM tour_dp JOIN place USING (g) WHERE free >= 0 GROUP BY name) x /* having */');
INSERT INTO asked SELECT 36 * (row_number() OVER () + 100) - k, NULL, closed, query FROM odd, generate_series(1, 12) k;

CREATE TABLE verdict (round integer, asked bigint, closed boolean, compared bigint, wrong bigint, individuals bigint);
-- Somebody whose row FROM and WHERE do not give is outside, and moves nothing. Without the row 0 among the records it was a closed form.
CREATE PROCEDURE compare(round integer) LANGUAGE sql AS $$
    INSERT INTO verdict
    SELECT round, a.id, bool_or(c.pis = 0 AND record = '"outside"' AND c.individuals IS NOT NULL), count(*),
           count(*) FILTER (WHERE CASE WHEN record = '"outside"' THEN false WHEN c.pis IS NULL THEN r.pis > 0
                                       ELSE c.individuals IS DISTINCT FROM r.individuals OR abs(c.pis - r.pis) > 1e-8 * (1 + c.pis) OR (c.pis > r.pis) IS NULL END),
           sum(c.individuals) - sum(r.individuals)
    FROM asked a, LATERAL (SELECT CASE WHEN (a.id + round) % 2 = 0 THEN 'laplace' ELSE 'gaussian' END AS law) m,
         LATERAL (SELECT coalesce(record, '"outside"') AS record, individuals, pis FROM dp_risk_records(a.query, 1, law, 1e-6, sensitivity => 1)) c
         FULL JOIN LATERAL (SELECT coalesce(record, '"outside"') AS record, individuals, pis
                            FROM dp_risk_records(replace(a.query, '/* having */', 'HAVING true'), 1, law, 1e-6, sensitivity => 1)) r USING (record)
    WHERE (a.id + round) % 36 = 0
    GROUP BY a.id
$$;
SELECT setseed(0.25);
DO $$
BEGIN
    FOR round IN 1..12 LOOP
        CALL fill(round % 6, round * 5 % 11);
        CALL compare(round);
    END LOOP;
END $$;
-- `at times`: where the rows that there are happen to meet one row at most.
SELECT a.closed, count(DISTINCT shape) AS shapes, count(DISTINCT v.asked) AS queries, sum(compared) > 300 AS many, sum(wrong) AS mismatches, sum(abs(v.individuals)) AS lost,
       count(*) FILTER (WHERE v.closed) > 0 AS closed_forms, count(*) FILTER (WHERE v.closed IS NOT true) > 0 AS reruns
FROM verdict v JOIN asked a ON a.id = v.asked GROUP BY a.closed ORDER BY a.closed;
SELECT a.query, min(round) AS first_round, sum(wrong) AS wrong FROM verdict v JOIN asked a ON a.id = v.asked GROUP BY 1 HAVING sum(wrong) > 0 OR sum(abs(individuals)) > 0 ORDER BY 1;

-- ---------------------------------------------------------------------------------------------------------------------
-- What is shown and chosen
-- ---------------------------------------------------------------------------------------------------------------------

DELETE FROM tour;
INSERT INTO tour (id, i, n, f, g) VALUES (1, 1, 1, 5, 'a'), (2, 1, 1, 5, 'a'), (3, 4, 2, 6, 'b'), (4, 5, 0, 7, 'c'), (5, 6, 0, 8, 'x'), (6, 2, 0, 9, NULL), (7, 7, 2, 9, 'e');
-- The record is what the query mentions of the view. One of two equal people takes one joined row along; who meets nobody is outside.
SELECT * FROM dp_risk_records('SELECT r.name, count(*), sum(r.pop) FROM tour_dp s JOIN place r USING (g) GROUP BY r.name', 1, sensitivity => 20) ORDER BY pis DESC, record;
SELECT * FROM dp_risk_records('SELECT r.name, count(*), sum(r.pop) FROM tour_dp s LEFT JOIN place r USING (g) GROUP BY r.name', 1, sensitivity => 20) ORDER BY pis DESC, record;
SELECT * FROM dp_risk_records('SELECT avg(s.i), max(r.rate) FROM tour_dp s, place r WHERE s.g = r.g AND s.i < 6', 1, 'gaussian', 1e-6, sensitivity => 20) ORDER BY pis DESC, record;
SELECT * FROM dp_risk_records('SELECT sum(r.pop) FROM tour_dp s JOIN place r USING (g) WHERE r.pop > 100', 1, sensitivity => 1);
-- Dear and cheap in one year, and in two: 'a' meets two rows there.
SELECT * FROM dp_risk_records('SELECT sum(r.pop) FROM tour_dp s JOIN price r USING (g) WHERE year = 2021', 1, sensitivity => 20) ORDER BY pis DESC, record;
SELECT * FROM dp_risk_records('SELECT sum(r.pop) FROM tour_dp s JOIN price r USING (g)', 1, sensitivity => 20) ORDER BY pis DESC, record;
-- Noise is what a rerun would get: a join may give somebody who is not there several rows.
SELECT law, (SELECT count(*) FROM dp_risk(query, NULL, law, 1e-6, sensitivity => 30)) AS candidates,
       (SELECT count(*) FROM dp_risk(query, NULL, law, 1e-6, sensitivity => 30) c JOIN dp_risk(query || ' HAVING true', NULL, law, 1e-6, sensitivity => 30) r USING (epsilon)
        WHERE (c.rdr_min, c.rdr_max, c.ratio, c.noise_stddev, c.error95) = (r.rdr_min, r.rdr_max, r.ratio, r.noise_stddev, r.error95)) AS the_same
FROM (VALUES ('laplace'), ('gaussian')) l (law), (VALUES ('SELECT r.name, count(*), max(r.pop) FROM tour_dp s LEFT JOIN place r USING (g) GROUP BY r.name')) q (query);
-- The bounds of columns do not say how often a join gives a row.
SELECT attempt($$SELECT * FROM dp_risk('SELECT count(*) FROM tour_dp s JOIN place r USING (g)', '{1}')$$), attempt($$SELECT * FROM dp_risk('SELECT sum(i) FROM tour_dp s JOIN place r USING (g)', '{1}')$$);
-- A list of one's own is looked up.
SELECT attempt($$SELECT * FROM dp_risk('SELECT max(i) FROM tour_dp WHERE g IN (SELECT g FROM place)', '{1}')$$);

CREATE FUNCTION find(query text, tau float8, sensitivity numeric, mechanism text = 'laplace', delta numeric = NULL, OUT epsilon numeric, OUT answer jsonb)
LANGUAGE plpgsql AS $$
BEGIN
    CALL dp_find_epsilon(query, tau, epsilon, answer, mechanism, delta, sensitivity => sensitivity);
END $$;
SELECT dp_set_odometer('tour', 'none', NULL);
SELECT f.epsilon = (SELECT max(k.epsilon) FROM dp_risk(query, NULL, sensitivity => 30) k WHERE k.ratio >= 0.9) AS largest, jsonb_array_length(f.answer) AS rows
FROM (VALUES ('SELECT r.name, sum(r.pop) AS s FROM tour_dp s JOIN place r USING (g) GROUP BY r.name')) q (query), LATERAL find(query, 0.9, 30) f;

-- One run for the 32,561 people of the Adult data: reruns would take minutes.
CREATE TABLE occupations AS SELECT DISTINCT occupation, length(occupation) AS letters FROM adult;
SET statement_timeout = '60s';
SELECT sum(individuals) AS people, max(pis) AS most FROM dp_risk_records('SELECT o.letters % 3, count(*) FROM adult_dp JOIN occupations o USING (occupation) WHERE fnlwgt > 0 GROUP BY 1', 1, sensitivity => 2);
RESET statement_timeout;


-- What takes minutes says so before it does: the first run sleeps for a second, the next one is the last.
DELETE FROM tour;
INSERT INTO tour (id) SELECT generate_series(1, 110);
CREATE SEQUENCE runs;
CREATE FUNCTION slow() RETURNS integer STABLE LANGUAGE plpgsql AS $$
BEGIN
    IF nextval('public.runs') > 1 THEN
        RAISE EXCEPTION 'run again';
    END IF;
    PERFORM pg_sleep(1);
    RETURN 0;
END $$;
\set VERBOSITY terse
SELECT * FROM dp_risk('SELECT max(id) + slow() FROM tour_dp', '{1}', sensitivity => 200);
\set VERBOSITY default

SELECT dp_unprotect('tour_dp');
SET client_min_messages = warning;
DROP TABLE tour, place, country, price, band, parted, odd, shape, asked, verdict, occupations CASCADE;
DROP PROCEDURE fill, compare;
DROP FUNCTION find, slow;
DROP SEQUENCE runs;
