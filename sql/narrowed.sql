-- Conditions above all joins narrow bounds and lists of groups (formulas.md, 8.12). Nothing here depends on a row.

LOAD 'dp_rdr';
SET client_min_messages = warning;
DROP ROLE IF EXISTS regress_narrower;
RESET client_min_messages;
CREATE ROLE regress_narrower;
\set VERBOSITY terse
\pset null '-'

SET ROLE regress_controller;
CREATE TABLE pallet (depot text, weight integer, price numeric, code char(3), sent date, arrived timestamp, left_at timestamp, held interval, floor integer NOT NULL, note text, id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY);
CREATE TABLE zone (floor integer PRIMARY KEY);
INSERT INTO pallet
SELECT (ARRAY['east', 'west', NULL])[1 + i % 3], i % 40, i % 7 + 0.5, 'ab', date '2026-01-01' + i % 300, timestamp '2026-01-02' + i * interval '3 hours',
       timestamp '2026-01-01' + i * interval '2 hours', i * interval '1 hour', i % 9 - 2, 'n'
FROM generate_series(1, 900) i;
INSERT INTO zone SELECT generate_series(-2, 6);
GRANT SELECT ON zone TO regress_narrower;
SELECT dp_protect('pallet', 'pallet_dp', unit => 'id', max_rows => 1);
SELECT dp_set_public('zone', 'pallet');
SELECT dp_set_groups('pallet', 'depot', '{east,west,north,NULL}'), dp_set_groups('pallet', 'price', '{1.00,2.5}'), dp_set_bounds('pallet', 'weight', 0, 39),
       dp_set_bounds('pallet', 'sent', date '2026-01-01', date '2026-12-31'), dp_set_bounds('pallet', 'left_at', timestamp '2026-01-01', timestamp '2026-12-31'),
       dp_set_odometer('pallet', 'none', NULL, 0.99);
SELECT dp_grant('pallet_dp', 'regress_narrower', tau => 0, epsilon_max => 100, candidates => '{100}');
CREATE FUNCTION groups_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    found text; detail text;
BEGIN
    EXECUTE format('SELECT string_agg(coalesce(k::text, ''-''), '' '' ORDER BY k) FROM (%s) q (k, n)', query) INTO found;
    RETURN found;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    RETURN SQLSTATE || ' ' || SQLERRM || ' | ' || detail;
