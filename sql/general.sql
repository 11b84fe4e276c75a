-- General queries of a controller: aggregate queries of any shape over a restricted view, in closed form or by running them
-- once without each distinct record. Both ways against each other, and against a brute force in SQL.

LOAD 'dp_rdr';
SET ROLE regress_controller;

-- ---------------------------------------------------------------------------------------------------------------------
-- Closed forms and re-execution agree, on random small tables: `HAVING true` asks the same and has no closed form
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE sample (id integer, i integer, n numeric(8, 2), f double precision, s smallint, free integer, g text, b boolean, note json);
SELECT dp_protect('sample', 'sample_dp');
SELECT dp_set_bounds('sample', 'i', -3.5, 7), dp_set_bounds('sample', 'n', -1.5, 2.25), dp_set_bounds('sample', 'f', 2, 10),
       dp_set_bounds('sample', 's', -100000, 3);

-- Rows that nobody else resembles, duplicates, NULLs, values beyond the bounds, NaN and infinities; at times one row only.
CREATE PROCEDURE fill(shape integer, rows integer) LANGUAGE sql AS $$
    DELETE FROM sample;
    INSERT INTO sample
    SELECT id, CASE WHEN random() < 0.8 THEN floor(random() * 16 - 5)::integer END, CASE WHEN random() < 0.8 THEN round((random() * 6 - 3)::numeric, 2) END,
           CASE WHEN random() < 0.7 THEN random() * 14 WHEN random() < 0.7 THEN ('{NaN,Infinity,-Infinity}'::float8[])[1 + floor(random() * 3)::integer] END,
           floor(random() * 10 - 5), CASE WHEN random() < 0.8 THEN floor(random() * 10)::integer END, ('{a,a,b,c,NULL}'::text[])[1 + floor(random() * 5)::integer],
           ('{t,f,NULL}'::boolean[])[1 + floor(random() * 3)::integer], json_build_object('v', floor(random() * 3))
    FROM generate_series(1, rows) id;
    UPDATE sample SET (i, n, f, s, free, g, b, note) = (SELECT i, n, f, s, free, g, b, note FROM sample WHERE id = 1) WHERE shape = 1 AND id % 2 = 0;
    UPDATE sample SET i = NULL, n = NULL, f = NULL, free = NULL WHERE shape = 2;
    UPDATE sample SET i = 99, n = -99, f = 'Infinity', s = 99 WHERE shape = 3;
    UPDATE sample SET g = id::text WHERE shape = 4;
$$;

CREATE TABLE asked (id integer GENERATED ALWAYS AS IDENTITY, query text);
INSERT INTO asked (query)
SELECT format(form, aggregate) FROM
    unnest('{"SELECT %s FROM sample_dp", "SELECT %s FROM sample_dp WHERE i > 0 OR b", "SELECT g, %s FROM sample_dp GROUP BY g",
             "SELECT %s FROM sample_dp WHERE f < 9 GROUP BY b, s / 2"}'::text[]) form,
    unnest(ARRAY['count(*)', 'count(n), count(DISTINCT g)', 'sum(i), avg(i)', 'avg(n), avg(f) FILTER (WHERE b)', 'var_pop(i), var_samp(f)',
                 'variance(n), stddev(f)', 'stddev_pop(s), stddev_samp(i)', 'min(i), max(n)', 'min(f), max(s)', 'count(DISTINCT i), count(DISTINCT n)',
                 'percentile_cont(0.5) WITHIN GROUP (ORDER BY f)', 'percentile_cont(0.3) WITHIN GROUP (ORDER BY i)',
                 'percentile_disc(0.75) WITHIN GROUP (ORDER BY n)', 'percentile_disc(0) WITHIN GROUP (ORDER BY i)',
                 'sum(free), max(free)', 'sum(i * free), min(i + s)', 'count(*) FILTER (WHERE b), count(DISTINCT i % 3) FILTER (WHERE NOT b)']) aggregate;

