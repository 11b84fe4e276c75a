-- Averages, sums, extremes and percentiles of differences of timestamps: seconds are asked for, and an interval is shown.
LOAD 'dp_rdr';
SET client_min_messages = warning;
DROP ROLE IF EXISTS regress_durations;
RESET client_min_messages;
CREATE ROLE regress_durations;
\set VERBOSITY terse
\pset null '-'
SET intervalstyle = postgres;

-- ---------------------------------------------------------------------------------------------------------------------
-- Seconds as an interval: every number is one, behind the charge
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_durations;
SELECT v, dp_rdr.as_interval(v::numeric) FROM unnest(ARRAY['0', '-0', '1', '-1', '0.000001', '0.0000004', '0.0000005', '-0.0000004', '-0.0000005', '59.9999996', '86399.9999994', '86399.9999995', '-86399.9999995', '86400',
    '-86400', '274200', '-273000.5', '2629800', '31557600', '9223372036854.775807', '9223372036854.775808', '185542587100799.9999994', '185542587100800', '185542587100800.0000001', '-185542587100800', '-185542587100801',
    '9223372036854775807', '18446744073709551616', '1e100', '-1e100', '1e131071', '-1e131071', '1e-16383', 'Infinity', '-Infinity', 'NaN', NULL]) v;
SELECT dp_rdr.as_interval(('0.' || repeat('9', 16383))::numeric) AS one, dp_rdr.as_interval((repeat('9', 20) || '.' || repeat('9', 16000))::numeric) AS most;
-- What is shown is a value like any other: it can be read again, and taken apart.
SELECT v = v::text::interval AS read, extract(day FROM v) AS days, extract(epoch FROM v) AS seconds FROM dp_rdr.as_interval(-1e30) v;
-- Of a difference of two timestamps it is that difference, to the letter.
SELECT count(*) FILTER (WHERE dp_rdr.as_interval(extract(epoch FROM a - b))::text <> (a - b)::text) AS others, count(*) AS pairs
FROM (SELECT timestamp '2020-01-01 13:14:15.161718' + i * i % 7919 * interval '1 hour 1 second 1 microsecond' AS a, timestamp '2020-06-01' + i * 31 % 6007 * interval '54321.000321 seconds' - i % 3 * interval '80 years' AS b
      FROM generate_series(1, 5000) i) p;

-- ---------------------------------------------------------------------------------------------------------------------
-- Deliveries
-- ---------------------------------------------------------------------------------------------------------------------

RESET ROLE;
SET ROLE regress_controller;
CREATE TABLE haul (id integer, who integer, g text, started timestamp, ended timestamp, zone_started timestamptz, zone_ended timestamptz, day date, length interval, unbounded timestamp);
-- Ten hours and a multiple of a minute; one in eleven has not ended.
INSERT INTO haul SELECT i, i % 500, ('{a,b}'::text[])[1 + i % 2], s, s + d, s AT TIME ZONE 'UTC', (s + d) AT TIME ZONE 'UTC', s::date, d, s
FROM (SELECT i, timestamp '2024-01-01' + i % 400 * interval '1 hour 7 minutes' AS s, CASE WHEN i % 11 > 0 THEN interval '10 hours' + i % 7001 * 3 % 2400 * interval '1 minute' END AS d FROM generate_series(1, 20000) i) x;
SELECT dp_protect('haul', 'haul_dp');
SELECT dp_set_bounds('haul', c, timestamp '2024-01-01', timestamp '2024-01-31') FROM unnest('{started,ended,zone_started,zone_ended}'::text[]) c WHERE c NOT LIKE 'zone%';
SELECT dp_set_bounds('haul', 'day', date '2024-01-01', date '2024-01-31'), dp_set_groups('haul', 'g', '{a,b,empty}'), dp_set_odometer('haul', 'none', NULL, 0.5);
CREATE VIEW plain_haul AS SELECT * FROM haul;
GRANT SELECT ON plain_haul TO regress_durations;
SELECT dp_grant('haul_dp', 'regress_durations', tau => 0, epsilon_max => 100, candidates => '{100}');
SET ROLE regress_durations;

