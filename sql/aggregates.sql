-- Aggregates with an epsilon of the caller's own, their marker forms, and the exact sums below a release.
--
-- No noisy number is printed. Noise is compared with bounds that it exceeds with probability below 1e-9 (all of this file
-- together): at epsilon 100 a count is off by 1 with probability 8e-44; a sum by 0.3 * max(|lower|,|upper|), and each half
-- of an average's pair by 0.3, with probability 1e-13; then an average over n rows is off by less than
-- 0.6 * (upper - lower) / (n - 0.6).

-- SQLSTATE and message of a statement, or its only value.
CREATE FUNCTION outcome(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
    EXECUTE statement INTO result;
    RETURN result;
EXCEPTION WHEN OTHERS THEN
    RETURN sqlstate || ' ' || sqlerrm;
END $$;

CREATE TABLE aggregates_data AS
SELECT id, id % 4 AS k,
       (id * 7 % 100 - 20)::smallint AS s, id * 7 % 100 - 20 AS i, (id * 7 % 100 - 20)::bigint AS b,
       (id * 7 % 100 - 20.5)::real AS r, (id * 7 % 100 - 20.25)::double precision AS d, id * 7 % 100 - 20.125 AS n,
       CASE WHEN id % 3 <> 0 THEN id % 10 END AS gaps
FROM generate_series(1, 2000) id;
ALTER TABLE aggregates_data SET (parallel_workers = 2);
ANALYZE aggregates_data;

-- ---------------------------------------------------------------------------------------------------------------------
-- Answers near the exact ones, of the types of sum and avg
-- ---------------------------------------------------------------------------------------------------------------------

SELECT pg_typeof(dp_count(i, 1)) AS count,
       pg_typeof(dp_sum(s, 0, 1, 1)) AS sum_s, pg_typeof(dp_sum(i, 0, 1, 1)) AS sum_i, pg_typeof(dp_sum(b, 0, 1, 1)) AS sum_b,
       pg_typeof(dp_sum(r, 0, 1, 1)) AS sum_r, pg_typeof(dp_sum(d, 0, 1, 1)) AS sum_d, pg_typeof(dp_sum(n, 0, 1, 1)) AS sum_n
FROM aggregates_data;
SELECT pg_typeof(dp_avg(s, 0, 1, 1)) AS avg_s, pg_typeof(dp_avg(i, 0, 1, 1)) AS avg_i, pg_typeof(dp_avg(b, 0, 1, 1)) AS avg_b,
       pg_typeof(dp_avg(r, 0, 1, 1)) AS avg_r, pg_typeof(dp_avg(d, 0, 1, 1)) AS avg_d, pg_typeof(dp_avg(n, 0, 1, 1)) AS avg_n
FROM aggregates_data;

SELECT dp_count(i, 100) = count(i) AS i, dp_count(gaps, 100) = count(gaps) AS gaps, dp_count('x'::text, 100) = count(*) AS text
FROM aggregates_data;
SELECT abs(dp_sum(s, -20, 79, 100) - sum(s)) < 24 AS s, abs(dp_sum(i, -20, 79, 100) - sum(i)) < 24 AS i,
       abs(dp_sum(b, -20, 79, 100) - sum(b)) < 24 AS b, abs(dp_sum(r, -20.5, 79, 100) - sum(r)) < 24 AS r,
       abs(dp_sum(d, -20.5, 79, 100) - sum(d)) < 24 AS d, abs(dp_sum(n, -20.5, 79, 100) - sum(n)) < 24 AS n
FROM aggregates_data;
SELECT abs(dp_avg(s, -21, 79, 100) - avg(s)) < 0.1 AS s, abs(dp_avg(i, -21, 79, 100) - avg(i)) < 0.1 AS i,
       abs(dp_avg(b, -21, 79, 100) - avg(b)) < 0.1 AS b, abs(dp_avg(r, -21, 79, 100) - avg(r)) < 0.1 AS r,
       abs(dp_avg(d, -21, 79, 100) - avg(d)) < 0.1 AS d, abs(dp_avg(n, -21, 79, 100) - avg(n)) < 0.1 AS n
FROM aggregates_data;

-- Values are clamped, not rejected.
SELECT dp_sum(i, 0, 1, 100) = sum(least(greatest(i, 0), 1)) AS clamped FROM aggregates_data;

-- FILTER, GROUP BY, grouping sets, DISTINCT and ORDER BY.
SELECT dp_count(gaps, 100) FILTER (WHERE gaps > 4) = count(gaps) FILTER (WHERE gaps > 4) AS filter,
       dp_count(DISTINCT gaps, 100) = count(DISTINCT gaps) AS distinct_count,
       dp_sum(DISTINCT gaps % 2, 0, 1, 100) = sum(DISTINCT gaps % 2) AS distinct_sum,
       dp_sum(gaps % 2, 0, 1, 100 ORDER BY n, id) = sum(gaps % 2) AS ordered
FROM aggregates_data;
SELECT k, dp_count(gaps, 100) = count(gaps) AS count, dp_sum(gaps % 2, 0, 1, 100) = sum(gaps % 2) AS sum,
       abs(dp_avg(gaps, 0, 10, 100) - avg(gaps)) < 0.1 AS avg
FROM aggregates_data GROUP BY k ORDER BY k;
SELECT k, s < 0 AS negative, dp_count(gaps, 100) = count(gaps) AS count
FROM aggregates_data GROUP BY GROUPING SETS ((k), (s < 0), ()) ORDER BY k, negative;

-- The same call written twice is one answer; groups are answers of their own.
SELECT dp_count(i, 0.001) = dp_count(i, 0.001) AS one_answer FROM aggregates_data;
SELECT count(DISTINCT c) > 1 AS several_answers
FROM (SELECT dp_count(i, 0.000000001) AS c FROM aggregates_data GROUP BY k) AS counts;

-- A worker may scan; the aggregate itself is serial.
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT dp_count(i, 1) FROM aggregates_data;
SELECT dp_count(i, 100) = 2000 AS count FROM aggregates_data;

-- ---------------------------------------------------------------------------------------------------------------------
-- The empty set is answered like any other
-- ---------------------------------------------------------------------------------------------------------------------

SELECT dp_count(i, 100) AS count, dp_sum(i, 0, 1, 100) AS sum,
       dp_sum(r, 0, 1, 1) IS NOT NULL AS sum_r, dp_sum(n, 0, 1, 1) IS NOT NULL AS sum_n,
       dp_avg(i, 5, 10, 0.1) BETWEEN 5 AND 10 AS avg_i, dp_avg(d, 5, 10, 0.1) BETWEEN 5 AND 10 AS avg_d
FROM aggregates_data WHERE false;
SELECT dp_count(NULL::integer, 100) AS count, dp_sum(NULL::integer, 0, 1, 100) AS sum,
       dp_avg(NULL::numeric, 5, 10, 0.1) BETWEEN 5 AND 10 AS avg
FROM aggregates_data;
SELECT dp_count(i, 100) FILTER (WHERE false) AS count, dp_avg(i, 5, 10, 0.1) FILTER (WHERE false) BETWEEN 5 AND 10 AS avg
FROM aggregates_data;

-- ---------------------------------------------------------------------------------------------------------------------
-- NaN contributes to no sum, infinities count as the bounds, and results saturate
-- ---------------------------------------------------------------------------------------------------------------------

SELECT dp_count(v, 100) AS count, dp_sum(v, 0, 1, 100)::integer AS sum, dp_avg(v, 0, 1, 100) BETWEEN 0 AND 1 AS avg
FROM unnest('{NaN,Infinity,-Infinity,1,NULL}'::real[]) v;
SELECT dp_count(v, 100) AS count, dp_sum(v, 0, 1, 100)::integer AS sum, dp_avg(v, 0, 1, 100) BETWEEN 0 AND 1 AS avg
FROM unnest('{NaN,Infinity,-Infinity,1.7e308,-1.7e308,NULL}'::double precision[]) v;
SELECT dp_count(v, 100) AS count, dp_sum(v, 0, 1, 100)::integer AS sum, dp_avg(v, 0, 1, 100) BETWEEN 0 AND 1 AS avg
FROM unnest('{NaN,Infinity,-Infinity,1e100000,-1e100000,NULL}'::numeric[]) v;
SELECT dp_sum(v, 0, 1, 100) AS sum, dp_avg(v, -9223372036854775808, 9223372036854775807, 100)
       BETWEEN -9223372036854775808 AND 9223372036854775807 AS avg
FROM unnest('{-9223372036854775808,9223372036854775807}'::bigint[]) v;
-- One lattice unit, 2^967, is beyond all these types but numeric; noise of zero units has probability 5e-11.
SELECT abs(dp_sum(i, -1e300, 0, 0.1)::numeric) >= 9223372036854775807 AS sum_i,
       abs(dp_sum(r, -1e300, 0, 0.1)) = 3.4028235e38::real AS sum_r,
       abs(dp_sum(d, -1e300, 0, 0.000000001)) BETWEEN 1e290 AND 1.7976931348623157e308 AS sum_d
FROM aggregates_data WHERE false;

-- ---------------------------------------------------------------------------------------------------------------------
-- Epsilon and bounds: constants and parameters
-- ---------------------------------------------------------------------------------------------------------------------

PREPARE answer(numeric, numeric, numeric) AS
    SELECT dp_count(i, $1) = count(i) AS count, dp_sum(i, $2, $3, $1) = sum(least(greatest(i, 0), 1)) AS sum FROM aggregates_data;
SET plan_cache_mode = force_custom_plan;
EXECUTE answer(100, 0, 1);
SET plan_cache_mode = force_generic_plan;
EXECUTE answer(100, 0, 1);
EXECUTE answer(99.9999999999, 0, 1);
EXECUTE answer(NULL, 0, 1);
EXECUTE answer(0, 0, 1);
EXECUTE answer(1, 1, 0);
PREPARE casts(integer, text, double precision) AS
    SELECT dp_count(i, $1) = count(i) AS integer, dp_count(i, $2::numeric / 2) = count(i) AS text,
           dp_count(i, $3::numeric) = count(i) AS double
    FROM aggregates_data;
EXECUTE casts(100, '200', 100);
DO $$
DECLARE
    e numeric := 100;
    exact boolean;
BEGIN
    FOR round IN 1..7 LOOP
        SELECT dp_count(i, e) = count(i) INTO exact FROM aggregates_data;
        IF NOT exact THEN
            RAISE EXCEPTION 'not the count';
        END IF;
        e := e - 1;
    END LOOP;
END $$;
RESET plan_cache_mode;
DEALLOCATE answer;
DEALLOCATE casts;
SELECT dp_count(x, e) = 2000 AS folded_constant FROM (SELECT i AS x, 100.0 AS e FROM aggregates_data) AS s;

SELECT statement, outcome(statement) FROM (VALUES
    ('SELECT dp_count(i, n) FROM aggregates_data'),
    ('SELECT dp_count(i, n) FROM aggregates_data WHERE false'),
    ('SELECT dp_count(i, random()::numeric) FROM aggregates_data'),
    ('SELECT dp_count(i, (SELECT 1.0)) FROM aggregates_data'),
    ('SELECT (SELECT dp_count(i, o.n) FROM aggregates_data) FROM aggregates_data o'),
    ('SELECT dp_sum(i, n, 1, 1) FROM aggregates_data'),
    ('SELECT dp_avg(i, 0, n, 1) FROM aggregates_data'),
    ('SELECT dp_count(i, NULL) FROM aggregates_data'),
    ('SELECT dp_count(i, ''NaN'') FROM aggregates_data'),
    ('SELECT dp_count(i, ''Infinity'') FROM aggregates_data'),
    ('SELECT dp_count(i, ''-Infinity'') FROM aggregates_data'),
    ('SELECT dp_count(i, -1) FROM aggregates_data'),
    ('SELECT dp_count(i, -0) FROM aggregates_data'),
    ('SELECT dp_count(i, 0.0000000009) FROM aggregates_data'),
    ('SELECT dp_count(i, 100.000000001) FROM aggregates_data'),
    ('SELECT dp_count(i, 1000000000) FROM aggregates_data WHERE false'),
    ('SELECT dp_sum(i, NULL, 1, 1) FROM aggregates_data'),
    ('SELECT dp_sum(i, 0, NULL, 1) FROM aggregates_data'),
    ('SELECT dp_sum(i, 1, 1, 1) FROM aggregates_data'),
    ('SELECT dp_sum(i, ''NaN'', 1, 1) FROM aggregates_data'),
    ('SELECT dp_avg(i, 0, ''Infinity'', 1) FROM aggregates_data'),
    ('SELECT dp_avg(i, 0, 1e302, 1) FROM aggregates_data'),
    ('SELECT dp_avg(n, 0, 1e-272, 1) FROM aggregates_data'),
    ('SELECT dp_sum(i, 0, 1, 0) FROM aggregates_data'),
    ('SELECT dp_avg(i, 0, 1, NULL) FROM aggregates_data')) AS refused(statement);

-- ---------------------------------------------------------------------------------------------------------------------
-- No window functions: every row would be an answer of its own
-- ---------------------------------------------------------------------------------------------------------------------

SELECT statement, outcome(statement) FROM (VALUES
    ('SELECT dp_count(i, 1) OVER () FROM aggregates_data'),
    ('SELECT dp_sum(i, 0, 1, 1) OVER (ORDER BY id) FROM aggregates_data'),
    ('SELECT dp_avg(i, 0, 1, 1) OVER (PARTITION BY k) FROM aggregates_data'),
    ('SELECT dp_count(i) OVER () FROM aggregates_data'),
    ('SELECT dp_rdr.cells(by_hand.spec(by_hand.sums(0, 1)), i) OVER () FROM aggregates_data')) AS refused(statement);

-- ---------------------------------------------------------------------------------------------------------------------
-- Without an epsilon they are marks for queries over restricted views
-- ---------------------------------------------------------------------------------------------------------------------

SELECT dp_count(*) FROM aggregates_data;
SELECT dp_sum(i) FROM aggregates_data WHERE false;
SELECT statement, outcome(statement) FROM (VALUES
    ('SELECT dp_count(*) FROM aggregates_data'),
    ('SELECT dp_count(i) FROM aggregates_data'),
    ('SELECT dp_sum(s) FROM aggregates_data'), ('SELECT dp_sum(i) FROM aggregates_data'),
    ('SELECT dp_sum(b) FROM aggregates_data'), ('SELECT dp_sum(r) FROM aggregates_data'),
    ('SELECT dp_sum(d) FROM aggregates_data'), ('SELECT dp_sum(n) FROM aggregates_data'),
    ('SELECT dp_avg(s) FROM aggregates_data'), ('SELECT dp_avg(i) FROM aggregates_data'),
    ('SELECT dp_avg(b) FROM aggregates_data'), ('SELECT dp_avg(r) FROM aggregates_data'),
    ('SELECT dp_avg(d) FROM aggregates_data'), ('SELECT dp_avg(n) FROM aggregates_data'),
    ('SELECT dp_sum(''a''::text) FROM aggregates_data')) AS refused(statement);
SELECT p.oid::regprocedure AS aggregate, p.prorettype::regtype AS returns, p.prorettype = plain.prorettype AS like_the_plain_one
FROM pg_proc AS p
JOIN pg_proc AS plain ON plain.proname = substr(p.proname, 4) AND plain.proargtypes = p.proargtypes AND plain.prokind = 'a'
WHERE p.proname IN ('dp_count', 'dp_sum', 'dp_avg') AND p.prokind = 'a'
ORDER BY p.oid::regprocedure::text COLLATE "C";
SELECT p.oid::regprocedure AS without_a_comment
FROM pg_proc AS p
WHERE (p.proname IN ('dp_count', 'dp_sum', 'dp_avg')
       OR p.pronamespace = 'dp_rdr'::regnamespace AND p.proname ~ '^(cells|noisy|marker)')
  AND obj_description(p.oid, 'pg_proc') IS NULL
ORDER BY p.oid::regprocedure::text COLLATE "C";

-- ---------------------------------------------------------------------------------------------------------------------
-- The exact sums of the internal statement: the same whatever the plan
-- ---------------------------------------------------------------------------------------------------------------------

CREATE VIEW aggregates_sums AS
SELECT k, dp_rdr.cells(by_hand.spec(by_hand.sums(-10, 50)), s) AS s, dp_rdr.cells(by_hand.spec(by_hand.sums(-10, 50)), i) AS i,
       dp_rdr.cells(by_hand.spec(by_hand.sums(-10, 50)), b) AS b, dp_rdr.cells(by_hand.spec(by_hand.sums(-80, 400, 8)), r) AS r,
       dp_rdr.cells(by_hand.spec(by_hand.sums(-80, 400, 8)), d) AS d, dp_rdr.cells(by_hand.spec(by_hand.sums(-80, 400, 8)), n) AS n,
       dp_rdr.cells(by_hand.spec(by_hand.sums(0, 9)), gaps) FILTER (WHERE id < 3) AS few,
       dp_rdr.cells(by_hand.spec(by_hand.parts(2, -20, 80)), d) AS pair
FROM aggregates_data GROUP BY k;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE aggregates_serial AS SELECT * FROM aggregates_sums;
RESET max_parallel_workers_per_gather;
EXPLAIN (COSTS OFF) SELECT dp_rdr.cells(by_hand.spec(by_hand.sums(-10, 50)), i), dp_rdr.cells(by_hand.spec(by_hand.parts(2, -20, 80)), d)
FROM aggregates_data;
SELECT count(*) AS groups_alike FROM aggregates_sums NATURAL JOIN aggregates_serial;
SELECT by_hand.total(dp_rdr.cells(by_hand.spec(by_hand.sums(-10, 50)), i)) = sum(least(greatest(i, -10), 50)) AS i,
       by_hand.total(dp_rdr.cells(by_hand.spec(by_hand.sums(-80, 400, 8)), n)) = sum(least(greatest(8 * n, -80), 400)) AS n,
       by_hand.total(dp_rdr.cells(by_hand.spec(by_hand.parts(2, -20, 108)), i)) = sum((i + 20) * 8388608::bigint) AS pair,
       by_hand.rows_of_pair(dp_rdr.cells(by_hand.spec(by_hand.parts(2, -20, 108)), i)) = count(i) AS rows
FROM aggregates_data;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;

SELECT by_hand.total(dp_rdr.cells(by_hand.spec(by_hand.sums(0, 1)), i)) AS sum, by_hand.total(dp_rdr.cells(by_hand.spec(by_hand.parts(2, 0, 1)), i)) AS pair,
       by_hand.rows_of_pair(dp_rdr.cells(by_hand.spec(by_hand.parts(2, 0, 1)), i)) AS rows FROM aggregates_data WHERE false;
SELECT by_hand.total(dp_rdr.cells(by_hand.spec(by_hand.sums(-9223372036854775808, 9223372036854775807)), v)) AS sum, sum(v) AS plain
FROM unnest('{9223372036854775807,9223372036854775807,9223372036854775807}'::bigint[]) v;
SELECT by_hand.total(dp_rdr.cells(by_hand.spec(by_hand.sums(-10, 20)), v)) AS sum, by_hand.total(dp_rdr.cells(by_hand.spec(by_hand.parts(2, -10, 20)), v)) AS pair,
       by_hand.rows_of_pair(dp_rdr.cells(by_hand.spec(by_hand.parts(2, -10, 20)), v)) AS rows
FROM unnest('{NaN,Infinity,-Infinity,5,NULL}'::double precision[]) v;
SELECT by_hand.total(dp_rdr.cells(by_hand.spec(by_hand.sums(-10, 20)), v)) AS sum, by_hand.total(dp_rdr.cells(by_hand.spec(by_hand.parts(2, -10, 20)), v)) AS pair,
       by_hand.rows_of_pair(dp_rdr.cells(by_hand.spec(by_hand.parts(2, -10, 20)), v)) AS rows
FROM unnest('{NaN,Infinity,-Infinity,5,NULL,1e400,-1e400,1e-400}'::numeric[]) v;
-- Halves go away from zero, and a numeric of any length becomes the nearest double.
SELECT line, by_hand.total(dp_rdr.cells(by_hand.spec(by_hand.sums(-100, 100)), v)) AS point
FROM unnest('{0.5,-0.5,2.5,0.49999999999999999999,0.4999999999999999,1e-30,12e-1}'::numeric[]) WITH ORDINALITY AS t(v, line)
GROUP BY line ORDER BY line;
SELECT v, by_hand.total(dp_rdr.cells(by_hand.spec(by_hand.sums(-9223372036854775808, 9223372036854775807)), v))
              = v::double precision::bigint AS nearest
FROM unnest('{0,9007199254740991,9007199254740993,-9007199254740995,1234567890123456,100000000000000000}'::numeric[]) v
GROUP BY v ORDER BY v;
-- In floating point the smallest step of one value moves a sum by as many steps as there are rows (C19), and the order of
-- the rows decides (C20); not here.
SELECT (max(plain) - min(plain)) / (2::float8 ^ -52) AS plain_steps, max(lattice) - min(lattice) AS lattice_steps
FROM (SELECT sum(v ORDER BY id) AS plain,
             by_hand.total(dp_rdr.cells(by_hand.spec(by_hand.sums(0, 2147483648::bigint, 1073741824)), v ORDER BY id)) AS lattice
      FROM generate_series(1, 4096) id, generate_series(0, 1) person,
           LATERAL (SELECT 1 + CASE WHEN id = 1 THEN person ELSE 1 END * 2::float8 ^ -52) x (v) GROUP BY person) sums;
SELECT sum(v ORDER BY v) AS plain, sum(v ORDER BY v DESC) AS plain_backwards,
       by_hand.total(dp_rdr.cells(by_hand.spec(by_hand.sums(-9007199254740992, 9007199254740992)), v ORDER BY v)) AS lattice,
       by_hand.total(dp_rdr.cells(by_hand.spec(by_hand.sums(-9007199254740992, 9007199254740992)), v ORDER BY v DESC)) AS lattice_backwards
FROM unnest('{9007199254740992,1,1,-9007199254740990}'::double precision[]) v;
-- What is released is a point of the lattice, whose unit (here 2^-30) comes from the bounds: digits tell nothing (C22).
SELECT count(*) AS sums, bool_and(sum * 1073741824 = trunc(sum * 1073741824)) AS on_the_lattice
FROM (SELECT dp_sum(d / 3, 0, 1, 0.5) AS sum FROM aggregates_data GROUP BY id % 100) answers;
CREATE DOMAIN aggregates_age AS integer;
SELECT by_hand.total(dp_rdr.cells(by_hand.spec(by_hand.sums(0, 3)), v::aggregates_age)) AS domain FROM generate_series(1, 5) v;
DROP DOMAIN aggregates_age;

SELECT statement, outcome(statement) FROM (VALUES
    ('SELECT dp_rdr.cells(by_hand.spec(by_hand.sums(0, 1)), ''a''::text)'),
    ('SELECT dp_rdr.cells(by_hand.spec(by_hand.parts(2, 1, 1)), now())'),
    ('SELECT dp_rdr.cells(NULL, 1)'),
    ('SELECT dp_rdr.cells(by_hand.spec(by_hand.sums(1, 0)), 1)'),
    ('SELECT dp_rdr.cells(by_hand.spec(by_hand.sums(0, 1), by_hand.counts()), 1)'),
    ('SELECT dp_rdr.cells(''\x'', 1)'),
    ('SELECT dp_rdr.cells(by_hand.spec(by_hand.parts(2, 0, 1)), 1) OVER ()'),
    ('SELECT dp_rdr.cell(by_hand.spec(by_hand.sums(0, 1)), 1)')) AS refused(statement);
-- A state cannot be written; which error says so differs between minor versions.
SELECT statement, outcome(statement) ~ '^(42883 function .* does not exist|42846 cannot cast type unknown to internal|0A000 cannot accept a value of type internal)$' AS refused
FROM (VALUES
    ('SELECT dp_rdr.cells_step(NULL, by_hand.spec(by_hand.sums(0, 1)), 1)'),
    ('SELECT dp_rdr.cells_combine(NULL, NULL)'),
    ('SELECT dp_rdr.cells_final(NULL)'),
    ('SELECT dp_rdr.cells_final(NULL::internal)')) AS refused(statement);

-- Anybody may use them on rows that he can read; the functions behind them are nobody's.
CREATE ROLE regress_aggregates;
SET ROLE regress_aggregates;
SELECT dp_count(v, 100) AS count, dp_sum(v, 0, 1, 100) AS sum, by_hand.total(dp_rdr.cells(by_hand.spec(by_hand.sums(0, 3)), v)) AS cells
FROM generate_series(1, 5) v;
CREATE AGGREGATE pg_temp.raw("any", numeric) (SFUNC = dp_rdr.noisy_count_step, STYPE = internal);
SELECT has_function_privilege('dp_rdr.noisy_count_step(internal, "any", numeric)', 'EXECUTE') AS step,
       has_function_privilege('dp_rdr.cells_step(internal, bytea, "any")', 'EXECUTE') AS cells_step,
       has_function_privilege('dp_rdr.cells(bytea, "any")', 'EXECUTE') AS cells;
RESET ROLE;
DROP ROLE regress_aggregates;

DROP VIEW aggregates_sums;
DROP TABLE aggregates_serial, aggregates_data;
DROP FUNCTION outcome(text);
