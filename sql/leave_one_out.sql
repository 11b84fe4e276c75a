-- The sensitivity of every individual (dp_risk_records.pis) against a brute force: on random small tables, delete each row
-- in turn, run the ordinary aggregate query on the clamped values again, and measure how far the answer has moved.
-- Both calibrations: `published` looks at the aggregates themselves, `sound` at the scaled vector that is released.

LOAD 'dp_rdr';
SET ROLE regress_controller;

CREATE TABLE sample (id integer, i integer, n numeric, f double precision, g text, h text, b boolean);
SELECT dp_protect('sample', 'sample_dp');
SELECT dp_set_bounds('sample', 'i', -3, 7), dp_set_bounds('sample', 'n', -1.5, 2.25), dp_set_bounds('sample', 'f', 2, 10),
       dp_set_groups('sample', 'g', '{a,b,NULL,empty}');

-- Values within the bounds; NaN is no value for sums and averages.
CREATE VIEW clamped AS
SELECT id, CASE WHEN i IS NOT NULL THEN least(greatest(i, -3), 7) END AS i, CASE WHEN n <> 'NaN' THEN least(greatest(n, -1.5), 2.25) END AS n,
       CASE WHEN f <> 'NaN' THEN least(greatest(f, 2), 10) END AS f, f AS f_raw, g, h, b
FROM sample;

-- What is asked (columns named as in the record), and for each calibration the numbers that answer it: SQL over clamped,
-- what stands for the number of an absent group, and the measure it belongs to. A record outside `domain` changes no number
-- under `sound`: its key is not declared.
CREATE TABLE asked (
    id integer GENERATED ALWAYS AS IDENTITY, query text, mentions text[], key text, condition text, domain text,
    published text[], published_absent float8[], sound text[], sound_measure integer[]
);
INSERT INTO asked (query, mentions, key, condition, domain, published, published_absent, sound, sound_measure) VALUES
    ('SELECT count(*) FROM sample_dp', '{}', NULL, 'true', 'true', '{count(*)}', '{0}', '{count(*)}', '{1}'),
    ('SELECT count(*) FROM sample_dp WHERE i > 2', '{i}', NULL, 'i > 2', 'true', '{count(*)}', '{0}', '{count(*)}', '{1}'),
    ('SELECT count(*) FROM sample_dp WHERE i > 100', '{i}', NULL, 'i > 100', 'true', '{count(*)}', '{0}', '{count(*)}', '{1}'),
    ('SELECT count(i) FROM sample_dp WHERE b IS NOT FALSE', '{i,b}', NULL, 'b IS NOT FALSE', 'true', '{count(i)}', '{0}', '{count(i)}', '{1}'),
    ('SELECT count(f) FROM sample_dp', '{f}', NULL, 'true', 'true', '{count(f_raw)}', '{0}', '{count(f_raw)}', '{1}'),
    ('SELECT sum(i) FROM sample_dp', '{i}', NULL, 'true', 'true', '{sum(i)}', '{0}', '{sum(i) / 7.0}', '{1}'),
    ('SELECT sum(n) FROM sample_dp WHERE b', '{n,b}', NULL, 'b', 'true', '{sum(n)}', '{0}', '{sum(n) / 2.25}', '{1}'),
    ('SELECT sum(f) FROM sample_dp', '{f}', NULL, 'true', 'true', '{sum(f)}', '{0}', '{sum(f) / 10}', '{1}'),
    ('SELECT avg(i) FROM sample_dp', '{i}', NULL, 'true', 'true', '{avg(i)}', '{2}', '{avg(i) / 5}', '{1}'),
    ('SELECT avg(f) FROM sample_dp WHERE g = ''a''', '{f,g}', NULL, 'g = ''a''', 'true', '{avg(f)}', '{6}', '{avg(f) / 4}', '{1}'),
    ('SELECT g, count(*) FROM sample_dp GROUP BY g', '{g}', 'g', 'true', 'g IN (''a'', ''b'') OR g IS NULL', '{count(*)}', '{0}', '{count(*)}', '{1}'),
    ('SELECT g, sum(n) FROM sample_dp WHERE i <> 3 GROUP BY g', '{g,n,i}', 'g', 'i <> 3', 'g IN (''a'', ''b'') OR g IS NULL', '{sum(n)}', '{0}', '{sum(n) / 2.25}', '{1}'),
    ('SELECT g, avg(i) FROM sample_dp GROUP BY g', '{g,i}', 'g', 'true', 'g IN (''a'', ''b'') OR g IS NULL', '{avg(i)}', '{2}', '{avg(i) / 5}', '{1}'),
    ('SELECT b, avg(f), count(f), sum(f) FROM sample_dp GROUP BY b', '{b,f}', 'b', 'true', 'true', '{avg(f), count(f), sum(f)}', '{6,0,0}',
     '{avg(f) / 4, count(f), sum(f) / 10}', '{1,2,3}'),
    ('SELECT count(*), sum(i), avg(n) FROM sample_dp WHERE b IS NOT TRUE', '{i,n,b}', NULL, 'b IS NOT TRUE', 'true', '{count(*), sum(i), avg(n)}', '{0,0,0.375}',
     '{count(*), sum(i) / 7.0, avg(n) / 1.875}', '{1,2,3}'),
    ('SELECT g, sum(i) FILTER (WHERE b), count(*) FILTER (WHERE i > 0) FROM sample_dp GROUP BY g', '{g,i,b}', 'g', 'true', 'g IN (''a'', ''b'') OR g IS NULL',
     '{sum(i) FILTER (WHERE b), count(*) FILTER (WHERE i > 0)}', '{0,0}', '{sum(i) FILTER (WHERE b) / 7.0, count(*) FILTER (WHERE i > 0)}', '{1,2}'),
    -- Nobody declared h: the number of records of a group is a measure, too.
    ('SELECT h, count(*) FROM sample_dp GROUP BY h', '{h}', 'h', 'true', 'true', '{count(*)}', '{0}', '{count(*)}', '{1}'),
    ('SELECT h, sum(i) FROM sample_dp WHERE b GROUP BY h', '{h,i,b}', 'h', 'b', 'true', '{sum(i)}', '{0}', '{count(*), sum(i) / 7.0}', '{1,2}'),
    ('SELECT g, h, avg(f) FROM sample_dp GROUP BY g, h', '{g,h,f}', 'g, h', 'true', 'true', '{avg(f)}', '{6}', '{count(*), avg(f) / 4}', '{1,2}');