CREATE TABLE verdict (round integer, asked integer, mechanism text, compared bigint, wrong bigint);
CREATE PROCEDURE compare(round integer) LANGUAGE sql AS $$
    INSERT INTO verdict
    SELECT round, a.id, m.mechanism, count(*),
           count(*) FILTER (WHERE c.individuals IS DISTINCT FROM r.individuals OR abs(c.pis - r.pis) > 1e-8 * (1 + c.pis) OR (c.pis > r.pis) IS NULL)
    FROM asked a, (VALUES ('laplace'), ('gaussian')) m (mechanism),
         LATERAL (SELECT coalesce(record, '"outside"') AS record, individuals, pis FROM dp_risk_records(a.query, 1, m.mechanism, 1e-6, sensitivity => 1)) c
         FULL JOIN LATERAL (SELECT coalesce(record, '"outside"') AS record, individuals, pis
                            FROM dp_risk_records(a.query || ' HAVING true', 1, m.mechanism, 1e-6, sensitivity => 1)) r USING (record)
    WHERE (a.id + round) % 3 = 0
    GROUP BY a.id, m.mechanism
$$;

SELECT setseed(0.5);
DO $$
BEGIN
    FOR round IN 1..24 LOOP
        CALL fill(round % 6, 1 + round * 5 % 11);
        CALL compare(round);
    END LOOP;
END $$;
SELECT mechanism, count(DISTINCT round) AS tables, count(DISTINCT asked) AS queries, sum(compared) > 3000 AS many, sum(wrong) AS mismatches
FROM verdict GROUP BY mechanism ORDER BY mechanism;
SELECT a.query, v.mechanism, min(round) AS first_round, sum(wrong) AS wrong FROM verdict v JOIN asked a ON a.id = v.asked
WHERE wrong > 0 GROUP BY 1, 2 ORDER BY 1, 2;

-- ---------------------------------------------------------------------------------------------------------------------
-- Against a brute force: leave out each row in turn, and run the query again on the clamped values
-- ---------------------------------------------------------------------------------------------------------------------

CREATE VIEW others_dp AS
SELECT id, CASE WHEN i IS NOT NULL THEN least(greatest(i, -3), 7) END AS i, CASE WHEN n <> 'NaN' THEN least(greatest(n, -1.5), 2.25) END AS n,
       CASE WHEN f <> 'NaN' THEN least(greatest(f, 2), 10) END AS f, least(s, 3::smallint) AS s, free, g, b, note
FROM sample WHERE id::text <> current_setting('regress.left_out');
CREATE VIEW sample_narrowed AS SELECT upper(g) AS g, free FROM sample_dp WHERE free IS NOT NULL;
CREATE VIEW others_narrowed AS SELECT upper(g) AS g, free FROM others_dp WHERE free IS NOT NULL;
CREATE TABLE region AS SELECT * FROM (VALUES ('a', 'north'), ('b', 'north'), ('c', 'south')) r (g, name);