END
$$;
GRANT EXECUTE ON FUNCTION groups_of TO PUBLIC;
SET ROLE regress_narrower;
\t on
-- Images: WHERE on a column of the key is tested for each combination.
SELECT groups_of('SELECT weight / 10, count(*) FROM pallet_dp WHERE weight BETWEEN 10 AND 29 GROUP BY 1');
SELECT groups_of('SELECT weight / 10, count(*) FROM pallet_dp WHERE weight < 20 GROUP BY 1');
SELECT groups_of('SELECT weight / 10, count(*) FROM pallet_dp WHERE weight < 10 OR weight IS NULL GROUP BY 1');
SELECT groups_of('SELECT weight / 10, count(*) FROM pallet_dp WHERE weight > 99 GROUP BY 1');
SELECT groups_of('SELECT extract(month FROM sent), count(*) FROM pallet_dp WHERE sent >= date ''2026-11-01'' GROUP BY 1');
-- Intervals that do not meet, also where a condition cannot be tested value by value.
SELECT groups_of('SELECT date_trunc(''month'', left_at), count(*) FROM pallet_dp WHERE left_at < date ''2025-06-01'' GROUP BY 1');
SELECT groups_of('SELECT weight % 7, count(*) FROM pallet_dp WHERE weight < -1 GROUP BY 1');
-- Half-open ends: no group of August.
SELECT groups_of('SELECT date_trunc(''month'', left_at)::date, count(*) FROM pallet_dp WHERE left_at >= date ''2026-06-01'' AND left_at < date ''2026-08-01'' GROUP BY 1');
SELECT groups_of('SELECT date_trunc(''month'', left_at)::date, count(*) FROM pallet_dp WHERE left_at::date BETWEEN date ''2026-06-30'' AND date ''2026-07-31'' GROUP BY 1');
-- Groups by name need no declaration; not by another collation, nor beside other values.
SELECT groups_of('SELECT floor, count(*) FROM pallet_dp WHERE floor IN (3, 1, 3) GROUP BY 1');
SELECT groups_of('SELECT floor, count(*) FROM pallet_dp WHERE floor = 2 OR floor = 1::bigint GROUP BY 1');
SELECT groups_of('SELECT depot, count(*) FROM pallet_dp WHERE depot IN (''west'', ''south'', NULL) GROUP BY 1');
SELECT groups_of('SELECT floor, count(*) FROM pallet_dp WHERE floor = 1 OR weight = 2 GROUP BY 1');
SELECT groups_of('SELECT note, count(*) FROM pallet_dp WHERE note = ''n'' GROUP BY 1');
SELECT groups_of('SELECT note, count(*) FROM pallet_dp WHERE note COLLATE "C" = ''n'' GROUP BY 1');
SELECT groups_of('SELECT floor, count(*) FROM pallet_dp WHERE floor = ANY (ARRAY[' || string_agg(i::text, ',') || ']) GROUP BY 1') FROM generate_series(1, 10001) i;
-- Equal values in another spelling: the condition looks into the value, so nothing is left out.
SELECT groups_of('SELECT price, count(*) FROM pallet_dp WHERE price::text = ''1.0'' GROUP BY 1');
SELECT groups_of('SELECT price, count(*) FROM pallet_dp WHERE price > 2 GROUP BY 1');
-- NULL where WHERE leaves it.
SELECT groups_of('SELECT upper(depot), count(*) FROM pallet_dp WHERE depot <> ''north'' GROUP BY 1');
SELECT groups_of('SELECT upper(depot), count(*) FROM pallet_dp WHERE depot <> ''north'' OR depot IS NULL GROUP BY 1');
-- ON of an outer join narrows nothing.
SELECT groups_of('SELECT p.weight / 10, count(*) FROM pallet_dp p LEFT JOIN zone z ON z.floor = p.floor AND p.weight < 10 GROUP BY 1');
SELECT groups_of('SELECT p.weight / 10, count(*) FROM pallet_dp p JOIN zone z ON z.floor = p.floor AND p.weight < 10 GROUP BY 1');
SELECT groups_of('SELECT id + 1, count(*) FROM pallet_dp GROUP BY 1');
SELECT groups_of('SELECT id::text, count(*) FROM pallet_dp GROUP BY 1');
-- Bounds: of undeclared columns and of expressions. Both ends of the sums are near the truth.
SELECT round(sum(floor)) = 0 FROM pallet_dp WHERE floor BETWEEN 0 AND 0;
SELECT avg(arrived - left_at) BETWEEN interval '14 days' AND interval '21 days' FROM pallet_dp WHERE arrived - left_at BETWEEN interval '0' AND interval '35 days';
SELECT sum(extract(epoch FROM age(arrived, left_at))) FROM pallet_dp WHERE age(arrived, left_at) BETWEEN interval '0' AND interval '1 month';
SELECT avg(floor) FROM pallet_dp WHERE floor > 1;
SELECT abs(avg(floor) - 2) < 0.5 FROM pallet_dp WHERE floor >= 0 AND floor < 5;
-- Clocks that no country has: lists and bounds of moments rest on clocks that are near those of UTC and turn seldom, by few hours.
SELECT groups_of(format('SELECT left_at AT TIME ZONE %L, count(*) FROM pallet_dp WHERE left_at < ''2026-01-03'' GROUP BY 1', zone))
FROM unnest('{FOO+100,FOO+9BAR-9,"FOO+5BAR,J10,J12","FOO+5BAR+4:50",Nowhere}'::text[]) zone;
SELECT zone, count(DISTINCT groups_of(format('SELECT date_trunc(''week'', left_at AT TIME ZONE %L), count(*) FROM pallet_dp GROUP BY 1', zone)))
FROM unnest('{EST,EST5EDT,Europe/Berlin,"CET-1CEST,M3.5.0,M10.5.0/3",<+05:30>-5:30,+14}'::text[]) zone GROUP BY 1 ORDER BY 1;
SET TimeZone = 100;
SELECT groups_of('SELECT left_at::timestamptz::date, count(*) FROM pallet_dp WHERE left_at < ''2026-01-03'' GROUP BY 1');
SELECT groups_of('SELECT left_at::date, count(*) FROM pallet_dp WHERE left_at < ''2026-01-03'' GROUP BY 1');
SET TimeZone = -5.5;
SELECT groups_of('SELECT left_at::timestamptz::date, count(*) FROM pallet_dp WHERE left_at < ''2026-01-03'' GROUP BY 1');
RESET TimeZone;
-- What dp_explain says of them.
SELECT reason FROM dp_explain('SELECT weight / 10, count(*), sum(weight) FROM pallet_dp WHERE weight BETWEEN 10 AND 29 GROUP BY 1');
SELECT reason FROM dp_explain('SELECT floor, avg(arrived - left_at) FROM pallet_dp WHERE floor IN (3, 1) AND arrived - left_at BETWEEN interval ''0'' AND interval ''35 days'' GROUP BY 1');
SELECT reason FROM dp_explain('SELECT depot, count(*) FROM pallet_dp WHERE depot > ''f'' GROUP BY 1');
SELECT reason FROM dp_explain('SELECT sum(weight) FROM pallet_dp WHERE floor > 3');
\t off
SET ROLE regress_controller;
SET client_min_messages = warning;
DROP TABLE pallet, zone CASCADE;
DROP FUNCTION groups_of;
RESET ROLE;
DROP ROLE regress_narrower;