-- The distance that each row moves the answer: in l1 within a measure, l1 (laplace) or l2 (gaussian) across measures.
CREATE FUNCTION brute_force(asked asked, calibration text, gaussian boolean) RETURNS TABLE (record jsonb, individuals bigint, pis float8)
LANGUAGE plpgsql AS $$
DECLARE
    published boolean := calibration = 'published';
    numbers text[] := CASE WHEN published THEN asked.published ELSE asked.sound END;
    condition text := '(' || asked.condition || ')' || CASE WHEN published THEN '' ELSE ' AND (' || asked.domain || ')' END;
    key text := CASE WHEN asked.key IS NULL THEN '''all''' ELSE 'concat_ws(''/'', ' || regexp_replace(asked.key, '(\w+)', 'coalesce(\1::text, ''NULL'')', 'g') || ')' END;
    grouping_ text := CASE WHEN asked.key IS NULL THEN '' ELSE 'GROUP BY ' || asked.key END;
    columns text := (SELECT string_agg(c || ' AS c' || j, ', ' ORDER BY j) FROM unnest(numbers) WITH ORDINALITY u (c, j));
    distance text := (
        SELECT string_agg(format(CASE WHEN gaussian THEN '(%s)^2' ELSE '%s' END, parts), ' + ')
        FROM (SELECT string_agg(format('abs(coalesce(o.c%s, %s) - coalesce(w.c%s, %s))::float8', j, z, j, z), ' + ') AS parts
              FROM (SELECT j, CASE WHEN published THEN asked.published_absent[j]
                                WHEN numbers[j] LIKE 'avg%' THEN (SELECT z.z FROM (VALUES ('avg(i) / 5', 2 / 5.0), ('avg(f) / 4', 6 / 4.0), ('avg(n) / 1.875', 0.375 / 1.875)) z (n, z) WHERE z.n = numbers[j])
                                ELSE 0 END AS z,
                           CASE WHEN published THEN j ELSE asked.sound_measure[j] END AS measure FROM generate_subscripts(numbers, 1) j) n
              GROUP BY measure) m);
BEGIN
    RETURN QUERY EXECUTE format(
        'SELECT r.record, count(*), max(r.pis) FROM (
             SELECT CASE WHEN (SELECT bool_or(%1$s) FROM clamped x WHERE x.id = s.id) THEN
                        (SELECT coalesce(jsonb_object_agg(e.key, e.value), ''{}'') FROM jsonb_each(to_jsonb(s)) e WHERE e.key = ANY (%2$L)) END AS record,
                    (SELECT %3$s FROM (SELECT %4$s AS k, %5$s FROM clamped WHERE %6$s %7$s) o
                     FULL JOIN (SELECT %4$s AS k, %5$s FROM clamped WHERE %6$s AND id <> s.id %7$s) w USING (k)) AS pis
             FROM sample s) r
         GROUP BY r.record',
        asked.condition, asked.mentions, format(CASE WHEN gaussian THEN 'coalesce(sqrt(sum(%s)), 0)' ELSE 'coalesce(sum(%s), 0)' END, distance), key, columns, condition, grouping_);