-- At epsilon 100 seconds of differences up to thirty days are off by less than a minute on average over 18,000 rows, and their sum by a day and a
-- half, but for one in 10^7 draws.
SELECT pg_typeof(mean), abs(extract(epoch FROM mean - truth)) < 60 AS near FROM (SELECT avg(ended - started) AS mean FROM haul_dp) x, (SELECT avg(ended - started) AS truth FROM plain_haul) y;
SELECT abs(extract(epoch FROM total - truth)) < 1e6 AS near, total > interval '500 days' AS days FROM (SELECT sum(ended - started) AS total FROM haul_dp) x, (SELECT sum(ended - started) AS truth FROM plain_haul) y;
SELECT g, abs(extract(epoch FROM mean - truth)) < 120 AS near FROM (SELECT g, avg(ended - started) AS mean FROM haul_dp GROUP BY g) x JOIN (SELECT g, avg(ended - started) AS truth FROM plain_haul GROUP BY g) y USING (g) ORDER BY g;
-- The very number that is shown in seconds, to a microsecond, and in days of 24 hours.
SELECT extract(epoch FROM mean) = round(seconds, 6) AS mean, extract(epoch FROM total) = round(sum, 6) AS sum, mean::text = dp_rdr.as_interval(seconds)::text AS printed, extract(month FROM total) = 0 AND extract(hour FROM total) < 24 AS days
FROM (SELECT avg(ended - started) AS mean, avg(extract(epoch FROM ended - started)) AS seconds, sum(ended - started) AS total, sum(extract(epoch FROM ended - started)) AS sum FROM haul_dp) x;
-- Ends of intervals are such numbers as well.
SELECT low < mean AND mean < high AS around, pg_typeof(low), extract(epoch FROM low) = round(low_s, 6) AS low, extract(epoch FROM high) = round(high_s, 6) AS high
FROM (SELECT avg(ended - started) AS mean, dp_low(avg(ended - started)) AS low, dp_high(avg(ended - started)) AS high, dp_low(avg(extract(epoch FROM ended - started))) AS low_s, dp_high(avg(extract(epoch FROM ended - started))) AS high_s FROM haul_dp) x;
SELECT total - low > interval '1 hour' AS below, high - total > interval '1 hour' AS above FROM (SELECT sum(ended - started) AS total, dp_low(sum(ended - started)) AS low, dp_high(sum(ended - started)) AS high FROM haul_dp) x;

