-- What a unit brings to a query, added up by its groups (formulas.md, 9): dp_rdr.cells, called by hand with specifications
-- like those that a query makes. Sums are compared with plain SQL; which groups are kept must not depend on the order of rows, on
-- parts that are added up, or on how a value is stored; and whatever it is told, it refuses or adds something up.
\set VERBOSITY terse
SET jit = off;
CREATE SCHEMA contribution_by_hand;
SET search_path = contribution_by_hand, by_hand, public;

-- The result with keys: the number of groups; of each the length of its key, the key, a sum of 16 bytes for each coordinate. Lowest byte first.
CREATE FUNCTION groups_of(result bytea, coordinates integer) RETURNS TABLE (key bytea, sums numeric[]) IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE
    place integer := 4;
    length integer;
BEGIN
    IF length(result) = 16 * coordinates THEN -- without keys
        key := '';
        sums := numbers(result);
        RETURN NEXT;
        RETURN;
    END IF;
    FOR i IN 1 .. number_at(result, 0, 4) LOOP
        length := number_at(result, place, 4);
        key := substr(result, place + 5, length);
        place := place + 4 + length;
        sums := (SELECT array_agg(number_at(result, place + 16 * c, 16) ORDER BY c) FROM generate_series(0, coordinates - 1) c);
        place := place + 16 * coordinates;
        RETURN NEXT;
    END LOOP;
    IF place <> length(result) THEN
        RAISE 'not all was read';
    END IF;
END $$;
CREATE FUNCTION integer_key(v integer) RETURNS bytea IMMUTABLE
RETURN CASE WHEN v IS NULL THEN '\x00' ELSE
    '\x01'::bytea || substr(int4send(v), 4, 1) || substr(int4send(v), 3, 1) || substr(int4send(v), 2, 1) || substr(int4send(v), 1, 1) END;
CREATE FUNCTION text_key(v text) RETURNS bytea IMMUTABLE
RETURN CASE WHEN v IS NULL OR octet_length(v) > 1000 THEN '\x00' ELSE
    '\x01'::bytea || substr(int2send(octet_length(v)::int2), 2, 1) || substr(int2send(octet_length(v)::int2), 1, 1) || convert_to(v, 'UTF8') END;

-- 35 units of 1 to 35 rows, in up to 30 groups.
CREATE TABLE contribution_rows AS
SELECT unit, nullif((unit * 7 + i * i * i) % 30, 29) AS g, CASE WHEN i % 11 > 0 THEN i % 11 - 5 END AS x,
       CASE WHEN i % 7 = 0 THEN 'NaN' WHEN i % 13 > 0 THEN i % 13 / 12.0 END::float8 AS y
FROM generate_series(1, 35) unit, generate_series(1, unit) i;
ANALYZE contribution_rows;

-- All measures, without keys and with one: a row that has no value adds nothing, NaN counts but is not summed.
CREATE VIEW all_measures AS
SELECT spec_of_unit(0, 0, 1, counts(1), counts(1024), counts(1, 1), sums(-3, 4), parts(2, 0, 1), parts(3, 0, 1)) AS without_keys,
       spec_of_unit(1, 1, 1000, counts(1), counts(1024), counts(1, 1), sums(-3, 4), parts(2, 0, 1), parts(3, 0, 1)) AS with_key;
CREATE FUNCTION points(y float8) RETURNS numeric[] IMMUTABLE -- z1, z0; then the three parts
RETURN CASE WHEN y IS NULL OR y = 'NaN' THEN '{0,0,0,0,0}' ELSE (SELECT ARRAY[z1, one - z1, squares, one - squares - rest, rest]
    FROM (VALUES (1073741824::numeric, round(y * 1073741824)::numeric, floor(y * y * 1073741824 + 0.5)::numeric,
                  floor((1 - y) * (1 - y) * 1073741824 + 0.5)::numeric)) p (one, z1, squares, rest)) END;
CREATE TABLE expected AS
SELECT unit, g, integer_key(g) AS key, GROUPING(g) AS whole,
       ARRAY[count(*), 1024 * count(y), (count(x) > 0)::integer, coalesce(sum(greatest(-3, least(4, x))) FILTER (WHERE x IS NOT NULL), 0),
             sum((points(y))[1]), sum((points(y))[2]), sum((points(y))[3]), sum((points(y))[4]), sum((points(y))[5])]::numeric[] AS sums
FROM contribution_rows GROUP BY GROUPING SETS ((unit), (unit, g));
ANALYZE expected;