-- The columns k and v of a query are its key and its number; z stands for a number that is not there.
CREATE TABLE shape (id integer GENERATED ALWAYS AS IDENTITY, z float8, query text);
INSERT INTO shape (z, query) VALUES
    (0, 'SELECT true AS k, avg(m) AS v FROM (SELECT g, max(i) AS m FROM sample_dp GROUP BY g) x'),
    (0, 'SELECT g AS k, count(*) AS v FROM sample_dp GROUP BY g HAVING count(*) > 1'),
    (0, 'SELECT g AS k, sum(i) / count(*)::float8 AS v FROM sample_dp WHERE b IS NOT TRUE GROUP BY g'),
    (0, 'SELECT true AS k, corr(i, f) AS v FROM sample_dp'),
    (0, 'SELECT g AS k, rank() OVER (ORDER BY count(*), g) AS v FROM sample_dp GROUP BY g'),
    (0, 'WITH a AS (SELECT g, b, count(*) AS c FROM sample_dp GROUP BY g, b) SELECT g AS k, max(c) - min(c) AS v FROM a GROUP BY g'),
    (0, 'SELECT true AS k, count(*) AS v FROM sample_dp WHERE i > (SELECT avg(i) FROM sample_dp)'),
    (0, 'SELECT x.g AS k, count(*) AS v FROM sample_dp x JOIN sample_dp y USING (i) GROUP BY x.g'),
    (0, 'SELECT d.name AS k, count(*) AS v FROM sample_dp JOIN region d ON d.g = sample_dp.g GROUP BY d.name'),
    (0, 'SELECT note ->> ''v'' AS k, sum(n) AS v FROM sample_dp GROUP BY 1'),
    (6, 'SELECT true AS k, percentile_cont(0.5) WITHIN GROUP (ORDER BY f) AS v FROM sample_dp HAVING count(*) >= 0'),
    (1.75, 'SELECT b AS k, avg(i) AS v FROM sample_dp GROUP BY b LIMIT 1000'),
    (0, 'SELECT g AS k, sum(free) AS v FROM sample_narrowed GROUP BY g'),
    (0, 'SELECT k, v FROM (SELECT free AS k, count(*) AS v FROM sample_dp GROUP BY free) q WHERE v > 1'),
    (0, 'SELECT true AS k, sum(v) AS v FROM (SELECT count(*) AS v FROM sample_dp WHERE b UNION ALL SELECT max(i) FROM sample_dp) u'),
    (0, 'SELECT x.g AS k, sum(l.c) AS v FROM sample_dp x, LATERAL (SELECT count(*) AS c FROM sample_dp y WHERE y.i = x.i) l GROUP BY x.g'),
    (0, 'SELECT true AS k, avg(r) AS v FROM (SELECT row_number() OVER (ORDER BY f, id) * i AS r FROM sample_dp) w'),
    (0, 'SELECT g AS k, count(*) AS v FROM sample_dp x WHERE EXISTS (SELECT FROM sample_dp y WHERE y.g = x.g AND y.i > x.i) GROUP BY g'),
    (0, 'WITH RECURSIVE t(n) AS (SELECT min(i) FROM sample_dp UNION ALL SELECT n + 1 FROM t WHERE n < (SELECT max(i) FROM sample_dp)) SELECT true AS k, count(*) AS v FROM t'),
    (0, 'SELECT g AS k, dp_count(*) + dp_sum(i) AS v FROM sample_dp GROUP BY ROLLUP (g) HAVING g IS NOT NULL');

