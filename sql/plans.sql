-- How the server plans a statement that asks: rows and costs from what is declared alone, nothing compiled, and soon.

SET ROLE regress_controller;
CREATE TYPE shade AS ENUM ('light', 'dark', 'none');
CREATE TABLE plate (id integer PRIMARY KEY, city text NOT NULL, tone shade, broken boolean, size integer);
SELECT dp_protect('plate', 'plate_dp');
SELECT dp_set_groups('plate', 'city', '{Oslo,Pisa,Rome}'), dp_set_groups('plate', 'size', ARRAY(SELECT generate_series(1, 5000)::text));
SELECT dp_grant('plate_dp', 'regress_analyst', tau => 0.95);

-- Lines of a plan, of other statements as well.
RESET ROLE;
CREATE FUNCTION plan(statement text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE 'EXPLAIN ' || statement;
END $$;
SET ROLE regress_analyst;

-- ---------------------------------------------------------------------------------------------------------------------
-- Rows: the product of what is declared, or of the values that a type has; a guess where nobody declared; 10,000 at most
-- ---------------------------------------------------------------------------------------------------------------------

SELECT plan('SELECT count(*) FROM plate_dp');
SELECT plan('SELECT city, count(*) FROM plate_dp GROUP BY city');
SELECT plan('SELECT tone, broken, count(*) FROM plate_dp GROUP BY tone, broken');
SELECT plan('SELECT id, count(*) FROM plate_dp GROUP BY id');
SELECT plan('SELECT size, city, count(*) FROM plate_dp GROUP BY size, city');
SELECT plan('SELECT size / 10, count(*) FROM plate_dp GROUP BY 1');
-- Called by hand it has what PostgreSQL expects of any function.
SELECT plan($$SELECT * FROM dp_rdr.release('SELECT count(*) FROM plate_dp', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)$$);
-- The rows do not show: neither in a table that was analysed nor in one with a person more.
CREATE TEMP TABLE before AS SELECT plan('SELECT id, tone, count(*), sum(size) FROM plate_dp WHERE id > 5 GROUP BY id, tone');
RESET ROLE;
INSERT INTO plate SELECT i, 'Oslo', 'dark', false, i FROM generate_series(1, 3000) i;
ANALYZE plate;
SET ROLE regress_analyst;
SELECT count(*) FROM (TABLE before EXCEPT SELECT plan('SELECT id, tone, count(*), sum(size) FROM plate_dp WHERE id > 5 GROUP BY id, tone')) x;

-- ---------------------------------------------------------------------------------------------------------------------
-- Costs: rows that nobody gets are dearer than any answer, so that a server that may choose asks for the answer
-- ---------------------------------------------------------------------------------------------------------------------

SELECT plan('SELECT size FROM plate_dp');
SELECT plan('SELECT ' || string_agg(format('(SELECT count(*) FROM plate_dp WHERE size = %s)', i), ', ')) AS forty
FROM generate_series(1, 40) i LIMIT 1;

-- ---------------------------------------------------------------------------------------------------------------------
-- Who wants rows beside answers gets neither, and pays nothing, whichever the server would begin with
-- ---------------------------------------------------------------------------------------------------------------------

SELECT attempt('SELECT t.city FROM (SELECT city, count(*) AS n FROM plate_dp GROUP BY city) t JOIN plate_dp p USING (city)');
SELECT attempt('SELECT count(*) FROM plate_dp UNION ALL SELECT size FROM plate_dp');
SELECT attempt('SELECT count(*), (SELECT max(x.s) FROM (SELECT size AS s FROM plate_dp OFFSET 1) x) FROM plate_dp');
SELECT attempt('WITH kept AS MATERIALIZED (SELECT size FROM plate_dp) SELECT count(*) FROM plate_dp WHERE EXISTS (SELECT FROM kept)');
SELECT attempt('CREATE TEMP TABLE copy AS SELECT n, size FROM (SELECT count(*) AS n FROM plate_dp) t, plate_dp');
SELECT attempt('WITH unread AS (SELECT size FROM plate_dp) SELECT count(*) FROM plate_dp');
RESET ROLE;
SELECT account, releases FROM dp_odometer('plate');
SET ROLE regress_analyst;

-- ---------------------------------------------------------------------------------------------------------------------
-- Nothing is compiled, whatever the settings say
-- ---------------------------------------------------------------------------------------------------------------------

SET jit = on;
SET jit_above_cost = 0;
-- (The first statement asks nothing.)
SELECT (count(*) > 0) = pg_jit_available() AS compiled_where_it_can_be FROM plan('SELECT sum(g) FROM generate_series(1, 10) g') line WHERE line ~ 'JIT';
SELECT count(*) > 0 AS compiled FROM plan('SELECT count(*) + 1 FROM plate_dp') line WHERE line ~ 'JIT';
SELECT count(*) > 0 AS compiled FROM plan('SELECT city, sum(n) FROM (SELECT city, tone, count(*) AS n FROM plate_dp GROUP BY city, tone) x GROUP BY 1') line
WHERE line ~ 'JIT';
RESET jit;
RESET jit_above_cost;

-- ---------------------------------------------------------------------------------------------------------------------
-- Many aggregates: columns of one name get different ones, which EXPLAIN would look for as long
-- ---------------------------------------------------------------------------------------------------------------------

EXPLAIN (VERBOSE, COSTS OFF)
SELECT count(*), count(*) FILTER (WHERE size > 3), count(*) FILTER (WHERE size > 4) AS count_2, count(*) FILTER (WHERE size > 5) FROM plate_dp;
SELECT count(*) AS lines
FROM plan((SELECT 'SELECT ' || string_agg(format('count(*) FILTER (WHERE size = %s)', i), ', ') FROM generate_series(1, 900) i) || ' FROM plate_dp');

RESET ROLE;
DROP VIEW plate_dp;
DROP TABLE plate;
DROP TYPE shade;
DROP FUNCTION plan(text);