-- Expressions of such intervals, beside the seconds that they are.
CREATE TEMP TABLE said (no integer GENERATED ALWAYS AS IDENTITY, aggregate text, seconds text);
INSERT INTO said (aggregate, seconds) VALUES
    ('avg(least(ended - started, interval ''2 days''))', 'avg(least(extract(epoch FROM ended - started), extract(epoch FROM interval ''2 days'')))'),
    ('avg(greatest(least(ended - started, interval ''2 days''), interval ''0''))', 'avg(greatest(least(extract(epoch FROM ended - started), extract(epoch FROM interval ''2 days'')), extract(epoch FROM interval ''0'')))'),
    ('avg(coalesce(ended - started, interval ''1 hour''))', 'avg(coalesce(extract(epoch FROM ended - started), extract(epoch FROM interval ''1 hour'')))'),
    ('avg(nullif(ended - started, interval ''10 hours''))', 'avg(nullif(extract(epoch FROM ended - started), extract(epoch FROM interval ''10 hours'')))'),
    ('avg(CASE WHEN g = ''a'' THEN ended - started END)', 'avg(CASE WHEN g = ''a'' THEN extract(epoch FROM ended - started) END)'),
    ('avg(CASE g WHEN ''a'' THEN ended - started ELSE interval ''36 hours'' END)', 'avg(CASE g WHEN ''a'' THEN extract(epoch FROM ended - started) ELSE extract(epoch FROM interval ''36 hours'') END)'),
    ('sum(ended - started) FILTER (WHERE g = ''a'')', 'sum(extract(epoch FROM ended - started)) FILTER (WHERE g = ''a'')'),
    ('avg(ended - started - interval ''10 hours'')', 'avg(extract(epoch FROM ended - started) - extract(epoch FROM interval ''10 hours''))'),
    ('avg((ended - started) + (ended - timestamp ''2024-01-01''))', 'avg(extract(epoch FROM ended - started) + extract(epoch FROM ended - timestamp ''2024-01-01''))'),
    ('avg(-(ended - started))', 'avg(-extract(epoch FROM ended - started))'),
    ('avg(ended - day)', 'avg(extract(epoch FROM ended - day))'),
    ('avg(greatest(least(zone_ended - zone_started, interval ''2 days''), interval ''0''))', 'avg(greatest(least(extract(epoch FROM zone_ended - zone_started), extract(epoch FROM interval ''2 days'')), extract(epoch FROM interval ''0'')))'),
    ('avg(greatest(least(ended - unbounded, interval ''2 days''), interval ''0''))', 'avg(greatest(least(extract(epoch FROM ended - unbounded), extract(epoch FROM interval ''2 days'')), extract(epoch FROM interval ''0'')))');
CREATE FUNCTION pg_temp.same(aggregate text, seconds text, tolerance float8) RETURNS text LANGUAGE plpgsql AS $$
DECLARE said interval; number numeric; truth interval;
BEGIN
    EXECUTE format('SELECT %s, %s FROM haul_dp', aggregate, seconds) INTO said, number;
    EXECUTE format('SELECT %s FROM plain_haul', aggregate) INTO truth;
    RETURN concat_ws(', ', CASE WHEN extract(epoch FROM said) = round(number, 6) THEN 'same' ELSE format('%s is not %s', said, number) END,
                     CASE WHEN abs(extract(epoch FROM said - truth)) <= tolerance THEN 'near' ELSE format('%s is far from %s', said, truth) END);
END $$;
SELECT no, aggregate, pg_temp.same(aggregate, seconds, CASE WHEN aggregate LIKE 'sum%' THEN 1e6 ELSE 120 END) FROM said ORDER BY no;

-- Extremes and percentiles, of the cells of a grid: of thirty days to both sides 42 minutes each, of 0 to 60 hours four.
SELECT pg_typeof(min(ended - started)), min(ended - started) BETWEEN interval '8 hours' AND interval '13 hours' AS min, max(ended - started) BETWEEN interval '47 hours' AND interval '52 hours' AS max FROM haul_dp;
SELECT x.disc - y.disc BETWEEN interval '-1 hour' AND interval '1 hour' AS disc, x.cont - y.cont BETWEEN interval '-1 hour' AND interval '1 hour' AS cont, x.down - y.down BETWEEN interval '-1 hour' AND interval '1 hour' AS down, pg_typeof(x.disc), pg_typeof(x.cont)
FROM (SELECT percentile_disc(0.9) WITHIN GROUP (ORDER BY ended - started) AS disc, percentile_cont(0.5) WITHIN GROUP (ORDER BY ended - started) AS cont, percentile_disc(0.9) WITHIN GROUP (ORDER BY ended - started DESC) AS down FROM haul_dp) x,
     (SELECT percentile_disc(0.9) WITHIN GROUP (ORDER BY ended - started) AS disc, percentile_cont(0.5) WITHIN GROUP (ORDER BY ended - started) AS cont, percentile_disc(0.9) WITHIN GROUP (ORDER BY ended - started DESC) AS down FROM plain_haul) y;
