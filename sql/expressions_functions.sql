-- Functions of dates, texts and documents on columns: what they give is what PostgreSQL gives, they bound sums, and they make groups
-- without a delta. That none can fail is shown by total.sql, which has them from the table of total functions.

LOAD 'dp_rdr';
SET client_min_messages = warning;
DROP ROLE IF EXISTS regress_functions;
RESET client_min_messages;
CREATE ROLE regress_functions;
\set VERBOSITY terse
\pset null '-'

SET ROLE regress_controller;
CREATE TABLE trip (id integer NOT NULL, born date, began timestamp, ended timestamp, at timestamptz, code varchar(12), note text, doc jsonb, lasted interval);
INSERT INTO trip
SELECT i, date '1950-03-01' + i * 97, timestamp '2025-01-01 06:00' + i * interval '7 hours 11 minutes', timestamp '2025-01-01 06:00' + i * interval '7 hours 50 minutes',
       timestamptz '2025-06-01 12:00+00' + i * interval '1 day', (ARRAY['AB', 'C', NULL])[1 + i % 3] || '-' || i % 10 || '-x', 'note ' || i,
       jsonb_build_object('age', i % 90, 'zip', lpad((i * 37 % 100)::text, 5, '0'), 'tags', jsonb_build_array('a', i, NULL), 'vip', i % 4 = 0), i * interval '1 hour'
FROM generate_series(1, 240) i;
INSERT INTO trip VALUES
    (241, 'infinity', '-infinity', 'infinity', 'infinity', '', NULL, '[1, 2]', NULL),
    (242, '-infinity', '4714-11-24 BC', '294276-12-31', '-infinity', '------------', repeat('-', 2000000), '{"age": 1e131071, "zip": [1], "tags": {}, "vip": null}', '2147483647 months'),
    (243, '0044-03-15 BC', NULL, '0044-03-15 BC', NULL, NULL, '', jsonb_build_object('age', repeat('9', 3000000)), '-1 hour');
ALTER TABLE trip ADD clock time;
UPDATE trip SET clock = began::time WHERE isfinite(began);
CREATE TABLE trip_copy AS SELECT * FROM trip;
GRANT SELECT ON trip_copy TO regress_functions;
SELECT dp_protect('trip', 'trip_dp');
SELECT dp_set_bounds('trip', 'born', '1950-01-01', '2013-12-31'), dp_set_bounds('trip', 'began', '2025-01-01', '2025-03-31 23:59:59'),
       dp_set_bounds('trip', 'ended', '2025-01-01', '2025-03-31 23:59:59'), dp_set_groups('trip', 'code', '{AB-1-x,C-2-x,C-9-x}'), dp_set_odometer('trip', 'none', NULL);
SELECT dp_grant('trip_dp', 'regress_functions', tau => 0, epsilon_max => 100, candidates => '{100}');

-- ---------------------------------------------------------------------------------------------------------------------
-- Sums: bounds that follow, and answers within noise of what plain SQL sums up, clamped
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE summed (n integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, e text);
COPY summed (e) FROM stdin;
extract(year FROM age(timestamp '2025-01-01', born::timestamp))
extract(month FROM age(timestamp '2025-01-01', born::timestamp))
extract(day FROM age(ended, began))
extract(epoch FROM age(ended, began))
extract(epoch FROM ended - began) / 3600
extract(day FROM ended - began)
extract(hour FROM ended - began)
extract(minute FROM ended - began)
extract(quarter FROM lasted)
date_part('minute', lasted)
extract(decade FROM age(timestamp '2025-01-01', born::timestamp))
least(greatest(extract(hour FROM lasted), 0), 500)
least(greatest(extract(year FROM age(born)), 0), 60)
extract(hour FROM date_bin('6 hours', began, timestamp '2025-01-01'))
strpos(code, '-')
position('-x' IN code)
least(greatest(split_part(code, '-', 2)::integer, 0), 9)
least(greatest(split_part(note, ' ', -1)::integer, 0), 300)
least(greatest((doc ->> 'age')::integer, 0), 100)
least(greatest((doc -> 'tags' ->> 1)::integer, 0), 300)
CASE WHEN doc ? 'vip' AND (doc ->> 'vip')::boolean THEN 1 ELSE 0 END
to_char(began, 'Q')::integer * 0 + least(greatest(to_char(began, 'DDD')::integer, 1), 366)
\.
GRANT SELECT ON summed TO regress_functions;
CREATE FUNCTION value_of(e text, row_id integer) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
    value float8;
