-- Groups of key expressions that follow from the expression and from what is declared of its columns: no delta is needed, every group
-- is shown, and each row is in the group that plain SQL puts it in, or in none.

LOAD 'dp_rdr';
SET client_min_messages = warning;
DROP ROLE IF EXISTS regress_deriver, regress_discoverer;
RESET client_min_messages;
CREATE ROLE regress_deriver;
CREATE ROLE regress_discoverer;
\set VERBOSITY terse
\pset null '-'

SET ROLE regress_controller;
CREATE TYPE grade AS ENUM ('low', 'fair', 'high');
CREATE TABLE lodging (
    id integer NOT NULL, ward text, floor smallint NOT NULL, cost numeric(8, 2), weight float8, smoker boolean, sure boolean NOT NULL, grade grade,
    born date NOT NULL, came timestamp, came_at timestamptz, code char(3), note text, wide integer);
INSERT INTO lodging
SELECT i, (ARRAY['icu', 'Surgery', 'gp', NULL, 'unheard of'])[1 + i % 5], i % 9 - 2, i * 2 % 1000 + 0.5, i * 1.5, CASE i % 3 WHEN 0 THEN NULL ELSE i % 3 = 1 END,
       i % 7 = 0, (ARRAY['low', 'fair', 'high', NULL])[1 + i % 4]::grade, date '1950-01-01' + i * 51, timestamp '2025-01-01' + i * interval '15 hours',
       timestamptz '2025-03-20 12:00+00' + i * interval '33 hours', (ARRAY['a', 'bb', 'ccc'])[1 + i % 3], 'note ' || i % 4, i * 3000
FROM generate_series(1, 500) i;
INSERT INTO lodging (id, ward, floor, cost, weight, sure, born, came, came_at, note) VALUES
    (501, repeat('w', 2000), 30000, 'NaN', 'NaN', true, 'infinity', 'infinity', 'infinity', repeat('n', 3000000)),
    (502, '', -30000, 1e5, '-Infinity', false, '-infinity', '-infinity', '-infinity', ''), (503, 'ICU', 0, NULL, 'Infinity', true, '4713-11-24 BC', '0001-01-01 BC', '1000-01-01 BC', NULL);
SELECT dp_protect('lodging', 'lodging_dp');
SELECT dp_set_bounds('lodging', 'floor', -2, 6), dp_set_bounds('lodging', 'cost', 0, 1000), dp_set_bounds('lodging', 'wide', 0, 5000000),
       dp_set_bounds('lodging', 'born', date '1950-01-01', date '2019-12-31'), dp_set_bounds('lodging', 'came', timestamp '2025-01-01', timestamp '2025-11-09 12:00'),
       dp_set_groups('lodging', 'ward', '{icu,Surgery,gp}'), dp_set_groups('lodging', 'code', '{a,bb,ccc,d}'), dp_set_odometer('lodging', 'none', NULL, 0.99);
SELECT dp_grant('lodging_dp', 'regress_deriver', tau => 0, epsilon_max => 100, candidates => '{100}'),
       dp_grant('lodging_dp', 'regress_discoverer', tau => 0, epsilon_max => 100, candidates => '{100}', delta => 1e-6);

