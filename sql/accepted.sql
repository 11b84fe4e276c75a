-- What an analyst may write, by shape: statements around a leaf are ordinary SQL over its answer, and describe themselves
-- as the same statement on the table does. The role has epsilon 100 for each answer: with m <= 3 measures a count is off by
-- one with probability below 7e-15, so counts are printed; fewer than 500 are. Sums and averages are compared with bounds
-- that their noise exceeds with probability below 1e-12.

LOAD 'dp_rdr';
SET client_min_messages = warning;
DROP ROLE IF EXISTS regress_exact;
RESET client_min_messages;
CREATE ROLE regress_exact;
\set VERBOSITY terse

SET ROLE regress_controller;
CREATE TYPE shade AS ENUM ('light', 'dark');
CREATE TABLE stay (
    id integer, small smallint, big bigint, real real, double double precision, price numeric(8,2), any_numeric numeric, town text, town_c text COLLATE "C",
    code varchar(12), letter char(3), seen boolean, tint shade, day date, at timestamptz, at_local timestamp, ref uuid
);
INSERT INTO stay
SELECT g, g % 10, g % 10, g % 10, g % 10, g % 10, g % 10, 'town ' || g % 4, 'town ' || g % 4, 'code ' || g % 5, chr(97 + g % 2), g % 2 = 0,
       CASE g % 3 WHEN 0 THEN 'light'::shade ELSE 'dark' END, date '2024-01-01' + g % 100, timestamptz '2024-06-01 12:00+00' + g * interval '1 minute',
       timestamp '2024-06-01 12:00' + g * interval '1 minute', md5((g % 20)::text)::uuid
FROM generate_series(1, 1000) g;
SELECT dp_protect('stay', 'stay_dp');
SELECT dp_set_odometer('stay', 'none', NULL);
SELECT count(dp_set_bounds('stay', c, 0, 10)) FROM unnest('{small,big,real,double,price,any_numeric}'::text[]) c;
SELECT dp_set_groups('stay', 'town', '{town 0,town 1,town 2,town 3}'), dp_set_groups('stay', 'town_c', '{town 0,town 1,town 2,town 3}'),
       dp_set_groups('stay', 'code', '{code 0,code 1,code 2,code 3,code 4}'), dp_set_groups('stay', 'letter', '{a,b}'),
       dp_set_groups('stay', 'small', '{0,1,2,3,4,5,6,7,8,9}'), dp_set_groups('stay', 'price', '{0,1,2,3,4,5,6,7,8,9}');
SELECT dp_grant('stay_dp', 'regress_exact', tau => 0, delta => 1e-9, epsilon_max => 100, candidates => '{100}'); -- delta: for keys without declared groups
CREATE TABLE label (town text, name text, grade integer);
INSERT INTO label VALUES ('town 0', 'North', 1), ('town 1', 'East', 2), ('town 9', 'Nowhere', 3);
GRANT SELECT ON label TO regress_exact;

-- ---------------------------------------------------------------------------------------------------------------------
-- Where a leaf may stand
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_exact;
-- The leaf: sub-SELECTs, CTEs and views that project, rename and filter.
SELECT count(*) FROM (SELECT * FROM stay_dp) q;
SELECT t, count(*) FROM (SELECT town AS t, small AS s FROM stay_dp WHERE seen) AS q WHERE s > 3 GROUP BY t;
SELECT a, count(*) FROM (SELECT b AS a, c FROM (SELECT town AS b, small AS c, day FROM stay_dp WHERE small < 8) i WHERE c > 1) o (a, d) WHERE d <> 5 GROUP BY a;
WITH w AS (SELECT small AS s, town FROM stay_dp WHERE seen) SELECT count(*) FROM w WHERE s > 3;
WITH w AS MATERIALIZED (SELECT small AS s, seen FROM stay_dp), u AS (SELECT s FROM w WHERE seen) SELECT (SELECT count(*) FROM w) AS "all", (SELECT count(*) FROM u WHERE s > 3) AS seen;
WITH w (a, b) AS (SELECT town, small FROM stay_dp) SELECT x.a, x.n, y.n FROM (SELECT a, count(*) AS n FROM w GROUP BY a) x JOIN (SELECT a, count(*) AS n FROM w WHERE b > 4 GROUP BY a) y USING (a) ORDER BY 1;
SELECT (WITH w AS (SELECT small FROM stay_dp) SELECT count(*) FROM w WHERE small = 3) AS three;
WITH w AS (SELECT small FROM stay_dp) SELECT g, (SELECT q.n FROM (SELECT count(*) AS n FROM (SELECT * FROM w WHERE small = 3) z) q WHERE g > 0) FROM generate_series(1, 2) g;
WITH RECURSIVE w AS (SELECT small FROM stay_dp) SELECT count(*) FROM w;
WITH w AS (SELECT small FROM stay_dp), w2 AS (WITH w AS (SELECT small FROM w WHERE small > 7) SELECT small FROM w) SELECT count(*) FROM w2;
CREATE TEMP VIEW seen AS SELECT small AS s, town AS t, seen AS yes FROM stay_dp WHERE seen ORDER BY small;
CREATE TEMP VIEW seen_in WITH (security_barrier) AS SELECT s FROM seen AS x WHERE t = 'town 2';
SELECT count(*) FROM seen WHERE s > 3;
SELECT count(*), count(s) FROM seen_in;
-- Columns that no aggregate needs are not computed.
SELECT count(*) FROM (SELECT small, 1 / 0 AS unused, random() AS neither, (SELECT 1) FROM stay_dp) q;
-- The same column under two names, a constant column in the condition.
SELECT a, b, count(*) FROM (SELECT letter AS a, letter AS b, 'x' AS c FROM stay_dp) q WHERE c = 'x' GROUP BY a, b;
SELECT v.town, count(*) FROM stay_dp v (i) GROUP BY v.town;