SELECT bool_and(x - y BETWEEN interval '-10 minutes' AND interval '10 minutes') AS near, pg_typeof(min(d)) FROM
    (SELECT percentile_cont(ARRAY[0.25, NULL, 0.75]) WITHIN GROUP (ORDER BY greatest(least(ended - started, interval '60 hours'), interval '0')) AS d FROM haul_dp WHERE ended IS NOT NULL) a,
    (SELECT percentile_cont(ARRAY[0.25, NULL, 0.75]) WITHIN GROUP (ORDER BY ended - started) AS e FROM plain_haul) b, unnest(d, e) AS u(x, y);

-- Through sub-SELECTs, in HAVING, ORDER BY and what the statement computes; grouping sets; one row for each person.
SELECT abs(extract(epoch FROM mean - truth)) < 60 AS near FROM (SELECT avg(d) AS mean FROM (SELECT ended - started AS d FROM haul_dp) x) y, (SELECT avg(ended - started) AS truth FROM plain_haul) z;
SELECT g FROM haul_dp GROUP BY g HAVING avg(ended - started) > interval '29 hours' AND g <> 'empty' ORDER BY avg(ended - started) * 0, g;
SELECT x.g, abs(extract(epoch FROM mean - truth)) < 120 AS near FROM (SELECT g, avg(ended - started) AS mean FROM haul_dp GROUP BY ROLLUP (g)) x JOIN (SELECT g, avg(ended - started) AS truth FROM plain_haul GROUP BY ROLLUP (g)) y ON x.g IS NOT DISTINCT FROM y.g ORDER BY 1;
SELECT (SELECT avg(ended - started) > interval '1 day') AS longer, trunc(extract(epoch FROM avg(ended - started)) / 3600) AS hours FROM haul_dp;
PREPARE of_group(text) AS SELECT avg(ended - started) FILTER (WHERE g = $1) > interval '29 hours' AS longer FROM haul_dp;
EXECUTE of_group('a');
SELECT m > interval '29 hours' AS longer FROM dp_query('SELECT avg(ended - started) FROM haul_dp') AS (m interval);
RESET ROLE;
SET ROLE regress_controller;
CREATE TABLE haul_leg (who integer, started timestamp, ended timestamp);
INSERT INTO haul_leg SELECT who, started, ended FROM haul WHERE id <= 5000;
SELECT dp_protect('haul_leg', 'haul_leg_dp', unit => 'who', max_rows => 10);
SELECT dp_set_bounds('haul_leg', c, timestamp '2024-01-01', timestamp '2024-01-31') FROM unnest('{started,ended}'::text[]) c;
SELECT dp_set_odometer('haul_leg', 'none', NULL, 0);
SELECT dp_grant('haul_leg_dp', 'regress_durations', tau => 0, epsilon_max => 100, candidates => '{100}');
GRANT SELECT ON haul_leg TO regress_durations;
SET ROLE regress_durations;
SELECT abs(extract(epoch FROM x.mean - y.mean)) < 6000 AS near, pg_typeof(x.mean) FROM (SELECT avg(span) AS mean FROM (SELECT who, max(ended) - min(started) AS span FROM haul_leg_dp GROUP BY who) t) x,
    (SELECT avg(span) AS mean FROM (SELECT who, max(ended) - min(started) AS span FROM haul_leg GROUP BY who) t) y;
-- What is named often above is as long as often: told before it is looked into.
DO $$
BEGIN
    EXECUTE format('SELECT avg(coalesce(%s)) FROM (SELECT who, coalesce(%s) AS d FROM haul_leg_dp GROUP BY who) t', (SELECT string_agg('d', ',') FROM generate_series(1, 500)),
                   (SELECT string_agg('max(ended)-min(started)', ',') FROM generate_series(1, 500)));
EXCEPTION WHEN statement_too_complex THEN
    RAISE WARNING '%', sqlerrm;
END $$;