CREATE TABLE key (n integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, k text, how text);
COPY key (how, k) FROM stdin (DELIMITER ';');
form;cost > 500
form;sure
form;NOT sure
form;sure AND floor > 2
form;smoker IS TRUE
form;ward LIKE '%u%'
form;floor IN (1, 2)
form;note IS NULL
form;CASE WHEN cost < 100 THEN 'cheap' WHEN cost < 500 THEN 'fair' ELSE 'dear' END
form;CASE WHEN cost < 100 THEN 'cheap' WHEN cost < 500 THEN 'fair' WHEN cost < 700 THEN 'cheap' END
form;CASE floor WHEN 1 THEN 1.50 WHEN 2 THEN 1.5 ELSE 3 END
form;CASE WHEN sure THEN width_bucket(cost, 0, 1000, 2) ELSE -1 END
form;coalesce(CASE WHEN sure THEN 'sure' END, 'not sure')
form;width_bucket(cost, 0, 1000, 5)
form;width_bucket(weight, 0, 750, 3)
form;extract(dow FROM born)
form;extract(month FROM came)
form;extract(quarter FROM born)
form;extract(hour FROM came_at)
form;date_part('isodow', came)
image;upper(ward)
image;left(ward, 1)
image;coalesce(ward, 'nowhere')
image;ward || '?'
image;floor / 2
image;floor * floor
image;abs(floor)
image;floor % 3
image;floor + 0.5
image;(floor)::text
image;greatest(floor, 0)
image;grade::text
image;CASE WHEN smoker THEN ward ELSE 'does not smoke' END
image;extract(year FROM born)
image;date_trunc('year', born)
image;trim(code)
image;nullif(ward, 'gp')
range;date_trunc('month', came)
range;date_trunc('week', came)
range;date_trunc('quarter', came)
range;came::date
range;extract(year FROM came)
range;wide / 1000000
range;floor(cost / 100)
range;round(cost, -2)
\.
GRANT SELECT ON key TO regress_deriver, regress_discoverer;

-- What plain SQL has, row by row: NULL where it raises an error. Numbers are compared without trailing zeros.
CREATE FUNCTION key_of(k text, row_id integer) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    value text;
BEGIN
    EXECUTE format('SELECT (%s)::text FROM lodging WHERE id = $1', k) INTO value USING row_id;
    RETURN value;
EXCEPTION WHEN OTHERS THEN
    RETURN NULL;