-- Keys that are expressions, also of renamed columns and of parameters; the rest may use them.
SELECT many, count(*) FROM (SELECT small > 4 AS many, town FROM stay_dp) q WHERE town <> 'town 0' GROUP BY many;
SELECT small > 4 AS many, NOT (small > 4) AS few, count(*) FROM stay_dp GROUP BY small > 4 HAVING NOT (small > 4) ORDER BY NOT (small > 4);
PREPARE keyed (integer) AS SELECT s > $1 AS above, $1 AS what, count(*) FROM (SELECT small AS s FROM stay_dp) q WHERE s < $1 + 3 GROUP BY s > $1;
EXECUTE keyed (4);
DEALLOCATE keyed;

-- The rest: expressions, HAVING, ORDER BY, LIMIT, DISTINCT, windows, CASE.
SELECT town, 2 * count(*) AS twice, CASE WHEN count(*) > 200 THEN 'many' ELSE 'few' END FROM stay_dp GROUP BY town HAVING count(*) > 5 AND town <> 'town 3' ORDER BY town DESC LIMIT 2;
SELECT town FROM stay_dp WHERE small > 5 GROUP BY town HAVING count(*) FILTER (WHERE seen) > 150 ORDER BY count(*), town;
SELECT DISTINCT count(*) FROM stay_dp GROUP BY town;
SELECT DISTINCT ON (n) count(*) AS n, town FROM stay_dp GROUP BY town ORDER BY n, town DESC;
SELECT town, count(*), rank() OVER (ORDER BY town DESC), sum(count(*)) OVER (ORDER BY town ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM stay_dp GROUP BY town ORDER BY town;
SELECT round(avg(any_numeric), 1) AS avg, round(power(round(avg(double)::numeric, 1), 2), 4) AS power FROM stay_dp;
SELECT round(sum(small) / count(*)::numeric, 1) AS mean, abs(sum(small) - 4500) < 7 AS near FROM stay_dp;
SELECT lower(town) || '!', count(*)::text FROM stay_dp GROUP BY town ORDER BY 1 LIMIT 1;
SELECT v.town, (SELECT name FROM label WHERE label.town = v.town), count(*) FROM stay_dp v GROUP BY v.town ORDER BY 1;
SELECT q.t, (SELECT sum(x) FROM (SELECT count(q.t) AS x UNION ALL SELECT grade FROM label WHERE label.town = q.t) u) FROM (SELECT town AS t FROM stay_dp WHERE seen) q GROUP BY q.t ORDER BY 1;
SELECT count(*), generate_series(1, 2) FROM stay_dp;

-- Scalar sub-SELECT, EXISTS, IN, ANY, ARRAY.
SELECT (SELECT count(*) FROM stay_dp) + 1, (SELECT count(*) FROM stay_dp WHERE seen) / 2.0;
SELECT EXISTS (SELECT count(*) FROM stay_dp), EXISTS (SELECT FROM stay_dp HAVING count(*) < 0), 1000 IN (SELECT count(*) FROM stay_dp), 3 > ALL (SELECT count(*) FROM stay_dp GROUP BY town);
SELECT ARRAY(SELECT count(*) FROM stay_dp GROUP BY tint ORDER BY tint), ROW(1, 1000) = (SELECT 1, count(*) FROM stay_dp);
SELECT name FROM label WHERE grade * 300 < (SELECT count(*) FROM stay_dp WHERE seen) ORDER BY 1;
VALUES ((SELECT count(*) FROM stay_dp)), (1);
-- Set operations above leaves.
SELECT 'all' AS what, count(*) FROM stay_dp UNION ALL SELECT 'seen', count(*) FROM stay_dp WHERE seen UNION ALL SELECT name, grade FROM label ORDER BY 1;
SELECT town FROM stay_dp GROUP BY town HAVING count(*) > 0 INTERSECT SELECT town FROM label ORDER BY 1;
SELECT town FROM label EXCEPT SELECT town FROM stay_dp GROUP BY town HAVING count(*) > 0;
-- Joins of leaves with each other and with tables.
SELECT a.town, a.n - b.n AS not_seen FROM (SELECT town, count(*) AS n FROM stay_dp GROUP BY town) a JOIN (SELECT town, count(*) AS n FROM stay_dp WHERE seen GROUP BY town) b USING (town) ORDER BY 1;
SELECT name, n FROM label FULL JOIN (SELECT town, count(*) AS n FROM stay_dp GROUP BY town) q USING (town) ORDER BY 1, 2;
SELECT round(100.0 * a.n / b.n) AS percent FROM (SELECT count(*) AS n FROM stay_dp WHERE seen) a, (SELECT count(*) AS n FROM stay_dp) b;
SELECT g, x FROM generate_series(1, 2) g, LATERAL (SELECT count(*) * g AS x FROM stay_dp HAVING count(*) > g) q;
SELECT max(n), min(n), sum(n) FROM (SELECT count(*) AS n FROM stay_dp GROUP BY town, seen) q;
SELECT avg(n) OVER (), n FROM (SELECT count(*) AS n FROM stay_dp GROUP BY seen) q;
-- Statements that keep an answer.
CREATE TEMP TABLE kept AS SELECT town, count(*) AS n FROM stay_dp GROUP BY town;
SELECT tint, count(*) INTO TEMP kept_too FROM stay_dp GROUP BY tint;
INSERT INTO kept SELECT 'all', count(*) FROM stay_dp RETURNING *;
INSERT INTO kept VALUES ('seen', (SELECT count(*) FROM stay_dp WHERE seen)) RETURNING n;
UPDATE kept SET n = q.n FROM (SELECT count(*) AS n FROM stay_dp WHERE small = 1) q WHERE town = 'all' RETURNING kept.*;
UPDATE kept SET (town, n) = (SELECT 'odd', count(*) FROM stay_dp WHERE small IN (1, 3, 5, 7, 9)) WHERE town = 'all' RETURNING *;
MERGE INTO kept USING (SELECT town, count(*) AS n FROM stay_dp WHERE seen GROUP BY town) q ON kept.town = q.town WHEN MATCHED THEN UPDATE SET n = q.n;
DELETE FROM kept USING (SELECT count(*) AS n FROM stay_dp WHERE small > 4) q WHERE kept.n = q.n;
WITH i AS (INSERT INTO kept SELECT tint::text, count(*) FROM stay_dp GROUP BY tint RETURNING *) SELECT * FROM i ORDER BY 1;
TABLE kept ORDER BY 1;
RESET ROLE;
GRANT CREATE ON SCHEMA public TO regress_exact;
SET ROLE regress_exact;
CREATE MATERIALIZED VIEW stored AS SELECT town, count(*) AS n FROM stay_dp GROUP BY town;
REFRESH MATERIALIZED VIEW stored;
TABLE stored;
DROP MATERIALIZED VIEW stored;
-- Statements that hand it on.
COPY (SELECT tint, count(*) FROM stay_dp GROUP BY tint) TO STDOUT;
\copy (SELECT seen, count(*) FROM stay_dp GROUP BY seen) TO STDOUT
BEGIN;
DECLARE c SCROLL CURSOR WITH HOLD FOR SELECT town, count(*) FROM stay_dp GROUP BY town;
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
COMMIT;
FETCH LAST FROM c;
CLOSE c;
EXPLAIN (COSTS OFF) SELECT * FROM label JOIN (SELECT count(*) AS n FROM seen_in) q ON n > grade;
EXPLAIN (VERBOSE, COSTS OFF) WITH w AS MATERIALIZED (SELECT s, t FROM seen) SELECT t, count(*) + 1 AS n FROM w WHERE s > 3 GROUP BY t HAVING count(*) > 3 ORDER BY n;
-- Executes; from PostgreSQL 18 on plans say more of buffers, and of decimals.
CREATE FUNCTION pg_temp.explained(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, BUFFERS OFF, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
        RETURN NEXT regexp_replace(line, '(rows=\d+)\.\d+', '\1');
    END LOOP;
END $$;
SELECT * FROM pg_temp.explained('SELECT town, count(*) FROM stay_dp GROUP BY town HAVING count(*) > 3') AS plan;
SELECT * FROM stay_dp LIMIT 0;
SELECT name, v.town FROM stay_dp v, label WHERE false;
-- A view on top keeps the analyst's SQL; its owner may share it with those who may ask the restricted view themselves.
CREATE TEMP VIEW by_town AS WITH w AS (SELECT town, small FROM stay_dp) SELECT town, count(*) AS n, 2 * avg(small) AS twice FROM w GROUP BY town HAVING count(*) > 3;
SELECT regexp_replace(pg_get_viewdef('by_town', true), '\m(w|stay_dp)\.', '', 'g') AS definition;
SELECT town, n, round(twice) FROM by_town WHERE town > 'town 1' ORDER BY 1;
-- Functions and blocks.
CREATE FUNCTION pg_temp.above(x integer) RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM (SELECT small AS s FROM stay_dp) q WHERE s > x';
CREATE FUNCTION pg_temp.above_atomic(x integer) RETURNS bigint BEGIN ATOMIC WITH w AS (SELECT small AS s FROM stay_dp) SELECT count(*) FROM w WHERE s > x; END;
CREATE FUNCTION pg_temp.rows_above(x integer) RETURNS TABLE (town text, n bigint) LANGUAGE plpgsql AS
    $$ BEGIN RETURN QUERY SELECT v.town, count(*) FROM stay_dp v WHERE small > x GROUP BY v.town; END $$;
SELECT pg_temp.above(5), pg_temp.above_atomic(5), g FROM generate_series(1, 2) g;
SELECT * FROM pg_temp.rows_above(5);
DO $$
DECLARE
    r record;
    towns text[] := '{town 1,town 2}';
    n bigint;
BEGIN
    FOR r IN SELECT town, count(*) AS n FROM stay_dp WHERE town = ANY (towns) GROUP BY town LOOP
        RAISE NOTICE '%', r;
    END LOOP;
    EXECUTE 'SELECT count(*) FROM stay_dp WHERE town = $1 AND small > $2' INTO n USING r.town, 3;
    SELECT count(*) + n INTO n FROM stay_dp WHERE town = towns[1] AND small = r.n + 7;
    RAISE NOTICE '%', n;
END $$;
SELECT * FROM dp_query('WITH w AS (SELECT town FROM stay_dp WHERE seen) SELECT town, count(*) FROM w GROUP BY town') AS (t text, n bigint);

-- ---------------------------------------------------------------------------------------------------------------------
-- Parameters: of every common type, by custom and by generic plans; each condition also as a constant on the table
-- ---------------------------------------------------------------------------------------------------------------------

CREATE FUNCTION counted(query text) RETURNS text LANGUAGE plpgsql AS
    $$ DECLARE n bigint; BEGIN EXECUTE query INTO n; RETURN n; EXCEPTION WHEN OTHERS THEN RETURN sqlstate || ' ' || sqlerrm; END $$;
CREATE FUNCTION true_count(condition text) RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS
    $$ DECLARE n bigint; BEGIN EXECUTE 'SELECT count(*) FROM stay WHERE ' || condition INTO n; RETURN n; END $$;
RESET ROLE;
ALTER FUNCTION true_count OWNER TO regress_controller;
SET ROLE regress_exact;
CREATE TEMP TABLE parameter (n integer GENERATED ALWAYS AS IDENTITY, type text, condition text, value text);
INSERT INTO parameter (type, condition, value) VALUES
    ('integer', 'id > $1', '500'), ('integer', 'small = $1', '3'), ('bigint', 'id > $1', '500'), ('bigint', 'big = $1', '3'), ('smallint', 'id = $1', '7'),
    ('text', 'town = $1', 'town 2'), ('varchar', 'town = $1', 'town 2'), ('varchar', 'code = $1', 'code 2'), ('text', 'code <> $1', 'code 2'), ('char(3)', 'letter = $1', 'a'),
    ('numeric', 'price > $1', '4.5'), ('numeric', 'any_numeric = $1', '3'), ('float8', 'double >= $1', '2.5'), ('real', 'real < $1', '4'), ('float8', 'real < $1', '4'),
    ('date', 'day >= $1', '2024-02-01'), ('date', 'day BETWEEN $1 AND date ''2024-03-01''', '2024-02-01'), ('timestamptz', 'at < $1', '2024-06-01 18:00+02'), ('timestamp', 'at_local < $1', '2024-06-01 18:00'),
    ('boolean', 'seen = $1', 'true'), ('boolean', '$1 AND seen', 'true'), ('boolean', '$1', 'false'), ('uuid', 'ref = $1', md5('7')::uuid::text), ('shade', 'tint = $1', 'dark'),
    ('integer[]', 'small = ANY ($1)', '{1,2,NULL}'), ('bigint[]', 'small = ANY ($1)', '{1,2}'), ('text[]', 'town = ANY ($1)', '{town 1,town 3}'), ('varchar[]', 'town = ANY ($1)', '{town 1,town 3}'),
    ('text[]', 'code <> ALL ($1)', '{code 1}'), ('uuid[]', 'ref = ANY ($1)', format('{%s}', md5('7'))), ('date[]', 'day = ANY ($1)', '{2024-01-05}'), ('shade[]', 'tint = ANY ($1)', '{dark}'),
    ('integer', 'small IN ($1, $1 + 1, 7)', '1'), ('integer', '($1 IS NULL OR small = $1)', '4'), ('integer', '($1 IS NULL OR small = $1)', NULL), ('integer', 'small = $1', NULL),
    ('text', 'town = lower($1)', 'TOWN 2'), ('date', 'day > $1 - 7', '2024-02-01'), ('interval', 'at_local < timestamp ''2024-06-01 12:00'' + $1', '2 hours'), ('text', 'day = $1::date', '2024-02-01'),
    ('text', 'tint = $1::shade', 'light'), ('text', 'id > $1::integer', '500'), ('numeric', 'id > $1::integer', '500.4');
CREATE FUNCTION pg_temp.prepared(type text, condition text, value text, mode text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('plan_cache_mode', mode, true);
    EXECUTE format('PREPARE one_parameter (%s) AS SELECT count(*) FROM (SELECT * FROM stay_dp) q WHERE %s', type, condition);
    RETURN counted(format('EXECUTE one_parameter (%L)', value));
END $$;
CREATE TEMP TABLE outcome (n integer, custom text, generic text, "table" text);
DO $$
DECLARE
    p record;
BEGIN
    FOR p IN SELECT * FROM parameter ORDER BY n LOOP
        INSERT INTO outcome VALUES (p.n, pg_temp.prepared(p.type, p.condition, p.value, 'force_custom_plan'), NULL, NULL);
        DEALLOCATE one_parameter;
        UPDATE outcome SET generic = pg_temp.prepared(p.type, p.condition, p.value, 'force_generic_plan'),
                           "table" = true_count(replace(p.condition, '$1', format('%L::%s', p.value, p.type))) WHERE n = p.n;
        DEALLOCATE one_parameter;
    END LOOP;
END $$;
SELECT type, condition, value, custom, generic, "table", custom = "table" AND generic = "table" AS agree FROM outcome JOIN parameter USING (n) ORDER BY n;
-- What depends on the clock or on settings is computed by the statement, with the caller's settings.
SET timezone = 'Pacific/Auckland';
SET datestyle = 'SQL, DMY';
SELECT count(*) FROM stay_dp WHERE at < '01/06/2024 15:00+00'::text::timestamptz AND day < current_date AND town <> current_user AND at < now();
RESET timezone;
RESET datestyle;

-- ---------------------------------------------------------------------------------------------------------------------
-- Names, types, modifiers and collations of the columns: those of the same statement on the table
-- ---------------------------------------------------------------------------------------------------------------------

CREATE FUNCTION described(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    columns text;
BEGIN
    EXECUTE 'CREATE TEMP TABLE described_columns AS ' || query;
    SELECT string_agg(quote_ident(attname) || ' ' || format_type(atttypid, atttypmod) || CASE WHEN attcollation IN (0, 100) THEN '' ELSE ' COLLATE ' || attcollation::regcollation END, ', ' ORDER BY attnum)
    INTO columns FROM pg_attribute WHERE attrelid = 'pg_temp.described_columns'::regclass AND attnum > 0;
    DROP TABLE described_columns;
    RETURN columns;
EXCEPTION WHEN OTHERS THEN
    RETURN sqlstate || ' ' || sqlerrm;
END $$;
CREATE TEMP TABLE shape (n integer GENERATED ALWAYS AS IDENTITY, query text);
INSERT INTO shape (query) VALUES
    ('SELECT count(*), count(id) AS i, count(town) AS t FROM stay_dp'),
    ('SELECT sum(small), sum(big) AS b, sum(real) AS r, sum(double) AS d, sum(price) AS p, sum(any_numeric) AS n FROM stay_dp'),
    ('SELECT avg(small), avg(big) AS b, avg(real) AS r FROM stay_dp'),
    ('SELECT avg(double), avg(price) AS p, avg(any_numeric) AS "Mean" FROM stay_dp'),
    ('SELECT town, count(*) FROM stay_dp GROUP BY town'),
    ('SELECT town_c, count(*) AS n FROM stay_dp GROUP BY 1 ORDER BY town_c'),
    ('SELECT code, letter, count(*) FROM stay_dp GROUP BY code, letter'),
    ('SELECT price, count(*) FROM stay_dp GROUP BY price'),
    ('SELECT seen, tint, count(*) FROM stay_dp GROUP BY seen, tint'),
    ('SELECT c, p, t, count(*) FROM (SELECT code AS c, price AS p, town_c AS t FROM stay_dp) q GROUP BY c, p, t'),
    ('WITH w (a, b) AS (SELECT code, town_c FROM stay_dp) SELECT b, a, count(*) FROM w GROUP BY a, b'),
    ('SELECT min(code), max(town_c) FROM (SELECT code, town_c, count(*) FROM stay_dp GROUP BY code, town_c) q'),
    ('SELECT town || ''!'', upper(town_c), code::text, letter::varchar(2), count(*) FROM stay_dp GROUP BY town, town_c, code, letter'),
    ('SELECT count(*) + 1, count(*) / 2 AS half, count(*) * 1.5 AS much, -count(*) AS less, count(*) > 3 AS more FROM stay_dp'),
    ('SELECT sum(price)::numeric(10, 3), avg(small)::real, count(*)::integer, sum(small) / count(*) FROM stay_dp'),
    ('SELECT CASE WHEN count(*) > 3 THEN town ELSE ''none'' END, coalesce(town_c, ''x''), nullif(town, ''y'') FROM stay_dp GROUP BY town, town_c'),
    ('SELECT rank() OVER (ORDER BY count(*)), sum(count(*)) OVER (), lag(price) OVER (), count(*) FROM stay_dp GROUP BY price'),
    ('SELECT (SELECT count(*) FROM stay_dp), (SELECT sum(price) FROM stay_dp) AS s, ARRAY(SELECT count(*) FROM stay_dp)'),
    ('SELECT EXISTS (SELECT count(*) FROM stay_dp), 3 IN (SELECT count(*) FROM stay_dp)'),
    ('SELECT count(*) FROM stay_dp UNION ALL SELECT 1'),
    ('SELECT price FROM stay_dp GROUP BY price HAVING count(*) > 0 UNION SELECT 1.5'),
    ('SELECT * FROM (SELECT town, count(*) FROM stay_dp GROUP BY town) q JOIN label USING (town)'),
    ('SELECT q.*, grade FROM label LEFT JOIN (SELECT town_c, code, avg(price) FROM stay_dp GROUP BY town_c, code) q ON grade > 1'),
    ('SELECT g, x.* FROM generate_series(1, 2) g, LATERAL (SELECT count(*) * g, code FROM stay_dp GROUP BY code) x'),
    ('SELECT DISTINCT code FROM stay_dp GROUP BY code, town HAVING count(*) > 0'),
    ('SELECT count(*) FILTER (WHERE seen) AS "Seen it", avg(small) FILTER (WHERE small > 3) FROM stay_dp'),
    ('SELECT town, count(*) IS NULL AS never FROM stay_dp GROUP BY town'),
    ('SELECT v.code AS "Code", v.code, v.town_c COLLATE "POSIX" FROM stay_dp v GROUP BY v.code, v.town_c HAVING count(*) > 0'),
    ('SELECT q.*, (q).n AS m FROM (SELECT code, count(*) AS n FROM stay_dp GROUP BY code) q LIMIT 1'),
    ('SELECT to_jsonb(q) FROM (SELECT code, count(*) AS n FROM stay_dp GROUP BY code) q'),
    ('SELECT count(*), now() > ''2024-01-01'' AS late, ''x'' AS const, NULL AS nothing FROM stay_dp'),
    ('SELECT * FROM stay_dp LIMIT 0'),
    ('SELECT code, price, town_c FROM stay_dp WHERE false');
CREATE TEMP TABLE mine AS SELECT n, described(query) AS columns FROM shape;
SELECT n, columns FROM mine ORDER BY n;
RESET ROLE;
SELECT count(*) AS shapes, count(*) FILTER (WHERE columns = described(replace(query, 'stay_dp', 'stay'))) AS the_same FROM shape JOIN mine USING (n);
SELECT query, columns AS view, described(replace(query, 'stay_dp', 'stay')) AS "table" FROM shape JOIN mine USING (n) WHERE columns <> described(replace(query, 'stay_dp', 'stay'));
-- What a driver is told before anything is executed.
SET ROLE regress_exact;
SELECT town_c, code, price, count(*), sum(small), sum(price), avg(small) AS mean, 1 + count(*) FROM stay_dp GROUP BY 1, 2, 3 \gdesc
RESET ROLE;
SELECT town_c, code, price, count(*), sum(small), sum(price), avg(small) AS mean, 1 + count(*) FROM stay GROUP BY 1, 2, 3 \gdesc

-- ---------------------------------------------------------------------------------------------------------------------
-- What stops a leaf is named, with its place where the parser knows it, and costs nothing
-- ---------------------------------------------------------------------------------------------------------------------

CREATE FUNCTION refused(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    remedy text;
BEGIN
    EXECUTE statement;
    RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS remedy = PG_EXCEPTION_HINT;
    RETURN sqlstate || ' ' || sqlerrm || coalesce(' | ' || nullif(remedy, ''), '');
END $$;
SET ROLE regress_controller;
CREATE TEMP TABLE before AS SELECT releases, epsilon, denials FROM dp_odometer('stay') WHERE account = 'public';
SET ROLE regress_exact;
SELECT statement, refused(statement) FROM (VALUES
    ('SELECT count(*) FROM stay_dp JOIN label USING (town)'),
    ('SELECT count(*) FROM stay_dp, label'),
    ('SELECT count(*) FROM stay_dp a LEFT JOIN stay_dp b ON a.id = b.id'),
    ('SELECT count(*) FROM (SELECT v.town FROM stay_dp v NATURAL JOIN label) q'),
    ('SELECT count(*) FROM stay_dp, (SELECT count(*) FROM stay_dp) q'),
    ('SELECT count(*) FROM stay_dp CROSS JOIN LATERAL (SELECT id) l'),
    ('SELECT count(*) FROM (SELECT town FROM stay_dp UNION ALL SELECT town FROM label) q'),
    ('SELECT count(*) FROM (SELECT town FROM label EXCEPT SELECT town FROM stay_dp) q'),
    ('WITH w AS (SELECT id FROM stay_dp INTERSECT SELECT 7) SELECT count(*) FROM w'),
    ('WITH RECURSIVE w AS (SELECT id FROM stay_dp UNION SELECT id + 1 FROM w WHERE id < 5) SELECT count(*) FROM w'),
    ('SELECT count(*) FROM (SELECT id FROM stay_dp LIMIT 5) q'),
    ('SELECT count(*) FROM (SELECT id FROM stay_dp OFFSET 5) q'),
    ('SELECT count(*) FROM (SELECT id FROM stay_dp ORDER BY id FETCH FIRST ROW WITH TIES) q'),
    ('SELECT count(*) FROM (SELECT DISTINCT town FROM stay_dp) q'),
    ('SELECT count(*) FROM (SELECT DISTINCT ON (town) town, id FROM stay_dp) q'),
    ('SELECT count(*) FROM (SELECT rank() OVER (ORDER BY id) AS r FROM stay_dp) q WHERE r = 1'),
    ('SELECT row_number() OVER (), town FROM stay_dp'),
    ('SELECT count(*) OVER () FROM stay_dp LIMIT 1'),
    ('SELECT * FROM (SELECT lag(town) OVER (ORDER BY id) FROM stay_dp) q'),
    ('SELECT count(*) FROM (SELECT generate_series(1, 1000) FROM stay_dp) q'),
    ('SELECT count(*) FROM (SELECT id FROM stay_dp FOR UPDATE) q'),
    ('SELECT town, count(*) FROM stay_dp GROUP BY GROUPING SETS ((town), (town))'),
    ('SELECT count(*) FROM stay_dp WHERE id > (SELECT 3)'),
    ('SELECT count(*) FROM stay_dp WHERE town IN (SELECT town FROM label)'),
    ('SELECT count(*) FROM stay_dp v WHERE EXISTS (SELECT FROM label l WHERE l.town = v.town)'),
    ('SELECT count(*) FILTER (WHERE id = (SELECT 3)) FROM stay_dp'),
    ('SELECT count(*) FROM (SELECT (SELECT grade FROM label l WHERE l.town = v.town) AS g FROM stay_dp v) q WHERE g = 1'),
    ('SELECT l.town, (SELECT count(*) FROM stay_dp v WHERE v.town = l.town) FROM label l'),
    ('SELECT l.town, n FROM label l, LATERAL (SELECT count(*) AS n FROM stay_dp v WHERE v.town = l.town) q'),
    ('SELECT l.town, (WITH w AS (SELECT small FROM stay_dp v WHERE v.town = l.town) SELECT count(*) FROM w) FROM label l'),
    ('SELECT l.town, (SELECT count(*) FROM (SELECT small FROM stay_dp v) q WHERE small > l.grade) FROM label l'),
    ('SELECT l.town, (SELECT count(*) FROM stay_dp GROUP BY l.grade) FROM label l'),
    ('SELECT count(v) FROM stay_dp v'),
    ('SELECT count(q) FROM (SELECT town, id FROM stay_dp) q'),
    ('SELECT count(*) FROM seen WHERE seen IS NOT NULL'),
    ('SELECT count(r) FROM (SELECT v AS r FROM stay_dp v) q'),
    ('SELECT q, count(*) FROM (SELECT town, id FROM stay_dp) q GROUP BY q'),
    ('SELECT count(*) FROM (SELECT random() AS r FROM stay_dp) q WHERE r < 0.5'),
    ('SELECT * FROM stay_dp FOR SHARE'),
    ('SELECT count(*) FROM stay_dp FOR UPDATE'),
    ('SELECT count(*) FROM stay_dp TABLESAMPLE SYSTEM (1)'),
    ('INSERT INTO stay_dp (id) VALUES (1)'), ('UPDATE stay_dp SET id = 1'), ('DELETE FROM stay_dp'),
    ('TRUNCATE stay_dp'),
    ('SELECT town FROM stay_dp'), ('SELECT * FROM stay_dp v JOIN label l ON v.town = l.town')) t (statement);
\set VERBOSITY default
SELECT count(*) FROM stay_dp JOIN label ON stay_dp.town = label.town;
SELECT count(*) FROM (SELECT id FROM stay_dp LIMIT 5) q;
SELECT count(*) FROM (SELECT DISTINCT town FROM stay_dp) q;
SELECT town, rank() OVER (ORDER BY id) FROM stay_dp;
SELECT town, count(*) FROM stay_dp GROUP BY ROLLUP (town), ROLLUP (town);
SELECT l.town, (SELECT count(*) FROM stay_dp v WHERE v.town = l.town) FROM label l;
SELECT count(*) FROM stay_dp WHERE id > (SELECT 3);
SELECT count(q) FROM (SELECT town, id FROM stay_dp) q;
SELECT * FROM dp_query('SELECT count(*) FROM (SELECT id FROM stay_dp LIMIT 5) q') AS (n bigint);
\set VERBOSITY terse
SET ROLE regress_controller;
SELECT o.releases - b.releases AS charges, o.epsilon - b.epsilon AS epsilon, o.denials - b.denials AS denials FROM dp_odometer('stay') o, before b WHERE o.account = 'public';

RESET ROLE;
DROP VIEW pg_temp.by_town, pg_temp.seen_in, pg_temp.seen;
DROP FUNCTION pg_temp.above_atomic, counted, true_count, described, refused;
SET ROLE regress_controller;
SELECT dp_unprotect('stay_dp');
DROP TABLE stay, label;
RESET ROLE;
DISCARD TEMP;
DROP TYPE shade;
REVOKE CREATE ON SCHEMA public FROM regress_exact;
DROP ROLE regress_exact;
