-- Bounds of moments with a time zone, and groups of moments by any clock.

LOAD 'dp_rdr';
SET client_min_messages = warning;
DROP ROLE IF EXISTS regress_watcher;
RESET client_min_messages;
CREATE ROLE regress_watcher;
\set VERBOSITY terse
\pset null '-'

SET ROLE regress_controller;
SET timezone = 'UTC';
CREATE DOMAIN instant AS timestamptz;
CREATE TABLE crossing (id integer, left_at timestamptz NOT NULL, back_at instant, day date, at timestamp);
INSERT INTO crossing SELECT i, timestamptz '2025-03-28 00:00 UTC' + i * interval '37 minutes', CASE WHEN i % 4 > 0 THEN timestamptz '2025-03-28 05:00 UTC' + i * interval '40 minutes' END
FROM generate_series(0, 99) i;
INSERT INTO crossing VALUES (100, 'infinity', '-infinity');
SELECT dp_protect('crossing', 'crossing_dp');

-- A text says its zone, and dates and timestamps have none.
SELECT text, attempt(format('SELECT dp_set_bounds(''crossing'', ''left_at'', %s)', text))
FROM unnest(ARRAY[$$'2025-01-01', '2026-01-01 UTC'$$, $$'2025-01-01 00:00 UTC', '2026-01-01'$$, $$date '2025-01-01', date '2026-01-01'$$,
                  $$timestamp '2025-01-01', timestamp '2026-01-01'$$, $$'today', 'tomorrow'$$, $$'2025-01-01 00:00 Nowhere/City', '2026-01-01 UTC'$$, $$'-infinity', '2026-01-01 UTC'$$,
                  $$'2025-03-02 00:00 UTC', '2025-03-01 00:00 UTC'$$, $$timestamptz '2025-01-01', NULL::timestamptz$$, '0, 1']) text;
SELECT attempt($$SELECT dp_set_bounds('crossing', 'day', timestamptz '2025-01-01', timestamptz '2026-01-01')$$), attempt($$SELECT dp_set_bounds('crossing', 'at', timestamptz '2025-01-01', timestamptz '2026-01-01')$$),
       attempt($$SELECT dp_set_bounds('crossing', 'id', timestamptz '2025-01-01', timestamptz '2026-01-01')$$);
SELECT dp_set_bounds('crossing', 'left_at', '2025-03-28 02:00+02', '2025-03-31 00:00 Europe/Paris'), dp_set_bounds('crossing', 'back_at', timestamptz '2025-03-28 00:00 UTC', timestamptz '2025-03-31 22:00:00.000001 UTC');
SELECT name, value, call FROM dp_settings('crossing') WHERE item = 'bounds';
SELECT call FROM dp_settings('crossing') WHERE item = 'bounds' \gexec
SET timezone = 'Asia/Tokyo';
SELECT name, value, call FROM dp_settings('crossing') WHERE item = 'bounds';
SET timezone = 'UTC';
SELECT dp_set_odometer('crossing', 'none', NULL, 0.99), dp_grant('crossing_dp', 'regress_watcher', tau => 0, epsilon_max => 100, candidates => '{100}');

SET ROLE regress_watcher;
SELECT name, value FROM dp_about('crossing_dp') WHERE item = 'column' AND name IN ('left_at', 'back_at');
-- The days are those of the clock that is read.
SELECT left_at::date AS day, count(*) FROM crossing_dp GROUP BY 1 ORDER BY 1;
SET timezone = 'Pacific/Auckland';
SELECT left_at::date AS day, count(*) FROM crossing_dp GROUP BY 1 ORDER BY 1;
SELECT to_char(left_at AT TIME ZONE 'Europe/Berlin', 'DD HH24') AS hour, count(*) FROM crossing_dp GROUP BY 1 HAVING count(*) > 1 ORDER BY 1 LIMIT 3;
SELECT count(*) AS hours FROM (SELECT date_trunc('hour', left_at AT TIME ZONE 'Europe/Berlin') AS hour, count(*) FROM crossing_dp GROUP BY 1) h;
SET timezone = 'UTC';
SELECT extract(isodow FROM back_at) AS weekday, count(*) FROM crossing_dp GROUP BY 1 ORDER BY 1;
SELECT date_bin('1 day', left_at, timestamptz '2025-01-01 06:00 UTC') AS shift, count(*) FROM crossing_dp GROUP BY 1 ORDER BY 1;
-- Differences of them have bounds, and fields; the least, the greatest and percentiles lie on a grid.
SELECT avg(back_at - left_at) BETWEEN '5 hours' AND '8 hours' AS mean, sum(extract(epoch FROM back_at - left_at)) IS NOT NULL AS seconds, count(DISTINCT extract(year FROM left_at)) AS years FROM crossing_dp
WHERE id < 50;
SELECT min(left_at) >= '2025-03-28 00:00 UTC' AS least, percentile_disc(0.5) WITHIN GROUP (ORDER BY left_at) BETWEEN '2025-03-28 12:00 UTC' AND '2025-03-30 UTC' AS middle, max(left_at) <= '2025-03-30 22:00 UTC' AS greatest FROM crossing_dp;
-- What changes at any moment, and two clocks in one key.
SELECT k, attempt(format('SELECT %s, count(*) FROM crossing_dp GROUP BY 1', k))
FROM unnest(ARRAY['left_at', 'extract(epoch FROM left_at)', $$left_at::date || ' ' || (left_at AT TIME ZONE 'Asia/Tokyo')::date$$, $$to_char(left_at, 'SS')$$]) k;
-- How far a list reaches: a point each quarter of an hour, and twice a day.
SET ROLE regress_controller;
SELECT dp_set_bounds('crossing', 'left_at', '2000-01-01 UTC', '2001-02-20 UTC');
SET ROLE regress_watcher;
SELECT count(*) AS hours FROM (SELECT date_trunc('hour', left_at), count(*) FROM crossing_dp GROUP BY 1) g;
SELECT count(*) AS hours FROM (SELECT extract(hour FROM left_at), count(*) FROM crossing_dp GROUP BY 1) g;
SELECT attempt('SELECT date_trunc(''minute'', left_at), count(*) FROM crossing_dp GROUP BY 1');
SET ROLE regress_controller;
SELECT dp_set_bounds('crossing', 'left_at', '2000-01-01 UTC', '2001-02-22 UTC');
SET ROLE regress_watcher;
SELECT attempt('SELECT to_char(left_at, ''HH24''), count(*) FROM crossing_dp GROUP BY 1');
SET ROLE regress_controller;
SELECT dp_set_bounds('crossing', 'left_at', '2000-01-01 UTC', '2027-05-18 UTC');
SET ROLE regress_watcher;
SELECT count(*) AS days FROM (SELECT left_at::date, count(*) FROM crossing_dp GROUP BY 1) g;
SELECT count(*) AS years FROM (SELECT date_trunc('year', left_at), count(*) FROM crossing_dp GROUP BY 1) g;
RESET ROLE;
SET client_min_messages = warning;
DROP TABLE crossing CASCADE;
DROP DOMAIN instant;