END $$;
CREATE FUNCTION same(k text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT regexp_replace(k, '^(-?\d+)(\.0+|(\.\d*[1-9])0+)$', '\1\3') $$;
CREATE TABLE plain AS
SELECT n, same(value) AS k, count(*) AS c, count(cost) AS s FROM (SELECT n, key_of(k, id) AS value, cost FROM key, lodging) x GROUP BY 1, 2;
CREATE TABLE answered (n integer, k text, c bigint, s float8);
GRANT ALL ON answered TO regress_deriver;
GRANT SELECT ON plain TO regress_deriver;
SET ROLE regress_deriver;
SELECT attempt(format('INSERT INTO answered SELECT %s, same((x.k)::text), x.c, x.s FROM (SELECT %s AS k, count(*) AS c, count(cost) AS s FROM lodging_dp GROUP BY 1) x', n, k))
FROM key ORDER BY n;
-- Each group that is shown counts what it counts in plain SQL; of others there are rows that belong to no group.
SELECT how, key.k, count(a.k) + count(*) FILTER (WHERE a.n IS NOT NULL AND a.k IS NULL) AS groups, min(a.k COLLATE "C"), max(a.k COLLATE "C"),
       coalesce(bool_or(a.n IS NOT NULL AND a.k IS NULL), false) AS has_null,
       bool_and(a.n IS NULL OR a.c = coalesce(p.c, 0)) AS counts, bool_and(a.n IS NULL OR a.s = coalesce(p.s, 0)) AS values,
       sum(p.c) FILTER (WHERE a.n IS NULL) AS left_out, count(*) FILTER (WHERE a.n IS NULL) AS of_groups
FROM key LEFT JOIN (answered a FULL JOIN plain p ON a.n = p.n AND a.k IS NOT DISTINCT FROM p.k) ON key.n IN (a.n, p.n)
GROUP BY key.n, how, key.k ORDER BY key.n;

-- Conditions on the key choose groups, whether or not anybody is in them; the list alone costs nothing.
SELECT extract(month FROM came) AS month, count(*) >= 0 AS shown FROM lodging_dp WHERE extract(month FROM came) BETWEEN 10 AND 12 GROUP BY 1 ORDER BY 1;
SELECT upper(ward) AS ward, smoker, count(*) >= 0 AS shown FROM lodging_dp WHERE upper(ward) <> 'ICU' AND smoker IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2;
SELECT floor / 2 AS half, count(*) >= 0 AS shown FROM lodging_dp WHERE floor / 2 > 1 AND cost > 5 GROUP BY 1;
SELECT attempt('SELECT floor / 2, count(*) FROM lodging_dp WHERE floor / 2 > 100 GROUP BY 1');
SELECT CASE WHEN cost < 100 THEN 'cheap' ELSE 'dear' END AS price FROM lodging_dp GROUP BY 1 ORDER BY 1;
SELECT DISTINCT width_bucket(cost, 0, 1000, 2) AS bucket FROM lodging_dp ORDER BY 1;
SET ROLE regress_controller;
SELECT count(*) AS charged_for_lists FROM dp_rdr.ledger WHERE relation = 'public.lodging' AND query LIKE '%DISTINCT%';

-- Not derived: no delta, no answer; with one the groups are discovered.
SET ROLE regress_deriver;
SELECT k, attempt(format('SELECT %s, count(*) FROM lodging_dp GROUP BY 1', k))
FROM unnest(ARRAY['note', 'upper(note)', 'length(note)', 'wide', 'wide / 100', 'came', $$date_trunc('minute', came)$$, $$date_trunc('day', came_at)$$, 'weight * 2', 'id % 5000',
                  'id + 1', $$came + interval '1 day'$$, 'CASE WHEN sure THEN note ELSE ward END', 'extract(epoch FROM came)', 'extract(year FROM born) / 10']) k;
-- Steps over one column, however many, would be of values that do not go together: no list is made of them.
SELECT left(attempt(format('SELECT %s, count(*) FROM lodging_dp GROUP BY 1', string_agg(format('wide / %s', 1000000 + i), ' || '' '' || '))), 62) AS outcome
FROM generate_series(1, 100) i;
SELECT k, attempt(format('SELECT %s, count(*) FROM lodging_dp GROUP BY %1$s', k))
FROM unnest(ARRAY['ward, sure, born', 'sure, note', $$date_trunc('day', came), born$$, 'id % 100, born - date ''2000-01-01''']) k;
SET ROLE regress_discoverer;
SELECT note, sure, count(*) FROM lodging_dp WHERE id <= 500 GROUP BY 1, 2 ORDER BY 1, 2;
SELECT attempt(format('SELECT %s, count(*) FROM lodging_dp GROUP BY %1$s', k)) FROM unnest(ARRAY['upper(note)', 'wide / 100', 'date_trunc(''day'', came), born']) k;
-- With a delta a derived list is taken all the same: nothing of delta is charged.
SELECT sure, count(*) > 0 AS shown FROM lodging_dp GROUP BY NOT sure, sure ORDER BY 1;
SELECT extract(quarter FROM born) AS quarter, count(*) > 0 AS shown FROM lodging_dp GROUP BY 1 ORDER BY 1;
SET ROLE regress_controller;
SELECT parameters::jsonb ->> 'groups' AS groups, delta_groups FROM dp_rdr.ledger WHERE relation = 'public.lodging' ORDER BY id DESC LIMIT 2;

-- NaN is above all numbers, also under a sign: whoever has it is in the last bucket of an array, in a group of its own, or in NULL.
SET ROLE regress_controller;
CREATE TABLE lengths (id integer PRIMARY KEY, km float8 NOT NULL, cost numeric NOT NULL, price numeric(8, 2) NOT NULL, n integer NOT NULL, big integer NOT NULL);
INSERT INTO lengths SELECT i, 'NaN', 'NaN', 5, 0, 2000000000 FROM generate_series(1, 1000) i;
SELECT dp_protect('lengths', 'lengths_dp'), dp_set_odometer('lengths', 'none', NULL, 0.9);
SELECT dp_grant('lengths_dp', 'regress_deriver', tau => 0, epsilon_max => 100, candidates => '{100}');
SET ROLE regress_deriver;
SELECT 'array' AS of, width_bucket(-km, ARRAY[-50, 0, 10]::float8[])::text AS k, count(*) FROM lengths_dp WHERE km >= 0 GROUP BY width_bucket(-km, ARRAY[-50, 0, 10]::float8[])
UNION ALL SELECT 'array, of cost', width_bucket(10 - cost, ARRAY[-50, 0, 20]::numeric[])::text, count(*) FROM lengths_dp WHERE cost >= 0 GROUP BY width_bucket(10 - cost, ARRAY[-50, 0, 20]::numeric[])
UNION ALL SELECT 'bounded', width_bucket(-km, ARRAY[-50, 0, 10]::float8[])::text, count(*) FROM lengths_dp WHERE km BETWEEN 0 AND 60 GROUP BY width_bucket(-km, ARRAY[-50, 0, 10]::float8[])
UNION ALL SELECT 'buckets', width_bucket(-km, -100, 0, 2)::text, count(*) FROM lengths_dp WHERE km >= 0 GROUP BY width_bucket(-km, -100, 0, 2)
UNION ALL SELECT 'floor', floor(-km / 10)::text, count(*) FROM lengths_dp WHERE km >= 0 AND -km >= -20 GROUP BY floor(-km / 10)
UNION ALL SELECT 'floor, of cost', floor(-cost / 10)::text, count(*) FROM lengths_dp WHERE cost >= 0 AND -cost >= -20 GROUP BY floor(-cost / 10)
UNION ALL SELECT 'integer', (-km)::integer::text, count(*) FROM lengths_dp WHERE km >= 0 AND -km >= -1 GROUP BY (-km)::integer;
-- NULL of columns that have none: where a computation may fail, and nowhere else.
SELECT 'product' AS of, (price * 2 > 3)::text AS k, count(*) FROM lengths_dp GROUP BY price * 2 > 3
UNION ALL SELECT 'quotient', (price / n > 2)::text, count(*) FROM lengths_dp GROUP BY price / n > 2
UNION ALL SELECT 'quotient of a constant', (price / 7 > 2)::text, count(*) FROM lengths_dp GROUP BY price / 7 > 2
UNION ALL SELECT 'overflow', (big + big > 2)::text, count(*) FROM lengths_dp GROUP BY big + big > 2
UNION ALL SELECT 'of bounded numbers', (big + big > 2)::text, count(*) FROM lengths_dp WHERE big BETWEEN 0 AND 5 GROUP BY big + big > 2
UNION ALL SELECT 'any length', (cost * 2 > 3)::text, count(*) FROM lengths_dp GROUP BY cost * 2 > 3;
SET ROLE regress_controller;
DROP TABLE lengths CASCADE;
SET ROLE regress_deriver;

-- In whose time zone a moment is is the asker's: so are the groups.
SET ROLE regress_deriver;
SET timezone = 'Asia/Kolkata';
SELECT date_trunc('year', born) AS year, count(*) > 0 AS shown FROM lodging_dp WHERE date_trunc('year', born) > timestamptz '2016-06-01' GROUP BY 1 ORDER BY 1;
RESET timezone;

-- ---------------------------------------------------------------------------------------------------------------------
-- Risk and price look at the same groups
-- ---------------------------------------------------------------------------------------------------------------------

RESET ROLE;
SET ROLE regress_controller;
-- Of a count the noise of all groups counts: 4 buckets and NULL; everybody is in one.
SELECT round(r.rdr_max::numeric - r.rdr_min::numeric, 6) AS pis, round(((r.rdr_min - 1) * sinh(0.5))::numeric, 6) AS groups
FROM dp_risk('SELECT width_bucket(cost, 0, 1000, 2), count(*) FROM lodging_dp GROUP BY 1', '{0.5}') r;
SELECT record, pis, individuals FROM dp_risk_records('SELECT floor / 2, count(*) FROM lodging_dp GROUP BY 1', 0.5) WHERE (record ->> 'floor')::integer NOT BETWEEN -2 AND 1 ORDER BY pis, record;
SELECT threshold, delta FROM dp_explain('SELECT floor / 2, count(*) FROM lodging_dp GROUP BY 1') WHERE column_name = 'count';
SET ROLE regress_deriver;
SELECT accepted, epsilon, delta, threshold FROM dp_explain('SELECT floor / 2, count(*) FROM lodging_dp GROUP BY 1') WHERE column_name = 'count';
RESET ROLE;
SET client_min_messages = warning;
DROP TABLE lodging, key, plain, answered CASCADE;
DROP TYPE grade;
DROP FUNCTION key_of, same;