SELECT count(*) AS units, count(*) FILTER (WHERE r.key = '' AND r.sums = e.sums) AS as_expected
FROM (SELECT unit, dp_rdr.cells((SELECT without_keys FROM all_measures), true, y, x, x, y, y) AS result
      FROM contribution_rows GROUP BY unit) u, groups_of(result, 9) r
JOIN expected e ON whole = 1 WHERE e.unit = u.unit;
SELECT count(*) AS groups, count(*) FILTER (WHERE r.sums = e.sums) AS as_expected,
       (SELECT count(*) FROM expected WHERE whole = 0) AS expected
FROM (SELECT unit, dp_rdr.cells((SELECT with_key FROM all_measures), unit, g, true, y, x, x, y, y) AS result
      FROM contribution_rows GROUP BY unit) u, groups_of(result, 9) r
JOIN expected e ON whole = 0 WHERE e.unit = u.unit AND r.key = e.key;

-- Values of every type that is summed have the same points.
SELECT count(DISTINCT result) AS results
FROM (SELECT spec_of_unit(0, 0, 1, sums(-3, 4, 1), parts(2, -5, 5)) AS f) f, LATERAL (
    SELECT dp_rdr.cells(f, x, x) FROM contribution_rows UNION ALL
    SELECT dp_rdr.cells(f, x::smallint, x::bigint) FROM contribution_rows UNION ALL
    SELECT dp_rdr.cells(f, x::bigint, x::smallint) FROM contribution_rows UNION ALL
    SELECT dp_rdr.cells(f, x::real, x::numeric) FROM contribution_rows UNION ALL
    SELECT dp_rdr.cells(f, x::numeric, x::float8) FROM contribution_rows UNION ALL
    SELECT dp_rdr.cells(f, x::float8, x::real) FROM contribution_rows) r (result);
-- Beyond the bounds are the bounds.
SELECT g.sums FROM (SELECT dp_rdr.cells(spec_of_unit(0, 0, 1, sums(-1000, 1000), parts(2, 0, 1)), v, v) AS result
    FROM unnest('{Infinity,1e300,-Infinity,NaN,NULL}'::float8[]) v) r, groups_of(result, 3) g;

-- ---- kept groups ----

CREATE FUNCTION kept(kappa integer) RETURNS bytea IMMUTABLE PARALLEL SAFE RETURN spec_of_unit(1, 1, kappa, counts(1, 1), sums(-3, 4));

-- At most kappa, each with its whole sums, whatever the order of rows. (A specification is read once in an execution.)
CREATE FUNCTION by_unit(kappa integer)
RETURNS TABLE (unit integer, there bigint, ascending bytea, descending bytea, mixed bytea) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    SELECT r.unit, count(DISTINCT coalesce(g, -1)), dp_rdr.cells(kept(kappa), r.unit, g, true, x ORDER BY g, x),
           dp_rdr.cells(kept(kappa), r.unit, g, true, x ORDER BY g DESC, x),
           dp_rdr.cells(kept(kappa), r.unit, g, true, x ORDER BY md5(g::text || x), ctid)
    FROM contribution_rows r GROUP BY r.unit;
END $$;
CREATE TABLE results AS SELECT kappa, b.* FROM unnest('{1,2,5,8,9,17,30}'::integer[]) kappa, by_unit(kappa) b;
SELECT kappa, count(*) AS units, count(*) FILTER (WHERE groups = least(kappa, there)) AS as_many_as_may_be,
       count(*) FILTER (WHERE ascending = descending AND ascending = mixed) AS same
FROM (SELECT r.*, (SELECT count(*) FROM groups_of(ascending, 2)) AS groups FROM results r) s
GROUP BY kappa ORDER BY kappa;
CREATE TABLE kept_groups AS SELECT unit, k.* FROM results, groups_of(ascending, 2) k;
SELECT count(*) AS groups, count(*) FILTER (WHERE k.sums = ARRAY[1, e.sums[4]]) AS whole
FROM kept_groups k JOIN expected e ON e.whole = 0 AND e.unit = k.unit AND e.key = k.key;
-- Larger kappa keep what smaller ones keep.
SELECT count(*) AS kept, count(*) FILTER (WHERE NOT EXISTS (SELECT FROM groups_of(nine, 2) b WHERE b = a)) AS lost
FROM (SELECT unit, dp_rdr.cells(kept(3), unit, g, true, x) AS three, dp_rdr.cells(kept(9), unit, g, true, x) AS nine
      FROM contribution_rows GROUP BY unit) u, groups_of(three, 2) a;