END $$;

-- Rows that nobody else resembles, duplicates, NULLs, values beyond the bounds, NaN and infinities; at times one row only.
CREATE PROCEDURE fill(shape integer, rows integer) LANGUAGE sql AS $$
    DELETE FROM sample;
    INSERT INTO sample
    SELECT id, CASE WHEN random() < 0.8 THEN floor(random() * 16 - 5)::integer END, CASE WHEN random() < 0.8 THEN round((random() * 6 - 3)::numeric, 2) END,
           CASE WHEN random() < 0.7 THEN random() * 14 WHEN random() < 0.7 THEN ('{NaN,Infinity,-Infinity}'::float8[])[1 + floor(random() * 3)::integer] END,
           ('{a,a,b,c,NULL}'::text[])[1 + floor(random() * 5)::integer], ('{x,y,z,NULL}'::text[])[1 + floor(random() * 4)::integer],
           ('{t,f,NULL}'::boolean[])[1 + floor(random() * 3)::integer]
    FROM generate_series(1, rows) id;
    UPDATE sample SET (i, n, f, g, h, b) = (SELECT i, n, f, g, h, b FROM sample WHERE id = 1) WHERE shape = 1 AND id % 2 = 0; -- duplicates
    UPDATE sample SET i = NULL, n = NULL, f = NULL WHERE shape = 2;
    UPDATE sample SET i = 99, n = -99, f = 'Infinity' WHERE shape = 3;
    UPDATE sample SET g = 'c', h = id::text, b = NULL WHERE shape = 4;                                                       -- lone and undeclared
$$;

CREATE TABLE verdict (round integer, asked integer, calibration text, mechanism text, compared bigint, wrong bigint);
CREATE PROCEDURE compare(round integer) LANGUAGE sql AS $$
    INSERT INTO verdict
    SELECT round, a.id, c.calibration, m.mechanism, count(*),
           count(*) FILTER (WHERE e.individuals IS DISTINCT FROM r.individuals OR abs(e.pis - r.pis) > 1e-8 * (1 + e.pis) OR (e.pis > r.pis) IS NULL)
    FROM asked a, (VALUES ('published'), ('sound')) c (calibration), (VALUES ('laplace'), ('gaussian')) m (mechanism),
         LATERAL (SELECT coalesce(record, '"outside"') AS record, individuals, pis FROM brute_force(a, c.calibration, m.mechanism = 'gaussian')) e
         FULL JOIN LATERAL (SELECT coalesce(record, '"outside"') AS record, individuals, pis
                            FROM dp_risk_records(a.query, 1, m.mechanism, 1e-6, c.calibration)) r USING (record)
    GROUP BY a.id, c.calibration, m.mechanism
$$;

SELECT setseed(0.25);
DO $$
BEGIN
    FOR round IN 1..36 LOOP
        CALL fill(round % 6, 1 + round * 5 % 13);
        CALL compare(round);
    END LOOP;
END $$;
SELECT calibration, mechanism, count(DISTINCT round) AS tables, count(*) AS queries, sum(compared) AS comparisons, sum(wrong) AS mismatches
FROM verdict GROUP BY calibration, mechanism ORDER BY 1, 2;
SELECT a.query, v.calibration, v.mechanism, min(round) AS first_round, sum(wrong) AS wrong FROM verdict v JOIN asked a ON a.id = v.asked
WHERE wrong > 0 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;

-- The records are everybody: their number, and the extremes that dp_risk shows.
SELECT bool_and(individuals = (SELECT count(*) FROM sample)) AS everybody, bool_and(abs(rdr_max - k_max) < 1e-9 AND abs(rdr_min - k_min) < 1e-9) AS extremes
FROM (SELECT a.id, sum(r.individuals) AS individuals, max(r.rdr) AS rdr_max, min(r.rdr) AS rdr_min, max(k.rdr_max) AS k_max, max(k.rdr_min) AS k_min
      FROM asked a, LATERAL dp_risk_records(a.query, 1, 'laplace', 1e-6) r, LATERAL dp_risk(a.query, '{1}', 'laplace', 1e-6) k GROUP BY a.id) q;

-- No rows: no records.
DELETE FROM sample;
SELECT count(*) AS records FROM asked a, LATERAL dp_risk_records(a.query, 1, 'laplace', 1e-6) r;
SELECT attempt($$SELECT * FROM dp_risk('SELECT sum(i) FROM sample_dp')$$);

SELECT dp_unprotect('sample_dp');
DROP FUNCTION brute_force;
DROP PROCEDURE fill, compare;
DROP TABLE asked, verdict, sample CASCADE;
RESET ROLE;