-- ---------------------------------------------------------------------------------------------------------------------
-- What may have months is refused, as what has no bounds; and what dp_explain, the ledger and EXPLAIN say
-- ---------------------------------------------------------------------------------------------------------------------

\set VERBOSITY default
CREATE TEMP TABLE refused (no integer GENERATED ALWAYS AS IDENTITY, query text);
INSERT INTO refused (query) VALUES
    ('SELECT avg(length) FROM haul_dp'), ('SELECT sum(length) FROM haul_dp'), ('SELECT min(length) FROM haul_dp'), ('SELECT max(length) FROM haul_dp'),
    ('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY length) FROM haul_dp'), ('SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY length) FROM haul_dp'),
    ('SELECT percentile_cont(ARRAY[0.5, 0.6]) WITHIN GROUP (ORDER BY length) FROM haul_dp'),
    ('SELECT avg(age(ended, started)) FROM haul_dp'), ('SELECT avg((ended - started) * 2) FROM haul_dp'), ('SELECT avg(coalesce(ended - started, length)) FROM haul_dp'),
    ('SELECT avg(least(ended - started, interval ''1 month'')) FROM haul_dp'), ('SELECT avg(coalesce(ended - started, interval ''1 year'')) FROM haul_dp'),
    ('SELECT avg(nullif(ended - started, interval ''1 month'')) FROM haul_dp'), ('SELECT avg(CASE WHEN g = ''a'' THEN ended - started ELSE length END) FROM haul_dp'),
    ('SELECT avg(ended - started + interval ''1 month'') FROM haul_dp'), ('SELECT avg(justify_days(ended - started)) FROM haul_dp'),
    ('SELECT avg(DISTINCT ended - started) FROM haul_dp'), ('SELECT avg(ended - started ORDER BY id) FROM haul_dp'),
    ('SELECT avg(ended - unbounded) FROM haul_dp'), ('SELECT avg(zone_ended - zone_started) FROM haul_dp'), ('SELECT avg(ended - (SELECT started)) FROM haul_dp'),
    ('SELECT dp_low(avg(length)) FROM haul_dp'), ('SELECT dp_low(min(ended - started)) FROM haul_dp'), ('SELECT dp_low(avg(ended - started) * 2) FROM haul_dp'),
    ('SELECT avg(total) FROM (SELECT who, sum(ended - started) AS total FROM haul_leg_dp GROUP BY who) t'),
    ('SELECT avg(ended - started) FROM haul_dp'), ('SELECT g, avg(ended - started) AS mean, dp_low(sum(ended - started)) AS low FROM haul_dp GROUP BY g');
SELECT r.no, e.column_name, e.error95 IS NOT NULL AS accurate, e.reason FROM refused r, dp_explain(r.query) e ORDER BY r.no, e.column_name;
SELECT avg(length) FROM haul_dp;
SELECT max(age(ended, started)) FROM haul_dp;
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY length) FROM haul_dp;
SELECT dp_low(max(ended - started)) FROM haul_dp;
PREPARE since(interval) AS SELECT avg(coalesce(ended - started, $1)) FROM haul_dp;
EXECUTE since('1 hour');
EXPLAIN (VERBOSE, COSTS OFF) SELECT avg(ended - started) AS mean, percentile_cont(0.5) WITHIN GROUP (ORDER BY ended - started) AS median FROM haul_dp HAVING dp_low(avg(ended - started)) > interval '1 hour';
-- A request is for what is kept: seconds.
SELECT dp_request('SELECT avg(ended - started) FROM haul_dp', 'how long');
-- Accuracy is one of seconds.
SELECT column_name, error95 > 1 AS seconds FROM dp_explain('SELECT sum(ended - started) AS total FROM haul_dp');
SELECT * FROM dp_query('SELECT sum(ended - started) AS total FROM haul_dp', error95 => 1e9) AS (total interval) WHERE total IS NULL;
SELECT column_name, epsilon IS NOT NULL AS charged FROM dp_last_release() ORDER BY 1;