-- Other units keep other groups: of these 300 units each keeps 1 of 3, and no group has fewer than 60 (100 on average).
SELECT count(*) AS groups, min(units) > 60 AS of_many_units
FROM (SELECT key, count(*) AS units
      FROM (SELECT unit, dp_rdr.cells(kept(1), unit, g, true, g) AS result
            FROM generate_series(1, 300) unit, generate_series(1, 3) g GROUP BY unit) u, groups_of(result, 2) GROUP BY key) k;
-- A unit is its value, however it is written.
SELECT count(DISTINCT result) AS results
FROM (SELECT dp_rdr.cells(kept(2), unit, g, true, g ORDER BY i) AS result
      FROM (VALUES (1, '{1.0,1,1.000}'::numeric[]), (2, '{1.000,1.0,1}'), (3, '{1,1,1}')) v (i, units), unnest(units) unit, generate_series(1, 9) g
      GROUP BY v.i) r;

-- Very many groups of one unit: long keys come and go.
WITH r AS (SELECT dp_rdr.cells(spec_of_unit(1, 1, 20, counts(1)), 1, repeat(md5(i::text), 15), true ORDER BY i) AS ascending,
                  dp_rdr.cells(spec_of_unit(1, 1, 20, counts(1)), 1, repeat(md5(i::text), 15), true ORDER BY i DESC) AS descending
           FROM generate_series(1, 20000) i)
SELECT ascending = descending AS same, (SELECT count(*) FROM groups_of(ascending, 1)) AS groups, length(ascending) AS bytes FROM r;

-- ---- keys ----

-- By length, by value and by reference; NULL is a group of its own.
CREATE TABLE contribution_keys (id integer, c "char", s smallint, b bigint, u uuid, n name, t text, p point);
ALTER TABLE contribution_keys ALTER t SET STORAGE EXTERNAL;
INSERT INTO contribution_keys
SELECT i, i::"char", i, i, ('00000000-0000-0000-0000-00000000000' || i)::uuid, 'n' || i, repeat(chr(64 + i), 110 * i), point(i, i) FROM generate_series(1, 9) i;
INSERT INTO contribution_keys VALUES (10);
SELECT (SELECT count(*) FROM groups_of(result, 1)) AS groups, (SELECT bool_and(sums = '{2}') FROM groups_of(result, 1)) AS twice
FROM (SELECT dp_rdr.cells(spec_of_unit(0, 7, 100, counts(1)), c, s, b, u, n, t, p, true) AS result
      FROM contribution_keys, generate_series(1, 2)) r;
SELECT count(*) AS groups, count(*) FILTER (WHERE key = text_key(t)) AS as_expected
FROM (SELECT dp_rdr.cells(spec_of_unit(0, 1, 100, counts(1)), t, true) AS result FROM contribution_keys) r, groups_of(result, 1)
JOIN contribution_keys ON key = text_key(t);
-- What is longer than a key may be is the NULL key, and is not fetched: 1,000 bytes are there, 1,001 and 60 MB are not.
CREATE TABLE contribution_long AS SELECT repeat('k', n) AS t FROM unnest('{1000,1001,60000000}'::integer[]) n;
SELECT left(encode(key, 'hex'), 8) AS key, length(key), sums
FROM (SELECT dp_rdr.cells(spec_of_unit(0, 1, 3, counts(1)), t, true) AS result FROM contribution_long) r, groups_of(result, 1) ORDER BY 2;

-- ---- partial states ----

CREATE TABLE contribution_serial AS
SELECT unit, dp_rdr.cells(kept(5), unit, g, true, x) AS five, dp_rdr.cells(kept(1000), unit, g, true, x) AS thousand,
       dp_rdr.cells((SELECT with_key FROM all_measures), unit, g, true, y, x, x, y, y) AS measures
FROM contribution_rows GROUP BY unit;
CREATE TABLE contribution_serial_keys AS
SELECT dp_rdr.cells(spec_of_unit(0, 2, 5, counts(1)), t, s, true) AS keys FROM contribution_keys;
ALTER TABLE contribution_rows SET (parallel_workers = 3);
ALTER TABLE contribution_keys SET (parallel_workers = 3);
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
CREATE VIEW in_parallel AS
SELECT unit, dp_rdr.cells(kept(5), unit, g, true, x) AS five, dp_rdr.cells(kept(1000), unit, g, true, x) AS thousand,
       dp_rdr.cells((SELECT with_key FROM all_measures), unit, g, true, y, x, x, y, y) AS measures