CREATE FUNCTION result(query text, left_out text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    result jsonb;
BEGIN
    PERFORM set_config('regress.left_out', left_out, true);
    EXECUTE 'SELECT coalesce(jsonb_object_agg(coalesce(k::text, ''NULL''), v), ''{}'') FROM (' ||
            replace(replace(query, 'sample_', 'others_'), 'dp_count(*) + dp_sum', 'count(*) + sum') || ') r' INTO result;
    RETURN result;
END $$;
CREATE FUNCTION distance(a jsonb, b jsonb, z float8) RETURNS float8 LANGUAGE sql AS $$
    SELECT coalesce(sum(abs(coalesce(x.value::float8, z) - coalesce(y.value::float8, z))), 0)
    FROM jsonb_each_text(a) x FULL JOIN jsonb_each_text(b) y USING (key)
$$;

CREATE TABLE shape_verdict (round integer, shape integer, agree boolean);
CREATE PROCEDURE compare_shapes(round integer) LANGUAGE sql AS $$
    -- As many individuals at each distance: the sorted lists of distances are equal.
    INSERT INTO shape_verdict
    SELECT round, s.id, bool_and(abs(e.pis - r.pis) <= 1e-8 * (1 + e.pis) IS TRUE)
    FROM shape s,
         LATERAL (SELECT pis, row_number() OVER (ORDER BY pis) AS at
                  FROM (SELECT distance(result(s.query, 'nobody'), result(s.query, id::text), s.z) AS pis FROM sample) d) e
         FULL JOIN LATERAL (SELECT pis, row_number() OVER (ORDER BY pis) AS at
                            FROM dp_risk_records(s.query, 1, sensitivity => 1), generate_series(1, individuals)) r USING (at)
    GROUP BY s.id
$$;
DO $$
BEGIN
    FOR round IN 1..12 LOOP
        CALL fill(round % 6, 1 + round * 5 % 11);
        CALL compare_shapes(round);
    END LOOP;
END $$;
SELECT count(*) AS compared, count(*) FILTER (WHERE NOT agree) AS mismatches FROM shape_verdict;
SELECT s.query, min(round) AS first_round, count(*) AS wrong FROM shape_verdict v JOIN shape s ON s.id = v.shape WHERE NOT agree GROUP BY 1 ORDER BY 1;

-- A filtered view of a partitioned table: rows are told apart across partitions; those outside the filter are nobody's risk.
DELETE FROM sample;
CREATE TABLE parts (id integer, i integer) PARTITION BY LIST (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1, 3, 5);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES IN (2, 4, 6);
INSERT INTO parts VALUES (1, 10), (2, 10), (3, 20), (4, 40), (5, 10), (6, 80);
SELECT dp_protect('parts', 'parts_dp', filter => 'id < 6');
SELECT * FROM dp_risk_records('SELECT sum(i) + 0 AS s FROM parts_dp', 1, sensitivity => 100) ORDER BY pis DESC, record;
SELECT * FROM dp_risk_records('SELECT sum(i) + id % 2 AS s FROM parts_dp WHERE id > 1 GROUP BY id % 2', 1, sensitivity => 100) ORDER BY pis DESC, record;
SELECT * FROM dp_risk_records('SELECT count(*) + 1 FROM parts_dp', 1, sensitivity => 1);

-- ---------------------------------------------------------------------------------------------------------------------
-- 1,000 people of the Adult data
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE people AS SELECT * FROM adult ORDER BY md5(adult::text) LIMIT 1000;
SELECT dp_protect('people', 'people_dp');
SELECT dp_set_bounds('people', 'hours_per_week', 1, 99), dp_set_bounds('people', 'capital_gain', 0, 99999), dp_set_bounds('people', 'age', 17, 90);
SELECT a.aggregate, count(*) > 1 AS records, count(*) FILTER (WHERE abs(c.pis - r.pis) > 1e-8 * (1 + c.pis) OR (c.pis > r.pis) IS NULL) AS mismatches
FROM unnest(ARRAY['count(*)', 'sum(capital_gain)', 'avg(hours_per_week)', 'variance(age)', 'stddev(hours_per_week)',
                  'percentile_cont(0.5) WITHIN GROUP (ORDER BY hours_per_week)']) a (aggregate),
     LATERAL (SELECT * FROM dp_risk_records('SELECT sex, ' || aggregate || ' FROM people_dp GROUP BY sex', 1, sensitivity => 1)) c
     FULL JOIN LATERAL (SELECT * FROM dp_risk_records('SELECT sex, ' || aggregate || ' FROM people_dp GROUP BY sex HAVING true', 1, sensitivity => 1)) r USING (record, individuals)
GROUP BY a.aggregate ORDER BY a.aggregate COLLATE "C";
-- An expression over an aggregate has no closed form either.
SELECT count(*) > 1 AS records, count(*) FILTER (WHERE abs(c.pis - r.pis) <= 1e-9 IS NOT TRUE) AS mismatches
FROM dp_risk_records('SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY hours_per_week) FROM people_dp', 1) c
FULL JOIN dp_risk_records('SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY hours_per_week) + 0 FROM people_dp', 1, sensitivity => 98) r USING (record, individuals);
-- A query that an analyst may ask, too, with a sensitivity: the PIS of the aggregates themselves.
SELECT count(*) > 1 AS records, count(*) FILTER (WHERE abs(p.pis - r.pis) <= 1e-9 IS NOT TRUE) AS mismatches
FROM dp_risk_records('SELECT avg(hours_per_week) FROM people_dp WHERE sex = ''Female''', 1, calibration => 'published') p
FULL JOIN dp_risk_records('SELECT avg(hours_per_week) FROM people_dp WHERE sex = ''Female''', 1, sensitivity => 98) r
    ON p.individuals = r.individuals AND p.record IS NOT DISTINCT FROM r.record;

-- ---------------------------------------------------------------------------------------------------------------------
-- Noise: from declared bounds, or from a sensitivity
-- ---------------------------------------------------------------------------------------------------------------------

-- noise_stddev = sqrt(2) sensitivity / epsilon, epsilon 1: the largest change within the bounds 1 .. 99 of hours_per_week.
SELECT aggregate, round((noise_stddev / sqrt(2))::numeric, 6) AS sensitivity, round((error95 / ln(20))::numeric, 6) AS the_same
FROM unnest(ARRAY['percentile_cont(0.5) WITHIN GROUP (ORDER BY hours_per_week)', 'percentile_cont(0.9) WITHIN GROUP (ORDER BY hours_per_week)',
                  'percentile_disc(0.5) WITHIN GROUP (ORDER BY hours_per_week)', 'min(hours_per_week)', 'max(hours_per_week)', 'min(hours_per_week), var_pop(hours_per_week)',
                  'min(hours_per_week), var_samp(hours_per_week)', 'min(hours_per_week), stddev_pop(hours_per_week)', 'min(hours_per_week), stddev(hours_per_week)', 'count(DISTINCT race)',
                  'count(*), sum(capital_gain), max(age)']) aggregate,
     LATERAL dp_risk('SELECT ' || aggregate || ' FROM people_dp', '{1}', calibration => 'published');
-- l2 for Gaussian noise, classic sigma; the average moves by (upper - lower) / n there.
SELECT round((noise_stddev / sqrt(2 * ln(1.25 / 1e-6)))::numeric, 6) AS sensitivity, round(sqrt(73.0 ^ 2 + 0.098 ^ 2), 6) AS expected
FROM dp_risk('SELECT max(age), avg(hours_per_week) FROM people_dp', '{1}', 'gaussian', 1e-6, 'published');
SELECT round((noise_stddev / sqrt(2 * ln(1.25 * 1000 ^ 2)))::numeric, 6) AS delta_of_the_papers
FROM dp_risk('SELECT max(age) FROM people_dp', '{1}', 'gaussian', calibration => 'published');
-- sound: the noise that would be drawn; for one number, or one of each group, the analytic sigma; for several by zCDP.
SELECT round(noise_stddev::numeric, 2) AS one FROM dp_risk('SELECT max(age) FROM people_dp', '{0.5}', 'gaussian', 1e-6, sensitivity => 73);
SELECT round(noise_stddev::numeric, 2) AS group_of_seven FROM dp_risk('SELECT max(age) FROM people_dp GROUP BY marital_status', '{0.5}', 'gaussian', 1e-6, sensitivity => 73);
SELECT round(noise_stddev::numeric, 2) AS seven FROM dp_risk('SELECT max(age) FROM people_dp GROUP BY marital_status HAVING true', '{0.5}', 'gaussian', 1e-6, sensitivity => 73);
-- The rows of dp_risk follow from PIS, k (5 here) and the noise.
SELECT bool_and(abs(k.rdr_max - (r.high + 5 * sensitivity / e)) < 1e-9 AND abs(k.rdr_min - (r.low + 5 * sensitivity / e)) < 1e-9
                AND k.ratio = k.rdr_min / k.rdr_max) AS by_hand
FROM (VALUES (0.5, 200), (7, 30)) v (e, sensitivity),
     LATERAL (SELECT max(pis) AS high, min(pis) AS low FROM dp_risk_records('SELECT race, max(age) / 2.0 FROM people_dp GROUP BY race', 1, sensitivity => sensitivity)) r,
     LATERAL dp_risk('SELECT race, max(age) / 2.0 FROM people_dp GROUP BY race', ARRAY[e], sensitivity => sensitivity) k;

-- ---------------------------------------------------------------------------------------------------------------------
-- dp_find_epsilon: the largest candidate that meets tau, by the rows of dp_risk; charged; a noisy result
-- ---------------------------------------------------------------------------------------------------------------------

SELECT dp_set_odometer('people', 'none', NULL);
CREATE FUNCTION find(query text, tau float8, sensitivity numeric, mechanism text = 'laplace', delta numeric = NULL, OUT epsilon numeric, OUT answer jsonb)
LANGUAGE plpgsql AS $$
BEGIN
    CALL dp_find_epsilon(query, tau, epsilon, answer, mechanism, delta, sensitivity => sensitivity);
END $$;
CREATE TABLE ratios AS SELECT 'SELECT sex, max(age) AS oldest, avg(hours_per_week) / 2 AS half FROM people_dp GROUP BY sex HAVING count(*) > 10' AS query;
SELECT m.mechanism, tau, f.epsilon = (SELECT max(k.epsilon) FROM dp_risk(query, NULL, m.mechanism, 1e-6, sensitivity => 110) k WHERE k.ratio >= tau) AS largest
FROM (VALUES ('laplace'), ('gaussian')) m (mechanism), (VALUES (0.9999::float8), (0.999), (0.99)) t (tau), ratios, LATERAL find(query, tau, 110, m.mechanism, 1e-6) f
ORDER BY 1, 2;
-- Rows in the order of their keys, numbers as float8. b = 110 / epsilon: P(|noise| > 25 b) < 1e-10.
SELECT row ->> 'sex' AS sex, jsonb_typeof(row -> 'oldest') AS oldest, abs((row ->> 'oldest')::float8 - m.oldest) < 25 * 110 / epsilon AS near,
       (row ->> 'oldest')::float8 <> m.oldest AS noisy, (SELECT count(*) FROM jsonb_object_keys(row)) AS columns
FROM ratios, find(query, 0.999, 110), jsonb_array_elements(answer) WITH ORDINALITY r (row, at)
JOIN (SELECT sex, max(age) AS oldest FROM people GROUP BY sex) m ON m.sex = row ->> 'sex' ORDER BY at;
SELECT epsilon, jsonb_array_length(answer) AS rows, answer -> 0 ->> 'n' IS NOT NULL AS empty_is_no_null
FROM find('SELECT stddev(age) AS n FROM people_dp WHERE age > 200', 0.5, 52);
SELECT account, algorithm, kind, mechanism, delta, delta_noise, rho > 0 AS rho, guarantee, parameters - 'tau' AS parameters, query = (SELECT query FROM ratios) AS as_asked, count(*)
FROM dp_rdr.ledger WHERE relation = 'public.people' GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 ORDER BY 4, 9;
SELECT account, releases, denials FROM dp_odometer('people');
SELECT dp_verify_ledger('people');

-- Somebody moves the result by more than what was declared, or the result does not fit: nothing is charged.
SELECT attempt($$CALL dp_find_epsilon('SELECT max(i) + 0 FROM parts_dp', 0.5, sensitivity => 19)$$);
SELECT attempt($$CALL dp_find_epsilon('SELECT max(i) + 0 FROM parts_dp', 0.5)$$);
SELECT attempt($$CALL dp_find_epsilon('SELECT max(i) + 1e40 FROM parts_dp', 0.5, sensitivity => 30)$$);
SELECT attempt($$CALL dp_find_epsilon('SELECT max(i) + 0 FROM parts_dp', 1, sensitivity => 30)$$);
SELECT attempt($$CALL dp_find_epsilon('SELECT max(i) + 0 FROM parts_dp', 0.5, mechanism => 'gaussian', sensitivity => 30)$$);
SELECT account, epsilon, releases, denials FROM dp_odometer('parts');

-- ---------------------------------------------------------------------------------------------------------------------
-- What is refused
-- ---------------------------------------------------------------------------------------------------------------------

CREATE FUNCTION coin() RETURNS integer LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION two() RETURNS integer LANGUAGE sql STABLE AS 'SELECT 2';
CREATE VIEW rows_of_people AS SELECT sex FROM people;
CREATE VIEW lots AS SELECT random() AS r;
CREATE TABLE plain (k text, v integer);
CREATE SEQUENCE counter;
SELECT query, attempt(format('SELECT * FROM dp_risk(%L, ''{1}'', sensitivity => 9)', query)) FROM (VALUES
    ('SELECT age FROM people_dp'),
    ('SELECT max(v) + 1 FROM plain'),
    ('SELECT count(*) + random() FROM people_dp'),
    ('SELECT count(*) + coin() FROM people_dp'),
    ('SELECT count(*) + two() FROM people_dp'),
    ('SELECT count(*) + 1 FROM people_dp, lots'),
    ('SELECT count(*) + nextval(''counter'') FROM people_dp'),
    ('SELECT count(*) FROM people_dp JOIN people USING (age)'),
    ('SELECT count(*) FROM people_dp JOIN rows_of_people USING (sex)'),
    ('SELECT count(*) FROM parts_dp JOIN parts_1 USING (id)'),
    ('SELECT count(*) FROM people_dp JOIN adult USING (age)'),
    ('SELECT count(*) FROM people_dp JOIN adult_dp USING (age)'),
    ('SELECT count(*) FROM people_dp JOIN (SELECT k FROM plain FOR UPDATE) p ON k = sex'),
    ('SELECT count(*) FROM people_dp JOIN plain TABLESAMPLE BERNOULLI (50) ON k = sex'),
    ('SELECT count(people_dp) FROM people_dp'),
    ('SELECT string_agg(sex, '','') FROM people_dp'),
    ('SELECT m FROM (SELECT race, max(age) AS m FROM people_dp GROUP BY race) x'),
    ('SELECT max(age) / 0 FROM people_dp'),
    ('SELECT sum(''NaN''::float8) + 1 FROM people_dp'),
    ('SELECT max(v) FROM (SELECT ''Infinity''::float8 AS v FROM people_dp) x'),
    ('SELECT max(''Infinity''::float8) FROM people_dp'),
    ('SELECT count(*) FROM people_dp JOIN plain ON k = sex'),
    ('SELECT count(*) + 1 FROM sample_dp'),
    ('INSERT INTO plain SELECT sex, max(age) FROM people_dp GROUP BY sex'),
    ('WITH w AS (DELETE FROM plain RETURNING *) SELECT max(age) FROM people_dp'),
    ('SELECT max(age) FROM people_dp; SELECT 1')) r (query);
SELECT sensitivity, attempt(format('SELECT * FROM dp_risk(%L, ''{1}'', sensitivity => %s)', 'SELECT count(*) + 1 FROM people_dp', sensitivity))
FROM unnest('{0,-1,''NaN'',''Infinity'',1e-301,1e-300}'::text[]) sensitivity;
SELECT attempt($$SELECT * FROM dp_risk('SELECT max(age) FROM people_dp', '{1}', exact => true, sensitivity => 73)$$);
SELECT attempt($$SELECT * FROM dp_risk('SELECT max(age) FROM people_dp', '{1}', 'gaussian', sensitivity => 73)$$);
SELECT attempt($$SELECT * FROM dp_risk('SELECT max(fnlwgt) FROM people_dp', '{1}', calibration => 'published')$$), attempt($$SELECT * FROM dp_risk('SELECT max(age * 2) FROM people_dp', '{1}', calibration => 'published')$$);

-- Only the controller; whoever else asks is told nothing about the query.
SET ROLE regress_analyst;
SELECT query, attempt(format('SELECT * FROM dp_risk(%L, sensitivity => 1)', query)) AS dp_risk, attempt(format('CALL dp_find_epsilon(%L, 0.5, sensitivity => 1)', query)) AS dp_find_epsilon
FROM (VALUES ('SELECT max(age) FROM people_dp'), ('SELECT max(age) + random() FROM people_dp'), ('SELECT age FROM people_dp'), ('SELECT count(*) FROM people_dp LIMIT 1')) q (query);
SELECT attempt($$SELECT * FROM dp_risk_records('SELECT max(age) FROM people_dp', 1)$$);
-- Other tables are read as the owner of the table.
RESET ROLE;
CREATE TABLE secret AS SELECT 'Female' AS sex;
SELECT attempt($$SELECT * FROM dp_risk('SELECT count(*) FROM people_dp JOIN secret USING (sex)', '{1}', sensitivity => 1)$$);
SET ROLE regress_controller;
SELECT attempt($$SELECT * FROM dp_risk('SELECT count(*) FROM people_dp JOIN secret USING (sex)', '{1}', sensitivity => 1)$$);

-- It can be interrupted. How many minutes it says it takes depends on the machine.
SET statement_timeout = '100ms';
SET client_min_messages = warning;
\set VERBOSITY terse
SELECT * FROM dp_risk('SELECT corr(age, hours_per_week) FROM adult_dp', '{1}', sensitivity => 1);
\set VERBOSITY default
RESET statement_timeout;

DROP VIEW sample_narrowed;
SELECT dp_unprotect('sample_dp'), dp_unprotect('parts_dp'), dp_unprotect('people_dp');
SET client_min_messages = warning;
DROP TABLE sample, parts, people, asked, verdict, shape, shape_verdict, region, ratios, plain CASCADE;
DROP PROCEDURE fill, compare, compare_shapes;
DROP FUNCTION result, distance, find, coin, two;
DROP VIEW lots;
DROP SEQUENCE counter;
RESET client_min_messages;
RESET ROLE;
DROP TABLE secret;