BEGIN
    EXECUTE format('SELECT (%s)::float8 FROM trip WHERE id = $1', e) INTO value USING row_id;
    RETURN nullif(value, 'NaN');
EXCEPTION WHEN OTHERS THEN
    RETURN NULL;
END $$;
-- Rows that PostgreSQL has a value for and the extension none are of the three at the end: their documents and dates are far out.
SET ROLE regress_functions;
CREATE FUNCTION pg_temp.answer(e text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
    value float8;
BEGIN
    EXECUTE format('SELECT (sum(%s))::float8 FROM trip_dp WHERE id <= 240', e) INTO value;
    RETURN value;
EXCEPTION WHEN OTHERS THEN
    RAISE NOTICE '% %: %', sqlstate, sqlerrm, e;
    RETURN NULL;
END $$;
CREATE TEMP TABLE answered AS SELECT n, e, pg_temp.answer(e) AS value FROM summed ORDER BY n;
GRANT SELECT ON answered TO regress_controller;
SET ROLE regress_controller;
CREATE TEMP TABLE bounds AS
SELECT row_number() OVER (ORDER BY id) AS n, (m ->> 'lower')::float8 AS lower, (m ->> 'upper')::float8 AS upper
FROM (SELECT id, parameters::jsonb -> 'measures' -> 0 AS m FROM dp_rdr.ledger WHERE relation = 'public.trip') l;
RESET ROLE;
SELECT s.e, b.lower, b.upper,
       abs(s.value - (SELECT sum(greatest(b.lower, least(b.upper, v))) FROM trip t, value_of(s.e, t.id) v WHERE id <= 240 AND v IS NOT NULL)) < 0.4 * greatest(abs(b.lower), abs(b.upper)) AS near,
       (SELECT bool_and(value_of(s.e, t.id) IS NULL OR value_of(s.e, t.id) BETWEEN b.lower AND b.upper) FROM trip t WHERE id <= 100) AS within
FROM answered s JOIN bounds b USING (n) ORDER BY n;
SET ROLE regress_functions;
SELECT e, attempt(format('SELECT sum(%s) FROM trip_dp', e)) FROM unnest(ARRAY['extract(hour FROM lasted)', 'extract(year FROM age(at))', 'length(doc ->> ''zip'')', 'strpos(note, ''x'')',
    'extract(epoch FROM age(now(), at))', 'extract(day FROM lasted)', '(doc ->> ''age'')::integer', 'doc -> ''age''', 'age(began)']) e;

-- ---------------------------------------------------------------------------------------------------------------------
-- Groups
-- ---------------------------------------------------------------------------------------------------------------------

CREATE FUNCTION pg_temp.groups(key text) RETURNS TABLE (groups bigint, first text, last text, rows bigint) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format('SELECT count(*), min(k COLLATE "C"), max(k COLLATE "C"), sum(n)::bigint FROM (SELECT (%s)::text AS k, count(*) AS n FROM trip_dp WHERE id <= 200 GROUP BY %1$s) g', key);
EXCEPTION WHEN OTHERS THEN
    RETURN QUERY SELECT NULL::bigint, sqlstate::text, sqlerrm::text, NULL::bigint;
END $$;
-- The rows that a list has no place for are in no group.
SELECT key, g.* FROM unnest(ARRAY['date_bin(''7 days'', began, timestamp ''2001-01-01'')', 'date_bin(''1 day 12 hours'', ended, timestamp ''2030-01-01'')', 'date_bin(''1 second'', began, timestamp ''2001-01-01'')',
    'to_char(born, ''YYYY-"Q"Q'')', 'to_char(born, ''FMMonth'')', 'to_char(began, ''YYYY-MM'')', 'extract(month FROM age(ended, began))', 'extract(year FROM age(timestamp ''2025-01-01'', began))',
    'extract(day FROM ended - timestamp ''2025-01-01'')', 'split_part(code, ''-'', 1)', 'strpos(code, ''-'')', 'extract(quarter FROM lasted)', 'doc ->> ''zip''', '(doc ->> ''vip'')::boolean', 'doc ? ''age''',
    'jsonb_typeof(doc)', 'concat(code, ''x'')', 'concat_ws(''/'', split_part(code, ''-'', 1), nullif(split_part(code, ''-'', 2), ''1''))', 'date_trunc(''month'', began)::date', 'to_char(date_trunc(''month'', began), ''YYYY-MM'')', 'to_char(began::date, ''YYYY-MM'')', 'extract(year FROM date_trunc(''week'', began))',
    'CASE WHEN strpos(code, ''C'') = 1 THEN date_bin(''7 days'', began, timestamp ''2001-01-01'')::date ELSE date_trunc(''year'', began)::date END', 'date_trunc(''month'', began) = date_trunc(''month'', ended)',
    'date_trunc(''month'', ended) - date_trunc(''month'', began) > interval ''0''', 'extract(day FROM date_trunc(''day'', ended) - date_trunc(''day'', began))']) key, pg_temp.groups(key) g;

-- ---------------------------------------------------------------------------------------------------------------------
-- Constants that are refused, and what to write instead
-- ---------------------------------------------------------------------------------------------------------------------

\set VERBOSITY default
SELECT count(*) FROM trip_dp WHERE to_char(began, 'TMMonth') = 'May';
SELECT count(*) FROM trip_dp WHERE date_bin('1 month', began, '2025-01-01') = began;
SELECT count(*) FROM trip_dp WHERE split_part(code, '-', 0) = 'AB';
SELECT count(*) FROM trip_dp WHERE extract(week FROM lasted) = 1;
SELECT count(*) FROM trip_dp WHERE position(code IN note) = 1;
SELECT count(*) FROM trip_dp WHERE concat(code, id > 3) = 'a';
SELECT count(*) FROM trip_dp WHERE concat(code::char(9), 'x') = 'a';
SELECT count(*) FROM trip_dp WHERE concat_ws('-', VARIADIC ARRAY[code, 'x']) = 'a';
SELECT count(*) FROM trip_dp WHERE doc #>> '{tags,0}' = 'a';
SELECT corr(length(code), id) FROM trip_dp;
\set VERBOSITY terse
SELECT count(*) FROM trip_dp WHERE width_bucket(id, ARRAY[10, NULL]) = 1;
SELECT count(*) FROM trip_dp WHERE width_bucket(id, ARRAY[10, id]) = 1;
SELECT count(*) FROM trip_dp WHERE width_bucket(code, ARRAY['a']) = 1;
SELECT count(*) FROM trip_dp WHERE date_trunc('day', at, 'nowhere') > now();
SELECT count(*) FROM trip_dp WHERE extract(timezone FROM clock) = 1;
-- Remainders, fields of times, midnights of a zone, places among ends; LIMIT and OFFSET that cut nothing.
SELECT condition, round(n, -1) = round(m, -1) OR abs(n - m) < 5 AS same FROM (VALUES ('mod(id, 7) = 3'), ('mod(id::numeric, 7) = 3'), ('extract(hour FROM clock) = 11'), ('date_part(''minute'', clock) > 30'),
    ('date_trunc(''day'', at, ''Asia/Tokyo'') > ''2025-08-01 00:00+09'''), ('width_bucket(id, ARRAY[60, 120, 180]) = 2'), ('width_bucket(born, ''{1990-01-01}''::date[]) = 0')) v (condition),
    LATERAL (SELECT * FROM dp_query('SELECT count(*) FROM (SELECT * FROM trip_dp LIMIT ALL OFFSET 0) t WHERE ' || condition) AS (n bigint)) a,
    LATERAL (SELECT (xpath('/row/m/text()', query_to_xml('SELECT count(*) AS m FROM trip_copy WHERE ' || condition, true, true, '')))[1]::text::bigint AS m) b;
SELECT count(*) FROM (SELECT * FROM trip_dp OFFSET 1) t;
-- Names of months are English, whatever lc_time is.
SET lc_time = 'C';
SELECT to_char(born, 'Month') AS month, count(*) > 0 AS shown FROM trip_dp WHERE to_char(born, 'Month') LIKE 'Ma%' GROUP BY 1 ORDER BY 1;
RESET lc_time;
SELECT k FROM (SELECT to_char(born, 'FMMonth') AS k, count(*) AS n FROM trip_dp WHERE extract(month FROM born) = 3 GROUP BY 1) g WHERE n > 5;
RESET ROLE;
SET client_min_messages = warning;
DROP TABLE trip_copy;
DROP TABLE trip, summed CASCADE;
DROP FUNCTION value_of;