FROM contribution_rows GROUP BY unit;
CREATE FUNCTION is_partial(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    line text;
    found boolean := false;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
        found := found OR line LIKE '%Partial%Aggregate%';
    END LOOP;
    RETURN found;
END $$;
SELECT is_partial('SELECT * FROM in_parallel'),
       is_partial('SELECT dp_rdr.cells(spec_of_unit(0, 2, 5, counts(1)), t, s, true) FROM contribution_keys');
SELECT count(*) AS units, count(*) FILTER (WHERE p = s) AS same FROM in_parallel p JOIN contribution_serial s USING (unit);
SELECT p.keys = s.keys AS same
FROM (SELECT dp_rdr.cells(spec_of_unit(0, 2, 5, counts(1)), t, s, true) AS keys FROM contribution_keys) p, contribution_serial_keys s;
SET enable_hashagg = off;
SELECT count(*) AS units, count(*) FILTER (WHERE p = s) AS same FROM in_parallel p JOIN contribution_serial s USING (unit);
RESET enable_hashagg;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
-- The rows of every unit in four parts, each of which is added up by itself.
CREATE TABLE contribution_parts (unit integer, g integer, x integer, y float8, part integer) PARTITION BY LIST (part);
CREATE TABLE contribution_part_0 PARTITION OF contribution_parts FOR VALUES IN (0);
CREATE TABLE contribution_part_1 PARTITION OF contribution_parts FOR VALUES IN (1);
CREATE TABLE contribution_part_2 PARTITION OF contribution_parts FOR VALUES IN (2);
CREATE TABLE contribution_part_3 PARTITION OF contribution_parts FOR VALUES IN (3);
INSERT INTO contribution_parts SELECT *, row_number() OVER (PARTITION BY unit ORDER BY g, x, y) % 4 FROM contribution_rows;
ANALYZE contribution_parts;
SET enable_partitionwise_aggregate = on;
SET cpu_tuple_cost = 10; -- fewer rows through Append
SET max_parallel_workers_per_gather = 0;
CREATE VIEW in_parts AS
SELECT unit, dp_rdr.cells(kept(5), unit, g, true, x) AS five, dp_rdr.cells(kept(1000), unit, g, true, x) AS thousand,
       dp_rdr.cells((SELECT with_key FROM all_measures), unit, g, true, y, x, x, y, y) AS measures
FROM contribution_parts GROUP BY unit;
SELECT is_partial('SELECT * FROM in_parts') AS in_parts;
SELECT count(*) AS units, count(*) FILTER (WHERE p = s) AS same FROM in_parts p JOIN contribution_serial s USING (unit);
RESET enable_partitionwise_aggregate;
RESET cpu_tuple_cost;
RESET max_parallel_workers_per_gather;

-- ---- what it refuses ----

SELECT dp_rdr.cells(NULL, true);
SELECT dp_rdr.cells('', true);
SELECT dp_rdr.cells('\x00', true);
SELECT dp_rdr.cells(spec_of_unit(0, 0, 1, counts(1)) || '\x0000000000000000', true);
SELECT dp_rdr.cells(spec_of_unit(0, 0, 1, counts(1)), true, true);
SELECT dp_rdr.cells(spec_of_unit(0, 1, 1, counts(1)), true);
SELECT dp_rdr.cells(spec_of_unit(-1, 2, 1, counts(1)), true, true);
SELECT dp_rdr.cells(spec_of_unit(5, 0, 1, counts(1)), 1, 2, 3, 4, 5, true);
SELECT dp_rdr.cells(spec_of_unit(0, 0, 0, counts(1)), true);
SELECT dp_rdr.cells(spec_of_unit(0, 1, 67108864, counts(1)), 1, true);
SELECT dp_rdr.cells(spec_of_unit(0, 1, 9223372036854775807, counts(1)), 1, true);
SELECT dp_rdr.cells(spec_of_unit(0, 1, 70000, counts(1)), 'long'::text, true);
SELECT dp_rdr.cells(spec_of_unit(0, 0, 1, counts(0)), true);
SELECT dp_rdr.cells(spec_of_unit(0, 0, 1, counts(1048577)), true);
SELECT dp_rdr.cells(spec_of_unit(0, 0, 1, sums(5, 4)), 1);
SELECT dp_rdr.cells(spec_of_unit(0, 0, 1, sums(0, 4, 'NaN')), 1);
SELECT dp_rdr.cells(spec_of_unit(0, 0, 1, parts(4, 0, 1)), 1);
SELECT dp_rdr.cells(spec_of_unit(0, 0, 1, parts(-1, 0, 1)), 1);
SELECT dp_rdr.cells(spec_of_unit(0, 0, 1, set_byte(sums(0, 4), 15, 1)), 1);
SELECT dp_rdr.cells(spec_of_unit(0, 0, 1, sums(0, 4)), 'one'::text);
SELECT dp_rdr.cells(spec_of_unit(0, 1, 1, counts(1)), 'a literal', true);
-- Points for products and moments alone, and nothing else for them; of as many as there may be each has its place.
SELECT dp_rdr.cells(spec_of_unit(0, 0, 1, parts(5, 0, 1)), 1::float8);
SELECT dp_rdr.cells(spec_of_unit(0, 0, 1, parts(2, 0, 1)), point(1, 1));
SELECT dp_rdr.cells(spec_of_unit(0, 0, 1, parts(4, 0, 1)), 1::float8);
SELECT key, sums FROM (SELECT dp_rdr.cells(spec_of_unit(0, 0, 1, parts(6, 0, 2)), point(x, 0.25)) AS result FROM unnest('{0.5,2,NaN}'::float8[]) x) r, groups_of(result, 6);
DO $$
BEGIN
    EXECUTE (SELECT format('SELECT dp_rdr.cells(spec_of_unit(0, 0, 1, VARIADIC ARRAY[%s]), %s) FROM generate_series(1, 3)', string_agg('parts(6, 0, 1)', ','), string_agg('point(0.5, 0.5)', ','))
             FROM generate_series(1, 97));
END $$;
SELECT dp_rdr.cells(spec_of_unit(1, 0, 1, counts(1)), point(1, 1), true);
SELECT dp_rdr.cells(spec_of_unit(0, 0, 1, counts(1)), true) OVER () FROM contribution_rows;
-- Which error says so differs between minor versions.
SELECT public.attempt('SELECT dp_rdr.cells_combine(NULL::internal, NULL::internal)') ~ '^(42846|0A000) cannot ' AS refused,
       public.attempt($$SELECT dp_rdr.cells_deserialize('\x00'::bytea, NULL::internal)$$) ~ '^(42846|0A000) cannot ' AS refused_too;
-- What it does not: bounds that are no numbers, sums of all of 64 bits, an array in place of the arguments, no rows.
SELECT g.sums FROM (SELECT dp_rdr.cells(spec_of_unit(0, 0, 1, parts(2, 'NaN', 'NaN'), parts(3, 'Infinity', '-Infinity')), v, v) AS result
    FROM unnest('{1,2}'::float8[]) v) r, groups_of(result, 5) g;
SELECT g.sums FROM (SELECT dp_rdr.cells(spec_of_unit(0, 0, 1, sums(-9223372036854775808, 9223372036854775807)), 9223372036854775807) AS result
    FROM generate_series(1, 3)) r, groups_of(result, 1) g;
SELECT key, sums FROM (SELECT dp_rdr.cells(spec_of_unit(0, 0, 1, counts(1)), VARIADIC ARRAY[1, 2, 3]) AS result) r, groups_of(result, 1);
SELECT dp_rdr.cells(spec_of_unit(0, 0, 1, counts(1)), true) = '' AS nothing WHERE false;

-- A unit without a key and without values is no specification: what stands in the place of the measure has another type.
SELECT dp_rdr.cells(spec_of_unit(1, 0, 1, sums(0, 100)), 7, i) FROM generate_series(1, 3) i;
SELECT dp_rdr.cells(spec_of_unit(1, 0, 1, sums(0, 100)), i, i::numeric) FROM generate_series(1, 3) i;
SELECT dp_rdr.cells(spec_of_unit(2, 0, 1, counts(1)), 'a'::text, 4096::bigint, true) FROM generate_series(1, 3);

-- Only the aggregate is for everybody, since the internal statement runs as the owner of the rows.
SELECT proname, has_function_privilege('public', oid, 'EXECUTE') AS granted
FROM pg_proc WHERE pronamespace = 'dp_rdr'::regnamespace AND proname ~ '^cell' ORDER BY proname;

RESET search_path;
RESET jit;
DROP SCHEMA contribution_by_hand CASCADE;
